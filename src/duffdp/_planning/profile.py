"""Plan of a first look at a table: its columns, their requests, and the shares of epsilon."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from duffdp._engines.files.fields import FieldLabels
from duffdp._engines.files.text_file import LabeledFile, TextFile
from duffdp._engines.keys import load_keys, read_keys, refuse_data_as_keys
from duffdp._engines.libraries import missing_column, narwhals
from duffdp._engines.selection import select
from duffdp._engines.sql.query import OpenSources
from duffdp._engines.table import source_types, type_name
from duffdp._parameters import CONTRIBUTIONS, EPSILON
from duffdp._pipeline.notes import Note, about_large_epsilon, about_source, is_text_source
from duffdp._pipeline.profile import ColumnProfile, FieldEdges, Profile
from duffdp._pipeline.release import Release
from duffdp._pipeline.request import ReleaseRequest
from duffdp._pipeline.run import PreparedRelease, ledger_of, make_releases
from duffdp._pipeline.signatures import takes_aliases
from duffdp._pipeline.text_values import typed_values
from duffdp._sampling.entropy import entropy
from duffdp.domain import Bins, Categories, Digits, Fields, Grid
from duffdp.errors import Argument, BoundsError, DuffError

PROFILE_QUARTILES = (0.25, 0.5, 0.75)
# Of epsilon: the number of rows, which every share is divided by, and that of people; more beside
# few columns, whose counts err less.
MIN_COUNT_SHARE = Fraction(1, 20)
# Of a column's epsilon: quartiles that are drawn are better than those of the counts where there
# are many records, and these need little.
DRAWN_SHARE = Fraction(1, 10)
QUARTILE_DIGITS = Digits(3)
FIRST_DAY, LAST_DAY = dt.date(1900, 1, 1), dt.date(2100, 1, 1)
_ABOVE = (*(float(f"{digit}e{power}") for power in range(-6, 9) for digit in (1, 2, 5)), 1e9)
#: Edges of numbers: 0, and 1, 2 and 5 times powers of ten on either side. With powers of ten alone
#: below 0, quartiles of -56 to -43 were off by a factor of 2 in all of 40 profiles
#: (`python -m benchmarks.profile`). Numbers between 0 and the smallest edge are taken for 0.
NUMBER_EDGES = (*(-edge for edge in reversed(_ABOVE) if edge >= 1e-3), 0.0, *_ABOVE)
DATE_EDGES = (
    *(dt.date(year, 1, 1) for year in range(1900, 2000, 10)),
    *(dt.date(year, 1, 1) for year in range(2000, 2042)),
)
YEARS, MAX_NUMBER = range(2, 9999), 1e300  # of bounds
_EXAMPLE = {"age": (0, 120)}


class ColumnPlan(NamedTuple):
    """One column of a profile: its edges, the cells of its fields, and the candidates of its
    quartiles, if it has some.
    """

    name: str
    type: str
    edges: FieldEdges
    fields: Fields
    labels: FieldLabels | None
    candidates: Digits | Grid | None


class ProfilePlan:
    """A profile before its release: every release in it is checked, and no record has been read."""

    def __init__(
        self,
        data: Any,
        *,
        epsilon: Any,
        columns: Any = None,
        bounds: Mapping[str, Any] | None = None,
        by: Any = None,
        keys: Any = None,
        unit: str | None = None,
        contributions: int = 1,
        where: str | None = None,
    ) -> None:
        self.epsilon = EPSILON.read(epsilon)
        contributions = CONTRIBUTIONS.read(contributions)
        refuse_data_as_keys(keys, data)
        if by is not None or keys is not None:
            keys = load_keys(by, keys)
        selection = select(None, by, keys, unit, contributions, where=where)
        bounds = _bounds_by_column(bounds)
        self.reading = about_source(data)
        if is_text_source(data) and not isinstance(data, TextFile):
            data = TextFile(data)
        names = _names(columns)
        self._sources = OpenSources()
        types = source_types(data, list(names or (*selection.by, *bounds)), self._sources)
        if names is None:
            names = [name for name in types if name != unit]
        names = list(dict.fromkeys([*names, *selection.by, *bounds]))
        for name in (*names, *filter(None, [unit])):
            if name not in types:
                raise missing_column(name, types)
        if not names:
            raise DuffError("the data has no column to profile apart from ", Argument("unit"), ".")
        if unit in names:
            raise DuffError(
                *(
                    Argument("unit"),
                    f" names the column {unit!r}, which identifies people and is ",
                ),
                *("not profiled. Leave it out of ", Argument("columns"), "."),
            )
        key_rows = read_keys(selection.by, keys).rows if selection.by else ()
        listed = dict(zip(selection.by, zip(*key_rows, strict=True), strict=True))
        conditions = () if selection.where is None else selection.where.columns
        text = data if isinstance(data, TextFile) else None
        self.columns = [
            _column(name, types[name], listed.get(name), bounds.get(name), text, name in conditions)
            for name in names
        ]
        self._data = data
        self._labeled: Any = data
        if isinstance(data, TextFile):
            labels = {one.name: one.labels for one in self.columns if one.labels is not None}
            file_options = {one.name: getattr(data, one.name) for one in dataclass_fields(TextFile)}
            self._labeled = LabeledFile(**file_options, labels=labels)
        self._unit, self._contributions = unit, contributions
        self._rows = {"unit": unit, "contributions": contributions, "where": where}

    def _requests(self) -> list[tuple[ReleaseRequest, Any]]:
        """Every release with its part of epsilon, and the data that it reads."""
        counts = [("rows", self._rows)]
        if self._unit is not None and self._contributions > 1:
            counts.append(("people", self._rows | {"contributions": 1}))
        requests: list[tuple[ReleaseRequest, Any]] = []
        unspent = self.epsilon
        count_share = max(Fraction(1, 2 * (len(self.columns) + 1)), MIN_COUNT_SHARE)
        for name, rows in counts:
            share = self.epsilon * count_share
            unspent -= share
            requests.append(
                (ReleaseRequest("count", {"epsilon": share, **rows}, name), self._labeled)
            )
        column_epsilon = unspent / len(self.columns)
        for column in self.columns:
            range_epsilon = 0 if column.candidates is None else column_epsilon * DRAWN_SHARE
            options = {"column": column.name, **self._rows}
            cells = {
                "epsilon": column_epsilon - range_epsilon,
                "bins": column.fields,
                "nonnegative": False,
            }
            name = f"fields of {column.name}"
            requests.append((ReleaseRequest("histogram", cells | options, name), self._labeled))
            if column.candidates is not None:
                outputs = {
                    "epsilon": range_epsilon,
                    "qs": PROFILE_QUARTILES,
                    "bounds": column.candidates,
                }
                name = f"quartiles of {column.name}"
                requests.append((ReleaseRequest("quantiles", outputs | options, name), self._data))
        return requests

    @property
    def notes(self) -> list[Note]:
        """Notes that do not depend on the data."""
        return [*about_large_epsilon(self.epsilon), *self.reading]

    def prepared(self, rng: object = None) -> dict[str, PreparedRelease]:
        """All releases after all checks that need no row, by their names."""
        if isinstance(rng, int):  # one generator for all: the same seed would repeat its noise
            entropy(rng)
            rng = np.random.default_rng(rng)
        # What was opened for the types is read once: another run opens the file anew.
        sources, self._sources = self._sources, OpenSources()
        return {
            request.name: PreparedRelease.of_checked(request.check(), data, rng, sources)
            for request, data in self._requests()
        }

    def make(self, prepared: Mapping[str, PreparedRelease], ledger: object = None) -> Profile:
        """Charge all releases or none, then read and draw."""
        book = None if ledger is None else ledger_of(ledger)
        releases = make_releases(list(prepared.values()), book)
        return self.profile(dict(zip(prepared, releases, strict=True)))

    def profile(self, releases: Mapping[str, Release]) -> Profile:
        """The profile of all releases."""
        rows = releases["rows"].cells[0][0]
        people = rows if self._unit is not None else None
        if "people" in releases:
            people = releases["people"].cells[0][0]
        columns = {
            one.name: ColumnProfile.of(
                one.name,
                one.type,
                one.edges,
                rows,
                releases[f"fields of {one.name}"],
                releases.get(f"quartiles of {one.name}"),
            )
            for one in self.columns
        }
        return Profile(rows, people, columns, releases, tuple(self.reading))


@takes_aliases
def profile(
    data: Any,
    *,
    epsilon: Any,
    columns: Sequence[str] | None = None,
    bounds: Mapping[str, Any] | None = None,
    by: Any = None,
    keys: Any = None,
    unit: str | None = None,
    contributions: int = 1,
    where: str | None = None,
    ledger: Any = None,
    rng: object = None,
) -> Profile:
    """A private first look at a table: how its fields can be read, and where its values are.

    Parameters
    ----------
    data
        A frame or the path of a file, folder or table; a `TextFile` or a `Query`.
    epsilon
        The privacy loss of the whole profile.
    columns
        The columns to profile; by default all but `unit`. With fewer columns, each is profiled more
        accurately.
    bounds
        For some columns, the public `(lower, upper)` that a plan would use. The share of values
        inside is released.
    by, keys
        The columns that will form groups, and their public values. The share of listed fields is
        released for each column.
    unit
        The column that identifies the person. Without it, a row is protected.
    contributions
        The maximum number of rows used per person, chosen at random.
    where
        A condition on the rows, as in SQL. If it names columns of a text file, the profile of these
        has only the share of missing fields.
    ledger
        A `Ledger` or its path, charged before a row is read.
    rng
        A seed or a numpy Generator, for experiments: then the profile is not private.

    Returns
    -------
    Profile
        Prints as a table; `.bounds` has the bounds for the next plan.

    Privacy
    -------
    Pure epsilon-differential privacy for all numbers of the profile together; neighbors differ by
    one row, or by one person with `unit`. Each column has one histogram in which every field is in
    one cell, and its quartiles; the shares of epsilon add up, and all are charged or none. A field
    of a text file is put into its cell individually, by the rules that statistics use.

    Utility
    -------
    Every column gets an equal part of epsilon, so fewer columns give better answers. Quartiles of
    few records are estimated from the noisy counts of the histogram, on the assumption that values
    form a few hills. With many records, quartiles are drawn on three significant digits. A
    remark of the profile shows when there are too few records for the epsilon.

    `python -m benchmarks.profile` profiled thirteen tables of 15 columns and 1,000 people, 40 times
    each at epsilon 1. A profile was a success if all 45 quartiles were within a factor of 2.

    - Ten tables with which the estimate was tuned: 39 or 40 successes for nine of them, and 35 for
      log-normal columns with sigma 1.5.
    - A table of 15 other distributions, which were not used to tune the estimate: 40.
    - A table of real columns with quartiles near 0 or values over many powers of ten: 22, and 37 at
      epsilon 2.
    - A table of made-up columns of this kind: 4, and 25 at epsilon 2.

    Runtime
    -------
    One pass over the data for all histograms, and a few for all quartiles; frames in memory one
    pass for each column.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14:
    shares add up.

    Examples
    --------
    >>> import duffdp
    >>> look = duffdp.profile("demo/adult.parquet", epsilon=5, columns=["age", "education"])
    >>> sorted(look.to_dict()["columns"]["age"])[:4]
    ['bounds', 'inside', 'kind', 'listed']
    """
    plan = ProfilePlan(
        data,
        epsilon=epsilon,
        columns=columns,
        bounds=bounds,
        by=by,
        keys=keys,
        unit=unit,
        contributions=contributions,
        where=where,
    )
    return plan.make(plan.prepared(rng), ledger)


def _names(columns: object) -> list[str] | None:
    """The columns that the caller names; None for all."""
    if columns is None:
        return None
    names = [columns] if isinstance(columns, str) else columns
    if (
        not isinstance(names, list | tuple)
        or not names
        or not all(isinstance(n, str) for n in names)
    ):
        raise DuffError.about("columns", columns, "a list of names of columns", ["age", "sex"])
    return list(dict.fromkeys(names))


def _bounds_by_column(bounds: object) -> dict[str, Any]:
    """The bounds of columns, each a pair."""
    if bounds is None:
        return {}
    if not isinstance(bounds, Mapping):
        raise BoundsError(
            *(
                Argument("bounds"),
                f" of a profile must be a mapping from columns, got {bounds!r:.60}. ",
            ),
            *("Pass for example ", Argument("bounds", _EXAMPLE), "."),
        )
    for name, pair in bounds.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise BoundsError(
                *(Argument("bounds"), f" of {name!r:.60} must be a pair (lower, upper), got "),
                *(f"{pair!r:.60}. Pass for example ", Argument("bounds", _EXAMPLE), "."),
            )
        Bins(pair)  # both are finite, of one kind, and rise
        # There must be other values on either side.
        if isinstance(pair[0], dt.date):
            if not all(bound.year in YEARS for bound in pair):
                raise _out_of_range(name, pair, f"years {YEARS[0]} and {YEARS[-1]}")
        elif not all(abs(bound) <= MAX_NUMBER for bound in pair):
            raise _out_of_range(name, pair, f"numbers {-MAX_NUMBER:g} and {MAX_NUMBER:g}")
    return {name: tuple(pair) for name, pair in bounds.items()}


def _out_of_range(name: str, pair: object, ends: str) -> BoundsError:
    return BoundsError(
        *(Argument("bounds"), f" of {name!r:.60} must be between the {ends}, got {pair!r:.60}. "),
        *("Pass for example ", Argument("bounds", _EXAMPLE), "."),
    )


def _column(
    name: str,
    dtype: Any,
    listed: Sequence[Any] | None,
    bounds: tuple[Any, Any] | None,
    text: TextFile | None,
    in_condition: bool,
) -> ColumnPlan:
    """The plan of one column, by its declared type."""
    nw = narwhals()
    kind_name = type_name(dtype)
    if listed is not None:
        values = typed_values(name, dtype, dict.fromkeys(listed))
        cells = Fields(Categories(values))
        return ColumnPlan(name, kind_name, FieldEdges("text", listed=True), cells, None, None)
    declared = None if text is None else text.rules.kinds.get(name)
    plain = ColumnPlan(name, kind_name, FieldEdges("text"), Fields(), None, None)
    if (text is not None and in_condition) or declared == "category":
        return plain
    timed = isinstance(dtype, nw.Date | nw.Datetime)
    is_object = dtype is not None and dtype == nw.Object
    untyped = dtype is None
    if not (untyped or timed or is_object or dtype.is_numeric() or dtype == nw.Boolean):
        return plain
    numbers: tuple[float, ...] = () if timed else NUMBER_EDGES
    dates: tuple[dt.date, ...] = DATE_EDGES if timed or untyped else ()
    if bounds is not None:
        of_dates = isinstance(bounds[0], dt.date)
        if (of_dates and not dates) or (not of_dates and not numbers):
            kind_text = "dates" if timed else "numbers"
            raise BoundsError(
                *(
                    Argument("bounds"),
                    f" of {name!r} must be {kind_text}, because the column has the type ",
                ),
                f"{kind_name}, got {bounds!r:.60}.",
            )
        if of_dates:
            day = _day(bounds[1])
            dates = _with_bounds(dates, _day(bounds[0]), day, day + dt.timedelta(days=1))
        else:
            upper = float(bounds[1])
            after = math.nextafter(upper, math.inf)
            numbers = _with_bounds(numbers, float(bounds[0]), upper, after)
    edges = FieldEdges(
        None if untyped or is_object else "date" if timed else "number", numbers, dates, bounds
    )
    candidates: Digits | Grid = Grid(FIRST_DAY, LAST_DAY) if timed else QUARTILE_DIGITS
    if text is not None:
        assert declared is None or isinstance(declared, str)
        labels = FieldLabels(declared, numbers, dates)
        cells = Fields(Categories(labels.names))
        return ColumnPlan(name, kind_name, edges, cells, labels, candidates)
    edges = replace(edges, typed=not is_object)
    marks: Sequence[Any] = (
        (dt.date.min, *dates, dt.date.max)
        if timed
        else (
            -math.inf,
            *numbers,
            math.inf,
        )
    )
    return ColumnPlan(name, kind_name, edges, Fields(Bins(marks)), None, candidates)


def _with_bounds(
    edges: Sequence[Any], lower: object, upper: object, after: object
) -> tuple[Any, ...]:
    """The bounds and the edges between them. A cell ends before its upper edge, so the last one is
    the first value `after` the upper bound.
    """
    return lower, *(edge for edge in edges if lower < edge < upper), after


def _day(moment: dt.date) -> dt.date:
    return moment.date() if isinstance(moment, dt.datetime) else moment
