"""Text input and output: values that people write, and text that is safe to show."""

from __future__ import annotations

import csv
import datetime as dt
import re
import unicodedata
from typing import Any

from duffdp.errors import DuffError

# Backslashes where every dialect of Markdown knows them, entities elsewhere.
_MARKS = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\`*_{}[]#!"} | {mark: f"&#{ord(mark)};" for mark in "&<>|~$@"}
)
_LATEX = str.maketrans(
    {mark: f"\\{mark}" for mark in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "'": r"\textquotesingle{}",
        "`": r"\textasciigrave{}",
        "-": "-{}",  # no ligatures: two hyphens stay two
        "[": "{}[",  # no optional argument after the end of a line
    }
)
# Some dialects make links of addresses and pictures of words between colons; 10:30 is neither.
_LINKS = re.compile(r"(?<!\d):(?=\S)|:(?=[^\d\s])|(?<=www)\.", re.IGNORECASE)
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # narrow and wide
# Of an address of a database, one that became a path too.
_PASSWORD = re.compile(
    r"(postgres(?:ql)?:/+[^\s:@/]*):\S*(?=@)|([?&](?:ssl)?password=)[^\s&'\"]*", re.IGNORECASE
)
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?")


def visible(text: str) -> str:
    """The text with control, format and surrogate characters written out.

    None of them can then act on a terminal or a page.

    Examples
    --------
    >>> from duffdp._text import visible
    >>> visible("red\\x1b[31m")
    'red\\\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(_written(char) for char in text)


def _written(char: str) -> str:
    if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return char
    code = ord(char)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )


def without_passwords(text: str) -> str:
    """The text, addresses of databases in it without their passwords.

    Examples
    --------
    >>> from duffdp._text import without_passwords
    >>> without_passwords("no plan 'postgresql:/ann:secret@host/clinic::people'")
    "no plan 'postgresql:/ann@host/clinic::people'"
    """
    return _PASSWORD.sub(lambda match: match[1] or match[2], text)


def as_html(value: object) -> str:
    """Any text in HTML, between tags or in quotation marks."""
    from html import escape  # here: it brings a long table that few need

    return escape(visible(str(value)))


def as_markdown(value: object) -> str:
    """Any text in a line or a table of Markdown: it is read as it is and marks nothing up."""
    text = " ".join(visible(str(value)).split()).translate(_MARKS)
    return _LINKS.sub(lambda match: f"&#{ord(match[0])};", text)


def as_latex(value: object) -> str:
    """Any text in a line of LaTeX: it is read as it is and starts no command.

    Examples
    --------
    >>> from duffdp._text import as_latex
    >>> as_latex("50 % of {a_b}")
    '50 \\\\% of \\\\{a\\\\_b\\\\}'
    """
    return " ".join(visible(str(value)).split()).translate(_LATEX)


def as_csv_text(text: str) -> str:
    """Text for a CSV that spreadsheets read as text: a formula gets an apostrophe in front.

    Examples
    --------
    >>> from duffdp._text import as_csv_text
    >>> as_csv_text("=1+1"), as_csv_text("-1"), as_csv_text("north")
    ("'=1+1", '-1', 'north')
    """
    text = visible(text)
    acts = text.lstrip().startswith(_FORMULA) and not _NUMBER.fullmatch(text)
    return f"'{text}" if acts else text


def value(text: str) -> Any:
    """A number, an ISO date or an ISO time."""
    for read in (int, float, _moment):
        try:
            return read(text)
        except ValueError:
            continue
    raise DuffError(f"expected a number or an ISO date such as 2024-12-31, got {text!r}.")


def _moment(text: str) -> dt.date:
    return dt.date.fromisoformat(text) if len(text) <= 10 else dt.datetime.fromisoformat(text)


def comma_list(text: str) -> list[str]:
    """The values of a list with commas, quoted like CSV."""
    return next(csv.reader([text], skipinitialspace=True), [])


def parameter_text(value: float) -> str:
    """A parameter with four digits at most."""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def duration_text(step: dt.timedelta) -> str:
    """A duration in days, or in seconds if it is no whole number of days."""
    if step.seconds or step.microseconds:
        seconds = step.total_seconds()
        return f"{parameter_text(seconds)} seconds" if seconds != 1 else "1 second"
    return "1 day" if step.days == 1 else f"{step.days} days"
