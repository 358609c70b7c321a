"""Tables of a database server, by an address such as postgresql://user@host/db::schema.table.

The work is done by the server, through ibis; what comes back are counts.
"""

from __future__ import annotations

import difflib
import re
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from duffdp.errors import UnsupportedData
from duffdp.optional import load

SCHEMES = ("postgresql", "postgres")
SEPARATOR = "::"
_FORM = "postgresql://user@host/database::schema.table"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# What a server says about a connection that it refuses, by its code (PostgreSQL, appendix A).
_REFUSED = {
    "28P01": "it refused the password",
    "28000": "it refused the user",
    "3D000": "it has no such database",
    "42501": "the user may not read it",
}


class Address(NamedTuple):
    """A server with a database and, in it, a table."""

    server: str  # as ibis connects to it: it may hold a password
    public: str  # the same without one, for errors
    schema: str | None
    table: str


def is_address(name: str) -> bool:
    """Whether a text names a table of a server, rather than a file."""
    return _SCHEME.match(name) is not None


def read_address(name: str) -> Address:
    """The parts of an address, checked."""
    server, _, table = name.partition(SEPARATOR)
    scheme = urlsplit(server).scheme.lower()
    if scheme not in SCHEMES:
        raise UnsupportedData(
            f"addresses of databases begin with postgresql://, got {scheme}://. For another "
            "database pass a table of ibis."
        )
    public = without_password(server)
    if not table:
        raise UnsupportedData(f"the address {public!r} names no table. Write it as {_FORM!r}.")
    schema, dot, own = table.rpartition(".")
    return Address(server, public, schema if dot else None, own)


def without_password(server: str) -> str:
    """An address as it may be shown."""
    parts = urlsplit(server)
    user, at, host = parts.netloc.rpartition("@")
    public = parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}", query="", fragment="")
    return public.geturl()


def open_address(name: str) -> tuple[str, Any]:
    """What to call it, and the table: an expression of ibis, of which no row was read."""
    address = read_address(name)
    ibis = load("ibis", "postgres")
    load("psycopg", "postgres")
    try:
        server = ibis.connect(address.server)
    except Exception as error:  # the driver's own words may hold what was typed
        raise UnsupportedData(
            f"cannot connect to {address.public!r}: {_reason(error)}. Check the address, the user "
            "and the password, which may also stand in PGPASSWORD or in a password file."
        ) from None
    name = f"{address.public}{SEPARATOR}{_dotted(address)}"
    try:
        known = server.list_tables(database=address.schema)
        if address.table in known:
            return name, server.table(address.table, database=address.schema)
    except Exception as error:
        raise UnsupportedData(
            f"cannot read {name!r}: {_reason(error)}. Check schema and table."
        ) from None
    near = difflib.get_close_matches(address.table, known, 3, 0.5) or sorted(known)[:8]
    raise UnsupportedData(
        f"there is no table {_dotted(address)!r} in {address.public!r}. Hint: "
        f"{', '.join(map(repr, near)) or 'that schema has none'}."
    )


def _dotted(address: Address) -> str:
    return address.table if address.schema is None else f"{address.schema}.{address.table}"


def _reason(error: Exception) -> str:
    """Why a server was not reached, in words of our own."""
    code = getattr(error, "sqlstate", None)
    return _REFUSED.get(str(code), f"it does not answer ({type(error).__name__})")
