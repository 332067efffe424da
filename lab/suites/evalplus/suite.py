"""The suite: rows of HumanEval+ and MBPP+ become problems."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING

from lab.datasets.schema import row_digest
from lab.errors import LabError
from lab.suites.base import Problem, Unfit, Unusable
from lab.suites.evalplus.datasets import HUMANEVALPLUS, MBPPPLUS
from lab.suites.evalplus.known import CONSTANT_ANSWERS, WEIGHTS_S
from lab.suites.evalplus.prompt import prompt_text
from lab.suites.evalplus.repairs import repair
from lab.suites.evalplus.shapes import completion, prose

if TYPE_CHECKING:
    from lab.suites.base import Dataset, Row

HUMANEVAL_ID = re.compile(r"HumanEval/(0|[1-9][0-9]{0,8})")
MBPP_ID = re.compile(r"(0|[1-9][0-9]{0,8})")


class EvalPlus:
    """HumanEval+ and MBPP+, https://github.com/evalplus/evalplus. A `lab.suites.base.Suite`."""

    name = "evalplus"
    summary = "HumanEval+ and MBPP+: 542 Python functions, each with many more hidden cases than the originals"
    datasets = (HUMANEVALPLUS, MBPPPLUS)
    imports = ("numpy",)

    @property
    def requirements(self) -> str:
        """The pinned requirement set of the grading venv, with hashes."""
        return resources.files(__package__).joinpath("requirements.txt").read_text("utf-8")

    def problem(self, dataset: Dataset, row: Row) -> Problem | Unusable:
        """Turn one checked row into a problem; raises LabError where the row's id is not one of the dataset's."""
        task_id, upstream_id = _ids(dataset, row)
        try:
            shape = completion(row) if dataset.name == HUMANEVALPLUS.name else prose(row)
            test, reference, repairs = repair(dataset.name, upstream_id, test=row["test"], reference=shape.reference)
            test = shape.module(test)
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
            reference=reference,
            row_sha256=row_digest(row),
            upstream_test=shape.glue(row["test"]) if repairs else None,
            repairs=repairs,
            constant_answer=CONSTANT_ANSWERS.get(upstream_id),
            weight=WEIGHTS_S.get(upstream_id, 0.0),
        )


def _ids(dataset: Dataset, row: Row) -> tuple[str, str]:
    """Task id and upstream id: `humanevalplus-0` for "HumanEval/0", `mbppplus-2` for 2."""
    is_humaneval = dataset.name == HUMANEVALPLUS.name
    match = (HUMANEVAL_ID if is_humaneval else MBPP_ID).fullmatch(str(row["task_id"]))
    if match is None:
        raise LabError(f"{row['task_id']!r} is not an id of {dataset.name}", "Check the rows named with --source")
    number = match[1]
    return f"{dataset.name}-{number}", f"{'HumanEval' if is_humaneval else 'Mbpp'}/{number}"
