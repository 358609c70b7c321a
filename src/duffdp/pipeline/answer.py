"""From drawn numbers to what is released."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from duffdp.domain import Grid
from duffdp.facts import Facts
from duffdp.ledger.charge import Result
from duffdp.pipeline.distribution import Distribution
from duffdp.pipeline.recipe import Recipe
from duffdp.pipeline.suppression import (
    COUNT,
    TOO_SMALL,
    Row,
    Sizes,
    is_withheld,
    sizes_apart,
    withheld,
)
from duffdp.rows import MANY, RowsOfColumns
from duffdp.statistics.entry import Column, Finish, Shape

Cells = Sequence[tuple[Any, ...]]  # for each group, a value for each column


def answer(
    recipe: Recipe, finish: Finish | None, facts: Facts, result: Result, data: Any
) -> tuple[Any, tuple[Column, ...], Cells, Sizes | None]:
    """The value of drawn numbers, in the shape of the statistic or as a frame like the data; its
    columns; its cells; and noisy sizes, if they were drawn beside it.
    """
    domain: Any = facts.domain
    columns = recipe.columns if finish is None else finish.columns(domain)
    names = frame_names(facts, columns) if facts.by else []
    rows: Sequence[Sequence[int]] = result.numbers
    sizes: Sizes | None = None
    if facts.suppression is not None:
        rows, sizes = sizes_apart(facts, rows)
    if finish is None:
        by_column = rows.columns if isinstance(rows, RowsOfColumns) else zip(*rows, strict=True)
        readers = [reader(column, domain, len(rows) >= MANY) for column in columns]
        values = [list(read(numbers)) for read, numbers in zip(readers, by_column, strict=True)]
    else:
        made = [finish.values(domain, numbers) for numbers in rows]
        values = list(map(list, zip(*made, strict=True)))
    whole = columns[0].kind == "distribution"
    if whole:
        values = [[Distribution(domain, *cells) for cells in values[0]]]
    many = len(values[0]) >= MANY
    cells: Cells = RowsOfColumns(values) if many else tuple(zip(*values, strict=True))
    if facts.suppression is not None:
        cells = withheld(facts, columns, cells, sizes)
    if facts.by and whole:
        return by_key(facts, values[0]), columns, cells, sizes
    if facts.by:
        if facts.suppression is None:
            told = dict(zip(names, values, strict=True))
        else:
            told = framed(facts, names, cells, sizes)
        return data.answers(told), columns, cells, sizes
    ends = 1 if facts.interval is None else 3
    return shaped(recipe.entry.shape, columns[::ends], cells[0][::ends]), columns, cells, sizes


def shaped(shape: Shape, columns: Sequence[Column], numbers: Sequence[Any]) -> Any:
    """The numbers of one group as one value, a list or a dictionary."""
    if shape == "dictionary":
        return dict(zip((column.name for column in columns), numbers, strict=True))
    return list(numbers) if shape == "list" else numbers[0]


def by_key(facts: Facts, values: list[Any]) -> dict[Any, Any]:
    """What no frame can hold, by the key of its group; a tuple for several columns."""
    keys = (key[0] if len(facts.by) == 1 else key for key in facts.keys)
    return dict(zip(keys, values, strict=True))


def reader(
    column: Column, domain: Any, many: bool = False
) -> Callable[[Sequence[int]], Iterable[Any]]:
    """What is released of drawn numbers, few or many, where nothing else is made of them."""
    if column.kind != "candidate":
        return partial(map, partial(max, 0))
    if many and isinstance(domain, Grid):
        return lambda numbers: domain.values(numbers).tolist()
    return partial(map, domain.value)


def framed(
    facts: Facts, names: Sequence[str], cells: Sequence[Row], sizes: Sizes | None
) -> dict[str, list[Any]]:
    """The columns of values as a frame has them: noisy sizes before, the mark after them."""
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
