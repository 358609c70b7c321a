"""Conditions: what they say, which rows they keep on every engine, and that no record shows."""

from __future__ import annotations

import datetime as dt
import html
import json
import math
from decimal import Decimal

import pyarrow as pa
import pytest

import duffdp
from duffdp import DuffError, TextFile
from duffdp._engines.sql.query import OpenSources
from duffdp._engines.where import DEEPEST, MAX_CONDITION_LETTERS, Combined, Compared, IsIn, Missing
from duffdp._engines.where import read_condition as read
from engines import ENGINES
from inquiries import groups_of

SURE = 1e5
DAY = dt.date(2024, 7, 7)
NOON = dt.datetime(2024, 7, 7, 12)
SUMMER = dt.datetime(2024, 3, 31, 1)  # in UTC, when clocks of Berlin are put forward
NUMBERS = [None, math.nan, -math.inf, -1.5, -0.0, 0.1, 2.0, math.inf]
ROWS = [
    {
        "age": [None, -128, 17, 18, 19, 127][at % 6],
        "cost": NUMBERS[at % 8],
        "narrow": NUMBERS[(at + 3) % 8],
        "ward": [None, "ER", "er", "lab", "it's"][at % 5],
        "day": [None, DAY, DAY - dt.timedelta(1), dt.date(2025, 1, 1)][at % 4],
        "smokes": [None, True, False][at % 3],
        "at": [None, NOON, NOON + dt.timedelta(microseconds=1), NOON - dt.timedelta(1)][at % 4],
        "zoned": [None, SUMMER, SUMMER + dt.timedelta(hours=1), dt.datetime(9000, 1, 1)][at % 4],
        "amount": [None, Decimal("0.10"), Decimal("-7.25"), Decimal("12345678901234.56")][at % 4],
    }
    for at in range(240)
]
TYPES = {"age": pa.int8(), "cost": pa.float64(), "narrow": pa.float32(), "ward": pa.string()}
TYPES |= {"day": pa.date32(), "smokes": pa.bool_(), "at": pa.timestamp("us")}
TYPES |= {"zoned": pa.timestamp("us", tz="Europe/Berlin"), "amount": pa.decimal128(16, 2)}


def gone(value):
    return value is None or value != value


def single(value):
    return None if value is None else float(pa.scalar(value, pa.float32()).as_py())


# Each condition beside the same in Python: what is missing is in no comparison.
CASES = {
    "age >= 18": lambda r: not gone(r["age"]) and r["age"] >= 18,
    "age > 17.5 and age <= 18.5": lambda r: r["age"] == 18,
    "age < 1000": lambda r: not gone(r["age"]),
    "age >= 1e30": lambda r: False,
    "NOT age < 1000": lambda r: False,
    "age = 18.5 OR age IN (17, 300)": lambda r: r["age"] == 17,
    "age <> 18.5": lambda r: not gone(r["age"]),
    "age NOT BETWEEN 17 AND 18": lambda r: not gone(r["age"]) and not 17 <= r["age"] <= 18,
    "NOT (age = 17 OR ward = 'ER')": lambda r: (
        not gone(r["age"]) and r["age"] != 17 and not gone(r["ward"]) and r["ward"] != "ER"
    ),
    "NOT (age = 17 AND ward = 'ER')": lambda r: (
        (not gone(r["age"]) and r["age"] != 17) or (not gone(r["ward"]) and r["ward"] != "ER")
    ),
    "cost >= 0": lambda r: not gone(r["cost"]) and r["cost"] >= 0,
    "NOT cost >= 0": lambda r: not gone(r["cost"]) and r["cost"] < 0,
    "cost = 0 OR cost = .1": lambda r: r["cost"] in (0.0, 0.1),
    "cost <> 0": lambda r: not gone(r["cost"]) and r["cost"] != 0,
    "cost IS NULL": lambda r: gone(r["cost"]),
    "cost IS NOT NULL AND NOT cost IS NULL": lambda r: not gone(r["cost"]),
    "narrow = 0.1": lambda r: r["narrow"] == 0.1,
    "narrow > 0.1": lambda r: not gone(r["narrow"]) and single(r["narrow"]) > single(0.1),
    "narrow <> 2": lambda r: not gone(r["narrow"]) and r["narrow"] != 2,
    "\"ward\" IN ('ER', 'it''s')": lambda r: r["ward"] in ("ER", "it's"),
    "ward <> 'ER'": lambda r: not gone(r["ward"]) and r["ward"] != "ER",
    "ward IS NULL": lambda r: gone(r["ward"]),
    "smokes = TRUE": lambda r: r["smokes"] is True,
    "smokes <> true": lambda r: r["smokes"] is False,
}
OF_DATES = {
    "day >= '2024-07-07'": lambda r: not gone(r["day"]) and r["day"] >= DAY,
    "day < '2024-07-07' OR day = '2025-01-01'": lambda r: (
        not gone(r["day"]) and (r["day"] < DAY or r["day"] == dt.date(2025, 1, 1))
    ),
    "day <> '2024-07-07'": lambda r: not gone(r["day"]) and r["day"] != DAY,
}


OF_TIMES = {
    "at >= '2024-07-07 12:00'": lambda r: not gone(r["at"]) and r["at"] >= NOON,
    "at > '2024-07-07 12:00'": lambda r: not gone(r["at"]) and r["at"] > NOON,
    "at = '2024-07-07T12:00:00.000001' OR at < '2024-07-07'": lambda r: (
        not gone(r["at"]) and (r["at"] > NOON or r["at"].day == 6)
    ),
    "at <> '2024-07-07 12:00'": lambda r: not gone(r["at"]) and r["at"] != NOON,
    "at IS NULL": lambda r: gone(r["at"]),
    "at > '0001-01-01' AND at < '9999-12-31T23:59:59.999999'": lambda r: not gone(r["at"]),
    "amount > 0.1 OR amount <= -7.25": lambda r: (
        not gone(r["amount"]) and (r["amount"] > 1 or r["amount"] < 0)
    ),
    "amount IN (0.1, 5, 12345678901234.56)": lambda r: not gone(r["amount"]) and r["amount"] > 0,
    "amount <> 0.1": lambda r: not gone(r["amount"]) and r["amount"] != Decimal("0.1"),
    "amount < 1e300 AND NOT amount IS NULL": lambda r: not gone(r["amount"]),
}
# A time without a zone is one of the column's clocks; these engines have those of UTC.
OF_ZONES = {
    "Europe/Berlin": {
        "zoned >= '2024-03-31 03:00' AND zoned < '2024-03-31 04:00'": lambda r: (
            r["zoned"] == SUMMER
        ),
        "zoned = '2024-03-31 04:00'": lambda r: r["zoned"] == SUMMER + dt.timedelta(hours=1),
    },
    "UTC": {
        "zoned >= '2024-03-31 01:00' AND zoned < '2024-03-31 02:00'": lambda r: (
            r["zoned"] == SUMMER
        ),
    },
    None: {
        "zoned = '2024-03-31T01:00:00+00:00'": lambda r: r["zoned"] == SUMMER,
        "zoned NOT IN ('2024-03-31T03:00+02:00')": lambda r: (
            not gone(r["zoned"]) and r["zoned"] != SUMMER
        ),
        "zoned > '2024-03-31T03:00+02:00'": lambda r: not gone(r["zoned"]) and r["zoned"] > SUMMER,
    },
}
IN_UTC = ("duckdb", "parquet", "postgres", "spark")


def columns(rows):
    return {name: (kind, [row[name] for row in rows]) for name, kind in TYPES.items()}


def test_the_same_rows_on_every_engine(engine):
    data = ENGINES[engine](columns(ROWS))
    objects = engine == "pandas"  # has no type for dates and booleans with gaps
    zone = "UTC" if engine in IN_UTC else "Europe/Berlin"
    zones = OF_ZONES[None] | OF_ZONES[zone]
    for text, holds in (CASES if objects else CASES | OF_DATES | OF_TIMES | zones).items():
        if objects and "smokes" in text:
            continue
        found = duffdp.count(data, epsilon=SURE, where=text)
        assert found.value == sum(map(holds, ROWS)), text
        assert found.where == text


def test_groups_people_and_values_see_the_kept_rows_alone(engine):
    if engine == "pandas":
        pytest.skip("whole numbers with gaps are doubles there")
    data = ENGINES[engine](columns(ROWS))
    how = {"epsilon": SURE, "where": "age >= 18 AND cost IS NOT NULL"}
    kept = [r for r in ROWS if not gone(r["age"]) and r["age"] >= 18 and not gone(r["cost"])]
    groups = duffdp.count(data, by="ward", keys=["ER", "lab"], **how)
    expected = [sum(r["ward"] == ward for r in kept) for ward in ("ER", "lab")]
    assert [row[-1] for row in groups.rows()] == expected
    people = duffdp.count(data, unit="ward", **how)
    assert people.value == len({r["ward"] for r in kept if r["ward"] is not None})
    top = duffdp.quantile(data, 1, column="age", bounds=(-128, 127), **how, mechanism="duff")
    assert top.value == 127
    low = duffdp.quantile(data, 0, column="age", bounds=(-128, 127), **how, mechanism="duff")
    assert low.value == 18


# ------------------------------------------------------------------------------
# the grammar


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a=1", IsIn("a", (1,), False)),
        ("not not a != -1.50", IsIn("a", (Decimal("-1.5"),), True)),
        ("\"a b\"\"c\" > 'it''s'", Compared('a b"c', ">", "it's")),
        ("NOT a NOT IN (TRUE, false)", IsIn("a", (True, False), False)),
        ("NOT a IS NOT NULL", Missing("a", False)),
        ("NOT a BETWEEN 1 AND 2", Combined(False, (Compared("a", "<", 1), Compared("a", ">", 2)))),
        (
            "a=1 OR b=2 AND NOT (c<3 OR c>4)",
            Combined(
                False,
                (
                    IsIn("a", (1,), False),
                    Combined(
                        True,
                        (
                            IsIn("b", (2,), False),
                            Combined(True, (Compared("c", ">=", 3), Compared("c", "<=", 4))),
                        ),
                    ),
                ),
            ),
        ),
    ],
)
def test_what_a_condition_says(text, said):
    assert read(text).part == said


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "  ",
            "a",
            "a =",
            "= 1",
            "1 = a",
            "a = b",
            "a = 1 b",
            "a = 1 AND",
            "(a = 1",
            "a = 1)",
        ),
        *("a IN ()", "a IN 1", "a BETWEEN 1", "a IS 1", "a LIKE 'x'", "a + 1 = 2", "a = 1/0"),
        *("a = 1; DROP TABLE t", "random() < 0.5", "count(*) > 1", "a = (SELECT 1)", "a = NULL"),
        *("a == 1", "a = 1 -- b", "a = 'x", 'a = "b"', "a = 1e9999", "a = 1.2.3", "AND = 1"),
        *("a = " + "9" * 100, "(" * (DEEPEST + 1) + "a = 1" + ")" * (DEEPEST + 1)),
        *("a = 1 OR " * MAX_CONDITION_LETTERS + "a = 1", 5, ["a = 1"], b"a = 1"),
    ],
)
def test_what_is_no_condition_is_refused_before_a_charge(text, tmp_path):
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(DuffError, match="where") as error:
        duffdp.count("nowhere.csv", epsilon=1, where=text, ledger=book)
    assert len(str(error.value)) < 300
    assert book.spent() == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agee > 1", r"no column 'agee'\. Did you mean 'age'"),
        ("age = 'x'", "a number such as 18, got 'x'"),
        ("age = TRUE", "a number such as 18, got True"),
        ("cost > '1'", "a number such as 18"),
        ("ward = 1", "text in single quotes such as 'ER', got 1"),
        ("ward > 'a'", "cannot order text"),
        ("smokes > TRUE", "cannot order boolean"),
        ("smokes = 1", "TRUE or FALSE"),
        ("day > '7.7.2024'", "a date such as"),
        ("day = 5", "a date such as"),
        ("age = 1 OR lasts = 1", "where can only compare columns of .* got 'lasts'"),
        ("at = 5", "a time such as"),
        ("at > '7.7.2024 12:00'", "a time such as"),
        ("at > '2024-07-07T12:00+02:00'", "have no zone.* Leave the zone out"),
        ("amount > '5'", "a number such as 18"),
    ],
)
@pytest.mark.parametrize("engine", ["polars", "duckdb", "parquet"])
def test_a_value_of_another_kind_is_refused_before_a_charge(engine, text, said, tmp_path):
    lasting = {"lasts": (pa.time64("us"), [None] * len(ROWS))}
    data = ENGINES[engine](columns(ROWS) | lasting)
    book = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(DuffError, match=said):
        duffdp.count(data, epsilon=1, where=text, ledger=book)
    assert book.spent() == 0


def test_arrays_and_series_have_no_columns_to_compare():
    with pytest.raises(DuffError, match="where and unit need a frame"):
        duffdp.median([1, 2], epsilon=1, bounds=(0, 9), where="a = 1")
    with pytest.raises(DuffError, match="where and unit need a table"):
        duffdp.slope([1, 2], [1, 2], epsilon=1, bounds=(0, 9), where="a = 1")


# ------------------------------------------------------------------------------
# files of text, the command, plans and what is said

LINES = "age,ward,cost\n17,ER,1\n18,ER,2\n19,lab,3\nx,lab,4\n18,,5\n"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(LINES)
    return path


def test_columns_of_files_compare_as_declared(people):
    typed = TextFile(people, types={"age": "integer"})
    assert duffdp.count(typed, epsilon=SURE, where="age >= 18 AND ward <> 'ER'").value == 1
    assert duffdp.count(people, epsilon=SURE, where="age = '18'").value == 2
    for wrong in ("age >= 18", "age = 18"):
        with pytest.raises(DuffError, match="Declare its type: types="):
            duffdp.count(people, epsilon=1, where=wrong)


def test_the_command_the_ledger_and_the_report_say_it(call, people, tmp_path):
    book, page = tmp_path / "budget.db", tmp_path / "page.md"
    duffdp.Ledger(book, epsilon=1e4)
    how = ("--types", "age=integer", "--where", "age >= 18", "-e", "5000", "--ledger", book)
    code, out, _ = call("count", people, *how, "-f", "json", "--report", page)
    assert code == 0
    told = duffdp.Release.from_dict(json.loads(out))
    assert (told.value, told.where) == (3, "age >= 18")
    assert "where age >= 18" in repr(told)
    assert html.unescape(page.read_text()).count("age >= 18") >= 2
    assert "age >= 18" in call("ledger", "show", book)[1]
    assert duffdp.Ledger(book).charges()[0]["where"] == "age >= 18"
    code, out, err = call("count", people, "--where", "age >= ", "-e", "1")
    assert (code, out) == (2, "")
    assert "where ends too early: a number" in err
    assert call("count", people, "--where", "agee = '1'", "-e", "1")[0] == 4


@pytest.mark.parametrize("where", ["", "where = \"ward = 'lab'\"\n"])
def test_plans_have_one_condition_for_all_or_one_each(call, people, tmp_path, where):
    plan = tmp_path / "plan.toml"
    words = f'source = "people.csv"\nepsilon = 50000\n{where}'
    first = '[[release]]\nstatistic = "count"\nname = "all"\n'
    own = '[[release]]\nstatistic = "count"\nname = "own"\nwhere = "ward = \'ER\'"\n'
    plan.write_text(words + first + own)
    found = duffdp.Plan.from_toml(plan).run()
    assert {name: release.value for name, release in found.items()} == {
        "all": 2 if where else 5,
        "own": 2,
    }
    plan.write_text(words + 'statistics = { cost = "median" }\nbounds = { cost = [0, 9] }\n')
    table = duffdp.TablePlan.from_toml(plan).run()
    assert table.to_pandas()["count"].tolist() == [2 if where else 5]


# ------------------------------------------------------------------------------
# one record more or less


def test_one_record_moves_one_count_by_one_or_none():
    """A kept row counts once, another not at all, whatever stands in the other rows."""
    import polars as pl

    from duffdp._pipeline.request import ReleaseRequest
    from duffdp._pipeline.run import PreparedRelease

    schema = {name: pl.from_arrow(pa.array([], kind)).dtype for name, kind in TYPES.items()}

    def counts(text, rows):
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        options = {"epsilon": 1, "bounds": (0, 3), "step": 1, "column": "cost", "where": text}
        request = ReleaseRequest("median", options)
        (group,) = groups_of(PreparedRelease.of(request, frame, None, OpenSources()).open().engine)
        return dict(zip(*(part.tolist() for part in group.value_counts()), strict=True))

    table = ROWS[:40]
    for text, holds in (CASES | OF_DATES | OF_TIMES | OF_ZONES["Europe/Berlin"]).items():
        whole = counts(text, table)
        for at in range(0, 40, 3):
            left = counts(text, table[:at] + table[at + 1 :])
            moved = sum(abs(whole.get(i, 0) - left.get(i, 0)) for i in range(4))
            assert moved == (holds(table[at]) and not gone(table[at]["cost"]))


class Raises:
    """A record that cannot be compared, hashed or asked."""

    def __eq__(self, other):
        raise RuntimeError("compared")

    def __hash__(self):
        raise RuntimeError("hashed")

    def __bool__(self):
        raise RuntimeError("asked")


ODD = [[1], {"a": 1}, Raises(), None, math.nan, Decimal("NaN"), Decimal("sNaN"), DAY, b"a", 10**400]


@pytest.mark.parametrize("record", ODD, ids=lambda record: type(record).__name__)
@pytest.mark.parametrize("where", ["w = 'a'", "w <> 'a'", "w IS NULL", "w IS NOT NULL", "x >= 2"])
def test_an_odd_object_is_kept_or_left_out_and_never_an_error(where, record):
    pandas = pytest.importorskip("pandas")
    without = pandas.DataFrame(
        {"x": [1.0, 2.0, 3.0], "w": pandas.Series(list("abc"), dtype=object)}
    )
    with_it = pandas.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]})
    with_it["w"] = pandas.Series(["a", "b", "c", record], dtype=object)
    fewer, more = (
        duffdp.count(frame, epsilon=SURE, where=where).value for frame in (without, with_it)
    )
    assert more - fewer in (0, 1)
