"""Every key that occurs with its number of rows, by one grouped count."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from functools import partial
from typing import Any

from duffdp._engines.adapters.query import QueryAdapter
from duffdp._engines.libraries import Frame, Narwhals
from duffdp._engines.people import Cap
from duffdp._engines.queries.names import COUNT, KEY, PERSON, VALUE
from duffdp._engines.queries.rows import cap_people, choose_groups
from duffdp._engines.universe import (
    EPOCH_DAY,
    FindPlace,
    KeyUniverse,
    counts_by_place,
    day_place,
)
from duffdp.domain import Pattern

_TICKS = {"D": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}  # of a day


def query_key_counts(
    nw: Narwhals,
    adapter: QueryAdapter,
    rows: Frame,
    universe: KeyUniverse,
    places: Sequence[FindPlace],
    cap: Cap,
    order: tuple[int, ...],
) -> dict[int, int]:
    """The number of rows of every possible key that occurs, by its place.

    Rows have the columns of keys, PERSON if people are protected, and VALUE if only rows with a
    value count. Keys are compared in this process: an engine's own patterns may differ.
    """
    by = [KEY.format(at) for at in range(len(universe.by))]
    schema = rows.collect_schema()
    for name in schema:
        rows = adapter.present(rows, name)
    if VALUE in schema:
        rows = rows.drop(VALUE)
    read: list[FindPlace] = []
    for name, part, place in zip(by, universe.parts, places, strict=True):
        if isinstance(part, Pattern) and part.kind == "date" and schema[name] == nw.Date:
            # As numbers: an engine may hold days that Python does not have.
            first, last = part.value(0), part.value(part.size - 1)
            ends = [(day - EPOCH_DAY) // dt.timedelta(microseconds=1) for day in (first, last)]
            margin = 2 * _TICKS["us"]
            rows, unit = adapter.clock(rows, name, (ends[0] - margin, ends[1] + margin))
            read.append(partial(day_place, part, _TICKS[unit]))
        elif schema[name].is_float():  # there is one zero
            rows = rows.with_columns(nw.col(name) + 0.0)
            read.append(place)
        elif schema[name] == nw.String:
            read.append(_text_place(adapter, place))
        else:
            read.append(place)
    if PERSON in schema:
        if cap.groups is not None and cap.rows == 1:  # each group of a person is one row
            rows = choose_groups(nw, adapter, rows, by, cap.groups, order[2:])
        else:
            rows = cap_people(nw, adapter, rows, by, cap, order)
    found = adapter.fetch(rows.group_by(*by).agg(nw.len().alias(COUNT)))
    keys = zip(*(found[name] for name in by), strict=True)
    return counts_by_place(universe, read, keys, found[COUNT])


def _text_place(adapter: QueryAdapter, place: FindPlace) -> FindPlace:
    def find(stored: Any) -> int | None:
        text = adapter.text_of(stored)
        return None if text is None else place(text)

    return find
