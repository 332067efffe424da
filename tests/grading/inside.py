"""Runs inside a sandbox, as text: lists all that can be written or reached there and is not on the allow-list."""

from __future__ import annotations

import ctypes
import os
import socket
import stat

READABLE = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/alternatives",
)
WRITABLE = ("/tmp", "/scratch", "/dev/shm")
DEVICES = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console"}
DEVICE_ENTRIES = DEVICES | {"shm", "pts", "fd", "stdin", "stdout", "stderr", "core"}
VARIABLES = {
    *("PATH", "LANG", "LC_CTYPE", "TZ", "HOME", "TMPDIR", "PWD", "PYTHONHASHSEED"),
    *("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"),
}
NEW_USER, NEW_NET, REMOUNT_BIND = 0x10000000, 0x40000000, 32 | 4096
MAX_DESCRIPTORS = 1024


def findings(more: list[str], *, channels: int, is_judge: bool) -> list[str]:
    """What is amiss, a line each. `more` is what may be read beside the system; `channels` how many descriptors."""
    return [
        *_files((*READABLE, *more)),
        *_writes(more),
        *_devices(),
        *_descriptors(channels, is_judge=is_judge),
        *_powers(),
        *(f"variable {name}" for name in sorted(set(os.environ) - VARIABLES)),
        *(f"network {name}" for _, name in socket.if_nameindex() if name != "lo"),
    ]


def _files(readable: tuple[str, ...]) -> list[str]:
    """Every path that is not below one of the list, nor on the way to one; nothing of /proc and /sys."""
    found, waiting = [], ["/"]
    while waiting:
        folder = waiting.pop()
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if path in readable or path in WRITABLE or path == "/dev":
                continue
            if os.path.isdir(path) and any(known.startswith(path + "/") for known in (*readable, *WRITABLE)):
                waiting.append(path)
            else:
                found.append(f"reached {path}")
    found += [
        f"reached {path}" for path in ("/proc/self", "/proc/sysrq-trigger", "/sys/kernel") if os.path.exists(path)
    ]
    return found


def _writes(more: list[str]) -> list[str]:
    """Every folder that takes a new file, but for the scratch folders; and those have to."""
    found = []
    for top in ("/", "/dev", "/dev/pts", "/etc", *READABLE, *more):
        for folder in [top, *(os.path.dirname(top),)]:
            if folder.startswith(WRITABLE) or not os.path.isdir(folder):
                continue
            try:
                os.close(os.open(os.path.join(folder, "lab-was-here"), os.O_CREAT | os.O_WRONLY))
                found.append(f"wrote to {folder}")
            except OSError:
                pass
    for folder, folders, _ in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in WRITABLE]
        # what the kernel keeps of terminals takes no file, whatever its permissions say: that was tried above
        if os.access(folder, os.W_OK) and folder != "/dev/pts":
            found.append(f"may write to {folder}")
    for folder in WRITABLE:
        with open(os.path.join(folder, "mine"), "w") as file:
            file.write("x")
    return found


def _devices() -> list[str]:
    names = set(os.listdir("/dev"))
    odd = [f"device {name}" for name in sorted(names - DEVICE_ENTRIES)]
    blocks = [name for name in names & DEVICES if stat.S_ISBLK(os.stat(f"/dev/{name}").st_mode)]
    return odd + [f"disk {name}" for name in blocks]


def _descriptors(channels: int, *, is_judge: bool) -> list[str]:
    """Standard streams that lead nowhere, and the channels: pipes, and for a judge sockets and nameless memory."""
    found, seen = [], 0
    nowhere = os.stat("/dev/null").st_rdev
    for number in range(MAX_DESCRIPTORS):
        try:
            status = os.fstat(number)
        except OSError:
            continue
        seen += number > 2
        is_channel = stat.S_ISFIFO(status.st_mode) or (
            is_judge and (stat.S_ISSOCK(status.st_mode) or status.st_nlink == 0)
        )
        if number <= 2 and status.st_rdev != nowhere:
            found.append(f"stream {number} is no /dev/null")
        elif number > 2 and not is_channel:
            found.append(f"descriptor {number} of mode {status.st_mode:o}")
    return [*found, *([f"{seen} descriptors"] if seen > channels else [])]


def _powers() -> list[str]:
    """What needs a capability, or a user namespace to have one in."""
    libc = ctypes.CDLL(None, use_errno=True)
    attempts = {
        "mounted": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
        "mounted /proc": lambda: libc.mount(b"proc", b"/tmp", b"proc", 0, None),
        "remounted /usr": lambda: libc.mount(None, b"/usr", None, REMOUNT_BIND, None),
        "unmounted": lambda: libc.umount2(b"/usr", 2),
        "renamed the host": lambda: libc.sethostname(b"x", 1),
        "changed its root": lambda: libc.chroot(b"/tmp"),
        "made a device": lambda: libc.mknod(b"/tmp/disk", stat.S_IFBLK | 0o600, os.makedev(254, 0)),
        "made a network": lambda: libc.unshare(NEW_NET),
        "set the clock": lambda: libc.settimeofday(b"\0" * 16, None),
        "made namespaces": lambda: libc.unshare(NEW_USER),
    }
    return [name for name, attempt in attempts.items() if attempt() == 0]  # type: ignore[no-untyped-call]
