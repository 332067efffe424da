"""The suite: its rows, made by scripts/make_starter_rows in the shapes of HumanEval+ and MBPP+, become problems."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from lab.datasets.schema import row_digest
from lab.errors import LabError
from lab.suites.base import Dataset, Problem, Unfit, Unusable
from lab.suites.evalplus.datasets import HUMANEVALPLUS, MBPPPLUS
from lab.suites.evalplus.prompt import prompt_text
from lab.suites.evalplus.shapes import completion, prose

if TYPE_CHECKING:
    from lab.suites.base import Row

ROWS = Path(__file__).parent / "rows"
STARTERCOMPLETE = Dataset(
    name="startercomplete",
    columns=HUMANEVALPLUS.columns,
    id_column="task_id",
    prompt_is_code=True,
    rows_sha256="0f57a9341968d73cc17968200148b642e2a6e6fe8bdcfeff093199d4ed40e076",
    rows_count=14,
    licence="Apache-2.0",
    embedded=ROWS / "startercomplete.jsonl",
)
STARTERPROSE = Dataset(
    name="starterprose",
    columns=MBPPPLUS.columns,
    id_column="task_id",
    rows_sha256="aea3b9b0b0e1a7c204536abe7eea7216b113571ad0a98cefb99a2ce933fd8cf4",
    rows_count=12,
    licence="Apache-2.0",
    embedded=ROWS / "starterprose.jsonl",
)
SHAPES = {STARTERCOMPLETE.name: completion, STARTERPROSE.name: prose}
UPSTREAM_NAMES = {STARTERCOMPLETE.name: "StarterComplete", STARTERPROSE.name: "StarterProse"}
NUMBER = re.compile(r"(?:StarterComplete/)?(0|[1-9][0-9]{0,8})")


class Starter:
    """Small problems with hidden cases that a careless answer fails. A `lab.suites.base.Suite`."""

    name = "starter"
    summary = "26 Python functions written for lab: small, varied, and unkind to an answer that only fits the examples"
    datasets = (STARTERCOMPLETE, STARTERPROSE)
    requirements = ""
    """Nothing: the hidden tests need the standard library only, so the venv is built without a network."""
    imports = ()

    def problem(self, dataset: Dataset, row: Row) -> Problem | Unusable:
        """Turn one checked row into a problem; raises LabError where the row's id is not one of the dataset's."""
        match = NUMBER.fullmatch(str(row["task_id"]))
        if match is None:
            raise LabError(f"{row['task_id']!r} is not an id of {dataset.name}", "Check the rows named with --source")
        task_id, upstream_id = f"{dataset.name}-{match[1]}", f"{UPSTREAM_NAMES[dataset.name]}/{match[1]}"
        try:
            shape = SHAPES[dataset.name](row)
            test = shape.module(row["test"])
        except Unfit as error:
            return Unusable(task_id=task_id, upstream_id=upstream_id, dataset=dataset.name, reason=str(error))
        return Problem(
            task_id=task_id,
            upstream_id=upstream_id,
            dataset=dataset.name,
            entry_point=shape.entry_point,
            prompt=prompt_text(shape.entry_point, shape.stub),
            stub=shape.stub,
            test=test,
            reference=shape.reference,
            row_sha256=row_digest(row),
        )
