"""DuckDB relations: SQL for operations that narwhals does not have, and frames that DuckDB reads.

No name is left behind in the connection of the caller.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from duffdp._engines.adapters.arrow_stream import batches
from duffdp._engines.adapters.query import NarwhalsQuery
from duffdp._engines.files.fields import FILE_ZONE
from duffdp._engines.libraries import DataType, Frame, Narwhals
from duffdp._engines.queries.names import COLUMN_NAME, COPY, COUNT, INDEX, ORDER, PERSON, PLACE
from duffdp.domain import Array
from duffdp.errors import UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_PIECES = {"float64": "DOUBLE", "int64": "BIGINT", "uint64": "UBIGINT"}
_LETTERS = ' COLLATE "C"'
# Where these are compared or joined, and lie in memory of Python, DuckDB hands the other side to
# Python, which cannot take all of it. What looks like a computed column stays with DuckDB.
_NOT_PUSHED = ("UBIGINT", "TIMESTAMP WITH TIME ZONE")
_NUMBERS = count()  # of tables and views, so that no two have one name


@dataclass
class DuckdbRelation(NarwhalsQuery):
    """A DuckDB relation."""

    sums_overflow = False  # they have 128 bits
    caps_values = True
    _tables: list[str] = field(default_factory=list)

    def rows(self, columns: dict[str, str]) -> Frame:
        native, parts = self.frame.to_native(), []
        types = dict(zip(native.columns, native.types, strict=True))
        for new, name in columns.items():
            text = isinstance(self.schema[name], self.nw.String | self.nw.Enum)
            # A collation may take different letters for the same. Columns go by their places,
            # whatever their names are.
            at = f"#{native.columns.index(name) + 1}{'::VARCHAR' if text else ''}"
            if text or str(types[name]) in _NOT_PUSHED:
                at = f"coalesce({at}, NULL)"
            parts.append(f'{at}{_LETTERS if text else ""} AS "{new}"')
        return self.as_frame(native.project(", ".join(parts)))

    def literal_frame(self, rows: Frame, columns: dict[str, list[Any]]) -> Frame:
        native = rows.to_native()
        declared = dict(zip(native.columns, map(str, native.types), strict=True))
        types = {name: declared.get(name, "BIGINT") for name in columns}
        parts = [
            f'"{name}"{_LETTERS if types[name] == "VARCHAR" else ""} AS "{name}"'
            for name in columns
        ]
        return self.as_frame(self._listed(columns, types).project(", ".join(parts)))

    def doubles(self, rows: Frame, name: str) -> Frame:
        """Through text: DuckDB's own way errs in the last bit for more than 15 digits."""
        text = self.nw.col(name).cast(self.nw.String)
        return rows.with_columns(text.cast(self.nw.Float64))

    def clock(self, rows: Frame, name: str, ends: tuple[int, int]) -> tuple[Frame, str]:
        native, column = rows.to_native(), f'"{name}"'
        dtype: Any = rows.collect_schema()[name]
        unit = "us"
        if dtype == self.nw.Date:
            day, unit = "DATE '1970-01-01'", "D"
            days = (f"({day} + ({end // 86_400_000_000})::INTEGER)" for end in ends)
            number = f"({_between(column, *days)} - {day})"
        elif dtype.time_unit == "ns":
            # Far from the ends of 64 bits, which stand for infinity; then rounded down.
            exact = f"greatest(epoch_ns({column}), {1000 - 2**63})"
            number = f"(({exact} - ({exact} % 1000 + 1000) % 1000) // 1000)"
        else:
            kind = str(dict(zip(native.columns, native.types, strict=True))[name])
            make = "make_timestamp" if dtype.time_zone is None else "make_timestamptz"
            moments = (f"{make}(({end})::BIGINT)::{kind}" for end in ends)
            number = f"epoch_us({_between(column, *moments)})"
        return self.as_frame(_replaced(native, name, number)), unit

    def cap(self, rows: Frame, keys: tuple[int, ...], limit: int, *within: str) -> Frame:
        native = self._with_random_order(rows, keys)
        place = f"row_number() OVER (PARTITION BY {', '.join((PERSON, *within))} ORDER BY {ORDER})"
        capped = native.project(f"*, {place} AS {PLACE}").filter(f"{PLACE} <= {limit}")
        return self.as_frame(capped.project(f"* EXCLUDE ({COPY}, {ORDER}, {PLACE})"))

    def cap_per_column(
        self, rows: Frame, keys: tuple[int, ...], limit: int, names: list[str]
    ) -> Frame:
        unchanged = [name for name in rows.collect_schema() if name not in names]
        native, listed = self._with_random_order(rows, keys), ", ".join(names)
        window = f"OVER (PARTITION BY {PERSON} ORDER BY {ORDER} ROWS UNBOUNDED PRECEDING)"
        parts = [f"CASE WHEN count({n}) {window} <= {limit} THEN {n} END AS {n}" for n in names]
        capped = native.project(", ".join([*unchanged, *parts]))
        return self.as_frame(capped.filter(f"coalesce({listed}) IS NOT NULL"))

    def _with_random_order(self, rows: Frame, keys: tuple[int, ...]) -> Any:
        """Rows with COPY, which numbers those of a person by what is in them, and ORDER."""
        native = rows.to_native()
        columns = ", ".join(f'"{name}"' for name in native.columns if name != PERSON)
        copy = f"row_number() OVER (PARTITION BY {PERSON} ORDER BY hash({columns}))"
        # Mixed again after each key went in: a key alone would turn the orders of all people alike.
        person = f"hash(hash({PERSON}, ({keys[0]})::BIGINT))"
        row = f"hash(hash({COPY}, ({keys[1]})::BIGINT))"
        numbered = native.project(f"*, {copy} AS {COPY}")
        return numbered.project(f"*, hash(hash({person}, {row})) AS {ORDER}")

    def stored(self, rows: Frame) -> Frame:
        """In a table of the session, which may spill to disk."""
        table = f'temp.main."duffdp people {next(_NUMBERS)}"'
        self._tables.append(table)
        with statements(rows.to_native()) as (run, source):
            run(f"CREATE TEMP TABLE {table} AS SELECT * FROM {source}")
            return self.as_frame(run(f"SELECT * FROM {table}"))

    def drop(self) -> None:
        from duckdb import Error

        while self._tables:
            # What cannot be dropped went with its transaction, or with its connection.
            with suppress(Error), statements(self.frame.to_native()) as (run, _):
                run(f"DROP TABLE IF EXISTS {self._tables.pop()}")

    def counts(self, rows: Frame, names: list[str], by: list[str]) -> Frame:
        """By several groupings of one query, which is quicker here than a longer table."""
        native, quoted = rows.to_native(), [f'"{name}"' for name in names]
        sets = ", ".join(f"({', '.join([*by, name])})" for name in quoted)
        name_cases = " ".join(f"WHEN GROUPING(\"{name}\") = 0 THEN '{name}'" for name in names)
        parts = [
            *by,
            f"CASE {name_cases} END AS {COLUMN_NAME}",
            f"coalesce({', '.join(quoted)}) AS {INDEX}",
            f"count(*) AS {COUNT}",
        ]
        counted = native.aggregate(", ".join(parts), f"GROUPING SETS ({sets})")
        return self.as_frame(counted.filter(f"{INDEX} IS NOT NULL"))

    def sample(self, rows: Frame, name: str) -> tuple[Array, float] | None:
        with statements(rows.to_native()) as (run, source):
            records = run(f'SELECT "{name}" AS {INDEX} FROM {source} USING SAMPLE 1% (system)')
            records = np.ma.compressed(self.fetch(self.as_frame(records))[INDEX])
        return records if records.dtype.kind in "fiu" else records.astype(np.float64), 0.01

    def piece_type(self, dtype: DataType) -> str | None:
        if dtype.is_float():
            return "float64"
        if dtype.is_integer() and dtype not in (self.nw.Int128, self.nw.UInt128):
            return "uint64" if dtype == self.nw.UInt64 else "int64"
        return None

    def pieces(self, rows: Frame, types: dict[str, str]) -> Iterator[list[Array]]:
        parts = (f'"{name}"::{_PIECES[kind]}' for name, kind in types.items())
        native = rows.to_native().project(", ".join(parts))

        def count() -> int:
            (total,) = native.aggregate("count(*)").fetchone()
            return int(total)

        return batches(native.__arrow_c_stream__(), list(types.values()), count)

    def fetch(self, rows: Frame) -> dict[str, Any]:
        native = rows.to_native()
        # Integers of 128 bits come back as doubles otherwise.
        parts = [
            f'"{name}"{"::VARCHAR" if str(kind) in ("HUGEINT", "UHUGEINT") else ""} AS "{name}"'
            for name, kind in zip(native.columns, native.types, strict=True)
        ]
        return dict(native.project(", ".join(parts)).fetchnumpy())

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        return self._listed(
            columns, dict(zip(columns, map(_type_of, columns.values()), strict=True))
        )

    def _listed(self, columns: dict[str, list[Any]], types: dict[str, str]) -> Any:
        """A relation of lists, in the connection of the data: made from one row that is there in
        any case.
        """
        from duckdb import ConstantExpression, FunctionExpression

        parts = []
        for name, values in columns.items():
            texts = ConstantExpression(list(map(_text, values)))
            parts.append(FunctionExpression("unnest", texts.cast(f"{types[name]}[]")).alias(name))
        return self.frame.to_native().limit(0).aggregate("count(*)").select(*parts)


@contextmanager
def statements(native: Any) -> Iterator[tuple[Callable[[str], Any], str]]:
    """A function that runs statements in a relation's connection, and the relation's name there: a
    name of its own, because that of a caller's view or of another thread would be taken over.
    """
    name = f"duffdp rows {next(_NUMBERS)}"
    run = partial(native.query, name)
    try:
        yield run, f'"{name}"'
    finally:
        run(f'DROP VIEW "{name}"')


def _between(column: str, low: str, high: str) -> str:
    return f"least(greatest({column}, {low}), {high})"


def _replaced(native: Any, name: str, expression: str) -> Any:
    return native.project(f'* REPLACE ({expression} AS "{name}")')


def _text(value: Any) -> str | None:
    """A public value as a text that DuckDB casts back to it."""
    if value is None:
        return None
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    return value.isoformat() if isinstance(value, dt.date) else str(value)


def _type_of(values: list[Any]) -> str:
    """The type of a column of an answer."""
    values = [value for value in values if value is not None] or [None]
    first = values[0]
    if isinstance(first, Decimal):
        scale = max(0, *(-int(value.as_tuple().exponent) for value in values))
        return f"DECIMAL(38, {scale})"
    if isinstance(first, dt.datetime):
        return "TIMESTAMP" if first.tzinfo is None else "TIMESTAMPTZ"
    kinds = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
    return "DATE" if isinstance(first, dt.date) else kinds.get(type(first), "VARCHAR")


# DuckDB's optimizers that let one record decide whether a query fails, past TRY: one takes parts
# out of TRY that occur twice; the other evaluates parts for the least and the largest value of a
# column, and drops parts that these values rule out.
UNSAFE = frozenset(("common_subexpressions", "statistics_propagation"))
_SETTING = "disabled_optimizers"
_CHANGED = RLock()  # held while a setting of a caller's database is changed


class DuckdbInput(NamedTuple):
    """A DuckDB source: its columns and types, the reader of its rows, the time zone of its instants
    (None: that of the session), and the clean-up after reading.
    """

    types: DuckDBPyRelation
    rows: Callable[[], DuckDBPyRelation]
    zone: str | None
    close: Callable[[], None] | None = None


def duckdb_input(
    nw: Narwhals, frame: Any, columns: Sequence[str], connect: Callable[[], DuckDBPyConnection]
) -> DuckdbInput | None:
    """Some columns of a frame of narwhals; None if its rows are not on this machine."""
    kind, native = frame.implementation, frame.to_native()
    if kind.is_duckdb():
        session = CallerSession(native)
        return DuckdbInput(native, session.begin, None, session.end)
    if not (kind.is_pandas() or kind.is_polars() or kind.is_pyarrow()):
        return None
    schema = frame.collect_schema()
    for name in columns:
        declared = native.dtypes[name] if kind.is_pandas() else None
        if not _can_be_read(nw, schema[name], declared):
            raise UnsupportedData(
                f"sql: the column {name!r} has the type "
                f"{schema[name] if declared is None else declared}, of which DuckDB cannot read "
                "every value. Convert it to numbers, text, dates, or times in microseconds."
            )
    connection, selected = connect(), frame.select(*columns)

    def relation(table: Any) -> DuckDBPyRelation:
        return connection.from_arrow(table.lazy().collect("pyarrow").to_native())

    return DuckdbInput(relation(selected.head(0)), lambda: relation(selected), FILE_ZONE)


class CallerSession:
    """A caller's relation, with unsafe optimizers of its database off from `begin` to `end`.

    The setting is one of the whole database, so releases in several threads wait for one another:
    the first one to end would turn the optimizers on for all.
    """

    def __init__(self, relation: DuckDBPyRelation) -> None:
        self._relation = relation
        self._begun = False
        self._added: set[str] = set()
        if not self._disabled() >= UNSAFE and self._ask("lock_configuration") == "true":
            names = ",".join(sorted(UNSAFE | self._disabled()))
            raise UnsupportedData(
                f"sql needs {_SETTING} of the DuckDB connection, which is locked. Run SET "
                f"{_SETTING} = '{names}' before SET lock_configuration = true."
            )

    def begin(self) -> DuckDBPyRelation:
        """The relation, ready to be read."""
        if not self._begun:
            _CHANGED.acquire()
            self._begun = True
            disabled = self._disabled()
            self._added = set(UNSAFE - disabled)
            self._disable(disabled | self._added)
        return self._relation

    def end(self) -> None:
        """Leave the setting as it was before `begin`."""
        from duckdb import Error

        if not self._begun:
            return
        self._begun = False
        try:
            self._disable(self._disabled() - self._added)
        except Error:
            pass  # a connection that is closed, or a database that is of no use any more
        finally:
            _CHANGED.release()

    def _disabled(self) -> set[str]:
        return set(filter(None, self._ask(_SETTING).split(",")))

    def _disable(self, names: set[str]) -> None:
        if names != self._disabled():
            with statements(self._relation) as (run, _):
                run(f"SET {_SETTING} = '{','.join(sorted(names))}'")

    def _ask(self, setting: str) -> str:
        with statements(self._relation) as (run, _):
            (setting_value,) = run(f"SELECT current_setting('{setting}')::VARCHAR").fetchone() or (
                None,
            )
        return setting_value or ""


def _can_be_read(nw: Narwhals, dtype: Any, declared: Any) -> bool:
    """True if every value of a type can be handed to DuckDB, and none decides what others are;
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
    readable = (nw.Boolean, nw.String, nw.Categorical, nw.Enum, nw.Date, nw.Datetime)
    return isinstance(dtype, readable) or (
        bool(dtype.is_numeric()) and dtype not in (nw.Int128, nw.UInt128)
    )
