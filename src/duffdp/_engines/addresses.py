"""Tables of a database server, by an address such as postgresql://user@host/db::schema.table.

The work is done by the server, through ibis; what comes back are counts.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote

from duffdp._optional import load
from duffdp.errors import DuffError, SourceError, UnsupportedData

SCHEMES = ("postgresql", "postgres")
SEPARATOR = "::"
_FORM = "postgresql://user@host/database::schema.table"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# What names a table of a server rather than a file, an address that became a path too.
ADDRESS = re.compile(rf"{_SCHEME.pattern}|(?i:{'|'.join(SCHEMES)}):/")
# A name as it stands in the database, or in quotation marks, doubled inside, as in SQL.
_NAME = r'("(?:[^"]|"")+"|[^".]+)'
_TABLE = re.compile(rf"(?:{_NAME}\.)?{_NAME}")


class Address(NamedTuple):
    """The address of a table: a server, a database and the table in it."""

    server: str  # as the driver connects to it: it may hold a password
    public: str  # the same without one, for errors
    schema: str | None
    table: str


def read_address(name: str) -> Address:
    """The parts of an address, checked; no error quotes what could be a password."""
    scheme = name.partition(":")[0].lower()
    if scheme not in SCHEMES:
        raise SourceError(
            f"duffdp reads files on this machine and tables at postgresql://, got {scheme}://. "
            "Download the file; in Python, open it with DuckDB, Polars, Spark or ibis and use the "
            "frame."
        )
    if not _SCHEME.match(name):
        raise UnsupportedData(
            "pass a database address as str, not as Path: a Path cannot hold its two slashes. "
            f"Write it as text, {_FORM!r}."
        )
    server, table = _split(name)
    public = _without_password(server)
    if not table:
        raise UnsupportedData(f"the address {public!r} names no table. Write it as {_FORM!r}.")
    named = _TABLE.fullmatch(table)
    if named is None:
        raise UnsupportedData(
            f"an address must end in TABLE or SCHEMA.TABLE, got {table!r}. Quote a name with "
            "dots as in SQL: "
            f"'...{SEPARATOR}clinic.\"people.2024\"'."
        )
    schema, table_name = named.groups()
    return Address(
        server, public, None if schema is None else _unquoted(schema), _unquoted(table_name)
    )


def has_password(name: str) -> bool:
    """True if an address holds a password, or cannot be read."""
    load("psycopg", "postgres")
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        return any(part.endswith("password") for part in conninfo_to_dict(_split(name)[0]))
    except (ProgrammingError, ValueError):
        return True


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
            f"the address of the database cannot be read. Write it as {_FORM!r}, and characters "
            "such as @ : / ? % in a user or password as %40 %3A %2F %3F %25."
        )
    user = f"{quote(parts['user'])}@" if "user" in parts else ""
    return f"postgresql://{user}{host}{f':{port}' if port else ''}/{database}"


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
