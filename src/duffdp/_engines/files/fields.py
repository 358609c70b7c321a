"""Parts of DuckDB queries: names, texts, and one text field as a value.

How a field of text becomes a value is decided by the kind of the public domain and by nothing else.
A field that does not fit is missing. No other field has a say in it, so every rule here is an
expression of one field that cannot fail.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from glob import escape
from typing import NamedTuple

from duffdp._parameters import DEFAULT_ENCODING

# A day, or a day and a time, as ISO 8601 writes them; and the same with blanks around and an offset
# from UTC.
_WALL = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?"
_MOMENT = rf"^\s*({_WALL})(?:Z|([+-](?:[01]\d|2[0-3])):?([0-5]\d)?)?\s*$"
_OFFSET = rf"\s*{_WALL}(?:Z|[+-](?:[01]\d|2[0-3]):?(?:[0-5]\d)?)\s*"
_TYPES = {
    "int": "DOUBLE",
    "float": "DOUBLE",
    "decimal": "DOUBLE",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "integer": "BIGINT",
    "boolean": "BOOLEAN",
}
_TRUE, _FALSE = "('true', 't', 'yes', 'y', '1')", "('false', 'f', 'no', 'n', '0')"
BOOLEANS = "true, yes, t, y, 1, false, no, f, n and 0"
# What stands for a part of a date or time: DuckDB alone would also take "epoch" and half a year.
_PARTS = {
    **dict.fromkeys("dmyHIMS", r"\d{1,2}"),
    "Y": r"\d{4}",
    "f": r"\d{1,6}",
    "p": "[AaPp][Mm]",
    "%": "%",
    "b": "[A-Za-z]{3}",
    "B": "[A-Za-z]+",
}
# The characters that are written for each mark of thousands: spaces that do not break, and the
# typographic apostrophe.
_MARKS = {".": ".", ",": ",", "'": "'\u2019", " ": " \u00a0\u202f"}


FILE_ZONE = "UTC"  # of instants in files, whatever the zone of this machine is


class FieldLabels(NamedTuple):
    """Labels that replace the fields of a text column and state at once whether each field is a
    number, a date or neither. A missing field has no label, and any other field has `OTHER_LABEL`.

    A label is "number 3" for a number from the third of the `numbers` to the next, "number 0"
    below all of them, and alike for the days of `dates`. `kind` is the declared kind of the column,
    by which alone its fields are read; None reads them as numbers first, and then as dates.
    """

    kind: str | None
    numbers: tuple[float, ...]
    dates: tuple[dt.date, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Labels of all numbers and dates that a field can be, in order."""
        return *(f"number {i}" for i in range(self._count("numbers"))), *(
            f"date {i}" for i in range(self._count("dates"))
        )

    def _count(self, what: str) -> int:
        timed = self.kind in ("date", "datetime")
        if self.kind == "category" or (self.kind is not None and timed != (what == "dates")):
            return 0
        return len(getattr(self, what)) + 1

    def expression(self, text: str, rules: FieldRules, zone: str | None) -> str:
        """The SQL expression of the label of a text."""
        cases = []
        if self._count("numbers"):
            value = read_field(text, self.kind or "float", rules)
            value = f"TRY_CAST({value} AS DOUBLE)"
            edges = [f"CAST({float(edge)!r} AS DOUBLE)" for edge in self.numbers]
            cases.append(f"WHEN isnan({value}) THEN NULL")  # it is missing everywhere else, too
            cases.append(f"WHEN {value} IS NOT NULL THEN 'number ' || ({_reached(value, edges)})")
        if self._count("dates"):
            value = f"CAST({read_field(text, self.kind or 'date', rules, zone)} AS DATE)"
            edges = [f"DATE '{day.isoformat()}'" for day in self.dates]
            cases.append(f"WHEN {value} IS NOT NULL THEN 'date ' || ({_reached(value, edges)})")
        present = f"WHEN {text} IS NOT NULL THEN {quote_text(OTHER_LABEL)}"
        return f"CASE {' '.join([*cases, present])} END"


OTHER_LABEL = "other"  # in no list of names


def _reached(value: str, edges: Sequence[str]) -> str:
    """The SQL expression of how many of some rising edges a value reaches."""
    return " + ".join(f"CAST({edge} <= {value} AS INTEGER)" for edge in edges)


class FieldRules(NamedTuple):
    """A caller's declarations about a text file: column types, decimal and thousands marks (None:
    none), the date format (None: ISO 8601), time zones, the encoding, and lines above the header.
    """

    kinds: Mapping[str, str | FieldLabels] = {}
    decimal: str = "."
    date_format: str | None = None
    zones: Mapping[str, str] = {}
    thousands: str | None = None
    encoding: str = DEFAULT_ENCODING
    skip_rows: int = 0

    @property
    def layout(self) -> tuple[str | int | None, ...]:
        """The rules that decide where fields are; the others decide what they hold."""
        return self.decimal, self.thousands, self.encoding, self.skip_rows


PLAIN_FIELDS = FieldRules()


def quote_name(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def quote_paths(paths: Iterable[str]) -> list[str]:
    """Paths of files in SQL, where no character of them is a pattern."""
    return [quote_text(escape(path)) for path in paths]


def field_type(kind: str) -> str:
    """The type that texts are read as for a kind; those of one type are read alike."""
    return _TYPES.get(kind, "VARCHAR")


def read_field(
    text: str,
    kind: str | FieldLabels,
    rules: FieldRules = PLAIN_FIELDS,
    zone: str | None = None,
) -> str:
    """The SQL expression of a text as a value of this kind: "int", "float", "decimal", "date" or
    "datetime", and "integer" or "boolean" where that is declared; of any other kind it stays a
    text. With labels it is the label of the field.

    Numbers are what DuckDB casts to DOUBLE: digits with a point, an exponent, a sign, single
    underscores between digits and blanks around them; `inf` is infinite and `nan` is missing. Days
    and times are ISO 8601 alone, unless a format is given; a time with an offset is moved to UTC,
    one without stays as it is. With a zone, times are instants, those without an offset at which
    its clocks show them. With a mark of thousands, digits in groups of three are a number too.
    """
    if isinstance(kind, FieldLabels):
        return kind.expression(text, rules, zone)
    if kind not in _TYPES:
        return text
    if kind == "boolean":
        lower = f"lower(trim({text}))"
        return f"CASE WHEN {lower} IN {_TRUE} THEN true WHEN {lower} IN {_FALSE} THEN false END"
    if kind in ("date", "datetime"):
        moment = _moment(text) if rules.date_format is None else _written(text, rules.date_format)
        found = f"TRY_CAST({moment} AS {_TYPES[kind]})"
        return found if zone is None else _instant(text, found, zone, rules.date_format is None)
    ungrouped = _number(text, kind, rules.decimal)
    if rules.thousands is None:
        return ungrouped
    # A first group of 0 is none: 0.125 is no number with a mark of thousands.
    mark = "[" + "".join(map(re.escape, _MARKS[rules.thousands])) + "]"
    more = "" if kind == "integer" else rf"(?:{re.escape(rules.decimal)}\d*)?(?:[eE][+-]?\d+)?"
    pattern = rf"\s*[+-]?[1-9]\d{{0,2}}(?:{mark}\d{{3}})+{more}\s*"
    bare = _number(f"regexp_replace({text}, {quote_text(mark)}, '', 'g')", kind, rules.decimal)
    return (
        f"CASE WHEN regexp_full_match({text}, {quote_text(pattern)}) THEN {bare} "
        f"ELSE {ungrouped} END"
    )


def _number(text: str, kind: str, decimal: str) -> str:
    """A text as a number without a mark of thousands."""
    if kind == "integer":  # a cast alone would round 1.5
        whole = f"regexp_full_match({text}, '\\s*[+-]?\\d+\\s*')"
        return f"CASE WHEN {whole} THEN TRY_CAST({text} AS BIGINT) END"
    if decimal != ".":
        point = f"replace({text}, {quote_text(decimal)}, '.')"
        return f"CASE WHEN NOT contains({text}, '.') THEN TRY_CAST({point} AS DOUBLE) END"
    return f"TRY_CAST({text} AS {_TYPES[kind]})"


def _written(text: str, date_format: str) -> str:
    """A text as the moment that it is in this format."""
    parts = re.split("%(.)", date_format)
    pattern = "".join(_PARTS[part] if at % 2 else re.escape(part) for at, part in enumerate(parts))
    bare = f"trim({text})"
    return (
        f"CASE WHEN regexp_full_match({bare}, {quote_text(pattern)}) "
        f"THEN TRY_STRPTIME({bare}, {quote_text(date_format)}) END"
    )


def _instant(text: str, wall: str, zone: str, offsets: bool) -> str:
    """The instant of a local time in a zone: the first one if there are two, where DuckDB takes the
    last.

    A year has four digits, so that no time is near the ends of what DuckDB has.
    """
    name, day = quote_text(zone), "INTERVAL 25 HOUR"
    earlier = f"(timezone({name}, {wall} - {day}) + {day})"
    first = (
        f"CASE WHEN timezone({name}, {earlier}) = {wall} THEN {earlier} "
        f"ELSE timezone({name}, {wall}) END"
    )
    if not offsets:
        return first
    # In which a time with an offset is in UTC already.
    return (
        f"CASE WHEN regexp_full_match({text}, '{_OFFSET}') THEN timezone('UTC', {wall}) "
        f"ELSE {first} END"
    )


def _moment(text: str) -> str:
    wall = f"TRY_CAST(regexp_extract({text}, '{_MOMENT}', 1) AS TIMESTAMP)"
    hours = f"rpad(regexp_replace({text}, '{_MOMENT}', '\\2:\\3'), 6, '0')"
    offset = f"TRY_CAST(ltrim({hours}, '+') AS INTERVAL)"
    # Most have no offset, and to take a text apart is slow.
    usual = f"regexp_full_match({text}, '{_WALL}') THEN TRY_CAST({text} AS TIMESTAMP)"
    return f"CASE WHEN {usual} ELSE {wall} - COALESCE({offset}, INTERVAL 0 SECOND) END"
