"""The released values as rows, whatever frame they came in."""

from __future__ import annotations

from typing import Any, NamedTuple

from duffdp.engines.selection import narwhals
from duffdp.errors import DuffError
from duffdp.release import Release
from duffdp.report.words import is_grouped, statistic, written


class Values(NamedTuple):
    """Names of the key columns and of the value, and for each row its keys, its value as text and its candidate."""

    columns: list[str]
    keys: list[list[str]]
    texts: list[str]
    places: list[int]


def values(release: Release) -> Values:
    """Rows in the order of the release; one without keys if there are no groups."""
    domain = release.domain
    shares = release.statistic[len("quantiles(") : -1].split(", ") if release.statistic.startswith("quantiles(") else []
    rows: list[tuple[Any, ...]]
    if shares and isinstance(release.value, list):
        rows, columns = list(zip(shares, release.value, strict=True)), ["quantile", "value"]
    elif not is_grouped(release):
        rows, columns = [(release.value,)], [statistic(release).lower()]
    else:
        try:
            frame = narwhals().from_native(release.value).lazy().collect()
        except TypeError:
            raise DuffError(
                f"the value of a release must be a candidate of its domain or a frame, got {type(release.value).__name__}."
            ) from None
        rows, columns = [tuple(row) for row in frame.rows()], list(frame.columns)
        if shares:  # a row for each group and quantile
            keys = len(columns) - len(shares)
            rows = [(*row[:keys], share, value) for row in rows for share, value in zip(shares, row[keys:], strict=True)]
            columns = [*columns[:keys], "quantile", "value"]
    places = [domain.index(row[-1]) for row in rows]
    return Values(
        columns, [[str(key) for key in row[:-1]] for row in rows], [written(domain.value(i), domain) for i in places], places
    )
