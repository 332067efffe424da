"""What an agent can reach. Each row is tried without a sandbox too, where it must succeed: a row that never reaches
anything shows nothing.
"""

from __future__ import annotations

import dataclasses
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.errors import LabError
from lab.grading import isolation as isolation_module
from lab.grading.isolation import Isolation
from lab.running import agent_sandbox
from lab.running.agent_sandbox import LAB, UNHELD, Sandbox, choose_for_agents, sandbox_for
from lab.running.folders import temporary_folders
from lab.running.holder import Network
from lab.tools.adapter import ConfigFile
from tests.running.agents import MARK, PYTHON, Ground

if TYPE_CHECKING:
    from collections.abc import Iterator

REACHED = "REACHED"
BOTH = [pytest.param(Isolation.BWRAP, marks=pytest.mark.sandbox), Isolation.PROCESS]


@dataclasses.dataclass(frozen=True)
class Reach:
    """An attempt to reach something: Python that prints REACHED. `{}` is replaced by what the test prepared."""

    what: str
    code: str
    holds: frozenset[str] = frozenset({"bwrap"})
    tried_plain: bool = True
    """Whether it must succeed without a sandbox; not where it would harm this machine."""


READ = "print('REACHED' if {mark!r} in open({path!r}).read() else 'read something else')"
KEY_RING = """
import ctypes, errno, os
number = {{"x86_64": 250, "aarch64": 219}}[os.uname().machine]
keyctl = ctypes.CDLL(None, use_errno=True).syscall
if keyctl(number, 0, -3, 1) > 0 or ctypes.get_errno() != errno.ENOSYS: print('REACHED')
"""
ROWS = [
    Reach("the reference", READ.replace("{path", "{reference")),
    Reach("the hidden test", READ.replace("{path", "{test")),
    Reach("another run", READ.replace("{path", "{other run")),
    Reach("a file of the user's home", READ.replace("{path", "{home")),
    Reach(
        "the root, by searching",
        "import os\n"
        "for folder in ('/home', '/root', '/mnt', '/srv', '/opt', '/var', '/run', '/work', {tmp!r}):\n"
        "  for _, _, names in os.walk(folder):\n"
        "    if 'reference.py' in names: print('REACHED'); raise SystemExit",
    ),
    Reach("the keys of the session", KEY_RING),
    Reach("the root's name", "import os\nif os.path.exists({root!r}): print('REACHED')"),
    Reach(
        "the environment of another process",
        "import glob\n"
        "for path in glob.glob('/proc/*/environ'):\n"
        "  try:\n"
        "    if {secret!r} in open(path).read(): print('REACHED')\n"
        "  except OSError: pass",
    ),
    Reach(
        "another process's memory and files, through /proc",
        "import os\n"
        "for pid in os.listdir('/proc'):\n"
        "  try:\n"
        "    if os.readlink('/proc/' + pid + '/cwd') == {root!r}: print('REACHED')\n"
        "  except OSError: pass",
    ),
    Reach(
        "lab's own settings",
        "import os\nif {secret!r} in str(dict(os.environ)): print('REACHED')",
        holds=frozenset({"bwrap", "process"}),
    ),
    Reach(
        "a server on the host's loopback",
        "import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=5)\nprint('REACHED')",
    ),
    Reach(
        "an abstract socket of the host",
        "import socket\nsocket.socket(socket.AF_UNIX).connect(chr(0) + {abstract!r})\nprint('REACHED')",
    ),
    Reach(
        "any other address",
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 53))\nprint('REACHED')",
        tried_plain=False,  # this machine may have no network
    ),
    Reach(
        "a name server",
        "import os, socket\n"
        "if os.path.exists('/etc/resolv.conf'): print('REACHED')\n"
        "socket.getaddrinfo('example.org', 80)\nprint('REACHED')",
        tried_plain=False,
    ),
    Reach(
        "the host's shared memory",
        "import os\nif os.path.exists('/dev/shm/' + {shm!r}): print('REACHED')",
    ),
    Reach(
        "a place to write beyond its own",
        "import os\n"
        "own = ('/work', '/home/agent', '/tmp', '/dev/shm', '/proc')\n"
        "for folder, _, _ in os.walk('/'):\n"
        "  if not folder.startswith(own):\n"
        "    try: open(folder + '/lab-probe', 'x')\n"
        "    except OSError: continue\n"
        "    os.unlink(folder + '/lab-probe')\n"
        "    print('REACHED', folder)",
        tried_plain=False,
    ),
    Reach(
        "the settings of the kernel",
        "import os\n"
        "for folder, _, names in os.walk('/proc'):\n"
        "  if folder[6:7].isdigit(): continue\n"
        "  for name in names:\n"
        "    try: os.close(os.open(folder + '/' + name, os.O_WRONLY))\n"
        "    except OSError: continue\n"
        "    print('REACHED', folder, name)",
        tried_plain=False,
    ),
    Reach(
        "a mount of its own, or one it may write to",
        "import os, subprocess\n"
        "for words in (['mount', '-o', 'remount,rw', '/usr'], ['mount', '-t', 'tmpfs', 'none', '/work'],\n"
        "              ['unshare', '--user', '--map-root-user', 'true'], ['unshare', '--mount', 'true']):\n"
        "  try: code = subprocess.run(words, capture_output=True).returncode\n"
        "  except FileNotFoundError: continue\n"
        "  if code == 0 and words[1] != '--user': print('REACHED', words)",
        tried_plain=False,
    ),
    Reach(
        "a device",
        "import os, stat\nos.mknod('disk', 0o600 | stat.S_IFBLK, os.makedev(254, 0))\nopen('disk', 'rb').read(1)\n"
        "print('REACHED')",
        tried_plain=False,
    ),
    Reach(
        "the proxy's socket, without a proxy",
        "import os\nif os.path.exists('/run/lab'): print('REACHED')",
        tried_plain=False,
    ),
]


@pytest.fixture
def prepared(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """What the rows look for, all of it there."""
    secret = f"secret-{os.getpid()}-{ground.folder.name}"
    monkeypatch.setenv("LAB_API_KEY", secret)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
        tempfile.NamedTemporaryFile(dir="/dev/shm") as shared,
        subprocess.Popen(["sleep", "60"], cwd=ground.root.folder, env={"KEY": secret}) as decoy,
    ):
        abstract.bind(f"\0{secret}")
        abstract.listen()
        yield {
            **{name: str(path) for name, path in ground.secrets.items()},
            "mark": MARK,
            "root": str(ground.root.folder),
            "tmp": str(ground.folder),
            "secret": secret,
            "port": server.getsockname()[1],
            "abstract": secret,
            "shm": Path(shared.name).name,
        }
        decoy.kill()


@pytest.mark.parametrize("isolation", BOTH)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_reach(ground: Ground, prepared: dict[str, object], row: Reach, isolation: Isolation) -> None:
    holds = isolation.value in row.holds
    if not holds and not row.tried_plain:
        pytest.skip("would harm this machine, or needs a network")
    agent = ground.agent("-c", row.code.format_map(prepared), isolation=isolation)
    tried, folder = ground.attempt(agent)
    said = (folder / "trace/stdout").read_text() + (folder / "trace/stderr").read_text()
    assert (REACHED in said) != holds, said
    assert tried.stop == "done"


LISTED = {
    "/": "bin dev etc home lib lib32 lib64 proc sbin tmp usr work",
    "/home": "agent",
    "/tmp": "",
    "/home/agent": "",
}


@pytest.mark.sandbox
def test_nothing_is_there_but_what_is_listed(ground: Ground) -> None:
    # the interpreter's own folder apart, wherever that is on this machine
    code = "import os\nfor folder in ('/', '/home', '/tmp', '/home/agent'): print(*sorted(os.listdir(folder)))"
    _, folder = ground.attempt(ground.agent("-c", code))
    own = PYTHON.parts[1]
    for line, expected in zip((folder / "trace/stdout").read_text().splitlines(), LISTED.values(), strict=True):
        assert set(line.split()) - set(expected.split()) <= {own, *PYTHON.parts[2:4]}
    _, folder = ground.attempt(ground.agent("-c", "import os\nprint(os.getuid(), os.getgid(), os.getcwd())"))
    assert (folder / "trace/stdout").read_text() == "1000 1000 /work\n"


@pytest.mark.sandbox
def test_lab_itself_is_not_there_where_it_is_installed_beside_the_tool(ground: Ground) -> None:
    agent = ground.agent("-c", f"import os\nprint(os.listdir({str(LAB)!r}))", paths=(Path(sys.base_prefix), LAB))
    _, folder = ground.attempt(agent)
    assert (folder / "trace/stdout").read_text() == "[]\n"


def test_a_tool_below_the_work_folders_name_is_not_mounted_into_its_work() -> None:
    for program, work in (("/work/tools/agent", "/agent/work"), ("/workshop/agent", "/work")):
        sandbox = sandbox_for(
            (Path(program),), Path(program), root=Path("/lab-root"), network=Network.MODEL, relayed=False, search=""
        )
        assert sandbox.inside == work


@pytest.mark.sandbox
def test_it_sees_its_own_processes_only(ground: Ground) -> None:
    code = "import os\nprint(sum(name.isdigit() for name in os.listdir('/proc')), os.getppid())"
    _, folder = ground.attempt(ground.agent("-c", code))
    assert (folder / "trace/stdout").read_text() == "2 1\n"


@pytest.mark.sandbox
def test_the_network_of_the_host_on_demand(ground: Ground, prepared: dict[str, object]) -> None:
    code = next(row.code for row in ROWS if row.what == "a server on the host's loopback")
    agent = ground.agent("-c", code.format_map(prepared), network=Network.HOST)
    assert agent.notice is not None
    assert "network" in agent.notice
    _, folder = ground.attempt(agent)
    assert REACHED in (folder / "trace/stdout").read_text()


@pytest.mark.parametrize("isolation", BOTH)
def test_its_environment_and_settings(ground: Ground, monkeypatch: pytest.MonkeyPatch, isolation: Isolation) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    code = "import os\nprint(dict(os.environ))\nprint(open(os.environ['HOME'] + '/.agent/settings.json').read())"
    files = (ConfigFile("{home}/.agent/settings.json", '{{"file": "{prompt_file}", "home": "{home}"}}'),)
    agent = ground.agent("-c", code, isolation=isolation, environment={"AGENT_WORK": "{work}"}, files=files)
    _, folder = ground.attempt(agent)
    variables, settings = (folder / "trace/stdout").read_text().splitlines()
    assert "secret" not in variables
    for text in ("'CI': '1'", "'TERM': 'dumb'", "'NO_COLOR': '1'"):
        assert text in variables
    if isolation is Isolation.BWRAP:
        assert "'AGENT_WORK': '/work'" in variables
        assert settings == '{{"file": "/work/prompt.txt", "home": "/home/agent"}}'
    else:
        assert str(Path.home()) not in settings


REFUSED = [
    ("a tool inside the root", lambda root: root / ".venv", "lies inside the root"),
    ("the root itself", lambda root: root, "the root"),
    ("a folder that holds the root", lambda root: root.parent, "holds the root"),
    ("a link to the root", lambda root: root.parent / "link", "the root"),
    ("everything", lambda root: Path("/"), "holds the root"),
]


@pytest.mark.parametrize(("what", "place", "words"), REFUSED, ids=[row[0] for row in REFUSED])
def test_no_bind_shows_the_root(ground: Ground, what: str, place: object, words: str) -> None:
    root = ground.root.folder
    (root / ".venv").mkdir()
    (root.parent / "link").symlink_to(root)
    path = place(root)  # type: ignore[operator]
    with pytest.raises(LabError, match=words) as raised:
        ground.agent("-c", "", paths=(Path(sys.base_prefix), path))
    assert str(path) in str(raised.value)


def test_a_root_in_a_folder_of_the_system_is_refused() -> None:
    with pytest.raises(LabError, match="/usr, which holds the root"):
        sandbox_for((), None, root=Path("/usr/share"), network=Network.MODEL, relayed=False, search="")


@pytest.mark.sandbox
def test_a_tool_is_found_through_links_and_on_its_path(ground: Ground) -> None:
    """As npm and pipx do it: a link in a folder of PATH to a file far away, with what it needs beside it."""
    package = ground.folder / "packages/tool"
    package.mkdir(parents=True)
    (package / "main").write_text(
        '#!/bin/sh\n. "$(dirname "$(readlink -f "$0")")/part"\ncommand -v tool\nls "$(dirname "$0")"\n'
    )
    (package / "main").chmod(0o755)
    (package / "part").write_text("echo part\n")
    binaries = ground.folder / "bin"
    binaries.mkdir()
    (binaries / "tool").symlink_to(package / "main")
    (binaries / "other").write_text("not the tool's")
    agent = ground.agent(program=binaries / "tool", paths=(package,))
    tried, folder = ground.attempt(agent)
    assert (folder / "trace/stdout").read_text() == f"part\n{binaries}/tool\ntool\n", tried


@pytest.mark.sandbox
def test_a_program_that_cannot_start_is_the_users_to_mend(ground: Ground) -> None:
    broken = ground.folder / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(LabError, match=r"agent could not be started: .*No such file"):
        ground.attempt(ground.agent(program=broken, paths=(broken,)))


def test_temporary_folders_inside_the_root_are_refused(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = ground.root.folder / "tmp"
    inside.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(inside))
    with pytest.raises(LabError, match="lies inside the root"), temporary_folders(ground.root.folder):
        pass
    assert not list(inside.iterdir())
    long = ground.folder / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with temporary_folders(ground.root.folder) as folders, pytest.raises(LabError, match="too long a name"):
        assert folders.socket


def test_without_a_sandbox_it_is_said_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation_module, "bwrap_trouble", lambda: None)
    monkeypatch.setattr(agent_sandbox, "sandbox_trouble", lambda: "Can't mount proc")
    said: list[str] = []
    assert choose_for_agents("auto", say=said.append) is Isolation.PROCESS
    (line,) = said
    assert UNHELD in line
    assert "(Can't mount proc)" in line
    assert "graded code" not in line
    with pytest.raises(LabError, match="Can't mount proc"):
        choose_for_agents("bwrap")
    assert choose_for_agents("process", say=said.append) is Isolation.PROCESS
    assert said.pop() == UNHELD
    # where nothing can be held, the same line says it of the graded code
    monkeypatch.setattr(isolation_module, "bwrap_trouble", lambda: "it is not installed")
    said.clear()
    assert choose_for_agents("auto", say=said.append) is Isolation.PROCESS
    (line,) = said
    assert line.startswith(UNHELD)
    assert line.endswith("(it is not installed): graded code has limits only. See lab doctor")


def test_a_sandbox_that_cannot_be_made_is_found_out_by_making_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_sandbox, "_kernel", lambda: ["--proc", "/no/such/place", "--ro-bind", "/none", "/none"])
    assert "/none" in (agent_sandbox.sandbox_trouble.__wrapped__() or "")
    assert Sandbox((), None, Network.MODEL, relayed=False).isolation is Isolation.BWRAP
