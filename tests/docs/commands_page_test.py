"""Pages about commands and plans say what the code does, and the commands on all pages run."""

from __future__ import annotations

import re
import runpy
import shutil
from pathlib import Path

import pytest
from tools.pages import commands, run_command

from duffdp._cli.extras import DEMO_FILES
from duffdp._parameters import RELEASE_OPTIONS, WEIGHT
from duffdp._pipeline.toml import TOP, TOP_OF_TABLE
from duffdp.statistics.registry import SUMMARIES, statistic_spec

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TEXT = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
WITH_COMMANDS = [path for path in [ROOT / "README.md", *DOCS.rglob("*.md")] if commands(path)]


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "commands.py"))


def test_the_page_is_current(script):
    assert script["page"]() == TEXT, "run: python docs/commands.py"


def test_every_command_and_option_is_on_the_page(script):
    found = dict(script["commands"]())
    assert re.findall(r"^## duffdp (.*)$", TEXT, re.MULTILINE) == [*found]
    assert len(found) >= 15
    assert {name.replace("_", "-") for name in SUMMARIES} <= {*found}
    for command in found.values():
        for option in command.params:
            assert option.name == "help" or any(
                flag in TEXT for flag in (*option.opts, (option.metavar or "")) if flag
            )


def test_every_key_of_a_plan_is_on_its_page():
    text = (DOCS / "reference" / "plan-keys.md").read_text(encoding="utf-8")
    named = {word for words in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", words)}
    own = {one.name for name in SUMMARIES for one in statistic_spec(name).parameters}
    keys = {*TOP, *TOP_OF_TABLE, WEIGHT.name, *own, *(one.name for one in RELEASE_OPTIONS)}
    assert keys - {"qs", "nodes"} <= named  # graphs and lists of quantiles have other words


@pytest.mark.parametrize(
    ("name", "command", "lines"), [("plans", "release", 9), ("tables", "table", 10)]
)
def test_the_plan_on_the_page_runs(tmp_path, call, name, command, lines):
    text = (DOCS / "how-to" / f"{name}.md").read_text()
    (block,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (tmp_path / "plan.toml").write_text(block)
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    assert call(command, tmp_path / "plan.toml", "--check")[0] == 0
    code, out, _ = call(command, tmp_path / "plan.toml", "-f", "csv")
    assert (code, out.count("\n")) == (0, lines)


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda path: path.stem)
def test_the_commands_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    for name in DEMO_FILES:
        shutil.copyfile(ROOT / "demo" / name, tmp_path / "demo" / name)
    for command, code in commands(page):
        run_command(command, code)


def test_pages_with_commands_are_found():
    assert len(WITH_COMMANDS) >= 8
