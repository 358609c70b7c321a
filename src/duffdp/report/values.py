"""The released numbers as people read them, whatever frame they came in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, NamedTuple

from duffdp.domain import Membership, Ordered
from duffdp.parameters import share_text
from duffdp.pipeline.columnar import TOO_FEW
from duffdp.pipeline.outcome import Release
from duffdp.pipeline.span import ENDS, Span, spans_of
from duffdp.report.words import lasting, written
from duffdp.statistics.entry import NumberKind


class Number(NamedTuple):
    """One released number: as text with the ends of its interval, and as it is."""

    text: str
    ends: str = ""
    value: Any = None
    span: tuple[Any, Any] | None = None
    too_few: bool = False  # its interval is all that could come out

    def said(self) -> str:
        """In one line."""
        if self.too_few:
            return TOO_FEW
        return f"{self.text} ({self.ends})" if self.ends else self.text


class Field(NamedTuple):
    """One number of a release, for every group."""

    name: str  # within its release
    kind: NumberKind
    numbers: list[Number]
    beside: bool = False  # the noisy sizes of groups, beside what was asked for


class Finding(NamedTuple):
    """A release under its heading, and its numbers."""

    heading: str
    release: Release
    fields: list[Field]


def finding(heading: str, release: Release, rows: Sequence[Sequence[Any]]) -> Finding:
    """The numbers of a release in the rows that are given: its own cells, or those of a table."""
    if release.has_distributions:
        return Finding(heading, release, _quantiles(release))
    ends = release.facts.interval is not None
    columns = release.columns[:: ENDS if ends else 1]
    spans = [spans_of(release.columns, row, release.domain, ends) for row in rows]
    fields = [
        Field(
            column.name if len(columns) > 1 or release.sizes is not None else "",
            column.kind,
            [_number(release, column.kind, row[at]) for row in spans],
        )
        for at, column in enumerate(columns)
    ]
    if release.sizes is not None:
        sizes = [Number(f"{size:,}", value=size) for size in release.sizes]
        fields = [Field("count", "count", sizes, beside=True), *fields]
    return Finding(heading, release, fields)


def _number(release: Release, kind: NumberKind, span: Span) -> Number:
    """A value with its interval; sums over groups have none, and withheld values are words."""
    if span.value is None:
        return Number(TOO_FEW, too_few=True)
    text = _text(release, kind, span.value)
    if span.low is None:
        return Number(text, value=span.value)
    ends = f"{_text(release, kind, span.low)} to {_text(release, kind, span.high)}"
    return Number(text, ends, span.value, (span.low, span.high), span.too_few)


def _quantiles(release: Release) -> list[Field]:
    """A few quantiles of every distribution, with what the band says about each."""
    listed = [whole.quantiles() for (whole,) in release.cells]
    fields = []
    for same in zip(*listed, strict=True):
        numbers = []
        for _, value, low, high in same:
            text, *ends = (written(end, release.domain) for end in (value, low, high))
            numbers.append(Number(text, " to ".join(ends), value, (low, high)))
        fields.append(Field(share_text(same[0][0]), "distribution", numbers))
    return fields


def _text(release: Release, kind: NumberKind, value: Any) -> str:
    """A candidate with the digits of its domain; a share, duration or count as people write it."""
    domain = release.domain
    if kind == "candidate":
        return written(value, domain)
    if isinstance(value, dt.timedelta):
        return lasting(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(domain, Membership):
        return f"{value:.4f}"
    digits = 6 if isinstance(domain, Ordered) and abs(value) < 1e6 else 10
    return f"{value:,.{digits}g}"
