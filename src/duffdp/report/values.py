"""The released values as rows, whatever frame they came in."""

from __future__ import annotations

import datetime as dt
from typing import Any, NamedTuple

from duffdp.domain import Categories, Membership, Ordered, PublicSet
from duffdp.parameters import share_text
from duffdp.pipeline.columnar import TOO_FEW
from duffdp.pipeline.outcome import Release
from duffdp.pipeline.span import ENDS, Span
from duffdp.report.words import lasting, written
from duffdp.statistics.entry import Column
from duffdp.statistics.registry import entry


class Values(NamedTuple):
    """Names of the columns, and for each row its keys, its value as text, its candidate and the
    candidates that an interval around it ends at.
    """

    columns: list[str]
    keys: list[list[str]]
    texts: list[str]
    places: list[int]  # -1 for what is no candidate
    numbers: list[Any]  # the values themselves
    spans: list[tuple[int, int] | None]

    def on_domain(self) -> Values:
        """Candidates alone."""
        kept = [i for i, place in enumerate(self.places) if place >= 0]
        return self._replace(
            keys=[self.keys[i] for i in kept],
            texts=[self.texts[i] for i in kept],
            places=[self.places[i] for i in kept],
            numbers=[self.numbers[i] for i in kept],
            spans=[self.spans[i] for i in kept],
        )


def _number(value: Any) -> str:
    """What is no candidate: a duration, whole, or with as many digits as can matter."""
    if isinstance(value, dt.timedelta):
        return lasting(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"


def values(release: Release) -> Values:
    """Rows in the order of the release, a value followed by its interval; one without keys if there
    are no groups.
    """
    if release.columns[0].kind == "distribution":
        return _of_distributions(release)
    domain, ends = release.domain, release.facts.interval is not None
    columns = release.columns[:: ENDS if ends else 1]
    several = len(columns) > 1
    lines = [*release.by, *([entry(release.statistic.name).lines] if several else [])]
    found = Values([*lines, "value" if several else release.title.lower()], [], [], [], [], [])
    for key, row in zip(release.keys or [()], release.spans(), strict=True):
        for column, span in zip(columns, row, strict=True):
            place, both = -1, None
            if column.kind == "candidate":
                assert isinstance(domain, Ordered | Categories)
                place = domain.index(span.value)
                both = (domain.index(span.low), domain.index(span.high)) if ends else None
            found.keys.append([*map(str, key), *([column.name] if several else [])])
            found.texts.append(_text(span, column, domain, ends))
            found.places.append(place)
            found.numbers.append(span.value)
            found.spans.append(both)
    return found


def _text(span: Span, column: Column, domain: PublicSet, ends: bool) -> str:
    def said(value: Any) -> str:
        if column.kind == "candidate":
            return written(value, domain)
        return f"{value:.4f}" if isinstance(domain, Membership) else _number(value)  # few digits

    if not ends:
        return said(span.value)
    told = TOO_FEW if span.too_few else f"{said(span.low)} to {said(span.high)}"
    return f"{said(span.value)} ({told})"


def _of_distributions(release: Release) -> Values:
    """A row for each of a few quantiles, with what the band says about it."""
    keys, texts, numbers = [], [], []
    for key, (whole,) in zip(release.keys or [()], release.cells, strict=True):
        for q, *ends in whole.quantiles():
            keys.append([*map(str, key), share_text(q)])
            value, low, high = (written(end, release.domain) for end in ends)
            texts.append(f"{value} ({low} to {high})")
            numbers.append(ends[0])
    named = [*release.by, "quantile", "value"]
    return Values(named, keys, texts, [-1] * len(keys), numbers, [None] * len(keys))
