"""From drawn numbers to what is released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from duffdp.facts import Facts
from duffdp.ledger.charge import Result
from duffdp.pipeline.distribution import Distribution
from duffdp.pipeline.recipe import Recipe
from duffdp.statistics.entry import Column, Finish, Shape

Cells = tuple[tuple[Any, ...], ...]  # for each group, a value for each column


def answer(
    recipe: Recipe, finish: Finish | None, facts: Facts, result: Result, data: Any
) -> tuple[Any, tuple[Column, ...], Cells]:
    """The value of drawn numbers, in the shape of the statistic or as a frame like the data; its
    columns; and its cells.
    """
    domain: Any = facts.domain
    columns = recipe.columns if finish is None else finish.columns(domain)
    names = beside(columns, facts.by)
    if finish is None:
        readers = [reader(column, domain) for column in columns]
        each = zip(readers, zip(*result.numbers, strict=True), strict=True)
        values = [list(map(read, numbers)) for read, numbers in each]
    else:
        made = [finish.values(domain, numbers) for numbers in result.numbers]
        values = list(map(list, zip(*made, strict=True)))
    whole = columns[0].kind == "distribution"
    if whole:
        values = [[Distribution(domain, *cells) for cells in values[0]]]
    cells = tuple(zip(*values, strict=True))
    if facts.by and whole:
        return by_key(facts, values[0]), columns, cells
    if facts.by:
        return data.answers(dict(zip(names, values, strict=True))), columns, cells
    ends = 1 if facts.interval is None else 3
    return shaped(recipe.entry.shape, columns[::ends], cells[0][::ends]), columns, cells


def shaped(shape: Shape, columns: Sequence[Column], numbers: Sequence[Any]) -> Any:
    """The numbers of one group as one value, a list or a dictionary."""
    if shape == "dictionary":
        return dict(zip((column.name for column in columns), numbers, strict=True))
    return list(numbers) if shape == "list" else numbers[0]


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


def by_key(facts: Facts, values: list[Any]) -> dict[Any, Any]:
    """What no frame can hold, by the key of its group; a tuple for several columns."""
    keys = (key[0] if len(facts.by) == 1 else key for key in facts.keys)
    return dict(zip(keys, values, strict=True))


def reader(column: Column, domain: Any) -> Callable[[int], Any]:
    """What is released of a drawn number, where nothing else is made of it."""
    return domain.value if column.kind == "candidate" else partial(max, 0)
