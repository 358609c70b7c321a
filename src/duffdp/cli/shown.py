"""Releases as a table, JSON, CSV or Parquet, on the terminal or in a file."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duffdp.cli.options import Format
from duffdp.errors import DuffError
from duffdp.plain import plain

if TYPE_CHECKING:
    from duffdp import Release

Rows = list[dict[str, Any]]


def check_writable(path: Path | None) -> None:
    """Fail before anything is charged if the result could not be written."""
    if path is not None and (path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK)):
        raise DuffError(f"cannot write {str(path)!r}. Choose a file in a folder that exists and can be written to.")


def check_format(form: Format, out: Path | None) -> None:
    """Parquet is not for terminals."""
    if form is Format.parquet and out is None:
        raise DuffError("parquet needs a file. Pass for example --out medians.parquet.")
    check_writable(out)


def rows_of(name: str, release: Release) -> Rows:
    """A release as rows: key columns, the statistic and its value."""
    label = {"release": name} if name else {}
    return [label | keys | {"statistic": part, "value": value} for keys, part, value in release.rows()]


def show(releases: Sequence[Release], names: Sequence[str], form: Format, out: Path | None) -> None:
    """Write releases; if the file fails after all, they go to the terminal, for they are paid."""
    rows = [row for name, release in zip(names, releases, strict=True) for row in rows_of(name, release)]
    if form is Format.json:
        listed = [({"release": name} if name else {}) | release.to_dict() for name, release in zip(names, releases, strict=True)]
        text = json.dumps(listed if len(listed) > 1 else listed[0], indent=2)
    else:
        text = _csv(rows) if form is Format.csv else ""
    try:
        if form is Format.parquet and out is not None:
            _parquet(rows, out)
        elif form is Format.table:
            table(rows, [_caption(name, release) for name, release in zip(names, releases, strict=True)], out)
        elif out is None:
            print(text)
        else:
            out.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        if out is None:
            raise
        print(_csv(rows))
        raise DuffError(
            f"cannot write {str(out)!r} ({error.strerror}). The release was made; it is on standard output."
        ) from None


def _caption(name: str, release: Release) -> str:
    many = "1 row" if release.contributions == 1 else f"{release.contributions} rows"
    who = "row" if release.unit == "row" else f"{release.unit} with up to {many}"
    return f"{name or release.statistic}: epsilon {release.epsilon:.6g} for each {who}, {release.mechanism}"


def table(rows: Rows, captions: Sequence[str], out: Path | None = None) -> None:
    """Rows as aligned columns for people, numbers to the right."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    right = [all(isinstance(row.get(name, 0), int | float) for row in rows) for name in columns]
    cells = [columns, *([_cell(row.get(name, "")) for name in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(line, widths, right, strict=True)).rstrip()
        for line in cells
    ]
    text = "\n".join([*(lines if rows else []), *dict.fromkeys(captions)])
    if out is None:
        print(text)
    else:
        out.write_text(text + "\n", encoding="utf-8")


def _cell(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(plain(value))


def _csv(rows: Rows) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: plain(value) for name, value in row.items()} for row in rows)
    return text.getvalue().removesuffix("\n")


def _parquet(rows: Rows, out: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    if len({type(row["value"]) for row in rows}) > 1:  # a column has one type
        rows = [row | {"value": str(plain(row["value"]))} for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    pyarrow.parquet.write_table(pyarrow.table({name: [row.get(name) for row in rows] for name in names}), out)
