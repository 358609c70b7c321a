"""Functions of dates and times."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from duffdp.engines.expressions.kinds import Kind, Term
from duffdp.engines.expressions.writing import Writing, both, names

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
_SAME = {"dayofweek": "dow", "weekday": "dow", "dayofyear": "doy"}


class TimeSteps(Writing):
    """Steps that take dates and times."""

    steps: ClassVar = {
        **names(_PARTS, "part_of_time"),
        "Extract": "part_of_time",
        "TimestampTrunc": "truncated",
        "DateDiff": "difference",
        "AtTimeZone": "in_zone",
    }

    def _near(self, term: Term, node: Any) -> str:
        """A time from the year 1 to 9999: at the ends of what an engine has, functions fail."""
        return self._form(f"near {term.kind}", node).format(term.sql)

    def part_of_time(self, node: Any) -> Term:
        extract = type(node).__name__ == "Extract"
        name = node.this.name.lower() if extract else _PARTS[type(node).__name__]
        term = self.term(node.expression if extract else node.this)
        name = _SAME.get(name, name)
        if name not in _PARTS.values() or (term.kind is Kind.date and name in _SHORT):
            raise self._refused(node)
        return self._make(f"part {name}", Kind.integer, node, self._near(term, node))

    def truncated(self, node: Any) -> Term:
        unit, term = node.args["unit"].name.lower(), self.term(node.this)
        if unit not in _SECONDS:
            raise self._refused(node)
        if term.kind is Kind.date:
            term = self._of(Kind.time, term, node)
        form = f"truncate {term.kind}"
        exact = f"{form} {unit}" if f"{form} {unit}" in self._words.forms else form
        return self._make(exact, term.kind, node, self._near(term, node), unit)

    def difference(self, node: Any) -> Term:
        unit = node.args["unit"].name.lower()
        later, earlier = (self.term(part) for part in both(node))
        later, earlier = self._alike([later, earlier], node)
        if later.kind is Kind.date and unit in _SHORT:
            raise self._refused(node)
        ends = self._near(later, node), self._near(earlier, node)
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
            f"shift {term.kind}", term.kind, node, self._near(term, node), mark, count, unit
        )

    def in_zone(self, node: Any) -> Term:
        term = self.term(node.this)
        kind = Kind.time if term.kind is Kind.instant else Kind.instant
        zone = self._words.text(node.args["zone"].name)
        return self._make(f"{term.kind} in zone", kind, node, self._near(term, node), zone)
