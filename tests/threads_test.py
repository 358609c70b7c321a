"""Long arrays are read in stretches side by side: what they find is what one reading finds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from duffdp import Grid
from duffdp.engines.arrays import Column, column, read, threads
from duffdp.engines.source import Question

rng = np.random.default_rng(5)
ARRAYS = {
    "normal": rng.normal(size=40_000),
    "tied": rng.integers(0, 9, 40_000).astype(np.float64),
    "sorted": np.sort(rng.normal(size=40_000)),
    "with missing ones": np.where(rng.random(40_000) < 0.1, np.nan, rng.normal(size=40_000)),
    "none but missing ones": np.full(40_000, np.nan),
    "whole numbers": rng.integers(-20, 20, 40_000),
    "beyond the bounds": rng.normal(size=40_000) * 1e300,
}
GRIDS = [Grid(-10, 10), Grid(-10, 10, 1), Grid(-2, 8, 0.001)]


def _answers(array, grid):
    source = Column(read(array), grid)
    ranks = ((Fraction(1, 2), 30), (Fraction(1, 10), 500), (Fraction(1), 3))
    found, total = source.ask(Question(ranks, total=True))
    return [(near.values.tolist(), near.counts.tolist(), *near[2:]) for near in found], total


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("pending", [100, column.PENDING])
def test_stretches_add_up(name, grid, pending, monkeypatch):
    """Also where a stretch counts by value before it is joined to the others."""
    array = ARRAYS[name]
    monkeypatch.setattr(column, "PENDING", pending)
    monkeypatch.setattr(threads, "LONG", 1000)
    monkeypatch.setattr(threads, "cores", lambda: 1)
    one = _answers(array, grid)
    monkeypatch.setattr(threads, "cores", lambda: 5)
    assert _answers(array, grid) == one


def test_all_cores_work_and_the_stretches_are_the_array(monkeypatch):
    array = np.arange(10_007)
    assert [len(part) for part in threads.in_stretches(lambda part: part, array)] == [10_007]
    monkeypatch.setattr(threads, "LONG", 1000)
    monkeypatch.setattr(threads, "cores", lambda: 3)
    found = threads.in_stretches(lambda part: part, array)
    assert len(found) == 3
    assert np.concatenate(found).tolist() == array.tolist()


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(threads, "LONG", 1000)
    monkeypatch.setattr(threads, "cores", lambda: 3)
    with pytest.raises(ZeroDivisionError):
        threads.in_stretches(lambda part: 1 // 0, np.arange(10_000))
