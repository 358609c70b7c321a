"""A first look at a table: how its fields can be read, and where its numbers are.

All of it is made of released counts and quartiles, so it costs nothing beyond them.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from duffdp._facts import as_json
from duffdp._pipeline.export import DisplayTable, Exportable
from duffdp._pipeline.notes import Note
from duffdp._pipeline.number_text import as_text
from duffdp._pipeline.release import Release
from duffdp._pipeline.smoothed_counts import Floats, smoothed_counts
from duffdp._privacy import PrivacyUnit
from duffdp._text import visible
from duffdp.domain import Ints
from duffdp.domain.cells import MISSING, OTHER_VALUES
from duffdp.errors import PYTHON, Argument, Dialect, Part, word

Kind = Literal["number", "date", "text"]

# Counts below (log of the number of cells + this) / epsilon are taken for noise where the kind of a
# column is decided.
NOISE_MARGIN_NATS = 1.0
# For fields of a text column that can be read all the same: noise makes one in 150 columns.
LONE_MARGIN_NATS = 5.0
# From so many records times epsilon on, quartiles of counts are shown, and bounds proposed. Of the
# quartiles that are shown of 300 records at epsilon 1/15, four of five columns are within a factor
# of 2, of 400 nine of ten (`python -m benchmarks.profile`).
MIN_NATS = 16
# Least probability that a cell within proposed bounds has records. With 1,000 records at epsilon
# 1/15, bounds hold 97% of the records, and noise makes them wider in one of 15 columns.
MIN_OCCUPIED = 0.7
# From so many records times their epsilon on, quartiles that were drawn are within a factor of 2 in
# all of 200 draws of six shapes; with fewer, those of the counts are better.
MIN_DRAWN_NATS = 100
SHARE_CONFIDENCE = Fraction(95, 100)
REMARK_NATS = math.log(50)  # noise of one count exceeds it in 1 of 100 profiles
MAX_MARGIN = Fraction(1, 4)  # beyond, shares say little
MIN_KIND_SHARE = Fraction(1, 4)  # of fields that are numbers or dates, for a column of them


@dataclass(frozen=True, slots=True)
class FieldEdges:
    """Public edges between which the numbers and dates of a column are counted, and the column's
    declared kind (None for text, whose fields may be either).
    """

    kind: Kind | None
    numbers: tuple[float, ...] = ()
    dates: tuple[dt.date, ...] = ()
    bounds: tuple[Any, Any] | None = None  # of the caller, both among the edges
    listed: bool = False  # the fields are counted by whether they are listed
    typed: bool = False  # every field that is not missing is of the declared type

    @property
    def cells(self) -> int:
        """Number of cells of numbers and dates."""
        return sum(len(edges) + 1 for edges in (self.numbers, self.dates) if edges)


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """The profile of one column; shares are of all fields, from 0 to 1.

    Attributes
    ----------
    name, type
        The column, and its declared type; "text" where a file declares none.
    kind
        The kind of most fields: "number", "date" or "text".
    readable, unreadable, missing
        The shares of fields that can be read, of fields that cannot, and of empty fields. Fields of
        this kind are readable; with listed keys, fields that are listed. In a text column of a text
        file, numbers and dates are. Tables for readers leave out shares that repeat `kind` or
        `listed`.
    inside, listed
        The share within the bounds, and the share among the keys, where the caller passed them.
    quartiles
        The lower quartile, the median and the upper quartile; None if there are too few records.
    bounds
        The bounds that were passed, or proposed ones: the ends of the range in which counts clearly
        exceed their noise.

    Privacy
    -------
    Computed from released numbers, within the profile's epsilon.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), proposition 2.1:
    post-processing.

    Examples
    --------
    >>> import duffdp
    >>> look = duffdp.profile("demo/adult.parquet", epsilon=5, columns=["age"])
    >>> look.columns["age"].kind
    'number'
    """

    name: str
    type: str
    kind: Kind
    readable: float
    unreadable: float
    missing: float
    inside: float | None = None
    listed: float | None = None
    quartiles: tuple[Any, Any, Any] | None = None
    bounds: tuple[Any, Any] | None = None

    @property
    def repeats_shares(self) -> bool:
        """True if the readable share is that of listed fields, or all or none of a text column."""
        whole = self.readable == 0 or self.unreadable == 0
        return self.kind == "text" and (self.listed is not None or whole)

    @classmethod
    def of(
        cls,
        name: str,
        declared: str,
        edges: FieldEdges,
        rows: int,
        fields: Release,
        drawn: Release | None,
    ) -> ColumnProfile:
        """The profile of a column from its released counts, and its quartiles if it has some."""
        counts, total = list(fields.cells[0]), max(rows, 1)

        def share(count: float) -> float:
            return min(max(count / total, 0.0), 1.0)

        missing, other = counts[MISSING], 0 if edges.typed else counts[OTHER_VALUES]
        if not edges.cells:
            listed = share(total - missing - other) if edges.listed else None
            readable = share(total - missing) if listed is None else listed
            unreadable = 0.0 if listed is None else share(other)
            shares = readable, unreadable, share(missing)
            return cls(name, declared, "text", *shares, listed=listed)
        row_epsilon = float(fields.facts.row_epsilon)
        noise, lone_noise = (
            (math.log(len(counts)) + margin) / row_epsilon
            for margin in (NOISE_MARGIN_NATS, LONE_MARGIN_NATS)
        )
        end = OTHER_VALUES + 1 + (len(edges.numbers) + 1 if edges.numbers else 0)
        numbers, dates = counts[OTHER_VALUES + 1 : end], counts[end:]
        sums = [sum(count for count in part if count > noise) for part in (numbers, dates)]
        # The few other counts are subtracted: a sum of all cells would add up all of their noise.
        records = rows - missing - other - min(sums)
        kind: Kind = edges.kind or ("date" if sums[1] > sums[0] else "number")
        if edges.kind is None and records < MIN_KIND_SHARE * (total - missing):
            kind = "text"
        if kind == "text":  # the difference would have the noise of the number of rows
            readable = sum(count for count in numbers + dates if count > lone_noise)
            return cls(name, declared, kind, share(readable), share(other), share(missing))
        shares = share(records), share(other), share(missing)
        marks: Sequence[Any] = edges.dates if kind == "date" else edges.numbers
        cells = dates if kind == "date" else numbers
        quartiles = bounds = None
        if records * row_epsilon >= MIN_NATS:
            smooth = smoothed_counts(cells, records, row_epsilon)
            quartiles = _quartiles(marks, smooth.counts)
            bounds = _bounds(marks, np.flatnonzero(smooth.occupied > MIN_OCCUPIED))
            if drawn is not None and kind == (edges.kind or "number"):
                low, middle, high = drawn.cells[0]
                if records * float(drawn.facts.row_epsilon) >= MIN_DRAWN_NATS:
                    quartiles = low, middle, high
        inside = None
        if edges.bounds is not None:
            bounds = edges.bounds
            if isinstance(bounds[0], dt.date) == (kind == "date"):
                inside = share(records - cells[0] - cells[-1])
        return cls(name, declared, kind, *shares, inside, None, quartiles, bounds)


def _quartiles(marks: Sequence[Any], counts: Floats) -> tuple[Any, Any, Any]:
    """Quartiles of counts between marks, to two digits: within a cell by the logarithm, for dates
    evenly, and 0 in the cells beside it.
    """
    ends = np.cumsum(counts)

    def at(q: float) -> Any:
        rank = q * ends[-1]
        place = int(np.searchsorted(ends, rank))
        if place == 0 or place == len(marks):  # beyond all marks
            return marks[max(place - 1, 0)]
        low, high = marks[place - 1], marks[place]
        part = float(1 - (ends[place] - rank) / counts[place])
        if isinstance(low, dt.date):
            return low + part * (high - low)
        return 0.0 if low * high == 0 else float(f"{low * (high / low) ** part:.2g}")

    return at(0.25), at(0.5), at(0.75)


def _bounds(marks: Sequence[Any], places: Ints) -> tuple[Any, Any] | None:
    """The marks around some cells."""
    if not len(places):
        return None
    low, high = marks[max(places[0] - 1, 0)], marks[min(places[-1], len(marks) - 1)]
    if low == high:  # all of it lies beyond the marks
        low, high = (low, marks[-1]) if places[0] == 0 else (marks[0], high)
    if isinstance(low, dt.date):
        return low, high
    is_integer = float(low).is_integer() and float(high).is_integer()
    return (int(low), int(high)) if is_integer else (low, high)


@dataclass(frozen=True, slots=True, eq=False)
class Profile(Exportable):
    """A first look at a table for one epsilon: how the fields of every column can be read, how many
    are missing, where numbers and dates are, and bounds for the next plan.

    Attributes
    ----------
    rows, people
        Released numbers of rows and, with `unit`, of people. At most `contributions` rows per
        person count.
    columns
        A `ColumnProfile` for each column, by its name.
    bounds
        For columns of numbers and dates the bounds that were passed, or proposed ones. Proposed
        bounds are released numbers: say so in the `sources` of a plan that uses them.
    remarks
        Sentences about fields that statistics will ignore, and about too few rows.
    share_error
        In about 95 of 100 profiles, a share is off by at most this much. (The readable share of a
        column of text adds up more counts, and may be off by more.)
    epsilon, unit, secure, releases
        The total cost, the protected unit, whether the operating system's randomness was used, and
        every release by its name.

    Methods
    -------
    wide, to_dict, to_json

    Privacy
    -------
    All numbers together are epsilon-differentially private for neighbors that differ by one `unit`.
    Sentences, shares and proposed bounds are computed from released numbers and public facts.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14 and
    proposition 2.1: shares of epsilon add up, and post-processing is free.

    Examples
    --------
    >>> import duffdp
    >>> look = duffdp.profile("demo/adult.parquet", epsilon=5, columns=["age", "sex"])
    >>> look.columns["age"].kind, look.bounds["age"]
    ('number', (10, 100))
    """

    rows: int
    people: int | None
    columns: Mapping[str, ColumnProfile]
    releases: Mapping[str, Release]
    reading: tuple[Note, ...] = ()  # how fields of text are read; the same for all data

    @property
    def bounds(self) -> dict[str, tuple[Any, Any]]:
        return {
            name: column.bounds
            for name, column in self.columns.items()
            if column.bounds is not None
        }

    @property
    def epsilon(self) -> float:
        return float(sum((r.loss.epsilon for r in self.releases.values()), Fraction(0)))

    @property
    def unit(self) -> PrivacyUnit:
        return max((r.unit for r in self.releases.values()), key=lambda unit: unit.contributions)

    @property
    def secure(self) -> bool:
        return all(release.secure for release in self.releases.values())

    @property
    def share_error(self) -> float:
        # Of the counts that are subtracted from all fields: missing and unreadable ones, and those
        # on either side of bounds.
        counts = 2 if all(one.inside is None for one in self.columns.values()) else 4
        epsilons = [self._row_epsilon] * counts
        # And of the number of rows that their difference is divided by.
        epsilons.append(float(self.releases["rows"].facts.row_epsilon))
        errors = (math.log(1 / (1 - SHARE_CONFIDENCE)) / epsilon for epsilon in epsilons)
        return math.hypot(*errors) / max(self.rows, 1)

    @property
    def _row_epsilon(self) -> float:
        """Epsilon of the counts of one column, for one row."""
        return min(
            float(self.releases[f"fields of {name}"].facts.row_epsilon) for name in self.columns
        )

    @property
    def remarks(self) -> list[str]:
        return self.worded_remarks(PYTHON)

    def worded_remarks(self, dialect: Dialect) -> list[str]:
        """The remarks in the words of one place."""
        return [word(parts, dialect) for parts in self._remarks()]

    def _remarks(self) -> Iterator[tuple[Part, ...]]:
        if self.share_error > MAX_MARGIN:
            yield (
                f"too few rows for epsilon {self.epsilon:g} and {len(self.columns)} columns: "
                "shares may be off by a quarter or more. Pass fewer columns or a larger epsilon.",
            )
            return
        least = REMARK_NATS / self._row_epsilon / max(self.rows, 1)
        for name, one in self.columns.items():
            ignored, outside = _percent(one.unreadable), one.readable - (one.inside or 0)
            if one.listed is not None and one.unreadable > least:
                yield (
                    f"{name}: about {ignored} of the fields are not among the keys, so their rows "
                    "are in no group",
                )
            elif one.listed is None and one.unreadable > least and one.kind != "text":
                hint = (
                    *("; check ", Argument("decimal"), ", ", Argument("thousands"), " and "),
                    Argument("date_format"),
                )
                yield (
                    f"{name}: about {ignored} of the fields are not {one.kind}s, so statistics "
                    "ignore them",
                    *(hint if self.reading else ()),
                )
            elif one.kind == "text" and one.unreadable > least and one.readable > 3 * least:
                yield (
                    f"{name}: about {_percent(one.readable)} of the fields can be read as numbers "
                    "or dates; statistics ignore the others",
                )
            if one.inside is not None and outside > 2 * least:
                yield (
                    f"{name}: about {_percent(outside)} of the fields are outside of the bounds, "
                    "and count as the nearest bound",
                )
            if one.kind != "text" and one.quartiles is None:
                yield (f"{name}: too few records for quartiles at this epsilon",)

    @property
    def notes(self) -> list[str]:
        """Lines that notebooks show below the table."""
        return [
            *self.remarks,
            *(note.worded() for note in self.reading),
            "proposed bounds are released numbers: name them as the source in a plan that uses "
            "them",
        ]

    def wide(self) -> dict[str, list[Any]]:
        """A row for each column of the table."""
        rows = [
            {
                **{key: value for key, value in asdict(column).items() if key not in _PARTS},
                **dict(zip(_PARTS["quartiles"], column.quartiles or (None,) * 3, strict=True)),
                **dict(zip(_PARTS["bounds"], column.bounds or (None,) * 2, strict=True)),
            }
            for column in self.columns.values()
        ]
        return {
            "column" if name == "name" else name: [row[name] for row in rows] for name in rows[0]
        }

    def display_tables(self) -> list[DisplayTable]:
        """The table for readers: shares in percent, without columns that were not requested and
        shares that repeat others.
        """
        header, texts = [], []
        shown: dict[str, Callable[[Any], str]] = dict.fromkeys(_SHARES, _percent)
        repeats = [one.repeats_shares for one in self.columns.values()]
        for name, values in self.wide().items():
            if name in ("readable", "unreadable"):
                values = [
                    None if repeated else value
                    for repeated, value in zip(repeats, values, strict=True)
                ]
            if any(value is not None for value in values):
                header.append(name)
                texts.append([shown.get(name, as_text)(value) for value in values])
        rows = list(map(list, zip(*texts, strict=True)))
        return [DisplayTable(header, rows, self._caption(), (), 3)]

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values."""
        fields: dict[str, Any] = as_json(
            {
                "rows": self.rows,
                "people": self.people,
                "epsilon": self.epsilon,
                "unit": str(self.unit),
                "secure": self.secure,
                "share_error": self.share_error,
                "columns": {
                    name: {key: value for key, value in asdict(one).items() if key != "name"}
                    for name, one in self.columns.items()
                },
                "remarks": self.remarks,
                "releases": {name: one.to_dict() for name, one in self.releases.items()},
            }
        )
        return fields

    def to_json(self) -> str:
        """All fields as JSON text."""
        return json.dumps(self.to_dict())

    def _caption(self) -> str:
        people = "" if self.people is None else f", {self.people:,} people"
        seeded = "" if self.secure else ", NOT PRIVATE (seeded)"
        return (
            f"about {self.rows:,} rows{people}; shares are off by at most "
            f"{100 * self.share_error:.2g} points (95% confidence); epsilon={self.epsilon:g} for "
            f"each {self.unit.protected}{seeded}"
        )

    def to_text(self) -> str:
        """The table with its caption and remarks, as text."""
        return self.worded_text(PYTHON)

    def worded_text(self, dialect: Dialect) -> str:
        """The text, with remarks in the words of one place."""
        (table,) = self.display_tables()
        lines = [list(map(visible, line)) for line in (table.header, *table.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        texts = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([*texts, table.caption, *map(visible, self.worded_remarks(dialect))])

    def __str__(self) -> str:
        """The text, and how fields were read."""
        return "\n".join([self.to_text(), *(visible(note.worded()) for note in self.reading)])

    def __repr__(self) -> str:
        return str(self)


_PARTS = {"quartiles": ("q25", "median", "q75"), "bounds": ("lower", "upper")}
_SHARES = ("readable", "unreadable", "missing", "inside", "listed")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f}%"
