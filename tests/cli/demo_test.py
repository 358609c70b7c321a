"""`duffdp demo` writes the data of the examples."""

from __future__ import annotations

import runpy
from pathlib import Path

import duffdp
from duffdp._cli.extras import DEMO_FILES

ROOT = Path(__file__).parents[2]


def test_the_data_of_the_examples(call, tmp_path):
    code, out, _ = call("demo", tmp_path / "new" / "demo")
    assert code == 0
    assert "adult.parquet" in out
    assert len(DEMO_FILES) == 5
    for name in DEMO_FILES:
        written = tmp_path / "new" / "demo" / name
        assert written.read_bytes() == (ROOT / "demo" / name).read_bytes()
    path = str(tmp_path / "new" / "demo" / "adult.parquet")
    assert duffdp.median(path, column="age", epsilon=100, bounds=(0, 120)).value == 37


def test_the_table_of_the_readme(call, tmp_path):
    page, book = tmp_path / "page.html", tmp_path / "budget.db"
    assert call("demo", tmp_path)[0] == 0
    assert call("ledger", "init", book, "--epsilon", "5")[0] == 0
    plan = tmp_path / "education.toml"
    code, out, _ = call("table", plan, "--ledger", book, "--report", page)
    assert code == 0
    assert "Doctorate" in out
    assert "spent in total: 2 of 5" in " ".join(page.read_text().split())


def test_the_visits_are_those_of_their_script():
    script = runpy.run_path(str(ROOT / "demo" / "visits.py"))
    assert (ROOT / "demo" / "visits.csv").read_text().splitlines() == script["lines"]()


def test_in_the_project_itself_nothing_is_lost(call):
    before = (ROOT / "demo" / "adult.parquet").read_bytes()
    assert call("demo", ROOT / "demo")[0] == 0
    assert (ROOT / "demo" / "adult.parquet").read_bytes() == before


def test_a_folder_that_cannot_be_written(call, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = call("demo", tmp_path / "file")
    assert code == 2
    assert "Pass another folder" in err
