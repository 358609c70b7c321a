"""Releases as a table, JSON, CSV or Parquet, on the terminal or in a file."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duffdp.cli.options import Format
from duffdp.engines.addresses import ADDRESS, SEPARATOR
from duffdp.errors import DuffError
from duffdp.facts import as_json
from duffdp.pipeline.toml import PIPE
from duffdp.printable import visible

if TYPE_CHECKING:
    from duffdp import Release, Table
    from duffdp.pipeline.span import Span

Rows = list[dict[str, Any]]


def say(text: str) -> None:
    """Print lines that can do nothing to a terminal but be read."""
    print("\n".join(map(visible, text.split("\n"))))


def check_writable(path: Path | None) -> None:
    """Fail before anything is charged if the result could not be written."""
    if path is not None and (
        path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK)
    ):
        raise DuffError(
            f"cannot write {str(path)!r}. Choose a file in a folder that exists and can be "
            "written to."
        )


def check_outputs(form: Format, out: Path | None, page: Path | None) -> None:
    """Fail before anything is charged if the result or the page about it could not be written."""
    if form is Format.parquet and out is None:
        raise DuffError("parquet needs a file. Pass for example --out medians.parquet.")
    check_writable(out)
    check_report(page)


def check_report(page: Path | None) -> None:
    """Fail before anything is charged if a page could not be written."""
    if page is not None:
        from duffdp.report.page import check_page

        check_writable(page)
        check_page(page)


def named_format(form: Format, out: Path | None) -> Format:
    """The format that was asked for; where none was, the one that the name of the file says."""
    if out is not None and form is Format.table and out.suffix[1:] in Format.__members__:
        return Format[out.suffix[1:]]
    return form


def write_report(
    releases: Mapping[str, Release] | Table,
    page: Path,
    ledger: Any,
    title: str,
    author: str | None,
    data: str,
    planned: tuple[Path, Mapping[str, str]] | None = None,
) -> None:
    """The page about releases: `data` is what they were asked to read, `planned` the file of a plan
    and its sources.
    """
    from duffdp.report import write

    plan, sources = planned or (None, None)
    write(
        releases,
        page,
        ledger,
        title,
        author=author,
        source=data_name(data),
        plan=plan,
        sources=sources,
    )


def data_name(data: str) -> str | None:
    """What data are called on a page: a file or a table, and no folder, host or user."""
    if data == PIPE:
        return None
    path, separator, table = data.rpartition(SEPARATOR)
    if ADDRESS.match(data):
        return table if separator else None
    return f"{Path(path).name}{separator}{table}" if separator else Path(data).name


def say_step(release: Release) -> None:
    """On stderr the step that the answers have, where the caller gave none."""
    from duffdp.report.words import lasting, number

    step = getattr(release.domain, "step", None)  # categories and digits have none
    if step is not None and any(column.kind == "candidate" for column in release.columns):
        said = lasting(step) if isinstance(step, dt.timedelta) else number(step)
        print(f"answers are in steps of {said}; --step changes it", file=sys.stderr)


def show(releases: Mapping[str, Release], form: Format, out: Path | None) -> None:
    """Write releases, each under its name, which may be empty.

    If the file fails after all, they go to the terminal, for they are paid.
    """
    rows = [
        ({"release": name} if name else {}) | row
        for name, release in releases.items()
        for row in _rows(release, form)
    ]
    if form is Format.json:
        listed = [
            ({"release": name} if name else {}) | release.to_dict()
            for name, release in releases.items()
        ]
        text = json.dumps(listed if len(listed) > 1 else listed[0], indent=2)
    else:
        text = _csv(rows, out) if form is Format.csv else ""
    try:
        if form is Format.parquet and out is not None:
            _parquet(rows, out)
        elif form is Format.table:
            table(rows, [_caption(name, release) for name, release in releases.items()], out)
        elif out is None:
            print(text)
        else:
            out.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        if out is None:
            raise
        print(_csv(rows, None))
        raise DuffError(
            f"cannot write {str(out)!r} ({error.strerror}). The release was made; it is on "
            "standard output."
        ) from None


def _rows(release: Release, form: Format) -> Rows:
    """A row for every value, with the ends of its interval in columns, or beside it in a table."""
    from duffdp.pipeline.span import ENDS
    from duffdp.pipeline.suppression import COUNT, TOO_SMALL

    listed = release.rows()
    if release.columns[0].kind == "distribution":
        quantiles = [quantile for (whole,) in release.cells for quantile in whole.quantiles()]
        return [
            keys | {"statistic": part, "value": value, "low": quantile.low, "high": quantile.high}
            for (keys, part, value), quantile in zip(listed, quantiles, strict=True)
        ]
    ends = 1 if release.confidence is None else ENDS
    rows = []
    spans = [(i, span) for i, group in enumerate(release.spans()) for span in group]
    small = release.too_few()
    for (keys, part, _), (i, span) in zip(listed[::ends], spans, strict=True):
        found: dict[str, Any] = {"value": span.value}
        if form is Format.table:
            found["value"] = _with_ends(span)
        elif ends > 1:
            found |= {"low": span.low, "high": span.high}
        if release.sizes is not None:
            found |= {COUNT: release.sizes[i]}
        if release.suppress_below is not None and form is not Format.table:
            found |= {TOO_SMALL: small[i]}
        rows.append(keys | {"statistic": part} | found)
    return rows


def _with_ends(span: Span) -> Any:
    """A value for a terminal, with its interval if it has one."""
    from duffdp.pipeline.columnar import TOO_FEW

    if span.value is None:
        return TOO_FEW
    if span.low is None:
        return span.value
    told = TOO_FEW if span.too_few else f"{_cell(span.low)} to {_cell(span.high)}"
    return f"{_cell(span.value)} ({told})"


def _caption(name: str, release: Release) -> str:
    unit = release.unit
    many = "1 row" if unit.contributions == 1 else f"{unit.contributions} rows"
    if unit.groups_per_person is not None:
        many += f" in each of up to {unit.groups_per_person} groups"
    who = unit.kind if unit.column is None else f"{unit.column} with up to {many}"
    of = "" if release.counted is None else f" of {release.counted}"
    of += "" if release.where is None else f" where {release.where}"
    of += "" if release.facts.sql is None else f" from {release.facts.sql}"
    return (
        f"{name or release.statistic}{of}: epsilon {release.epsilon:.6g} for each {who}, "
        f"{release.mechanism}{_covered(release)}"
    )


def _covered(release: Release) -> str:
    """What an interval holds, if there is one."""
    if release.columns[0].kind == "distribution":
        return (
            f"; low and high: with {100 * release.cells[0][0].confidence:.6g} % probability they "
            "hold all exact quantiles of the records at once"
            f"{', in each group' if release.grouped else ''}"
        )
    if release.confidence is None:
        return ""
    whose = {"data": "the records", "population": "the population they were drawn from"}
    each = ", in each group" if release.grouped else ""
    if release.simultaneous:
        each = f", in all {'groups' if release.grouped else 'of them'} together"
    return (
        f"; in brackets: with {100 * release.confidence:.6g} % probability the exact answer for "
        f"{whose[release.covers or 'data']}{each}"
    )


def table(rows: Rows, captions: Sequence[str], out: Path | None = None) -> None:
    """Rows as aligned columns for people, numbers to the right."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    right = [all(isinstance(row.get(name, 0), int | float) for row in rows) for name in columns]
    cells = [
        [*map(visible, columns)],
        *([_cell(row.get(name, "")) for name in columns] for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(w) if r else cell.ljust(w)
            for cell, w, r in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in cells
    ]
    text = "\n".join([*(lines if rows else []), *dict.fromkeys(map(visible, captions))])
    if out is None:
        say(text)
    else:
        out.write_text(text + "\n", encoding="utf-8")


def _cell(value: Any) -> str:
    if isinstance(value, dt.timedelta):
        return str(value)
    return f"{value:.10g}" if isinstance(value, float) else visible(str(as_json(value)))


def _csv(rows: Rows, out: Path | None) -> str:
    """Values as they are for files and pipes; for a terminal as they can be read."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *([as_json(row.get(name)) for name in names] for row in rows)]
    if out is None and sys.stdout.isatty():
        cells = [
            [visible(cell) if isinstance(cell, str) else cell for cell in line] for line in cells
        ]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(cells)
    return text.getvalue().removesuffix("\n")


def _as_text(value: Any) -> str | None:
    return None if value is None else str(as_json(value))


def _parquet(rows: Rows, out: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    if len({type(row["value"]) for row in rows} - {type(None)}) > 1:  # a column has one type
        rows = [row | {"value": _as_text(row["value"])} for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    pyarrow.parquet.write_table(
        pyarrow.table({name: [row.get(name) for row in rows] for name in names}), out
    )
