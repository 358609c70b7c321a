"""Conditions on rows in a subset of SQL: comparisons of a column with fixed values.

The grammar has nothing that could fail for a record: no arithmetic, no functions, no casts. Values
are brought to the type of their column before a row is read. A row is kept or not by its own fields
alone, in every engine alike. Null and nan are missing, and no comparison with what is missing
holds.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from operator import and_, ge, gt, le, lt, or_
from typing import Any, NamedTuple

import numpy as np

from duffdp._engines.libraries import Narwhals, is_of_library
from duffdp._engines.public_values import column_values, whole_range
from duffdp._engines.queries import clocks
from duffdp.domain import Array
from duffdp.domain.cells import is_present
from duffdp.domain.reading import microseconds, moments, nearest_double
from duffdp.domain.zones import instant, reach, read_zone
from duffdp.errors import QUERY, Argument, DuffError, UnsupportedData

MAX_CONDITION_LETTERS = 10_000  # letters
DEEPEST = 50  # nested parentheses
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<number>[+-]?(?:\d{1,99}(?:\.\d{0,99})?|\.\d{1,99})(?:[eE][+-]?\d{1,3})?(?![\w.]))
      | (?P<text>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")+")
      | (?P<word>[^\W\d]\w*)
      | (?P<mark><>|!=|<=|>=|==|[=<>(),])
    )""",
    re.VERBOSE,
)
_WORDS = {"AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "TRUE", "FALSE"}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_WHERE = Argument("where")
_EXAMPLE = (" Pass for example ", Argument("where", "age >= 18 AND ward <> 'ER'"), ".")
_QUERIES = (" For arithmetic, functions, LIKE or two columns, use ", Argument(QUERY), ".")
# Signs of other languages, and what the condition has instead.
_HABITS = {"&": "AND", "|": "OR", "!": "NOT", "^": "NOT", "~": "NOT"}
_ARITHMETIC = ("+", "-", "*", "/", "%")


class Compared(NamedTuple):
    """A condition that a column is below or above a value; `mark` is <, <=, > or >=."""

    column: str
    mark: str
    value: Any


class IsIn(NamedTuple):
    """A condition that a column has one of some values or, if `negated`, a value that is none of
    them.
    """

    column: str
    values: tuple[Any, ...]
    negated: bool


class Missing(NamedTuple):
    """A condition that a column has no value or, if `negated`, that it has one."""

    column: str
    negated: bool


class Combined(NamedTuple):
    """A condition that all of some conditions are true, or any of them."""

    conjunction: bool
    parts: tuple[Part, ...]


Part = Compared | IsIn | Missing | Combined


class Condition(NamedTuple):
    """A condition as text and parsed, without NOT."""

    text: str
    part: Part

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at."""
        return tuple(dict.fromkeys(leaf.column for leaf in leaves(self.part)))


def leaves(part: Part) -> Iterator[Compared | IsIn | Missing]:
    """All that is said of single columns."""
    if isinstance(part, Combined):
        for inner in part.parts:
            yield from leaves(inner)
    else:
        yield part


def _declare(column: str) -> tuple[str | Argument, ...]:
    """The advice to declare the type of a column in a text file."""
    return " Declare its type: ", Argument("types", {column: "integer"}), "."


def read_condition(text: Any) -> Condition:
    """The condition in a text."""
    if is_of_library(text) or isinstance(text, np.ndarray | list | tuple):
        raise DuffError(
            *(
                _WHERE,
                f" must be a condition written as in SQL, got {type(text).__name__}. A mask ",
            ),
            "is refused, because it could depend on other rows.",
            *_EXAMPLE,
        )
    if not isinstance(text, str):
        raise DuffError(
            *(_WHERE, f" must be a condition written as in SQL, got {type(text).__name__}."),
            *_EXAMPLE,
        )
    if not text.strip():
        raise DuffError(_WHERE, " must not be empty. Leave it out to use all rows.")
    if text.lstrip()[:7].upper() == "SELECT ":
        raise DuffError(_WHERE, " must be the condition alone, without SELECT.", *_EXAMPLE)
    if len(text) > MAX_CONDITION_LETTERS:
        raise DuffError(
            _WHERE, f" must have at most {MAX_CONDITION_LETTERS:,} characters, got {len(text):,}."
        )
    return Condition(text.strip(), _Parser(text).parse())


class _Parser:
    """A recursive-descent parser; `negated` moves NOT down to the comparisons (De Morgan)."""

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

    def _take(self, *words: str) -> bool:
        """Take the next token if it is one of these words or marks; True if it is."""
        matches = self._kind in ("reserved", "mark") and self._value in words
        self._at += matches
        return matches

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise self._wrong(repr(word) if word in "()," else word)

    def _wrong(self, expected: str, fix: tuple[str | Argument, ...] = ()) -> DuffError:
        if self._kind == "end":
            return DuffError(_WHERE, f" ends too early: {expected} is missing.", *_EXAMPLE, *fix)
        shown_token = repr(str(self._value))
        return DuffError(_WHERE, f" needs {expected}, got {shown_token:.60}.", *_EXAMPLE, *fix)

    def _either(self, negated: bool) -> Part:
        return self._combined(self._conjunction, "OR", negated, conjunction=negated)

    def _conjunction(self, negated: bool) -> Part:
        return self._combined(self._negation, "AND", negated, conjunction=not negated)

    def _combined(
        self, read: Callable[[bool], Part], word: str, negated: bool, conjunction: bool
    ) -> Part:
        parts = [read(negated)]
        while self._take(word):
            parts.append(read(negated))
        return parts[0] if len(parts) == 1 else Combined(conjunction, tuple(parts))

    def _negation(self, negated: bool) -> Part:
        while self._take("NOT"):
            negated = not negated
        if not self._take("("):
            return self._leaf(negated)
        self._depth += 1
        if self._depth > DEEPEST:
            raise DuffError(_WHERE, f" can have at most {DEEPEST} nested parentheses.")
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
            return IsIn(column, tuple(values), negated)
        if self._take("BETWEEN"):
            low = self._literal()
            self._expect("AND")
            marks = ("<", ">") if negated else (">=", "<=")
            ends = zip(marks, (low, self._literal()), strict=True)
            return Combined(not negated, tuple(Compared(column, *end) for end in ends))
        mark = self._value
        if self._take("=", "<>", "!="):
            return IsIn(column, (self._literal(),), negated ^ (mark != "="))
        if self._take("<", "<=", ">", ">="):
            return Compared(column, _OPPOSITE[mark] if negated else mark, self._literal())
        raise self._wrong("a comparison, IN, BETWEEN or IS NULL after a column", _QUERIES)

    def _literal(self) -> Any:
        if self._take("TRUE"):
            return True
        if self._take("FALSE"):
            return False
        if self._kind not in ("number", "text"):
            if self._kind == "name":
                raise DuffError(
                    *(_WHERE, " compares columns with fixed values, got the name of a column, "),
                    f"{self._value:.60}. Put text in single quotes: '{self._value:.60}'.",
                    *_QUERIES,
                )
            raise self._wrong("a number, a 'text', TRUE or FALSE")
        value = self._value
        self._at += 1
        return value


def _unreadable(rest: str) -> DuffError:
    """The error about a condition that cannot be parsed from here on."""
    fix: tuple[str | Argument, ...] = _EXAMPLE
    if rest.startswith(tuple(_HABITS)):
        sign = re.match(r"(.)\1?", rest)
        assert sign is not None
        fix = (f" Write {_HABITS[rest[0]]} instead of {sign[0]}.",)
    elif rest.startswith(("'", '"')):
        fix = (" The quote is not closed.",)
    elif rest.startswith(_ARITHMETIC):
        fix = _QUERIES
    return DuffError(_WHERE, f" cannot be parsed from {rest!r:.40} on.", *fix)


def _tokens(text: str) -> Iterator[tuple[str, Any]]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unreadable(text[at:].strip())
        at = match.end()
        kind, token = str(match.lastgroup), match[str(match.lastgroup)]
        if kind == "number":
            yield kind, int(token) if token.lstrip("+-").isdigit() else Decimal(token)
        elif kind == "text":
            yield kind, token[1:-1].replace("''", "'")
        elif kind == "quoted":
            yield "name", token[1:-1].replace('""', '"')
        elif kind == "word" and token.upper() in _WORDS:
            yield "reserved", token.upper()
        else:
            yield ("name" if kind == "word" else kind), "=" if token == "==" else token
    yield "end", None


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_SUPPORTED = "numbers, booleans, text, dates and times"
_EXAMPLES = {
    "integer": "a number such as 18",
    "double": "a number such as 18",
    "decimal": "a number such as 18",
    "boolean": "TRUE or FALSE",
    "text": "text in single quotes such as 'ER'",
    "date": "a date such as '2024-07-31'",
    "time": "a time such as '2024-07-31 23:59'",
}
_NUMBERS = ("decimal", "time")  # which are compared as doubles, and as microseconds since 1970


class RowFilter:
    """A condition for columns of known types.

    Parameters
    ----------
    nw
        The narwhals module.
    condition
        The condition on rows.
    types
        The declared types of its columns.
    untyped
        Those of them that are text because their file declares no types.
    objects
        Whether texts in a column of objects can be compared.
    """

    def __init__(
        self,
        nw: Narwhals,
        condition: Condition,
        types: Mapping[str, Any],
        untyped: Container[str],
        objects: bool,
    ) -> None:
        self._nw, self._types, self._part = nw, types, condition.part
        self._values: dict[Any, Any] = {}
        kinds = {name: self._kind(name, objects) for name in condition.columns}
        self._kinds = kinds
        #: The columns that are compared as numbers which they are not.
        self.numbers = [name for name, kind in kinds.items() if kind in _NUMBERS]
        for leaf in leaves(condition.part):
            kind = kinds[leaf.column]
            if isinstance(leaf, Compared):
                if kind in ("text", "boolean"):
                    raise self._unordered(leaf, kind, leaf.column in untyped)
                self._values[leaf] = self._end(leaf, kind)
            elif isinstance(leaf, IsIn):
                self._values[leaf] = self._listed(leaf, kind, leaf.column in untyped)

    def _kind(self, column: str, objects: bool) -> str:
        nw, dtype = self._nw, self._types[column]
        if dtype.is_integer():
            return "integer"
        if dtype in (nw.Float32, nw.Float64):
            return "double"
        if dtype == nw.Boolean:
            return "boolean"
        if dtype == nw.Decimal:
            return "decimal"
        if dtype == nw.Date:
            return "date"
        if isinstance(dtype, nw.Datetime):
            return "time"
        if isinstance(dtype, nw.String | nw.Categorical | nw.Enum) or (
            objects and dtype == nw.Object
        ):
            return "text"
        raise UnsupportedData(
            *(
                _WHERE,
                f" can only compare columns of {_SUPPORTED}, got {column!r} of type {dtype}. "
                "Convert ",
            ),
            "it first.",
        )

    def _literal(self, column: str, kind: str, value: Any, untyped: bool = False) -> Any:
        """A value of the kind of its column; a date or time is written as text."""
        number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        fits = dict.fromkeys(("integer", "double", "decimal"), number)
        fits["boolean"] = isinstance(value, bool)
        if fits.get(kind, isinstance(value, str)):
            try:
                if kind == "date":
                    return dt.date.fromisoformat(value)
                if kind != "time":
                    return value
                moment = dt.datetime.fromisoformat(value)
            except ValueError:
                pass
            else:
                return self._instant(column, moment)
        expected = _EXAMPLES[kind]
        fix = _declare(column) if untyped else ()
        raise DuffError(
            *(_WHERE, f" must compare {column!r} of type {self._types[column]} with {expected}, "),
            *(f"got {value!r:.60}.", *fix),
        )

    def _instant(self, column: str, moment: dt.datetime) -> int:
        """A time in microseconds since 1970; without a zone it is a time of the column's clocks."""
        zone = self._types[column].time_zone
        if moment.tzinfo is not None and zone is None:
            raise DuffError(
                *(_WHERE, f": the times of {column!r} have no zone, got {moment.isoformat()!r}. "),
                "Leave the zone out.",
            )
        ticks = microseconds(moment)
        assert ticks is not None
        return ticks if zone is None or moment.tzinfo else instant(ticks, read_zone(zone))

    def _unordered(self, leaf: Compared, kind: str, untyped: bool) -> DuffError:
        return DuffError(
            *(_WHERE, f" cannot order {kind}, got {leaf.mark} for {leaf.column!r} of type "),
            f"{self._types[leaf.column]}. Use =, <> or IN.",
            *(_declare(leaf.column) if untyped else ()),
        )

    def _listed(self, leaf: IsIn, kind: str, untyped: bool) -> list[Any]:
        """The values that the column can hold at all."""
        literals = [self._literal(leaf.column, kind, value, untyped) for value in leaf.values]
        if kind in _NUMBERS:
            return list(dict.fromkeys(_as_number(kind, value) for value in literals))
        convert = column_values(self._nw, self._types[leaf.column])
        return list(dict.fromkeys(converted for value in literals for converted in convert(value)))

    def _end(self, leaf: Compared, kind: str) -> tuple[str, Any] | bool:
        """The comparison with a value of the type of the column; or whether it holds for all."""
        value, dtype = self._literal(leaf.column, kind, leaf.value), self._types[leaf.column]
        if kind == "integer":
            lowest, highest = whole_range(self._nw, dtype)
            if leaf.mark in (">", ">="):
                end = math.floor(value) + 1 if leaf.mark == ">" else math.ceil(value)
                return end <= lowest or (end <= highest and (">=", end))
            end = math.ceil(value) - 1 if leaf.mark == "<" else math.floor(value)
            return end >= highest or (end >= lowest and ("<=", end))
        if kind == "double":
            (number,) = column_values(self._nw, dtype)(value)
            return leaf.mark, number
        return leaf.mark, _as_number(kind, value)

    def mask(self, adapter: Any) -> Array:
        """Mask of the rows of a frame in memory that the condition keeps."""
        mask: Array = self._mask(adapter, self._part)
        return mask

    def _mask(self, adapter: Any, part: Part) -> Any:
        if isinstance(part, Combined):
            masks = (self._mask(adapter, inner) for inner in part.parts)
            return reduce(and_ if part.conjunction else or_, masks)
        present = self._present(adapter, part.column)
        if isinstance(part, Missing):
            return present if part.negated else ~present
        values = self._values[part]
        if isinstance(part, Compared):
            if isinstance(values, bool):
                return present & values
            return present & self._compare(adapter, part.column, present, *values)
        if part.column in self.numbers:
            listed = present & np.isin(self._as_numbers(adapter, part.column, present), values)
        else:
            listed = adapter.positions(part.column, values) >= 0 if values else present & ~present
        return present & ~listed if part.negated else listed

    def _present(self, adapter: Any, name: str) -> Array:
        if self._types[name] != self._nw.Object:
            present = np.asarray(~adapter.missing(name))
            if self._kinds[name] == "time":  # numpy has no time of the least 64 bits
                present = present & ~np.isnat(adapter.array(name)[0])
            return present
        return np.array(
            [is_present(record) for record in adapter.column(name).to_list()], dtype=bool
        )

    def _compare(self, adapter: Any, name: str, present: Array, mark: str, value: Any) -> Array:
        """Mask of the rows for which a comparison of a column in memory holds; anything for rows
        without a value.
        """
        if name in self.numbers:
            return np.asarray(_COMPARE[mark](self._as_numbers(adapter, name, present), value))
        long = (self._nw.Int128, self._nw.UInt128)  # which numpy does not have
        if self._kinds[name] == "integer" and self._types[name] not in long:
            # pyarrow would bring the column to the type of the value, which may be too small.
            return np.asarray(_COMPARE[mark](adapter.array(name)[0], value))
        series = adapter.column(name)
        if self._types[name] == self._nw.Float32:
            series = series.cast(self._nw.Float64)
        mask: Array = _COMPARE[mark](series, value).fill_null(False).to_numpy().astype(bool)
        return mask

    def _as_numbers(self, adapter: Any, name: str, present: Array) -> Array:
        array, _ = adapter.array(name)
        if self._kinds[name] == "decimal":
            return np.asarray(array)
        numbers = np.zeros(len(array), dtype=np.int64)
        numbers[present] = moments(array[present], days=False)
        return numbers

    def filtered(
        self, engine: Any, rows: Any, names: Mapping[str, str], numbers: Mapping[str, str]
    ) -> Any:
        """Those rows of a lazy frame that are kept; `names` are those of the columns there, and
        `numbers` those of their copies that become numbers.
        """
        nw, schema = self._nw, rows.collect_schema()
        for column, name in numbers.items():
            if self._kinds[column] == "decimal":
                rows = engine.doubles(rows, name)
                continue
            ends = self._reach(column)
            rows, unit = engine.clock(rows, name, ends)
            ticks = clocks.microseconds(nw, nw.col(name), unit, ends)
            rows = rows.with_columns(ticks.alias(name))
        columns: dict[str, Any] = {}
        missing: dict[str, Any] = {}
        for column, name in names.items():
            declared, read = self._types[column], nw.col(name)
            missing[column] = read.is_null()
            if declared.is_float() and engine.holds_nan:
                missing[column] = missing[column] | read.is_nan()
            elif engine.has_custom_missing and declared == nw.Decimal:
                missing[column] = missing[column] | (read.cast(nw.String) == "NaN")
            if isinstance(declared, nw.Categorical | nw.Enum):
                read = read.cast(nw.String)
            elif declared == nw.Float32:
                read = read.cast(nw.Float64)
            elif declared == nw.Boolean and schema[name].is_integer():
                read = read == 1
            columns[column] = nw.col(numbers[column]) if column in numbers else read
        return rows.filter(self._expression(engine, self._part, columns, missing))

    def _expression(
        self,
        engine: Any,
        part: Part,
        columns: Mapping[str, Any],
        missing_columns: Mapping[str, Any],
    ) -> Any:
        if isinstance(part, Combined):
            inner = [
                self._expression(engine, inner_part, columns, missing_columns)
                for inner_part in part.parts
            ]
            return _balanced(and_ if part.conjunction else or_, inner)
        column, missing = columns[part.column], missing_columns[part.column]
        if isinstance(part, Missing):
            return ~missing if part.negated else missing
        values = self._values[part]
        if isinstance(part, IsIn):
            if self._kinds[part.column] == "text":
                values = [engine.stands_for(value) for value in values]
            equal = [column == value for value in values]
            listed = _balanced(or_, equal) if equal else missing & ~missing
            return ~missing & (~listed if part.negated else listed)
        if isinstance(values, bool):
            return ~missing if values else missing & ~missing
        mark, value = values
        return ~missing & _COMPARE[mark](column, value)

    def _reach(self, column: str) -> tuple[int, int]:
        """From before all moments that a column is compared with to after them."""
        ends = [0]
        for leaf in leaves(self._part):
            if leaf.column == column and not isinstance(leaf, Missing):
                bounds = self._values[leaf]
                ends += bounds if isinstance(leaf, IsIn) else [bounds[1]]
        return reach("datetime", (min(ends), max(ends)))


def _as_number(kind: str, value: Any) -> Any:
    """The number that a value is compared as: a decimal as the nearest double."""
    return nearest_double(value) if kind == "decimal" else value


def _balanced(combine: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """Many conditions as one, not deep: engines have their limits."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return combine(_balanced(combine, parts[:half]), _balanced(combine, parts[half:]))
