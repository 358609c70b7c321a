"""PostgreSQL tables, through ibis: connections, queries, and SQL over them.

All work is done by the server; what comes back are counts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from duffdp._engines.adapters.ibis import IbisTable
from duffdp._engines.addresses import SEPARATOR, read_address
from duffdp._engines.files.fields import quote_name, quote_text
from duffdp._engines.files.format import RowSource
from duffdp._engines.libraries import Frame, missing_column
from duffdp._engines.queries.names import VALUE
from duffdp._engines.sql.expressions import Kind, RowExpressions, Words
from duffdp._engines.sql.parse import ReadQuery
from duffdp._optional import load
from duffdp.domain import Array
from duffdp.errors import DuffError, UnsupportedData, did_you_mean, quoted_names

# What a server says about a query that it refuses, by its code (PostgreSQL, appendix A).
_REFUSED = {"42501": "the user may not read it"}
_DIGITS = 38
# What ibis takes money for, and what holds all of it.
_MONEY = ("decimal(19, 4)", f"decimal({_DIGITS}, 4)")
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_SELECT_TABLE = (
    "SELECT n.nspname, c.relname FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', "
    "'m', 'f') AND "
)
PAGES = 128  # that a sample reads: ten to thirty thousand rows of most tables
# Beyond these a number has no double, and to ask for it stops the query.
_LARGEST, _SMALLEST = "1.7976931348623157e308", "1e-323"


class PostgresTable(IbisTable):
    """An ibis table of PostgreSQL."""

    max_result_rows: ClassVar[int] = 2**13
    has_custom_missing: ClassVar[bool] = True
    side_by_side = True
    untested = False
    exact_texts = True
    sends_queries = True

    def without_rows(self) -> None:
        """The tests run all queries on this one."""

    def rows(self, columns: dict[str, str]) -> Frame:
        self._value = columns.get(VALUE, "")  # that samples are of
        return super().rows(columns)

    def _named(self, columns: dict[str, str]) -> Any:
        native, texts = self.native, self._texts(columns)
        if not texts:
            return super()._named(columns)
        # Collations may take different people for the same, and what ibis takes for text may be an
        # enumeration, which compares with none.
        form = dict.fromkeys(texts, 'CAST({} AS text) COLLATE "C"')
        parts = (
            f"{form.get(name, '{}').format(quote_name(name))} AS {quote_name(new)}"
            for new, name in columns.items()
        )
        query = f"SELECT {', '.join(parts)} FROM ({compiled(native)}) AS source"
        types = {new: native[name].type() for new, name in columns.items()}
        return query_table(native.get_backend(), query, types)

    def present(self, rows: Frame, name: str) -> Frame:
        native = rows.to_native()
        column, kind = native[name], native[name].type()
        if not kind.is_floating() and not kind.is_decimal():
            return self.as_frame(native.filter(column.notnull()))
        # nan is above all numbers, and null is not below it.
        return self.as_frame(native.filter(column < _number("NaN", kind)))

    def doubles(self, rows: Frame, name: str) -> Frame:
        import ibis

        native = rows.to_native()
        column, kind = native[name], native[name].type()
        largest, smallest = _number(_LARGEST, kind), _number(_SMALLEST, kind)
        clamped = ibis.least(ibis.greatest(column, -largest), largest)
        double = ibis.cases((column.abs() < smallest, 0.0), else_=clamped.cast("float64"))
        return self.as_frame(native.mutate(**{name: double}))

    def literal_frame(self, rows: Frame, columns: dict[str, list[Any]]) -> Frame:
        """A list of a query's own: a temporary table keeps other processes from helping, and cannot
        be made where nothing may be written.
        """
        import ibis

        schema, server = rows.to_native().schema(), self.native.get_backend()
        types = {name: schema.get(name, ibis.dtype("int64")) for name in columns}
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
        return self.as_frame(server.sql(query, schema=ibis.schema(types)))

    def queried(self, read: ReadQuery) -> Any:
        return postgres_result(read, self.native)

    def sample(self, rows: Frame, name: str) -> tuple[Array, float] | None:
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
        block_sample = self.as_frame(self.native.sample(PAGES / pages, method="block"))
        sampled = PostgresTable(self.nw, block_sample, self.schema)
        values = sampled.present(sampled.rows({VALUE: self._value}), VALUE)
        if self.schema[self._value] == self.nw.Decimal:
            values = sampled.doubles(values, VALUE)
        return np.array(self.fetch(values)[VALUE], dtype=np.float64), PAGES / pages

    def fetch(self, rows: Frame) -> dict[str, Any]:
        """By one answer. A cursor of the server, as ibis has it, would rule out that several
        processes work for it.
        """
        native = rows.to_native()
        if self._of_this_machine:
            return super().fetch(rows)
        server = native.get_backend()
        with server.con.transaction(), server.con.cursor(binary=True) as cursor:
            records = cursor.execute(compiled(native)).fetchall()
        columns = zip(*records, strict=True) if records else [()] * len(native.columns)
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


class ServedTable:
    """A table of a server, with one connection for its columns and another one for its rows.

    All queries of a release see the rows that were there at the first one. `view` makes another
    table of it, all columns of which are needed.
    """

    def __init__(
        self, name: str, columns: list[str], view: Callable[[Any], Any] | None = None
    ) -> None:
        self._address = address = read_address(name)
        dotted = address.table if address.schema is None else f"{address.schema}.{address.table}"
        self._dotted, self.name = dotted, f"{address.public}{SEPARATOR}{dotted}"
        self._server: Any = None
        self._view = view
        #: In which it gives instants: as the server, the role or the address says.
        self.zone: str | None = None
        try:
            self.types = self._table(self._connect())
            to_check = columns if view is None else self.types.columns
            self._check_rights([name for name in to_check if name in self.types.columns])
        finally:
            self.close()

    def source(self) -> RowSource:
        """Its columns, and what reads its rows."""
        return RowSource(self.name, self.types, self._rows, close=self.close, zone=self.zone)

    def _rows(self) -> Any:
        """The table as an expression of ibis, in a transaction that sees one state of it."""
        server = self._connect()
        try:
            server.con.execute(_SNAPSHOT)
            return self._table(server)
        except DuffError:
            raise
        except Exception as error:
            raise self._unreadable(error) from None

    def close(self) -> None:
        """End the connection, if there is one."""
        if self._server is not None:
            self._server.con.close()
            self._server = None

    def _connect(self) -> Any:
        ibis, psycopg = load("ibis", "postgres"), load("psycopg", "postgres")
        try:
            connection = psycopg.connect(
                self._address.server, autocommit=True, fallback_application_name="duffdp"
            )
        except psycopg.Error as error:  # its own words may hold what was typed
            raise UnsupportedData(
                f"cannot connect to {self._address.public!r}: {_why_refused(error)}. Check host, "
                "port, user, password and database. The password can also come from PGPASSWORD "
                "or a password file."
            ) from None
        self.zone = connection.info.parameter_status("TimeZone")
        self._server = ibis.postgres.from_connection(connection)  # which sets it to UTC
        return self._server

    def _table(self, server: Any) -> Any:
        from psycopg.sql import Identifier

        schema, table = self._address.schema, self._address.table
        parts = (table,) if schema is None else (schema, table)
        try:
            exact = Identifier(*parts).as_string(server.con)
            entry = server.con.execute(
                f"{_SELECT_TABLE} c.oid = to_regclass(%s)", [exact]
            ).fetchone()
            if entry is not None:
                place = (server.con.info.dbname, entry[0])
                table = _within_types(server.table(entry[1], database=place))
                return table if self._view is None else self._view(table)
            listed = server.con.execute(
                f"{_SELECT_TABLE} n.nspname = coalesce(%s, current_schema())", [schema]
            ).fetchall()
        except DuffError:
            raise
        except Exception as error:
            raise self._unreadable(error) from None
        table_names = [name for _, name in listed]
        available = (
            f" Available tables: {quoted_names(sorted(table_names))}."
            if table_names
            else " That schema has none, or there is no such schema."
        )
        raise UnsupportedData(
            f"there is no table {self._dotted!r} in {self._address.public!r}."
            f"{did_you_mean(table, table_names) or available}"
        )

    def _check_rights(self, columns: list[str]) -> None:
        """Refuse columns that the user may not read, by a query that asks for no row."""
        if not columns:
            return
        try:
            self._server.con.execute(compiled(self.types.select(*columns).limit(0)))
        except Exception as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> UnsupportedData:
        code = str(getattr(error, "sqlstate", None))
        reason = _REFUSED.get(code, f"the server says {type(error).__name__}")
        return UnsupportedData(
            f"cannot read {self.name!r}: {reason}. Check the schema, the table and your "
            "permissions."
        )


def _within_types(table: Any) -> Any:
    """The table, its decimals of more digits than other engines know without a limit, and money,
    which has no arithmetic with numbers, as a decimal.
    """
    decimals = {name: kind for name, kind in table.schema().items() if kind.is_decimal()}
    as_known = {
        name: "decimal" if (kind.precision or 0) > _DIGITS else _MONEY[1]
        for name, kind in decimals.items()
        if (kind.precision or 0) > _DIGITS or str(kind) == _MONEY[0]
    }
    cast = {name: table[name].cast(kind) for name, kind in as_known.items()}
    return table.mutate(**cast) if cast else table


def _why_refused(error: Any) -> str:
    """Why there is no connection, from what the driver knows and not from its words."""
    connection = getattr(error, "pgconn", None)
    if connection is not None and connection.needs_password:
        return "it asks for a password and got none"
    if connection is not None and connection.used_password:
        return "it refused the password, or the user may not use that database"
    return "no server answers there, or it has no such user or database"


_SCHEMA = "duffdp_query"  # stands for: the name of the table is the query itself


def query_table(server: Any, query: str, types: dict[str, Any]) -> Any:
    """The result of a query, with columns of these types."""
    import ibis
    import ibis.expr.operations as ops

    place = ops.Namespace(database=_SCHEMA)
    operation = ops.DatabaseTable(
        name=query, schema=ibis.schema(types), source=server, namespace=place
    )
    return operation.to_expr()


def compiled(table: Any) -> str:
    """The SQL of an expression of ibis, queries and all."""
    import ibis.expr.operations as ops

    op = table.op()
    if isinstance(op, ops.DatabaseTable) and is_query(op):
        return str(op.name)
    sql: str = table.get_backend().compile(table)
    for source in table.op().find(ops.DatabaseTable):
        if is_query(source):
            name = f"{quote_name(_SCHEMA)}.{quote_name(source.name)}"
            sql = sql.replace(name, f"({source.name})")
    return sql


def is_query(table: Any) -> bool:
    """True if what ibis takes for a table of the server is a query."""
    return bool(table.namespace.database == _SCHEMA)


_OLDEST = 14  # the first version with infinite decimals
_IBIS_TYPES = {
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
    server, schema = table.get_backend(), table.schema()
    _check_server(server, table, read)
    for name in read.columns:
        if name not in schema:
            raise missing_column(name, list(schema))
    kinds = {name: _kind(schema[name]) for name in read.columns}
    rows, outputs, types = RowExpressions(POSTGRES, kinds), [], {}
    for output in read.outputs:
        if output.source is not None:
            text = kinds[output.source] is Kind.text
            sql, types[output.name] = (
                quote_name(output.source),
                "string" if text else schema[output.source],
            )
        else:
            sql, kind = (rows.total if read.groups else rows.output)(output.tree)
            types[output.name] = _IBIS_TYPES[kind]
        outputs.append(f"{sql} AS {quote_name(output.name)}")
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
        raise UnsupportedData(
            f"sql needs PostgreSQL {_OLDEST} or later. Create a view in the database instead."
        )
    if table.op().find((ops.InMemoryTable, ops.ScalarUDF)):
        raise UnsupportedData(
            "sql needs a table in the database, got one with data from this machine. Create the "
            "table there first."
        )
    trees = [
        *(output.tree for output in read.outputs),
        *(() if read.where is None else (read.where,)),
    ]
    for node in (node for tree in trees for node in tree.walk()):
        if type(node).__name__ == "AtTimeZone":  # of an unknown one it complains at the first row
            zone = node.args["zone"].name
            try:
                with server.con.transaction():
                    server.con.execute("SELECT timestamp '2000-01-01' AT TIME ZONE %s", [zone])
            except psycopg.Error:
                raise UnsupportedData(
                    f"sql: PostgreSQL has no time zone {zone!r}. Pass one such as 'Europe/Berlin'."
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
    return next((kind for kind, is_kind in tests.items() if is_kind()), Kind.other)


# SQL that no record can stop. PostgreSQL has no TRY: what would fail is kept out by functions
# around it, and never by a condition beside it, as a planner may take conditions in any order.
# NULLIF, LEAST and GREATEST make what lies outside of two ends missing, and LEAST and GREATEST pass
# over what is missing already. Arithmetic goes by numeric, of which each result is between -1e308
# and 1e308, to 300 decimals: far from its own limits, and a double or 0.
_END, _SCALE = "1e308", 300
_SQL_TYPES = {
    "boolean": "boolean",
    "integer": "numeric",
    "double": "float8",
    "decimal": "numeric",
    "number": "numeric",
    "text": "text",
    "date": "date",
    "time": "timestamp",
    "instant": "timestamptz",
}
_YEARS = {
    "date": ("date '0001-12-31 BC'", "date '10000-01-01'"),
    "time": ("timestamp '0001-12-31 23:59:59.999999 BC'", "timestamp '10000-01-01'"),
    "instant": (
        "timestamptz '0001-12-31 23:59:59.999999+00 BC'",
        "timestamptz '10000-01-01 00:00:00+00'",
    ),
}
_PARTS = ("year", "quarter", "month", "week", "day", "dow", "doy", "hour", "minute", "second")
_NUMBER = (
    "'^[ ]*([+-]?(?:[0-9]{{1,200}}(?:[.][0-9]{{0,200}})?|[.][0-9]{{1,200}})"
    "(?:[eE][+-]?[0-9]{{1,3}})?)[ ]*$'"
)
_READ = f"CAST(substring({{0}} FROM {_NUMBER}) AS numeric)"


def _within(value: str, low: str, high: str) -> str:
    """A value between two ends; missing at them and beyond."""
    return f"NULLIF(NULLIF(LEAST(GREATEST({value}, {low}), {high}), {low}), {high})"


def _finite(value: str) -> str:
    return _within(value, f"-{_END}", _END)


def _clamp_integer(value: str) -> str:
    """A whole number that 64 bits can hold."""
    return _within(value, str(-(2**63) - 1), str(2**63))


def _rounded(value: str) -> str:
    """A number of which the next step takes no longer than it has to."""
    return _finite(f"trim_scale(round({value}, {_SCALE}))")


def _clamp_years(kind: str) -> str:
    return _within("{0}", *_YEARS[kind])


_FORMS = {
    **{f"null {kind}": f"CAST(NULL AS {name})" for kind, name in _SQL_TYPES.items()},
    **{f"near {kind}": _clamp_years(kind) for kind in _YEARS},
    "column double": "({0})::float8",
    "a integer": "({0})",
    "a double": "float8 '{0}'",
    "a date": "date '{0}'",
    "a time": "timestamp '{0}'",
    "a instant": "timestamptz '{0}'",
    "integer result": f"CAST({_clamp_integer('({0})::numeric')} AS int8)",
    "number result": "({0})::float8",
    # conversions
    "integer to number": "({0})::numeric",
    "integer to double": "({0})::float8",
    "double to number": _rounded("({0})::numeric"),
    "decimal to number": _rounded("({0})::numeric"),
    "text to number": _rounded(_READ),
    "text to integer": _within(f"round({_READ})", "{1}", "{2}"),
    "number to integer": _within("round({0})", "{1}", "{2}"),
    "within integer": _within("({0})::numeric", "{1}", "{2}"),
    "within number": _within("{0}", "{1}", "{2}"),
    "boolean to integer": "({0})::int",
    "integer to boolean": "({0} <> 0)",
    "integer to text": '(({0})::text COLLATE "C")',
    "date to time": f"({_clamp_years('date')})::timestamp",
    "time to date": f"({_clamp_years('time')})::date",
    "instant to date": f"({_clamp_years('instant')})::date",
    # what is compared
    "and": "({0} AND {1})",
    "or": "({0} OR {1})",
    "not": "(NOT {0})",
    "compare": "({0} {1} {2})",
    "same": "({0} IS NOT DISTINCT FROM {1})",
    "other": "({0} IS DISTINCT FROM {1})",
    "between": "({0} BETWEEN {1} AND {2})",
    "in": "({0} IN ({1}))",
    "is": "({0} IS {1})",
    "is null": "({0} IS NULL)",
    "like": "({0} LIKE {1} ESCAPE '')",
    "ilike": "({0} ILIKE {1} ESCAPE '')",
    "isnan": "({0} = float8 'NaN')",
    "isinf": "({0} IN (float8 'Infinity', float8 '-Infinity'))",
    # numbers
    "add": _finite("({0} + {1})"),
    "subtract": _finite("({0} - {1})"),
    "multiply": _rounded("({0} * {1})"),
    "divide": _rounded("({0} / NULLIF({1}, 0))"),
    "modulo": "mod({0}, NULLIF({1}, 0))",
    "add integer": _clamp_integer("(({0})::numeric + ({1})::numeric)"),
    "subtract integer": _clamp_integer("(({0})::numeric - ({1})::numeric)"),
    "multiply integer": _clamp_integer("(({0})::numeric * ({1})::numeric)"),
    "whole divide integer": _clamp_integer("div(({0})::numeric, NULLIF(({1})::numeric, 0))"),
    "modulo integer": "mod(({0})::numeric, NULLIF(({1})::numeric, 0))",
    **{name: f"{name}({{0}})" for name in ("abs", "ceil", "floor", "sign")},
    "abs integer": _clamp_integer("abs(({0})::numeric)"),
    "sign integer": "sign(({0})::numeric)",
    "round": _finite("round({0}, {1})"),
    # Any number below 0 is below this one as well.
    "sqrt": f"sqrt(CAST(NULLIF(GREATEST({{0}}, -1e-{_SCALE}), -1e-{_SCALE}) AS float8))",
    "ln": "ln(CAST(NULLIF(GREATEST({0}, 0), 0) AS float8))",
    # texts
    "left": "left({0}, {1})",
    "right": "right({0}, {1})",
    "lower": "lower({0})",
    "upper": "upper({0})",
    "length": "length({0})",
    "contains": "(strpos({0}, {1}) > 0)",
    "starts": "starts_with({0}, {1})",
    "ends": "(right({0}, length({1})) = {1})",
    "substring": "substring({0}, {1}, {2})",
    "replace": "replace({0}, {1}, {2})",
    "trim both": "btrim({0})",
    "trim leading": "ltrim({0})",
    "trim trailing": "rtrim({0})",
    # times
    **{
        f"part {name}": f"floor(extract({name} FROM {{0}}))"
        for name in (
            "year",
            "quarter",
            "month",
            "week",
            "day",
            "dow",
            "doy",
            "hour",
            "minute",
            "second",
        )
    },
    "truncate time": "date_trunc('{1}', {0})",
    "truncate instant": "date_trunc('{1}', {0})",
    "shift time": "({0} {1} INTERVAL '{2} {3}')",
    "shift instant": "({0} {1} INTERVAL '{2} {3}')",
    "time in zone": "({0} AT TIME ZONE {1})",
    "instant in zone": "({0} AT TIME ZONE {1})",
    "difference year": "(extract(year FROM {0}) - extract(year FROM {1}))",
    "difference month": "(extract(year FROM {0}) * 12 + extract(month FROM {0})"
    " - extract(year FROM {1}) * 12 - extract(month FROM {1}))",
    "difference day": "(({0})::date - ({1})::date)",
    **{
        f"difference {unit}": f"div(extract(epoch FROM date_trunc('{unit}', {{0}}))"
        f" - extract(epoch FROM date_trunc('{unit}', {{1}})), {seconds})"
        for unit, seconds in (("hour", 3600), ("minute", 60), ("second", 1))
    },
    # Exact, whatever the order of rows.
    "sum": f"CAST(sum({_within('round({0}, 9)', '-1e17', '1e17')}) AS float8)",
    "avg": f"(CAST(sum({_within('round({0}, 9)', '-1e17', '1e17')}) AS float8)"
    f" / NULLIF(count({_within('round({0}, 9)', '-1e17', '1e17')}), 0))",
}


def _text_literal(text: str) -> str:
    """A text literal that does not depend on the session's rules for backslashes."""
    doubled = text.replace("\\", "\\\\")
    return quote_text(text) if doubled == text else f"E{quote_text(doubled)}"


POSTGRES = Words("PostgreSQL", _FORMS, quote_name, _text_literal, _text_literal)
