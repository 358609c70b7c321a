"""The page on the commands says what they say, and its plan runs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from duffdp.cli.app import application, run

DOCS = Path(__file__).parent.parent / "docs"
TEXT = (DOCS / "commands.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "commands.py"))


def test_the_help_is_current(script):
    assert script["page"]() == TEXT, "run: python docs/commands.py"


def test_every_command_is_on_the_page(script):
    names = {command.name for command in application().registered_commands}
    inner = {
        f"{group.name} {command.callback.__name__}"
        for group in application().registered_groups
        for command in group.typer_instance.registered_commands
    }
    assert names | inner | {""} == set(script["COMMANDS"])


def test_the_plan_on_the_page_runs(tmp_path, capsys):
    (block,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "plan.toml").write_text(block)
    (tmp_path / "adult.csv").symlink_to(Path(__file__).parent / "data" / "adult.csv")
    assert run(["release", str(tmp_path / "plan.toml"), "--check"]) == 0
    assert "age by sex" in capsys.readouterr().out
    assert run(["release", str(tmp_path / "plan.toml"), "-f", "csv"]) == 0
    assert capsys.readouterr().out.count("\n") == 5


def test_the_commands_on_the_page_run(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").symlink_to(Path(__file__).parent / "data" / "adult.csv")
    lines = [line.strip().split() for line in TEXT.splitlines() if line.startswith("    duffdp ")]
    assert len(lines) == 4
    for line in lines:
        assert run(line[1:]) == 0
    assert "spent 2 of 3, 1 left" in capsys.readouterr().out
