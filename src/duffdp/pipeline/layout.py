"""How distributions are laid out in columns, and released values in JSON."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from duffdp.domain import Grid, PublicSet
from duffdp.facts import Facts, from_json
from duffdp.pipeline.answer import beside, by_key, frame_names
from duffdp.pipeline.distribution import Distribution
from duffdp.pipeline.span import ENDS
from duffdp.pipeline.suppression import Sizes
from duffdp.statistics.entry import Column


def quantile_columns(facts: Facts, cells: Sequence[tuple[Distribution]]) -> dict[str, list[Any]]:
    """A few quantiles of each group, with what the band says about them."""
    names = (Column(name) for name in ("quantile", "value", "low", "high"))
    rows = [
        (*key, float(q), *ends)
        for key, (whole,) in zip(facts.keys or [()], cells, strict=True)
        for q, *ends in whole.quantiles()
    ]
    columns = [*facts.by, *beside(tuple(names), facts.by)]
    return dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))


def cells_of_json(
    value: Any, given: dict[str, Any], facts: Facts, columns: tuple[Column, ...]
) -> tuple[tuple[Any, ...], ...]:
    """The cells of every group from what JSON has of them."""
    return tuple(
        tuple(_cell(item, column, facts.domain) for item, column in zip(row, columns, strict=True))
        for row in _rows(value, given, facts, columns)
    )


def _rows(
    value: Any, given: dict[str, Any], facts: Facts, columns: tuple[Column, ...]
) -> list[list[Any]]:
    """The cells of every group, as JSON has them."""
    if facts.by:
        names = frame_names(facts, columns)
        begin = len(names) - len(columns) - (facts.suppression is not None)
        kept = names[begin : begin + len(columns)]
        return [[row[name] for name in kept] for row in value]
    if columns[0].kind == "distribution":
        return [[value]]
    ends = () if facts.interval is None else (given["low"], given["high"])
    spans = zip(*map(_listed, (value, *ends)), strict=True)
    return [[number for span in spans for number in span]]


def sizes_of_json(value: Any, facts: Facts, columns: tuple[Column, ...]) -> Sizes | None:
    """The noisy sizes beside values, as JSON has them."""
    if facts.suppression is None or facts.suppression.own is not None:
        return None
    name = frame_names(facts, columns)[0]
    return tuple(row[name] for row in value)


def _listed(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


def _cell(item: Any, column: Column, domain: PublicSet) -> Any:
    """A released number, or what stands in its place, from what JSON has of it."""
    if column.kind == "distribution":
        assert isinstance(domain, Grid)
        return Distribution.from_dict(item, domain)
    if item is None:  # withheld
        return None
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
    numbers = cells[0][:: 1 if facts.interval is None else ENDS]
    if isinstance(value, list):
        return list(numbers)
    listed = isinstance(value, dict) and not whole
    return dict(zip(value, numbers, strict=True)) if listed else numbers[0]
