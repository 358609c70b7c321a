"""Names and texts inside of a query."""

from __future__ import annotations


def quote_name(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"
