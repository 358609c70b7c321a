"""The result of a query over a table of PostgreSQL, as an expression of ibis that the server
runs.
"""

from __future__ import annotations

from typing import Any

from duffdp.engines.delimited import missing_column
from duffdp.engines.expressions import Kind, RowExpressions
from duffdp.engines.query_text import ReadQuery
from duffdp.engines.served_query import query_table
from duffdp.engines.sql import quote_name
from duffdp.engines.tables.adapters.postgres_words import POSTGRES
from duffdp.errors import UnsupportedData

_OLDEST = 14  # the first version with infinite decimals
_TYPES = {
    Kind.boolean: "boolean",
    Kind.integer: "int64",
    Kind.double: "float64",
    Kind.decimal: "decimal",
    Kind.text: "string",
    Kind.date: "date",
    Kind.time: "timestamp(6)",
    Kind.instant: "timestamp('UTC', 6)",
}


def postgres_result(read: ReadQuery, table: Any) -> Any:
    """The result for a table of ibis; types alone decide whether the query fits."""
    server, known = table.get_backend(), table.schema()
    _check_server(server, table, read)
    for name in read.columns:
        if name not in known:
            raise missing_column(name, list(known))
    kinds = {name: _kind(known[name]) for name in read.columns}
    rows, outputs, types = RowExpressions(POSTGRES, kinds), [], {}
    for one in read.outputs:
        if one.source is not None:
            text = kinds[one.source] is Kind.text
            sql, types[one.name] = (
                quote_name(one.source),
                "string" if text else known[one.source],
            )
        else:
            sql, kind = (rows.total if read.groups else rows.output)(one.tree)
            types[one.name] = _TYPES[kind]
        outputs.append(f"{sql} AS {quote_name(one.name)}")
    # Collations may take different people for the same; what ibis calls text may be another type.
    columns = (
        f'CAST({quote_name(name)} AS text) COLLATE "C" AS {quote_name(name)}'
        if kind is Kind.text
        else quote_name(name)
        for name, kind in kinds.items()
    )
    query = (
        f"SELECT {', '.join(outputs)} FROM (SELECT {', '.join(columns)} "
        f"FROM ({server.compile(table)}) AS source) AS data"
    )
    if read.where is not None:
        query += f" WHERE {rows.condition(read.where)}"
    if read.groups:
        query += f" GROUP BY {', '.join(map(quote_name, read.groups))}"
    return query_table(server, query, types)


def _check_server(server: Any, table: Any, read: ReadQuery) -> None:
    import ibis.expr.operations as ops
    import psycopg

    if server.con.info.server_version < _OLDEST * 10_000:
        raise UnsupportedData(f"sql needs PostgreSQL {_OLDEST} or later. Make a view there.")
    if table.op().find((ops.InMemoryTable, ops.ScalarUDF)):
        raise UnsupportedData("sql is for tables of a database, got one with data of this machine.")
    trees = [*(one.tree for one in read.outputs), *(() if read.where is None else (read.where,))]
    for node in (node for tree in trees for node in tree.walk()):
        if type(node).__name__ == "AtTimeZone":  # of an unknown one it complains at the first row
            zone = node.args["zone"].name
            try:
                with server.con.transaction():
                    server.con.execute("SELECT timestamp '2000-01-01' AT TIME ZONE %s", [zone])
            except psycopg.Error:
                raise UnsupportedData(
                    f"sql: PostgreSQL knows no zone {zone!r}. Pass one such as 'Europe/Berlin'."
                ) from None


def _kind(dtype: Any) -> Kind:
    if dtype.is_timestamp():
        return Kind.time if dtype.timezone is None else Kind.instant
    tests = {
        Kind.boolean: dtype.is_boolean,
        Kind.integer: dtype.is_integer,
        Kind.double: dtype.is_floating,
        Kind.decimal: dtype.is_decimal,
        Kind.text: dtype.is_string,
        Kind.date: dtype.is_date,
    }
    return next((kind for kind, holds in tests.items() if holds()), Kind.other)
