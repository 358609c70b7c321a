"""Where a command's data come from: a path or a pipe, opened for its types first and for its rows after the charge."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duffdp.engines.fields import read_field
from duffdp.engines.files import is_untyped, open_path, quote_name
from duffdp.errors import DuffError, UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation


_KEPT: list[DuckDBPyConnection] = []  # until the process ends: to take a table apart takes longer than to leave it


class Source:
    """A table in a file; no row is read before `rows` is asked for."""

    def __init__(self, path: str, columns: list[str], values: set[tuple[str, str]]) -> None:
        try:
            import duckdb
        except ImportError:
            raise DuffError("files are read by DuckDB, which is not installed. Run: pip install 'duffdp[cli]'.") from None
        self._connection = duckdb.connect()
        _KEPT.append(self._connection)
        value, kind = next(iter(values)) if len(values) == 1 else (None, "category")
        self.shape: DuckDBPyRelation = open_path(path, columns, value=value, kind=kind, connection=self._connection)
        self.types = {name: str(kind) for name, kind in zip(self.shape.columns, self.shape.types, strict=True)}
        self.untyped = is_untyped(path)
        self._all_text = self.untyped and value is None

    def with_values(self, rows: Any, column: str, kind: str) -> Any:
        """The rows with one column as what a domain of this kind needs; they are so already if no other column is asked for."""
        name = quote_name(column)
        return rows.project(f"* REPLACE ({read_field(name, kind)} AS {name})") if self._all_text and column in rows.columns else rows

    def rows(self, columns: list[str]) -> Any:
        """The table for many queries: text is parsed once, and only the needed columns are held."""
        if not self.untyped:
            return self.shape
        self.shape.project(", ".join(map(quote_name, columns))).create("held")
        return self._connection.table("held")


@contextmanager
def opened(path: str, columns: list[str], values: set[tuple[str, str]]) -> Iterator[Source]:
    """What DATA names; a pipe is kept in a file of its own, readable by its owner alone, until the command ends."""
    if path != "-":
        yield Source(path, columns, values)
        return
    if sys.stdin.isatty():
        raise UnsupportedData("data are to come from a pipe, but there is none. Use: cat people.csv | duffdp median - ...")
    with tempfile.TemporaryDirectory(prefix="duffdp-") as folder:
        start = io.BufferedReader.peek(sys.stdin.buffer, 4)[:4]  # type: ignore[arg-type]
        ending = ".parquet" if start == b"PAR1" else ".jsonl" if start[:1] == b"{" else ".csv"
        file = Path(folder) / f"piped{ending}"
        with file.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy, 2**20)
        yield Source(str(file), columns, values)


@contextmanager
def without_pandas() -> Iterator[None]:
    """Keep DuckDB from loading pandas, if it is there, for every constant in a query: it takes longer than the query."""
    absent = sys.modules.setdefault("pandas", None) is None  # type: ignore[arg-type]
    try:
        yield
    finally:
        if absent:
            del sys.modules["pandas"]
