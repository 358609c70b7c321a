"""At an epsilon that leaves no noise every way to read a table gives the exact answer: several
columns and groups in one plan, files and queries, more rows than come at once.
"""

from __future__ import annotations

import datetime as dt
import math
import signal
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from duffdp import DuffError
from engines import ENGINES

EPSILON = 10**9  # for each release of a plan; more is not allowed, and none has noise
BINS = [0, 10, 20, 50]
TOP = 2**24


def rank(values, q):
    """The record with rank max(1, ceil(q n))."""
    return sorted(values)[max(1, math.ceil(Fraction(str(q)) * len(values))) - 1]


class Near:
    """Equal to numbers no further from a quantile than the next records: of several quantiles that
    are drawn together each may lie between two ties."""

    def __init__(self, values, q):
        exact, others = rank(values, q), sorted(set(values))
        at = others.index(exact)
        self.low, self.high = others[max(at - 1, 0)], others[min(at + 1, len(others) - 1)]

    def __eq__(self, other):
        return self.low <= other <= self.high

    __hash__ = None


def binned(values):
    return np.histogram(values, BINS)[0].tolist()


# Of numbers on steps of 1: what is asked, and what the answer is.
ASKED = [
    ({"statistic": "count"}, lambda v: [len(v)]),
    ({"statistic": "median"}, lambda v: [rank(v, 0.5)]),
    ({"statistic": "quantile", "q": 0.9}, lambda v: [rank(v, 0.9)]),
    ({"statistic": "quantile", "q": 0}, lambda v: [min(v)]),
    (
        {"statistic": "quantiles", "qs": [0.25, 0.75]},
        lambda v: [Near(v, 0.25), Near(v, 0.75)],
    ),
    ({"statistic": "sum"}, lambda v: [sum(v)]),
    ({"statistic": "mean"}, lambda v: [pytest.approx(sum(v) / len(v), rel=1e-12)]),
    ({"statistic": "iqr"}, lambda v: [rank(v, 0.75) - rank(v, 0.25)]),
    ({"statistic": "histogram", "bins": BINS}, binned),
]
COLUMNS = {
    "small": (50, lambda rng, rows: rng.integers(0, 51, rows)),
    # All at the very end of buckets of any width up to 2**16.
    "edges": (TOP, lambda rng, rows: rng.integers(1, 257, rows) * 2**16 - 1),
    "wide": (TOP, lambda rng, rows: rng.integers(0, TOP, rows)),
}
# Different groups in equally many places, and none at all.
GROUPS = [{}, {"by": "g", "keys": ["a", "b"]}, {"by": "g", "keys": ["c", "a"]}]


def table(rows):
    rng = np.random.default_rng(5)
    made = {name: (pa.int64(), draw(rng, rows).tolist()) for name, (_, draw) in COLUMNS.items()}
    return made | {"g": (pa.string(), np.array(list("abc"))[rng.integers(0, 3, rows)].tolist())}


def plan():
    """Every question about every column in all groups, with the answer by name."""
    releases, answers = [], {}
    for column, (top, _) in COLUMNS.items():
        for groups in GROUPS:
            for asked, answer in ASKED:
                name = f"{asked} {column} {groups}"
                limits = (
                    {} if asked["statistic"] in ("count", "histogram") else {"bounds": (0, top)}
                )
                releases.append({"name": name, "column": column, **asked, **limits, **groups})
                answers[name] = column, groups.get("keys"), answer
    return duffdp.Plan(releases, epsilon=EPSILON), answers


@pytest.fixture
def _at_most_two_minutes():
    """A search for ranks that never ends is an error as well."""

    def stop(*_):
        raise TimeoutError("the plan takes more than two minutes")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_at_most_two_minutes")
@pytest.mark.parametrize("engine", ["parquet", "duckdb", "polars-lazy", "ibis", "polars"])
def test_a_plan_over_columns_and_groups_is_exact(engine):
    columns = table(3000)
    made, answers = plan()
    found = made.run(ENGINES[engine](columns))
    group = np.array(columns["g"][1])
    for name, (column, keys, answer) in answers.items():
        values = np.array(columns[column][1])
        some = [values] if keys is None else [values[group == key] for key in keys]
        expected = [number for each in some for number in answer(each.tolist())]
        assert [value for *_, value in found[name].rows()] == expected, name


@pytest.mark.parametrize("engine", ["parquet", "duckdb", "polars-lazy", "ibis"])
def test_two_distributions_of_one_plan_are_each_of_their_own_column(engine):
    columns = table(3000)
    asked = {"statistic": "distribution", "bounds": (0, TOP)}
    pair = [{"column": "edges", **asked}, {"column": "wide", **asked}]
    for release in duffdp.Plan(pair, epsilon=EPSILON).run(ENGINES[engine](columns)).values():
        values = np.array(columns[release.column][1])
        check_distribution(release.value, values)


def check_distribution(found, values):
    """Cells and their counts against those of the records."""
    upto = np.searchsorted(np.sort(values), found.ends, side="right")
    assert np.diff(upto, prepend=0).tolist() == list(found.counts)
    assert sum(found.counts) == len(values)


@pytest.mark.parametrize("engine", ["parquet", "duckdb", "polars-lazy"])
def test_more_rows_than_are_handed_over_at_once(engine, tmp_path):
    """Several batches: all of them count, in what is answered by streaming rows."""
    rows = 2_500_000
    values = np.random.default_rng(6).integers(0, 2000, rows).astype(np.int32)
    values[: rows // 2] //= 4  # so that no batch is like another
    frame = pl.DataFrame({"x": values})
    frame.write_parquet(tmp_path / "x.parquet")
    data = {
        "parquet": lambda: tmp_path / "x.parquet",
        "duckdb": lambda: ENGINES["duckdb"]({"x": (pa.int32(), values)}),
        "polars-lazy": lambda: pl.scan_parquet(tmp_path / "x.parquet"),
    }[engine]()
    given = {"column": "x", "epsilon": EPSILON, "bounds": (0, 2000)}
    check_distribution(duffdp.distribution(data, **given).value, values)
    assert duffdp.median(data, **given).value == np.sort(values)[rows // 2 - 1]
    assert duffdp.sum(data, **given).value == values.sum(dtype=np.int64)
    bins = duffdp.histogram(data, column="x", epsilon=EPSILON, bins=[0, 500, 1000, 2000]).value
    assert list(bins.values()) == np.histogram(values, [0, 500, 1000, 2000])[0].tolist()


@pytest.mark.parametrize("bits", [30, 42, 45, 50, 52])
def test_sums_of_doubles_on_a_fine_grid_are_exact(bits):
    """Where doubles round the sum of some records, the released one is the closest to the exact
    sum all the same."""
    rng = np.random.default_rng(bits)
    given = {"epsilon": EPSILON, "bounds": (0.0, 2.0**bits), "step": 1.0}
    for _ in range(5):
        records = rng.integers(2**bits - 2**20, 2**bits, 4095)
        exact = sum(records.tolist())
        assert duffdp.sum(records * 1.0, **given).value == float(exact)
        assert duffdp.mean(records * 1.0, **given).value == round(Fraction(exact, 4095))


def test_a_group_that_is_spelled_in_several_ways_is_one_group(tmp_path):
    """In files of text: all spellings add up, in each release of a plan."""
    words = ["true", "TRUE", "True", "false", "FALSE"]
    rows = [(i % 101, i % 37, words[i % 5]) for i in range(4000)]
    path = tmp_path / "rows.csv"
    path.write_text("x,y,g\n" + "".join(f"{x},{y},{g}\n" for x, y, g in rows))
    asked = [
        {"statistic": name, "column": column, "bounds": (0, 100), "by": "g", "keys": [True, False]}
        for name in ("sum", "mean", "median")
        for column in ("x", "y")
    ]
    made = duffdp.Plan(asked, epsilon=EPSILON).run(path)
    for release in made.values():
        place = "xy".index(release.column)
        for (_, _, value), key in zip(release.rows(), ("true", "false"), strict=True):
            values = [row[place] for row in rows if row[2].lower() == key]
            total = sum(values)
            expected = {
                "sum": total,
                "mean": pytest.approx(total / len(values), rel=1e-12),
                "median": rank(values, 0.5),
            }
            assert value == expected[release.statistic.name]


# The rows of a person.


@pytest.mark.parametrize("engine", ["parquet", "duckdb", "polars-lazy", "ibis", "polars"])
def test_the_rows_of_people_are_chosen_anew_for_every_run(engine):
    """Each of 64 people has two rows and is a group: the sums tell which row counted. Two runs
    choose the same rows for all of them once in 2**64."""
    people = 64
    who = [i // 2 for i in range(2 * people)]
    columns = {
        "who": (pa.int64(), who),
        "g": (pa.int64(), who),
        "x": (pa.int64(), [i % 2 for i in range(2 * people)]),
        "y": (pa.int64(), [i % 2 for i in range(2 * people)]),
    }
    data = ENGINES[engine](columns)
    of = {"statistic": "sum", "bounds": (0, 1), "by": "g", "keys": list(range(people))}
    releases = [{"column": "x", **of}, {"column": "y", **of}]
    made = duffdp.Plan(releases, epsilon=EPSILON, unit="who")
    for column in "xy":
        runs = []
        for _ in range(3):
            (found,) = [one for one in made.run(data).values() if one.column == column]
            runs.append(tuple(value for *_, value in found.rows()))
        assert {number for run in runs for number in run} == {0, 1}
        assert len(set(runs)) == 3


# How values of a type are read.


@pytest.mark.parametrize("engine", ["parquet", "polars-lazy", "polars", "pyarrow", "pandas"])
def test_nanoseconds_are_cut_off(engine):
    """To the microsecond at or before them, before 1970 too."""
    start = dt.datetime(1970, 1, 1)
    nanoseconds = [-2001, -1999, -1, 0, 1, 999, 1000, 1001, 5_000_999]
    columns = {"t": (pa.timestamp("ns"), nanoseconds)}
    bounds = (dt.datetime(1969, 12, 31), dt.datetime(1970, 1, 2))
    data = ENGINES[engine](columns)
    qs = [Fraction(2 * i + 1, 2 * len(nanoseconds)) for i in range(len(nanoseconds))]
    for q, known in zip(qs, nanoseconds, strict=True):
        given = {"column": "t", "bounds": bounds, "step": dt.timedelta(microseconds=1)}
        found = duffdp.quantile(data, q, epsilon=EPSILON, **given).value
        assert found == start + dt.timedelta(microseconds=known // 1000)


@pytest.mark.parametrize("engine", ["parquet", "duckdb", "polars-lazy", "polars", "pyarrow"])
def test_keys_and_categories_that_a_decimal_column_cannot_hold(engine):
    """A key with more digits than the column has is refused, and never another number; a category
    of that kind has no records."""
    prices = [Decimal("2.01")] * 5 + [Decimal("2.25")] * 7
    data = ENGINES[engine]({"price": (pa.decimal128(5, 2), prices)})
    given = {"column": "price", "epsilon": EPSILON}
    found = duffdp.histogram(data, categories=[Decimal("1.005"), Decimal("2.25")], **given)
    assert list(found.value.values()) == [0, 7]
    with pytest.raises(DuffError, match="keys of 'price' must have the type"):
        duffdp.count(data, epsilon=1, by="price", keys=[Decimal("1.005"), Decimal("2.25")])
    groups = duffdp.count(data, epsilon=EPSILON, by="price", keys=[2.25, Decimal("2.01")])
    assert [value for *_, value in groups.rows()] == [7, 5]


@pytest.mark.parametrize("word", ["current_date", "current_timestamp", "now()", "random()"])
def test_a_query_about_the_time_or_chance_is_refused_with_what_it_may_ask_for(word):
    """What depends on when it is asked, or on chance, is no value of a row."""
    sql = f"SELECT x, {word} AS t FROM data"
    with pytest.raises(DuffError, match="expressions that compute one value from one row"):
        duffdp.count(duffdp.Query(pl.DataFrame({"x": [1]}), sql), epsilon=1)


def test_a_summary_is_exact_and_counts_nothing_below_zero():
    values = [i % 91 for i in range(2000)]
    found = duffdp.describe(values, epsilon=EPSILON, bounds=(0, 100)).value
    assert found["count"] == 2000
    assert found["mean"] == pytest.approx(sum(values) / 2000, rel=1e-12)
    keys = list(range(60))  # of which none has records: one in 2**60 runs has no noise below 0
    empty = pl.DataFrame({"x": [1], "g": [-1]})
    given = {"column": "x", "by": "g", "keys": keys, "bounds": (0, 100)}
    counts = duffdp.describe(empty, epsilon=0.1, **given).value["count"].to_list()
    assert min(counts) == 0 < max(counts)
