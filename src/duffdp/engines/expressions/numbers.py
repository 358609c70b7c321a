"""Numbers: arithmetic, functions of one number, and casts."""

from __future__ import annotations

from typing import Any, ClassVar

from duffdp.engines.expressions.kinds import NUMBERS, TIMES, Kind, Term
from duffdp.engines.expressions.texts import TextSteps
from duffdp.engines.expressions.times import TimeSteps
from duffdp.engines.expressions.writing import both, names

_PLACES = 300
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
_WHOLE = ("add", "subtract", "multiply", "whole divide", "modulo")  # whole numbers of whole ones
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
        name, (left, right) = _ARITHMETIC[type(node).__name__], both(node)
        if name in ("add", "subtract") and type(right).__name__ == "Interval":
            return self._shifted(name, self.term(left), right, node)
        return self._combined(name, self.term(left), self.term(right), node)

    def _combined(self, name: str, one: Term, other: Term, node: Any) -> Term:
        if not {one.kind, other.kind} <= {*NUMBERS, Kind.null}:
            raise self._refused(node)
        whole = one.kind is other.kind is Kind.integer and name in _WHOLE
        kind = Kind.integer if whole else Kind.number
        one, other = self._of(kind, one, node), self._of(kind, other, node)
        name = f"{name} integer" if whole else name
        return self._make(name, kind, node, one.sql, other.sql)

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
        if type(fixed) is not int or abs(fixed) > _PLACES:
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
        ends = _beyond(size)
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


def _beyond(size: int) -> tuple[str, str]:
    """The first numbers that a type of whole numbers has no place for."""
    return str(-size - 1), str(size)
