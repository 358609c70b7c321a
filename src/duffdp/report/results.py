"""Released numbers as text, in tables: releases with the same groups share one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from duffdp._parameters import share_text
from duffdp._pipeline.estimates import Estimate, columns_per_number, estimates_of
from duffdp._pipeline.number_text import TOO_FEW
from duffdp._pipeline.release import Release
from duffdp._pipeline.released_values import TOO_SMALL
from duffdp._pipeline.table import ALL, Table
from duffdp._text import duration_text
from duffdp.domain import Membership, Ordered
from duffdp.errors import DuffError
from duffdp.report.formats import candidate_text
from duffdp.statistics.program import NumberKind
from duffdp.statistics.registry import REGISTRY, statistic_spec

_MAX_ACROSS = 14  # numbers of a group; with more, each of them has a row
NamedReleases = list[tuple[str, Release]]


class ReleasedNumber(NamedTuple):
    """One released number with the ends of its interval: as texts, and as values."""

    text: str
    ends: str = ""
    value: Any = None
    span: tuple[Any, Any] | None = None
    too_few: bool = False  # the interval is the whole range

    def line(self) -> str:
        """Number and interval in one line."""
        if self.too_few:
            return TOO_FEW
        return f"{self.text} ({self.ends})" if self.ends else self.text


class ResultColumn(NamedTuple):
    """One number of a release, for every group."""

    name: str  # within its release
    kind: NumberKind
    numbers: list[ReleasedNumber]
    is_group_size: bool = False  # noisy sizes, drawn beside the requested numbers


class ReleaseResult(NamedTuple):
    """A release under its heading, and its numbers."""

    heading: str
    release: Release
    columns: list[ResultColumn]


class TableRow(NamedTuple):
    """One row of a table of results."""

    keys: list[str]
    numbers: list[ReleasedNumber]
    too_small: bool
    margin: bool


class ResultTable(NamedTuple):
    """Results for the same groups; `keys` has the texts of each group, one empty list without
    groups.
    """

    heading: str
    by: tuple[str, ...]
    keys: list[list[str]]
    results: list[ReleaseResult]
    too_small: list[bool]  # groups with too few records to tell anything
    margins: list[bool]  # rows that combine groups
    notes: list[str]

    @property
    def across(self) -> int:
        """The number of numbers per group."""
        return sum(len(result.columns) for result in self.results)

    @property
    def single(self) -> ReleasedNumber | None:
        """The only number of the table, if it has one."""
        single = not self.by and self.across == 1
        return self.results[0].columns[0].numbers[0] if single else None

    @property
    def wide(self) -> bool:
        """True if each group has one row, with all its numbers across."""
        return bool(self.by) and self.across <= _MAX_ACROSS

    @property
    def two_headers(self) -> bool:
        """True if a release has several numbers, so that the head of a wide table has two rows."""
        return any(len(result.columns) > 1 for result in self.results)

    def rows(self) -> list[TableRow]:
        """A row for every group or, if that would be too wide, for every number, whose name is the
        last of the keys.
        """
        columns = [(result, column) for result in self.results for column in result.columns]
        rows = []
        for i, key in enumerate(self.keys):
            marks = self.too_small[i], self.margins[i]
            if self.wide:
                rows.append(TableRow(key, [column.numbers[i] for _, column in columns], *marks))
                continue
            for result, column in columns:
                label = self._row_label(result, column)
                rows.append(TableRow([*key, label], [column.numbers[i]], *marks))
        return rows

    def header(self) -> list[str]:
        """The names of the columns of `rows`."""
        if self.wide:
            names = [
                f"{result.heading} {column.name}".rstrip()
                for result in self.results
                for column in result.columns
            ]
            return [*self.by, *names]
        if self.single is not None:
            return [self.results[0].release.title.lower()]
        name = self.results[0].release.statistic.name
        registered = len(self.results) == 1 and name in REGISTRY
        return [
            *self.by,
            (statistic_spec(name).row_header if registered else "") or "number",
            "value",
        ]

    def _row_label(self, result: ReleaseResult, column: ResultColumn) -> str:
        if len(self.results) == 1:
            return column.name or result.release.title
        return f"{result.heading} {column.name}".rstrip()


def result_tables(releases: Any) -> tuple[list[ResultTable], NamedReleases]:
    """The tables of a `Table`, a release, a list of releases or a mapping from headings to them;
    and every release under its name, margins under that of their statistic.
    """
    if isinstance(releases, Table):
        measures = releases.measures
        return [_of_table(releases)], [
            (m.name, release) for m in measures for release in (m.release, *m.margins)
        ]
    named = _named_releases(releases)
    same_groups: dict[Any, NamedReleases] = {}
    for i, (heading, release) in enumerate(named):
        groups = (release.by, release.keys) if release.grouped else i
        same_groups.setdefault(groups, []).append((heading, release))
    return [_of_releases(part) for part in same_groups.values()], named


def _named_releases(releases: Any) -> NamedReleases:
    """Headings and releases; without headings, the titles of the statistics."""
    pairs: list[tuple[str, Any]]
    if isinstance(releases, Mapping):
        pairs = [(str(heading), release) for heading, release in releases.items()]
    elif isinstance(releases, Sequence) and not isinstance(releases, str):
        pairs = [("", release) for release in releases]
    else:
        pairs = [("", releases)]
    if not pairs or not all(isinstance(release, Release) for _, release in pairs):
        raise DuffError(
            "releases must be a Table, a Release, a list of them or a mapping from headings to "
            "them. Pass what table() or median() returned."
        )
    return [(_heading(heading, release), release) for heading, release in pairs]


def _heading(heading: str, release: Release) -> str:
    title = release.title
    if not heading:
        return title
    if title.lower() in heading.lower():
        return f"{heading[0].upper()}{heading[1:]}"
    return f"{heading}: {title.lower()}"


def _of_releases(named: NamedReleases) -> ResultTable:
    """The table of releases with the same groups, or of one release without groups."""
    first = named[0][1]
    keys = [list(map(str, key)) for key in first.keys] or [[]]
    results = [_result(heading, release, release.cells) for heading, release in named]
    heading = named[0][0] if len(named) == 1 else f"By {', '.join(first.by)}"
    # Where one number could be anything, the others of the group are noise as well.
    small = [any(flags) for flags in zip(*(release.too_few() for _, release in named), strict=True)]
    thresholds = dict.fromkeys(release.suppress_below for _, release in named)
    notes = [
        f"Too few to tell: the noisy count is below {threshold:,}."
        for threshold in thresholds
        if threshold is not None and any(small)
    ]
    return ResultTable(heading, first.by, keys, results, small, [False] * len(keys), notes)


def _of_table(table: Table) -> ResultTable:
    columns = table.wide()
    keys = [list(key) for key in zip(*(columns[name] for name in table.by), strict=True)]
    results = []
    for measure in table.measures:
        rows = list(zip(*(columns[name] for name in measure.columns), strict=True))
        results.append(_result(measure.name, measure.release, rows))
    margins = [None in key for key in keys] or [False]
    texts = [[ALL if part is None else str(part) for part in key] for key in keys] or [[]]
    heading = f"By {', '.join(table.by)}" if table.by else "In all"
    small, notes = columns[TOO_SMALL], []
    if any(small):
        notes.append(
            f"Too few to tell: the noisy count is below {table.smallest:,}, or an interval is all "
            "that could come out."
        )
    if any(margins):
        notes.append(
            f"“{ALL}” takes groups together: counts and sums are added up from the lines above, "
            "which costs nothing, and the rest was drawn again."
        )
    return ResultTable(heading, table.by, texts, results, small, margins, notes)


def _result(heading: str, release: Release, rows: Sequence[Sequence[Any]]) -> ReleaseResult:
    """The numbers of a release in these rows: its own cells, or those of a table."""
    if release.has_distributions:
        return ReleaseResult(heading, release, _quantiles(release))
    interval = release.facts.interval
    columns = release.columns[:: columns_per_number(interval)]
    estimates = [estimates_of(release.columns, row, release.domain, interval) for row in rows]
    result = [
        ResultColumn(
            column.name if len(columns) > 1 or release.sizes is not None else "",
            column.kind,
            [_number(release, column.kind, row[i]) for row in estimates],
        )
        for i, column in enumerate(columns)
    ]
    if release.sizes is not None:
        sizes = [ReleasedNumber(f"{size:,}", value=size) for size in release.sizes]
        result = [ResultColumn("count", "count", sizes, is_group_size=True), *result]
    return ReleaseResult(heading, release, result)


def _number(release: Release, kind: NumberKind, estimate: Estimate) -> ReleasedNumber:
    """A value with its interval; sums over groups have none, and words replace withheld values."""
    value, low, high, too_few = estimate
    if value is None:
        return ReleasedNumber(TOO_FEW, too_few=True)
    text = _text(release, kind, value)
    if low is None:
        return ReleasedNumber(text, value=value)
    ends = f"{_text(release, kind, low)} to {_text(release, kind, high)}"
    return ReleasedNumber(text, ends, value, (low, high), too_few)


def _quantiles(release: Release) -> list[ResultColumn]:
    """A few quantiles of every distribution, with the intervals that follow from its band."""
    by_group = [distribution.quantiles() for (distribution,) in release.cells]
    columns = []
    for same_q in zip(*by_group, strict=True):
        numbers = []
        for _, value, low, high in same_q:
            text, *ends = (candidate_text(end, release.domain) for end in (value, low, high))
            numbers.append(ReleasedNumber(text, " to ".join(ends), value, (low, high)))
        columns.append(ResultColumn(share_text(same_q[0][0]), "distribution", numbers))
    return columns


def _text(release: Release, kind: NumberKind, value: Any) -> str:
    """A candidate with the digits of its domain; a share, duration or count as people write it."""
    domain = release.domain
    if kind == "candidate":
        return candidate_text(value, domain)
    if isinstance(value, dt.timedelta):
        return duration_text(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(domain, Membership):
        return f"{value:.4f}"
    digits = 6 if isinstance(domain, Ordered) and abs(value) < 1e6 else 10
    return f"{value:,.{digits}g}"
