"""What stands inside of a query of DuckDB: names, texts, and one field of text as a value.

How a field of text becomes a value is decided by the kind of the public domain and by nothing else.
A field that does not fit is missing. No other field has a say in it, so every rule here is an
expression of one field that cannot fail.
"""

from __future__ import annotations

from collections.abc import Iterable
from glob import escape

# A day, or a day and a time, as ISO 8601 writes them; and the same with blanks around and an offset
# from UTC.
_WALL = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?"
_MOMENT = rf"^\s*({_WALL})(?:Z|([+-](?:[01]\d|2[0-3])):?([0-5]\d)?)?\s*$"
_TYPES = {
    "int": "DOUBLE",
    "float": "DOUBLE",
    "decimal": "DOUBLE",
    "date": "DATE",
    "datetime": "TIMESTAMP",
}


def quote_name(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def quote_paths(paths: Iterable[str]) -> list[str]:
    """Paths of files in SQL, where no character of them is a pattern."""
    return [quote_text(escape(path)) for path in paths]


def read_fields(fields: Iterable[tuple[str, str]], values: tuple[str, ...], kind: str) -> str:
    """A list of columns from names and texts: `values` are read as this kind, all others stay
    text.
    """
    return ", ".join(
        f"{read_field(text, kind if name in values else 'category')} AS {quote_name(name)}"
        for name, text in fields
    )


def read_field(text: str, kind: str) -> str:
    """The SQL expression of a text as a value of this kind: "int", "float", "decimal", "date" or
    "datetime"; of any other kind it stays a text.

    Numbers are what DuckDB casts to DOUBLE: digits with a point, an exponent, a sign, single
    underscores between digits and blanks around them; `inf` is infinite and `nan` is missing. Days
    and times are ISO 8601 alone; a time with an offset is moved to UTC, one without stays as it is.
    """
    if kind not in _TYPES:
        return text
    if kind in ("date", "datetime"):
        return f"TRY_CAST({_moment(text)} AS {_TYPES[kind]})"
    return f"TRY_CAST({text} AS {_TYPES[kind]})"


def _moment(text: str) -> str:
    wall = f"TRY_CAST(regexp_extract({text}, '{_MOMENT}', 1) AS TIMESTAMP)"
    hours = f"rpad(regexp_replace({text}, '{_MOMENT}', '\\2:\\3'), 6, '0')"
    offset = f"TRY_CAST(ltrim({hours}, '+') AS INTERVAL)"
    # Most have no offset, and to take a text apart is slow.
    usual = f"regexp_full_match({text}, '{_WALL}') THEN TRY_CAST({text} AS TIMESTAMP)"
    return f"CASE WHEN {usual} ELSE {wall} - COALESCE({offset}, INTERVAL 0 SECOND) END"
