"""The table of several releases: groups down, statistics across."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from duffdp._engines.selection import in_margin
from duffdp._facts import as_json
from duffdp._parameters import Groups, Interval, read_interval
from duffdp._pipeline.estimates import Estimate, columns_per_number, estimates_of
from duffdp._pipeline.export import (
    TOO_FEW,
    DisplayTable,
    Exportable,
    SimpleTable,
    as_text,
    estimate_text,
)
from duffdp._pipeline.group_sums import counts_that_add_up, sum_of_groups
from duffdp._pipeline.notes import notes_about
from duffdp._pipeline.plots import PlotSeries, draw_series, new_axes
from duffdp._pipeline.release import Release
from duffdp._pipeline.released_values import TOO_SMALL, CellRow
from duffdp._privacy import PrivacyUnit
from duffdp.errors import DuffError, did_you_mean, quoted_names

ALL = "all"  # instead of a key, where the groups of its column are combined
GroupLevel = tuple[Groups, Sequence[int]]  # groups, and to which of them each key belongs


@dataclass(frozen=True, slots=True)
class Measure:
    """One release of a table: its name, its columns, and a release of the same statistic for each
    margin, unless margins are sums.
    """

    name: str
    columns: tuple[str, ...]
    release: Release
    margins: tuple[Release, ...] = ()

    @property
    def step(self) -> int:
        """From the column of one value to that of the next."""
        return columns_per_number(self.release.facts.interval)

    @property
    def has_intervals(self) -> bool:
        """True if its columns are values and the ends of their intervals."""
        return self.release.facts.interval is not None

    def rows(self, levels: Sequence[GroupLevel]) -> list[CellRow]:
        """Its numbers for the groups of all levels. Counts and sums of a margin are the sums of
        the numbers as drawn; with one margin, counts are printed so that they add up to it.
        """
        rows, margins = list(self.release.cells), levels[1:]
        if self.margins or not margins:
            return rows + [row for release in self.margins for row in release.cells]
        noisy = self.release.noisy
        assert noisy is not None
        if len(margins) == 1:
            rows = counts_that_add_up(self.release.facts, rows, noisy)
        for groups, places in margins:
            # All groups together are one group, even if there are none.
            parts: dict[int, list[Sequence[int]]] = {} if groups.by else {0: []}
            for place, numbers in zip(places, noisy, strict=True):
                parts.setdefault(place, []).append(numbers)
            rows += [
                sum_of_groups(self.release.facts, parts[place], len(parts))
                for place in sorted(parts)
            ]
        return rows

    def estimates(self, rows: Sequence[CellRow]) -> list[list[Estimate]]:
        """Such numbers, each with its interval."""
        columns, facts = self.release.columns, self.release.facts
        return [estimates_of(columns, row, facts.domain, facts.interval) for row in rows]

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The shares of records below its values, if these are quantiles on candidates."""
        statistic = self.release.facts.statistic
        if statistic.name == "median":
            return (0.5,)
        given = statistic.parameters.get(
            {"quantile": "q", "quantiles": "qs"}.get(statistic.name, "")
        )
        if given is None:
            return ()
        return tuple(given) if isinstance(given, tuple | list) else (given,)

    def value_columns(self) -> tuple[str, ...]:
        """Its columns without the ends of intervals."""
        return self.columns[:: self.step]

    def too_few(self, count: int) -> list[bool]:
        """For this number of groups, whether an interval is the whole range."""
        too_few = self.release.too_few()
        too_few += [is_small for release in self.margins for is_small in release.too_few()]
        return too_few + [False] * (count - len(too_few))


@dataclass(frozen=True, slots=True, eq=False)
class Table(Exportable):
    """Several statistics of the same groups, released together for one epsilon.

    Attributes
    ----------
    releases
        Every `Release` by its name, those of margins too.
    by, keys
        The columns that form groups, and the groups, in the order of the rows; margins follow.
    smallest, suppressed
        A group with a smaller noisy count is `too_small`; and whether numbers of such groups are
        withheld, all but the count.
    confidence, simultaneous
        How often an interval holds the exact answer for the records: each of them, or all of the
        table together.
    epsilon, unit, secure
        What all releases cost together, whom they protect, and whether they came from the operating
        system's randomness.

    Privacy
    -------
    All numbers together are epsilon-differentially private for neighbours that differ by one
    `unit`. Sums over groups, `too_small` and every format are made of released numbers and public
    facts: they cost nothing.

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

    @property
    def releases(self) -> dict[str, Release]:
        """Every release by its name; those of margins say which."""
        releases = {}
        for measure in self.measures:
            releases[measure.name] = measure.release
            for margin, release in zip(self.margins, measure.margins, strict=False):
                releases[margin_name(measure.name, margin)] = release
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
    def simultaneous(self) -> bool | None:
        return None if self.interval is None else self.interval.simultaneous

    @property
    def without_interval(self) -> tuple[str, ...]:
        """The names of the releases without an interval."""
        return tuple(measure.name for measure in self.measures if not measure.has_intervals)

    def too_small(self) -> list[bool]:
        """For each row, whether its noisy count is below `smallest` or one of its intervals is the
        whole range. Made of released numbers, so it may err as they do.
        """
        counts = [row[0] for row in self.measures[0].rows(self._levels())]
        too_few = [measure.too_few(len(counts)) for measure in self.measures]
        return [
            count < self.smallest or any(flags)
            for count, flags in zip(counts, zip(*too_few, strict=True), strict=True)
        ]

    def wide(self) -> dict[str, list[Any]]:
        """Key columns (missing in a margin that takes all of them together), released numbers
        and `too_small`; a row for each group.
        """
        columns = _by_column(self.by, self._keys())
        for measure in self.measures:
            columns |= _by_column(measure.columns, self._rows(measure))
        return columns | {TOO_SMALL: self.too_small()}

    def tidy(self) -> SimpleTable:
        """A row for each number: keys, `column`, `statistic`, `value`, `low`, `high`, `too_small`;
        with the same `to_pandas()` and so on.
        """
        names = [*self.by, "column", "statistic", "value", "low", "high", TOO_SMALL]
        rows = []
        for measure in self.measures:
            release = measure.release
            labels = release.labels()[:: measure.step]
            for key, row, is_small in zip(
                self._keys(), self._estimates(measure), self.too_small(), strict=True
            ):
                for label, (value, low, high, _) in zip(labels, row, strict=True):
                    rows.append((*key, release.column, label, value, low, high, is_small))
        return SimpleTable(_by_column(_unique(names), rows), self._caption())

    def display_table(self) -> DisplayTable:
        """The table for people: each interval beside its number, and words instead of the numbers
        of a group that is too small.
        """
        small = self.too_small()
        keys = [[ALL if part is None else as_text(part) for part in key] for key in self._keys()]
        header, columns = list(self.by), []
        for measure in self.measures:
            header += self._headers(measure)
            columns.append([list(map(estimate_text, row)) for row in self._estimates(measure)])
        texts = []
        for key, is_small, *parts in zip(keys, small, *columns, strict=True):
            numbers = [text for part in parts for text in part]
            visible = [TOO_FEW, *[""] * (len(numbers) - 1)] if is_small else numbers
            texts.append([*key, *visible, as_text(is_small)])
        return DisplayTable([*header, TOO_SMALL], texts, self._caption(), small, len(self.by))

    def to_frame(self) -> Any:
        """The table in the library that the data came from; after `from_dict` a list of rows."""
        return self.frame

    def plot(self, *names: str, axes: Sequence[Any] | None = None) -> list[Any]:
        """Points with intervals by group, one pair of axes for each column (all of them if none is
        named); returns the axes of matplotlib. Groups that are too small are pale.
        """
        labels = [_label(key) for key in self._keys()]
        estimates: dict[str, Sequence[Estimate]] = {}
        for measure in self.measures:
            estimates |= _by_column(measure.value_columns(), self._estimates(measure))
        for name in names:
            if name not in estimates:
                raise DuffError(
                    f"there is no column {name!r:.60}.{did_you_mean(name, estimates)} "
                    f"Its columns are {quoted_names(estimates)}."
                )
        columns = names or tuple(estimates)
        pairs = new_axes(len(columns), len(labels)) if axes is None else list(axes)
        muted = self.too_small()
        return [
            draw_series(PlotSeries(name, labels, estimates[name], muted), pair)
            for name, pair in zip(columns, pairs, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """All of it as types that JSON has."""
        return {
            "by": list(self.by),
            "margins": list(map(list, self.margins)),
            "smallest": self.smallest,
            "suppressed": self.suppressed,
            **(
                {}
                if self.interval is None
                else {"confidence": self.confidence, "simultaneous": self.simultaneous}
            ),
            "epsilon": self.epsilon,
            "measures": [
                {
                    "name": measure.name,
                    "columns": list(measure.columns),
                    "release": measure.release.to_dict(),
                    "margins": [release.to_dict() for release in measure.margins],
                }
                for measure in self.measures
            ],
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Table:
        """The table behind `to_dict()`."""
        try:
            measures = tuple(
                Measure(
                    entry["name"],
                    tuple(entry["columns"]),
                    Release.from_dict(entry["release"]),
                    tuple(map(Release.from_dict, entry["margins"])),
                )
                for entry in fields["measures"]
            )
            margins = tuple(map(tuple, fields["margins"]))
            first = measures[0].release
            interval = first.facts.interval
            if interval is not None:
                interval = read_interval(fields["confidence"], "data", fields["simultaneous"])
            groups, smallest = Groups(first.by, first.keys), fields["smallest"]
            table = cls(measures, groups, margins, smallest, None, fields["suppressed"], interval)
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise DuffError(
                f"this is not what to_dict() of a table gives ({type(error).__name__}). Pass the "
                "whole dictionary."
            ) from None
        columns = table.wide()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return replace(table, frame=rows)

    def to_json(self) -> str:
        """All of it as JSON text."""
        return json.dumps(self.to_dict())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __len__(self) -> int:
        return len(self._keys())

    def __repr__(self) -> str:
        names = ", ".join(measure.name for measure in self.measures)
        return f"<Table {names}: {self._caption()}>"

    @property
    def notes(self) -> list[str]:
        """Lines about the call that notebooks show below the table; the same for all data."""
        made = [(one.facts, one.reading) for one in self.releases.values()]
        return [note.worded() for note in notes_about(made)]

    def _caption(self) -> str:
        groups = f"{len(self.keys)} groups by {', '.join(self.by)}, " if self.by else ""
        ends = ""
        if self.confidence is not None:
            scope = "together" if self.simultaneous else "each"
            ends = f", intervals {100 * self.confidence:.6g} % {scope}"
        seeded = "" if self.secure else ", NOT PRIVATE (seeded)"
        return f"{groups}epsilon={self.epsilon:g} for each {self.unit}{ends}{seeded}"

    def _headers(self, measure: Measure) -> tuple[str, ...]:
        """Headers for people: a count of people is called so, and says where they count."""
        unit = measure.release.unit
        if measure is not self.measures[0] or unit.kind != "person":
            return measure.value_columns()
        once = ", each in one group" if self.by and unit.groups_per_person is None else ""
        return (f"people{once}",)

    def _rows(self, measure: Measure) -> list[CellRow]:
        """The numbers of a measure to export: those of small groups may be withheld, counts are
        not.
        """
        rows = self._coherent(measure, measure.rows(self._levels()))
        if not self.suppressed or measure is self.measures[0]:
            return rows
        withheld = (None,) * len(measure.columns)
        return [
            withheld if is_small else row
            for row, is_small in zip(rows, self.too_small(), strict=True)
        ]

    def _coherent(self, measure: Measure, rows: list[CellRow]) -> list[CellRow]:
        """Rows whose quantiles lie in order with those of earlier measures of the same column:
        no released median is below the lower quartile beside it. It costs nothing, because it is
        made of released numbers; intervals only become wider.
        """
        qs = measure.quantiles
        earlier = [
            (other, other.quantiles)
            for other in self.measures[: self.measures.index(measure)]
            if other.quantiles and other.release.column == measure.release.column
        ]
        if not qs or not earlier:
            return rows
        levels = self._levels()
        beside = [(q, self._coherent(other, other.rows(levels))) for other, q in earlier]
        steps = [other.step for other, _ in earlier]
        ordered = []
        for i, row in enumerate(rows):
            fixed = [
                (q, others[i][at * step])
                for (several, others), step in zip(beside, steps, strict=True)
                for at, q in enumerate(several)
            ]
            ordered.append(_in_order(qs, row, measure.step, fixed))
        return ordered

    def _estimates(self, measure: Measure) -> list[list[Estimate]]:
        return measure.estimates(self._rows(measure))

    def _levels(self) -> list[GroupLevel]:
        """The groups of the table, and those of its margins."""
        return [in_margin(self.groups, by) for by in (self.by, *self.margins)]

    def _keys(self) -> list[CellRow]:
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


def margin_name(name: str, margin: tuple[str, ...]) -> str:
    """The name of the release of a margin."""
    return f"{name} by {', '.join(margin)}" if margin else f"{name} in all"


def _in_order(
    qs: Sequence[float], row: CellRow, step: int, fixed: Sequence[tuple[float, Any]]
) -> CellRow:
    """The values of one row moved between fixed quantiles, and the ends of their intervals around
    them; what is withheld stays so.
    """
    cells = list(row)
    for at, q in enumerate(qs):
        place = at * step
        if cells[place] is None:
            continue
        lows = [value for other, value in fixed if other < q and value is not None]
        highs = [value for other, value in fixed if other > q and value is not None]
        value = min([max([cells[place], *lows]), *highs])
        cells[place] = value
        if step > 1:
            cells[place + 1] = min(cells[place + 1], value)
            cells[place + 2] = max(cells[place + 2], value)
    return tuple(cells)


def _label(key: CellRow) -> str:
    return ", ".join(ALL if part is None else str(as_json(part)) for part in key)


def _unique(names: list[str]) -> list[str]:
    """Names that all differ: a key may have the name of one of our columns."""
    unique: list[str] = []
    for name in names:
        while name in unique:
            name += "_value"
        unique.append(name)
    return unique
