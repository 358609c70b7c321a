"""What cannot be written fails before the charge, and an error after it tells how to have the
numbers again.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil

import polars as pl
import pytest

import duffdp
from command_line import duff
from duffdp import Ledger
from duffdp._pipeline.export import SimpleTable
from duffdp.report import page as report_page

WARDS = ["north", "south", "none"]
VISITS = pl.DataFrame(
    {
        "age": [i % 90 for i in range(300)],
        "size": [i % 70 * 1.0 for i in range(300)],
        "day": [dt.date(2024, 1, 1) + dt.timedelta(days=i % 60) for i in range(300)],
        "answer": ["yes", "no", "no"] * 100,
        "ward": (["north"] * 2 + ["south"]) * 100,
    }
)
AGES = {"column": "age", "bounds": (0, 120), "step": 1}
# A release of every kind of number, as a plan has it.
ASKED = {
    "median": {"statistic": "median", **AGES},
    "median with ends": {"statistic": "median", **AGES, "interval": 0.9},
    "day": {
        "statistic": "median",
        "column": "day",
        "bounds": (dt.date(2024, 1, 1), dt.date(2024, 3, 1)),
    },
    "spread of days": {
        "statistic": "std",
        "column": "day",
        "bounds": (dt.date(2024, 1, 1), dt.date(2024, 3, 1)),
    },
    "quantiles": {"statistic": "quantiles", "qs": [0.25, 0.75], **AGES},
    "mean": {"statistic": "mean", **AGES, "interval": 0.9},
    "clipped mean": {"statistic": "mean", **AGES, "mechanism": "clipped"},
    "sum": {"statistic": "sum", **AGES},
    "variance": {"statistic": "variance", **AGES},
    "mode": {"statistic": "mode", "column": "answer", "categories": ["yes", "no"]},
    "top": {"statistic": "top", "k": 2, "column": "answer", "categories": ["yes", "no"]},
    "count": {"statistic": "count", "interval": 0.9},
    "share": {"statistic": "share", "column": "answer", "values": ["yes"], "interval": 0.9},
    "histogram": {"statistic": "histogram", "column": "age", "bins": [0, 50, 100]},
    "summary": {"statistic": "describe", **AGES},
    "distribution": {"statistic": "distribution", **AGES},
    "slope": {"statistic": "slope", "x": "age", "y": "size", "bounds": (-2.0, 2.0)},
}


def rehearsed(plan, data):
    """The made-up releases of a plan, and the real ones."""
    seen = []
    real = plan.run(data, rehearsal=seen.append)
    return seen, real


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("name", ASKED)
def test_made_up_releases_have_the_shape_of_real_ones(name, groups):
    given = ASKED[name] | ({"by": "ward", "keys": WARDS} if groups else {})
    if groups and name != "distribution":
        given["suppress_below"] = 50
    seen, real = rehearsed(duffdp.Plan([given], epsilon=1e5), VISITS)
    (release,) = real.values()
    first, second = (next(iter(made.values())) for made in seen)
    kinds = [set(map(type, column)) for column in zip(*release.cells, strict=True)]
    for made in (first, second):
        assert made.facts == release.facts
        assert list(made.wide()) == list(release.wide())
        assert len(made.cells) == len(release.cells)
        for column, known in zip(zip(*made.cells, strict=True), kinds, strict=True):
            assert set(map(type, column)) <= known | {type(None)}
    if "suppress_below" in given:
        assert first.too_few() == [False, True, False]
        assert second.too_few() == [True, True, True]


def facts_of(made):
    """All of a release but when it was made."""
    return {
        name: {k: v for k, v in release.to_dict().items() if k != "time"}
        for name, release in made.items()
    }


def test_made_up_numbers_are_made_of_public_facts_alone():
    """The same for all data of these types, none included, and before anything is charged."""
    given = {"by": "ward", "keys": WARDS, "suppress_below": 50}
    asked = [
        one | ({} if name == "distribution" else given) | {"name": name}
        for name, one in ASKED.items()
    ]
    plan = duffdp.Plan(asked, epsilon=1)
    known = [rehearsed(plan, data)[0] for data in (VISITS, VISITS.head(1), VISITS.head(0))]
    for seen in known[1:]:
        assert list(map(facts_of, seen)) == list(map(facts_of, known[0]))


def test_a_rehearsal_of_a_table_is_before_the_charge(tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=1)
    given = {"bounds": {"age": (0, 120)}, "by": "ward", "keys": WARDS, "total": True}
    plan = duffdp.TablePlan({"age": ["median", "sum"]}, epsilon=1, **given, suppress_below=50)
    spent, small = [], []

    def rehearsal(table):
        spent.append(ledger.spent())
        small.append(table.too_small())

    table = plan.run(VISITS, ledger=ledger, rehearsal=rehearsal)
    assert spent == [0, 0]
    assert small[0][:3] == [False, True, False]
    assert small[1] == [True] * len(table)

    def breaks(_):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        plan.run(VISITS, ledger=Ledger(tmp_path / "other.db", epsilon=1), rehearsal=breaks)
    assert Ledger(tmp_path / "other.db").spent() == 0


@pytest.fixture
def commands(tmp_path):
    """The three kinds of commands that charge, over the same file, each for an epsilon of 1."""
    VISITS.write_parquet(tmp_path / "visits.parquet")
    keys = ", ".join(map(repr, WARDS))
    start = "source = 'visits.parquet'\nepsilon = 1\n"
    groups = f"by = 'ward'\nkeys = [{keys}]\nsuppress_below = 50\n"
    share = "statistic = 'share'\ncolumn = 'answer'\nvalues = ['yes']\ninterval = 0.9\n"
    (tmp_path / "plan.toml").write_text(f"{start}[[release]]\n{share}{groups}")
    (tmp_path / "table.toml").write_text(f"{start}{groups}statistics.age='sum'\nbounds.age=[0, 9]")
    options = ("--by", "ward", "--keys", ",".join(WARDS), "--suppress-below", "50")
    share = ("share", tmp_path / "visits.parquet", "-c", "answer", "--values", "yes", "-e", "1")
    Ledger(tmp_path / "budget.db", epsilon=9)
    paid = ("--ledger", tmp_path / "budget.db")
    return {
        "statistic": [*share, *options, *paid],
        "release": ["release", tmp_path / "plan.toml", *paid],
        "table": ["table", tmp_path / "table.toml", *paid],
    }


KINDS = ("statistic", "release", "table")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["html", "md"])
def test_pages_about_withheld_values(commands, kind, ending, tmp_path, call):
    page = tmp_path / f"page.{ending}"
    assert call(*commands[kind], "--report", page)[0] == 0
    assert "too few to tell" in page.read_text()
    assert Ledger(tmp_path / "budget.db").spent() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_can_be_rehearsed(commands, kind, tmp_path, call):
    endings = {"csv", "json", "txt", "parquet", "xlsx"}
    endings |= {"md", "tex", "html"} if kind == "table" else set()
    for spent, ending in enumerate(sorted(endings), 1):
        code, out, err = call(*commands[kind], "--out", tmp_path / f"out.{ending}")
        assert (code, out, err) == (0, "", "")
        assert (tmp_path / f"out.{ending}").stat().st_size
        assert Ledger(tmp_path / "budget.db").spent() == spent


def broken(*_, **__):
    raise TypeError("a record: 4711")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["page.html", "page.md", "out.xlsx"])
def test_what_cannot_be_written_costs_nothing(commands, kind, what, tmp_path, call, monkeypatch):
    monkeypatch.setattr(report_page, "figures", broken)
    monkeypatch.setattr(report_page, "as_markdown", broken)
    monkeypatch.setattr(SimpleTable, "to_excel", broken)
    monkeypatch.setattr(duffdp.Table, "to_excel", broken)
    option = "--report" if what.startswith("page") else "--out"
    code, out, err = call(*commands[kind], option, tmp_path / what)
    assert (code, out) == (2, "")
    assert "(TypeError). Nothing was charged" in err
    assert what in err
    assert "4711" not in err
    assert not (tmp_path / what).exists()
    assert Ledger(tmp_path / "budget.db").charges() == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["table", "csv"])
def test_a_terminal_that_lacks_a_letter_costs_nothing(commands, kind, form, tmp_path):
    """A real process, whose output is ASCII."""
    for name in ("plan.toml", "table.toml"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("none", "Köln"), encoding="utf-8")
    given = [str(part).replace("none", "Köln") for part in commands[kind]]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    told = duff(*given, "-f", form, env=ascii_only)
    assert (told.returncode, told.stdout) == (2, "")
    assert "the terminal (UnicodeEncodeError). Nothing was charged" in told.stderr
    assert Ledger(tmp_path / "budget.db").charges() == []
    assert duff(*given, "-f", form, "--out", tmp_path / "out", env=ascii_only).returncode == 0
    assert Ledger(tmp_path / "budget.db").spent() == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call_id", [None, "monthly"])
@pytest.mark.parametrize("out", [None, "out.csv"])
def test_a_page_that_fails_after_the_charge(
    commands, kind, call_id, out, tmp_path, call, monkeypatch
):
    """Its folder goes in between: the numbers are there, and with a call id it can be repeated."""
    folder, charge_all = tmp_path / "pages", Ledger.charge_all
    folder.mkdir()

    def charged(*given, **more):
        paid = charge_all(*given, **more)
        shutil.rmtree(folder)
        return paid

    command = [*commands[kind], "-f", "csv", "--report", folder / "page.html"]
    command += [] if call_id is None else ["--call-id", call_id]
    command += [] if out is None else ["--out", tmp_path / out]
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "charge_all", charged)
        code, told, err = call(*command)
    assert code == 2
    assert "the report cannot be written" in err
    assert "Epsilon 1 was charged to the data set 'data' and stays charged" in err
    place = f"in '{tmp_path / out}'" if out else "on standard output"
    assert f"the numbers are {place}." in err
    assert "un again" not in err
    numbers = (tmp_path / out).read_text() if out else told
    assert "north" in numbers
    free = "the same call with the call id 'monthly' costs nothing"
    assert (free in err) == (call_id is not None)
    folder.mkdir()
    code, again, _ = call(*command)
    assert code == 0
    assert Ledger(tmp_path / "budget.db").spent() == (2 if call_id is None else 1)
    if call_id is not None:
        assert ((tmp_path / out).read_text() if out else again) == numbers
        assert (folder / "page.html").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_who_was_charged_is_told_to_run_it_again(
    commands, kind, tmp_path, call, monkeypatch
):
    """Something unexpected, after the rehearsals went well."""
    spent, figures = Ledger(tmp_path / "budget.db").spent, report_page.figures
    monkeypatch.setattr(
        report_page, "figures", lambda block: broken() if spent() else figures(block)
    )
    code, out, err = call(*commands[kind], "--report", tmp_path / "page.html")
    assert code == 1
    assert "north" in out
    assert "something unexpected went wrong (TypeError). Please report it. Epsilon 1 was" in err
    assert "the numbers are on standard output" in err
    assert "un again" not in err
    assert "4711" not in err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["csv", "json", "excel"])
def test_a_disk_that_is_full_after_the_charge(commands, kind, form, tmp_path, call):
    (tmp_path / "out").symlink_to("/dev/full")
    code, out, err = call(*commands[kind], "-f", form, "--out", tmp_path / "out")
    assert code == 2
    assert "north" in out
    assert "printed on standard output instead. Epsilon 1 was charged" in err
    assert Ledger(tmp_path / "budget.db").spent() == 1


def test_a_release_that_fails_after_it_was_stored_can_be_had_again(tmp_path, monkeypatch, call):
    """The numbers are stored before anybody sees them: what fails behind that costs nothing."""
    from duffdp._pipeline import run as pipeline

    VISITS.write_parquet(tmp_path / "visits.parquet")
    book = Ledger(tmp_path / "budget.db", epsilon=9)
    command = ["count", tmp_path / "visits.parquet", "-e", "1", "-f", "json"]
    command += ["--ledger", book.path, "--call-id", "a"]
    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "released_values", broken)
        patched.setattr("duffdp._pipeline.rehearsal.rehearse", lambda *_: None)
        code, out, err = call(*command)
    assert (code, out) == (1, "")
    assert "the same call with the call id 'a' costs nothing." in err
    code, out, _ = call(*command)
    assert code == 0
    assert json.loads(out)["epsilon"] == 1
    assert book.spent() == 1
