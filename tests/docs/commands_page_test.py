"""The page on the commands says what they say, and what stands on it runs; the plan on its page
too.
"""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from command_line import DATA
from duffdp.statistics.registry import SUMMARIES

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "commands.py"))


def test_the_help_is_current(script):
    assert script["page"]() == TEXT, "run: python docs/commands.py"


def test_every_command_is_on_the_page(script):
    names = list(script["commands"]())
    headings = re.findall(r"^### duffdp ?(.*)$", TEXT, re.MULTILINE)
    assert headings == names
    assert len(names) >= 15
    own = {name.replace("_", "-") for name in SUMMARIES}
    assert own <= set(names)


def test_the_plan_on_the_page_runs(tmp_path, call):
    page = (DOCS / "how-to" / "plans.md").read_text()
    (block,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "plan.toml").write_text(block)
    (tmp_path / "adult.csv").symlink_to(DATA / "adult.csv")
    code, out, _ = call("release", tmp_path / "plan.toml", "--check")
    assert (code, "age by sex" in out) == (0, True)
    code, out, _ = call("release", tmp_path / "plan.toml", "-f", "csv")
    assert (code, out.count("\n")) == (0, 9)


def test_the_table_on_the_page_runs(tmp_path, call):
    page = (DOCS / "how-to" / "tables.md").read_text()
    (block,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "plan.toml").write_text(block)
    (tmp_path / "adult.csv").symlink_to(DATA / "adult.csv")
    code, out, _ = call("table", tmp_path / "plan.toml", "-f", "csv")
    assert (code, out.count("\n")) == (0, 10)
    assert out.startswith("sex,income,count,")


def test_the_commands_on_the_page_run(tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").symlink_to(DATA / "adult.csv")
    (tmp_path / "friends.csv").symlink_to(DATA / "facebook_ego_edges.csv")
    lines = [line.strip().split() for line in TEXT.splitlines() if line[:11] == "    duffdp "]
    assert len(lines) == 6
    for line in lines:
        code, out, _ = call(*line[1:])
        assert code == 0
    assert "spent 3 of 5, 2 left" in out
