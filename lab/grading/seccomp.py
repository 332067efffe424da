"""The system calls that bubblewrap's inside does not have: those of the kernel's key rings.

No namespace divides key rings: inside a sandbox the session's is that of whoever started lab, with the keys in it, and
what one candidate or agent leaves there another finds. See keyrings(7), seccomp(2) and the kernel's filter.rst.
"""

from __future__ import annotations

import contextlib
import os
from struct import pack
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ARCHITECTURES = {"x86_64": (0xC000003E, 248), "aarch64": (0xC00000B7, 217)}
"""AUDIT_ARCH, and the number of add_key, which request_key and keyctl follow."""
LOAD, EQUAL, GREATER, AT_LEAST, RETURN = 0x20, 0x15, 0x25, 0x35, 0x06
NUMBER_AT, ARCHITECTURE_AT = 0, 4
X32 = 0x4000_0000
"""Calls of the x32 ABI, which are the others by other numbers."""
ALLOW, REFUSE = 0x7FFF_0000, 0x0005_0000 | 38
"""The latter as ENOSYS: programs take the kernel to have no key rings."""


def program(machine: str) -> bytes | None:
    """The filter as the kernel takes it; None for a machine whose numbers are not known here."""
    if machine not in ARCHITECTURES:
        return None
    architecture, add_key = ARCHITECTURES[machine]
    instructions = (
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (EQUAL, 0, 5, architecture),  # calls of another one (32 bits) are refused altogether
        (LOAD, 0, 0, NUMBER_AT),
        (AT_LEAST, 3, 0, X32),
        (AT_LEAST, 0, 1, add_key),
        (GREATER, 0, 1, add_key + 2),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE),
    )
    return b"".join(pack("=HBBI", *instruction) for instruction in instructions)


@contextlib.contextmanager
def key_filter() -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """The words that have bubblewrap set the filter, and the descriptors that it reads it from; both may be empty."""
    filtered = program(os.uname().machine)
    if filtered is None or not hasattr(os, "memfd_create"):
        yield [], ()
        return
    descriptor = os.memfd_create("lab-filter", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, filtered)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield ["--seccomp", str(descriptor)], (descriptor,)
    finally:
        os.close(descriptor)
