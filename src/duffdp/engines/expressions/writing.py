"""Terms of an expression, brought to the kind that a step asks for."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from duffdp.engines.expressions.kinds import NUMBERS, TIMES, Kind, Term, Words
from duffdp.errors import DuffError


class Writing:
    """What steps of all kinds need."""

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
        said = node.sql(dialect="duckdb", comments=False)[:40]
        return DuffError(
            f"sql: {said!r} ({type(node).__name__}) is not taken for {self._words.engine}, with "
            "columns of these types: a record could stop it. Comparisons, AND, OR, NOT, CASE, "
            "COALESCE, IN, BETWEEN, LIKE, arithmetic, and functions of texts and times on a list "
            "are. Make a view there, and pass that."
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

    def _alike(self, terms: Sequence[Term], node: Any) -> list[Term]:
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
            said = value.isoformat(sep=" ") if isinstance(value, dt.datetime) else value
            said = repr(value) if kind is Kind.double else str(said)
            written = self._words.forms[f"a {kind}"].format(said)
        return Term(written, kind, value)


def both(node: Any) -> tuple[Any, Any]:
    """The two sides of a step."""
    return node.this, node.expression


def names(listed: Mapping[str, Any], step: str) -> dict[str, str]:
    """The same method for several things."""
    return dict.fromkeys(listed, step)


def _moment(text: str, kind: Kind, node: Any) -> dt.date:
    """A fixed date or time, which is written as text."""
    try:
        if kind is Kind.date:
            return dt.date.fromisoformat(text)
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or (found.tzinfo is not None) != (kind is Kind.instant):
        wanted = {
            Kind.date: "a date such as '2024-07-31'",
            Kind.time: "a time such as '2024-07-31 23:59'",
            Kind.instant: "an instant with its offset, such as '2024-07-31 23:59+02:00'",
        }[kind]
        raise DuffError(f"sql must compare such a column with {wanted}, got {text!r:.60}.")
    return found
