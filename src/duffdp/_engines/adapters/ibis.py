"""ibis tables: expressions that the database behind them runs.

Texts of DuckDB, SQLite and MySQL are compared byte by byte, whatever their collations, because they
are compared as what stands for their bytes.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

from duffdp._engines.adapters.query import NarwhalsQuery, QueryAdapter
from duffdp._engines.libraries import Frame
from duffdp._engines.queries.names import (
    COLUMN_NAME,
    COPY,
    COUNT,
    INDEX,
    ORDER,
    PERSON,
    PLACE,
    VALUE_NAMES,
)
from duffdp.errors import UnsupportedData

_EPOCH = dt.datetime(1970, 1, 1)
_SECONDS_BEFORE_1970 = 62_167_219_200  # since the year 0
_INT64 = range(-(2**63), 2**63)


class IbisTable(NarwhalsQuery):
    """An ibis table of any database. Text equality is treated as unknown, because many databases
    ignore case, accents or spaces at the end.
    """

    floor_returns_integer = True
    side_by_side = False  # many databases have no lists
    untested: ClassVar[bool] = True
    exact_texts: ClassVar[bool] = False  # whether texts are compared byte by byte
    # Whether rows come from a query that ibis does not look into: it has to be of the database.
    sends_queries: ClassVar[bool] = False

    @property
    def untested_engine(self) -> str | None:
        return f"{self.native.get_backend().name} behind ibis" if self.untested else None

    def check_equality(self, name: str) -> None:
        kind, server = self.native[name].type(), self.native.get_backend().name
        fix = (
            "Name a column of numbers, or write the table to a Parquet file and pass its path, "
            "where texts are compared letter by letter."
        )
        if kind.is_string() and not self.exact_texts:
            raise UnsupportedData(
                f"the column {name!r} is text, and {server} behind ibis may treat different "
                f"texts as equal. {fix}"
            )
        if kind.is_string() and self.sends_queries and self._of_this_machine:
            raise UnsupportedData(
                f"the column {name!r} is text, and the table of {server} contains data from this "
                "machine. Create a table or a view in the database first."
            )
        plain = kind.is_string() or kind.is_numeric() or kind.is_boolean() or kind.is_uuid()
        timed = kind.is_date() or kind.is_timestamp() or kind.is_time()
        if not (plain or timed or kind.is_binary()):
            raise UnsupportedData(
                f"the column {name!r} is of type {self.schema[name]}, of which {server} behind "
                f"ibis may treat different values as equal. {fix}"
            )

    def without_rows(self) -> QueryAdapter | None:
        import ibis

        empty = self.native.filter(ibis.literal(False))
        return type(self)(self.nw, self.as_frame(empty), self.schema)

    @property
    def _of_this_machine(self) -> bool:
        """True if ibis has to send data or functions before it sends a query."""
        import ibis.expr.operations as ops

        return bool(self.native.op().find((ops.InMemoryTable, ops.ScalarUDF)))

    def _texts(self, columns: dict[str, str]) -> list[str]:
        """Those of the columns that are compared as texts."""
        if self._of_this_machine:  # then they are values that are there or not
            return []
        return [name for name in columns.values() if self.native[name].type().is_string()]

    def _named(self, columns: dict[str, str]) -> Any:
        """Some columns under new names."""
        native = self.native
        return native.select(
            **{new: self._exact(native[name], new) for new, name in columns.items()}
        )

    def _exact(self, column: Any, new: str) -> Any:
        """A column as it is compared byte by byte."""
        return column

    def rows(self, columns: dict[str, str]) -> Frame:
        native, converted = self._named(columns), {}
        for new in columns:
            column = native[new]
            kind = column.type()
            # DuckDB hands what it joins with to Arrow, which has no way to take such large numbers.
            if kind.is_uint64() and new not in VALUE_NAMES:
                column = column.cast("decimal(20, 0)")
            elif kind.is_boolean():  # PostgreSQL makes 32 bits of it, and no others
                column = column.cast("int32")
            converted[new] = column
        return self.as_frame(native.select(**converted))

    def literal_frame(self, rows: Frame, columns: dict[str, list[Any]]) -> Frame:
        import ibis
        import pyarrow as pa

        schema, sent = rows.to_native().schema(), {}
        for name, values in columns.items():
            # As text what a database could fail to compare with records of its own while it joins.
            as_text = isinstance(values[0], dt.date | Decimal) or not all(
                value in _INT64 for value in values if type(value) is int
            )
            sent[name] = [
                str(value)
                if as_text
                else self.stands_for(value)
                if isinstance(value, str)
                else value
                for value in values
            ]
        literals = ibis.memtable(pa.table(sent))
        typed = {name: literals[name].cast(schema.get(name, "int64")) for name in sent}
        return self.as_frame(literals.select(**typed))

    def doubles(self, rows: Frame, name: str) -> Frame:
        """Through text: DuckDB's own way errs in the last bit for more than 15 digits."""
        text = self.nw.col(name).cast(self.nw.String)
        return rows.with_columns(text.cast(self.nw.Float64))

    def clock(self, rows: Frame, name: str, ends: tuple[int, int]) -> tuple[Frame, str]:
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
        return self.as_frame(native.mutate(**{name: self._microseconds(moment)})), "us"

    def _microseconds(self, moment: Any) -> Any:
        """Whole microseconds from 1970 to a moment."""
        seconds, fraction = moment.epoch_seconds().cast("int64"), moment.microsecond()
        return seconds * 1_000_000 + fraction.cast("int64")

    def cap(self, rows: Frame, keys: tuple[int, ...], limit: int, *within: str) -> Frame:
        import ibis

        native, names = self._with_random_order(rows, keys)
        place = ibis.row_number().over(group_by=[PERSON, *within], order_by=[ORDER, *names, COPY])
        native = native.mutate(**{PLACE: place})
        return self.as_frame(native.filter(native[PLACE] < limit).select(*names, PERSON))

    def cap_per_column(
        self, rows: Frame, keys: tuple[int, ...], limit: int, names: list[str]
    ) -> Frame:
        import ibis

        native, columns = self._with_random_order(rows, keys)
        window = ibis.cumulative_window(group_by=[PERSON], order_by=[ORDER, *columns, COPY])
        counts = {
            name: ibis.cases((native[name].count().over(window) <= limit, native[name]))
            for name in names
        }
        return self.as_frame(native.mutate(**counts).select(*columns, PERSON))

    def _with_random_order(self, rows: Frame, keys: tuple[int, ...]) -> tuple[Any, list[str]]:
        """Rows with what orders those of a person, and the names of all columns but that of
        people.
        """
        import ibis

        digest = self._digest()
        native = rows.to_native()
        names = [name for name in native.columns if name != PERSON]
        # In any order; some databases number rows in no other way.
        copies = ibis.row_number().over(group_by=[PERSON, *names], order_by=[PERSON])
        native = native.mutate(**{COPY: copies})
        text = ibis.literal("".join(f"{key % 2**64:016x}" for key in keys))
        for name in (PERSON, *names, COPY):
            text = text + "|" + native[name].cast("string").fill_null("")
        return native.mutate(**{ORDER: digest(text)}), names

    def _digest(self) -> Any:
        """The function that makes a random order of texts."""
        import ibis

        def md5(text: str) -> str:
            raise NotImplementedError  # the function of that name in the database

        return ibis.udf.scalar.builtin(md5)

    def counts(self, rows: Frame, names: list[str], by: list[str]) -> Frame:
        """By two lists side by side, as texts of a longer table come back in quotes from some."""
        import ibis

        native = rows.to_native()
        column_name = ibis.array([ibis.literal(name) for name in names]).unnest()
        index = ibis.array([native[name] for name in names]).unnest()
        listed = self.as_frame(native.select(*by, **{COLUMN_NAME: column_name, INDEX: index}))
        present = listed.filter(~self.nw.col(INDEX).is_null())
        return present.group_by(*by, COLUMN_NAME, INDEX).agg(self.nw.len().alias(COUNT))

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        import pyarrow as pa

        return pa.table(columns)


def _within_python(low: int, high: int) -> tuple[int, int]:
    """Ends in microseconds that are times in Python."""
    earliest, latest = (
        (end - _EPOCH) // dt.timedelta(microseconds=1) for end in (dt.datetime.min, dt.datetime.max)
    )
    return max(low, earliest), min(high, latest)


class IbisDuckdb(IbisTable):
    """A table of DuckDB through ibis."""

    untested = False
    exact_texts = True
    side_by_side = True

    def stands_for(self, text: str) -> str:
        return text.encode().hex().upper()

    def text_of(self, stored: Any) -> str | None:
        return _text_of_hex(stored, "utf-8")

    def without_rows(self) -> None:
        """The tests run all queries on this one."""

    def _exact(self, column: Any, new: str) -> Any:
        return _hex(column) if column.type().is_string() else column


class IbisSqlite(IbisTable):
    """A SQLite table through ibis, where a field may hold any type: values of another type than the
    column's are missing.
    """

    untested = False
    exact_texts = True
    holds_nan = False  # it keeps null in its place

    def stands_for(self, text: str) -> str:
        return text.encode(self._encoding).hex().upper()

    def text_of(self, stored: Any) -> str | None:
        return _text_of_hex(stored, self._encoding)

    @cached_property
    def _encoding(self) -> str:
        ((encoding,),) = self.native.get_backend().con.execute("PRAGMA encoding").fetchall()
        return str(encoding)

    def _exact(self, column: Any, new: str) -> Any:
        import ibis

        kind, declared = _typeof(column), column.type()
        if declared.is_numeric() or declared.is_boolean():
            return ibis.cases((kind.isin(["integer", "real"]), column))
        if declared.is_string() or new == PERSON:
            return ibis.cases((kind == "text", _hex(column)))
        return column

    def _digest(self) -> Any:
        """SQLite has none: a function of Python, which it calls."""
        import ibis

        def duffdp_md5(text: str) -> str:
            return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()

        return ibis.udf.scalar.python(duffdp_md5)


class IbisMysql(IbisTable):
    """A table of MySQL or MariaDB through ibis.

    Texts are replaced by digests, because windows order long texts by their prefixes alone.
    """

    untested = False
    exact_texts = True
    holds_nan = False
    sends_queries = True
    reads_texts = False

    def stands_for(self, text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    def _named(self, columns: dict[str, str]) -> Any:
        native = self.native
        if not self._texts(columns):
            return super()._named(columns)
        server, parts = native.get_backend(), []
        for new, name in columns.items():
            part = _quoted(name)
            if native[name].type().is_string():
                # People by the bytes of the column: letters that its character set has and no
                # other would become one. Other texts by those of what they are compared with.
                conversion = "CAST({} AS BINARY)" if new == PERSON else "CONVERT({} USING utf8mb4)"
                part = f"SHA2({conversion.format(part)}, 256)"
            parts.append(f"{part} AS {_quoted(new)}")
        query = f"SELECT {', '.join(parts)} FROM ({server.compile(native)}) AS data"
        types = {new: native[name].type() for new, name in columns.items()}
        return server.sql(query, schema=types)

    def _microseconds(self, moment: Any) -> Any:
        """By seconds since the year 0: those since 1970 are missing before 1970 and after 2106."""
        import ibis

        def to_seconds(moment: dt.datetime) -> int:
            raise NotImplementedError  # the function of that name in the database

        seconds = ibis.udf.scalar.builtin(to_seconds)(moment) - _SECONDS_BEFORE_1970
        return seconds.cast("int64") * 1_000_000 + moment.microsecond().cast("int64")


class IbisDatafusion(IbisTable):
    """A DataFusion table through ibis, which compares text byte by byte."""

    untested = False
    exact_texts = True

    def _microseconds(self, moment: Any) -> Any:
        """As the column stores it: seconds since 1970 fail after 2038."""
        return moment.cast("timestamp(6)").cast("int64")


class IbisMssql(IbisTable):
    """A table of SQL Server through ibis."""

    holds_nan = False


BACKENDS = {
    "mssql": IbisMssql,
    "duckdb": IbisDuckdb,
    "sqlite": IbisSqlite,
    "mysql": IbisMysql,
    "datafusion": IbisDatafusion,
}


def _hex(column: Any) -> Any:
    """The bytes of a text as digits, which no collation takes for one another."""
    import ibis

    def hex(text: str) -> str:
        raise NotImplementedError  # the function of that name in the database

    return ibis.udf.scalar.builtin(hex)(column)


def _text_of_hex(stored: Any, encoding: str) -> str | None:
    """The text whose bytes are written as digits; None for bytes that are no text."""
    try:
        return bytes.fromhex(stored).decode(encoding)
    except (TypeError, ValueError):
        return None


def _typeof(column: Any) -> Any:
    import ibis

    def typeof(value) -> str:  # type: ignore[no-untyped-def]  # of any type
        raise NotImplementedError  # the function of that name in the database

    return ibis.udf.scalar.builtin(typeof)(column)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
