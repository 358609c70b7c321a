"""Groups that lie side by side in one array answer as each of them would by itself."""

from __future__ import annotations

import numpy as np
import pytest

from duffdp import Grid
from duffdp.statistics import Quantile
from duffdp.statistics.iqr import InterquartileRange
from duffdp.statistics.private_range import PrivateRange
from duffdp.statistics.variance import Variance
from inquiries import engine_of, windows
from windows import same

# Many records are tied, a few lie apart from them.
TIED = [
    np.concatenate([apart, np.full(many, 50.0), beyond])
    for many in (400, 3000)
    for apart in ([], [0.0], [0.0, 0.0], [0.0, 3.0, 7.0, 7.0, 8.0])
    for beyond in ([], [100.0], [51.0, 52.0, 100.0, 100.0])
] + [np.arange(40.0).repeat(30), np.random.default_rng(0).integers(0, 100, 900).astype(float)]


@pytest.mark.parametrize("q", [0, 1])
@pytest.mark.parametrize("inside", [0, 1, 3, 17])
def test_the_record_that_is_aimed_at_lies_in_the_window(q, inside):
    """Or the tail would hold a candidate that is nearer than the least distance it promises."""
    grid = Grid(0, 100, 1)
    quantile = Quantile(q, "signed", inside)
    batch = windows(quantile, engine_of(TIED, grid), grid, 5)
    for i, group in enumerate(TIED):
        same(quantile.steps(group, grid), batch[i], few=200)


@pytest.mark.parametrize(
    "statistic",
    [Variance(), InterquartileRange(), PrivateRange((0, 5, 9, 20, 30, 40), max_outside=30)],
)
def test_tied_records_at_the_edge_are_not_left_out(statistic):
    grid = Grid(0, 100, 1)
    for max_distance in (5, 60):
        batch = windows(statistic, engine_of(TIED, grid), grid, max_distance)
        for i, group in enumerate(TIED):
            alone = windows(statistic, engine_of([group], grid), grid, max_distance)[0]
            for name in ("start", "count", "distance"):
                assert getattr(batch[i], name).tolist() == getattr(alone, name).tolist()


@pytest.mark.parametrize(
    "statistic",
    [Quantile(0.5, "signed"), Quantile(0.5, "rank")],
)
@pytest.mark.parametrize("between", [0, 1, 4, 30])
def test_no_tail_begins_near_the_quantile(statistic, between):
    """Where many records are tied on both sides of a few: all of a near tail would be visited."""
    grid, max_distance = Grid(0, 10**5, 1), 50
    group = np.repeat([500.0, 501.0, 502.0], [1000, between, 1000])
    batch = windows(statistic, engine_of([group, group], grid), grid, max_distance)
    for window in batch[0], batch[1]:
        assert window.tail is None or window.tail.floor * window.unit >= 0.7 * max_distance
