"""Where a command's data come from, a path or a pipe, and the budget that it is charged to."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from duffdp.errors import DuffError, UnsupportedData

PIPE = "-"


@contextmanager
def source_of(path: str) -> Iterator[str]:
    """The path that DATA names; a pipe is kept in a file of its own, readable by its owner alone, until the command ends."""
    if path != PIPE:
        yield path
        return
    if sys.stdin.isatty():
        raise UnsupportedData(
            "data are to come from a pipe, but there is none. Use: cat people.csv | duffdp median - ..."
        )
    with tempfile.TemporaryDirectory(prefix="duffdp-") as folder:
        start = io.BufferedReader.peek(sys.stdin.buffer, 4)[:4]  # type: ignore[arg-type]
        ending = ".parquet" if start == b"PAR1" else ".jsonl" if start[:1] == b"{" else ".csv"
        file = Path(folder) / f"piped{ending}"
        with file.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy, 2**20)
        yield str(file)


def opened_ledger(path: Path | None, dataset: str | None, call_id: str | None) -> Any:
    """The ledger that the options name, if any."""
    if path is None:
        if dataset is not None or call_id is not None:
            raise DuffError("--dataset and --call-id need a ledger. Pass for example --ledger budget.db.")
        return None
    from duffdp.pipeline.run import ledger_of

    return ledger_of(path, dataset, call_id)


@contextmanager
def without_pandas() -> Iterator[None]:
    """Keep DuckDB from loading pandas, if it is there, for every constant in a query: it takes longer than the query."""
    absent = sys.modules.setdefault("pandas", None) is None  # type: ignore[arg-type]
    try:
        yield
    finally:
        if absent:
            del sys.modules["pandas"]
