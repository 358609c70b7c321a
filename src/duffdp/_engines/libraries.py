"""Kinds of data: a path, or a frame or series of a library that narwhals supports."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from duffdp.errors import Argument, DuffError, UnsupportedData, did_you_mean, quoted_names

if TYPE_CHECKING:
    from narwhals import Expr, LazyFrame
    from narwhals.dtypes import DType
    from narwhals.functions import When

# Types of narwhals, which is loaded when a frame comes in.
Frame: TypeAlias = "LazyFrame[Any]"
Expression: TypeAlias = "Expr"
DataType: TypeAlias = "DType"


class Narwhals(ModuleType):
    """Type of the module narwhals: its functions that make expressions; all else is untyped."""

    if TYPE_CHECKING:

        @staticmethod
        def col(*names: str) -> Expr: ...
        @staticmethod
        def len() -> Expr: ...
        @staticmethod
        def lit(value: object, dtype: Any = None) -> Expr: ...
        @staticmethod
        def when(*predicates: Expr) -> When: ...


LIBRARIES = {
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "pyspark",
    "dask",
    "ibis",
    "modin",
    "cudf",
    "sqlframe",
    "narwhals",
}


@cache
def narwhals() -> Narwhals:
    """narwhals, or what to install."""
    try:
        import narwhals as module
    except ImportError:
        raise DuffError(
            "frames are read with narwhals, which is not installed. Run: pip install "
            "'duffdp[frames]'."
        ) from None
    return cast(Narwhals, module)


def is_path(data: object) -> bool:
    """True if data is named by a path."""
    return isinstance(data, str | os.PathLike)


def is_of_library(data: object) -> bool:
    """True if something is of a library that narwhals knows, or a type that it declares."""
    kind = data if isinstance(data, type) else type(data)
    return kind.__module__.partition(".")[0].lstrip("_") in LIBRARIES


def is_table(data: object) -> bool:
    """True if data is a path, or a frame or series of a library that narwhals knows."""
    return is_path(data) or type(data).__module__.partition(".")[0].lstrip("_") in LIBRARIES


def missing_column(name: str, columns: Iterable[str]) -> UnsupportedData:
    """The error about a column that is not there, with the names that come nearest."""
    names = list(columns)
    available = (
        f" Available columns: {quoted_names(names)}." if names else " The data has no columns."
    )
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and not set(parts).isdisjoint(names):
        example = Argument("by", parts)
        return UnsupportedData(f"there is no column {name!r}. Name each column: ", example, ".")
    return UnsupportedData(f"there is no column {name!r}.{did_you_mean(name, names) or available}")
