"""What came out of a release: the private value, and the facts that were public before."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeVar

from duffdp.domain import PublicSet
from duffdp.errors import DuffError
from duffdp.facts import Facts, MechanismFact, StatisticFact, as_json
from duffdp.parameters import Covers, share_text
from duffdp.pipeline.accuracy import distance_bound
from duffdp.pipeline.answer import Cells, frame_names, framed, shaped
from duffdp.pipeline.chart import draw_distributions, draw_groups
from duffdp.pipeline.columnar import Columnar, Readable, as_text, with_ends
from duffdp.pipeline.distribution import LISTED
from duffdp.pipeline.layout import cells_of_json, quantile_columns, sizes_of_json, value_of_json
from duffdp.pipeline.span import ENDS, Span, spans_of, whole_range
from duffdp.pipeline.suppression import Sizes, is_withheld
from duffdp.privacy import Loss, PrivacyUnit
from duffdp.statistics.entry import Column
from duffdp.statistics.registry import REGISTRY, entry

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Release(Columnar):
    """One private value, and what has to be known to use it: nothing in it depends on the data but
    the value.

    Attributes
    ----------
    value
        The private value: one number (or category), a list of them for several quantiles, a
        dictionary for a summary, a `Distribution`; with groups a frame of the caller's own library,
        key columns and value columns (of distributions a dictionary, by key).
    low, high
        The ends of an interval around the value, if one was asked for, in the shape of the value;
        with groups a list of such, in the order of `keys`, and columns of `value`.
    confidence, covers, simultaneous
        How often such an interval holds what it covers, at least; what that is: "data", the exact
        statistic of the records, or "population", that of what they were drawn from; and whether
        that is said of all intervals of the release together, or of each by itself.
    statistic, mechanism, unit, loss
        What was asked, how it was drawn, whom it protects and what it cost, as facts with types.
    epsilon, delta, contributions
        The numbers among these facts.
    domain, column, by, keys
        The public set of outputs, and how rows were chosen.
    sizes, suppress_below
        The noisy numbers of records of groups, in the order of `keys`, and the one below which
        values are withheld (None), if that was asked for. A statistic that counts records itself
        has no other sizes.
    secure
        Whether it was drawn from the operating system's randomness.
    time, version
        When it was drawn, in UTC, and by which version of the library.

    Privacy
    -------
    `value`, `low` and `high` are together epsilon-differentially private for neighbours that differ
    by one `unit`. With
    `secure=False` the draw can be reproduced by whoever knows the seed, and there is no guarantee.

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
    columns: tuple[Column, ...]
    cells: Cells
    time: dt.datetime
    version: str
    sizes: Sizes | None = None

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
        shape = entry(self.statistic.name).shape
        columns = self._values(self.columns)
        ends = [shaped(shape, columns, row[place::ENDS]) for row in self.cells]
        return ends if self.grouped else ends[0]

    def spans(self) -> list[list[Span]]:
        """For each group, every value with its interval; without one, the ends are None."""
        ends = self.facts.interval is not None
        return [spans_of(self.columns, row, self.domain, ends) for row in self.cells]

    def too_few(self) -> list[bool]:
        """For each group, whether its values are withheld or its interval is all that could come
        out: there were too few records to tell more. Of several intervals, whether all are that
        could be.
        """
        hidden = [is_withheld(self.facts, row) for row in self.cells]
        if self.facts.interval is None:
            return hidden
        wholes = [whole_range(column, self.domain) for column in self._values(self.columns)]
        bounded = [i for i, whole in enumerate(wholes) if whole is not None]
        told = [bool(bounded) and all(row[i].too_few for i in bounded) for row in self.spans()]
        return [a or b for a, b in zip(hidden, told, strict=True)]

    def _values(self, each: Sequence[Item]) -> Sequence[Item]:
        """Of something for each column, those of values and not of ends."""
        return each if self.facts.interval is None else each[::ENDS]

    @property
    def grouped(self) -> bool:
        """Whether `value` is a frame with a row for each group."""
        return bool(self.by)

    @property
    def title(self) -> str:
        """What it is called on a page: "Median", "Quantile 0.9"."""
        fact = self.statistic
        return entry(fact.name).title(fact.parameters) if fact.name in REGISTRY else fact.name

    @property
    def counted(self) -> str | None:
        """What its counts are numbers of: "rows", "people", or rows of people, so many each at
        most; None for other releases.
        """
        if self.unit.kind == "edge" or {column.kind for column in self.columns} != {"count"}:
            return None
        return self.unit.counted

    def __float__(self) -> float:
        return float(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Release) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __repr__(self) -> str:
        what = f"{self.statistic}" + ("" if self.column is None else f" of {self.column!r}")
        what += "" if self.where is None else f" where {self.where}"
        groups = f", {len(self.keys)} groups by {', '.join(self.by)}" if self.grouped else ""
        value = "" if self.grouped else f": {self.value!r}"
        if self.facts.interval is not None and not self.grouped:
            value += f" ({self.low!r} to {self.high!r})"
        value += "" if self.counted is None else f" {self.counted}"
        value += ", intervals hold together" if self.simultaneous else ""
        seeded = "" if self.secure else ", NOT PRIVATE (seeded)"
        cost = f"epsilon={self.epsilon:g} for each {self.unit}"
        return f"<Release {what}{value}, {cost}{groups}{seeded}>"

    def distance_bound(self, confidence: float = 0.95) -> int:
        """How many records would have to join or leave, at most, until `value` is the exact answer.

        Parameters
        ----------
        confidence
            The probability with which this holds, over the draw of the mechanism, for every data
            set: between 0 and 1. With groups it holds for each group by itself.

        Returns
        -------
        int
            For a mean, the exact value of which need not be a candidate, the number of records
            beyond those that the closest candidate needs.

        Privacy
        -------
        Computed from epsilon, contributions and the domain, all public; the data play no part.

        Utility
        -------
        By the plain distance no smaller number holds for all data sets.

        References
        ----------
        `docs/theory.md`, "How far an output can be"; Asi and Duchi (NeurIPS 2020).

        Examples
        --------
        >>> import duffdp
        >>> duffdp.median([31, 35, 40], epsilon=1.0, bounds=(0, 120), step=1).distance_bound(0.95)
        14
        """
        return distance_bound(self.facts, confidence)

    def rows(self) -> list[tuple[dict[str, Any], str, Any]]:
        """Every released number: the keys of its group, what it is (a statistic, or a line of
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
            cells = [[found.value for found in whole.quantiles()] for (whole,) in cells]
        return [
            (keys, label, value)
            for keys, row in zip(groups or [{}], cells, strict=True)
            for label, value in zip(labels, row, strict=True)
        ]

    def labels(self) -> list[str]:
        """What the numbers of a group are called."""
        if self.has_distributions:
            return [f"quantile({share_text(q)})" for q in LISTED]
        known = REGISTRY.get(self.statistic.name)
        if known is None or entry(self.statistic.name).shape == "value":
            named = [str(self.statistic)]
        else:
            columns = self._values(self.columns)
            named = [entry(self.statistic.name).label(column.name) for column in columns]
        if self.facts.interval is None:
            return named
        return [f"{said}{end}" for said in named for end in ("", " low", " high")]

    @property
    def has_distributions(self) -> bool:
        """Whether what was released for each group is a distribution."""
        return self.columns[0].kind == "distribution"

    def wide(self) -> dict[str, list[Any]]:
        """Key columns and value columns; a row for each group, or one. Of distributions a few
        quantiles.
        """
        whole = self.has_distributions
        return quantile_columns(self.facts, self.cells) if whole else self._columns()

    def _columns(self) -> dict[str, list[Any]]:
        keys = {name: list(map(itemgetter(i), self.keys)) for i, name in enumerate(self.by)}
        names = frame_names(self.facts, self.columns)
        return keys | framed(self.facts, names, self.cells, self.sizes)

    def readable(self) -> Readable:
        """The same for people, each interval beside its value."""
        if self.has_distributions:
            columns = self.wide()
            lines = [list(map(as_text, row)) for row in zip(*columns.values(), strict=True)]
            return Readable(list(columns), lines, repr(self), (), len(self.by) + 1)
        sizes = [()] * len(self.cells) if self.sizes is None else [(size,) for size in self.sizes]
        rows = [
            [*map(as_text, (*key, *size)), *map(with_ends, row)]
            for key, size, row in zip(self.keys or ((),), sizes, self.spans(), strict=True)
        ]
        names, begin = frame_names(self.facts, self.columns), len(sizes[0])
        values = self._values(names[begin : begin + len(self.columns)])
        header = [*self.by, *names[:begin], *values]
        return Readable(header, rows, repr(self), self.too_few(), len(self.by))

    def plot(self, ax: Any = None) -> Any:
        """Points, with their intervals, a line for each group (or for each number of one group);
        returns the axes of matplotlib. Of distributions the shares of records.
        """
        labels = [", ".join(map(str, key)) for key in self.keys] or [""]
        if self.has_distributions:
            return draw_distributions(labels, [whole for (whole,) in self.cells], ax)
        names = [column.name for column in self._values(self.columns)]
        return draw_groups(self.counted or self.title, labels, names, self.spans(), ax)

    def to_dict(self) -> dict[str, Any]:
        """All fields as types that JSON has; with groups, `value` is a list of rows."""
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
            "time": self.time.isoformat(),
            "version": self.version,
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Release:
        """The release behind `to_dict()`; the value of groups is a list of rows."""
        try:
            facts = Facts.from_dict(given)
            columns = tuple(Column(**column) for column in given["columns"])
            value = given["value"]
            cells = cells_of_json(value, given, facts, columns)
            return cls(
                value_of_json(value, facts, columns, cells),
                facts,
                columns,
                cells,
                dt.datetime.fromisoformat(given["time"]),
                given["version"],
                sizes_of_json(value, facts, columns),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DuffError(
                f"this is not what to_dict() of a release gives ({type(error).__name__}). Pass the "
                "whole dictionary."
            ) from None

    def to_json(self) -> str:
        """All fields as JSON text."""
        return json.dumps(self.to_dict())
