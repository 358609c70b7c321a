"""Groups whose noisy size is too small: their values are withheld, by what was released alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duffdp.facts import Facts
from duffdp.pipeline.span import ENDS
from duffdp.statistics.entry import Column

COUNT, TOO_SMALL = "count", "too_small"  # the columns beside values
Row = tuple[Any, ...]
Sizes = tuple[int, ...]


def sizes_apart(facts: Facts, numbers: Sequence[Sequence[int]]) -> tuple[Any, Sizes | None]:
    """Of drawn numbers those of values, and the noisy sizes of groups if they were drawn beside
    them, as the last number of each.
    """
    if facts.suppression is None or facts.suppression.own is not None:
        return numbers, None
    return [row[:-1] for row in numbers], tuple(max(0, row[-1]) for row in numbers)


def withheld(
    facts: Facts, columns: Sequence[Column], cells: Sequence[Row], sizes: Sizes | None
) -> tuple[Row, ...]:
    """Cells with None in the place of the values of groups that are too small; a size among
    several numbers stays.
    """
    if facts.suppression is None:
        return tuple(cells)
    below, own = facts.suppression
    ends = 1 if facts.interval is None else ENDS
    stays: range = range(0)
    if own is not None:
        at = [column.name for column in columns].index(own)
        sizes = tuple(row[at] for row in cells)
        if len(columns) > ends:
            stays = range(at, at + ends)
    assert sizes is not None
    return tuple(
        tuple(value if size >= below or i in stays else None for i, value in enumerate(row))
        for row, size in zip(cells, sizes, strict=True)
    )


def is_withheld(facts: Facts, row: Row) -> bool:
    """Whether the values of a group are withheld."""
    return facts.suppression is not None and row[-1] is None
