"""Which adapters there are: those that lab ships, and the user's own in `tools/` of the root, overriding by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabError, did_you_mean
from lab.tools.built_in import BuiltIn
from lab.tools.reading import read_adapter

if TYPE_CHECKING:
    from lab.layout import Root
    from lab.tools.adapter import Adapter

SHIPPED = Path(__file__).parent


def survey(root: Root) -> dict[str, Adapter | LabError]:
    """Every adapter by name, in order of names; for one that cannot be read, what is wrong with it."""
    found: dict[str, Adapter | LabError] = {}
    for folder in (SHIPPED, root.tools):
        for file in folder.glob("[!.]*.toml"):
            try:
                found[file.stem] = read_adapter(file)
            except LabError as error:
                found[file.stem] = error
    return dict(sorted(found.items()))


def get_adapter(root: Root, name: str) -> Adapter:
    """One adapter; another one that cannot be read is not in its way. Raises LabError."""
    known = survey(root)
    found = known.get(name)
    if found is None:
        raise LabError(f"there is no tool {name!r}", did_you_mean(name, [*BuiltIn, *known]))
    if isinstance(found, LabError):
        raise found
    return found
