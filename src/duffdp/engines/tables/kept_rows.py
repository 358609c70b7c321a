"""The rows that a condition keeps, each by its own fields: the same ones in every engine.

Values are brought to the type of their column before a row is read, so that no comparison can fail.
Null and nan are missing, and no comparison with what is missing holds.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Container, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from operator import and_, ge, gt, le, lt, or_
from typing import Any

import numpy as np

from duffdp.domain import Array
from duffdp.domain.presence import is_present
from duffdp.engines.condition import Among, Combined, Compared, Condition, Missing, Part, leaves
from duffdp.engines.tables.public_values import column_values, whole_range
from duffdp.errors import DuffError, UnsupportedData

_HOLDS: dict[str, Callable[[Any, Any], Any]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_TAKEN = "whole numbers, doubles, booleans, text and dates"


class KeptRows:
    """A condition for columns of known types.

    Parameters
    ----------
    nw
        The narwhals module.
    condition
        What is asked of rows.
    types
        The declared types of its columns.
    untyped
        Those of them that are text because their file declares no types.
    objects
        Whether texts in a column of objects can be compared.
    """

    def __init__(
        self,
        nw: Any,
        condition: Condition,
        types: Mapping[str, Any],
        untyped: Container[str],
        objects: bool,
    ) -> None:
        self._nw, self._types, self._part = nw, types, condition.part
        self._values: dict[Any, Any] = {}
        for leaf in leaves(condition.part):
            kind = self._kind(leaf.column, objects)
            if isinstance(leaf, Compared):
                if kind in ("text", "boolean"):
                    raise self._unordered(leaf, kind, leaf.column in untyped)
                self._values[leaf] = self._end(leaf, kind)
            elif isinstance(leaf, Among):
                self._values[leaf] = self._among(leaf, kind, leaf.column in untyped)

    def _kind(self, column: str, objects: bool) -> str:
        nw, dtype = self._nw, self._types[column]
        if dtype.is_integer():
            return "integer"
        if dtype in (nw.Float32, nw.Float64):
            return "double"
        if dtype == nw.Boolean:
            return "boolean"
        if dtype == nw.Date:
            return "date"
        if isinstance(dtype, nw.String | nw.Categorical | nw.Enum) or (
            objects and dtype == nw.Object
        ):
            return "text"
        raise UnsupportedData(
            f"where compares columns of {_TAKEN}, got {column!r} of type {dtype}. Convert it first."
        )

    def _literal(self, column: str, kind: str, value: Any, untyped: bool = False) -> Any:
        """A value of the kind of its column; a date is written as text."""
        number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        fits = {"integer": number, "double": number, "boolean": isinstance(value, bool)}
        if fits.get(kind, isinstance(value, str)):
            if kind != "date":
                return value
            try:
                return dt.date.fromisoformat(value)
            except ValueError:
                pass
        wanted = "a date such as '2024-07-31'" if kind == "date" else f"of the kind {kind}"
        fix = " Declare its type: --types, or duffdp.TextFile in Python." if untyped else ""
        raise DuffError(
            f"where compares {column!r} of type {self._types[column]} with a value that is "
            f"{wanted}, got {value!r:.60}.{fix}"
        )

    def _unordered(self, leaf: Compared, kind: str, untyped: bool) -> DuffError:
        fix = " Declare its type: --types, or duffdp.TextFile in Python." if untyped else ""
        return DuffError(
            f"where knows no order of {kind}, got {leaf.mark} for {leaf.column!r} of type "
            f"{self._types[leaf.column]}. Use =, <> or IN.{fix}"
        )

    def _among(self, leaf: Among, kind: str, untyped: bool) -> list[Any]:
        """The values that the column can hold at all."""
        convert = column_values(self._nw, self._types[leaf.column])
        given = [self._literal(leaf.column, kind, value, untyped) for value in leaf.values]
        return list(dict.fromkeys(one for value in given for one in convert(value)))

    def _end(self, leaf: Compared, kind: str) -> tuple[str, Any] | bool:
        """The comparison with a value of the type of the column; or whether it holds for all."""
        value, dtype = self._literal(leaf.column, kind, leaf.value), self._types[leaf.column]
        if kind == "integer":
            least, most = whole_range(self._nw, dtype)
            if leaf.mark in (">", ">="):
                end = math.floor(value) + 1 if leaf.mark == ">" else math.ceil(value)
                return end <= least or (end <= most and (">=", end))
            end = math.ceil(value) - 1 if leaf.mark == "<" else math.floor(value)
            return end >= most or (end >= least and ("<=", end))
        if kind == "double":
            (number,) = column_values(self._nw, dtype)(value)
            return leaf.mark, number
        return leaf.mark, value

    def mask(self, adapter: Any) -> Array:
        """Which rows of a frame in memory are kept."""
        kept: Array = self._mask(adapter, self._part)
        return kept

    def _mask(self, adapter: Any, part: Part) -> Any:
        nw = self._nw
        if isinstance(part, Combined):
            masks = (self._mask(adapter, inner) for inner in part.parts)
            return reduce(and_ if part.every else or_, masks)
        series = adapter.column(part.column)
        if self._types[part.column] == nw.Object:
            present = np.array([is_present(record) for record in series.to_list()], dtype=bool)
        else:
            present = ~adapter.missing(part.column)
        if isinstance(part, Missing):
            return present if part.negated else ~present
        if isinstance(part, Among):
            values = self._values[part]
            found = adapter.positions(part.column, values) >= 0 if values else ~present & present
            return present & ~found if part.negated else found
        end = self._values[part]
        if isinstance(end, bool):
            return present & end
        mark, value = end
        wide = series.cast(nw.Float64) if self._types[part.column] == nw.Float32 else series
        holds = _HOLDS[mark](wide, value).fill_null(False).to_numpy().astype(bool)
        return present & holds

    def filtered(self, rows: Any, names: Mapping[str, str]) -> Any:
        """Those rows of a lazy frame that are kept; `names` are those of the columns there."""
        return rows.filter(self._expression(self._part, names, rows.collect_schema()))

    def _expression(self, part: Part, names: Mapping[str, str], schema: Any) -> Any:
        nw = self._nw
        if isinstance(part, Combined):
            inner = [self._expression(one, names, schema) for one in part.parts]
            return _balanced(and_ if part.every else or_, inner)
        name, declared = names[part.column], self._types[part.column]
        column = nw.col(name)
        missing = column.is_null()
        if declared.is_float():
            missing = missing | column.is_nan()
        if isinstance(part, Missing):
            return ~missing if part.negated else missing
        if isinstance(declared, nw.Categorical | nw.Enum):
            column = column.cast(nw.String)
        if declared == nw.Float32:
            column = column.cast(nw.Float64)
        if isinstance(part, Among):
            values = self._values[part]
            if declared == nw.Boolean and schema[name].is_integer():
                values = [int(value) for value in values]
            equal = [column == value for value in values]
            found = _balanced(or_, equal) if equal else missing & ~missing
            return ~missing & (~found if part.negated else found)
        end = self._values[part]
        if isinstance(end, bool):
            return ~missing if end else missing & ~missing
        mark, value = end
        return ~missing & _HOLDS[mark](column, value)


def _balanced(combine: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Many conditions as one, not deep: engines have their limits."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return combine(_balanced(combine, parts[:half]), _balanced(combine, parts[half:]))
