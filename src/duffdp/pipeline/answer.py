"""From drawn numbers to what is released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from duffdp.facts import Facts
from duffdp.ledger.charge import Result
from duffdp.pipeline.distribution import Distribution
from duffdp.pipeline.recipe import Recipe
from duffdp.pipeline.suppression import Sizes, framed, sizes_apart, withheld
from duffdp.statistics.entry import Column, Finish, Shape

Cells = tuple[tuple[Any, ...], ...]  # for each group, a value for each column


def answer(
    recipe: Recipe, finish: Finish | None, facts: Facts, result: Result, data: Any
) -> tuple[Any, tuple[Column, ...], Cells, Sizes | None]:
    """The value of drawn numbers, in the shape of the statistic or as a frame like the data; its
    columns; its cells; and noisy sizes, if they were drawn beside it.
    """
    domain: Any = facts.domain
    columns = recipe.columns if finish is None else finish.columns(domain)
    drawn, sizes = sizes_apart(facts, result.numbers)
    if finish is None:
        readers = [reader(column, domain) for column in columns]
        each = zip(readers, zip(*drawn, strict=True), strict=True)
        values = [list(map(read, numbers)) for read, numbers in each]
    else:
        made = [finish.values(domain, numbers) for numbers in drawn]
        values = list(map(list, zip(*made, strict=True)))
    whole = columns[0].kind == "distribution"
    if whole:
        values = [[Distribution(domain, *cells) for cells in values[0]]]
    cells = withheld(facts, columns, list(zip(*values, strict=True)), sizes)
    if facts.by and whole:
        return by_key(facts, values[0]), columns, cells, sizes
    if facts.by:
        return data.answers(framed(facts, columns, cells, sizes)), columns, cells, sizes
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


def reader(column: Column, domain: Any) -> Callable[[int], Any]:
    """What is released of a drawn number, where nothing else is made of it."""
    return domain.value if column.kind == "candidate" else partial(max, 0)
