"""SQL expressions for engines without TRY, in a form that no record can make fail.

An engine says in words how each step is written so that it has a value, or none, for every record
there could be. What it has no words for is refused, by the types of columns and before a row is
read. As each step is safe by itself, it does not matter in which order an engine takes them."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

from duffdp.errors import Argument, DuffError


class Kind(StrEnum):
    """Type of a value, as far as an expression depends on it."""

    boolean = "boolean"
    integer = "integer"
    double = "double"
    decimal = "decimal"  # as a column of the engine has it
    number = "number"  # what arithmetic goes by
    text = "text"
    date = "date"
    time = "time"  # without a zone
    instant = "instant"
    null = "null"
    other = "other"


NUMBERS = (Kind.integer, Kind.double, Kind.decimal, Kind.number)
TIMES = (Kind.date, Kind.time, Kind.instant)


class Term(NamedTuple):
    """An expression in the engine's SQL, its kind, and its value if it is constant."""

    sql: str
    kind: Kind
    value: Any = None


@dataclass(frozen=True)
class Words:
    """SQL templates of an engine, with placeholders {0}, {1} and so on."""

    engine: str
    forms: Mapping[str, str]
    name: Callable[[str], str]  # of a column
    text: Callable[[str], str]
    pattern: Callable[[str], str]  # of LIKE, in which no sign is an escape


class Writing:
    """Base class of the steps for all kinds of values."""

    #: The method that writes a thing of a query, by what sqlglot calls it.
    steps: ClassVar[Mapping[str, str]] = {}

    def __init__(self, words: Words, kinds: Mapping[str, Kind]) -> None:
        self._words, self._kinds = words, kinds

    def term(self, node: Any) -> Term:
        """An expression that has a value, or none, for every record."""
        step = self.steps.get(type(node).__name__)
        if step is None:
            raise self._refused(node)
        written: Term = getattr(self, step)(node)
        return written

    def _refused(self, node: Any) -> DuffError:
        excerpt = node.sql(dialect="duckdb", comments=False)[:40]
        return DuffError(
            f"sql: {excerpt!r} ({type(node).__name__}) is not supported for "
            f"{self._words.engine}, with columns of these types, because a single record could "
            "make it fail. Supported are comparisons, AND, OR, NOT, CASE, COALESCE, IN, BETWEEN, "
            "LIKE, arithmetic, and listed functions of text and time. Create a view in the "
            "database and pass that."
        )

    def _form(self, name: str, node: Any) -> str:
        form = self._words.forms.get(name)
        if form is None:
            raise self._refused(node)
        return form

    def _make(self, name: str, kind: Kind, node: Any, *parts: str) -> Term:
        return Term(self._form(name, node).format(*parts), kind)

    def _of(self, kind: Kind, term: Term, node: Any) -> Term:
        """A term as one of another kind, where nothing can be lost but what is out of range."""
        if term.kind is kind:
            return term
        if term.kind is Kind.null:
            return self._make(f"null {kind}", kind, node)
        if isinstance(term.value, str) and kind in TIMES:
            return self._literal(_moment(term.value, kind, node), kind)
        if type(term.value) is int and kind is Kind.double:
            return self._literal(float(term.value), kind)
        if kind is Kind.boolean or term.kind in (Kind.boolean, Kind.text):
            raise self._refused(node)
        return self._make(f"{term.kind} to {kind}", kind, node, term.sql)

    def _of_one_kind(self, terms: Sequence[Term], node: Any) -> list[Term]:
        """Terms of one kind, which all of them can be."""
        kinds = {term.kind for term in terms} - {Kind.null}
        times = kinds & set(TIMES)
        if times and all(isinstance(t.value, str) for t in terms if t.kind is Kind.text):
            kinds -= {Kind.text}
        if len(kinds) > 1 and kinds <= set(NUMBERS):
            kinds = {Kind.double if kinds == {Kind.integer, Kind.double} else Kind.number}
        elif kinds == {Kind.date, Kind.time}:
            kinds = {Kind.time}
        if len(kinds) != 1 or Kind.other in kinds:
            raise self._refused(node)
        (kind,) = kinds
        return [self._of(kind, term, node) for term in terms]

    def _literal(self, value: Any, kind: Kind) -> Term:
        if kind is Kind.text:
            written = self._words.text(value)
        elif kind is Kind.boolean:
            written = str(value).lower()
        else:
            literal = value.isoformat(sep=" ") if isinstance(value, dt.datetime) else value
            literal = repr(value) if kind is Kind.double else str(literal)
            written = self._words.forms[f"a {kind}"].format(literal)
        return Term(written, kind, value)


def operands(node: Any) -> tuple[Any, Any]:
    """The two sides of a step."""
    return node.this, node.expression


def names(listed: Mapping[str, Any], step: str) -> dict[str, str]:
    """One method for several names."""
    return dict.fromkeys(listed, step)


def _moment(text: str, kind: Kind, node: Any) -> dt.date:
    """A fixed date or time, which is written as text."""
    try:
        if kind is Kind.date:
            return dt.date.fromisoformat(text)
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or (moment.tzinfo is not None) != (kind is Kind.instant):
        expected = {
            Kind.date: "a date such as '2024-07-31'",
            Kind.time: "a time such as '2024-07-31 23:59'",
            Kind.instant: "an instant with its offset, such as '2024-07-31 23:59+02:00'",
        }[kind]
        raise DuffError(
            Argument("sql"),
            f" must compare a column of this type with {expected}, got {text!r:.60}.",
        )
    return moment


LETTERS = 1_000_000  # that functions look at: longer texts could fill all memory
_OF_TEXTS = {"Lower": "lower", "Upper": "upper", "Length": "length"}
_OF_TWO_TEXTS = {"Contains": "contains", "StartsWith": "starts", "EndsWith": "ends"}


class TextSteps(Writing):
    """Steps that take texts."""

    steps: ClassVar = {
        **names(_OF_TEXTS, "of_text"),
        **names(_OF_TWO_TEXTS, "of_two_texts"),
        "Trim": "trimmed",
        "Left": "end_of_text",
        "Right": "end_of_text",
        "Substring": "part_of_text",
        "Replace": "replaced",
        "Concat": "put_together",
        "DPipe": "put_together",
        "Like": "like",
        "ILike": "like",
    }

    def _text(self, node: Any) -> Term:
        term = self.term(node)
        if term.kind is not Kind.text:
            raise self._refused(node)
        return term

    def _cut(self, term: Term) -> str:
        """A text of which the length is known to have an end."""
        return self._words.forms["left"].format(term.sql, LETTERS)

    def of_text(self, node: Any) -> Term:
        name = _OF_TEXTS[type(node).__name__]
        kind = Kind.integer if name == "length" else Kind.text
        return self._make(name, kind, node, self._cut(self._text(node.this)))

    def of_two_texts(self, node: Any) -> Term:
        parts = (self._cut(self._text(part)) for part in operands(node))
        return self._make(_OF_TWO_TEXTS[type(node).__name__], Kind.boolean, node, *parts)

    def trimmed(self, node: Any) -> Term:
        if node.expression is not None or node.args.get("collation") is not None:
            raise self._refused(node)
        side = str(node.args.get("position") or "both").lower()
        return self._make(f"trim {side}", Kind.text, node, self._cut(self._text(node.this)))

    def end_of_text(self, node: Any) -> Term:
        """LEFT and RIGHT."""
        count = self._count(node.expression, node, 0)
        name = type(node).__name__.lower()
        return self._make(name, Kind.text, node, self._text(node.this).sql, str(count))

    def part_of_text(self, node: Any) -> Term:
        start, length = node.args["start"], node.args.get("length")
        first = self._count(start, node, 1)
        count = LETTERS if length is None else self._count(length, node, 0)
        text = self._cut(self._text(node.this))
        return self._make("substring", Kind.text, node, text, str(first), str(count))

    def _count(self, operand: Any, node: Any, least: int) -> int:
        """A fixed whole number: others may be below 0, which fails."""
        value = self.term(operand).value
        if type(value) is not int or not least <= value <= LETTERS:
            raise self._refused(node)
        return value

    def replaced(self, node: Any) -> Term:
        old, new = (self._text(node.args[name]).sql for name in ("expression", "replacement"))
        return self._make("replace", Kind.text, node, self._cut(self._text(node.this)), old, new)

    def put_together(self, node: Any) -> Term:
        concat = type(node).__name__ == "Concat"
        parts = [self._cut(self._text(p)) for p in (node.expressions if concat else operands(node))]
        if concat:
            parts = [f"coalesce({part}, '')" for part in parts]
        return Term(f"({' || '.join(parts)})", Kind.text)

    def like(self, node: Any) -> Term:
        text, pattern = self._text(node.this).sql, self._words.pattern(node.expression.name)
        return self._make(type(node).__name__.lower(), Kind.boolean, node, text, pattern)


_LONGEST_SHIFT = 4000  # years
_PARTS = {
    "Year": "year",
    "Quarter": "quarter",
    "Month": "month",
    "Week": "week",
    "Day": "day",
    "DayOfMonth": "day",
    "DayOfWeek": "dow",
    "DayOfYear": "doy",
    "Hour": "hour",
    "Minute": "minute",
    "Second": "second",
}
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_SECONDS |= {"month": 2_678_400, "quarter": 8_035_200, "year": 31_622_400}
_SHORT = ("hour", "minute", "second")  # of which dates have none
_PART_ALIASES = {"dayofweek": "dow", "weekday": "dow", "dayofyear": "doy"}


class TimeSteps(Writing):
    """Steps that take dates and times."""

    steps: ClassVar = {
        **names(_PARTS, "part_of_time"),
        "Extract": "part_of_time",
        "TimestampTrunc": "truncated",
        "DateDiff": "difference",
        "AtTimeZone": "in_zone",
    }

    def _clamp_years(self, term: Term, node: Any) -> str:
        """A time from the year 1 to 9999: at the ends of what an engine has, functions fail."""
        return self._form(f"near {term.kind}", node).format(term.sql)

    def part_of_time(self, node: Any) -> Term:
        extract = type(node).__name__ == "Extract"
        name = node.this.name.lower() if extract else _PARTS[type(node).__name__]
        term = self.term(node.expression if extract else node.this)
        name = _PART_ALIASES.get(name, name)
        if name not in _PARTS.values() or (term.kind is Kind.date and name in _SHORT):
            raise self._refused(node)
        return self._make(f"part {name}", Kind.integer, node, self._clamp_years(term, node))

    def truncated(self, node: Any) -> Term:
        unit, term = node.args["unit"].name.lower(), self.term(node.this)
        if unit not in _SECONDS:
            raise self._refused(node)
        if term.kind is Kind.date:
            term = self._of(Kind.time, term, node)
        form = f"truncate {term.kind}"
        exact = f"{form} {unit}" if f"{form} {unit}" in self._words.forms else form
        return self._make(exact, term.kind, node, self._clamp_years(term, node), unit)

    def difference(self, node: Any) -> Term:
        unit = node.args["unit"].name.lower()
        later, earlier = (self.term(part) for part in operands(node))
        later, earlier = self._of_one_kind([later, earlier], node)
        if later.kind is Kind.date and unit in _SHORT:
            raise self._refused(node)
        ends = self._clamp_years(later, node), self._clamp_years(earlier, node)
        return self._make(f"difference {unit}", Kind.integer, node, *ends)

    def _shifted(self, name: str, term: Term, interval: Any, node: Any) -> Term:
        if interval.args.get("unit") is None:  # several at once, as in '1 day 2 hours'
            raise self._refused(node)
        unit = interval.args["unit"].name.lower().removesuffix("s")
        count = interval.this.name
        if type(interval.this).__name__ != "Literal" or not count.isdigit() or len(count) > 12:
            raise self._refused(node)
        if int(count) * _SECONDS.get(unit, math.inf) > _LONGEST_SHIFT * _SECONDS["year"]:
            raise self._refused(node)
        if term.kind is Kind.date:
            term = self._of(Kind.time, term, node)
        mark = "+" if name == "add" else "-"
        return self._make(
            f"shift {term.kind}", term.kind, node, self._clamp_years(term, node), mark, count, unit
        )

    def in_zone(self, node: Any) -> Term:
        term = self.term(node.this)
        kind = Kind.time if term.kind is Kind.instant else Kind.instant
        zone = self._words.text(node.args["zone"].name)
        return self._make(f"{term.kind} in zone", kind, node, self._clamp_years(term, node), zone)


_MAX_ROUND_PLACES = 300
_INTEGERS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_ARITHMETIC = {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "IntDiv": "whole divide",
    "Mod": "modulo",
    "Pow": "power",
}
_INTEGER_STEPS = (
    "add",
    "subtract",
    "multiply",
    "whole divide",
    "modulo",
)  # whole numbers of whole ones
_OF_NUMBERS = {"Abs": "abs", "Ceil": "ceil", "Floor": "floor", "Sign": "sign"}
_DOUBLES = {"Sqrt": "sqrt", "Ln": "ln", "Exp": "exp"}
_TARGETS = {"BOOLEAN": Kind.boolean, "DATE": Kind.date, "TIMESTAMP": Kind.time}
_TARGETS |= {"VARCHAR": Kind.text, "TEXT": Kind.text}


class NumberSteps(TextSteps, TimeSteps):
    """Steps that make numbers, and casts to and from them."""

    steps: ClassVar = {
        **names(_ARITHMETIC, "arithmetic"),
        **names(_OF_NUMBERS, "of_number"),
        **names(_DOUBLES, "double"),
        "Neg": "negative",
        "Round": "rounded",
        "IsNan": "odd_number",
        "IsInf": "odd_number",
        "Cast": "cast",
        "TryCast": "cast",
    }

    def negative(self, node: Any) -> Term:
        term = self.term(node.this)
        if type(term.value) in (int, float):
            return self._literal(-term.value, term.kind)
        return self._combined("subtract", self._literal(0, Kind.integer), term, node)

    def arithmetic(self, node: Any) -> Term:
        name, (first, second) = _ARITHMETIC[type(node).__name__], operands(node)
        if name in ("add", "subtract") and type(second).__name__ == "Interval":
            return self._shifted(name, self.term(first), second, node)
        return self._combined(name, self.term(first), self.term(second), node)

    def _combined(self, name: str, first: Term, second: Term, node: Any) -> Term:
        if not {first.kind, second.kind} <= {*NUMBERS, Kind.null}:
            raise self._refused(node)
        is_integer = first.kind is second.kind is Kind.integer and name in _INTEGER_STEPS
        kind = Kind.integer if is_integer else Kind.number
        first, second = self._of(kind, first, node), self._of(kind, second, node)
        name = f"{name} integer" if is_integer else name
        return self._make(name, kind, node, first.sql, second.sql)

    def of_number(self, node: Any) -> Term:
        name, term = _OF_NUMBERS[type(node).__name__], self.term(node.this)
        if node.args.get("decimals") is not None:
            raise self._refused(node)
        if term.kind is not Kind.integer:
            term = self._of(Kind.number, term, node)
        elif name in ("ceil", "floor"):
            return term
        name = f"{name} integer" if term.kind is Kind.integer else name
        return self._make(name, Kind.integer if "sign" in name else term.kind, node, term.sql)

    def rounded(self, node: Any) -> Term:
        places, term = node.args.get("decimals"), self.term(node.this)
        fixed = 0 if places is None else self.term(places).value
        if type(fixed) is not int or abs(fixed) > _MAX_ROUND_PLACES:
            raise self._refused(node)
        if term.kind is Kind.integer and fixed >= 0:
            return term
        number = self._of(Kind.number, term, node)
        return self._make("round", Kind.number, node, number.sql, str(fixed))

    def double(self, node: Any) -> Term:
        number = self._of(Kind.number, self.term(node.this), node)
        return self._make(_DOUBLES[type(node).__name__], Kind.double, node, number.sql)

    def odd_number(self, node: Any) -> Term:
        term = self.term(node.this)
        if term.kind is not Kind.double:
            raise self._refused(node)
        return self._make(type(node).__name__.lower(), Kind.boolean, node, term.sql)

    def cast(self, node: Any) -> Term:
        term, to = self.term(node.this), node.args["to"]
        target = to.this.name.replace("NTZ", "")
        if isinstance(term.value, str) and _TARGETS.get(target) in TIMES:
            return self._of(_TARGETS[target], term, node)
        if target in _INTEGERS:
            return self._as_integer(term, 2 ** (_INTEGERS[target] - 1), node)
        if target in ("FLOAT", "DOUBLE", "DECIMAL"):
            number = self._as_number(term, node)
            return number if target != "DECIMAL" else self._as_decimal(number, to, node)
        kind = _TARGETS.get(target)
        if kind is None or term.kind is Kind.null:
            raise self._refused(node)
        if term.kind is kind:
            return term
        return self._make(f"{term.kind} to {kind}", kind, node, term.sql)

    def _as_number(self, term: Term, node: Any) -> Term:
        if term.kind is Kind.boolean:
            term = self._make("boolean to integer", Kind.integer, node, term.sql)
        if term.kind is Kind.text:
            return self._make("text to number", Kind.number, node, self._cut(term))
        return term if term.kind is Kind.double else self._of(Kind.number, term, node)

    def _as_integer(self, term: Term, size: int, node: Any) -> Term:
        ends = _outer_limits(size)
        if term.kind is Kind.text:
            return self._make("text to integer", Kind.integer, node, self._cut(term), *ends)
        if term.kind is Kind.integer:
            return self._make("within integer", Kind.integer, node, term.sql, *ends)
        number = self._of(Kind.number, self._as_number(term, node), node)
        return self._make("number to integer", Kind.integer, node, number.sql, *ends)

    def _as_decimal(self, term: Term, to: Any, node: Any) -> Term:
        digits, places, *_ = (*(int(p.this.name) for p in to.expressions), 18, 3)[:2]
        if len(to.expressions) == 1:
            places = 0
        if not 0 <= places <= digits <= 38:
            raise self._refused(node)
        number = self._of(Kind.number, term, node)
        rounded = self._make("round", Kind.number, node, number.sql, str(places))
        end = f"1e{digits - places}"
        return self._make("within number", Kind.number, node, rounded.sql, f"-{end}", end)


def _outer_limits(size: int) -> tuple[str, str]:
    """The first numbers that a type of whole numbers has no place for."""
    return str(-size - 1), str(size)


MOST_DEEP = 100  # steps in one another: far from where an engine gives up
_COMPARED = {
    "EQ": "=",
    "NEQ": "<>",
    "LT": "<",
    "LTE": "<=",
    "GT": ">",
    "GTE": ">=",
    "NullSafeEQ": "same",
    "NullSafeNEQ": "other",
}


class RowExpressions(NumberSteps):
    """Expressions over columns of known kinds, in an engine's SQL."""

    steps: ClassVar = {
        **NumberSteps.steps,
        **TextSteps.steps,
        **TimeSteps.steps,
        **names(_COMPARED, "compared"),
        "Column": "column",
        "Literal": "literal",
        "Boolean": "boolean",
        "Null": "null",
        "Paren": "inner",
        "And": "joined",
        "Or": "joined",
        "Not": "negated",
        "Between": "between",
        "In": "is_in",
        "Is": "is_value",
        "Case": "case",
        "If": "case",
        "Coalesce": "first",
        "Greatest": "first",
        "Least": "first",
        "Nullif": "nullif",
    }

    def condition(self, tree: Any) -> str:
        """SQL of the condition on rows."""
        return self._of(Kind.boolean, self._checked_term(tree), tree).sql

    def output(self, tree: Any) -> tuple[str, Kind]:
        """A column of the result, and its kind."""
        term = self._checked_term(tree)
        if term.kind is Kind.null:
            raise self._refused(tree)
        kind = Kind.double if term.kind is Kind.number else term.kind
        form = self._words.forms.get(f"{term.kind} result", "{0}")
        return form.format(term.sql), kind

    def total(self, tree: Any) -> tuple[str, Kind]:
        """COUNT, SUM, AVG, MIN or MAX over the rows of a group, and its kind."""
        name = type(tree).__name__.lower()
        if type(tree.this).__name__ == "Star":
            return "count(*)", Kind.integer
        if name in ("sum", "avg"):
            number = self._of(Kind.number, self._checked_term(tree.this), tree)
            return self._form(name, tree).format(number.sql), Kind.double
        sql, kind = self.output(tree.this)
        return (f"count({sql})", Kind.integer) if name == "count" else (f"{name}({sql})", kind)

    def _checked_term(self, tree: Any) -> Term:
        if any(node.depth - tree.depth > MOST_DEEP for node in tree.walk()):
            raise DuffError(
                Argument("sql"),
                f" can have at most {MOST_DEEP} nested expressions for {self._words.engine}. "
                "Create a view in the database and pass that.",
            )
        return self.term(tree)

    def column(self, node: Any) -> Term:
        kind = self._kinds[node.name]
        if kind is Kind.other and type(node.parent).__name__ != "Is":
            raise self._refused(node)
        form = self._words.forms.get(f"column {kind}", "{0}")
        return Term(form.format(self._words.name(node.name)), kind)

    def literal(self, node: Any) -> Term:
        if node.is_string:
            return self._literal(node.name, Kind.text)
        if node.name.isdigit() and int(node.name) < 2**63:
            return self._literal(int(node.name), Kind.integer)
        number = float(node.name)
        if not math.isfinite(number):
            raise self._refused(node)
        return self._literal(number, Kind.double)

    def boolean(self, node: Any) -> Term:
        return self._literal(bool(node.this), Kind.boolean)

    def null(self, node: Any) -> Term:
        return Term("NULL", Kind.null)

    def inner(self, node: Any) -> Term:
        return self.term(node.this)

    def joined(self, node: Any) -> Term:
        """AND and OR."""
        parts = (self._of(Kind.boolean, self.term(part), node).sql for part in operands(node))
        return self._make(type(node).__name__.lower(), Kind.boolean, node, *parts)

    def negated(self, node: Any) -> Term:
        part = self._of(Kind.boolean, self.term(node.this), node)
        return self._make("not", Kind.boolean, node, part.sql)

    def compared(self, node: Any) -> Term:
        first, second = self._of_one_kind([self.term(part) for part in operands(node)], node)
        form = _COMPARED[type(node).__name__]
        return self._make(
            "compare" if len(form) < 3 else form,
            Kind.boolean,
            node,
            *((first.sql, form, second.sql) if len(form) < 3 else (first.sql, second.sql)),
        )

    def between(self, node: Any) -> Term:
        parts = [self.term(part) for part in (node.this, node.args["low"], node.args["high"])]
        return self._make(
            "between", Kind.boolean, node, *(p.sql for p in self._of_one_kind(parts, node))
        )

    def is_in(self, node: Any) -> Term:
        term, *options = self._of_one_kind(
            [self.term(p) for p in (node.this, *node.expressions)], node
        )
        listed = ", ".join(other.sql for other in options)
        return self._make("in", Kind.boolean, node, term.sql, listed)

    def is_value(self, node: Any) -> Term:
        term, expected = self.term(node.this), node.expression
        if type(expected).__name__ == "Null":
            return self._make("is null", Kind.boolean, node, term.sql)
        term = self._of(Kind.boolean, term, node)
        return self._make("is", Kind.boolean, node, term.sql, str(bool(expected.this)).upper())

    def case(self, node: Any) -> Term:
        is_case = type(node).__name__ == "Case"
        branches = node.args["ifs"] if is_case else [node]
        default = node.args.get("default" if is_case else "false")
        conditions = [self.term(branch.this) for branch in branches]
        if is_case and node.this is not None:
            subject, *conditions = self._of_one_kind([self.term(node.this), *conditions], node)
        else:
            subject = None
            conditions = [self._of(Kind.boolean, condition, node) for condition in conditions]
        results = [self.term(branch.args["true"]) for branch in branches]
        results.append(Term("NULL", Kind.null) if default is None else self.term(default))
        *results, last = self._of_one_kind(results, node)
        pairs = zip(conditions, results, strict=True)
        listed = " ".join(f"WHEN {when.sql} THEN {then.sql}" for when, then in pairs)
        head = "" if subject is None else f" {subject.sql}"
        return Term(f"(CASE{head} {listed} ELSE {last.sql} END)", last.kind)

    def first(self, node: Any) -> Term:
        """COALESCE, GREATEST and LEAST."""
        terms = self._of_one_kind(
            [self.term(part) for part in (node.this, *node.expressions)], node
        )
        listed = ", ".join(term.sql for term in terms)
        return Term(f"{type(node).__name__.lower()}({listed})", terms[0].kind)

    def nullif(self, node: Any) -> Term:
        first, second = self._of_one_kind([self.term(part) for part in operands(node)], node)
        return Term(f"nullif({first.sql}, {second.sql})", first.kind)
