"""Tables of a database server, by an address such as postgresql://user@host/db::schema.table.

The work is done by the server, through ibis; what comes back are counts.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote

from duffdp.engines.served_query import compiled
from duffdp.errors import DuffError, UnsupportedData
from duffdp.optional import load

SCHEMES = ("postgresql", "postgres")
SEPARATOR = "::"
_FORM = "postgresql://user@host/database::schema.table"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# What names a table of a server rather than a file, an address that became a path too.
ADDRESS = re.compile(rf"{_SCHEME.pattern}|(?i:{'|'.join(SCHEMES)}):/")
# A name as it stands in the database, or in quotation marks, doubled inside, as in SQL.
_NAME = r'("(?:[^"]|"")+"|[^".]+)'
_TABLE = re.compile(rf"(?:{_NAME}\.)?{_NAME}")
# What a server says about a query that it refuses, by its code (PostgreSQL, appendix A).
_REFUSED = {"42501": "the user may not read it"}
_DIGITS = 38
# What ibis takes money for, and what holds all of it.
_MONEY = ("decimal(19, 4)", f"decimal({_DIGITS}, 4)")
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_FOUND = (
    "SELECT n.nspname, c.relname FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', "
    "'m', 'f') AND "
)


class Address(NamedTuple):
    """A server with a database and, in it, a table."""

    server: str  # as the driver connects to it: it may hold a password
    public: str  # the same without one, for errors
    schema: str | None
    table: str


def read_address(name: str) -> Address:
    """The parts of an address, checked; no error quotes what could be a password."""
    scheme = name.partition(":")[0].lower()
    if scheme not in SCHEMES:
        raise UnsupportedData(
            f"addresses of databases begin with postgresql://, got {scheme}://. For another "
            "database pass a table of ibis; files are read from disks."
        )
    if not _SCHEME.match(name):
        raise UnsupportedData(
            "an address is a text, and no path: a path has no two slashes in a row. Pass it as it "
            f"is, {_FORM!r}."
        )
    server, table = _split(name)
    public = _without_password(server)
    if not table:
        raise UnsupportedData(f"the address {public!r} names no table. Write it as {_FORM!r}.")
    named = _TABLE.fullmatch(table)
    if named is None:
        raise UnsupportedData(
            f"the table of an address is a name, or a schema, a dot and a name, got {table!r}. "
            "Write a name with dots or quotation marks as in SQL: "
            f"'...{SEPARATOR}clinic.\"people.2024\"'."
        )
    schema, own = named.groups()
    return Address(server, public, None if schema is None else _unquoted(schema), _unquoted(own))


def printable(name: str) -> str:
    """The name of a source as an error may quote it."""
    if not ADDRESS.match(name):
        return name
    try:
        return read_address(name).public
    except DuffError:
        return "the address of a database"


def _split(name: str) -> tuple[str, str]:
    """The server and the table. Colons in a password and in a numeric host do not part them."""
    begin = name.index("://") + 3
    end = min((at for sign in "/?" if (at := name.find(sign, begin)) >= 0), default=len(name))
    begin = name.find("@", begin, end) + 1 or begin
    if name.startswith("[", begin):
        begin = max(name.find("]", begin, end), begin)
    at = name.find(SEPARATOR, begin)
    return (name, "") if at < 0 else (name[:at], name[at + len(SEPARATOR) :])


def _without_password(server: str) -> str:
    """An address as it may be printed: user, host, port and database, as the driver reads them."""
    load("psycopg", "postgres")
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = {name: str(part) for name, part in conninfo_to_dict(server).items()}
    except ProgrammingError:
        parts = {"host": "@"}
    host, port, database = (parts.get(name, "") for name in ("host", "port", "dbname"))
    # A sign of a password that was not escaped would make a part of it one of these.
    if "@" in host + database or re.fullmatch(r"[0-9,]*", port) is None:
        raise UnsupportedData(
            f"the address of the database cannot be read. Write it as {_FORM!r}, and signs such as "
            "@ : / ? % in a user or a password as %40 %3A %2F %3F %25."
        )
    user = f"{quote(parts['user'])}@" if "user" in parts else ""
    return f"postgresql://{user}{host}{f':{port}' if port else ''}/{database}"


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


class ServedTable:
    """A table of a server, which is connected to for its columns, and again for its rows.

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
            needed = columns if view is None else self.types.columns
            self._check_rights([name for name in needed if name in self.types.columns])
        finally:
            self.close()

    def rows(self) -> Any:
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
                "port, user, password and database; a password may also stand in PGPASSWORD or in "
                "a password file."
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
            found = server.con.execute(f"{_FOUND} c.oid = to_regclass(%s)", [exact]).fetchone()
            if found is not None:
                place = (server.con.info.dbname, found[0])
                table = _within_types(server.table(found[1], database=place))
                return table if self._view is None else self._view(table)
            listed = server.con.execute(
                f"{_FOUND} n.nspname = coalesce(%s, current_schema())", [schema]
            ).fetchall()
        except DuffError:
            raise
        except Exception as error:
            raise self._unreadable(error) from None
        known = [name for _, name in listed]
        near = difflib.get_close_matches(table, known, 3, 0.5) or sorted(known)[:8]
        raise UnsupportedData(
            f"there is no table {self._dotted!r} in {self._address.public!r}. Hint: "
            f"{', '.join(map(repr, near)) or 'that schema has none, or there is no such schema'}."
        )

    def _check_rights(self, columns: list[str]) -> None:
        """Whether the user may read them: a query that asks for no row."""
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
            f"cannot read {self.name!r}: {reason}. Check schema, table and rights."
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
