"""What the papers say is so: links lead somewhere, commands can be given as shown, nothing names this machine."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from lab import cli
from lab.grading import judge, sandbox, supervise, verdicts, work, worker
from lab.suites import SUITES

PROJECT = Path(__file__).parents[1]
PAPERS = sorted([*PROJECT.glob("*.md"), *PROJECT.glob("docs/*.md"), PROJECT / "NOTICE"])
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
BLOCK = re.compile(r"^```[a-z]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCRIPT = re.compile(r"(?:\./)?(scripts/[a-z_./]+[a-z])")
MACHINE = re.compile(r"(?<![\w>])/(?:root|home|work|tmp)/|pypi\.org|pythonhosted|index-url", re.IGNORECASE)

each_paper = pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)


def shown_commands(paper: Path) -> list[list[str]]:
    """Each `lab ...` line of a paper's blocks of code as words, without the remark behind it."""
    lines = [line for block in BLOCK.findall(paper.read_text("utf-8")) for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("lab ")]


def test_all_are_looked_at() -> None:
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "architecture.md", "security.md", "verdicts.md"} <= {
        paper.name for paper in PAPERS
    }
    assert len(shown_commands(PROJECT / "README.md")) >= 10


@each_paper
def test_links_lead_somewhere(paper: Path) -> None:
    for target in LINK.findall(paper.read_text("utf-8")):
        assert (paper.parent / target).exists(), target


@each_paper
def test_scripts_are_there(paper: Path) -> None:
    for name in SCRIPT.findall(paper.read_text("utf-8")):
        assert (PROJECT / name).exists(), name


@each_paper
def test_no_machine_and_no_registry_is_named(paper: Path) -> None:
    assert not MACHINE.search(paper.read_text("utf-8"))


@each_paper
def test_commands_can_be_given_as_shown(paper: Path) -> None:
    app = typer.main.get_command(cli.app)
    for words in shown_commands(paper):
        if words[1] == "COMMAND":
            continue
        command = app.commands[words[1]]  # type: ignore[attr-defined]
        context = command.make_context(words[1], words[2:])
        assert context.params.get("suite") in {None, *SUITES}


def test_every_module_has_a_place_in_the_architecture() -> None:
    text = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
    package = PROJECT / "lab"
    names = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    for folder in ("generate", "running", "grading"):
        names |= {path.stem for path in (package / folder).iterdir()}
    shared = {"__init__", "__main__", "__pycache__", "progress", "attempt", "describe", "show", "site"}
    missing = {name for name in names - shared if not re.search(rf"`{name}/?`", text)}
    assert not missing


def test_the_agreement_is_what_was_measured() -> None:
    measured = (PROJECT / "docs" / "parity.md").read_text("utf-8")
    samples, agree = re.findall(r"^\| all \| (\d+) \| (\d+) \|", measured, re.MULTILINE)[0]
    assert f"the {samples} solutions" in (said := (PROJECT / "README.md").read_text("utf-8"))
    assert f"agrees on {agree};" in said


def test_the_limits_are_those_of_the_code() -> None:
    text = (PROJECT / "docs" / "security.md").read_text("utf-8")
    for cells in (
        f"| {supervise.MAX_PROCESSES}; threads and processes {supervise.MAX_TASKS} |",
        f"| {sandbox.SCRATCH_BYTES >> 20} MiB a folder,",
        f"| {sandbox.SHARED_MEMORY_BYTES >> 20} MiB |",
        f"| {work.MAX_SOLUTION_BYTES >> 20} MiB, UTF-8;",
        f"{work.MAX_HELPER_BYTES >> 20} MiB and {work.MAX_HELPERS} files |",
        f"| {verdicts.MAX_REASON_CHARS} characters,",
        f"| {worker.JUDGE_CPU_S:g} s of CPU for the test's own data,",
        f"as the candidate may use; {judge.MEMORY_BYTES >> 30} GiB of address space |",
    ):
        assert cells in text


def test_the_licence_is_whole() -> None:
    text = (PROJECT / "LICENSE").read_text("utf-8")
    assert "Apache License\n" in text
    assert "END OF TERMS AND CONDITIONS" in text
