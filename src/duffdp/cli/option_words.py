"""Errors of the Python interface in the words of the command line: `--keys a,b` for `keys=["a",
"b"]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from duffdp.errors import BoundsError, DuffError, UnsupportedData

OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        *("epsilon", "bounds", "digits", "step", "categories", "column", "by", "keys", "where"),
        *("unit", "contributions", "groups_per_person", "suppress_below", "interval", "covers"),
        *("simultaneous", "mechanism", "trim", "values", "between", "bins", "nonnegative"),
        *("adds_up", "confidence", "nodes", "x", "y", "n", "group_size", "delta", "draws"),
        *("within", "probability", "width"),
    )
} | {"q": "-q", "k": "-k", "qs": "-q"}
PAIRS = ("bounds", "between")
REPEATED = ("by", "qs")
_NAMES = "|".join(sorted(OPTIONS, key=len, reverse=True))
_ASSIGNED = re.compile(
    rf"""(?<![\w"'-])({_NAMES})=(duffdp\.Digits\(\d+\)|"[^"]*"|'[^']*'|\[[^\]]*\]|\([^)]*\)|[\w.+-]*\w)"""
)
_SUBJECT = re.compile(rf"^({_NAMES})(?= (?:must|needs|need|are|is|says|goes|takes)\b)")
_NEEDED = re.compile(rf"(?<= needs )(either )?({_NAMES})((?: or )({_NAMES}))?(?=[, ])")


@contextmanager
def in_words_of_options() -> Iterator[None]:
    """Errors about arguments speak of options."""
    try:
        yield
    except DuffError as error:
        if type(error) in (DuffError, BoundsError, UnsupportedData):  # others are of budgets
            error.args = (in_options(str(error)),)  # the same error: a note says what it has cost
        raise


def in_options(text: str) -> str:
    """What an error says, with options in the place of arguments."""
    text = _SUBJECT.sub(lambda found: OPTIONS[found[1]], text)
    text = _NEEDED.sub(_named, text)
    return _ASSIGNED.sub(lambda found: _written(found[1], found[2]), text)


def _named(found: re.Match[str]) -> str:
    """One name, or either of two."""
    other = f" or {OPTIONS[found[4]]}" if found[4] else ""
    return f"{found[1] or ''}{OPTIONS[found[2]]}{other}"


def _written(name: str, given: str) -> str:
    """An argument as an option with its value."""
    if given.startswith("duffdp.Digits("):
        return f"--digits {given[len('duffdp.Digits(') : -1]}"
    import ast  # here: only errors need it

    try:
        value: Any = ast.literal_eval(given)
    except (ValueError, SyntaxError):  # no example, but what somebody wrote
        value = given
    option = OPTIONS[name]
    if value is True:
        return option
    if value is None or value is False:
        return f"no {option}"
    if not isinstance(value, list | tuple):
        return f"{option} {_quoted(str(value))}"
    parts = [_quoted(str(part)) for part in value]
    if name in REPEATED:
        return " ".join(f"{option} {part}" for part in parts)
    return f"{option} {(' ' if name in PAIRS else ',').join(parts)}"


def _quoted(text: str) -> str:
    """A value as a shell takes it."""
    if not re.search(r"[\s<>'\"]", text):
        return text
    return f'"{text}"' if "'" in text else f"'{text}'"
