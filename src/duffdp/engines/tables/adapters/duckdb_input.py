"""A frame as DuckDB takes it in, for queries: by declared types alone, and no row before it is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from duffdp.engines.files import FILE_ZONE
from duffdp.errors import UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

# It takes parts out of TRY that stand twice, and what fails there stops the query.
UNSAFE = "common_subexpressions"
_VIEW = "duffdp_query_settings"


class DuckdbInput(NamedTuple):
    """Columns and types, what reads the rows, and the zone that instants are given in; None: that
    of the session.
    """

    types: DuckDBPyRelation
    rows: Callable[[], DuckDBPyRelation]
    zone: str | None


def duckdb_input(
    nw: Any, frame: Any, columns: Sequence[str], connect: Callable[[], DuckDBPyConnection]
) -> DuckdbInput | None:
    """Some columns of a frame of narwhals; None if its rows are not on this machine."""
    kind, native = frame.implementation, frame.to_native()
    if kind.is_duckdb():
        return DuckdbInput(native, lambda: _without(native, UNSAFE), None)
    if not (kind.is_pandas() or kind.is_polars() or kind.is_pyarrow()):
        return None
    known = frame.collect_schema()
    for name in columns:
        declared = native.dtypes[name] if kind.is_pandas() else None
        if not _can_be_read(nw, known[name], declared):
            raise UnsupportedData(
                f"sql: the column {name!r} is of a type that one record can keep from being handed "
                f"to DuckDB, {known[name] if declared is None else declared}. Give it another one "
                "first: numbers, text, dates, or times in microseconds."
            )
    connection, needed = connect(), frame.select(*columns)

    def relation(some: Any) -> DuckDBPyRelation:
        return connection.from_arrow(some.lazy().collect("pyarrow").to_native())

    return DuckdbInput(relation(needed.head(0)), lambda: relation(needed), FILE_ZONE)


def _without(relation: DuckDBPyRelation, optimizer: str) -> DuckDBPyRelation:
    """The same relation, in whose session an optimizer is off from now on; those that the caller
    turned off stay off.
    """
    ask = "SELECT current_setting('disabled_optimizers')"
    (known,) = relation.query(_VIEW, ask).fetchone() or ("",)
    names = sorted({*filter(None, (known or "").split(",")), optimizer})
    relation.query(_VIEW, f"SET disabled_optimizers = '{','.join(names)}'")
    relation.query(_VIEW, f'DROP VIEW "{_VIEW}"')
    return relation


def _can_be_read(nw: Any, dtype: Any, declared: Any) -> bool:
    """Whether every value of a type can be handed to DuckDB, and none decides what others are;
    `declared` is the type in pandas.
    """
    if declared == np.dtype(object) or getattr(declared, "storage", "pyarrow") != "pyarrow":
        return False  # of which narwhals looks at the first ones; texts that may not be UTF-8
    categories = getattr(declared, "categories", None)
    if categories is not None and categories.dtype.kind not in "biuf":
        return getattr(categories.dtype, "storage", None) == "pyarrow"
    unit, zone = (
        getattr(declared, name, getattr(dtype, other, None))
        for name, other in (("unit", "time_unit"), ("tz", "time_zone"))
    )
    if zone is not None:  # DuckDB has such times in microseconds alone
        return unit in ("us", "ns")
    known = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Date, nw.Datetime)
    return isinstance(dtype, known) or (
        bool(dtype.is_numeric()) and dtype not in (nw.Int128, nw.UInt128)
    )
