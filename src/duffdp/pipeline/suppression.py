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


def framed(
    facts: Facts, columns: tuple[Column, ...], cells: Sequence[Row], sizes: Sizes | None
) -> dict[str, list[Any]]:
    """The columns of values as a frame has them: noisy sizes before, the mark after them."""
    names = frame_names(facts, columns)
    found = [list(column) for column in zip(*cells, strict=True)]
    if sizes is not None:
        found = [list(sizes), *found]
    if facts.suppression is not None:
        found.append([is_withheld(facts, row) for row in cells])
    return dict(zip(names, found, strict=True))


def frame_names(facts: Facts, columns: tuple[Column, ...]) -> list[str]:
    """The names of these columns; none is that of a key column, whatever the case."""
    if facts.suppression is None:
        return beside(columns, facts.by)
    size = () if facts.suppression.own is not None else (Column(COUNT),)
    return beside((*size, *columns, Column(TOO_SMALL)), facts.by)


def beside(columns: tuple[Column, ...], by: tuple[str, ...]) -> list[str]:
    """The names of value columns in a frame that has key columns as well; some engines do not tell
    upper from lower case.
    """
    names, taken = [], {name.casefold() for name in by}
    for column in columns:
        name = column.name
        while name.casefold() in taken:
            name += "_value"
        names.append(name)
        taken.add(name.casefold())
    return names
