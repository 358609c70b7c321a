"""Epsilon of a profile through the public door: shares add up to what was asked and charged, all is
paid before a row is read, one row or person moves all draws by at most epsilon, and no record
changes what else can be seen."""

from __future__ import annotations

import datetime as dt
import itertools
import warnings
from decimal import Decimal
from fractions import Fraction

import polars as pl
import pytest

import duffdp
from duffdp import BudgetExceeded, DuffError, Ledger
from duffdp.audit.neighbours import largest_log_ratio, neighbours
from release_draws import laws, recorded

ASKED = Fraction(7, 10)
ROWS = {"x": [1.0, 2.0, None, 7.0], "g": list("aabc"), "p": [1, 1, 2, 3]}
GIVEN = {"bounds": {"x": (0, 5)}, "by": "g", "keys": ["a", "b"]}


@pytest.mark.parametrize("contributions", [None, 1, 3])
def test_the_shares_of_a_profile_add_up(tmp_path, contributions):
    ledger = Ledger(tmp_path / "budget.db", epsilon=10)
    people = {} if contributions is None else {"unit": "p", "contributions": contributions}
    frame = pl.DataFrame(ROWS) if people else pl.DataFrame(ROWS).drop("p")
    with recorded() as draws:
        look = duffdp.profile(frame, epsilon=ASKED, ledger=ledger, **GIVEN, **people)
    shares = {name: release.loss.epsilon for name, release in look.releases.items()}
    counted = {"rows": Fraction(1, 6)}
    if contributions == 3:
        counted["people"] = Fraction(1, 6)
    each = (1 - sum(counted.values())) / 2
    wanted = counted | {
        "fields of x": each * Fraction(9, 10),
        "quartiles of x": each * Fraction(1, 10),
        "fields of g": each,
    }
    assert shares == {name: part * ASKED for name, part in wanted.items()}
    assert sum(shares.values()) == ASKED
    rows = [1 if name == "people" else contributions or 1 for name in shares]
    assert [release.contributions for release in look.releases.values()] == rows
    received = [draw.epsilon * part for draw, part in zip(draws, rows, strict=True)]
    assert received == pytest.approx([float(share) for share in shares.values()])
    assert [Fraction(one["loss"]["epsilon"]) for one in ledger.charges()] == list(shares.values())
    assert ledger.remaining_exactly() == 10 - ASKED


def test_a_profile_is_paid_for_before_it_is_read(tmp_path):
    ledger, seen = Ledger(tmp_path / "budget.db", epsilon=1), []

    def noticed(frame):
        seen.append(ledger.spent())
        return frame

    frame = pl.LazyFrame(ROWS).map_batches(noticed, validate_output_schema=False)
    for options, error in (
        ({"epsilon": 2}, BudgetExceeded),
        ({"epsilon": 1, "rng": 3}, DuffError),
        ({"epsilon": 1, "columns": ["none"]}, DuffError),
    ):
        with pytest.raises(error):
            duffdp.profile(frame, ledger=ledger, **options)
    assert (seen, ledger.charges()) == ([], [])
    duffdp.profile(frame, epsilon=0.5, ledger=ledger)
    assert set(seen) == {0.5}


def test_one_row_moves_all_of_a_profile_by_at_most_epsilon():
    """Exact output distributions of all draws, over all small tables of a few kinds of rows."""
    kinds = [(x, g) for x in (None, 1.0) for g in ("a", "z", None)]
    epsilon = 8.0

    def draws_of(data):
        frame = pl.DataFrame(
            [kinds[i] for i in data], schema={"x": pl.Float64, "g": pl.String}, orient="row"
        )
        given = {"columns": ["g"], "by": "g", "keys": ["a"], "where": "x = 1"}
        return laws(lambda: duffdp.profile(frame, epsilon=epsilon, **given))

    pairs = [(here, there) for here, there, _ in neighbours(len(kinds), 2)]
    assert 0.9 * epsilon < largest_log_ratio(draws_of, pairs) <= epsilon * (1 + 1e-9)


NASTY = [
    *("", "nan", "inf", "1e999", "0x1", "2024-02-30", "\x00", "ü", "1.280,00", '"', "a" * 5000),
    *("1e308", "-1e308", "5e-324", "9999-12-31", "0001-01-01", "9999-12-31T23:59:59.999999999Z"),
    *("\udcff\udcfe", "é\udc80", "9" * 400, "a" * 2**21, "\r", "7,8,9,10", "-0", "1_000"),
]
TYPED = {
    "float": (pl.Float64, [1e308, -1e308, 5e-324, float("inf"), float("nan"), None]),
    "date": (pl.Date, [dt.date(9999, 12, 31), dt.date(1, 1, 1), None]),
    "moment": (pl.Datetime("us"), [dt.datetime(9999, 12, 31, 23, 59, 59, 999999), None]),
    "int": (pl.Int64, [2**63 - 1, -(2**63), None]),
    "decimal": (pl.Decimal(38, 2), [Decimal(10) ** 35, None]),
    "text": (pl.String, ["a" * 2**21, "", "\x00", None]),
}


@pytest.mark.parametrize("form", ["csv", "frame"])
def test_no_record_changes_what_else_can_be_seen(tmp_path, form):
    """Names, kinds of values that are possible, releases, warnings and errors are the same with
    every record; sentences and numbers are made of released numbers."""

    def seen(records):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            if form == "csv":
                path = tmp_path / "a.csv"
                text = "".join(f"{record},7\n" for record in records)
                path.write_bytes(b"x,y\n" + text.encode(errors="surrogateescape"))
                look = duffdp.profile(path, epsilon=1)
            else:
                import pandas as pd

                given = {"x": pd.Series(list(records), dtype=object), "y": 7}
                look = duffdp.profile(pd.DataFrame(given), epsilon=1)
        public = look.to_dict()
        names = [(one.name, one.type) for one in look.columns.values()]
        facts = [release.facts.to_dict() for release in look.releases.values()]
        return names, facts, sorted(public), list(look.wide()), [str(one.message) for one in told]

    usual = seen(["3", "5"])
    for record in itertools.chain(NASTY, [] if form == "csv" else [None, 3, b"x", object()]):
        assert seen(["3", "5", record]) == usual


@pytest.mark.parametrize("kind", TYPED)
@pytest.mark.parametrize("form", ["frame", "parquet"])
def test_no_typed_record_changes_what_else_can_be_seen(tmp_path, kind, form):
    dtype, nasty = TYPED[kind]
    usual = {
        "float": 3.0,
        "date": dt.date(2024, 5, 1),
        "moment": dt.datetime(2024, 5, 1),
        "int": 3,
        "decimal": Decimal(3),
        "text": "a",
    }[kind]

    def seen(records):
        data = frame = pl.DataFrame({"x": pl.Series(records, dtype=dtype, strict=False)})
        if form == "parquet":
            data = tmp_path / "a.parquet"
            frame.write_parquet(data)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            look = duffdp.profile(data, epsilon=1)
        facts = [release.facts.to_dict() for release in look.releases.values()]
        return facts, sorted(look.to_dict()), list(look.wide()), [str(one.message) for one in told]

    expected = seen([usual, usual])
    for record in nasty:
        assert seen([usual, usual, record]) == expected


def test_no_record_changes_what_the_command_shows(tmp_path, call):
    """Exit code, lines on standard error, and the shape of the table."""

    def seen(record):
        path = tmp_path / "a.csv"
        text = "".join(f"{field},7\n" for field in ("3", "5", record))
        path.write_bytes(b"x,y\n" + text.encode(errors="surrogateescape"))
        code, out, err = call("profile", path, "-e", 0.01, quiet=False)
        return code, err, [line.split()[:2] for line in out.splitlines()[:3]]

    assert len({str(seen(record)) for record in ("4", *NASTY)}) == 1
