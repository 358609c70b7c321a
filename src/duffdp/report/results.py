"""Released numbers as text, in tables: releases with the same groups share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from duffdp._parameters import share_text
from duffdp._pipeline.estimates import Estimate, columns_per_number
from duffdp._pipeline.number_text import TOO_FEW, NumberFormat, as_text, number_format
from duffdp._pipeline.release import Release
from duffdp._pipeline.table import Table
from duffdp._pipeline.wording import ALL, PLAIN, SAMPLE, Wording
from duffdp.domain import Ordered
from duffdp.errors import DuffError
from duffdp.statistics.program import NumberKind
from duffdp.statistics.registry import REGISTRY, statistic_spec

_MAX_ACROSS = 14  # numbers of a group; with more, each of them has a row
# Numbers of a group that are a picture instead: in a list, and in the cells of a cross table.
MIN_PICTURE, MIN_CELL_PICTURE = 4, 3
_SHADES = 5  # of a cross table
_MAX_NAMES = 6  # above a cross table of pictures
NamedReleases = list[tuple[str, Release]]


class ReleasedNumber(NamedTuple):
    """One released number with the ends of its interval: as texts, and as values."""

    text: str
    ends: str = ""
    value: Any = None
    span: tuple[Any, Any] | None = None
    too_few: bool = False  # the interval is the whole range
    too_few_words: str = TOO_FEW

    def line(self) -> str:
        """Number and interval in one line."""
        if self.too_few:
            return self.too_few_words
        return f"{self.text} ({self.ends})" if self.ends else self.text


class ResultColumn(NamedTuple):
    """One number of a release, for every group."""

    name: str  # within its release
    kind: NumberKind
    numbers: list[ReleasedNumber]
    is_group_size: bool = False  # noisy sizes, drawn beside the requested numbers
    unit: str = ""


class ReleaseResult(NamedTuple):
    """A release under its heading, and its numbers."""

    heading: str
    release: Release
    columns: list[ResultColumn]

    @property
    def is_picture(self) -> bool:
        """True if the numbers of a group are many of one kind: a small picture shows them."""
        kinds = {column.kind for column in self.columns}
        least = MIN_CELL_PICTURE if len(self.release.by) == 2 else MIN_PICTURE
        return (
            self.release.grouped
            and self.release.sizes is None
            and len(self.columns) >= least
            and kinds in ({"count"}, {"candidate"}, {"distribution"})
            and all(is_ordered(self.release, column) for column in self.columns)
        )

    def middle(self, numbers: Sequence[ReleasedNumber]) -> str:
        """The number in the middle of quantiles, beside their picture; counts have none."""
        counts = self.columns[0].kind == "count"
        return "" if counts else numbers[len(numbers) // 2].text


class ReportCell(NamedTuple):
    """One cell of a cross table: its numbers, and its shade from 0 (none) to the darkest."""

    numbers: list[ReleasedNumber]
    too_small: bool
    margin: bool
    shade: int = 0

    @property
    def text(self) -> str:
        """All numbers in one line."""
        return " / ".join(number.text for number in self.numbers)


class CrossResult(NamedTuple):
    """A release as a cross table: the keys of one column down, those of the other across."""

    result: ReleaseResult
    header: list[str]
    rows: list[tuple[str, bool, list[ReportCell | None]]]  # label, whether a margin, cells

    @property
    def parts(self) -> str:
        """The names of the numbers in a cell; of many in a picture, those of the ends."""
        names = [column.name for column in self.result.columns]
        if len(names) > _MAX_NAMES and self.result.is_picture:
            return f"{names[0]} to {names[-1]}"
        return " / ".join(names) if len(names) > 1 else ""

    @property
    def shaded(self) -> bool:
        """True if cells are shaded by their numbers."""
        return any(cell and cell.shade for _, _, cells in self.rows for cell in cells)


class TableRow(NamedTuple):
    """One row of a table of results."""

    keys: list[str]
    cells: list[list[ReleasedNumber]]  # several numbers are a picture
    too_small: bool
    margin: bool


class ResultTable(NamedTuple):
    """Results for the same groups; `keys` has the texts of each group (one empty list without
    groups).
    """

    heading: str
    by: tuple[str, ...]
    keys: list[list[str]]
    combined: list[tuple[bool, ...]]  # for each row, which of its keys stand for all groups
    results: list[ReleaseResult]
    too_small: list[bool]  # groups with too few records to tell anything
    notes: list[str]
    too_few: str = TOO_FEW
    nested: bool = False  # larger groups stand before their parts

    @property
    def across(self) -> int:
        """The number of columns with numbers per group."""
        return sum(1 if result.is_picture else len(result.columns) for result in self.results)

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
    def crossed(self) -> bool:
        """True if groups have two columns: each statistic is then a cross table."""
        return len(self.by) == 2 and not self.nested

    @property
    def pictures(self) -> list[ReleaseResult]:
        """The results that small pictures show."""
        return [result for result in self.results if result.is_picture]

    @property
    def two_headers(self) -> bool:
        """True if a release has several numbers: the head of a wide table then has two rows."""
        return any(len(result.columns) > 1 and not result.is_picture for result in self.results)

    def crosses(self) -> list[CrossResult]:
        """A cross table for each statistic."""
        parts = [list(zip(self.combined[i], key, strict=True)) for i, key in enumerate(self.keys)]
        rows, across = (list(dict.fromkeys(part[i] for part in parts)) for i in (0, 1))
        places = {tuple(part): i for i, part in enumerate(parts)}
        return [self._cross(result, rows, across, places) for result in self.results]

    def _cross(
        self,
        result: ReleaseResult,
        rows: list[tuple[bool, str]],
        across: list[tuple[bool, str]],
        places: dict[tuple[tuple[bool, str], ...], int],
    ) -> CrossResult:
        shades = self._shades(result)
        # The count of a group says by itself that it is small.
        sizes = result is self.results[0] and [c.kind for c in result.columns] == ["count"]

        def cell(row: tuple[bool, str], column: tuple[bool, str]) -> ReportCell | None:
            place = places.get((row, column))
            if place is None:
                return None
            numbers = [one.numbers[place] for one in result.columns]
            margin = row[0] or column[0]
            hidden = self.too_small[place] and not sizes
            return ReportCell(numbers, hidden, margin, shades.get(place, 0))

        lines = [(row[1], row[0], [cell(row, column) for column in across]) for row in rows]
        return CrossResult(result, [self.by[0], *(text for _, text in across)], lines)

    def _shades(self, result: ReleaseResult) -> dict[int, int]:
        """The shade of each group with one number, by its value; margins have none."""
        if len(result.columns) != 1:
            return {}
        values = {
            i: float(number.value)
            for i, number in enumerate(result.columns[0].numbers)
            if not self.too_small[i] and not any(self.combined[i]) and is_number(number.value)
        }
        low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
        if not low < high:
            return {}
        return {
            i: 1 + min(int(_SHADES * (value - low) / (high - low)), _SHADES - 1)
            for i, value in values.items()
        }

    def rows(self) -> list[TableRow]:
        """A row for every group or, if that would be too wide, for every number, whose name is the
        last of the keys. A picture has the numbers of its release in one column.
        """
        rows = []
        for i, key in enumerate(self.keys):
            marks = self.too_small[i], any(self.combined[i])
            cells = [
                [column.numbers[i] for column in part]
                for result in self.results
                for part in ([result.columns] if result.is_picture else _alone(result.columns))
            ]
            if self.wide:
                rows.append(TableRow(key, cells, *marks))
                continue
            labels = [
                self._row_label(result, column)
                for result in self.results
                for column in ([None] if result.is_picture else result.columns)
            ]
            rows += [
                TableRow([*key, label], [cell], *marks)
                for label, cell in zip(labels, cells, strict=True)
            ]
        return rows

    def header(self) -> list[str]:
        """The names of the columns of `rows`."""
        if self.wide:
            names = [
                result.heading if column is None else f"{result.heading} {column.name}".rstrip()
                for result in self.results
                for column in ([None] if result.is_picture else result.columns)
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

    def _row_label(self, result: ReleaseResult, column: ResultColumn | None) -> str:
        name = "" if column is None else column.name
        if len(self.results) == 1:
            return name or result.release.title
        return f"{result.heading} {name}".rstrip()


def _alone(columns: list[ResultColumn]) -> list[list[ResultColumn]]:
    return [[column] for column in columns]


def result_tables(releases: object) -> tuple[list[ResultTable], NamedReleases]:
    """The tables of a `Table`, a release, a list of releases or a mapping from headings to them;
    and every release under its name, margins under that of their statistic.
    """
    if isinstance(releases, Table):
        return [_of_table(releases)], [
            (title, release)
            for title, measure in releases.titled_releases()
            for release in (measure.release, *measure.margin_releases)
        ]
    named = _named_releases(releases)
    same_groups: dict[Any, NamedReleases] = {}
    for i, (heading, release) in enumerate(named):
        groups = (release.by, release.keys) if release.grouped else i
        same_groups.setdefault(groups, []).append((heading, release))
    return [_of_releases(part) for part in same_groups.values()], named


def _named_releases(releases: object) -> NamedReleases:
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
            "them. Pass for example the result of table() or median()."
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
    keys = [list(map(str, key)) for key in first.keys] if first.by else [[]]
    results = [
        ReleaseResult(
            heading,
            release,
            _quantiles(release) if release.has_distributions else _columns_of(release),
        )
        for heading, release in named
    ]
    heading = named[0][0] if len(named) == 1 else f"By {', '.join(first.by)}"
    # Where one number could be anything, the others of the group are noise as well.
    small = [any(flags) for flags in zip(*(release.too_few() for _, release in named), strict=True)]
    thresholds = dict.fromkeys(release.suppress_below for _, release in named)
    notes = [
        f"Too few to tell: the noisy count is below {threshold:,}."
        for threshold in thresholds
        if threshold is not None and any(small)
    ]
    combined = [(False,) * len(first.by)] * len(keys)
    return ResultTable(heading, first.by, keys, combined, results, small, notes)


def _columns_of(release: Release) -> list[ResultColumn]:
    """The numbers of a release, and the noisy sizes beside them."""
    step = columns_per_number(release.facts.interval)
    parts, estimates = release.columns[::step], release.estimates()
    several = len(parts) > 1 or release.sizes is not None
    columns = [
        ResultColumn(
            part.name if several else "",
            part.kind,
            [_number(row[i], form) for row in estimates],
        )
        for i, (part, form) in enumerate(zip(parts, release.formats(), strict=True))
    ]
    if release.sizes is None:
        return columns
    sizes = [ReleasedNumber(f"{size:,}", value=size) for size in release.sizes]
    return [ResultColumn("count", "count", sizes, is_group_size=True), *columns]


def _of_table(table: Table) -> ResultTable:
    words, order = table.wording, table.shown_order()
    all_keys, all_small = table.row_keys(), table.too_small()
    keys, small = [all_keys[i] for i in order], [all_small[i] for i in order]
    results = []
    for measure in table.measures:
        columns = [
            ResultColumn(
                column.part,
                column.kind,
                [_number(column.estimates[i], column.format, words) for i in order],
                unit=column.format.unit,
            )
            for column in table.shown_columns(measure)
        ]
        results.append(ReleaseResult(table.title(measure), measure.release, columns))
    combined = [tuple(part is None for part in key) for key in keys]
    texts = [list(map(as_text, words.keys(table.by, key))) for key in keys]
    by = tuple(map(words.name, table.by))
    heading = f"By {', '.join(by)}" if by else "In all"
    notes = []
    if words.name(SAMPLE) != SAMPLE:
        notes.append(
            f"The numbers of this table are written like {words.name(SAMPLE)}, all others in this "
            f"report like {SAMPLE}."
        )
    if any(small):
        notes.append(
            f"“{words.too_few}”: the noisy count is below {table.smallest:,}, or an interval is "
            "all that could come out."
        )
    if any(map(any, combined)):
        notes.append(
            f"“{words.name(ALL)}” takes groups together: counts and sums are added up from the "
            "groups, which costs nothing, and the rest was drawn again."
        )
        if table.groups_of_people not in ("", "one group"):
            notes.append(
                f"A person counts in {table.groups_of_people}, so “{words.name(ALL)}” counts "
                "people more than once."
            )
    return ResultTable(
        *(heading, by, texts, combined, results, small, notes, words.too_few, table.is_nested)
    )


def _number(estimate: Estimate, form: NumberFormat, words: Wording = PLAIN) -> ReleasedNumber:
    """A value with its interval; words replace withheld values."""
    value, low, high, too_few = estimate
    if value is None:
        return ReleasedNumber(words.too_few, too_few=True, too_few_words=words.too_few)
    text = form.with_unit(value)
    if low is None:
        return ReleasedNumber(text, value=value, too_few_words=words.too_few)
    ends = form.ends(estimate, words.to)
    return ReleasedNumber(text, ends, value, (low, high), too_few, words.too_few)


def _quantiles(release: Release) -> list[ResultColumn]:
    """A few quantiles of every distribution, with the intervals that follow from its band."""
    by_group = [distribution.quantiles() for (distribution,) in release.cells]
    columns = []
    for same_q in zip(*by_group, strict=True):
        estimates = [Estimate(value, low, high) for _, value, low, high in same_q]
        form = number_format(estimates, "candidate", release.domain)
        numbers = [_number(estimate, form) for estimate in estimates]
        columns.append(ResultColumn(share_text(same_q[0][0]), "distribution", numbers))
    return columns


def is_ordered(release: Release, column: ResultColumn) -> bool:
    """True if a picture can have an axis for these numbers."""
    return column.kind == "count" or isinstance(release.domain, Ordered)


def is_number(value: Any) -> bool:
    """True for numbers that an axis can hold."""
    try:
        return not isinstance(value, str | bool) and float(value) == float(value)
    except (TypeError, ValueError):
        return False
