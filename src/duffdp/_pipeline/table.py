"""The table of several releases: groups down, statistics across."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from duffdp._engines.selection import in_margin
from duffdp._parameters import Covers, Groups, Interval, read_interval
from duffdp._pipeline.comparison import (
    ComparedNumber,
    Comparison,
    Ranking,
    comparison,
    ranking,
)
from duffdp._pipeline.cross_table import CrossCell, CrossTable, ShownColumn
from duffdp._pipeline.estimates import Estimate, columns_per_number, estimates_of
from duffdp._pipeline.export import (
    DisplayTable,
    Exportable,
    ListedFacts,
    SimpleTable,
    WorkbookSheet,
)
from duffdp._pipeline.group_sums import counts_that_add_up, sum_of_groups, sums_of_noise
from duffdp._pipeline.level_rows import GroupLevel, adds_up, rows_of_levels, tree_of
from duffdp._pipeline.notes import notes_about
from duffdp._pipeline.number_text import NumberFormat, as_text, estimate_text, number_format
from duffdp._pipeline.plots import PlotSeries, draw_series, new_axes
from duffdp._pipeline.release import Release, listed_facts
from duffdp._pipeline.released_values import TOO_SMALL, CellRow
from duffdp._pipeline.wording import ALL, PLAIN, Wording
from duffdp._privacy import PrivacyUnit
from duffdp._text import visible
from duffdp.errors import DuffError, did_you_mean, quoted_names
from duffdp.statistics.program import OutputColumn


@dataclass(frozen=True, slots=True)
class Measure:
    """One statistic of a table: its name, its columns, the release that has its numbers, and a
    release of the same statistics for each margin. If groups add up, margins need no release, and
    have None.

    Quantiles that are drawn together share a release: `parts` says which of its numbers, in the
    order of the columns.
    """

    name: str
    columns: tuple[str, ...]
    release: Release
    margins: tuple[Release | None, ...]
    release_name: str
    parts: tuple[int, ...]

    @property
    def step(self) -> int:
        """From the column of one value to that of the next."""
        return columns_per_number(self.release.facts.interval)

    @property
    def has_intervals(self) -> bool:
        """True if its columns are values and the ends of their intervals."""
        return self.release.facts.interval is not None

    @property
    def margin_releases(self) -> list[Release]:
        """The releases of margins that were drawn."""
        return [release for release in self.margins if release is not None]

    @property
    def outputs(self) -> tuple[OutputColumn, ...]:
        """The columns of its release that it has."""
        return self._own(self.release.columns)

    def _own(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """Its own columns, or those of a row of its release."""
        return tuple(
            value for part in self.parts for value in row[part * self.step : (part + 1) * self.step]
        )

    def rows(self, levels: Sequence[GroupLevel]) -> list[CellRow]:
        """Its numbers for the groups of all levels."""
        return list(map(self._own, self._release_rows(levels)))

    def _release_rows(self, levels: Sequence[GroupLevel]) -> list[CellRow]:
        """The numbers of its release for the groups of all levels. If groups add up, all levels
        are estimated together, so they add up as well. Margins that cross each other are the sums
        of the drawn numbers, and the printed counts add up to them.
        """
        rows, margins = list(self.release.cells), levels[1:]
        if not margins or not adds_up(self.release.facts):
            return rows + [row for release in self.margin_releases for row in release.cells]
        noisy, tree = self.release.noisy, tree_of(levels)
        assert noisy is not None
        if tree is not None and not self.release.facts.statistic.parameters.get("adds_up"):
            drawn = [self.release, *(self.margins or [None] * len(margins))]
            facts = [None if release is None else release.facts for release in drawn]
            return rows_of_levels(
                tree, facts, [None if release is None else release.noisy for release in drawn]
            )
        for groups, places in margins:
            # All groups together are one group, even if there are none.
            parts: dict[int, list[Sequence[int]]] = {} if groups.by else {0: []}
            for place, numbers in zip(places, noisy, strict=True):
                parts.setdefault(place, []).append(numbers)
            rows += [
                sum_of_groups(self.release.facts, parts[place], len(parts))
                for place in sorted(parts)
            ]
        places_of_margins = [places for _, places in margins]
        return counts_that_add_up(self.release.facts, rows, noisy, places_of_margins)

    def estimates(self, rows: Sequence[CellRow]) -> list[list[Estimate]]:
        """Such numbers, each with its interval."""
        columns, facts = self.outputs, self.release.facts
        return [estimates_of(columns, row, facts.domain, facts.interval) for row in rows]

    def names(self, wording: Wording) -> list[str]:
        """The names of its columns for readers; a renamed release begins those of its parts."""
        renamed, has_parts = wording.names.get(self.name), len(self.columns) > self.step
        names = []
        for column, part in zip(self.columns, self.outputs, strict=True):
            name = wording.name(column)
            if name == column and renamed is not None and has_parts:
                name = f"{renamed} {part.name}"
            names.append(name)
        return names

    def value_columns(self) -> tuple[str, ...]:
        """Its columns without the ends of intervals."""
        return self.columns[:: self.step]

    def too_few(self, count: int) -> list[bool]:
        """For this number of groups, whether all its intervals are nearly the whole range."""
        releases = [self.release, *([] if adds_up(self.release.facts) else self.margin_releases)]
        too_few = [small for release in releases for small in release.too_few(self.parts)]
        return too_few + [False] * (count - len(too_few))


@dataclass(frozen=True, slots=True, eq=False)
class Table(Exportable):
    """Several statistics of the same groups, released together for one epsilon.

    Attributes
    ----------
    releases
        Every `Release` by its name, including those of totals.
    by, keys
        The columns that form groups, and the groups in the order of the rows; totals follow.
    smallest, suppressed
        The noisy count below which a group is `too_small`, and whether all numbers of such groups
        but the count are withheld.
    confidence, covers, simultaneous
        As in `Release`: the probability with which intervals contain their target, the target, and
        whether all intervals hold at once. Intervals of counts and sums always cover "data".
    epsilon, unit, secure
        The total cost of all releases, the unit that they protect, and True if they were drawn from
        the operating system's randomness.

    Methods
    -------
    wide, tidy, to_frame, cross, compare, rank, too_small, without_interval, plot, to_dict, to_json,
    from_dict

    Privacy
    -------
    All numbers together are epsilon-differentially private for neighbors that differ by one `unit`.
    Sums over groups, `too_small` and formats are computed from released numbers and public facts,
    at no cost.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), proposition 2.1:
    post-processing.

    Examples
    --------
    >>> import duffdp
    >>> given = {"epsilon": 2, "bounds": {"age": (0, 120)}, "by": "sex", "keys": ["Female", "Male"]}
    >>> table = duffdp.table("demo/adult.parquet", {"age": "median"}, **given)
    >>> list(table.to_pandas().columns)[:5]
    ['sex', 'count', 'count_low', 'count_high', 'age_median']
    """

    measures: tuple[Measure, ...]
    groups: Groups
    margins: tuple[tuple[str, ...], ...]
    smallest: int
    frame: Any
    suppressed: bool = False
    interval: Interval | None = None
    wording: Wording = PLAIN
    call_id: str | None = None

    @property
    def releases(self) -> dict[str, Release]:
        """Every release by its name; totals are named "age_median by sex", "age_median in all"."""
        releases = {}
        for measure in self.measures:
            releases[measure.release_name] = measure.release
            for margin, release in zip(self.margins, measure.margins, strict=False):
                if release is not None:
                    releases[margin_name(measure.release_name, margin)] = release
        return releases

    @property
    def by(self) -> tuple[str, ...]:
        return self.groups.by

    @property
    def keys(self) -> Sequence[tuple[Any, ...]]:
        return self.groups.keys

    @property
    def epsilon(self) -> float:
        return float(sum((r.loss.epsilon for r in self.releases.values()), Fraction(0)))

    @property
    def unit(self) -> PrivacyUnit:
        return max((m.release.unit for m in self.measures), key=lambda unit: unit.contributions)

    @property
    def secure(self) -> bool:
        return all(release.secure for release in self.releases.values())

    @property
    def confidence(self) -> float | None:
        return None if self.interval is None else float(self.interval.confidence)

    @property
    def covers(self) -> Covers | None:
        return None if self.interval is None else self.interval.covers

    @property
    def simultaneous(self) -> bool | None:
        return None if self.interval is None else self.interval.simultaneous

    @property
    def without_interval(self) -> tuple[str, ...]:
        """The names of the releases without an interval."""
        names = [one.release_name for one in self.measures if not one.has_intervals]
        return tuple(dict.fromkeys(names))

    def too_small(self) -> list[bool]:
        """For each row, True if the group has too few records for useful values.

        Its noisy count is below `smallest`, or the intervals of one of its statistics are nearly
        the whole range. This is computed from noisy numbers, so it can be wrong.
        """
        counts = [row[0] for row in self.measures[0].rows(self._levels())]
        too_few = [measure.too_few(len(counts)) for measure in self.measures]
        return [
            count < self.smallest or any(flags)
            for count, flags in zip(counts, zip(*too_few, strict=True), strict=True)
        ]

    def wide(self) -> dict[str, list[Any]]:
        """Key columns (missing in a margin that combines all groups), released numbers and
        `too_small`, with one row per group.
        """
        name, keys = self.wording.name, self.row_keys()
        columns: dict[str, list[Any]] = {}
        for i, by in enumerate(self.by):
            parts = [key[i] for key in keys]
            labels = [None if part is None else self.wording.key(by, part) for part in parts]
            columns[name(by)] = labels
        for measure in self.measures:
            columns |= _by_column(measure.names(self.wording), self._rows(measure))
        return columns | {name(TOO_SMALL): self.too_small()}

    def rounded(self, raw: bool = False) -> dict[str, list[Any]]:
        """The columns with rounded numbers, and "all" as the key of totals."""
        columns = Exportable.rounded(self, raw)
        for by in self.by:
            name = self.wording.name(by)
            columns[name] = [self.wording.key(by, part) for part in columns[name]]
        return columns

    def number_formats(self) -> dict[str, NumberFormat]:
        formats: dict[str, NumberFormat] = {}
        columns_by_name = {column.column: column for column in self.shown_columns()}
        for measure in self.measures:
            for i in range(0, len(measure.columns), measure.step):
                names = measure.names(self.wording)[i : i + measure.step]
                forms = columns_by_name[measure.columns[i]].format.with_ends()
                formats |= dict(zip(names, forms, strict=False))
        return formats

    def shown_columns(self, *measures: Measure) -> list[ShownColumn]:
        """Every number of a group with its format; of some measures, or of all."""
        columns = []
        for measure in measures or self.measures:
            release = measure.release
            parts = measure.outputs[:: measure.step]
            rows = self._estimates(measure)
            names = self._headers(measure)
            for i, (name, shown, part) in enumerate(
                zip(measure.value_columns(), names, parts, strict=True)
            ):
                estimates = [row[i] for row in rows]
                counts = part.kind == "count" and release.column is not None
                unit = "" if counts else self.wording.shown_in.get(name, "")
                default_step = release.has_default_step
                form = number_format(estimates, part.kind, release.domain, unit, default_step)
                form = form._replace(marks=self.wording.marks)
                label = part.name if len(parts) > 1 else ""
                columns.append(ShownColumn(name, shown, label, part.kind, form, estimates))
        return columns

    def tidy(self) -> SimpleTable:
        """A row for each number: keys, `column`, `statistic`, `value`, `low`, `high`, `too_small`.
        It has `to_pandas()` and the other exports.
        """
        word = self.wording.name
        names = [*map(word, self.by), "column", "statistic", "value", "low", "high"]
        names.append(word(TOO_SMALL))
        rows = []
        for measure in self.measures:
            release = measure.release
            all_labels = release.labels()[:: measure.step]
            labels = [all_labels[part] for part in measure.parts]
            for key, row, is_small in zip(
                self.row_keys(), self._estimates(measure), self.too_small(), strict=True
            ):
                for label, (value, low, high, _) in zip(labels, row, strict=True):
                    rows.append((*key, release.column, label, value, low, high, is_small))
        return SimpleTable(_by_column(_unique(names), rows), self._caption())

    def cross(self, name: str) -> CrossTable:
        """The cross table of one statistic: the first column of groups down, the second across, and
        margins if there are totals.

        `name` is that of a release ("age_median"), of one of its columns, or its name for readers.
        A release with several numbers has all of them in one cell.
        """
        if len(self.by) != 2:
            raise DuffError(
                f"a cross table needs two columns of groups, got {len(self.by)}. Pass for example "
                'by=["region", "sex"] to the table.'
            )
        for measure in self.measures:
            columns = self.shown_columns(measure)
            if name in (measure.name, self.wording.name(measure.name)):
                return self._cross(self.title(measure), columns)
            for column in columns:
                if name in (column.column, column.name):
                    return self._cross(column.name, [column])
        raise self._no_column(name)

    def cross_tables(self) -> list[CrossTable]:
        """The cross table of each statistic."""
        return [
            self._cross(self.title(measure), self.shown_columns(measure))
            for measure in self.measures
        ]

    def title(self, measure: Measure) -> str:
        """The name of a measure for readers."""
        if measure is self.measures[0]:
            return self._headers(measure)[0]
        return self.wording.name(measure.name)

    def titled_releases(self) -> list[tuple[str, Measure]]:
        """The name of every release for readers, and the first measure that has it."""
        titled: dict[str, tuple[str, Measure]] = {}
        for one in self.measures:
            name = one.release_name
            title = self.title(one) if one.name == name else self.wording.name(name)
            titled.setdefault(name, (title, one))
        return list(titled.values())

    def _cross(self, title: str, columns: list[ShownColumn]) -> CrossTable:
        keys, small = self.row_keys(), self.too_small()
        places = {key: i for i, key in enumerate(keys)}
        rows, across = (list(dict.fromkeys(key[i] for key in keys)) for i in (0, 1))

        def cell(key: CellRow) -> CrossCell | None:
            if key not in places:
                return None
            place = places[key]
            estimates = [column.estimates[place] for column in columns]
            # A count says by itself that it is small.
            hidden = small[place] and columns[0].column != self.measures[0].columns[0]
            return CrossCell(estimates, hidden)

        cells = [[cell((row, column)) for column in across] for row in rows]
        first, second = self.by
        caption = self._caption()
        return CrossTable(
            title, (first, second), rows, across, cells, columns, self.wording, caption
        )

    def compare(
        self, name: str, first: object, second: object, *, confidence: float | None = None
    ) -> Comparison:
        """The difference and the ratio of one number of two groups, at no cost.

        `name` is a column ("age_median") or its name for readers. A group is its key, or a tuple of
        keys for several columns of groups, as in the data or by their labels; "all" is a total.
        `confidence` is that of `duffdp.compare`.
        """
        measure, part, column = self._number(name)
        numbers = self.compared_numbers(measure, part)
        keys = [self._place(group) for group in (first, second)]
        names = self.group_name(keys[0]), self.group_name(keys[1])
        pair = [(numbers[keys[0]], numbers[keys[1]])]
        unit = column.format.unit
        return comparison(names, (), pair, confidence, column.name, unit, self.wording)

    def rank(self, name: str, *, confidence: float | None = None) -> Ranking:
        """The order of the groups by one number, and which pairs are certain, at no cost.

        Where the noise is known (counts, sums, shares, means) all certain pairs are in the right
        order together, with this confidence. Otherwise that holds for each pair individually,
        unless the table was released with `simultaneous`.
        """
        measure, part, column = self._number(name)
        keys = [key[0] if len(self.by) == 1 else key for key in self.keys]
        if len(keys) < 2:
            raise DuffError("a ranking needs at least two groups. Pass by and keys to the table.")
        numbers = self.compared_numbers(measure, part)[: len(keys)]
        labels = [self.group_name(i) for i in range(len(keys))]
        form = column.format
        return ranking(column.name, keys, labels, numbers, form, confidence, self.wording)

    def _number(self, name: str) -> tuple[Measure, int, ShownColumn]:
        """The measure, the part and the column of a name."""
        for measure in self.measures:
            columns = self.shown_columns(measure)
            for part, column in enumerate(columns):
                is_only = len(columns) == 1 and name == measure.name
                if is_only or name in (column.column, column.name):
                    return measure, part, column
        raise self._no_column(name)

    def compared_numbers(self, measure: Measure, part: int) -> list[ComparedNumber]:
        """One number of every row, with its noise if that is known."""
        rows, release = self._estimates(measure), measure.release
        kind = measure.outputs[part * measure.step].kind
        number = measure.parts[part]
        numbers: list[ComparedNumber] = []
        added = adds_up(release.facts)
        estimated = added and bool(measure.margin_releases)  # of draws on several levels
        for level, (groups, places) in enumerate(self._levels()):
            own = release
            if level and not added:
                own = measure.margin_releases[level - 1]
            members: dict[int, list[int]] = {} if groups.by else {0: []}
            for group, place in enumerate(places):
                members.setdefault(place, []).append(group)
            for place in sorted(members):
                draws = frozenset({(level, place)})
                if estimated:  # all noises are in each number, so intervals are compared
                    noisy = None
                elif own is not release or not level:
                    noisy = None if own.noisy is None else own.noisy[place]
                else:
                    assert release.noisy is not None
                    parts = [release.noisy[group] for group in members[place]]
                    noisy = sums_of_noise(release.facts, parts)
                    draws = frozenset((0, group) for group in members[place])
                row = rows[len(numbers)]
                numbers.append(ComparedNumber(row[part], own.facts, number, noisy, draws, kind))
        return numbers

    def _place(self, group: object) -> int:
        """The row of a group that is named by keys or labels."""
        parts = tuple(group) if isinstance(group, tuple | list) else (group,)
        keys = self.row_keys()
        for i, key in enumerate(keys):
            if key == parts:
                return i
        for i, key in enumerate(keys):
            labels = self.wording.keys(self.by, key)
            matches = [
                as_text(asked_key) in (ALL if part is None else as_text(part), as_text(label))
                for asked_key, part, label in zip(parts, key, labels, strict=False)
            ]
            if len(parts) == len(key) and all(matches):
                return i
        listed = "; ".join(map(self.group_name, range(min(len(keys), 6))))
        names = [as_text(part) for key in keys for part in self.wording.keys(self.by, key)]
        hint = did_you_mean(parts[0], dict.fromkeys(names)) if len(parts) == 1 else ""
        raise DuffError(f"there is no group {group!r:.60}.{hint} Its groups are {listed}.")

    def group_name(self, place: int) -> str:
        """The name of the group of a row, for readers."""
        return ", ".join(map(as_text, self.wording.keys(self.by, self.row_keys()[place])))

    def _no_column(self, name: object) -> DuffError:
        names = [name for measure in self.measures for name in measure.value_columns()]
        return DuffError(
            f"there is no column {name!r:.60}.{did_you_mean(name, names)} Its columns are "
            f"{quoted_names(names)}."
        )

    def display_tables(self) -> list[DisplayTable]:
        """The tables for readers: intervals beside their numbers, and words instead of the numbers
        of too small groups. With two columns of groups, there is a cross table for each statistic.
        """
        if self._is_crossed:
            return [table for cross in self.cross_tables() for table in cross.display_tables()]
        words, small, columns = self.wording, self.too_small(), self.shown_columns()
        texts, keys, order = [], self.row_keys(), self.shown_order()
        for i, key in ((i, keys[i]) for i in order):
            labels = list(map(as_text, words.keys(self.by, key)))
            numbers = [
                estimate_text(column.estimates[i], column.format, words.to, words.too_few)
                for column in columns
            ]
            shown = [words.too_few, *[""] * (len(numbers) - 1)] if small[i] else numbers
            texts.append([*labels, *shown])
        header = [*map(words.name, self.by), *(column.name for column in columns)]
        muted = [small[i] for i in order]
        return [DisplayTable(header, texts, self._caption(), muted, len(self.by))]

    @property
    def is_nested(self) -> bool:
        """True if each column of groups after the first one divides the groups of the column
        before.
        """
        return bool(self.margins) and len(self.by) > 1 and tree_of(self._levels()) is not None

    @property
    def _is_crossed(self) -> bool:
        """True if groups have two columns that are not nested: each statistic is then a cross
        table.
        """
        return len(self.by) == 2 and not self.is_nested

    def shown_order(self) -> list[int]:
        """The rows in reading order: larger groups before their parts, and the total at the end."""
        keys = self.row_keys()
        if not self.is_nested:
            return list(range(len(keys)))
        first: dict[CellRow, int] = {}
        for i, key in enumerate(keys):
            for size in range(1, len(key) + 1):
                first.setdefault(key[:size], i)

        def place(i: int) -> tuple[bool, list[int]]:
            present = [part for part in keys[i] if part is not None]
            return not present, [first[keys[i][: size + 1]] for size in range(len(present))]

        return sorted(range(len(keys)), key=place)

    def sheets(self) -> list[WorkbookSheet]:
        """A sheet with all numbers; with two columns of groups, first a cross table for each
        statistic that has one number.
        """
        crosses = self.cross_tables() if self._is_crossed else []
        return [
            WorkbookSheet(cross.name, cross.rounded(), cross.number_formats())
            for cross in crosses
            if cross.has_single_numbers
        ] + Exportable.sheets(self)

    def facts_listed(self) -> ListedFacts:
        releases = []
        for title, measure in self.titled_releases():
            releases.append((title, measure.release))
            for margin, margin_release in zip(self.margins, measure.margins, strict=False):
                if margin_release is not None:
                    by = tuple(map(self.wording.name, margin))
                    releases.append((margin_name(title, by), margin_release))
        call = [] if self.call_id is None else [("call id", self.call_id)]
        small = f"noisy count below {self.smallest:,}{', withheld' if self.suppressed else ''}"
        return [*call, ("too small", small), *listed_facts(releases)]

    def to_frame(self) -> Any:
        """The table as a frame of the data's library; after `from_dict` a list of rows."""
        return self.frame

    def plot(self, *names: str, axes: Sequence[Any] | None = None) -> list[Any]:
        """Plot the table with matplotlib, and return the axes.

        Each named column, or every column, has axes of its own with a point and its interval for
        each group. Groups that are too small are pale.
        """
        words = self.wording
        labels = [", ".join(map(as_text, words.keys(self.by, key))) for key in self.row_keys()]
        columns_by_name = {column.column: column for column in self.shown_columns()}
        for name in names:
            if name not in columns_by_name:
                raise self._no_column(name)
        columns = [columns_by_name[name] for name in names] or list(columns_by_name.values())
        pairs = new_axes(len(columns), len(labels)) if axes is None else list(axes)
        muted = self.too_small()
        return [
            draw_series(PlotSeries(one.name, labels, one.estimates, muted, one.format.unit), pair)
            for one, pair in zip(columns, pairs, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values."""
        return {
            "by": list(self.by),
            "margins": list(map(list, self.margins)),
            "smallest": self.smallest,
            "suppressed": self.suppressed,
            **(
                {}
                if self.interval is None
                else {
                    "confidence": self.confidence,
                    "covers": self.covers,
                    "simultaneous": self.simultaneous,
                }
            ),
            **({"wording": self.wording.to_dict()} if any(self.wording) else {}),
            **({} if self.call_id is None else {"call_id": self.call_id}),
            "epsilon": self.epsilon,
            "measures": self._measures_to_dict(),
        }

    def _measures_to_dict(self) -> list[dict[str, Any]]:
        """Every measure as JSON types; a release is in the first measure that has it."""
        first = [measure for _, measure in self.titled_releases()]
        entries = []
        for measure in self.measures:
            entry: dict[str, Any] = {
                "name": measure.name,
                "columns": list(measure.columns),
                "release_name": measure.release_name,
                "parts": list(measure.parts),
            }
            if any(measure is one for one in first):
                entry["release"] = measure.release.to_dict()
                entry["margins"] = [one and one.to_dict() for one in measure.margins]
            entries.append(entry)
        return entries

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Table:
        """The table from its `to_dict()`."""
        try:
            measures: list[Measure] = []
            drawn: dict[str, tuple[Release, tuple[Release | None, ...]]] = {}
            for entry in fields["measures"]:
                name = entry["release_name"]
                if name not in drawn:
                    drawn[name] = (
                        Release.from_dict(entry["release"]),
                        tuple(one and Release.from_dict(one) for one in entry["margins"]),
                    )
                names, parts = tuple(entry["columns"]), tuple(entry["parts"])
                measures.append(Measure(entry["name"], names, *drawn[name], name, parts))
            margins = tuple(map(tuple, fields["margins"]))
            first = measures[0].release
            interval = first.facts.interval
            if interval is not None:
                covers = fields.get("covers", "data")
                interval = read_interval(fields["confidence"], covers, fields["simultaneous"])
            groups, smallest = Groups(first.by, first.keys), fields["smallest"]
            wording = Wording.from_dict(fields.get("wording", {}))
            table = cls(
                *(tuple(measures), groups, margins, smallest, None, fields["suppressed"], interval),
                *(wording, fields.get("call_id")),
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise DuffError(
                f"this is not a dictionary from to_dict() of a table ({type(error).__name__}). "
                "Pass the whole dictionary."
            ) from None
        columns = table.wide()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return replace(table, frame=rows)

    def to_json(self) -> str:
        """All fields as JSON text."""
        return json.dumps(self.to_dict())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __len__(self) -> int:
        return len(self.row_keys())

    def __str__(self) -> str:
        """The table and its notes, a line each; without them: `to_text()`."""
        return "\n".join([self.to_text(), *map(visible, self.notes)])

    def __repr__(self) -> str:
        names = ", ".join(measure.name for measure in self.measures)
        return f"<Table {names}: {self._caption()}>"

    @property
    def notes(self) -> list[str]:
        """Lines about the call that notebooks show below the table; the same for all data."""
        parts = [(one.facts, one.reading) for one in self.releases.values()]
        return [note.in_table().worded() for note in notes_about(parts)]

    def _caption(self) -> str:
        names = ", ".join(map(self.wording.name, self.by))
        groups = f"{len(self.keys)} groups by {names}, " if self.by else ""
        if self.measures[0].name in self.wording.names and (where := self.groups_of_people):
            groups += f"each person in {where}, "
        ends = ""
        if self.confidence is not None:
            scope = "together" if self.simultaneous else "each"
            population = " for the population" if self.covers == "population" else ""
            ends = f", intervals {100 * self.confidence:.6g}% {scope}{population}"
        seeded = "" if self.secure else ", NOT PRIVATE (seeded)"
        return f"{groups}epsilon={self.epsilon:g} for each {self.unit.protected}{ends}{seeded}"

    @property
    def groups_of_people(self) -> str:
        """Text for the number of groups where a person counts; empty without groups or people."""
        unit = self.measures[0].release.unit
        if not self.by or unit.kind != "person":
            return ""
        groups = unit.groups_per_person or 1
        return "one group" if groups == 1 else f"up to {groups} groups"

    def _headers(self, measure: Measure) -> list[str]:
        """Headers for people: a count of people is called so, and says where they count, unless
        it has a name.
        """
        names = measure.names(self.wording)[:: measure.step]
        unit, renamed = measure.release.unit, measure.name in self.wording.names
        if measure is not self.measures[0] or unit.kind != "person" or renamed:
            return names
        where = self.groups_of_people
        return [f"people, each in {where}" if where else "people"]

    def _rows(self, measure: Measure) -> list[CellRow]:
        """The numbers of a measure to export: those of small groups may be withheld, counts are
        not.
        """
        rows = measure.rows(self._levels())
        if not self.suppressed or measure is self.measures[0]:
            return rows
        withheld = (None,) * len(measure.columns)
        return [
            withheld if is_small else row
            for row, is_small in zip(rows, self.too_small(), strict=True)
        ]

    def _estimates(self, measure: Measure) -> list[list[Estimate]]:
        return measure.estimates(self._rows(measure))

    def _levels(self) -> list[GroupLevel]:
        """The groups of the table, and those of its margins."""
        return [in_margin(self.groups, by) for by in (self.by, *self.margins)]

    def row_keys(self) -> list[CellRow]:
        """The keys of all rows; None for a column whose groups a margin combines."""
        rows: list[CellRow] = []
        for (by, keys), _ in self._levels():
            for key in keys if by else ((),):
                parts = dict(zip(by, key, strict=True))
                rows.append(tuple(parts.get(name) for name in self.by))
        return rows


def _by_column(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """The columns of rows, of which there may be none."""
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def margins_of(
    name: str, margins: Sequence[tuple[str, ...]], releases: Mapping[str, Release]
) -> tuple[Release | None, ...]:
    """The releases of the margins of one release, None where a margin is a sum."""
    own = tuple(releases.get(margin_name(name, margin)) for margin in margins)
    return own if any(release is not None for release in own) else ()


def margin_name(name: str, margin: tuple[str, ...]) -> str:
    """The name of the release of a margin."""
    return f"{name} by {', '.join(margin)}" if margin else f"{name} in all"


def _unique(names: list[str]) -> list[str]:
    """Names that all differ: a key may have the name of one of our columns."""
    unique: list[str] = []
    for name in names:
        while name in unique:
            name += "_value"
        unique.append(name)
    return unique
