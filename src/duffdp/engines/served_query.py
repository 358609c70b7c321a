"""A query of a server as a table of ibis, which is put in where it is named.

ibis would read it first, and has no room for many steps in one another.
"""

from __future__ import annotations

from typing import Any

from duffdp.engines.sql import quote_name

_SCHEMA = "duffdp_query"  # stands for: the name of the table is the query itself


def query_table(server: Any, query: str, types: dict[str, Any]) -> Any:
    """The result of a query, with columns of these types."""
    import ibis
    import ibis.expr.operations as ops

    place = ops.Namespace(database=_SCHEMA)
    made = ops.DatabaseTable(name=query, schema=ibis.schema(types), source=server, namespace=place)
    return made.to_expr()


def compiled(table: Any) -> str:
    """The SQL of an expression of ibis, queries and all."""
    import ibis.expr.operations as ops

    sql: str = table.get_backend().compile(table)
    for found in table.op().find(ops.DatabaseTable):
        if is_query(found):
            name = f"{quote_name(_SCHEMA)}.{quote_name(found.name)}"
            sql = sql.replace(name, f"({found.name})")
    return sql


def is_query(table: Any) -> bool:
    """Whether what ibis takes for a table of the server is a query."""
    return bool(table.namespace.database == _SCHEMA)
