"""Nonnegative counts of groups by two columns that add up to the margins of both columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from duffdp.statistics.histogram import projected

_MAX_COUNT = 2**40  # larger ones are rounded by sums of doubles
_MAX_VISITS = 10**7  # of cells, about a second; 16 x 5 groups took 3 to 40 rounds
_MAX_ROUNDS = 1000
_MAX_DIFFERENCE = 0.5  # of all sums together; below 1, so that whole numbers can meet them
_FRACTION = 1e-9  # a cell this close to a whole number is not moved

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]


class CrossCounts(NamedTuple):
    """Counts of cells, rows and columns that add up in both directions."""

    cells: list[int]
    rows: list[int]
    columns: list[int]


def cross_counts(
    noisy: Sequence[int], down: Sequence[int], across: Sequence[int]
) -> CrossCounts | None:
    """The counts of cells that are closest to the drawn ones by least squares, up to 1 each, among
    those that add up to the margins. None if listed groups allow no such counts.

    `down` and `across` are the row and the column of each drawn number. A margin is the sum of its
    drawn numbers; if one of them is below 0, margins are the closest ones of 0 and more with the
    same total.
    """
    rows, columns = (_sums(noisy, places) for places in (down, across))
    if min(noisy, default=0) >= 0:
        return CrossCounts(list(noisy), rows, columns)
    rows, columns = projected(rows), projected(columns)
    if sum(map(abs, noisy)) > _MAX_COUNT:
        return None
    closest = _closest(
        np.array(noisy, dtype=float),
        (np.array(down), np.array(rows, dtype=float)),
        (np.array(across), np.array(columns, dtype=float)),
    )
    if closest is None:
        return None
    return CrossCounts(_whole(closest, (down, rows), (across, columns)), rows, columns)


def _sums(numbers: Sequence[int], places: Sequence[int]) -> list[int]:
    sums = [0] * (max(places, default=-1) + 1)
    for place, number in zip(places, numbers, strict=True):
        sums[place] += number
    return sums


def _closest(
    noisy: Numbers, rows: tuple[Places, Numbers], columns: tuple[Places, Numbers]
) -> Numbers | None:
    """The closest numbers of 0 and more with these sums: drawn ones moved by one amount for each
    row and one for each column. Both are solved in turn.
    """
    (down, row_sums), (across, column_sums) = rows, columns
    moves = np.zeros(len(column_sums))
    for _ in range(min(_MAX_ROUNDS, max(20, _MAX_VISITS // len(noisy)))):
        moved = noisy + moves[across]
        moved = noisy + _moves(moved, down, row_sums)[down]
        moves = _moves(moved, across, column_sums)
        closest = np.maximum(0, moved + moves[across])
        errors = np.bincount(down, closest, len(row_sums)) - row_sums
        if np.abs(errors).sum() < _MAX_DIFFERENCE:
            return closest
    return None


def _moves(numbers: Numbers, places: Places, sums: Numbers) -> Numbers:
    """For each place the amount that its numbers are moved by, so that those above 0 add up."""
    order = np.lexsort((-numbers, places))
    largest = numbers[order]
    starts = np.searchsorted(places[order], np.arange(len(sums)))
    before = np.concatenate(([0.0], np.cumsum(largest)))
    place = places[order]
    members = np.arange(1, len(order) + 1) - starts[place]
    moves = (sums[place] - (before[1:] - before[starts[place]])) / members
    positive_members = np.add.reduceat(largest + moves > 0, starts)
    moves_of_place: Numbers = moves[starts + np.maximum(positive_members, 1) - 1]
    return moves_of_place


def _whole(
    closest: Numbers,
    rows: tuple[Sequence[int], list[int]],
    columns: tuple[Sequence[int], list[int]],
) -> list[int]:
    """Whole numbers with exactly these sums, each number rounded up or down.

    The largest fractions are rounded up first, and paths of swaps find the rest: there are such
    numbers, because sums and limits of cells are whole (integral flows).
    """
    (down, row_sums), (across, column_sums) = rows, columns
    cells = [int(number) for number in closest]
    missing_rows = [s - have for s, have in zip(row_sums, _sums(cells, down), strict=True)]
    missing_columns = [s - have for s, have in zip(column_sums, _sums(cells, across), strict=True)]
    fractions = closest - cells
    free = [i for i in np.argsort(-fractions, kind="stable") if fractions[i] > _FRACTION]
    raised = dict.fromkeys(map(int, free), False)
    for i in raised:
        if missing_rows[down[i]] > 0 and missing_columns[across[i]] > 0:
            raised[i] = True
            missing_rows[down[i]] -= 1
            missing_columns[across[i]] -= 1
    in_row: dict[int, list[int]] = {}
    in_column: dict[int, list[int]] = {}
    for i in raised:
        in_row.setdefault(down[i], []).append(i)
        in_column.setdefault(across[i], []).append(i)
    for row, missing in enumerate(missing_rows):
        for _ in range(missing):
            path = _path(row, (down, in_row), (across, in_column), raised, missing_columns)
            for i in path:
                raised[i] = not raised[i]
            missing_columns[across[path[0]]] -= 1
    return [number + raised.get(i, False) for i, number in enumerate(cells)]


def _path(
    row: int,
    rows: tuple[Sequence[int], dict[int, list[int]]],
    columns: tuple[Sequence[int], dict[int, list[int]]],
    raised: dict[int, bool],
    missing: list[int],
) -> list[int]:
    """Cells to raise and lower in turn, from a column that misses one back to this row."""
    (down, in_row), (across, in_column) = rows, columns
    came: dict[int, list[int]] = {}  # the path to each column
    waiting: list[tuple[int, list[int]]] = [(row, [])]
    visited = {row}
    for place, path in waiting:
        for i in in_row.get(place, []):
            column = across[i]
            if raised[i] or column in came:
                continue
            came[column] = [i, *path]
            if missing[column] > 0:
                return came[column]
            for j in in_column[column]:
                if raised[j] and down[j] not in visited:
                    visited.add(down[j])
                    waiting.append((down[j], [j, *came[column]]))
    raise AssertionError("sums that whole numbers cannot meet")
