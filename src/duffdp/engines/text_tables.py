"""Records that Python has read, in tables of DuckDB."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from duffdp.engines.text_records import decode

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BATCH = 50_000
_BATCH = "duffdp_batch"
TABLES = itertools.count()  # each table has a number of its own


def fill_table(connection: DuckDBPyConnection, table: str, rows: Iterator[list[bytes]]) -> None:
    """Put fields into a table, a batch at a time; an empty one is missing."""
    while batch := list(itertools.islice(rows, BATCH)):
        columns = [
            np.array([decode(text) for text in column], dtype=object)
            for column in zip(*batch, strict=True)
        ]
        connection.register(_BATCH, {f"v{i}": column for i, column in enumerate(columns)})
        fields = ", ".join(f"NULLIF(v{i}, '')" for i in range(len(columns)))
        connection.execute(f"INSERT INTO {table} SELECT {fields} FROM {_BATCH}")
        connection.unregister(_BATCH)
