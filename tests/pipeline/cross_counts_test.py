"""Two-way counts add up to their margins, as close to the drawn ones as brute force finds."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp._pipeline.cross_counts import cross_counts
from duffdp.statistics.histogram import projected


def sums(numbers, places):
    return np.bincount(places, numbers, max(places) + 1).astype(int).tolist()


def tables_with_sums(cells, rows, columns):
    """All counts of these cells with these sums, by brute force."""
    if not cells:
        if not any(rows) and not any(columns):
            yield []
        return
    (row, column), rest = cells[0], cells[1:]
    alone = all(other != row for other, _ in rest)
    least = rows[row] if alone else 0
    for number in range(least, min(rows[row], columns[column]) + 1):
        less_rows, less_columns = list(rows), list(columns)
        less_rows[row] -= number
        less_columns[column] -= number
        for numbers in tables_with_sums(rest, less_rows, less_columns):
            yield [number, *numbers]


def random_cells(rng, share):
    shape = rng.integers(2, 4), rng.integers(2, 4)
    cells = [cell for cell in product(*map(range, shape)) if rng.random() < share]
    return [
        tuple(sorted({cell[at] for cell in cells}).index(cell[at]) for at in (0, 1))
        for cell in cells
    ]


@pytest.mark.parametrize("share", [1, 0.6])
def test_the_closest_counts_that_add_up(share):
    """The squared distance is at most one for each cell above that of the best counts; there are
    none only where brute force finds none.
    """
    rng, without = np.random.default_rng(1), 0
    for _ in range(100):
        cells = random_cells(rng, share)
        if not cells:
            continue
        drawn = (rng.integers(-6, 7, len(cells)) + 8 * rng.integers(0, 2, len(cells))).tolist()
        down, across = map(list, zip(*cells, strict=True))
        found = cross_counts(drawn, down, across)
        if found is None:
            without += 1
            margins = projected(sums(drawn, down)), projected(sums(drawn, across))
            assert next(tables_with_sums(cells, *margins), None) is None
            continue
        assert sums(found.cells, down) == found.rows
        assert sums(found.cells, across) == found.columns
        assert sum(found.rows) == max(0, sum(drawn))
        assert min(found.cells) >= 0
        every = np.array(list(tables_with_sums(cells, found.rows, found.columns)))
        best = ((every - drawn) ** 2).sum(axis=1).min()
        assert ((np.array(found.cells) - drawn) ** 2).sum() <= best + len(cells)
    assert (without > 0) == (share < 1)


def test_counts_without_noise_below_zero_stay():
    assert cross_counts([3, 0, 2, 4], [0, 0, 1, 1], [0, 1, 0, 1]) == ([3, 0, 2, 4], [3, 6], [5, 4])
    moved = cross_counts([10, -2, 3, 5], [0, 0, 1, 1], [0, 1, 0, 1])
    assert moved == ([8, 0, 5, 3], [8, 8], [13, 3])
    assert cross_counts([-3, -4], [0, 1], [0, 0]) == ([0, 0], [0, 0], [0])
    huge = [2**60, -5, 1, 1]
    assert cross_counts(huge, [0, 0, 1, 1], [0, 1, 0, 1]) is None


def test_printed_counts_add_up_to_printed_margins():
    """In a table with many empty cells, for the count and for each bin of a histogram; margins are
    as often too large as too small, and intervals hold their numbers.
    """
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"a": rng.integers(0, 12, 600), "b": rng.integers(0, 2, 600), "x": rng.integers(0, 4, 600)}
    )
    given = {"epsilon": 1, "by": ["a", "b"], "keys": {"a": list(range(12)), "b": list(range(9))}}
    asked = {"x": {"statistic": "histogram", "bins": [0, 2, 4], "name": "bins", "interval": 0.95}}
    errors = []
    for seed in range(100):
        table = duffdp.table(frame, asked, **given, total=True, rng=seed)
        wide = table.wide()
        names = [name for name in wide if name == "count" or name.startswith("bins")]
        for name in names:
            if name.endswith(("_low", "_high")):
                continue
            numbers = dict(zip(table.row_keys(), wide[name], strict=True))
            assert min(numbers.values()) >= 0
            for at in (0, 1):
                for key in {key[at] for key in table.keys}:
                    margin = (key, None) if at == 0 else (None, key)
                    own = [numbers[one] for one in table.keys if one[at] == key]
                    assert sum(own) == numbers[margin]
            assert sum(numbers[one] for one in table.keys) == numbers[None, None]
            for low, value, high in zip(
                wide[f"{name}_low"], wide[name], wide[f"{name}_high"], strict=True
            ):
                assert low <= value <= high
        errors.append(wide["count"][-1] - 600)
    # 108 noises of each total, 100 totals.
    alpha = np.exp(-float(table.releases["count"].loss.epsilon))
    spread = np.sqrt(108 * 2 * alpha) / (1 - alpha)
    assert abs(np.mean(errors)) < 6.5 * spread / np.sqrt(100)
