"""Rows from files: one JSON object a line, plain or gzip."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import TYPE_CHECKING

import msgspec

from lab.datasets.schema import row_fault
from lab.errors import LabError
from lab.files import NotRegularFile, read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from lab.suites.base import Dataset, Row

MAX_FILE_BYTES = 512 << 20
MAX_TEXT_BYTES = 1 << 30
MAX_LINE_BYTES = 64 << 20
GZIP_MAGIC = b"\x1f\x8b"
FIX = "Get the file again, or name another with --source"


def datasets_in(source: Path, datasets: Sequence[Dataset]) -> tuple[Dataset, ...]:
    """Those of `datasets` that `source` is for: all of them for a folder, those whose columns fit for one file.

    Judges a file by its first row. Raises LabError where none fits.
    """
    if source.is_dir() or len(datasets) <= 1:
        return tuple(datasets)
    _, first = next(read_rows(source), ("", None))
    if first is None:
        raise LabError(f"{source} holds no rows", FIX)
    faults = [row_fault(dataset, first) for dataset in datasets]
    fitting = tuple(dataset for dataset, fault in zip(datasets, faults, strict=True) if fault is None)
    if not fitting:
        raise LabError(f"{source} fits none of the selected datasets: {'; '.join(filter(None, faults))}", FIX)
    return fitting


def find_file(source: Path, dataset: Dataset) -> Path:
    """The file in which `source` holds the rows of `dataset`; raises LabError where there is none."""
    if not source.is_dir():
        return source
    stems = [stem for stem in (dataset.name, dataset.file_stem) if stem]
    names = [stem + ending for stem in stems for ending in (".jsonl", ".jsonl.gz")]
    for name in names:
        if (path := source / name).exists():
            return path
    raise LabError(
        f"{source} holds no rows of {dataset.name}: there is no {', '.join(names[:-1])} or {names[-1]}",
        "Put one there, or leave the dataset out with --langs",
    )


def read_rows(path: Path) -> Iterator[tuple[str, Row]]:
    """Yield ("line 3", row) for every line that is not blank.

    Raises LabError where the file cannot be read, is cut off or too large, or a line is not a JSON object.
    """
    try:
        data = read_regular(path.resolve(strict=True), MAX_FILE_BYTES)
    except FileNotFoundError:
        raise LabError(
            f"{path} does not exist", "Name a .jsonl or .jsonl.gz file, or a folder, with --source"
        ) from None
    except NotRegularFile as error:
        raise LabError(f"{path} {error}", FIX) from error
    except (OSError, RuntimeError) as error:
        raise LabError(f"{path} cannot be read: {error}", FIX) from error
    if data.startswith(GZIP_MAGIC) or path.suffix == ".gz":
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as text:
            yield from _parse(path, text)
    else:
        yield from _parse(path, io.BytesIO(data))


def _parse(path: Path, text: BinaryIO | gzip.GzipFile) -> Iterator[tuple[str, Row]]:
    decoder = msgspec.json.Decoder(dict[str, object])
    for number, line in enumerate(_lines(path, text), 1):
        stripped = (line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line).strip()
        if not stripped:
            continue
        try:
            row = decoder.decode(stripped)
        except (msgspec.DecodeError, RecursionError) as error:
            raise LabError(f"{path}, line {number} is not a JSON object: {error}", FIX) from error
        yield f"line {number}", row


def _lines(path: Path, text: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    """The lines of a text that may be damaged or a gzip bomb: never more than one line is held."""
    total = 0
    try:
        while line := text.readline(MAX_LINE_BYTES + 1):
            total += len(line)
            if len(line) > MAX_LINE_BYTES or total > MAX_TEXT_BYTES:
                raise LabError(
                    f"{path} is too large: {MAX_LINE_BYTES >> 20} MiB a line and {MAX_TEXT_BYTES >> 20} MiB "
                    "in all are allowed",
                    FIX,
                )
            yield line
    except EOFError as error:
        raise LabError(f"{path} is cut off: its gzip stream ends early", FIX) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise LabError(f"{path} is not sound gzip: {error}", FIX) from error
