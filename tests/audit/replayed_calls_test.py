"""Sound calls replayed on neighbors: `python -m tests.mutants --replay` runs this file on broken
copies of the library.
"""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from functools import partial

import duckdb
import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp._pipeline.draw_plan import KeyFinding
from duffdp.audit import neighbors, replay
from duffdp.audit.replay_cases import CASE_KEYS, ROWS_OF_JOINING, replay_cases, synthetic_table
from duffdp.statistics.count import Count
from duffdp.statistics.program import Draw, DrawSpec, ReleaseProgram
from duffdp.statistics.registry import REGISTRY

PEOPLE = {"unit": "person", "contributions": 2}
GROUPS = {"by": "group", "keys": CASE_KEYS}
GRID = {"bounds": (0, 1000), "step": 1}


# Every statistic, on data that move it in different ways.


@pytest.mark.parametrize("rows", [600, 40, 3])
@pytest.mark.parametrize("case", list(map(str, replay_cases(10))))
def test_every_statistic(case, rows):
    result = cases_of(rows)[case].replay()
    assert result.ok, result.findings
    assert result.rows
    assert 0 <= result.loss <= 1 + 1e-9


_cases = {}


def cases_of(rows):
    if rows not in _cases:
        _cases[rows] = {str(case): case for case in replay_cases(rows)}
    return _cases[rows]


@pytest.mark.parametrize("q", [0.01, 0.05, 0.95, 0.99])
@pytest.mark.parametrize("epsilon", [1, 5])
def test_outer_quantiles_of_far_bounds(q, epsilon):
    """The range is drawn first, and records lie beyond its ends."""
    call = partial(duffdp.quantile, q=q, epsilon=epsilon, bounds=(0, 10**6), step=1)
    for records in (200, 2000):
        data = np.floor(1000 * np.exp(3 * np.sin(np.arange(records))))
        for value in (0.0, 1000.0, 10.0**6):
            for seed in range(3):
                sound(call, data, np.append(data, value), seed=seed)


@pytest.mark.parametrize("verb", [duffdp.sum, duffdp.mean])
@pytest.mark.parametrize("mechanism", ["best", "clipped"])
def test_bounds_below_zero(verb, mechanism):
    call = partial(verb, epsilon=5, bounds=(-1000, 10), step=1, mechanism=mechanism)
    data = -np.arange(300.0)
    for value in (-1000.0, 10.0):
        sound(call, data, np.append(data, value))


@pytest.mark.parametrize("parts", [20, 32])
def test_many_quantiles(parts):
    """As many as are drawn together, and more, after a count."""
    call = partial(duffdp.quantiles, qs=np.arange(1, parts) / parts, epsilon=1, **GRID)
    data = np.arange(300.0)
    for value in (0.0, 150.0, 1000.0):
        assert sound(call, data, np.append(data, value))


def test_a_list_whose_records_become_others():
    call = partial(duffdp.median, epsilon=1, bounds=(0, 9))
    for value in (2.5, "2.5", None, True, "word"):
        sound(call, [1, 2, 3], [1, 2, 3, value])


@pytest.mark.parametrize("records", [20, 40, 80, 160])
def test_ends_of_a_population(records):
    """With so few records one more moves the aim of an end the most."""
    for q in (0.25, 0.5, 0.9):
        call = partial(duffdp.quantile, q=q, epsilon=10, interval=0.99, covers="population", **GRID)
        for value in (0.0, 1000.0):
            data = np.arange(float(records))
            sound(call, data, np.append(data, value))


def test_quantiles_of_a_known_number_of_records(monkeypatch):
    """The number that was released, not the true one."""
    statistic = duffdp.statistics.Quantiles([0.25, 0.75], records=300)
    draw = DrawSpec(statistic, "joint-exponential", ("low", "high"))
    program = ReleaseProgram((draw,))
    monkeypatch.setattr(type(REGISTRY["quantiles"]), "program", lambda *_: program)
    call = partial(duffdp.quantiles, qs=(0.25, 0.75), epsilon=1, **GRID)
    data = np.arange(300.0)
    for value in (0.0, 1000.0):
        sound(call, data, np.append(data, value))


# Every engine, for people, groups and pairs.

FRAME = pl.from_arrow(synthetic_table(600)).with_columns(
    sex=pl.Series(np.array(["m", "f"])[np.arange(600) % 2])
)
ENGINES = ("pandas", "polars", "lazy", "arrow", "parquet", "csv")


def sound(call, data, neighbor, **options):
    result = replay(call, data, neighbor, **options)
    assert result.ok, result.findings
    return result


def in_container(frame, kind, folder, name):
    path = folder / f"{name}.{kind}"
    match kind:
        case "pandas":
            return frame.to_pandas()
        case "lazy":
            return frame.lazy()
        case "arrow":
            return frame.to_arrow()
        case "parquet":
            frame.write_parquet(path)
            return path
        case "csv":
            frame.write_csv(path)
            return path
    return frame


def pairs_in(kind, folder, column="x", values=(0.0, 1000.0), unit="person"):
    """Neighbors in a container: a person leaves, or joins with more rows than count."""
    pairs = neighbors(FRAME, column=column, values=values, unit=unit, rows=ROWS_OF_JOINING)
    for pair in pairs:
        yield tuple(in_container(f, kind, folder, n) for f, n in zip(pair[1:], "ab", strict=True))


CALLS = {
    "count": partial(duffdp.count, column="x", **PEOPLE),
    "std": partial(duffdp.std, column="x", **GRID, **PEOPLE),
    "quartiles": partial(
        duffdp.quantiles, qs=(0.25, 0.75), interval=0.8, column="x", **GRID, **PEOPLE
    ),
    "groups": partial(duffdp.sum, column="x", groups_per_person=2, **GRID, **PEOPLE, **GROUPS),
    "rows": partial(duffdp.mean, column="x", mechanism="clipped", **GRID, **GROUPS),
    "share": partial(duffdp.share, column="x", between=(0, 50), where="not sex = 'f'", **PEOPLE),
}


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("name", CALLS)
def test_every_engine(name, kind, tmp_path):
    call = partial(CALLS[name], epsilon=1)
    for pair in pairs_in(kind, tmp_path, unit="person" if "unit" in call.keywords else None):
        sound(call, *pair)


@pytest.mark.parametrize("kind", ["polars", "lazy", "parquet"])
def test_pairs_of_people(kind, tmp_path):
    call = partial(duffdp.slope, "x", "y", epsilon=1, bounds=(-9, 9), step=0.5, **PEOPLE)
    for pair in pairs_in(kind, tmp_path, column="y", values=(-1e6, 1e6)):
        sound(lambda data, rng: call(data=data, rng=rng), *pair)


@pytest.mark.parametrize("kind", ["polars", "parquet"])
def test_releases_that_share_passes(kind, tmp_path):
    plan = duffdp.Plan(
        epsilon=1,
        unit="person",
        contributions=2,
        releases=[
            {"statistic": "sum", "column": "x", "bounds": (0, 1000), "step": 1},
            {"statistic": "median", "column": "y", "bounds": (0, 1000), "step": 1},
            {"statistic": "count", "column": "x"},
            {"statistic": "sum", "column": "y", "bounds": (0, 1000), "where": "sex = 'f'"},
        ],
    )
    for pair in pairs_in(kind, tmp_path):
        sound(plan.run, *pair, epsilon=1)


# Tables, plans and profiles, whose epsilon is the total of several releases.


def test_a_plan_with_weights():
    plan = duffdp.Plan(
        epsilon=1,
        releases=[
            {"statistic": "std", "column": "x", "bounds": (0, 1000), "weight": 3},
            {"statistic": "count", "weight": 2},
        ],
    )
    sound(plan.run, FRAME, FRAME[:-1], epsilon=1)


def test_a_table_with_totals():
    call = partial(
        duffdp.table,
        statistics={"x": ["median", 0.25, "mean"], "y": ["sum"]},
        epsilon=2,
        bounds={"x": (0, 1000), "y": (0, 1000)},
        by=["group", "sex"],
        keys={"group": CASE_KEYS[:2], "sex": ["m", "f"]},
        total=True,
        suppress_below=5,
        **PEOPLE,
    )
    for pair in neighbors(FRAME, column="x", values=[1000.0], unit="person", rows=ROWS_OF_JOINING):
        sound(call, pair.data, pair.neighbor, epsilon=2)


@pytest.mark.parametrize("kind", ["polars", "lazy", "parquet"])
def test_a_table_that_finds_keys(kind, tmp_path):
    call = partial(
        duffdp.table,
        statistics={"x": ["median"], "y": ["sum"]},
        epsilon=2,
        bounds={"x": (0, 1000), "y": (0, 1000)},
        by="group",
        keys=duffdp.Pattern("[a-d]", false_keys=1),
        groups_per_person=2,
        **PEOPLE,
    )
    for pair in pairs_in(kind, tmp_path):
        sound(call, *pair, epsilon=2)


@pytest.mark.parametrize("kind", ["polars", "parquet"])
@pytest.mark.parametrize("found", [False, True])
def test_a_table_with_levels(kind, found, tmp_path):
    """Larger groups above the keys: sums of the same rows, and all of one epsilon."""
    call = partial(
        duffdp.table,
        statistics={"x": ["sum"]},
        epsilon=2,
        bounds={"x": (0, 1000)},
        by="group",
        keys=duffdp.Pattern("[a-d]", false_keys=1) if found else CASE_KEYS,
        other="rest",
        levels={"half": {"first": ["a", "b"], "second": ["c"]}},
        weights={"count": 2, "count by half": 1, "count in all": 1, "x_sum by half": 3},
        interval=None,
        groups_per_person=2,
        **PEOPLE,
    )
    for pair in pairs_in(kind, tmp_path):
        sound(call, *pair, epsilon=2)


@pytest.mark.parametrize("unit", [None, "person"])
def test_a_profile(unit):
    people = {"unit": unit, "contributions": 2} if unit else {}
    call = partial(duffdp.profile, epsilon=1, bounds={"x": (0, 100)}, **people)
    for pair in neighbors(FRAME, column="x", values=[1000.0], unit=unit, rows=ROWS_OF_JOINING):
        sound(call, pair.data, pair.neighbor, epsilon=1)


# The charge of a ledger for experiments: before the first bit, for all of a call, or none of it.


def with_ledger(folder, epsilon=100):
    return duffdp.Ledger(folder / "budget.db", epsilon=epsilon, allow_seeded=True)


TWO_RELEASES = duffdp.Plan(
    epsilon=1,
    unit="person",
    contributions=2,
    releases=[
        {"statistic": "median", "column": "x", "bounds": (0, 1000)},
        {"statistic": "count", "weight": 2},
    ],
)
CHARGED = {
    "people": CALLS["std"],
    "groups": CALLS["rows"],
    "found keys": partial(duffdp.sum, column="x", keys=duffdp.Pattern("[a-d]"), by="group", **GRID),
    "plan": TWO_RELEASES.run,
    "table": partial(
        duffdp.table, statistics={"x": ["median", "mean"]}, bounds={"x": (0, 1000)}, **GROUPS
    ),
    "profile": partial(duffdp.profile, columns=["x", "y"]),
}


@pytest.mark.parametrize("name", CHARGED)
def test_a_run_is_charged_before_it_takes_bits(name, tmp_path):
    call = CHARGED[name] if name == "plan" else partial(CHARGED[name], epsilon=1)
    ledger = with_ledger(tmp_path)
    result = sound(call, FRAME, FRAME[:-1], ledger=ledger)
    assert 100 - ledger.remaining_exactly() in (2, 3)  # for as many runs
    assert result.epsilon == 1


@pytest.mark.parametrize("name", CHARGED)
@pytest.mark.parametrize("budget", [0.999, 0.5])
def test_a_run_beyond_the_budget_is_charged_nothing(name, budget, tmp_path):
    call = CHARGED[name] if name == "plan" else partial(CHARGED[name], epsilon=1)
    ledger = with_ledger(tmp_path, budget)
    refused(call, FRAME, FRAME[:-1], "BudgetExceeded", ledger=ledger)
    assert ledger.spent() == 0


@pytest.mark.parametrize("kind", ["polars", "lazy", "parquet"])
def test_a_plan_that_cannot_be_made_is_charged_nothing(kind, tmp_path):
    """A column of words has no mean: its type says so before any release is paid."""
    releases = [{"statistic": "count"}, {"statistic": "mean", "column": "group", "bounds": (0, 9)}]
    ledger = with_ledger(tmp_path)
    pair = [in_container(f, kind, tmp_path, n) for f, n in ((FRAME, "a"), (FRAME[:-1], "b"))]
    refused(duffdp.Plan(releases, epsilon=1).run, *pair, "a column of numbers", ledger=ledger)
    assert ledger.spent() == 0


def test_shares_that_no_mechanism_takes_are_charged_nothing(tmp_path):
    ledger = with_ledger(tmp_path)
    call = partial(duffdp.quantiles, qs=(0.25, 0.75), epsilon=1e-12, mechanism="duff", **GRID)
    refused(call, [1, 2, 3], [1, 2, 3, 9], "divided among the draws", ledger=ledger)
    assert ledger.spent() == 0


# Records that could stop a query, or change how others are read.

ODD = pl.DataFrame({"p": [1, 1, 2, 3], "text": ["1", "7", "3", "12"], "day": ["01.02.2024"] * 4})


@pytest.mark.parametrize("text", ["x", "", "1e999", "-3", "99999999999999999999"])
def test_a_field_that_does_not_fit(text, tmp_path):
    more = pl.concat([ODD, pl.DataFrame({"p": [9], "text": [text], "day": [f"31.02.20{text:.2}"]})])
    files = [in_container(frame, "csv", tmp_path, n) for frame, n in ((ODD, "a"), (more, "b"))]
    typed = [
        duffdp.TextFile(file, types={"text": "double", "day": "date"}, date_format="%d.%m.%Y")
        for file in files
    ]
    sound(partial(duffdp.mean, column="text", epsilon=1, bounds=(0, 9)), *files)
    sound(partial(duffdp.median, column="text", epsilon=1, bounds=(0, 9), step=1), *typed)
    days = {"bounds": (dt.date(2024, 1, 1), dt.date(2024, 12, 31))}
    sound(partial(duffdp.median, column="day", epsilon=1, **days), *typed)
    queries = [
        duffdp.Query(frame, "SELECT CAST(text AS DOUBLE) / (p - 9) AS v FROM data")
        for frame in (ODD, more)
    ]
    sound(partial(duffdp.sum, column="v", epsilon=1, bounds=(-9, 9), step=1), *queries)


def test_people_whose_names_differ_in_case():
    """A connection that takes them for one person would let one change the row of the other."""
    sql = "SELECT p, SUM(x) AS x FROM data GROUP BY p"
    rows = {"p": ["Bo", "Ann", "Ann", "Cy", "bo"], "x": [0, 500, 500, 3, 1000]}
    connection = duckdb.connect()
    connection.execute("SET default_collation = 'NOCASE'")
    frames = [pl.DataFrame(rows), pl.DataFrame(rows)[:-1]]
    tables = [frame.to_arrow() for frame in frames]
    queries = [duffdp.Query(connection.from_arrow(table), sql) for table in tables]
    sound(partial(duffdp.mean, column="x", epsilon=1, **GRID, unit="p"), *queries)


def test_sums_over_the_rows_of_a_person():
    sql = "SELECT person, SUM(x) AS x FROM data GROUP BY person"
    call = partial(duffdp.sum, column="x", epsilon=1, **GRID, unit="person")
    for pair in neighbors(FRAME, column="x", values=[1e18], unit="person", rows=ROWS_OF_JOINING):
        sound(call, duffdp.Query(pair.data, sql), duffdp.Query(pair.neighbor, sql))


def test_sums_over_the_rows_of_a_person_in_another_order():
    """Rows have no order: a sum of doubles would depend on it."""
    sql = "SELECT person, SUM(x) AS x FROM data GROUP BY person"
    call = partial(duffdp.mean, column="x", epsilon=1, **GRID, unit="person")
    rows = [(1, 501.0), (1, 1e16), (1, -1e16), (2, 3.0), (3, 7.0)]
    others = [(1, 1e16), (1, -1e16), (1, 501.0), (3, 7.0), (2, 3.0), (4, 1000.0)]
    pair = [
        duffdp.Query(pl.DataFrame(each, schema=["person", "x"], orient="row"), sql)
        for each in (rows, others)
    ]
    result = sound(call, *pair)
    assert result.loss > 0


# What would break a promise is refused: if it were not, its replay would show it.


def refused(call, data, neighbor, words, **options):
    (finding,) = replay(call, data, neighbor, **options).findings
    assert finding.startswith("both runs fail")
    assert words in finding


@pytest.mark.parametrize(
    ("sql", "unit", "words"),
    [
        ("SELECT SUM(x) OVER () AS x FROM data", None, "Window"),
        ("SELECT person, SUM(x) AS x FROM data GROUP BY person", None, "unit"),
    ],
)
def test_queries_that_mix_the_records_of_people(sql, unit, words):
    def call(data, rng):
        query = duffdp.Query(data, sql)
        return duffdp.mean(query, column="x", epsilon=1, **GRID, unit=unit, rng=rng)

    for pair in neighbors(FRAME, column="x", values=[1000.0]):
        refused(call, pair.data, pair.neighbor, words)


@pytest.mark.parametrize("form", ["frame", "file"])
def test_the_data_are_no_keys(form, tmp_path):
    """A group with one record would be seen if its key came from the data."""
    frames = [FRAME.with_columns(group=pl.lit("a")), FRAME.select(FRAME.columns)]
    frames[1] = pl.concat([frames[0], FRAME[:1].with_columns(group=pl.lit("new"))])
    kind = "polars" if form == "frame" else "parquet"
    pair = [in_container(frame, kind, tmp_path, n) for frame, n in zip(frames, "ab", strict=True)]

    def call(data, rng):
        keys = data if form == "frame" else str(data)
        return duffdp.count(data, by="group", keys=keys, epsilon=1, rng=rng)

    refused(call, *pair, "these are the data")


def test_keys_that_are_refused_are_not_quoted():
    """A column of the data is taken for keys: its records are in no error."""

    def call(data, rng):
        return duffdp.count(data, by="group", keys=data["group"], epsilon=1, rng=rng)

    rows = [pl.DataFrame({"x": [1, 2], "group": [key, key]}) for key in ("secret", "other")]
    refused(call, *rows, "keys must")


def spends(*shares):
    """A program that draws counts for these shares of what a row may cost, one after the other; a
    share is a number for all groups, or one for each.
    """

    def body(draws, scope, epsilon):
        columns = []
        for share in shares:
            each = share if isinstance(share, list) else [share]
            costs = [Fraction(part) * epsilon for part in each]
            draw = Draw(Count(), "two-sided-geometric", costs[0] if each is not share else costs)
            columns += (yield [draw])[0]
        return columns[:1]

    return body


def looks(draws, scope, epsilon):
    """A program that would draw by the number of records."""
    part = epsilon if scope.max_records > 300 else epsilon / 2
    return (yield [Draw(Count(), "two-sided-geometric", part)])[0]


def with_program(monkeypatch, body):
    draw = DrawSpec(Count(), "two-sided-geometric", ("count",))
    program = ReleaseProgram((draw,), body)
    monkeypatch.setattr(type(REGISTRY["median"]), "program", lambda *_: program)


@pytest.mark.parametrize(
    "shares", [(1, 1 / 2), (1, 1), (1 / 2, [1 / 2, 3 / 4, 1 / 2]), ([2, 1, 1],)]
)
def test_programs_that_spend_more_than_epsilon(shares, monkeypatch):
    with_program(monkeypatch, spends(*shares))
    call = partial(duffdp.median, column="x", epsilon=1, **GRID, **GROUPS)
    for group in CASE_KEYS:
        rows = FRAME.filter(pl.col("group") == group)
        refused(call, FRAME, pl.concat([FRAME, rows[:1]]), "Overspent")


def test_a_program_that_spends_what_found_its_keys(monkeypatch):
    with_program(monkeypatch, spends(Fraction(4, 3)))
    keys = duffdp.Pattern("[a-d]", false_keys=1)
    call = partial(duffdp.median, column="x", epsilon=1, by="group", keys=keys, **GRID)
    refused(call, FRAME, FRAME[:-1], "Overspent")


def test_keys_that_cost_more_than_epsilon(monkeypatch):
    honest = KeyFinding.row_epsilon
    monkeypatch.setattr(KeyFinding, "row_epsilon", property(lambda one: 2 * honest.fget(one)))
    call = partial(duffdp.count, epsilon=1, by="group", keys=duffdp.Pattern("[a-d]"))
    refused(call, FRAME, FRAME[:-1], "Overspent")


def test_a_program_that_asks_for_the_number_of_records(monkeypatch):
    with_program(monkeypatch, looks)
    call = partial(duffdp.median, epsilon=1, **GRID)
    sound(call, np.arange(301.0), np.arange(300.0))


@pytest.mark.parametrize("kind", ["polars", "lazy"])
def test_whose_rows_count_decides_no_group_of_others(kind, tmp_path):
    """Person 1 has two keys that are not found, of which one counts. Another person has one of
    them: it was looked for in all rows, so the row of person 1 stays in its group.
    """
    rows = [("a0", person) for person in range(10, 90)] + [("a1", 1), ("b1", 1)]
    call = partial(
        duffdp.table,
        statistics={"x": ["sum"]},
        epsilon=2,
        bounds={"x": (0, 9)},
        by="code",
        keys=duffdp.Pattern("[ab][0-9]"),
        other="rest",
        levels={"chapter": {"A": duffdp.Pattern("a[0-9]"), "B": duffdp.Pattern("b[0-9]")}},
        interval=None,
        unit="person",
    )
    for code in ("a1", "b1"):
        frames = [
            pl.DataFrame(
                {"x": [1] * len(part), "code": [c for c, _ in part], "person": [p for _, p in part]}
            )
            for part in (rows, [*rows, (code, 99)])
        ]
        pair = [in_container(f, kind, tmp_path, n) for f, n in zip(frames, "ab", strict=True)]
        for seed in range(4):
            sound(call, *pair, epsilon=2, seed=seed)
