"""Inversions of a permutation of 0, 1, 2, ...: pairs that stand in the wrong order, counted or
listed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from duffdp.domain import Array, Ints

BLOCK = 64  # so many neighbours are compared one with another before halves are merged


def count_inversions(permutation: Ints) -> int:
    """How many pairs stand in the wrong order.

    Positions and values are cut into blocks. A table of how many fall into each pair of blocks
    counts the pairs that differ in both; the others are compared one by one.
    """
    size = len(permutation)
    width = 1 << (((40 * size).bit_length() + 2) // 3)  # table and comparisons take alike
    many = -(-size // width)
    place, value = np.arange(size) // width, permutation // width
    table = np.bincount(place * many + value, minlength=many * many).reshape(many, many)
    later = np.cumsum(table[::-1], axis=0)[::-1] - table
    lower = np.cumsum(later, axis=1) - later
    apart = int((table * lower).sum())
    inverse = np.empty(size, dtype=np.int64)
    inverse[permutation] = place
    return apart + sum(
        int(np.count_nonzero(rows[:, :-gap] > rows[:, gap:]))
        for rows in (_rows(permutation, width), _rows(inverse, width))
        for gap in range(1, width)
    )


def list_inversions(permutation: Ints) -> tuple[Ints, Ints]:
    """All pairs in the wrong order: the larger values, which stand first, and the smaller ones."""
    many = -(-len(permutation) // BLOCK)
    rows = _rows(permutation, BLOCK << (many - 1).bit_length()).reshape(-1, BLOCK)
    pairs = [*_within_rows(rows), *_between_rows(np.sort(rows, axis=1))]
    larger, smaller = (np.concatenate(part) for part in zip(*pairs, strict=True))
    return larger.astype(np.int64), smaller.astype(np.int64)


def _rows(values: Ints, width: int) -> Array:
    """Values in rows of this width, filled up with larger ones that are in order."""
    size = len(values)
    filled = np.concatenate([values, np.arange(size, size + -size % width)])
    narrow = np.int32 if len(filled) < 2**31 else np.int64
    return filled.astype(narrow).reshape(-1, width)


def _within_rows(rows: Array) -> Iterator[tuple[Array, Array]]:
    for gap in range(1, rows.shape[1]):
        found = rows[:, :-gap] > rows[:, gap:]
        yield rows[:, :-gap][found], rows[:, gap:][found]


def _between_rows(rows: Array) -> Iterator[tuple[Array, Array]]:
    """Sorted rows are merged two by two; what is larger than a value of the right one is the end of
    the left one.
    """
    while len(rows) > 1:
        left, right = rows[::2], rows[1::2]
        many, width = left.shape
        shift = (np.arange(many, dtype=np.int64) * rows.size)[:, None]
        begin = np.searchsorted((left + shift).reshape(-1), (right + shift).reshape(-1))
        times = np.repeat(np.arange(1, many + 1) * width, width) - begin
        found = np.flatnonzero(times)
        times = times[found]
        place = np.repeat(begin[found] - np.cumsum(times) + times, times) + np.arange(times.sum())
        yield left.reshape(-1)[place], np.repeat(right.reshape(-1)[found], times)
        rows = np.sort(rows.reshape(many, 2 * width), axis=1)
