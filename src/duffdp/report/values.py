"""The released numbers as people read them, whatever frame they came in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any, NamedTuple

from duffdp.domain import Membership, Ordered
from duffdp.parameters import share_text
from duffdp.pipeline.outcome import Release
from duffdp.report.words import lasting, written
from duffdp.statistics.entry import NumberKind

TOO_FEW = "too few to tell"


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


class Finding(NamedTuple):
    """A release under its heading, and its numbers."""

    heading: str
    release: Release
    fields: list[Field]


def finding(
    heading: str,
    release: Release,
    rows: Sequence[Sequence[Any]],
    too_few: Sequence[bool],
) -> Finding:
    """The numbers of a release in the rows that are given: its own cells, or those of a table."""
    if release.has_distributions:
        return Finding(heading, release, _quantiles(release))
    if release.facts.interval is not None:
        numbers = [_with_ends(release, row, few) for row, few in zip(rows, too_few, strict=True)]
        return Finding(heading, release, [Field("", release.columns[0].kind, numbers)])
    fields = [
        Field(
            column.name if len(release.columns) > 1 else "",
            column.kind,
            [Number(_text(release, at, row[at]), value=row[at]) for row in rows],
        )
        for at, column in enumerate(release.columns)
    ]
    return Finding(heading, release, fields)


def _with_ends(release: Release, row: Sequence[Any], too_few: bool) -> Number:
    """A value with its interval; sums over groups have none."""
    value, low, high = row
    text = _text(release, 0, value)
    if low is None:
        return Number(text, value=value)
    ends = f"{_text(release, 0, low)} to {_text(release, 0, high)}"
    return Number(text, ends, value, (low, high), too_few)


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


def _text(release: Release, at: int, value: Any) -> str:
    """A candidate with the digits of its domain; a share, duration or count as people write it."""
    domain = release.domain
    if release.columns[at].kind == "candidate":
        return written(value, domain)
    if isinstance(value, dt.timedelta):
        return lasting(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(domain, Membership):
        return f"{value:.4f}"
    digits = 6 if isinstance(domain, Ordered) and abs(value) < 1e6 else 10
    return f"{value:,.{digits}g}"
