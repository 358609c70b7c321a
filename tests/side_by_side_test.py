"""Groups that lie side by side in one array answer as each of them would by itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.windows import same

from duffdp import Grid
from duffdp.engines.arrays import Column, Records
from duffdp.engines.groups import SideBySide, stable_order
from duffdp.engines.source import Levels, ManyRanks, Question
from duffdp.statistics import Quantile
from duffdp.statistics.enclosure import Enclosure
from duffdp.statistics.interval_end import IntervalEnd
from duffdp.statistics.iqr import InterquartileRange
from duffdp.statistics.variance import Variance

GRIDS = [Grid(-10, 10, 1), Grid(-10.0, 10.0), Grid(-(2**40), 2**40, 1), Grid(0, 2**61, 3)]


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("kind", [np.float64, np.int64])
@pytest.mark.parametrize(("mixed", "some"), [(False, False), (True, False), (False, True)])
def test_sums_of_all_groups_are_those_of_each(kind, grid, mixed, some):
    """Whether they lie in the order of their keys or not, and with records of no group between."""
    if kind is np.int64 and not grid.whole:
        pytest.skip("whole numbers on such a grid are not summed together")
    rng = np.random.default_rng(1)
    records = Records((rng.normal(size=9000) * 2**39).astype(kind), kind is np.int64)
    records.array[::2] = rng.integers(-12, 12, 4500)
    sizes = rng.integers(0, 30, 300)  # more than one block of groups, and some are empty
    begins, top = np.cumsum(sizes) - sizes, grid.size - 1
    order = rng.permutation(300) if mixed else np.arange(300)[::2] if some else np.arange(300)
    begins, sizes = begins[order], sizes[order]
    columns = SideBySide(records, begins, sizes, grid)
    for levels in (
        Levels(0, top),
        Levels(top // 3, top // 2),
        Levels(top // 4, top, 1),
        Levels.squared(0, top),
    ):
        every = columns.level_sums(levels)
        for column, known, begin, size in zip(columns, every, begins, sizes, strict=True):
            alone = Records(records.array[begin : begin + size], records.integer)
            sums = Column(alone, grid).level_sums(levels)
            assert sums == column.level_sums(levels) == known.level_sums(levels)


@pytest.mark.parametrize("most", [1, 2**16, 2**16 + 1, 2**32])
def test_equal_numbers_come_together_in_order(most):
    numbers = np.random.default_rng(2).integers(0, most, 5000) // 7 * 7
    assert (stable_order(numbers) == np.argsort(numbers, kind="stable")).all()
    assert len(stable_order(numbers[:0])) == 0


def test_groups_are_made_when_they_are_looked_at():
    """In any order, one by one or some of them, from the end and not beyond: each its own."""
    many = 600
    sizes = np.arange(many) % 5 + 1
    begins = np.cumsum(sizes) - sizes
    values = np.repeat(np.arange(many), sizes).astype(np.float64)
    columns = SideBySide(Records(values, False), begins, sizes, Grid(0, many, 1))
    assert len(columns) == many
    for at in (0, 599, 255, 256, 1, -1, -600):
        index, count = columns[at].tally()
        assert (index.tolist(), count.tolist()) == ([at % many], [sizes[at]])
    assert [column.length for column in columns[250:260]] == sizes[250:260].tolist()
    assert sum(column.length for column in columns) == len(values)
    assert columns[3] is columns[3]
    for at in (600, -601):
        with pytest.raises(IndexError):
            columns[at]


@pytest.mark.parametrize("kind", [np.float64, np.int64])
@pytest.mark.parametrize("spread", [3, 2**39])
def test_ranks_of_all_groups_are_those_of_each(kind, spread):
    """Empty groups, short and long ones, of one length or not, in any order, with values at the
    ends of their type: the distinct values, and how many lie before them.
    """
    rng = np.random.default_rng(3)
    sizes = np.concatenate([rng.integers(0, 9, 40), [0, 511, 512, 513, 700, 17_000, 0]])
    order = rng.permutation(len(sizes))
    begins = np.empty_like(sizes)
    begins[order] = np.cumsum(sizes[order]) - sizes[order]
    array = (rng.normal(size=int(sizes.sum())) * spread).astype(kind)
    array[rng.integers(0, len(array), 90)] = np.inf if kind is np.float64 else 2**63 - 1
    array[rng.integers(0, len(array), 90)] = -np.inf if kind is np.float64 else -(2**63)
    grid = Grid(-(2**40), 2**40, 1)
    columns = SideBySide(Records(array, kind is np.int64), begins, sizes, grid)
    ranks = (Fraction(1, 4), 5), (Fraction(1, 2), 30), (Fraction(1), 2)
    question = Question(ranks, enough=0)
    together = columns.ranks(question)
    assert spread == 3 or isinstance(together[1], ManyRanks)  # one by one if there are many ties
    for i, (begin, size) in enumerate(zip(begins, sizes, strict=True)):
        values, counts = np.unique(grid.snap(array[begin : begin + size]), return_counts=True)
        before = np.cumsum(counts) - counts
        for (q, reach), each in zip(question.ranks, together, strict=True):
            near = each.column(i) if isinstance(each, ManyRanks) else each[i]
            inside = (values >= near.first) & (values <= near.last)
            assert near.values.tolist() == values[inside].tolist()
            assert near.counts.tolist() == counts[inside].tolist()
            assert near.below == counts[values < near.first].sum()
            assert near.total == size
            centre = int(q * int(size))
            wanted = (before + counts > max(centre - reach + 1, 0)) & (before < centre + reach)
            assert wanted[inside].sum() >= wanted.sum() - 2  # ties at both edges may be left out


# Many records are tied, a few lie apart from them.
TIED = [
    np.concatenate([apart, np.full(many, 50.0), beyond])
    for many in (400, 3000)
    for apart in ([], [0.0], [0.0, 0.0], [0.0, 3.0, 7.0, 7.0, 8.0])
    for beyond in ([], [100.0], [51.0, 52.0, 100.0, 100.0])
] + [np.arange(40.0).repeat(30), np.random.default_rng(0).integers(0, 100, 900).astype(float)]


def _tied(grid):
    sizes = np.array([len(group) for group in TIED])
    records = Records(np.concatenate(TIED), False)
    return SideBySide(records, np.cumsum(sizes) - sizes, sizes, grid)


@pytest.mark.parametrize("q", [0, 1])
@pytest.mark.parametrize("inside", [0, 1, 3, 17])
def test_the_record_that_is_aimed_at_lies_in_the_window(q, inside):
    """Or the tail would hold a candidate that is nearer than the least distance it promises."""
    grid = Grid(0, 100, 1)
    quantile = Quantile(q, "signed", inside)
    batch = quantile.windows(_tied(grid), grid, 5)
    for i, group in enumerate(TIED):
        same(quantile.steps(group, grid), batch[i], few=200)


@pytest.mark.parametrize(
    "statistic", [Variance(), InterquartileRange(), Enclosure((0, 5, 9, 20, 30, 40), most=30)]
)
def test_tied_records_at_the_edge_are_not_left_out(statistic):
    grid = Grid(0, 100, 1)
    for max_distance in (5, 60):
        batch = statistic.windows(_tied(grid), grid, max_distance)
        for i, group in enumerate(TIED):
            alone = statistic.windows([Column(Records(group, False), grid)], grid, max_distance)[0]
            for name in ("start", "count", "distance"):
                assert getattr(batch[i], name).tolist() == getattr(alone, name).tolist()


@pytest.mark.parametrize(
    "statistic",
    [
        Quantile(0.5, "signed"),
        Quantile(0.5, "rank"),
        IntervalEnd(0.5, "low", miss=0.05, covers="data", epsilon=1),
    ],
)
@pytest.mark.parametrize("between", [0, 1, 4, 30])
def test_no_tail_begins_near_the_quantile(statistic, between):
    """Where many records are tied on both sides of a few: all of a near tail would be visited."""
    grid, max_distance = Grid(0, 10**5, 1), 50
    group = np.repeat([500.0, 501.0, 502.0], [1000, between, 1000])
    begins, sizes = np.array([0, len(group)]), np.full(2, len(group))
    both = SideBySide(Records(np.tile(group, 2), False), begins, sizes, grid)
    batch = statistic.windows(both, grid, max_distance)
    for window in batch[0], batch[1]:
        assert window.tail is None or window.tail.floor * window.unit >= 0.7 * max_distance
