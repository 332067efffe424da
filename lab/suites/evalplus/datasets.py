"""The two datasets of the suite, as they were when it was written."""

from __future__ import annotations

from lab.suites.base import Dataset

HUMANEVALPLUS = Dataset(
    name="humanevalplus",
    columns={"task_id": str, "prompt": str, "canonical_solution": str, "entry_point": str, "test": str},
    id_column="task_id",
    hub_id="evalplus/humanevalplus",
    file_stem="HumanEvalPlus-OriginFmt",
    prompt_is_code=True,
    rows_sha256="d81c20f4adcd158f8c26d543f323675195fc54490a451ca24188f6bc8ddce9eb",
    rows_count=164,
    licence="Apache-2.0 (EvalPlus), MIT (HumanEval)",
)
MBPPPLUS = Dataset(
    name="mbppplus",
    columns={
        "task_id": int,
        "code": str,
        "prompt": str,
        "source_file": str,
        "test_imports": list[str],
        "test_list": list[str],
        "test": str,
    },
    id_column="task_id",
    hub_id="evalplus/mbppplus",
    file_stem="MbppPlus-OriginFmt",
    rows_sha256="a5dd566a536bab5aef3ec8c4fc9d45155ba4df48d56711a50d42f88f9a574be4",
    rows_count=378,
    licence="Apache-2.0 (EvalPlus), CC-BY-4.0 (MBPP)",
)
