"""Expressions of the fields of one row: what is compared, chosen and released."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from duffdp.engines.expressions.kinds import Kind, Term
from duffdp.engines.expressions.numbers import NumberSteps
from duffdp.engines.expressions.texts import TextSteps
from duffdp.engines.expressions.times import TimeSteps
from duffdp.engines.expressions.writing import both, names
from duffdp.errors import DuffError

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
    """Expressions over columns of known kinds, in the words of an engine."""

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
        "In": "among",
        "Is": "is_what",
        "Case": "case",
        "If": "case",
        "Coalesce": "first",
        "Greatest": "first",
        "Least": "first",
        "Nullif": "nullif",
    }

    def condition(self, tree: Any) -> str:
        """Which rows are kept."""
        return self._of(Kind.boolean, self._whole(tree), tree).sql

    def output(self, tree: Any) -> tuple[str, Kind]:
        """A column of the result, and its kind."""
        term = self._whole(tree)
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
            number = self._of(Kind.number, self._whole(tree.this), tree)
            return self._form(name, tree).format(number.sql), Kind.double
        sql, kind = self.output(tree.this)
        return (f"count({sql})", Kind.integer) if name == "count" else (f"{name}({sql})", kind)

    def _whole(self, tree: Any) -> Term:
        if any(node.depth - tree.depth > MOST_DEEP for node in tree.walk()):
            raise DuffError(
                f"sql takes at most {MOST_DEEP} steps in one another for {self._words.engine}. "
                "Make a view there, and pass that."
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
        parts = (self._of(Kind.boolean, self.term(part), node).sql for part in both(node))
        return self._make(type(node).__name__.lower(), Kind.boolean, node, *parts)

    def negated(self, node: Any) -> Term:
        part = self._of(Kind.boolean, self.term(node.this), node)
        return self._make("not", Kind.boolean, node, part.sql)

    def compared(self, node: Any) -> Term:
        one, other = self._alike([self.term(part) for part in both(node)], node)
        form = _COMPARED[type(node).__name__]
        return self._make(
            "compare" if len(form) < 3 else form,
            Kind.boolean,
            node,
            *((one.sql, form, other.sql) if len(form) < 3 else (one.sql, other.sql)),
        )

    def between(self, node: Any) -> Term:
        parts = [self.term(part) for part in (node.this, node.args["low"], node.args["high"])]
        return self._make("between", Kind.boolean, node, *(p.sql for p in self._alike(parts, node)))

    def among(self, node: Any) -> Term:
        one, *others = self._alike([self.term(p) for p in (node.this, *node.expressions)], node)
        listed = ", ".join(other.sql for other in others)
        return self._make("in", Kind.boolean, node, one.sql, listed)

    def is_what(self, node: Any) -> Term:
        term, what = self.term(node.this), node.expression
        if type(what).__name__ == "Null":
            return self._make("is null", Kind.boolean, node, term.sql)
        term = self._of(Kind.boolean, term, node)
        return self._make("is", Kind.boolean, node, term.sql, str(bool(what.this)).upper())

    def case(self, node: Any) -> Term:
        whole = type(node).__name__ == "Case"
        branches = node.args["ifs"] if whole else [node]
        default = node.args.get("default" if whole else "false")
        conditions = [self.term(branch.this) for branch in branches]
        if whole and node.this is not None:
            asked, *conditions = self._alike([self.term(node.this), *conditions], node)
        else:
            asked = None
            conditions = [self._of(Kind.boolean, one, node) for one in conditions]
        results = [self.term(branch.args["true"]) for branch in branches]
        results.append(Term("NULL", Kind.null) if default is None else self.term(default))
        *results, last = self._alike(results, node)
        pairs = zip(conditions, results, strict=True)
        listed = " ".join(f"WHEN {when.sql} THEN {then.sql}" for when, then in pairs)
        head = "" if asked is None else f" {asked.sql}"
        return Term(f"(CASE{head} {listed} ELSE {last.sql} END)", last.kind)

    def first(self, node: Any) -> Term:
        """COALESCE, GREATEST and LEAST."""
        terms = self._alike([self.term(part) for part in (node.this, *node.expressions)], node)
        listed = ", ".join(term.sql for term in terms)
        return Term(f"{type(node).__name__.lower()}({listed})", terms[0].kind)

    def nullif(self, node: Any) -> Term:
        one, other = self._alike([self.term(part) for part in both(node)], node)
        return Term(f"nullif({one.sql}, {other.sql})", one.kind)
