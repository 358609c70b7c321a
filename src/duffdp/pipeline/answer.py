"""From drawn numbers to a release."""

from __future__ import annotations

from functools import partial
from typing import Any

from duffdp.facts import Facts
from duffdp.ledger.charge import Result
from duffdp.pipeline.outcome import Release, beside
from duffdp.pipeline.recipe import Recipe
from duffdp.statistics.entry import Finish
from duffdp.version import __version__


def released(
    recipe: Recipe, finish: Finish | None, facts: Facts, result: Result, data: Any
) -> Release:
    """The release of drawn numbers: candidates as values, in the shape of the statistic or as a
    frame like the data.
    """
    domain: Any = facts.domain
    columns = recipe.columns if finish is None else finish.columns(domain)
    names = beside(columns, facts.by)
    if finish is None:
        values = []
        for column, numbers in zip(columns, zip(*result.numbers, strict=True), strict=True):
            read = domain.value if column.kind == "candidate" else partial(max, 0)
            values.append(list(map(read, numbers)))
    else:
        made = [finish.values(domain, numbers) for numbers in result.numbers]
        values = list(map(list, zip(*made, strict=True)))
    cells = tuple(zip(*values, strict=True))
    value: Any
    if facts.by:
        value = data.answers(dict(zip(names, values, strict=True)))
    elif recipe.entry.shape == "dictionary":
        value = dict(zip((column.name for column in columns), cells[0], strict=True))
    else:
        value = list(cells[0]) if recipe.entry.shape == "list" else cells[0][0]
    return Release(value, facts, columns, cells, result.time, __version__)
