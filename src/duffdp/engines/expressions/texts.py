"""Functions of texts, which see a part of them that has an end."""

from __future__ import annotations

from typing import Any, ClassVar

from duffdp.engines.expressions.kinds import Kind, Term
from duffdp.engines.expressions.writing import Writing, both, names

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
        parts = (self._cut(self._text(part)) for part in both(node))
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

    def _count(self, given: Any, node: Any, least: int) -> int:
        """A fixed whole number: others may be below 0, which fails."""
        value = self.term(given).value
        if type(value) is not int or not least <= value <= LETTERS:
            raise self._refused(node)
        return value

    def replaced(self, node: Any) -> Term:
        old, new = (self._text(node.args[name]).sql for name in ("expression", "replacement"))
        return self._make("replace", Kind.text, node, self._cut(self._text(node.this)), old, new)

    def put_together(self, node: Any) -> Term:
        concat = type(node).__name__ == "Concat"
        parts = [self._cut(self._text(p)) for p in (node.expressions if concat else both(node))]
        if concat:
            parts = [f"coalesce({part}, '')" for part in parts]
        return Term(f"({' || '.join(parts)})", Kind.text)

    def like(self, node: Any) -> Term:
        text, pattern = self._text(node.this).sql, self._words.pattern(node.expression.name)
        return self._make(type(node).__name__.lower(), Kind.boolean, node, text, pattern)
