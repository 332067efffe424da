"""EvalPlus's other layout: a folder a task, named HumanEval_0 for HumanEval/0, with whole solutions 0.py, 1.py, ...

Source: evalplus 0.3.1, evalplus/data/utils.py: load_solutions, write_directory. What is no folder at the top, and
what is no .py file below, is passed over there too.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Self

from lab.errors import LabError
from lab.files import NotRegularFile, read_regular
from lab.order import natural
from lab.samples.sample import MAX_SAMPLE_BYTES, BadLine, Sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class SampleFolder:
    """The samples of a folder, tasks and the solutions of each in natural order."""

    def __init__(self, path: Path) -> None:
        tasks = sorted((entry for entry in path.iterdir() if entry.is_dir()), key=_natural)
        self._files = [
            file
            for task in tasks
            for file in sorted((entry for entry in task.iterdir() if entry.suffix == ".py"), key=_natural)
            if file.is_file()
        ]
        if not self._files:
            raise LabError(f"{path} holds no samples", "Lay them out like HumanEval_0/0.py: a folder a task")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __iter__(self) -> Iterator[Sample | BadLine]:
        return map(self.again, range(len(self._files)))

    def again(self, place: int) -> Sample | BadLine:
        file = self._files[place]
        where = f"{file.parent.name}/{file.name}"
        try:
            source = read_regular(file, MAX_SAMPLE_BYTES)
        except (NotRegularFile, FileNotFoundError) as error:
            reason = str(error) if isinstance(error, NotRegularFile) else "is gone"
            return BadLine(None, where, reason)
        return Sample(place, None, file.parent.name.replace("_", "/"), source, where)

    def sha256(self) -> str:
        digest = hashlib.sha256()
        for file, sample in zip(self._files, self, strict=True):
            content = sample.source if isinstance(sample, Sample) else b""
            entry = f"{file.parent.name}/{file.name}\0{hashlib.sha256(content).hexdigest()}\0"
            digest.update(entry.encode("utf-8", "surrogateescape"))
        return digest.hexdigest()


def _natural(path: Path) -> tuple[tuple[int, int | str], ...]:
    return natural(path.name)
