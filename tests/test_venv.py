from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from lab.carried_grader import is_carried
from lab.environment import installer_variables
from lab.errors import LabError
from lab.grading.site import Venv, read_venv
from lab.layout import Root, SuitePaths
from lab.venv import ensure_venv

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.suites.base import Dataset, Problem, Row, Unusable

NUMPY = "numpy>=2\n"


@dataclasses.dataclass(frozen=True)
class FakeSuite:
    requirements: str = ""
    imports: tuple[str, ...] = ()
    name: str = "demo"
    summary: str = ""
    datasets: tuple[Dataset, ...] = ()

    def problem(self, dataset: Dataset, row: Row) -> Problem | Unusable:
        raise NotImplementedError


@pytest.fixture
def paths(tmp_path: Path) -> SuitePaths:
    return Root(tmp_path).suite("demo")


def digest(content: str) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).decode().rstrip("=")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip takes instead of any index: `tiny` 1.0, and `broken`, which cannot be imported."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name, text in (("tiny", "ANSWER = 42\n"), ("broken", "raise ImportError('broken on purpose')\n")):
        stem = f"{name}-1.0"
        files = {
            f"{name}/__init__.py": text,
            f"{name}/data.txt": "x" * 1000,
            f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
            f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = [f"{path},{digest(content)},{len(content)}\n" for path, content in files.items()]
        files[f"{stem}.dist-info/RECORD"] = "".join([*record, f"{stem}.dist-info/RECORD,,\n"])
        with ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
            for path, content in files.items():
                wheel.writestr(path, content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return folder


TINY = FakeSuite("tiny==1.0\n", ("tiny",))


class Said(list[str]):
    def __call__(self, line: str) -> None:
        self.append(line)


def ensure(paths: SuitePaths, suite: FakeSuite) -> tuple[Venv, Said]:
    said = Said()
    return ensure_venv(paths, suite, say=said), said


def in_venv(venv: Venv, code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([venv.python, "-I", "-c", code], capture_output=True, text=True, check=False)


def listing(folder: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_mtime_ns for path in folder.rglob("*")}


def test_an_empty_set_needs_no_index_and_leaves_no_pip(paths: SuitePaths, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PIP_INDEX_URL", "PIP_FIND_LINKS", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.setenv("VIRTUALENV_SYSTEM_SITE_PACKAGES", "1")  # the user's settings for their own venvs
    venv, said = ensure(paths, FakeSuite())
    assert len(said) == 1
    assert venv == read_venv(paths)
    assert in_venv(venv, "import pip").returncode == 1
    assert in_venv(venv, "import sys; assert sys.prefix != sys.base_prefix").returncode == 0
    assert venv.base_prefix == Path(sys.base_prefix)


def test_a_whole_venv_is_used_as_it_is(paths: SuitePaths, wheels: Path) -> None:
    first, _ = ensure(paths, TINY)
    assert in_venv(first, "import tiny; assert tiny.ANSWER == 42").returncode == 0
    shutil.rmtree(wheels)
    before = listing(paths.folder)
    second, said = ensure(paths, TINY)
    assert (second, said) == (first, [])
    assert listing(paths.folder) == before


def test_other_requirements_are_another_venv(paths: SuitePaths, wheels: Path) -> None:
    assert wheels.is_dir()
    first, _ = ensure(paths, FakeSuite())
    second, said = ensure(paths, TINY)
    assert first.fingerprint != second.fingerprint
    assert len(said) == 1


@pytest.mark.parametrize(
    ("requirements", "imports", "said"),
    [
        ("absent==1.0\n", (), "No matching distribution found for absent"),
        ("tiny==1.0 --hash=sha256:" + "0" * 64 + "\n", (), "HASH|hash"),
        ("tiny @ nonsense\n", (), "demo"),
        ("tiny==1.0\n", ("absent",), "No module named 'absent'"),
        ("broken==1.0\n", ("broken",), "broken on purpose"),
    ],
)
def test_a_failed_build_is_one_line_and_mended_at_the_next_use(
    paths: SuitePaths, wheels: Path, requirements: str, imports: tuple[str, ...], said: str
) -> None:
    assert wheels.is_dir()
    with pytest.raises(LabError, match=said) as caught:
        ensure(paths, FakeSuite(requirements, imports))
    assert "\n" not in str(caught.value)
    assert not paths.venv_ready.exists()
    with pytest.raises(LabError):
        read_venv(paths)
    assert in_venv(ensure(paths, TINY)[0], "import tiny").returncode == 0


def damage_python(venv: Venv) -> None:
    venv.python.unlink()


def break_python(venv: Venv) -> None:
    venv.python.unlink()
    venv.python.write_text("#!/bin/sh\nexit 1\n")
    venv.python.chmod(0o755)


def remove_package(venv: Venv) -> None:
    shutil.rmtree(venv.site_packages / "tiny")


def remove_package_and_its_record(venv: Venv) -> None:
    for path in venv.site_packages.glob("tiny*"):
        shutil.rmtree(path)


def remove_a_file(venv: Venv) -> None:
    (venv.site_packages / "tiny" / "data.txt").unlink()


def cut_a_file(venv: Venv) -> None:
    (venv.site_packages / "tiny" / "data.txt").write_text("x" * 999)


def ready_file_is_not_json(venv: Venv) -> None:
    venv.python.parents[1].joinpath("lab-ready.json").write_text('{"python": "bin/pyth')


def ready_file_has_other_types(venv: Venv) -> None:
    ready = venv.python.parents[1] / "lab-ready.json"
    ready.write_text(json.dumps(json.loads(ready.read_text()) | {"python": ["bin/python"]}))


def venv_is_a_file(venv: Venv) -> None:
    shutil.rmtree(venv.python.parents[1])
    venv.python.parents[1].write_text("not a folder")


def venv_is_a_dangling_link(venv: Venv) -> None:
    shutil.rmtree(venv.python.parents[1])
    venv.python.parents[1].symlink_to("/nonexistent/folder")


@pytest.mark.parametrize(
    "damage",
    [
        damage_python,
        break_python,
        ready_file_is_not_json,
        ready_file_has_other_types,
        venv_is_a_file,
        venv_is_a_dangling_link,
    ],
)
def test_a_damaged_venv_is_built_again(paths: SuitePaths, damage: Callable[[Venv], None]) -> None:
    venv, _ = ensure(paths, FakeSuite())
    damage(venv)
    again, said = ensure(paths, FakeSuite())
    assert (again, len(said)) == (venv, 1)
    assert in_venv(again, "import sys; assert sys.prefix != sys.base_prefix").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("damage", [remove_package, remove_package_and_its_record, remove_a_file, cut_a_file])
def test_a_damaged_package_is_installed_again(paths: SuitePaths, wheels: Path, damage: Callable[[Venv], None]) -> None:
    assert wheels.is_dir()
    venv, _ = ensure(paths, TINY)
    damage(venv)
    again, said = ensure(paths, TINY)
    assert (again, len(said)) == (venv, 1)
    assert in_venv(again, "import tiny; assert tiny.ANSWER == 42").returncode == 0
    assert len((again.site_packages / "tiny" / "data.txt").read_text()) == 1000


@pytest.mark.parametrize("damage", ["changed", "removed", "link removed", "link elsewhere"])
def test_the_grader_alone_is_refreshed(paths: SuitePaths, damage: str) -> None:
    venv, _ = ensure(paths, FakeSuite())
    carried = paths.carried_grader
    if damage == "changed":
        (carried / "lab" / "errors.py").write_text("")
    elif damage == "removed":
        shutil.rmtree(carried.resolve())
    else:
        carried.unlink()
        if damage == "link elsewhere":
            (paths.venv / "grader-older").mkdir()
            carried.symlink_to("grader-older")
    assert not is_carried(paths)
    again, said = ensure(paths, FakeSuite())
    assert (again, said) == (venv, [])
    assert is_carried(paths)


def test_an_older_grader_stays_for_the_checks_that_run_from_it_until_the_next(paths: SuitePaths) -> None:
    ensure(paths, FakeSuite())
    for name in ("grader-oldest", "grader-older"):
        (paths.venv / name).mkdir()
        paths.carried_grader.unlink()
        paths.carried_grader.symlink_to(name)
    ensure(paths, FakeSuite())
    assert not (paths.venv / "grader-oldest").exists()
    assert (paths.venv / "grader-older").exists()


def test_the_carried_grader_is_compiled_and_imports_nothing_but_itself_and_the_stdlib(paths: SuitePaths) -> None:
    venv, _ = ensure(paths, FakeSuite())
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "import lab.errors, lab.files, lab.layout, lab.process, lab.tasks, lab.verdict, lab.grading.site;"
        "import lab.grading.slots; print(lab.process.__file__, lab.process.__cached__)"
    )
    command: list[str | Path] = [venv.python, "-I", "-S", "-c", code, paths.carried_grader]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    source, compiled = (Path(word) for word in done.stdout.split())
    assert source.is_relative_to(paths.carried_grader)
    assert compiled.is_file()
    assert compiled.read_bytes()[4:8] == b"\1\0\0\0"  # by hash, unchecked


@pytest.mark.parametrize(
    ("check", "code", "said"),
    [
        ("def main(argv): print(argv[0]); return 1", 1, b"task\n"),
        ("def main(argv): raise KeyboardInterrupt", 130, b""),
        ("def main(argv): raise MemoryError('no memory')", 2, b""),
        ("def main(argv): raise SystemExit('strange')", 2, b""),
        ("def main(argv): return None", 2, b""),
        ("import absent", 2, b""),
        ("def main(", 2, b""),
    ],
)
def test_a_crash_of_the_grader_is_exit_2(paths: SuitePaths, check: str, code: int, said: bytes) -> None:
    venv, _ = ensure(paths, FakeSuite())
    shutil.rmtree(paths.carried_grader / "lab" / "grading" / "__pycache__")
    (paths.carried_grader / "lab" / "grading" / "check.py").write_text(check)
    command: list[str | Path] = [venv.python, "-I", "-S", paths.carried_grader / "__main__.py", "task", "work"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (code, said)
    assert done.stderr.count(b"\n") == (1 if code == 2 and "SystemExit" not in check else 0)


def test_builders_at_once_build_once(paths: SuitePaths, wheels: Path) -> None:
    assert wheels.is_dir()
    with ThreadPoolExecutor(4) as pool:
        done = [future.result() for future in [pool.submit(ensure, paths, TINY) for _ in range(4)]]
    assert len({venv for venv, _ in done}) == 1
    lines = [line for _, said in done for line in said]
    assert len([line for line in lines if line.startswith("building")]) == 1


BUILDER = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from lab.layout import SuitePaths
from lab.venv import ensure_venv
from tests.test_venv import FakeSuite
ensure_venv(SuitePaths(Path(sys.argv[1])), FakeSuite("tiny==1.0\\n", ("tiny",)), say=print)
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["bin/python", "requirements.txt", "lib/python*/site-packages/tiny", "grader-*"])
def test_a_killed_build_is_built_again_even_while_its_pip_goes_on(paths: SuitePaths, wheels: Path, moment: str) -> None:
    assert wheels.is_dir()
    command = [sys.executable, "-c", BUILDER, str(paths.folder), str(Path(__file__).parents[1])]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as builder:
        while builder.poll() is None and not list(paths.venv.glob(moment)):
            time.sleep(0.001)
        builder.send_signal(signal.SIGKILL)
    venv, _ = ensure(paths, TINY)
    assert in_venv(venv, "import tiny; assert tiny.ANSWER == 42").returncode == 0
    time.sleep(0.5)  # had a pip been left, it would still be at work
    assert ensure(paths, TINY) == (venv, [])


def test_a_moved_root_keeps_its_venv(tmp_path: Path, wheels: Path) -> None:
    old = Root(tmp_path / "old").suite("demo")
    ensure(old, TINY)
    shutil.rmtree(wheels)
    (tmp_path / "old").rename(tmp_path / "a new place")
    venv, said = ensure(Root(tmp_path / "a new place").suite("demo"), TINY)
    assert said == []
    assert "a new place" in str(venv.site_packages)


def test_a_folder_that_cannot_be_written_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "evals").write_text("a file where a folder belongs")
    with pytest.raises(LabError, match="cannot write") as caught:
        ensure(Root(tmp_path).suite("demo"), FakeSuite())
    assert "\n" not in str(caught.value)


def test_pip_keeps_the_users_index_but_not_their_targets() -> None:
    given = {"PIP_INDEX_URL": "http://mirror.example/", "PIP_TARGET": "/elsewhere", "PIP_USER": "1", "HOME": "/h"}
    assert installer_variables(given) == {"PIP_INDEX_URL": "http://mirror.example/", "PIP_USER": "0", "HOME": "/h"}


def test_an_unknown_suite_is_exit_2(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lab.venv", str(tmp_path / "evals" / "nonsense")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | {"HOME": str(tmp_path)}
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "nonsense" in done.stderr


@pytest.mark.slow
def test_numpy_is_installed_and_works(paths: SuitePaths) -> None:
    venv, _ = ensure(paths, FakeSuite(NUMPY, ("numpy",)))
    assert in_venv(venv, "import numpy; assert numpy.arange(4).sum() == 6").returncode == 0
    assert ensure(paths, FakeSuite(NUMPY, ("numpy",))) == (venv, [])
