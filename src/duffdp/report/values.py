"""The released values as rows, whatever frame they came in."""

from __future__ import annotations

import datetime as dt
from typing import Any, NamedTuple

from duffdp.domain import Categories, Membership, Ordered
from duffdp.parameters import share_text
from duffdp.pipeline.outcome import Release
from duffdp.report.words import lasting, with_interval, written
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
    """Rows in the order of the release; one without keys if there are no groups."""
    if release.columns[0].kind == "distribution":
        return _of_distributions(release)
    if release.facts.interval is not None:
        return _with_intervals(release)
    domain = release.domain
    several = len(release.columns) > 1
    rows: list[tuple[list[str], Any, int]] = []
    for key, row in zip(release.keys or [()], release.cells, strict=True):
        for column, value in zip(release.columns, row, strict=True):
            place = -1
            if column.kind == "candidate":
                assert isinstance(domain, Ordered | Categories)
                place = domain.index(value)
            rows.append(([*map(str, key), *([column.name] if several else [])], value, place))
    texts = [
        (f"{value:.4f}" if isinstance(domain, Membership) else _number(value))  # few digits
        if place < 0
        else written(value, domain)
        for _, value, place in rows
    ]
    columns = [*release.by, *([entry(release.statistic.name).lines] if several else [])]
    named = "value" if several else release.title.lower()
    return Values(
        [*columns, named],
        [keys for keys, _, _ in rows],
        texts,
        [place for _, _, place in rows],
        [value for _, value, _ in rows],
        [None] * len(rows),
    )


def _of_distributions(release: Release) -> Values:
    """A row for each of a few quantiles, with what the band says about it."""
    keys, texts, numbers = [], [], []
    for key, (whole,) in zip(release.keys or [()], release.cells, strict=True):
        for q, *ends in whole.quantiles():
            keys.append([*map(str, key), share_text(q)])
            texts.append(with_interval([written(end, release.domain) for end in ends], False))
            numbers.append(ends[0])
    named = [*release.by, "quantile", "value"]
    return Values(named, keys, texts, [-1] * len(keys), numbers, [None] * len(keys))


def _with_intervals(release: Release) -> Values:
    """A row for each group, its value followed by the interval."""
    domain, texts, places = release.domain, [], []
    spans: list[tuple[int, int] | None] = []
    for row, too_few in zip(release.cells, release.too_few(), strict=True):
        if release.columns[0].kind == "candidate":
            assert isinstance(domain, Ordered)
            place, *span = map(domain.index, row)
            said = [written(each, domain) for each in row]
            spans.append((span[0], span[1]))
        else:
            place, said = -1, [_number(each) for each in row]
            spans.append(None)
        places.append(place)
        texts.append(with_interval(said, too_few))
    keys = [list(map(str, key)) for key in release.keys] or [[]]
    numbers = [value for value, _, _ in release.cells]
    return Values([*release.by, release.title.lower()], keys, texts, places, numbers, spans)
