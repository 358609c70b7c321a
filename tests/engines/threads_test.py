"""Long arrays are read in stretches side by side: what they find is what one reading finds."""

from __future__ import annotations

import threading
import time
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import Grid
from duffdp._engines.arrays import array_engine, column, engine, read_array, threads
from duffdp._engines.requests import Quantization
from duffdp._sampling.entropy import SYSTEM, entropy
from inquiries import groups_of

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
    (group,) = groups_of(array_engine(read_array(array), grid))
    targets = ((Fraction(1, 2), 30), (Fraction(1, 10), 500), (Fraction(1), 3))
    sums = group.level_sums(Quantization.squared(1, grid.size - 2))
    ranks = [
        (near.values.tolist(), near.counts.tolist(), *near[2:]) for near in group.ranks(*targets)
    ]
    return ranks, sums, group.bin_counts((0, 5, 9)), group.rank_at(7)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("pending", [100, column.MAX_PENDING])
def test_stretches_add_up(name, grid, pending, monkeypatch):
    """Also where a stretch counts by value before it is joined to the others."""
    array = ARRAYS[name]
    monkeypatch.setattr(column, "MAX_PENDING", pending)
    monkeypatch.setattr(threads, "MIN_STRETCH", 1000)
    monkeypatch.setattr(threads, "cores", lambda: 1)
    one = _answers(array, grid)
    monkeypatch.setattr(threads, "cores", lambda: 5)
    assert _answers(array, grid) == one


def test_all_cores_work_and_the_stretches_are_the_array(monkeypatch):
    array = np.arange(10_007)
    assert [len(part) for part in threads.map_stretches(lambda part: part, array)] == [10_007]
    monkeypatch.setattr(threads, "MIN_STRETCH", 1000)
    monkeypatch.setattr(threads, "cores", lambda: 3)
    found = threads.map_stretches(lambda part: part, array)
    assert len(found) == 3
    assert np.concatenate(found).tolist() == array.tolist()


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(threads, "MIN_STRETCH", 1000)
    monkeypatch.setattr(threads, "cores", lambda: 3)
    with pytest.raises(ZeroDivisionError):
        threads.map_stretches(lambda part: 1 // 0, np.arange(10_000))


def test_pieces_come_back_in_order_and_the_first_error_is_raised(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 4)

    def slowest_first(piece, more):
        time.sleep(0.002 * (8 - piece))
        return piece + more

    assert threads.parallel_map(slowest_first, range(8), [10] * 8) == list(range(10, 18))

    def fails(piece):
        time.sleep(0.002 * (8 - piece))
        if piece in (3, 5):
            raise ValueError(piece)

    with pytest.raises(ValueError, match="3"):
        threads.parallel_map(fails, range(8))


def test_what_is_not_begun_is_left_after_an_error(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 2)
    begun = []

    def fails(piece):
        begun.append(piece)
        time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        threads.parallel_map(fails, range(100))
    assert len(begun) < 20


def test_one_piece_needs_no_thread(monkeypatch):
    """Nor do several on one core."""
    found = []
    threads.parallel_map(lambda _: found.append(threading.current_thread()), [1])
    monkeypatch.setattr(threads, "cores", lambda: 1)
    threads.parallel_map(lambda _: found.append(threading.current_thread()), [1, 2])
    assert set(found) == {threading.main_thread()}


MANY = 1100  # groups: more than are kept as a tuple
GROUP = rng.integers(0, MANY + 9, 60_000)
FRAME = pl.DataFrame({"g": GROUP, "x": rng.normal(size=60_000) + GROUP % 7})
CALLS = {
    "median": lambda **given: duffdp.median(FRAME, **given),
    "quantiles": lambda **given: duffdp.quantiles(FRAME, [0.25, 0.75], **given),
    "mean": lambda **given: duffdp.mean(FRAME, **given),
    "describe": lambda **given: duffdp.describe(FRAME, **given),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_seed_gives_the_same_groups_on_any_number_of_cores(name, monkeypatch):
    given = {"column": "x", "by": "g", "keys": range(MANY), "epsilon": 2.0, "bounds": (-9, 9)}
    releases = []
    monkeypatch.setattr(engine, "BLOCK_RECORDS", 1)  # so that there are several blocks
    for many in (1, 3):
        monkeypatch.setattr(threads, "cores", lambda many=many: many)
        releases.append(CALLS[name](**given, rng=5))
    assert releases[0].cells == releases[1].cells
    if name in ("median", "mean"):  # each of its own group
        near = [row[0] for row in releases[1].cells]
        assert np.corrcoef(near, np.arange(MANY) % 7)[0, 1] > 0.9


def test_blocks_have_bits_of_their_own():
    """None has those of another, nor those that are drawn from the whole later; and again the same
    from the same seed.
    """
    assert SYSTEM.split() is SYSTEM
    source = entropy(7)
    streams = [source.split(), source.split(), source]
    words = [stream.words(100).tolist() for stream in streams]
    assert len(set(np.ravel(words).tolist())) == 300
    source = entropy(7)
    first, second = source.split(), source.split()
    for stream, same in ((second, words[1]), (source, words[2]), (first, words[0])):
        assert stream.words(100).tolist() == same  # whoever is first
    generator = np.random.default_rng(7)
    assert entropy(generator).split().words(100).tolist() == words[0]
    assert entropy(generator).split().words(100).tolist() == words[1]
