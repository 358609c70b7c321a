"""The clipped sum: the losses of its draws add up to epsilon in every branch, and each group spends
its own epsilon."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import DuffError, Grid
from duffdp.audit.neighbours import log_ratio, neighbours
from duffdp.mechanisms import Geometric
from duffdp.statistics import Sum
from duffdp.statistics.private_range import range_ends
from release_draws import recorded

GRIDS = [Grid(0, 9, 1), Grid(-4, 5, 1), Grid(-9, 0, 1), Grid(-2.0, 2.5, 0.5)]
NAMES = ["two-sided-geometric", "permute-and-flip", "staircase"]
ROWS = {"x": [1, 5, 9, 4, 3], "g": list("aabbc"), "p": [1, 2, 3, 4, 5]}


@pytest.mark.parametrize("ends", [(0, 9), (2, 7), (4, 5), (0, 1)])
@pytest.mark.parametrize("grid", GRIDS, ids=repr)
def test_a_sum_moves_by_at_most_its_sensitivity(grid, ends):
    """Clamped to the interval; and by all of it at times."""
    statistic, largest = Sum(ends), 0
    for here, there, _ in neighbours(10, 2):
        records = [[grid.value(i) for i in data] for data in (here, there)]
        (before,), (after,) = (statistic.of_records(data, grid) for data in records)
        clamped = [grid.value(min(max(i, ends[0]), ends[1])) for i in there]
        assert after * grid.exact_unit == sum(clamped)
        largest = max(largest, abs(after - before))
    assert largest == statistic.sensitivity(grid)


@pytest.mark.parametrize(
    ("path", "shares"),
    [
        ((10**6, 0), [0.05, 0.2, 0.75]),
        ((10**6, 3), [0.05, 0.2, 0.75]),
        ((60, 30), [0.05, 0.2, 0.75]),
        ((0,), [0.05, 0.95]),
        ((-5,), [0.05, 0.95]),
    ],
)
def test_the_draws_add_up_to_epsilon_whatever_was_drawn(path, shares):
    """The exact distributions of all draws through the public function, given the numbers of those
    before."""

    def draws_of(data):
        with recorded(path=path) as draws:
            records = np.array(data, dtype=np.int64)
            duffdp.sum(records, epsilon=4, bounds=(0, 9), mechanism="clipped")
        assert [draw.mechanism.name for draw in draws] == [*NAMES[: len(draws) - 1], NAMES[-1]]
        assert [draw.epsilon / 4 for draw in draws] == pytest.approx(shares)
        laws = (draw.law() for draw in draws)
        return [part for law in laws for part in (law if isinstance(law, tuple) else (law,))]

    largest = 0.0
    for here, there, _ in neighbours(10, 2):
        largest = max(largest, log_ratio(draws_of(here), draws_of(there)))
    assert 2.5 < largest <= 4 * (1 + 1e-9)


@pytest.mark.parametrize("contributions", [1, 3])
@pytest.mark.parametrize("make", [pl.DataFrame, lambda rows: duckdb_table(pl.DataFrame(rows))])
def test_groups_take_their_own_branches(make, contributions):
    """A group without a range spends the epsilon of the range on its sum."""
    counts = [[count * contributions] for count in (1000, 3, 150)]
    with recorded() as draws, pytest.MonkeyPatch.context() as patch:
        recording = Geometric.release

        def release(self, groups, sensitivity, source):
            recording(self, groups, sensitivity, source)
            return counts

        patch.setattr(Geometric, "release", release)
        released = duffdp.sum(
            make(ROWS),
            column="x",
            epsilon=1,
            bounds=(0, 9),
            mechanism="clipped",
            by="g",
            keys=["a", "b", "c"],
            unit="p",
            contributions=contributions,
        )
    received = sorted((d.mechanism.name, round(d.epsilon * contributions, 9)) for d in draws)
    assert received == [
        *[("permute-and-flip", 0.2)] * 2,
        *[("staircase", 0.75)] * 2,
        ("staircase", 0.95),
        *[("two-sided-geometric", 0.05)] * 3,
    ]
    assert [column.name for column in released.columns] == ["sum"]


def duckdb_table(frame):
    connection = duckdb.connect()
    connection.register("rows", frame.to_arrow())
    connection.execute("create table people as select * from rows")
    return connection.table("people")


def test_the_interval_decides_what_is_summed():
    low, high = range_ends(7, 9)
    with recorded(path=(10**6, 7)) as draws:
        duffdp.sum(np.array([0, 4, 9]), epsilon=4, bounds=(0, 9), mechanism="clipped")
    assert draws[-1].law()._totals == [sum(min(max(x, low), high) for x in (0, 4, 9))]


def test_wide_bounds_cost_little():
    x = np.random.default_rng(1).gamma(2.0, 10.0, 1000)

    def error(mechanism):
        rng = np.random.default_rng(2)
        given = {"epsilon": 1.0, "bounds": (0.0, 1e5), "mechanism": mechanism, "rng": rng}
        return np.mean([abs(duffdp.sum(x, **given).value - x.sum()) for _ in range(40)])

    assert error("clipped") < 0.02 * error("best")


def test_totals_of_clipped_sums_have_draws_of_their_own():
    """Their noise depends on a range that was drawn, so they are not added up."""
    frame = pl.DataFrame({"x": [10.0] * 4000, "g": ["a", "b"] * 2000})
    options = {"bounds": {"x": (0.0, 1e4)}, "by": "g", "keys": ["a", "b"], "interval": None}
    clipped = {"x": {"statistic": "sum", "mechanism": "clipped"}}
    table = duffdp.table(frame, clipped, epsilon=50, total=True, rng=1, **options)
    values = table.frame["x_sum"].to_list()
    assert values == pytest.approx([20_000, 20_000, 40_000], rel=0.05)
    assert sum("x_sum" in name for name in table.releases) == 2


def test_a_clipped_sum_has_no_interval():
    with pytest.raises(DuffError, match="the part that a clipped sum cuts off depends on the data"):
        duffdp.sum([1], epsilon=1, bounds=(0, 9), mechanism="clipped", interval=0.9)


@pytest.mark.parametrize("bounds", [(0, 1), (-(2**61), 2**61 - 1), (0.0, 1e300), (-1e-300, 0.0)])
def test_extreme_bounds(bounds):
    kind = type(bounds[0])
    for data in ([], [bounds[0]] * 500, [*bounds] * 250):
        for epsilon in (1e-6, 1.0, 1e6):
            given = {"epsilon": epsilon, "bounds": bounds, "mechanism": "clipped"}
            assert duffdp.sum(np.array(data, dtype=kind), **given).value is not None
