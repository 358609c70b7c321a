"""Results on the terminal or in files, and the reports about them."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import os
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from duffdp._engines.addresses import ADDRESS, SEPARATOR
from duffdp._facts import as_json
from duffdp._optional import load
from duffdp._pipeline.toml import PIPE
from duffdp._text import visible
from duffdp.errors import ChargeNote, DuffError, charge_note

if TYPE_CHECKING:
    from duffdp import Profile, Release, Table
    from duffdp._pipeline.notes import Note
    from duffdp.audit.engine_check import EngineCheck
    from duffdp.errors import Dialect

Result = TypeVar("Result")
WideResult = TypeVar("WideResult", bound="Table | Profile")
Rows = list[dict[str, Any]]
# Each format with the file endings that stand for it.
RELEASE_FORMATS = {
    "table": ("", ".txt"),
    "json": (".json",),
    "csv": (".csv",),
    "parquet": (".parquet",),
    "excel": (".xlsx",),
    "markdown": (".md",),
    "latex": (".tex",),
    "html": (".html",),
}
TABLE_FORMATS = RELEASE_FORMATS
# Formats that a terminal cannot show, and the packages that formats need.
BINARY = {"parquet": "result.parquet", "excel": "result.xlsx"}
PACKAGES = {
    "parquet": ("pyarrow.parquet",),
    "excel": ("xlsxwriter",),
}


class CsvStyle(NamedTuple):
    """Style of CSV output: the separator, the decimal mark, and whether numbers have all digits."""

    separator: str = ","
    decimal: str = "."
    raw: bool = False


class Destination(NamedTuple):
    """Destination of a result: its format, its file or the terminal, a report, and an entry for
    the registry.
    """

    format: str
    out: Path | None
    report: Path | None
    title: str
    author: str | None
    registry: Path | None
    csv: CsvStyle
    quiet: bool
    engine_check: EngineCheck | None = None


def check_destination(
    formats: Mapping[str, Sequence[str]], options: Mapping[str, Any]
) -> Destination:
    """The destination that the options name, if a result can be written there: a failure here
    comes before the charge.
    """
    out, report = options["out"], options["report"]
    form = options["result_format"] or ("table" if out is None else _format_of(out, formats))
    if form in BINARY and out is None:
        raise DuffError(f"{form} needs a file. Pass for example --out {BINARY[form]}.")
    for package in PACKAGES.get(form, ()):
        load(package, "tables")
    check_writable(out)
    if report is not None:
        from duffdp.report.page import check_page

        check_writable(report)
        check_page(report)
    registry = options.get("registry")
    if registry is not None:
        from duffdp.report.registry import check_registry_path

        check_writable(registry)
        check_registry_path(registry)
    separator = options["csv_separator"].replace("tab", "\t")
    style = CsvStyle(separator, options["csv_decimal"], options["all_digits"])
    if form == "csv" and style.separator == style.decimal:
        raise DuffError(
            f"--csv-decimal must differ from --csv-separator, got {style.decimal!r} for both. Pass "
            "for example --csv-separator ';'."
        )
    words = options["title"], options["author"]
    check = None
    if options.get("engine_check") is not None:
        from duffdp.audit.engine_check import EngineCheck

        check = EngineCheck.from_file(options["engine_check"])
    return Destination(form, out, report, *words, registry, style, options["quiet"], check)


def check_writable(path: Path | None) -> None:
    """Refuse a file that could not be written."""
    if path is not None and (
        path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK)
    ):
        raise DuffError(
            f"cannot write {str(path)!r}. Choose a file in a folder that exists and can be "
            "written to."
        )


def _format_of(out: Path, formats: Mapping[str, Sequence[str]]) -> str:
    """The format that the ending of a file stands for."""
    by_ending = {ending: form for form, endings in formats.items() for ending in endings}
    if out.suffix.lower() not in by_ending:
        endings = ", ".join(filter(None, by_ending))
        raise DuffError(
            f"the ending of --out {out.name!r} is not one of {endings}. Use one of them, or pass "
            "--format."
        )
    return by_ending[out.suffix.lower()]


class Output(ABC, Generic[Result]):
    """Writes a result to its destination: the numbers, and a report about them."""

    def __init__(
        self,
        destination: Destination,
        ledger: Any,
        data: str,
        plan: Path | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        self.destination, self.ledger = destination, ledger
        self._data, self._plan, self.sources = data, plan, sources

    @abstractmethod
    def write_numbers(self, result: Result, out: Path | None) -> None:
        """Write the numbers to a file or the terminal."""

    @abstractmethod
    def csv_text(self, result: Result) -> str:
        """The numbers as CSV, for the terminal if the file fails after the charge."""

    @abstractmethod
    def releases(self, result: Result) -> Mapping[str, Release]:
        """The releases that were charged."""

    def write_report(self, result: Any, report: Path) -> None:
        """Write the report."""
        from duffdp.report import write

        write(
            result,
            report,
            self.ledger,
            self.destination.title,
            author=self.destination.author,
            source=data_name(self._data),
            plan=self._plan,
            sources=self.sources,
            engine_check=self.destination.engine_check,
        )

    def write_registry(self, result: Any, registry: Path) -> None:
        """Write the entry for the registry."""
        from duffdp.report.registry import registry_entry, registry_text

        title, author = self.destination.title, self.destination.author
        releases = self.releases(result)
        entry = registry_entry(releases, title=title, author=author, sources=self.sources)
        registry.write_text(registry_text(entry), encoding="utf-8")

    def rehearse(self, result: Result) -> None:
        """Write a made-up result of the same shape to temporary files: a failure here comes before
        the charge.
        """
        _, out, report, *_ = self.destination
        encoding = getattr(sys.stdout, "encoding", None), getattr(sys.stdout, "errors", None)
        terminal = io.TextIOWrapper(io.BytesIO(), *encoding)
        try:
            with tempfile.TemporaryDirectory(prefix="duffdp-") as name, redirect_stdout(terminal):
                folder = Path(name)
                self.write_numbers(result, None if out is None else folder / f"out{out.suffix}")
                terminal.flush()
                if report is not None:
                    self.write_report(result, folder / f"report{report.suffix}")
                if self.destination.registry is not None:
                    self.write_registry(result, folder / "entry.yaml")
        except DuffError:
            raise
        except Exception as error:
            places = [str(path) for path in (out, report) if path is not None]
            raise DuffError(
                "a result of this kind cannot be written to "
                f"{' and '.join(places) or 'the terminal'} "
                f"({type(error).__name__}). Nothing was charged. Choose another format, and report "
                "what --debug prints."
            ) from error

    def write(self, result: Result) -> None:
        """Write the result. An error names the charge, and the place of the numbers."""
        _, out, report, *_ = self.destination
        place = ""
        try:
            try:
                self.write_numbers(result, out)
            except BrokenPipeError:
                raise
            except Exception as error:
                if out is None:
                    raise
                print(self.csv_text(result))  # it is paid for
                reason = getattr(error, "strerror", None) or type(error).__name__
                raise DuffError(
                    f"cannot write {str(out)!r} ({reason}). The release was made and is printed "
                    "on standard output instead."
                ) from error
            place = "on standard output" if out is None else f"in {str(out)!r}"
            if report is not None:
                self.write_report(result, report)
            registry = self.destination.registry
            if registry is not None:
                self.write_registry(result, registry)
            if not self.destination.quiet:
                for path in (out, report, registry):
                    if path is not None:
                        print(visible(f"wrote {path}"), file=sys.stderr)
        except BaseException as error:  # an interrupt, too
            ledger = self.ledger
            if ledger is not None:
                losses = [release.loss.epsilon for release in self.releases(result).values()]
                spent = float(sum(losses))
                error.add_note(charge_note(spent, ledger.dataset, ledger.call_id, 0))
            if place:
                error.add_note(ChargeNote(f"the numbers are {place}"))
            raise


class ReleasesOutput(Output[Mapping[str, "Release"]]):
    """Writes the releases of a plan by their names."""

    names = True

    def write_numbers(self, result: Mapping[str, Release], out: Path | None) -> None:
        """Write a row for each value."""
        form = self.destination.format
        if form == "json":
            items = [self._name(name) | release.to_dict() for name, release in result.items()]
            _write_text(json.dumps(items if len(items) > 1 else items[0], indent=2), out)
        elif form == "csv":
            _write_text(_csv(self._rows(result, form), out, self.destination.csv), out)
        elif form == "parquet" and out is not None:
            _parquet(self._rows(result, form), out)
        elif form == "excel" and out is not None:
            self._write_workbook(result, out)
        elif form in ("markdown", "latex", "html"):
            texts = [_people_text(release, form).rstrip("\n") for release in result.values()]
            _write_text("\n\n".join(texts), out)
        else:
            captions = [
                _caption(name if self.names else str(release.statistic), release)
                for name, release in result.items()
            ]
            table(self._rows(result, form), captions, out)

    def _write_workbook(self, result: Mapping[str, Release], out: Path) -> None:
        from duffdp._pipeline.release import ReleaseRows

        call_id = None if self.ledger is None else self.ledger.call_id
        formats = {}
        first, *later_results = result.values()
        if not later_results and not first.has_distributions and len(first.formats()) == 1:
            formats = dict(
                zip(("value", "low", "high"), first.formats()[0].with_ends(), strict=True)
            )
        columns = _by_column(self._rows(result, "excel"))
        ReleaseRows(columns, formats, result, call_id).to_excel(out)

    def _name(self, name: str) -> dict[str, Any]:
        return {"release": name} if self.names else {}

    def _rows(self, result: Mapping[str, Release], form: str) -> Rows:
        rounded = form == "csv" and not self.destination.csv.raw
        return [
            self._name(name) | row
            for name, release in result.items()
            for row in _rows(release, form, rounded)
        ]

    def csv_text(self, result: Mapping[str, Release]) -> str:
        """The rows as CSV."""
        return _csv(self._rows(result, "csv"), None, CsvStyle())

    def releases(self, result: Mapping[str, Release]) -> Mapping[str, Release]:
        """The releases themselves."""
        return result


class StatisticOutput(ReleasesOutput):
    """Writes the one release of a statistic; only the report shows its name."""

    names = False


class WideOutput(Output[WideResult]):
    """Writes a result that is one table, in any table format."""

    def write_numbers(self, result: WideResult, out: Path | None) -> None:
        """Write the table."""
        form = self.destination.format
        if form == "parquet" and out is not None:
            result.to_parquet(out)
        elif form == "excel" and out is not None:
            result.to_excel(out)
        elif form == "table":
            _write_text(result.to_text(), out)
        else:
            text = self._text(result, form)
            if out is None:
                say(text.removesuffix("\n"))
            else:
                out.write_text(text, encoding="utf-8")

    def _text(self, result: WideResult, form: str) -> str:
        if form == "json":
            return self.json_text(result)
        if form == "csv":
            return result.to_csv(**self.destination.csv._asdict())
        return _people_text(result, form)

    def json_text(self, result: WideResult) -> str:
        """All of it as JSON."""
        return result.to_json()

    def csv_text(self, result: WideResult) -> str:
        """The table as CSV."""
        return result.to_csv()

    def releases(self, result: WideResult) -> Mapping[str, Release]:
        """The releases that the table is made of."""
        return result.releases


class TableOutput(WideOutput["Table"]):
    """Writes a table."""

    def json_text(self, result: Table) -> str:
        """The table, and the answers for a reviewer."""
        from duffdp.report.hazards import sign_off

        answers = sign_off(result, ledger=self.ledger, sources=self.sources)
        return json.dumps(result.to_dict() | {"sign_off": answers})


class ProfileOutput(WideOutput["Profile"]):
    """Writes a profile."""

    def write_numbers(self, result: Profile, out: Path | None) -> None:
        """Write the table; as text with its remarks."""
        from duffdp._cli.dialects import COMMAND_LINE

        text = result.worded_text(COMMAND_LINE)
        if self.destination.format != "table":
            super().write_numbers(result, out)
        elif out is None:
            say(text)
        else:
            out.write_text(f"{text}\n", encoding="utf-8")

    def write_report(self, result: Profile, report: Path) -> None:
        """Write the page about the profile."""
        from duffdp.report import write_profile

        write_profile(result, report, self.destination.title, author=self.destination.author)


def _people_text(result: Release | Table | Profile, form: str) -> str:
    """A result as text for people."""
    texts: dict[str, Callable[[], str]] = {
        "markdown": result.to_markdown,
        "latex": result.to_latex,
        "html": result.to_html,
    }
    return texts[form]()


def say(text: str) -> None:
    """Print lines without characters that act on a terminal."""
    print("\n".join(map(visible, text.split("\n"))))


def data_name(data: str) -> str | None:
    """The name of the data in a report: a file or a table, without folder, host or user."""
    if data == PIPE:
        return None
    path, separator, table = data.rpartition(SEPARATOR)
    if ADDRESS.match(data):
        return table if separator else None
    return f"{Path(path).name}{separator}{table}" if separator else Path(data).name


def say_notes(
    releases: Iterable[Release],
    dialect: Dialect,
    options: Mapping[str, Any],
    in_table: bool = False,
) -> None:
    """Print the notes of a call on standard error, a line each, unless it is to be quiet; and the
    mechanisms, if it is to explain them.
    """
    from duffdp._pipeline.notes import notes_about

    listed = list(releases)
    notes = notes_about((one.facts, one.reading) for one in listed)
    say_lines((note.in_table() if in_table else note for note in notes), dialect, options)
    if options["explain"]:
        lines = []
        for release in listed:
            of = "" if release.facts.column is None else f" of {release.facts.column}"
            lines.append(f"{release.statistic}{of} is drawn by {release.mechanism}")
        for line in dict.fromkeys(lines):
            print(visible(line), file=sys.stderr)


def say_lines(notes: Iterable[Note], dialect: Dialect, options: Mapping[str, Any]) -> None:
    """Print notes on standard error, a line each, unless the command is to be quiet."""
    if not options["quiet"]:
        for line in dict.fromkeys(note.worded(dialect) for note in notes):
            print(visible(line), file=sys.stderr)


def _write_text(text: str, out: Path | None) -> None:
    if out is None:
        print(text)
    else:
        out.write_text(text + "\n", encoding="utf-8")


def _rows(release: Release, form: str, rounded: bool = False) -> Rows:
    """A row for each value; the ends of its interval have their own columns, except in a table."""
    from duffdp._pipeline.estimates import columns_per_number
    from duffdp._pipeline.number_text import TOO_FEW, estimate_text
    from duffdp._pipeline.released_values import SIZE_COLUMN, TOO_SMALL

    listed = release.rows()
    if release.columns[0].kind == "distribution":
        quantiles = [
            quantile for (distribution,) in release.cells for quantile in distribution.quantiles()
        ]
        return [
            keys | {"statistic": part, "value": value, "low": quantile.low, "high": quantile.high}
            for (keys, part, value), quantile in zip(listed, quantiles, strict=True)
        ]
    ends = columns_per_number(release.facts.interval)
    rows = []
    forms = release.formats()
    estimates = [
        (i, number, form_of)
        for i, group in enumerate(release.estimates())
        for number, form_of in zip(group, forms, strict=True)
    ]
    small = release.too_few()
    for (keys, part, _), (i, estimate, number_form) in zip(listed[::ends], estimates, strict=True):
        value, low, high = estimate[:3]
        if rounded:
            formats = number_form.with_ends()
            value, low, high = (
                one.number(number) for one, number in zip(formats, (value, low, high), strict=True)
            )
        row = keys | {"statistic": part, "value": value}
        if form == "table":
            row["value"] = TOO_FEW if value is None else estimate_text(estimate, number_form)
        elif ends > 1:
            row |= {"low": low, "high": high}
        if release.sizes is not None:
            row[SIZE_COLUMN] = release.sizes[i]
        if release.suppress_below is not None and form != "table":
            row[TOO_SMALL] = small[i]
        rows.append(row)
    return rows


def _caption(name: str, release: Release) -> str:
    unit = release.unit
    rows = "1 row" if unit.contributions == 1 else f"{unit.contributions} rows"
    if unit.groups_per_person is not None:
        rows += f" in each of up to {unit.groups_per_person} groups"
    protected = unit.protected if unit.column is None else f"{unit.column} with up to {rows}"
    of = "" if release.counted is None else f" of {release.counted}"
    of += "" if release.where is None else f" where {release.where}"
    of += "" if release.facts.sql is None else f" from {release.facts.sql}"
    return f"{name}{of}: epsilon {release.epsilon:.6g} for each {protected}{_covered(release)}"


def _covered(release: Release) -> str:
    """The words about intervals, if there are any."""
    if release.columns[0].kind == "distribution":
        return (
            f"; low and high contain all exact quantiles of the records at once with "
            f"{100 * release.cells[0][0].confidence:.6g}% probability"
            f"{', for each group' if release.grouped else ''}"
        )
    if release.confidence is None:
        return ""
    records = "the records" if release.unit.kind != "person" else "the rows chosen at random"
    subjects = {"data": records, "population": "the population they were sampled from"}
    scope = ", for each group" if release.grouped else ""
    if release.simultaneous:
        scope = f", for all {'groups' if release.grouped else 'numbers'} at once"
    return (
        f"; brackets contain the exact answer for {subjects[release.covers or 'data']} with "
        f"{100 * release.confidence:.6g}% probability{scope}"
    )


def table(rows: Rows, captions: Sequence[str], out: Path | None = None) -> None:
    """Write rows as aligned columns, with numbers to the right."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    right = [
        name == "value" or all(isinstance(row.get(name, 0), int | float) for row in rows)
        for name in columns
    ]
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


def _cell(value: object) -> str:
    if isinstance(value, dt.timedelta):
        return str(value)
    return f"{value:.10g}" if isinstance(value, float) else visible(str(as_json(value)))


def _csv(rows: Rows, out: Path | None, style: CsvStyle) -> str:
    """Rows as CSV; only a terminal gets control characters in a printable form."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells: list[list[Any]] = [
        list(names),
        *([_csv_cell(row.get(name), style.decimal) for name in names] for row in rows),
    ]
    if out is None and sys.stdout.isatty():
        cells = [
            [visible(cell) if isinstance(cell, str) else cell for cell in line] for line in cells
        ]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", delimiter=style.separator).writerows(cells)
    return text.getvalue().removesuffix("\n")


def _csv_cell(value: object, decimal: str) -> Any:
    cell = as_json(value)
    return str(cell).replace(".", decimal) if isinstance(value, float | Decimal) else cell


def _by_column(rows: Rows) -> dict[str, list[Any]]:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _parquet(rows: Rows, out: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    from duffdp._engines.one_type import of_one_type

    columns = {name: of_one_type(values) for name, values in _by_column(rows).items()}
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
