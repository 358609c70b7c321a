"""Conversion of keys and categories that are text in a plan or a command to the types of their
columns.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from typing import Any

from duffdp._engines.libraries import narwhals
from duffdp._engines.sql.query import OpenSources
from duffdp._engines.table import column_types
from duffdp._pipeline.request import CheckedRequest, ReleaseRequest
from duffdp.domain import Categories, Membership
from duffdp.errors import DuffError

_TRUTH = {"true": True, "false": False}


def with_values(checked: CheckedRequest, data: object, sources: OpenSources) -> ReleaseRequest:
    """The release with its texts read by the declared types of their columns."""
    selection, domain = checked.selection, checked.domain
    listed = selection.by and selection.universe is None
    request = with_keys(checked, data, selection.by, sources) if listed else checked.request
    if (column := selection.column) is not None:

        def read(texts: Iterable[Any]) -> list[Any]:
            return typed_values(column, column_types(data, [column], sources).get(column), texts)

        if isinstance(domain, Categories):
            return request.replace(categories=read(domain))
        if isinstance(domain, Membership) and isinstance(domain.members, Categories):
            return request.replace(values=read(domain.members))
    return request


def with_keys(
    checked: CheckedRequest, data: object, written: tuple[str, ...], sources: OpenSources
) -> ReleaseRequest:
    """The release with those keys read that are `written` as text, by the types of their
    columns.
    """
    selection = checked.selection
    types = column_types(data, list(written), sources)
    columns = zip(selection.by, zip(*selection.keys, strict=True), strict=True)
    parts = [typed_values(name, types.get(name), texts) for name, texts in columns]
    return checked.request.replace(keys=list(zip(*parts, strict=True)))


def typed_values(column: str, dtype: object, texts: Iterable[Any]) -> list[Any]:
    """Texts as values of the column's type. Other values are kept, and so is everything if there is
    no such column, because that error is raised elsewhere.
    """
    if dtype is None:
        return list(texts)
    read = _reader(dtype)
    values = []
    for value in texts:
        try:
            values.append(read(value) if isinstance(value, str) else value)
        except (ValueError, KeyError):
            raise DuffError(
                f"the column {column!r} has the type {dtype}, got {value!r:.60}. List values that "
                "the column can hold."
            ) from None
    return values


def _reader(dtype: Any) -> Callable[[str], Any]:
    """A function that reads a text as a value of this narwhals type."""
    nw = narwhals()
    if dtype.is_integer():
        return int
    if dtype.is_numeric():
        return _number
    if dtype == nw.Boolean:
        return lambda text: _TRUTH[text.lower()]
    if dtype == nw.Date:
        return dt.date.fromisoformat
    return dt.datetime.fromisoformat if isinstance(dtype, nw.Datetime) else str


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        return float(text)
