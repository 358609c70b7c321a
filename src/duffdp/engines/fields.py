"""How one field of text becomes a value: by the kind of the public domain and by nothing else.

A field that does not fit is missing. No other field has a say in it, so every rule here is an expression of one field that
cannot fail.
"""

from __future__ import annotations

# A day, or a day and a time, as ISO 8601 writes them; and the same with blanks around and an offset from UTC.
_WALL = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?"
_MOMENT = rf"^\s*({_WALL})(?:Z|([+-])([01]\d|2[0-3]):?([0-5]\d)?)?\s*$"
_TYPES = {
    "int": "DOUBLE",
    "float": "DOUBLE",
    "decimal": "DOUBLE",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "category": "VARCHAR",
}


def read_field(text: str, kind: str) -> str:
    """The SQL expression of a text as a value of this kind: "int", "float", "decimal", "date", "datetime" or "category".

    Numbers are what DuckDB casts to DOUBLE: digits with a point, an exponent, a sign, single underscores between digits and
    blanks around them; `inf` is infinite and `nan` is missing. Days and times are ISO 8601 alone; a time with an offset is
    moved to UTC, one without stays as it is.
    """
    if kind == "category":
        return text
    if kind in ("date", "datetime"):
        return f"TRY_CAST({_moment(text)} AS {_TYPES[kind]})"
    return f"TRY_CAST({text} AS {_TYPES[kind]})"


def _moment(text: str) -> str:
    parts = f"regexp_extract({text}, '{_MOMENT}', ['wall', 'sign', 'hours', 'minutes'])"
    offset = " + ".join(
        f"COALESCE(TRY_CAST(({parts}).sign || ({parts}).{part} AS INTEGER), 0) * {minutes}"
        for part, minutes in (("hours", 60), ("minutes", 1))
    )
    moved = f"TRY_CAST(({parts}).wall AS TIMESTAMP) - to_minutes({offset})"
    # Taking a text apart is slow, and most have no offset.
    usual = f"regexp_full_match({text}, '{_WALL}') THEN TRY_CAST({text} AS TIMESTAMP)"
    return f"CASE WHEN {usual} ELSE {moved} END"
