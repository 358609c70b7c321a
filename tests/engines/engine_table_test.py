"""The tables of docs/reference/data-sources.md and docs/explanation/scale.md, made by running
every engine: what it answers, in how many queries, with how many rows back.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from duffdp import Grid, UnsupportedData
from duffdp._engines.adapters.query import NarwhalsQuery
from duffdp._engines.queries import engine as query_engine
from duffdp._engines.requests import GroupedCounts, RanksNear, Sums
from duffdp.statistics import Mean, Median
from duffdp.statistics.statistic import Scope
from engines import ENGINES
from inquiries import run

DOCS = Path(__file__).parents[2] / "docs"
SOURCES = DOCS / "reference" / "data-sources.md"
ENGINES_PAGE, SCALE_PAGE = DOCS / "explanation" / "engines.md", DOCS / "explanation" / "scale.md"
SURE = 500.0
COLUMNS = {
    "x": (pa.int64(), [3, 3, 5, 7, 3, 9, 9, 9, 2, 9, 9]),
    "g": (pa.string(), ["a"] * 5 + ["b"] * 6),
    "p": (pa.int64(), list(range(11))),
}
TRUTH = {
    "median": (7, 3, 9),
    "quantile": (9, 7, 9),
    "mean": (6, 4, 8),
    "sum": (68, 21, 47),
    "mode": (9, 3, 9),
    "category": (9, 3, 9),
}
VERBS = {
    "median": duffdp.median,
    "quantile": lambda data, **given: duffdp.quantile(data, 0.9, **given),
    "mean": duffdp.mean,
    "sum": duffdp.sum,
    "mode": duffdp.mode,
    "category": lambda data, bounds, step, **given: duffdp.mode(
        data, categories=[2, 3, 5, 7, 9], **given
    ),
}
KINDS = {
    "": {},
    ", groups": {"by": "g", "keys": ["a", "b"]},
    ", people": {"unit": "p", "contributions": 1},
    ", both": {"by": "g", "keys": ["a", "b"], "unit": "p", "contributions": 1},
}


def answer(frame, statistic, more):
    """The released values, or None where the engine is not supported."""
    try:
        release = VERBS[statistic](frame, column="x", epsilon=SURE, bounds=(0, 10), step=1, **more)
    except UnsupportedData:
        return None
    if "by" not in more:
        return (release.value,)
    rows = nw.from_native(release.value).lazy().collect().rows()
    return tuple(value for _, value in sorted(rows))


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def test_what_each_engine_answers():
    """Every cell of the table is a release that gave the truth at an epsilon at which it must."""
    rows = []
    for name, make in ENGINES.items():
        frame, cells = make(COLUMNS), []
        for kind, more in KINDS.items():
            answered = []
            for statistic, (whole, a, b) in TRUTH.items():
                found = answer(frame, statistic, more)
                answered.append(found is not None)
                for value, truth in zip(
                    found or (), (a, b) if "by" in more else (whole,), strict=found is not None
                ):
                    # The means are 6.2, 4.2 and 7.8.
                    assert abs(value - truth) <= (statistic == "mean"), (name, statistic, kind)
            assert len(set(answered)) == 1  # all statistics or none
            cells.append("yes" if all(answered) else "no")
        rows.append([name, *cells])
    made = table(["engine", *(f"all statistics{kind}" for kind in KINDS)], rows)
    print(made)
    assert made in SOURCES.read_text()


@pytest.fixture
def asked(monkeypatch):
    """Counts the queries and the rows that come back."""
    seen = {"queries": 0, "rows": 0}
    fetch = NarwhalsQuery.fetch

    def counted(self, frame):
        got = fetch(self, frame)
        seen["queries"] += 1
        seen["rows"] += max(len(column) for column in got.values())
        return got

    monkeypatch.setattr(NarwhalsQuery, "fetch", counted)
    return seen


def test_how_many_queries_and_rows(asked):
    """A lazy table of 400,000 rows: the number of queries, and never more than a few thousand rows
    a group.
    """
    n = 400_000
    rng = np.random.default_rng(1)
    data = pl.DataFrame(
        {"x": rng.normal(0, 1, n), "i": rng.integers(0, 121, n), "g": rng.integers(0, 100, n)}
    )
    cases = {
        "121 candidates": {"column": "i", "bounds": (0, 120), "step": 1},
        "about 2**40 candidates": {"column": "x", "bounds": (-10.0, 10.0), "step": 2.0**-36},
    }
    rows = []
    for name, given in cases.items():
        for statistic in ("median", "mean", "sum", "mode"):
            if statistic == "mode" and name != "121 candidates":
                continue  # every distinct value would come back
            for groups in (0, 100):
                more = {"by": "g", "keys": list(range(groups))} if groups else {}
                asked.update(queries=0, rows=0)
                VERBS[statistic](data.lazy(), epsilon=1.0, **given, **more)
                assert asked["queries"] <= 8
                assert asked["rows"] <= 20_000 * max(groups, 1)
                rows.append(
                    [
                        statistic,
                        name,
                        str(groups or "none"),
                        str(asked["queries"]),
                        _rounded(asked["rows"]),
                    ]
                )
    made = table(["statistic", "domain", "groups", "queries", "rows back, about"], rows)
    print(made)
    assert made in ENGINES_PAGE.read_text()


class OnPaper(query_engine.QueryEngine):
    """A table of evenly spread records that exist in arithmetic only, to count the queries of one
    too large to have.
    """

    def __init__(self, grid, records):
        column = SimpleNamespace(domain=grid, dtype=nw.Float64())
        super().__init__(
            SimpleNamespace(
                groups=1,
                by=(),
                columns=[column],
                sizes=[grid.size],
                adapter=NarwhalsQuery(None, None, {}),
                has_people=False,
                streamed_as=None,
                sample=lambda: None,
            )
        )
        self.grid, self.records = grid, records
        self.returned = []  # the rows of every query
        self.answers = []  # with the requests

    def count_cells(self, wanted):
        (cells,) = wanted
        ranges = [(0, self.grid.size - 1)]
        if cells.ranges is not None:
            lows, highs = cells.ranges.lows[:, 0].tolist(), cells.ranges.highs[:, 0].tolist()
            ranges = [(low, high) for low, high in zip(lows, highs, strict=True) if low <= high]
        pieces = []
        for low, high in ranges:
            start = np.arange(low - low % 2**cells.shift, high + 1, 2**cells.shift)
            edges = [max(i, low) for i in start.tolist()] + [high + 1]
            count = np.diff([self.before(i) for i in edges])
            pieces.append((start[count > 0], count[count > 0]))
        values, counts = map(np.concatenate, zip(*pieces, strict=True))
        self.returned.append(len(values))
        return [GroupedCounts(values, counts, np.array([len(values)]))]

    def level_sums(self, wanted):
        self.returned.append(1)
        ((column, _, quantization),) = wanted
        levels = self.records * (self.grid.size - 1) // 2
        return {(column, 0, quantization): Sums(self.records, levels)}

    def before(self, index):
        """The number of records before a candidate."""
        return index * self.records // self.grid.size

    def answer(self, asked):
        answers = super().answer(asked)
        self.answers += zip([each.request for each in asked], answers, strict=True)
        return answers


def test_a_million_million_rows_on_paper(monkeypatch):
    """The search itself, over counts that are computed: its answers are right, and so is the
    number of its queries.
    """
    grid, records = Grid(0.0, 1000.0), 10**12
    said = []
    for statistic in (Median(), Mean()):
        table = OnPaper(grid, records)
        monkeypatch.setattr(
            query_engine,
            "count_cells",
            lambda _, wanted, groups, own=table: own.count_cells(wanted),
        )
        monkeypatch.setattr(
            query_engine, "level_sums", lambda _, wanted, own=table: own.level_sums(wanted)
        )
        run(statistic.windows(Scope(grid), (40 + np.log(grid.size)) * 2), table)
        found = [
            (q, ranks)
            for request, answer in table.answers
            if isinstance(request, RanksNear)
            for (q, _), ranks in zip(request.targets, answer, strict=True)
        ]
        assert found
        for q, ranks in found:
            near = ranks.group(0)
            assert near.first <= round(q * (grid.size - 1)) <= near.last
            assert near.total == records
            assert near.below == table.before(near.first)
            assert near.below + near.counts.sum() == table.before(near.last + 1)
        said.append(
            f"{len(table.returned)} queries that return {sum(table.returned):,} rows in all"
        )
    page = " ".join(SCALE_PAGE.read_text().split())
    for words in said:
        assert words in page


def _rounded(number):
    return f"{float(f'{number:.1g}'):,.0f}"
