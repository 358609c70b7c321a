"""DuckDB relations: SQL for what narwhals has no words for. No name is left behind in the connection of the caller."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np

from duffdp.domain import Array, Grid
from duffdp.engines.files import quote_name, quote_text
from duffdp.engines.tables.adapters.query import NarwhalsQuery
from duffdp.engines.tables.answers import of_one_type
from duffdp.engines.tables.clocks import reach
from duffdp.engines.tables.names import COPY, INDEX, ORDER, PERSON, PLACE

_SAMPLED = "duffdp rows to sample"


class DuckdbRelation(NarwhalsQuery):
    """A DuckDB relation."""

    def rows(self, columns: dict[str, str]) -> Any:
        parts = []
        for new, name in columns.items():
            text = isinstance(self.dtype(name), self.nw.String | self.nw.Enum)
            # A collation may take different letters for the same.
            column = f'{quote_name(name)}::VARCHAR COLLATE "C"' if text else quote_name(name)
            parts.append(f"{column} AS {quote_name(new)}")
        return self.nw.from_native(self.native.project(", ".join(parts)))

    def literal_frame(self, rows: Any, columns: dict[str, list[Any]]) -> Any:
        native = rows.to_native()
        known = dict(zip(native.columns, map(str, native.types), strict=True))
        types = {name: known.get(name, "BIGINT") for name in columns}
        made = self.nw.from_native(self._listed(columns, types))
        texts = [name for name in columns if types[name] == "VARCHAR"]
        if not texts:
            return made
        parts = (
            f"{quote_name(n)}{' COLLATE ' + quote_name('C') if n in texts else ''} AS {quote_name(n)}"
            for n in columns
        )
        return self.nw.from_native(made.to_native().project(", ".join(parts)))

    def clock(self, rows: Any, name: str, grid: Grid) -> tuple[Any, str]:
        native, column = rows.to_native(), quote_name(name)
        dtype = rows.collect_schema()[name]
        low, high = reach(grid)
        unit = "us"
        if dtype == self.nw.Date:
            day, unit = "DATE '1970-01-01'", "D"
            ends = (f"({day} + ({end // 86_400_000_000})::INTEGER)" for end in (low, high))
            number = f"({_between(column, *ends)} - {day})"
        elif dtype.time_unit == "ns":
            # Far from the ends of 64 bits, which stand for infinity; then rounded down.
            exact = f"greatest(epoch_ns({column}), {1000 - 2**63})"
            number = f"(({exact} - ({exact} % 1000 + 1000) % 1000) // 1000)"
        else:
            kind = str(dict(zip(native.columns, native.types, strict=True))[name])
            make = "make_timestamp" if dtype.time_zone is None else "make_timestamptz"
            ends = (f"{make}(({end})::BIGINT)::{kind}" for end in (low, high))
            number = f"epoch_us({_between(column, *ends)})"
        return self.nw.from_native(_replaced(native, name, number)), unit

    def cap(self, rows: Any, keys: tuple[int, int], most: int) -> Any:
        native = rows.to_native()
        kept = [name for name in native.columns if name != PERSON]
        same = ", ".join(map(quote_name, (PERSON, *kept)))
        # Mixed again after each key went in: a key alone would turn the orders of all people alike.
        person = f"hash(hash({quote_name(PERSON)}, ({keys[0]})::BIGINT))"
        row = f"hash(hash({', '.join(map(quote_name, (*kept, COPY)))}, ({keys[1]})::BIGINT))"
        order = ", ".join(map(quote_name, (ORDER, *kept, COPY)))
        native = native.project(f"*, row_number() OVER (PARTITION BY {same}) AS {quote_name(COPY)}")
        native = native.project(f"*, hash(hash({person}, {row})) AS {quote_name(ORDER)}")
        native = native.project(
            f"*, row_number() OVER (PARTITION BY {quote_name(PERSON)} ORDER BY {order}) AS {quote_name(PLACE)}"
        )
        native = native.filter(f"{quote_name(PLACE)} <= {most}")
        return self.nw.from_native(native.project(", ".join(map(quote_name, kept))))

    def sample(self, rows: Any, name: str) -> Array | None:
        native, view = rows.to_native(), quote_name(_SAMPLED)
        query = (
            f"SELECT {quote_name(name)} AS {quote_name(INDEX)} FROM {view} USING SAMPLE 1% (system)"
        )
        some = self.fetch(self.nw.from_native(native.query(_SAMPLED, query)))[INDEX]
        native.query(_SAMPLED, f"DROP VIEW {view}")
        values: Array = np.ma.filled(some.astype(np.float64), np.nan)
        return values[~np.isnan(values)]

    def _fetched(self, rows: Any) -> dict[str, Any]:
        native = rows.to_native()
        # Integers of 128 bits come back as doubles otherwise.
        parts = (
            f"{quote_name(name)}{'::VARCHAR' if str(kind) in ('HUGEINT', 'UHUGEINT') else ''} AS {quote_name(name)}"
            for name, kind in zip(native.columns, native.types, strict=True)
        )
        return dict(native.project(", ".join(parts)).fetchnumpy())

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        columns = {name: of_one_type(values) for name, values in columns.items()}
        return self._listed(columns, {name: _type_of(values) for name, values in columns.items()})

    def _listed(self, columns: dict[str, list[Any]], types: dict[str, str]) -> Any:
        """A relation of lists, in the connection of the data: made from one row that is there in any case."""
        parts = (
            f"unnest([{', '.join(map(_literal, values))}]::{types[name]}[]) AS {quote_name(name)}"
            for name, values in columns.items()
        )
        return self.native.limit(0).aggregate("count(*)").project(", ".join(parts))


def _between(column: str, low: str, high: str) -> str:
    return f"least(greatest({column}, {low}), {high})"


def _replaced(native: Any, name: str, expression: str) -> Any:
    parts = (
        f"{expression if n == name else quote_name(n)} AS {quote_name(n)}" for n in native.columns
    )
    return native.project(", ".join(parts))


def _literal(value: Any) -> str:
    if isinstance(value, bool | int | Decimal):
        return f"'{value}'"
    if isinstance(value, float):
        return f"'{value!r}'"
    if isinstance(value, dt.datetime):
        return f"'{value.isoformat(sep=' ')}'"
    if isinstance(value, dt.date):
        return f"'{value.isoformat()}'"
    return " || chr(0) || ".join(map(quote_text, str(value).split("\0")))


def _type_of(values: list[Any]) -> str:
    """The type of a column of an answer."""
    first = values[0]
    if isinstance(first, Decimal):
        scale = max(0, *(-int(value.as_tuple().exponent) for value in values))
        return f"DECIMAL(38, {scale})"
    if isinstance(first, dt.datetime):
        return "TIMESTAMP" if first.tzinfo is None else "TIMESTAMPTZ"
    kinds = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
    return "DATE" if isinstance(first, dt.date) else kinds.get(type(first), "VARCHAR")
