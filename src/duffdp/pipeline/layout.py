"""How released values are laid out: beside the keys of groups, and in JSON."""

from __future__ import annotations

import datetime as dt
from typing import Any

from duffdp.domain import Grid, PublicSet
from duffdp.facts import Facts, from_json
from duffdp.pipeline.distribution import Distribution
from duffdp.statistics.entry import Column


def names_beside(columns: tuple[Column, ...], by: tuple[str, ...]) -> list[str]:
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


def rows_of_json(
    value: Any, given: dict[str, Any], facts: Facts, columns: tuple[Column, ...]
) -> list[list[Any]]:
    """The cells of every group, as JSON has them."""
    if facts.by:
        names = names_beside(columns, facts.by)
        return [[row[name] for name in names] for row in value]
    if facts.interval is not None:
        return [[value, given["low"], given["high"]]]
    if columns[0].kind == "distribution":
        return [[value]]
    if isinstance(value, list):
        return [value]
    return [list(value.values()) if isinstance(value, dict) else [value]]


def cell_of_json(item: Any, column: Column, domain: PublicSet) -> Any:
    """A released number, or what stands in its place, from what JSON has of it."""
    if column.kind == "distribution":
        assert isinstance(domain, Grid)
        return Distribution.from_dict(item, domain)
    if column.kind == "duration":
        return dt.timedelta(seconds=item)
    number = column.kind != "count" and domain.kind != "category"
    return from_json(item, domain.kind) if number else item


def value_of_json(
    value: Any, facts: Facts, columns: tuple[Column, ...], cells: tuple[tuple[Any, ...], ...]
) -> Any:
    """What a release had as its value; rows, where that was a frame."""
    whole = columns[0].kind == "distribution"
    if facts.by:
        return by_key(facts, [row[0] for row in cells]) if whole else value
    if isinstance(value, list):
        return list(cells[0])
    listed = isinstance(value, dict) and not whole
    return dict(zip(value, cells[0], strict=True)) if listed else cells[0][0]
