"""Neighbors of a caller's own data: tables and files that differ in one record, or in all records
of one person.

The record or person that differs comes last in the larger of the two, so that the rows of all other
people are chosen alike.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from duffdp._engines.libraries import is_table
from duffdp._optional import load
from duffdp.errors import UnsupportedData

NEW_PERSON = "a person who joined for the replay"
TEXT_ENDINGS = (".csv", ".tsv", ".txt")
TEXT_DELIMITERS = ",;\t|"
BYTES = "latin-1"  # every byte is a character, so that fields stay as they are
OBJECT_LINES = (".jsonl", ".ndjson")
OTHERS = (
    "replay makes neighbors of arrays, lists, frames, CSV, TSV, JSON lines and Parquet files. "
    "Convert the data to one of them."
)


class Neighbors(NamedTuple):
    """Two data sets that differ in one record or one person.

    Attributes
    ----------
    title
        A text about the difference.
    data, neighbor
        The two data sets.
    """

    title: str
    data: Any
    neighbor: Any


def neighbors(
    data: object,
    *,
    column: str | None = None,
    values: Iterable[Any] = (),
    unit: str | None = None,
    rows: int = 1,
) -> Iterator[Neighbors]:
    """Neighbors of a data set: without its last record, and with added records of given values.

    Parameters
    ----------
    data
        An array, a list, or a frame of pandas, polars or pyarrow.
    column
        The column of a frame for the values of added records.
    values
        Values of added records, such as the bounds and a value beyond them.
    unit
        The column that identifies the person. Then all rows of one person are removed or added.
    rows
        The number of rows of the added person. It should exceed the `contributions` of the tested
        call.

    Yields
    ------
    Neighbors
        A title, and the two data sets.

    Privacy
    -------
    Not private: the results are the data with one record changed.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), definition 2.4.

    Examples
    --------
    >>> import duffdp
    >>> [pair.title for pair in duffdp.audit.neighbors([1, 2, 3], values=[9])]
    ['the last record leaves', '9 joins']
    """
    if is_table(data) and not isinstance(data, np.ndarray | str | Path):
        yield from _of_frame(data, column, values, unit, rows)
    elif isinstance(data, np.ndarray):
        yield Neighbors("the last record leaves", data, data[:-1])
        for value in values:
            yield Neighbors(f"{value} joins", data, np.append(data, value))
    elif isinstance(data, Sequence) and not isinstance(data, str):
        yield Neighbors("the last record leaves", data, data[:-1])
        for value in values:
            yield Neighbors(f"{value} joins", data, [*data, value])
    else:
        raise UnsupportedData(OTHERS)


def _of_frame(
    data: object, column: str | None, values: Iterable[Any], unit: str | None, rows: int
) -> Iterator[Neighbors]:
    nw = load("narwhals", "all")
    frame = nw.from_native(data, eager_only=True)
    if not len(frame):
        return
    if unit is None:
        title, base, rest = "the last record leaves", frame, frame[: len(frame) - 1]
    else:
        people = frame[unit]
        person = people.max() if people.dtype.is_integer() else people[len(people) - 1]
        own = (people == person).fill_null(False)
        rest, last = frame.filter(~own), frame.filter(own)
        title, base = "the last person leaves", nw.concat([rest, last])
    yield Neighbors(title, base.to_native(), rest.to_native())
    if column is None:
        return
    row = base[max(len(base) - rows, 0) :] if unit is not None else base[len(base) - 1 :]
    if unit is not None:
        kind = frame.schema[unit]
        new = int(frame[unit].max()) + 1 if kind.is_integer() else NEW_PERSON
        if not kind.is_integer() and kind != nw.String:
            return  # an identifier that nobody has is not known
        row = row.with_columns(nw.lit(new).cast(kind).alias(unit))
    for value in values:
        try:
            joined = row.with_columns(nw.lit(value).cast(frame.schema[column]).alias(column))
            longer = nw.concat([base, joined]).to_native()
        except Exception:  # each library has errors of its own for a value that does not fit
            continue
        yield Neighbors(f"{value} joins", base.to_native(), longer)


def neighbor_files(
    path: Path,
    folder: Path,
    *,
    column: str | None = None,
    values: Iterable[Any] = (),
    unit: str | None = None,
    rows: int = 1,
    skip_rows: int = 0,
) -> Iterator[Neighbors]:
    """Neighbors of a file, as files of the same format in a folder."""
    ending = path.suffix.lower()
    if ending == ".parquet":
        parquet = load("pyarrow.parquet", "cli")
        pairs = neighbors(
            parquet.read_table(path), column=column, values=values, unit=unit, rows=rows
        )
        for number, pair in enumerate(pairs):
            files = [folder / f"{number}{side}.parquet" for side in "ab"]
            for file, table in zip(files, pair[1:], strict=True):
                parquet.write_table(table, file)
            yield Neighbors(pair.title, *files)
        return
    lines: _Fields | _Objects
    if ending in OBJECT_LINES:
        lines = _Objects(path, column, unit)
    elif ending in TEXT_ENDINGS:
        lines = _Fields(path, column, unit, skip_rows)
    else:
        raise UnsupportedData(OTHERS)
    for number, (title, base, other) in enumerate(_of_lines(lines, values, rows)):
        files = [folder / f"{number}{side}{ending}" for side in "ab"]
        for file, records in zip(files, (base, other), strict=True):
            file.write_bytes("".join([lines.header, *records]).encode(BYTES))
        yield Neighbors(title, *files)


class _Fields:
    """Records of a delimited text file, as text."""

    def __init__(self, path: Path, column: str | None, unit: str | None, skip_rows: int) -> None:
        text = path.read_bytes().decode(BYTES)
        lines = text.splitlines(keepends=True)
        title, body = "".join(lines[:skip_rows]), "".join(lines[skip_rows:])
        first_line = body.partition("\n")[0]
        self._delimiter = max(TEXT_DELIMITERS, key=first_line.count)
        (header, fields), *self._rows = self._split(body)
        self.header = title + header
        names = [name.encode(BYTES).decode(errors="replace").lstrip("\ufeff") for name in fields]
        self._column = None if column is None else names.index(column)
        self._unit = None if unit is None else names.index(unit)

    def _split(self, text: str) -> Iterator[tuple[str, list[str]]]:
        """The text and the fields of each record; a field may have several lines."""
        consumed: list[str] = []

        def lines() -> Iterator[str]:
            for line in io.StringIO(text, newline=""):
                consumed.append(line)
                yield line

        for fields in csv.reader(lines(), delimiter=self._delimiter):
            raw = "".join(consumed)
            consumed.clear()
            yield raw if raw.endswith(("\n", "\r")) else f"{raw}\n", fields

    @property
    def records(self) -> list[str]:
        """All records, without the header."""
        return [raw for raw, _ in self._rows]

    def person(self, at: int) -> str | None:
        """The person of one record."""
        return None if self._unit is None else self._rows[at][1][self._unit]

    def joining(self, value: object, rows: int) -> list[str]:
        """The last records with another value, of a new person."""
        if self._column is None:
            return []
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self._delimiter, lineterminator="\n")
        people = [] if self._unit is None else [row[self._unit] for _, row in self._rows]
        person = _new_person(people)
        for _, fields in self._rows[-rows:]:
            changed = [*fields]
            changed[self._column] = str(value)
            if self._unit is not None:
                changed[self._unit] = person
            writer.writerow(changed)
        return [text.getvalue()]


class _Objects:
    """Records of a JSON lines file, as text."""

    header = ""

    def __init__(self, path: Path, column: str | None, unit: str | None) -> None:
        lines = path.read_bytes().decode(BYTES).split("\n")
        self.records = [f"{line}\n" for line in lines if line.strip()]
        self._column, self._unit = column, unit

    def person(self, at: int) -> str | None:
        """The person of one record."""
        if self._unit is None:
            return None
        return str(json.loads(self.records[at]).get(self._unit))

    def joining(self, value: object, rows: int) -> list[str]:
        """The last records with another value, of a new person."""
        if self._column is None:
            return []
        new: dict[str, Any] = {self._column: value}
        if self._unit is not None:
            people = [json.loads(record).get(self._unit) for record in self.records]
            whole = all(isinstance(person, int) for person in people)
            new[self._unit] = max(people) + 1 if whole else NEW_PERSON
        changed = (json.loads(record) | new for record in self.records[-rows:])
        return [f"{json.dumps(fields, default=str)}\n" for fields in changed]


def _new_person(people: Sequence[str]) -> str:
    """An identifier that nobody has, of the same type."""
    if all(person.lstrip("-").isdecimal() for person in people if person):
        return str(max((int(person) for person in people if person), default=0) + 1)
    return NEW_PERSON


def _of_lines(
    lines: _Fields | _Objects, values: Iterable[Any], rows: int
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Records and neighboring records of a file."""
    records = lines.records
    if not records:
        return
    person = lines.person(len(records) - 1)
    if person is None:
        yield "the last record leaves", records, records[:-1]
    else:
        is_own = [lines.person(at) == person for at in range(len(records))]
        remaining = [record for record, leaves in zip(records, is_own, strict=True) if not leaves]
        last = [record for record, leaves in zip(records, is_own, strict=True) if leaves]
        yield "the last person leaves", remaining + last, remaining
    for value in values:
        joining = lines.joining(value, 1 if person is None else rows)
        if joining:
            yield f"{value if value != '' else 'a missing value'} joins", records, records + joining
