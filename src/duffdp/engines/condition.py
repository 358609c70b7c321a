"""Which rows count, as a text that people know from SQL: comparisons of a column with fixed values.

The grammar has nothing that could fail for a record: no arithmetic, no functions, no casts. A row
is kept or not by its own fields alone, and where a field is missing no comparison holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from duffdp.errors import DuffError

LONGEST = 10_000  # letters
DEEPEST = 50  # parentheses in one another
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[+-]?(?:\d{1,99}(?:\.\d{0,99})?|\.\d{1,99})(?:[eE][+-]?\d{1,3})?(?![\w.]))
      | (?P<text>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")+")
      | (?P<word>[^\W\d]\w*)
      | (?P<mark><>|!=|<=|>=|[=<>(),])
    )""",
    re.VERBOSE,
)
_WORDS = {"AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "TRUE", "FALSE"}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_EXAMPLE = "Pass for example where=\"age >= 18 AND ward <> 'ER'\"."


class Compared(NamedTuple):
    """A column that is below or above a value: `mark` is <, <=, > or >=."""

    column: str
    mark: str
    value: Any


class Among(NamedTuple):
    """A column that is one of some values; or, `negated`, has a value that is none of them."""

    column: str
    values: tuple[Any, ...]
    negated: bool


class Missing(NamedTuple):
    """A column without a value; or, `negated`, with one."""

    column: str
    negated: bool


class Combined(NamedTuple):
    """All of some conditions, or any of them."""

    every: bool
    parts: tuple[Part, ...]


Part = Compared | Among | Missing | Combined


class Condition(NamedTuple):
    """A condition as it was written, and what it says; no NOT is left in it."""

    text: str
    part: Part

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at."""
        return tuple(dict.fromkeys(leaf.column for leaf in leaves(self.part)))


def leaves(part: Part) -> Iterator[Compared | Among | Missing]:
    """All that is said of single columns."""
    if isinstance(part, Combined):
        for inner in part.parts:
            yield from leaves(inner)
    else:
        yield part


def read_condition(given: Any) -> Condition:
    """The condition in a text."""
    if not isinstance(given, str) or not given.strip() or len(given) > LONGEST:
        raise DuffError(
            f"where must be a text of at most {LONGEST} letters, got {given!r:.60}. {_EXAMPLE}"
        )
    return Condition(given.strip(), _Parser(given).parse())


class _Parser:
    """A descent through the grammar; `negated` goes down to the comparisons (De Morgan)."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._depth = 0

    def parse(self) -> Part:
        part = self._either(False)
        if self._kind != "end":
            raise self._wrong("AND, OR or the end")
        return part

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def _value(self) -> Any:
        return self._tokens[self._at][1]

    def _take(self, *wanted: str) -> bool:
        """Whether the next token is one of these words or marks, which is then taken."""
        found = self._kind in ("reserved", "mark") and self._value in wanted
        self._at += found
        return found

    def _expect(self, wanted: str) -> None:
        if not self._take(wanted):
            raise self._wrong(wanted)

    def _wrong(self, wanted: str) -> DuffError:
        found = "the end" if self._kind == "end" else repr(str(self._value))
        return DuffError(f"where needs {wanted}, got {found:.60}. {_EXAMPLE}")

    def _either(self, negated: bool) -> Part:
        return self._combined(self._both, "OR", negated, every=negated)

    def _both(self, negated: bool) -> Part:
        return self._combined(self._one, "AND", negated, every=not negated)

    def _combined(
        self, read: Callable[[bool], Part], word: str, negated: bool, every: bool
    ) -> Part:
        parts = [read(negated)]
        while self._take(word):
            parts.append(read(negated))
        return parts[0] if len(parts) == 1 else Combined(every, tuple(parts))

    def _one(self, negated: bool) -> Part:
        while self._take("NOT"):
            negated = not negated
        if not self._take("("):
            return self._leaf(negated)
        self._depth += 1
        if self._depth > DEEPEST:
            raise DuffError(f"where takes at most {DEEPEST} parentheses in one another.")
        part = self._either(negated)
        self._expect(")")
        self._depth -= 1
        return part

    def _leaf(self, negated: bool) -> Part:
        if self._kind != "name":
            raise self._wrong("the name of a column")
        column = self._value
        self._at += 1
        if self._take("IS"):
            negated ^= self._take("NOT")
            self._expect("NULL")
            return Missing(column, negated)
        negated ^= self._take("NOT")
        if self._take("IN"):
            self._expect("(")
            values = [self._literal()]
            while self._take(","):
                values.append(self._literal())
            self._expect(")")
            return Among(column, tuple(values), negated)
        if self._take("BETWEEN"):
            low = self._literal()
            self._expect("AND")
            marks = ("<", ">") if negated else (">=", "<=")
            ends = zip(marks, (low, self._literal()), strict=True)
            return Combined(not negated, tuple(Compared(column, *end) for end in ends))
        mark = self._value
        if self._take("=", "<>", "!="):
            return Among(column, (self._literal(),), negated ^ (mark != "="))
        if self._take("<", "<=", ">", ">="):
            return Compared(column, _OPPOSITE[mark] if negated else mark, self._literal())
        raise self._wrong("a comparison, IN, BETWEEN or IS NULL after a column")

    def _literal(self) -> Any:
        if self._take("TRUE"):
            return True
        if self._take("FALSE"):
            return False
        if self._kind not in ("number", "text"):
            raise self._wrong("a number, a 'text', TRUE or FALSE")
        value = self._value
        self._at += 1
        return value


def _tokens(text: str) -> Iterator[tuple[str, Any]]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise DuffError(f"where cannot be read from {text[at:].strip()!r:.40} on. {_EXAMPLE}")
        at = match.end()
        kind, found = str(match.lastgroup), match[str(match.lastgroup)]
        if kind == "number":
            yield kind, int(found) if found.lstrip("+-").isdigit() else Decimal(found)
        elif kind == "text":
            yield kind, found[1:-1].replace("''", "'")
        elif kind == "quoted":
            yield "name", found[1:-1].replace('""', '"')
        elif kind == "word" and found.upper() in _WORDS:
            yield "reserved", found.upper()
        else:
            yield ("name" if kind == "word" else kind), found
    yield "end", None
