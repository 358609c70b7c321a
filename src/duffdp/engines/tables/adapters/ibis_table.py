"""ibis tables: expressions that the database behind them runs."""

from __future__ import annotations

import datetime as dt
import unicodedata
from decimal import Decimal
from typing import Any

from duffdp.engines.tables.adapters.query import NarwhalsQuery
from duffdp.engines.tables.names import (
    COLUMN,
    COPY,
    COUNT,
    INDEX,
    ORDER,
    PERSON,
    PLACE,
    VALUE_NAMES,
)

_EPOCH = dt.datetime(1970, 1, 1)
_INT64 = range(-(2**63), 2**63)


class IbisTable(NarwhalsQuery):
    """An ibis table of any database."""

    whole_floors = True

    def rows(self, columns: dict[str, str]) -> Any:
        native, made = self.native, {}
        for new, name in columns.items():
            column = native[name]
            kind = column.type()
            # DuckDB hands what it joins with to Arrow, which has no way to take such large numbers.
            if kind.is_uint64() and new not in VALUE_NAMES:
                column = column.cast("decimal(20, 0)")
            elif kind.is_boolean():  # PostgreSQL makes 32 bits of it, and no others
                column = column.cast("int32")
            made[new] = column
        return self.nw.from_native(native.select(**made))

    def literal_frame(self, rows: Any, columns: dict[str, list[Any]]) -> Any:
        import ibis
        import pyarrow as pa

        known, sent = rows.to_native().schema(), {}
        for name, values in columns.items():
            # As text what a database could fail to compare with records of its own while it joins.
            as_text = isinstance(values[0], dt.date | Decimal) or not all(
                value in _INT64 for value in values if type(value) is int
            )
            sent[name] = [str(value) for value in values] if as_text else values
        made = ibis.memtable(pa.table(sent))
        typed = {name: made[name].cast(known.get(name, "int64")) for name in sent}
        return self.nw.from_native(made.select(**typed))

    def doubles(self, rows: Any, name: str) -> Any:
        """Through text: DuckDB's own way errs in the last bit for more than 15 digits."""
        text = self.nw.col(name).cast(self.nw.String)
        return rows.with_columns(text.cast(self.nw.Float64))

    def clock(self, rows: Any, name: str, ends: tuple[int, int]) -> tuple[Any, str]:
        import ibis

        native = rows.to_native()
        column, kind = native[name], native[name].type()
        moments = [_EPOCH + dt.timedelta(microseconds=end) for end in _within_python(*ends)]
        if kind.is_date():
            low, high = (ibis.literal(end.date(), "date") for end in moments)
        else:
            zone = dt.UTC if kind.timezone else None
            low, high = (ibis.literal(end.replace(tzinfo=zone), kind) for end in moments)
        # Before it becomes a number: an infinite one has none.
        moment = ibis.least(ibis.greatest(column, low), high)
        moment = moment.cast("timestamp") if kind.is_date() else moment
        number = moment.epoch_seconds().cast("int64") * 1_000_000 + moment.microsecond().cast(
            "int64"
        )
        return self.nw.from_native(native.mutate(**{name: number})), "us"

    def cap(self, rows: Any, keys: tuple[int, ...], most: int, *within: str) -> Any:
        import ibis

        native, kept = self._mixed(rows, keys)
        place = ibis.row_number().over(group_by=[PERSON, *within], order_by=[ORDER, *kept, COPY])
        native = native.mutate(**{PLACE: place})
        return self.nw.from_native(native.filter(native[PLACE] < most).select(*kept, PERSON))

    def cap_each(self, rows: Any, keys: tuple[int, ...], most: int, names: list[str]) -> Any:
        import ibis

        native, kept = self._mixed(rows, keys)
        own = ibis.cumulative_window(group_by=[PERSON], order_by=[ORDER, *kept, COPY])
        counts = {
            name: ibis.cases((native[name].count().over(own) <= most, native[name]))
            for name in names
        }
        return self.nw.from_native(native.mutate(**counts).select(*kept, PERSON))

    def _mixed(self, rows: Any, keys: tuple[int, ...]) -> tuple[Any, list[str]]:
        """Rows with what orders those of a person, and the names of all columns but that of
        people.
        """
        import ibis

        def md5(text: str) -> str:
            raise NotImplementedError  # the function of that name in the database

        digest = ibis.udf.scalar.builtin(md5)
        native = rows.to_native()
        kept = [name for name in native.columns if name != PERSON]
        copies = ibis.row_number().over(group_by=[PERSON, *kept])
        native = native.mutate(**{COPY: copies})
        text = ibis.literal("".join(f"{key % 2**64:016x}" for key in keys))
        for name in (PERSON, *kept, COPY):
            text = text + "|" + native[name].cast("string").fill_null("")
        return native.mutate(**{ORDER: digest(text)}), kept

    def counts(self, rows: Any, names: list[str], by: list[str]) -> Any:
        """By two lists side by side, as texts of a longer table come back in quotes from some."""
        import ibis

        native = rows.to_native()
        which = ibis.array([ibis.literal(name) for name in names]).unnest()
        index = ibis.array([native[name] for name in names]).unnest()
        listed = self.nw.from_native(native.select(*by, **{COLUMN: which, INDEX: index}))
        found = listed.filter(~self.nw.col(INDEX).is_null())
        return found.group_by(*by, COLUMN, INDEX).agg(self.nw.len().alias(COUNT))

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        import pyarrow as pa

        return pa.table(columns)


def letters(value: Any) -> Any:
    """Many databases compare text without regard to case, accents or spaces at its end."""
    if not isinstance(value, str):
        return value
    folded = unicodedata.normalize("NFKD", value.casefold())
    return "".join(c for c in folded if not unicodedata.combining(c)).rstrip()


def _within_python(low: int, high: int) -> tuple[int, int]:
    """Ends in microseconds that are times in Python."""
    least, most = (
        (end - _EPOCH) // dt.timedelta(microseconds=1) for end in (dt.datetime.min, dt.datetime.max)
    )
    return max(low, least), min(high, most)
