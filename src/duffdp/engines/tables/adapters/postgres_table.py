"""Tables of PostgreSQL, through ibis: what its planner and its arithmetic ask for."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar

import numpy as np

from duffdp.domain import Array
from duffdp.engines.query_text import ReadQuery
from duffdp.engines.served_query import compiled, is_query
from duffdp.engines.tables.adapters.ibis_table import IbisTable
from duffdp.engines.tables.adapters.postgres_query import postgres_result
from duffdp.engines.tables.names import VALUE

PAGES = 128  # that a sample reads: ten to thirty thousand rows of most tables
# Beyond these a number has no double, and to ask for it stops the query.
_LARGEST, _SMALLEST = "1.7976931348623157e308", "1e-323"


class PostgresTable(IbisTable):
    """An ibis table of PostgreSQL."""

    rows_back: ClassVar[int] = 2**13
    counts_apart: ClassVar[bool] = True
    own_nan: ClassVar[bool] = True

    def rows(self, columns: dict[str, str]) -> Any:
        self._value = columns.get(VALUE, "")  # that samples are of
        rows = super().rows(columns).to_native()
        # What ibis takes for text may be an enumeration, which compares with none.
        texts = {name: rows[name] + "" for name, kind in rows.schema().items() if kind.is_string()}
        return self.nw.from_native(rows.mutate(**texts) if texts else rows)

    def present(self, rows: Any, name: str) -> Any:
        native = rows.to_native()
        column, kind = native[name], native[name].type()
        if not kind.is_floating() and not kind.is_decimal():
            return self.nw.from_native(native.filter(column.notnull()))
        # nan is above all numbers, and null is not below it.
        return self.nw.from_native(native.filter(column < _number("NaN", kind)))

    def doubles(self, rows: Any, name: str) -> Any:
        import ibis

        native = rows.to_native()
        column, kind = native[name], native[name].type()
        largest, smallest = _number(_LARGEST, kind), _number(_SMALLEST, kind)
        clamped = ibis.least(ibis.greatest(column, -largest), largest)
        double = ibis.cases((column.abs() < smallest, 0.0), else_=clamped.cast("float64"))
        return self.nw.from_native(native.mutate(**{name: double}))

    def literal_frame(self, rows: Any, columns: dict[str, list[Any]]) -> Any:
        """A list of a query's own: a temporary table keeps other processes from helping, and cannot
        be made where nothing may be written.
        """
        import ibis

        known, server = rows.to_native().schema(), self.native.get_backend()
        types = {name: known.get(name, ibis.dtype("int64")) for name in columns}
        listed = zip(*(map(_text, values) for values in columns.values()), strict=True)
        # No text of this database has a zero character: no record is equal to it.
        possible = [row for row in listed if not any("\0" in text for text in row)]
        lists = ", ".join(
            f"CAST({_list([row[at] for row in possible])} AS "
            f"{server.compiler.type_mapper.to_string(kind)}[])"
            for at, kind in enumerate(types.values())
        )
        names = ", ".join(f'"{name}"' for name in columns)
        query = f"SELECT * FROM UNNEST({lists}) AS listed({names})"
        return self.nw.from_native(server.sql(query, schema=ibis.schema(types)))

    def queried(self, read: ReadQuery) -> Any:
        return postgres_result(read, self.native)

    def sample(self, rows: Any, name: str) -> Array | None:
        import ibis.expr.operations as ops

        table = self.native.op()
        if not isinstance(table, ops.DatabaseTable) or is_query(table):
            return None
        from psycopg.sql import Identifier

        connection = self.native.get_backend().con
        parts = [part for part in (table.namespace.database, table.name) if part is not None]
        exact = Identifier(*parts).as_string(connection)
        size = "SELECT pg_relation_size(to_regclass(%s)) / current_setting('block_size')::int"
        with connection.transaction():
            ((pages,),) = connection.execute(size, [exact]).fetchall()
        if not pages or pages < 4 * PAGES:  # it is no table with pages of its own, or a short one
            return None
        some = self.nw.from_native(self.native.sample(PAGES / pages, method="block"))
        sampled = PostgresTable(self.nw, some, self.schema)
        found = sampled.present(sampled.rows({VALUE: self._value}), VALUE)
        if self.schema[self._value] == self.nw.Decimal:
            found = sampled.doubles(found, VALUE)
        return np.array(self.fetch(found)[VALUE], dtype=np.float64)

    def fetch(self, rows: Any) -> dict[str, Any]:
        """By one answer. A cursor of the server, as ibis has it, would rule out that several
        processes work for it.
        """
        import ibis.expr.operations as ops

        native = rows.to_native()
        if self.native.op().find((ops.InMemoryTable, ops.ScalarUDF)):  # ibis must send them first
            return super().fetch(rows)
        server = native.get_backend()
        with server.con.transaction(), server.con.cursor(binary=True) as cursor:
            found = cursor.execute(compiled(native)).fetchall()
        columns = zip(*found, strict=True) if found else [()] * len(native.columns)
        return dict(zip(native.columns, map(list, columns), strict=True))


def _number(text: str, kind: Any) -> Any:
    import ibis

    return ibis.literal(text).cast("decimal" if kind.is_decimal() else "float64")


def _text(value: Any) -> str:
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, bool):  # rows have numbers for it
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def _list(texts: list[str]) -> str:
    """A list of texts in SQL, as one text, which takes no time to parse."""
    parts = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    listed = ",".join(f'"{part}"' for part in parts).replace("'", "''")
    return f"'{{{listed}}}'"
