"""The release: a private value, and the public facts about it."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from duffdp._facts import Facts, MechanismFact, StatisticFact, as_json, from_json
from duffdp._parameters import Covers, share_text
from duffdp._pipeline.distribution import TABLE_QUANTILES, Distribution
from duffdp._pipeline.error_bounds import distance_bound
from duffdp._pipeline.estimates import Estimate, columns_per_number, estimates_of, whole_range
from duffdp._pipeline.export import (
    DisplayTable,
    Exportable,
    ListedFacts,
    SimpleTable,
    as_html_card,
)
from duffdp._pipeline.notes import Reading, notes_about
from duffdp._pipeline.number_text import NumberFormat, as_text, estimate_text, number_format
from duffdp._pipeline.plots import draw_distributions, draw_groups
from duffdp._pipeline.released_values import (
    CellRow,
    CellRows,
    GroupSizes,
    frame_column_names,
    frame_columns,
    is_withheld,
    unique_column_names,
    value_of_shape,
    values_by_key,
)
from duffdp._privacy import Loss, PrivacyUnit
from duffdp._text import visible
from duffdp.domain import Bins, Categories, Grid, Membership, Presence, PublicSet
from duffdp.errors import DuffError
from duffdp.statistics.program import OutputColumn
from duffdp.statistics.registry import REGISTRY, statistic_spec

_MAX_KEYS = 200  # listed in a workbook


@dataclass(frozen=True, slots=True, eq=False)
class Release(Exportable):
    """A private value with the public facts about it.

    Attributes
    ----------
    value
        The private value: a number or category, a list for several quantiles, a dictionary for a
        summary, or a `Distribution`. With groups it is a frame of the library that holds the data,
        with columns of keys and values; for distributions it is a dictionary by key.
    low, high
        The ends of the confidence interval, in the shape of the value; None without `interval`. For
        grouped releases each is a list in the order of `keys`, and also a column of `value`.
    confidence
        Each interval contains its target with at least this probability.
    covers
        The target of intervals. "data": the exact answer for the records; with `unit`, these are
        the rows that were chosen at random. "population": the answer for the population that they
        were sampled from.
    simultaneous
        True if all intervals hold at once with this confidence, False if each does individually.
    statistic, mechanism, unit, loss
        Typed facts: the statistic, how it was drawn, who is protected, and the privacy loss.
    epsilon, delta, contributions
        The total privacy loss, and the maximum number of rows used per person.
    domain, column, by, keys
        The public set of possible outputs, the column, and the groups.
    sizes, suppress_below
        The noisy counts of groups, in the order of `keys`, and the count below which values are
        withheld; None without `suppress_below`. Releases of `count` and `describe` have no separate
        sizes.
    noisy
        For groups whose values add up, such as counts: the noisy numbers before negative counts
        became 0. Their sum over groups is unbiased.
    secure
        True if it was drawn from the operating system's randomness, False if from a seed.
    time, version
        The time of the draw in UTC, and the version of the library.
    notes
        Lines that notebooks show below the value: how values are read, which groups get a value,
        the step. They depend on the call and not on the data.

    Methods
    -------
    rows, wide, counted, too_few, distance_bound, plot, to_dict, to_json, from_dict

    Privacy
    -------
    `value`, `low` and `high` are together epsilon-differentially private for neighbors that differ
    by one `unit`. With `secure=False` anyone who knows the seed can reproduce the draw, and there
    is no guarantee.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definitions 1 and 2.

    Examples
    --------
    >>> import duffdp
    >>> release = duffdp.median([3, 4, 5], epsilon=1.0, bounds=(0, 9), step=1, rng=7)
    >>> release.epsilon, release.unit.kind, release.secure
    (1.0, 'row', False)
    >>> duffdp.Release.from_dict(release.to_dict()) == release
    True
    """

    value: Any
    facts: Facts
    columns: tuple[OutputColumn, ...]
    cells: CellRows
    time: dt.datetime
    version: str
    sizes: GroupSizes | None = None
    noisy: Sequence[Sequence[int]] | None = None
    reading: Reading | None = None

    @property
    def statistic(self) -> StatisticFact:
        return self.facts.statistic

    @property
    def mechanism(self) -> MechanismFact:
        return self.facts.mechanism

    @property
    def loss(self) -> Loss:
        return self.facts.loss

    @property
    def unit(self) -> PrivacyUnit:
        return self.facts.unit

    @property
    def epsilon(self) -> float:
        return float(self.facts.loss.epsilon)

    @property
    def delta(self) -> float:
        return float(self.facts.loss.delta)

    @property
    def contributions(self) -> int:
        return self.facts.unit.contributions

    @property
    def domain(self) -> PublicSet:
        return self.facts.domain

    @property
    def column(self) -> str | None:
        return self.facts.column

    @property
    def by(self) -> tuple[str, ...]:
        return self.facts.by

    @property
    def keys(self) -> Sequence[tuple[Any, ...]]:
        return self.facts.keys

    @property
    def where(self) -> str | None:
        return self.facts.where

    @property
    def secure(self) -> bool:
        return self.facts.secure

    @property
    def suppress_below(self) -> int | None:
        return None if self.facts.suppression is None else self.facts.suppression.below

    @property
    def confidence(self) -> float | None:
        return None if self.facts.interval is None else float(self.facts.interval.confidence)

    @property
    def covers(self) -> Covers | None:
        return None if self.facts.interval is None else self.facts.interval.covers

    @property
    def simultaneous(self) -> bool | None:
        return None if self.facts.interval is None else self.facts.interval.simultaneous

    @property
    def low(self) -> Any:
        return self._end(1)

    @property
    def high(self) -> Any:
        return self._end(2)

    def _end(self, place: int) -> Any:
        if self.facts.interval is None:
            return None
        shape, step = statistic_spec(self.statistic.name).shape, self._step
        columns = self.columns[::step]
        ends = [value_of_shape(shape, columns, row[place::step]) for row in self.cells]
        return ends if self.grouped else ends[0]

    def estimates(self) -> list[list[Estimate]]:
        """For each group, every value with its interval; without one, the ends are None."""
        interval = self.facts.interval
        return [estimates_of(self.columns, row, self.domain, interval) for row in self.cells]

    def too_few(self, parts: Sequence[int] | None = None) -> list[bool]:
        """For each group, True if it has too few records for a useful value.

        Its values are withheld, or all its intervals are nearly the whole public range. `parts` are
        the positions of the numbers to look at; by default all numbers of the release.
        """
        hidden = [is_withheld(self.facts, row) for row in self.cells]
        if self.facts.interval is None:
            return hidden
        ranges = [whole_range(column, self.domain) for column in self.columns[:: self._step]]
        places = range(len(ranges)) if parts is None else parts
        bounded = [i for i in places if ranges[i] is not None]
        return [
            withheld or (bool(bounded) and all(row[i].too_few for i in bounded))
            for withheld, row in zip(hidden, self.estimates(), strict=True)
        ]

    @property
    def _step(self) -> int:
        """From the column of one value to that of the next."""
        return columns_per_number(self.facts.interval)

    @property
    def grouped(self) -> bool:
        """True if `value` is a frame with a row for each group."""
        return bool(self.by)

    @property
    def title(self) -> str:
        """The title of a report about it: "Median", "Quantile 0.9"."""
        fact = self.statistic
        return (
            statistic_spec(fact.name).title(fact.parameters) if fact.name in REGISTRY else fact.name
        )

    @property
    def counted(self) -> str | None:
        """The unit that counts are in: "rows", "people", or "rows of people, at most N each"; None
        for other releases.
        """
        if self.unit.kind == "edge" or {column.kind for column in self.columns} != {"count"}:
            return None
        return self.unit.counted

    @property
    def notes(self) -> list[str]:
        return [note.worded() for note in notes_about([(self.facts, self.reading)])]

    def __float__(self) -> float:
        if self.grouped or len(self.cells[0]) > 1:
            raise TypeError("a release with several values is not a number: use value or rows()")
        return float(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        return f"<{self._summary()}{', see .notes' if self.notes else ''}>"

    def __str__(self) -> str:
        """The release and its notes, a line each; without them: `to_text()`."""
        return "\n".join([f"<{self._summary()}>", *map(visible, self.notes)])

    def _summary(self) -> str:
        subject = f"{self.statistic}" + ("" if self.column is None else f" of {self.column!r}")
        subject += "" if self.where is None else f" where {self.where}"
        groups = f", {len(self.keys)} groups by {', '.join(self.by)}" if self.grouped else ""
        value = "" if self.grouped else f": {self.value!r}"
        if self.facts.interval is not None and not self.grouped:
            value += f" ({self.low!r} to {self.high!r})"
        value += "" if self.counted is None else f" {self.counted}"
        value += ", intervals hold together" if self.simultaneous else ""
        seeded = "" if self.secure else ", NOT PRIVATE (seeded)"
        cost = f"epsilon={self.epsilon:g} for each {self.unit.protected}"
        return f"Release {subject}{value}, {cost}{groups}{seeded}"

    def distance_bound(self, confidence: float = 0.95) -> int:
        """Upper bound on the number of records to add or remove until `value` is the exact answer.

        Parameters
        ----------
        confidence
            The probability, over the draw, with which the bound holds: between 0 and 1. It holds
            for every data set; with groups, for each group individually.

        Returns
        -------
        int
            The bound, in records. It holds if the exact value is a possible output. Otherwise, as
            for some means, add the distance of the best possible output.

        Privacy
        -------
        Computed from epsilon, contributions and the domain, which are public. No data is read.

        Utility
        -------
        Unless the distance is signed (the default of medians and quantiles), no smaller number
        holds for all data sets.

        References
        ----------
        `docs/explanation/mechanisms.md`, "How far an output can be"; Asi and Duchi (NeurIPS 2020).

        Examples
        --------
        >>> import duffdp
        >>> duffdp.median([31, 35, 40], epsilon=1.0, bounds=(0, 120), step=1).distance_bound(0.95)
        14
        """
        return distance_bound(self.facts, confidence)

    def rows(self) -> list[tuple[dict[str, Any], str, Any]]:
        """Every released number: the keys of its group, its name (a statistic, or a line of
        `describe`), and its value.

        Examples
        --------
        >>> import duffdp
        >>> given = {"epsilon": 1.0, "bounds": (0, 1000), "step": 100}
        >>> release = duffdp.quantiles(range(1000), [0.25, 0.75], **given, rng=1)
        >>> release.rows()
        [({}, 'quantile(0.25)', 200), ({}, 'quantile(0.75)', 700)]
        """
        groups: list[dict[str, Any]] = [dict(zip(self.by, key, strict=True)) for key in self.keys]
        labels = self.labels()
        cells: list[Any] = list(self.cells)
        if self.has_distributions:
            cells = [
                [quantile.value for quantile in distribution.quantiles()]
                for (distribution,) in cells
            ]
        return [
            (keys, label, value)
            for keys, row in zip(groups if self.grouped else [{}], cells, strict=True)
            for label, value in zip(labels, row, strict=True)
        ]

    def labels(self) -> list[str]:
        """The names of the numbers of a group."""
        if self.has_distributions:
            return [f"quantile({share_text(q)})" for q in TABLE_QUANTILES]
        name = self.statistic.name
        if name not in REGISTRY or statistic_spec(name).shape == "value":
            labels = [str(self.statistic)]
        else:
            labels = [
                statistic_spec(name).label(column.name) for column in self.columns[:: self._step]
            ]
        if self.facts.interval is None:
            return labels
        return [f"{label}{end}" for label in labels for end in ("", " low", " high")]

    @property
    def has_distributions(self) -> bool:
        """True if the value of each group is a distribution."""
        return self.columns[0].kind == "distribution"

    def wide(self) -> dict[str, list[Any]]:
        """Columns of keys and values, with one row per group; of distributions a few quantiles."""
        if self.has_distributions:
            return _quantile_columns(self.facts, self.cells)
        return self._columns()

    def _columns(self) -> dict[str, list[Any]]:
        keys = {name: list(map(itemgetter(i), self.keys)) for i, name in enumerate(self.by)}
        names = frame_column_names(self.facts, self.columns)
        return keys | frame_columns(self.facts, names, self.cells, self.sizes)

    def formats(self) -> list[NumberFormat]:
        """The format of each number of a group."""
        rows = self.estimates()
        return [
            number_format([row[i] for row in rows], column.kind, self.domain)
            for i, column in enumerate(self.columns[:: self._step])
        ]

    @property
    def has_default_step(self) -> bool:
        """True if the step between its possible outputs, or the one to which records are rounded,
        is the default.
        """
        return (
            isinstance(self.domain, Grid) and self.reading is not None and self.reading.default_grid
        )

    def number_formats(self) -> dict[str, NumberFormat]:
        if self.has_distributions:
            return {}
        names = frame_column_names(self.facts, self.columns)
        begin = 0 if self.sizes is None else 1
        forms = [
            form
            for number in self.formats()
            for form in (number,) * (self._step == 1) or number.with_ends()
        ]
        return dict(zip(names[begin:], forms, strict=False))

    def display_tables(self) -> list[DisplayTable]:
        """The table for readers, with each interval beside its value."""
        if self.has_distributions:
            columns = self.wide()
            lines = [list(map(as_text, row)) for row in zip(*columns.values(), strict=True)]
            return [DisplayTable(list(columns), lines, self._caption(), (), len(self.by) + 1)]
        sizes = [()] * len(self.cells) if self.sizes is None else [(size,) for size in self.sizes]
        forms = self.formats()
        rows = [
            [*map(as_text, (*key, *size)), *map(estimate_text, row, forms)]
            for key, size, row in zip(self._rows_of_keys(), sizes, self.estimates(), strict=True)
        ]
        names, begin = frame_column_names(self.facts, self.columns), int(self.facts.has_sizes)
        values = names[begin : begin + len(self.columns) : self._step]
        header = [*self.by, *names[:begin], *values]
        return [DisplayTable(header, rows, self._caption(), self.too_few(), len(self.by))]

    def _repr_html_(self) -> str:
        if self.grouped or self.has_distributions:
            return Exportable._repr_html_(self)
        names = [column.name for column in self.columns[:: self._step]]
        ((estimates,), forms) = self.estimates(), self.formats()
        numbers = [
            (name, form.with_unit(one.value), "" if one.low is None else form.ends(one))
            for name, one, form in zip(names, estimates, forms, strict=True)
        ]
        subject, cost = self._subject(), self._cost()
        return as_html_card(f"{subject[0].upper()}{subject[1:]}", numbers, [cost, *self.notes])

    def _subject(self) -> str:
        """The released statistic in words."""
        subject = self.column or self.counted
        suffix = "" if subject is None else f" of {subject}"
        where = "" if self.where is None else f" where {self.where}"
        return f"{self.title.lower()}{suffix}{where}"

    def _cost(self) -> str:
        """The cost of a release and the promise of its intervals."""
        interval = self.facts.interval
        ends = ""
        if interval is not None:
            scope = " together" if interval.simultaneous else ""
            level = f"{float(100 * interval.confidence):.6g}%{scope}"
            plural = "s" if self.grouped or len(self.columns) > self._step else ""
            ends = f", interval{plural} {level} for the {interval.covers}"
        seeded = "" if self.secure else ", NOT PRIVATE (seeded)"
        return f"epsilon={self.epsilon:g} for each {self.unit.protected}{ends}{seeded}"

    def _caption(self) -> str:
        groups = f", {len(self.keys)} groups by {', '.join(self.by)}" if self.grouped else ""
        return f"{self._subject()}{groups}, {self._cost()}"

    def facts_listed(self) -> ListedFacts:
        return listed_facts([("", self)])

    def _rows_of_keys(self) -> Sequence[tuple[Any, ...]]:
        """The keys of all groups; one empty key without groups."""
        return self.keys if self.grouped else ((),)

    def plot(self, ax: object = None) -> Any:
        """Plot the release with matplotlib, and return the axes.

        The plot shows a point with its interval for each group, or for each number of one group;
        of distributions it shows the cumulative shares.
        """
        labels = [", ".join(map(str, key)) for key in self._rows_of_keys()]
        if self.has_distributions:
            distributions = [distribution for (distribution,) in self.cells]
            return draw_distributions(self.column or "value", labels, distributions, ax)
        names = [column.name for column in self.columns[:: self._step]]
        title = self.title if self.column is None else f"{self.title} of {self.column}"
        name = title if self.counted is None else f"{title} ({self.counted})"
        return draw_groups(name, labels, names, self.estimates(), ax)

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values; with groups, `value` is a list of rows."""
        value: Any = self.value
        if self.grouped:
            columns = self._columns()
            value = [
                dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ]
        return {
            "value": as_json(value),
            **({} if self.low is None else {"low": as_json(self.low), "high": as_json(self.high)}),
            "epsilon": self.epsilon,
            "delta": self.delta,
            **self.facts.to_dict(),
            "columns": [column._asdict() for column in self.columns],
            **({"default_step": True} if self.has_default_step else {}),
            **({} if self.noisy is None else {"noisy": list(map(list, self.noisy))}),
            "time": self.time.isoformat(),
            "version": self.version,
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Release:
        """The release from its `to_dict()`; with groups, `value` is a list of rows."""
        try:
            facts = Facts.from_dict(fields)
            columns = tuple(OutputColumn(**column) for column in fields["columns"])
            value = fields["value"]
            cells = _cells_from_json(value, fields, facts, columns)
            return cls(
                _value_from_json(value, facts, columns, cells),
                facts,
                columns,
                cells,
                dt.datetime.fromisoformat(fields["time"]),
                fields["version"],
                _sizes_from_json(value, facts, columns),
                fields.get("noisy"),
                Reading(default_grid=True) if fields.get("default_step") else None,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DuffError(
                f"this is not a dictionary from to_dict() of a release ({type(error).__name__}). "
                "Pass the whole dictionary."
            ) from None

    def to_json(self) -> str:
        """All fields as JSON text."""
        return json.dumps(self.to_dict())


class ReleaseRows(SimpleTable):
    """Rows of releases for a workbook, with a sheet of the public facts about them."""

    __slots__ = ("_call_id", "_formats", "_releases")

    def __init__(
        self,
        columns: Mapping[str, list[Any]],
        formats: Mapping[str, NumberFormat],
        releases: Mapping[str, Release],
        call_id: str | None,
    ) -> None:
        super().__init__(columns, "")
        self._formats, self._releases, self._call_id = dict(formats), releases, call_id

    def number_formats(self) -> dict[str, NumberFormat]:
        return self._formats

    def facts_listed(self) -> ListedFacts:
        is_named = len(self._releases) > 1
        named = [(name if is_named else "", one) for name, one in self._releases.items()]
        call_id = [] if self._call_id is None else [("call id", self._call_id)]
        return [*listed_facts(named), *call_id]


def listed_facts(releases: Sequence[tuple[str, Release]]) -> list[tuple[str, str]]:
    """Public facts that releases share, each under its name, and then a line for each release."""
    first = releases[0][1]
    facts = [
        ("epsilon", f"{math.fsum(release.epsilon for _, release in releases):.12g}"),
        ("delta", f"{math.fsum(release.delta for _, release in releases):g}"),
        ("protects", str(first.unit)),
        ("rows per person", "" if first.unit.column is None else str(first.contributions)),
        ("rows where", first.where or ""),
        ("groups by", ", ".join(first.by)),
        ("keys", _keys_text(first.keys) if first.by else ""),
        ("randomness", "operating system" if first.secure else "a seed: NOT PRIVATE"),
        ("drawn", first.time.isoformat(sep=" ", timespec="seconds")),
        ("made with", f"duffdp {first.version}"),
    ]
    of_each = [(name or "statistic", _release_text(release)) for name, release in releases]
    return [*((name, text) for name, text in facts if text), *of_each]


def _release_text(release: Release) -> str:
    """One line about a release."""
    interval = release.facts.interval
    parts = [
        f"{release.statistic}{'' if release.column is None else f' of {release.column}'}",
        f"epsilon {release.epsilon:.12g}",
        f"mechanism {release.mechanism}",
        _domain_text(release),
    ]
    if interval is not None:
        scope = ", together" if interval.simultaneous else ""
        level = f"{float(100 * interval.confidence):.6g}%{scope}"
        parts.append(f"intervals {level} for the {interval.covers}")
    return "; ".join(filter(None, parts))


def _domain_text(release: Release) -> str:
    """The public set of a release; a step that nobody chose is left out."""
    domain = release.domain
    if isinstance(domain, Grid):
        step = "" if release.has_default_step else f" in steps of {as_text(domain.step)}"
        return f"bounds {as_text(domain.lower)} to {as_text(domain.upper)}{step}"
    if isinstance(domain, Membership):
        domain = domain.members
    if isinstance(domain, Bins):
        return f"bins {', '.join(map(domain.label, range(domain.size)))}"
    if isinstance(domain, Categories):
        return f"values {', '.join(map(as_text, domain))}"
    return "" if isinstance(domain, Presence) else repr(domain)


def _keys_text(keys: Sequence[tuple[Any, ...]]) -> str:
    """Keys, as many as a cell shows."""
    texts = [", ".join(map(as_text, key)) for key in keys[:_MAX_KEYS]]
    more = f"; and {len(keys) - _MAX_KEYS:,} more" if len(keys) > _MAX_KEYS else ""
    return "; ".join(texts) + more


def _quantile_columns(facts: Facts, cells: Sequence[tuple[Distribution]]) -> dict[str, list[Any]]:
    """A few quantiles of the distribution of each group, with their intervals."""
    names = (OutputColumn(name) for name in ("quantile", "value", "low", "high"))
    rows = [
        (*key, float(q), *ends)
        for key, (distribution,) in zip(facts.keys if facts.by else [()], cells, strict=True)
        for q, *ends in distribution.quantiles()
    ]
    columns = [*facts.by, *unique_column_names(tuple(names), facts.by)]
    values = map(list, zip(*rows, strict=True)) if rows else ([] for _ in columns)
    return dict(zip(columns, values, strict=True))


def _cells_from_json(
    value: object, fields: dict[str, Any], facts: Facts, columns: tuple[OutputColumn, ...]
) -> tuple[CellRow, ...]:
    """The cells of every group, from JSON values."""
    return tuple(
        tuple(_cell_from_json(*cell, facts.domain) for cell in zip(row, columns, strict=True))
        for row in _json_rows(value, fields, facts, columns)
    )


def _json_rows(
    value: Any, fields: dict[str, Any], facts: Facts, columns: tuple[OutputColumn, ...]
) -> list[list[Any]]:
    """The cells of every group, as JSON values."""
    if facts.by:
        names = frame_column_names(facts, columns)
        begin = int(facts.has_sizes)
        return [[row[name] for name in names[begin : begin + len(columns)]] for row in value]
    if columns[0].kind == "distribution":
        return [[value]]
    ends = () if facts.interval is None else (fields["low"], fields["high"])
    estimates = zip(*map(_as_list, (value, *ends)), strict=True)
    return [[number for estimate in estimates for number in estimate]]


def _sizes_from_json(
    value: Any, facts: Facts, columns: tuple[OutputColumn, ...]
) -> GroupSizes | None:
    """The noisy sizes beside values, from JSON values."""
    if not facts.has_sizes:
        return None
    name = frame_column_names(facts, columns)[0]
    return tuple(row[name] for row in value)


def _as_list(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else [value]


def _cell_from_json(item: Any, column: OutputColumn, domain: PublicSet) -> Any:
    """One cell from its JSON value."""
    if column.kind == "distribution":
        assert isinstance(domain, Grid)
        return Distribution.from_dict(item, domain)
    if item is None:  # withheld
        return None
    if column.kind == "duration":
        return dt.timedelta(seconds=item)
    is_number = column.kind != "count" and domain.kind != "category"
    return from_json(item, domain.kind) if is_number else item


def _value_from_json(
    value: Any, facts: Facts, columns: tuple[OutputColumn, ...], cells: tuple[CellRow, ...]
) -> Any:
    """The value of a release; a list of rows instead of a frame."""
    is_distribution = columns[0].kind == "distribution"
    if facts.by:
        return values_by_key(facts, [row[0] for row in cells]) if is_distribution else value
    numbers = cells[0][:: columns_per_number(facts.interval)]
    if isinstance(value, list):
        return list(numbers)
    is_dictionary = isinstance(value, dict) and not is_distribution
    return dict(zip(value, numbers, strict=True)) if is_dictionary else numbers[0]
