"""The released values as rows, whatever frame they came in."""

from __future__ import annotations

from typing import NamedTuple

from duffdp.errors import DuffError
from duffdp.release import Release
from duffdp.report.words import number, statistic, written


class Values(NamedTuple):
    """Names of the key columns and of the value, and for each row its keys, its value as text and its candidate."""

    columns: list[str]
    keys: list[list[str]]
    texts: list[str]
    places: list[int]  # -1 for a count

    def on_domain(self) -> Values:
        """Without counts."""
        kept = [i for i, place in enumerate(self.places) if place >= 0]
        return self._replace(
            keys=[self.keys[i] for i in kept], texts=[self.texts[i] for i in kept], places=[self.places[i] for i in kept]
        )


def values(release: Release) -> Values:
    """Rows in the order of the release; one without keys if there are no groups."""
    domain = release.domain
    try:
        rows = release.rows()
        places = [-1 if part == "count" else domain.index(value) for _, part, value in rows]
    except (TypeError, ValueError, AttributeError):
        raise DuffError(
            f"the value of a release must be a candidate of its domain or a frame, got {type(release.value).__name__}."
        ) from None
    several = len({part for _, part, _ in rows}) > 1
    keys = [[*map(str, keys.values()), *([_short(part)] if several else [])] for keys, part, _ in rows]
    columns = [*rows[0][0], *(["quantile" if release.statistic != "describe" else "of all"] if several else [])]
    texts = [
        number(value) if place < 0 else written(domain.value(place), domain)
        for (_, _, value), place in zip(rows, places, strict=True)
    ]
    return Values([*columns, "value" if several else statistic(release).lower()], keys, texts, places)


def _short(part: str) -> str:
    return part.removeprefix("quantile(").rstrip(")")
