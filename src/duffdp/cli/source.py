"""Where a command's data come from, a path or a pipe, and the budget that it is charged to."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from duffdp.cli.options import PipeKind
from duffdp.cli.values import listed
from duffdp.engines.addresses import ADDRESS, printable
from duffdp.engines.query import Query
from duffdp.engines.source_name import Piped
from duffdp.engines.text_file import TextFile
from duffdp.errors import DuffError, UnsupportedData
from duffdp.pipeline.toml import PIPE

Source = str | TextFile | Query


def described(
    path: str, types: str | None, decimal: str | None, date_format: str | None, sql: str | None
) -> Source:
    """What DATA names, with what the options say about its fields, and the query over it."""
    if sql is not None:
        return Query(described(path, types, decimal, date_format, None), sql)
    if (types, decimal, date_format) == (None, None, None):
        return path
    declared = {}
    for part in listed(types or ""):
        name, mark, said = part.rpartition("=")
        if not mark or name.strip() in declared:
            raise DuffError(
                f"--types takes COLUMN=TYPE, each column once, got {part!r}. Pass for example "
                "--types cost=double,day=date."
            )
        declared[name.strip()] = said.strip()
    return TextFile(path, types=declared, decimal=decimal or ".", date_format=date_format)


@contextmanager
def source_of(data: Source, kind: PipeKind | None = None) -> Iterator[Source]:
    """What DATA names; a pipe becomes a file of its owner's, until the command ends."""
    if isinstance(data, Query):
        with source_of(data.data, kind) as inner:
            yield replace(data, data=inner)
        return
    path = os.fspath(data)
    if path != PIPE:
        if kind is not None:
            raise DuffError(
                f"--pipe says what a pipe holds, got the file {printable(path)!r}. Leave it out."
            )
        yield data
        return
    if sys.stdin.isatty():
        raise UnsupportedData(
            "data are to come from a pipe, but there is none. "
            "Use: cat people.csv | duffdp median - ..."
        )
    with tempfile.TemporaryDirectory(prefix="duffdp-") as folder:
        file = Path(folder) / f"piped.{kind or _kind_by_header()}"
        with file.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy, 2**20)
        piped = Piped(file)
        yield piped if isinstance(data, str) else replace(data, path=piped)


def _kind_by_header() -> PipeKind:
    """Parquet and CSV begin with a public header; JSON lines with a record, which must not
    decide.
    """
    start = io.BufferedReader.peek(sys.stdin.buffer, 1)  # type: ignore[arg-type]
    if start[:4] == b"PAR1":
        return PipeKind.parquet
    if start.lstrip()[:1] in (b"", b"{", b"["):
        raise UnsupportedData(
            "the pipe begins with no header. Pass --pipe jsonl for JSON lines; CSV needs a "
            "line with the names of its columns."
        )
    return PipeKind.csv


def named_ledger(path: Path | None, dataset: str | None, call_id: str | None) -> Any:
    """The ledger that the options name, if any."""
    if path is None:
        if dataset is not None or call_id is not None:
            raise DuffError(
                "--dataset and --call-id need a ledger. Pass for example --ledger budget.db."
            )
        return None
    from duffdp.pipeline.run import ledger_of

    return ledger_of(path, dataset, call_id)


@contextmanager
def without_pandas(path: Source) -> Iterator[None]:
    """Keep DuckDB from loading pandas for constants in a query: it takes longer than the query.
    Tables of servers need it.
    """
    if ADDRESS.match(os.fspath(path)):
        yield
        return
    absent = sys.modules.setdefault("pandas", None) is None  # type: ignore[arg-type]
    try:
        yield
    finally:
        if absent:
            del sys.modules["pandas"]
