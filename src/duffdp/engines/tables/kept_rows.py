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
from duffdp.domain.reading import microseconds, moments, nearest_double
from duffdp.domain.zones import instant, reach, read_zone
from duffdp.engines.condition import Among, Combined, Compared, Condition, Missing, Part, leaves
from duffdp.engines.tables import clocks
from duffdp.engines.tables.public_values import column_values, whole_range
from duffdp.errors import DuffError, UnsupportedData

_HOLDS: dict[str, Callable[[Any, Any], Any]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_TAKEN = "numbers, booleans, text, dates and times"
_EXAMPLES = {"date": "a date such as '2024-07-31'", "time": "a time such as '2024-07-31 23:59'"}
_NUMBERS = ("decimal", "time")  # which are compared as doubles, and as microseconds since 1970


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
        kinds = {name: self._kind(name, objects) for name in condition.columns}
        self._kinds = kinds
        #: The columns that are compared as numbers which they are not.
        self.numbers = [name for name, kind in kinds.items() if kind in _NUMBERS]
        for leaf in leaves(condition.part):
            kind = kinds[leaf.column]
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
        if dtype == nw.Decimal:
            return "decimal"
        if dtype == nw.Date:
            return "date"
        if isinstance(dtype, nw.Datetime):
            return "time"
        if isinstance(dtype, nw.String | nw.Categorical | nw.Enum) or (
            objects and dtype == nw.Object
        ):
            return "text"
        raise UnsupportedData(
            f"where compares columns of {_TAKEN}, got {column!r} of type {dtype}. Convert it first."
        )

    def _literal(self, column: str, kind: str, value: Any, untyped: bool = False) -> Any:
        """A value of the kind of its column; a date or time is written as text."""
        number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        fits = dict.fromkeys(("integer", "double", "decimal"), number)
        fits["boolean"] = isinstance(value, bool)
        if fits.get(kind, isinstance(value, str)):
            try:
                if kind == "date":
                    return dt.date.fromisoformat(value)
                if kind != "time":
                    return value
                moment = dt.datetime.fromisoformat(value)
            except ValueError:
                pass
            else:
                return self._instant(column, moment)
        wanted = _EXAMPLES.get(kind, f"of the kind {kind}")
        fix = " Declare its type: --types, or duffdp.TextFile in Python." if untyped else ""
        raise DuffError(
            f"where compares {column!r} of type {self._types[column]} with a value that is "
            f"{wanted}, got {value!r:.60}.{fix}"
        )

    def _instant(self, column: str, moment: dt.datetime) -> int:
        """A time in microseconds since 1970; without a zone it is a time of the column's clocks."""
        zone = self._types[column].time_zone
        if moment.tzinfo is not None and zone is None:
            raise DuffError(
                f"where: the times of {column!r} have no zone, got {moment.isoformat()!r}. Leave "
                "the zone out."
            )
        found = microseconds(moment)
        assert found is not None
        return found if zone is None or moment.tzinfo else instant(found, read_zone(zone))

    def _unordered(self, leaf: Compared, kind: str, untyped: bool) -> DuffError:
        fix = " Declare its type: --types, or duffdp.TextFile in Python." if untyped else ""
        return DuffError(
            f"where knows no order of {kind}, got {leaf.mark} for {leaf.column!r} of type "
            f"{self._types[leaf.column]}. Use =, <> or IN.{fix}"
        )

    def _among(self, leaf: Among, kind: str, untyped: bool) -> list[Any]:
        """The values that the column can hold at all."""
        given = [self._literal(leaf.column, kind, value, untyped) for value in leaf.values]
        if kind in _NUMBERS:
            return list(dict.fromkeys(_as_number(kind, value) for value in given))
        convert = column_values(self._nw, self._types[leaf.column])
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
        return leaf.mark, _as_number(kind, value)

    def mask(self, adapter: Any) -> Array:
        """Which rows of a frame in memory are kept."""
        kept: Array = self._mask(adapter, self._part)
        return kept

    def _mask(self, adapter: Any, part: Part) -> Any:
        if isinstance(part, Combined):
            masks = (self._mask(adapter, inner) for inner in part.parts)
            return reduce(and_ if part.every else or_, masks)
        present = self._present(adapter, part.column)
        if isinstance(part, Missing):
            return present if part.negated else ~present
        values = self._values[part]
        if isinstance(part, Compared):
            if isinstance(values, bool):
                return present & values
            return present & self._holds(adapter, part.column, present, *values)
        if part.column in self.numbers:
            found = present & np.isin(self._as_numbers(adapter, part.column, present), values)
        else:
            found = adapter.positions(part.column, values) >= 0 if values else present & ~present
        return present & ~found if part.negated else found

    def _present(self, adapter: Any, name: str) -> Array:
        if self._types[name] != self._nw.Object:
            return np.asarray(~adapter.missing(name))
        return np.array([is_present(one) for one in adapter.column(name).to_list()], dtype=bool)

    def _holds(self, adapter: Any, name: str, present: Array, mark: str, value: Any) -> Array:
        """Where a comparison of a column in memory holds; where it has no value, anything."""
        if name in self.numbers:
            return np.asarray(_HOLDS[mark](self._as_numbers(adapter, name, present), value))
        series = adapter.column(name)
        if self._types[name] == self._nw.Float32:
            series = series.cast(self._nw.Float64)
        found: Array = _HOLDS[mark](series, value).fill_null(False).to_numpy().astype(bool)
        return found

    def _as_numbers(self, adapter: Any, name: str, present: Array) -> Array:
        array, _ = adapter.array(name)
        if self._kinds[name] == "decimal":
            return np.asarray(array)
        numbers = np.zeros(len(array), dtype=np.int64)
        numbers[present] = moments(array[present], days=False)
        return numbers

    def filtered(
        self, engine: Any, rows: Any, names: Mapping[str, str], numbers: Mapping[str, str]
    ) -> Any:
        """Those rows of a lazy frame that are kept; `names` are those of the columns there, and
        `numbers` those of their copies that become numbers.
        """
        nw, schema = self._nw, rows.collect_schema()
        for column, name in numbers.items():
            if self._kinds[column] == "decimal":
                rows = engine.doubles(rows, name)
                continue
            ends = self._reach(column)
            rows, unit = engine.clock(rows, name, ends)
            ticks = clocks.microseconds(nw, nw.col(name), unit, ends)
            rows = rows.with_columns(ticks.alias(name))
        columns: dict[str, Any] = {}
        missing: dict[str, Any] = {}
        for column, name in names.items():
            declared, read = self._types[column], nw.col(name)
            missing[column] = read.is_null()
            if declared.is_float():
                missing[column] = missing[column] | read.is_nan()
            elif engine.own_nan and declared == nw.Decimal:
                missing[column] = missing[column] | (read.cast(nw.String) == "NaN")
            if isinstance(declared, nw.Categorical | nw.Enum):
                read = read.cast(nw.String)
            elif declared == nw.Float32:
                read = read.cast(nw.Float64)
            elif declared == nw.Boolean and schema[name].is_integer():
                read = read == 1
            columns[column] = nw.col(numbers[column]) if column in numbers else read
        return rows.filter(self._expression(self._part, columns, missing))

    def _expression(self, part: Part, columns: Mapping[str, Any], gone: Mapping[str, Any]) -> Any:
        if isinstance(part, Combined):
            inner = [self._expression(one, columns, gone) for one in part.parts]
            return _balanced(and_ if part.every else or_, inner)
        column, missing = columns[part.column], gone[part.column]
        if isinstance(part, Missing):
            return ~missing if part.negated else missing
        values = self._values[part]
        if isinstance(part, Among):
            equal = [column == value for value in values]
            found = _balanced(or_, equal) if equal else missing & ~missing
            return ~missing & (~found if part.negated else found)
        if isinstance(values, bool):
            return ~missing if values else missing & ~missing
        mark, value = values
        return ~missing & _HOLDS[mark](column, value)

    def _reach(self, column: str) -> tuple[int, int]:
        """From before all moments that a column is compared with to after them."""
        ends = [0]
        for leaf in leaves(self._part):
            if leaf.column == column and not isinstance(leaf, Missing):
                found = self._values[leaf]
                ends += found if isinstance(leaf, Among) else [found[1]]
        return reach("datetime", (min(ends), max(ends)))


def _as_number(kind: str, value: Any) -> Any:
    """What a value is compared as: a decimal as the nearest double."""
    return nearest_double(value) if kind == "decimal" else value


def _balanced(combine: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Many conditions as one, not deep: engines have their limits."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return combine(_balanced(combine, parts[:half]), _balanced(combine, parts[half:]))
