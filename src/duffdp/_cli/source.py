"""The data and the ledger of a command: a path or a pipe, and the budget to charge."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from duffdp._cli.options import read_list
from duffdp._engines.addresses import printable
from duffdp._engines.files.text_file import TextFile
from duffdp._engines.sql.query import Piped, Query
from duffdp._parameters import TEXT_FILE_OPTIONS
from duffdp._pipeline.toml import PIPE
from duffdp.errors import Argument, DuffError, UnsupportedData

Source = str | TextFile | Query


def data_source(options: Mapping[str, Any]) -> Source:
    """The data that the options of a command describe: a path, the types and layouts of its
    fields, and a query over it.
    """
    source: Source = options["data"]
    passed = {one.name: options[one.name] for one in TEXT_FILE_OPTIONS}
    passed = {name: value for name, value in passed.items() if value is not None}
    if passed:
        source = TextFile(
            options["data"], **(passed | {"types": _column_types(passed.get("types", ""))})
        )
    return source if options["sql"] is None else Query(source, options["sql"])


def with_path(source: Source, path: str) -> Source:
    """Other data with the same query and the same rules of text files."""
    if isinstance(source, Query):
        return replace(source, data=with_path(source.data, path))
    return replace(source, path=path) if isinstance(source, TextFile) else path


def _column_types(text: str) -> dict[str, str]:
    types: dict[str, str] = {}
    for part in read_list(text):
        name, mark, kind = part.rpartition("=")
        if not mark or name.strip() in types:
            raise DuffError(
                *(Argument("types"), f" takes COLUMN=TYPE, each column once, got {part!r}. Pass "),
                "for example --types cost=double,day=date.",
            )
        types[name.strip()] = kind.strip()
    return types


@contextmanager
def open_source(source: Source, pipe_format: str | None = None) -> Iterator[Source]:
    """The source itself; a pipe becomes a file that only its owner can read, until the command
    ends.
    """
    if isinstance(source, Query):
        with open_source(source.data, pipe_format) as inner:
            yield replace(source, data=inner)
        return
    path = os.fspath(source)
    if path != PIPE:
        if pipe_format is not None:
            raise DuffError(
                f"--pipe can only be used with piped data, got the file {printable(path)!r}. "
                "Leave it "
                "out."
            )
        yield source
        return
    if sys.stdin.isatty():
        raise UnsupportedData(
            "- reads data from a pipe, but there is none. Use: cat people.csv | duffdp median - ..."
        )
    with tempfile.TemporaryDirectory(prefix="duffdp-") as folder:
        file = Path(folder) / f"piped.{pipe_format or _format_by_header()}"
        with file.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy, 2**20)
        piped = Piped(file)
        yield piped if isinstance(source, str) else replace(source, path=piped)


def _format_by_header() -> str:
    """The format of piped data. Parquet and CSV begin with a public header; JSON lines begin with
    a record, which must not decide.
    """
    start = io.BufferedReader.peek(sys.stdin.buffer, 1)  # type: ignore[arg-type]
    if start[:4] == b"PAR1":
        return "parquet"
    if start.lstrip()[:1] in (b"", b"{", b"["):
        raise UnsupportedData(
            "the piped data has no header. Pass --pipe jsonl for JSON lines. CSV needs a first "
            "line with the column names."
        )
    return "csv"


def open_ledger(path: object, dataset: str | None, call_id: str | None) -> Any:
    """The ledger that the options or a plan name, if any."""
    if path is None:
        if dataset is not None or call_id is not None:
            raise DuffError(
                "--dataset and --call-id need a ledger. Pass for example --ledger budget.db."
            )
        return None
    from duffdp._pipeline.run import ledger_of

    return ledger_of(path, dataset, call_id)
