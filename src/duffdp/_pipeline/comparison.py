"""Comparisons of released numbers: post-processing, so they cost no epsilon.

Where the noise is known (counts, sums, shares, means), ends are computed from the noise at the
confidence of the comparison: by the exact distribution of the sum of both noises where both numbers
are sums with the same noise, and otherwise from two intervals that each fail with half of the
probability. Where ends were drawn (quantiles), both intervals hold together with at least the
probability that the union bound leaves.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from duffdp._facts import Facts
from duffdp._parameters import CONFIDENCE, DEFAULT_CONFIDENCE, exact
from duffdp._pipeline.estimates import INTERVAL_COLUMNS, Estimate, columns_per_number
from duffdp._pipeline.export import DisplayTable, Exportable
from duffdp._pipeline.group_sums import ends_from_noise, noise_draw, noise_spec
from duffdp._pipeline.number_text import NumberFormat, as_text, estimate_text, number_format
from duffdp._pipeline.release import Release
from duffdp._pipeline.wording import PLAIN, Wording
from duffdp.domain import Grid
from duffdp.errors import DuffError
from duffdp.statistics.noise_interval import largest_noise
from duffdp.statistics.program import NumberKind
from duffdp.statistics.registry import statistic_spec


class ComparedNumber(NamedTuple):
    """One released number, and the public facts about its noise."""

    estimate: Estimate
    facts: Facts
    part: int  # which number of its group
    noisy: Sequence[int] | None  # the drawn numbers of its group, or their sums over groups
    draws: frozenset[tuple[int, int]]  # the release and the groups that it was drawn for
    kind: NumberKind

    def ends(self, failure_rate: Fraction) -> tuple[Any, Any] | None:
        """Ends that fail with this probability, if the noise is known."""
        if self.noisy is None:
            return None
        row = ends_from_noise(self.facts, self.noisy, len(self.draws), failure_rate)
        _, low, high = row[INTERVAL_COLUMNS * self.part : INTERVAL_COLUMNS * (self.part + 1)]
        return low, high

    @property
    def center(self) -> Any:
        """The number as it was drawn, for a count or a sum; it may be below 0."""
        assert self.noisy is not None
        return self._amount(self.noisy[self.part])

    def reach(self, other: ComparedNumber, failure_rate: Fraction) -> Any:
        """The most by which the exact difference of two counts or sums is off from that of the
        drawn numbers, up to this probability; None if the noise of the difference is not known
        exactly.

        Both noises are sums of independent symmetric noises of one distribution, so their
        difference has the distribution of the sum of all of them.
        """
        facts, second = self.facts, other.facts
        if self.noisy is None or other.noisy is None or self.draws & other.draws:
            return None
        if not statistic_spec(facts.statistic.name).additive:
            return None
        noise = (facts.row_epsilon, facts.domain, facts.mechanism.asked)
        if noise != (second.row_epsilon, second.domain, second.mechanism.asked):
            return None
        spec = noise_spec(facts, failure_rate, len(self.draws) + len(other.draws))
        return self._amount(largest_noise(noise_draw(facts), spec, facts.domain))

    def _amount(self, number: int) -> Any:
        """A number of records, or of the units of a sum, as a value."""
        if self.kind == "count":
            return number
        assert isinstance(self.facts.domain, Grid)
        return self.facts.domain.multiple(number)

    @property
    def failure_rate(self) -> Fraction | None:
        """The probability that the released interval fails."""
        interval = self.facts.interval
        return None if interval is None else 1 - interval.confidence


class Difference(NamedTuple):
    """The difference and the ratio of two numbers, with interval ends if there are any."""

    first: Any
    second: Any
    difference: Any = None
    low: Any = None
    high: Any = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Exportable):
    """Difference of two released numbers, or of two releases group by group.

    Attributes
    ----------
    difference, low, high
        The first number minus the second, and the ends of an interval around it. With groups, lists
        in the order of the groups. None where a number is withheld or has no interval.
    ratio, ratio_low, ratio_high
        The first number divided by the second, if both are above 0; an end is infinite if the
        second could be 0.
    confidence
        Each interval of a difference, and each of a ratio, contains the exact one with at least
        this probability, individually.
    exact
        True if the confidence follows from the exact distribution of both noises.

    Methods
    -------
    different, wide

    Privacy
    -------
    Computed from released numbers and public facts: post-processing at no cost.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), proposition 2.1:
    post-processing; `docs/explanation/intervals.md`, "Comparisons".

    Examples
    --------
    >>> import duffdp
    >>> this_year = duffdp.count(range(500), epsilon=1, interval=0.95)
    >>> last_year = duffdp.count(range(300), epsilon=1, interval=0.95)
    >>> change = duffdp.compare(this_year, last_year)
    >>> change.low > 150, change.different, change.confidence
    (True, True, 0.95)
    """

    names: tuple[str, str]
    groups: Sequence[str]  # empty for one pair of numbers
    differences: Sequence[Difference]
    confidence: float | None
    exact: bool
    format: NumberFormat
    title: str
    wording: Wording = PLAIN

    def _of(self, field: str) -> Any:
        values = [getattr(difference, field) for difference in self.differences]
        return values if self.groups else values[0]

    @property
    def difference(self) -> Any:
        return self._of("difference")

    @property
    def low(self) -> Any:
        return self._of("low")

    @property
    def high(self) -> Any:
        return self._of("high")

    @property
    def ratio(self) -> Any:
        return self._of("ratio")

    @property
    def ratio_low(self) -> Any:
        return self._of("ratio_low")

    @property
    def ratio_high(self) -> Any:
        return self._of("ratio_high")

    @property
    def different(self) -> Any:
        """True if the interval of the difference does not contain 0; None without an interval."""
        flags = [
            None
            if difference.low is None
            else not difference.low <= _zero_like(difference.low) <= difference.high
            for difference in self.differences
        ]
        return flags if self.groups else flags[0]

    def wide(self) -> dict[str, list[Any]]:
        """Groups, both numbers, the difference and the ratio with their ends."""
        columns: dict[str, list[Any]] = {"group": list(self.groups)} if self.groups else {}
        for name in Difference._fields:
            columns[name] = [getattr(difference, name) for difference in self.differences]
        return columns

    def number_formats(self) -> dict[str, NumberFormat]:
        value, low, high = self.format.with_ends()
        return dict.fromkeys(("first", "second", "difference"), value) | {
            "low": low,
            "high": high,
        }

    def display_tables(self) -> list[DisplayTable]:
        rows = []
        for i, one in enumerate(self.differences):
            estimate = Estimate(one.difference, one.low, one.high, one.difference is None)
            texts = [
                self.format.with_unit(one.first),
                self.format.with_unit(one.second),
                estimate_text(estimate, self.format, self.wording.to, self.wording.too_few),
                _ratio_text(one, self.wording.to),
            ]
            rows.append([*([self.groups[i]] if self.groups else []), *texts])
        header = [*(["group"] if self.groups else []), *self.names, "difference", "ratio"]
        level = (
            "no interval is known"
            if self.confidence is None
            else f"with at least {100 * self.confidence:.6g}% probability an interval holds"
        )
        text_columns = 1 if self.groups else 0
        return [DisplayTable(header, rows, f"{self.title}; {level}", (), text_columns)]

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Comparison {self.to_text()}>"


class RankedGroup(NamedTuple):
    """A group with its place in an order, and the places that are possible."""

    key: Any
    value: Any
    low: Any
    high: Any
    place: int
    first_place: int
    last_place: int
    label: str  # of the key, for readers


@dataclass(frozen=True, slots=True, eq=False)
class Ranking(Exportable):
    """Order of the groups of a table by one number, and the pairs whose order is certain.

    Attributes
    ----------
    order
        The keys of the groups, the largest number first.
    certain, uncertain
        Pairs of keys: those whose order is certain, the larger first, and those whose intervals
        overlap.
    confidence, simultaneous
        With at least this probability all certain pairs are in the right order. If `simultaneous`
        is False, this holds for each pair individually.

    Methods
    -------
    wide

    Privacy
    -------
    Computed from released numbers and public facts: post-processing at no cost.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), proposition 2.1:
    post-processing; `docs/explanation/intervals.md`, "Comparisons".

    Examples
    --------
    >>> import duffdp
    >>> given = {"epsilon": 4, "bounds": {"age": (0, 120)}, "by": "sex", "keys": ["Female", "Male"]}
    >>> table = duffdp.table("demo/adult.parquet", {"age": "mean"}, **given)
    >>> table.rank("count").certain
    [('Male', 'Female')]
    """

    name: str
    groups: Sequence[RankedGroup]
    confidence: float | None
    simultaneous: bool
    format: NumberFormat
    wording: Wording = PLAIN

    @property
    def order(self) -> list[Any]:
        return [group.key for group in self.groups]

    @property
    def certain(self) -> list[tuple[Any, Any]]:
        return [
            (first.key, second.key) for first, second in self._pairs() if _is_above(first, second)
        ]

    @property
    def uncertain(self) -> list[tuple[Any, Any]]:
        return [
            (first.key, second.key)
            for first, second in self._pairs()
            if not _is_above(first, second)
        ]

    def _pairs(self) -> list[tuple[RankedGroup, RankedGroup]]:
        return list(combinations(self.groups, 2))

    def wide(self) -> dict[str, list[Any]]:
        """Groups in their order, with numbers and places."""
        names = ("key", "value", "low", "high", "place", "first_place", "last_place")
        columns = {name: [getattr(group, name) for group in self.groups] for name in names}
        return {"group": columns.pop("key"), **columns}

    def number_formats(self) -> dict[str, NumberFormat]:
        return dict(zip(("value", "low", "high"), self.format.with_ends(), strict=True))

    def display_tables(self) -> list[DisplayTable]:
        to = self.wording.to
        rows = [
            [
                group.label,
                estimate_text(Estimate(group.value, group.low, group.high), self.format, to),
                str(group.place)
                if group.first_place == group.last_place
                else f"{group.first_place} {to} {group.last_place}",
            ]
            for group in self.groups
        ]
        scope = (
            "all places are right at once" if self.simultaneous else "the order of a pair is right"
        )
        caption = f"{len(self.uncertain)} of {len(self._pairs())} pairs are not certain"
        if self.confidence is not None:
            caption += f"; with at least {100 * self.confidence:.6g}% probability {scope}"
        return [DisplayTable(["group", self.name, "place"], rows, caption, (), 1)]

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Ranking {self.name}: {len(self.uncertain)} of {len(self._pairs())} pairs open>"


def compare(first: Release, second: Release, *, confidence: float | None = None) -> Comparison:
    """Compare two releases of one statistic, such as those of two years.

    Parameters
    ----------
    first, second
        The releases. Both have the same statistic and count the same unit; with groups, the same
        keys. Records may be in both.
    confidence
        Each interval of the comparison holds with at least this probability. None: the confidence
        of the releases, or 0.95 if they have no intervals. The interval ends of quantiles were
        drawn, so their confidence cannot be chosen here.

    Returns
    -------
    Comparison
        `difference`, `low`, `high` and `ratio`; lists if the releases have groups.

    Privacy
    -------
    Computed from releases: post-processing at no cost.

    Utility
    -------
    For counts with the same noise the interval is about 1.4 times as wide as that of one count.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), proposition 2.1:
    post-processing; `docs/explanation/intervals.md`, "Comparisons".

    Examples
    --------
    >>> import duffdp
    >>> given = {"epsilon": 1, "bounds": (0, 100), "interval": 0.95}
    >>> change = duffdp.compare(duffdp.mean([60] * 900, **given), duffdp.mean([40] * 900, **given))
    >>> change.low < 20 < change.high, change.exact
    (True, True)
    """
    for release in (first, second):
        if not isinstance(release, Release):
            raise DuffError(
                f"compare needs two releases, got {type(release).__name__}. To compare groups of a "
                'table, call for example table.compare("age_median", "north", "south").'
            )
        if len(release.columns[:: columns_per_number(release.facts.interval)]) != 1:
            raise DuffError(
                f"compare needs releases with one number, got {release.statistic}. Release that "
                "number alone, or compare columns of a table."
            )
    if (first.statistic, first.counted) != (second.statistic, second.counted):
        raise DuffError(
            f"compare needs two releases of the same statistic, got {first.statistic} and "
            f"{second.statistic}, of {first.counted or 'values'} and {second.counted or 'values'}."
        )
    if (first.by, list(first.keys)) != (second.by, list(second.keys)):
        raise DuffError("compare needs releases of the same groups. Pass the same by and keys.")
    pairs = list(zip(release_numbers(first, 0), release_numbers(second, 1), strict=True))
    groups = [", ".join(map(as_text, key)) for key in first.keys]
    return comparison(("first", "second"), groups, pairs, confidence, first.title)


def release_numbers(release: Release, source: int) -> list[ComparedNumber]:
    """The first number of every group of a release, ready to be compared."""
    kind = release.columns[0].kind
    unknown: list[Sequence[int] | None] = [None] * len(release.cells)
    noisy = unknown if release.noisy is None else release.noisy
    return [
        ComparedNumber(row[0], release.facts, 0, numbers, frozenset({(source, i)}), kind)
        for i, (row, numbers) in enumerate(zip(release.estimates(), noisy, strict=True))
    ]


def comparison(
    names: tuple[str, str],
    groups: Sequence[str],
    pairs: Sequence[tuple[ComparedNumber, ComparedNumber]],
    confidence: float | None,
    title: str,
    unit: str = "",
    wording: Wording = PLAIN,
) -> Comparison:
    """The comparison of pairs of numbers of the same two kinds."""
    first, second = pairs[0]
    _check(first, second)
    rate, is_exact = _failure_rate(first, second, confidence)
    differences = [_difference(one, two, rate) for one, two in pairs]
    estimates = [
        Estimate(one.difference, one.low, one.high, one.difference is None) for one in differences
    ]
    form = number_format(estimates, first.kind, first.facts.domain, unit)
    form = form._replace(marks=wording.marks)
    level = None if rate is None else float(1 - rate)
    return Comparison(names, groups, differences, level, is_exact, form, title, wording)


def ranking(
    name: str,
    keys: Sequence[Any],
    labels: Sequence[str],
    numbers: Sequence[ComparedNumber],
    form: NumberFormat,
    confidence: float | None,
    wording: Wording = PLAIN,
) -> Ranking:
    """The order of numbers, the largest first; a withheld number has no place."""
    first = numbers[0]
    _check(first, first)
    simultaneous = True
    level: float | None = None
    if first.noisy is not None:
        rate = _requested_rate(first, confidence)
        level = float(1 - rate)
        ends = [number.ends(rate / len(numbers)) for number in numbers]
    else:
        _refuse_confidence(confidence)
        ends = [(number.estimate.low, number.estimate.high) for number in numbers]
        interval = first.facts.interval
        simultaneous = interval is not None and interval.simultaneous
        pair_rate = (1 if simultaneous else 2) * (first.failure_rate or 0)
        level = None if interval is None else float(max(Fraction(0), 1 - pair_rate))
    placed_groups = []
    for key, label, number, end in zip(keys, labels, numbers, ends, strict=True):
        value, (low, high) = number.estimate.value, end or (None, None)
        if value is not None:
            placed_groups.append((key, label, value, *_holding(low, high, value)))
    placed_groups.sort(key=lambda group: group[2], reverse=True)
    groups = []
    for i, (key, label, value, low, high) in enumerate(placed_groups):
        other_intervals = [(group[3], group[4]) for j, group in enumerate(placed_groups) if j != i]
        above = sum(1 for other in other_intervals if low is not None and other[0] > high)
        below = sum(1 for other in other_intervals if low is not None and other[1] < low)
        last = len(placed_groups) - below
        groups.append(RankedGroup(key, value, low, high, i + 1, above + 1, last, label))
    return Ranking(name, groups, level, simultaneous, form, wording)


def _is_above(first: RankedGroup, second: RankedGroup) -> bool:
    return first.low is not None and second.high is not None and first.low > second.high


def _check(first: ComparedNumber, second: ComparedNumber) -> None:
    """Refuse numbers that have no difference."""
    facts = first.facts
    if first.kind == "distribution" or (
        facts.domain.kind == "category" and first.kind == "candidate"
    ):
        raise DuffError(f"{facts.statistic} has no difference, because its values are not numbers.")
    covers = {one.facts.interval.covers for one in (first, second) if one.facts.interval}
    if len(covers) > 1:
        raise DuffError(
            "compare needs intervals with the same target, got those of the data and of the "
            "population. Release both with the same covers."
        )


def _failure_rate(
    first: ComparedNumber, second: ComparedNumber, confidence: float | None
) -> tuple[Fraction | None, bool]:
    """The probability that an interval of a comparison fails, and whether noise decides it."""
    if first.noisy is not None and second.noisy is not None:
        return _requested_rate(first, confidence), True
    _refuse_confidence(confidence)
    rates = first.failure_rate, second.failure_rate
    if rates[0] is None or rates[1] is None:
        return None, False
    (source,), (other,) = ({at for at, _ in number.draws} for number in (first, second))
    interval = first.facts.interval
    assert interval is not None
    together = source == other and interval.simultaneous
    rate = rates[0] if together else rates[0] + rates[1]
    return (rate, False) if rate < 1 else (None, False)


def _requested_rate(number: ComparedNumber, confidence: float | None) -> Fraction:
    if confidence is not None:
        return 1 - exact(CONFIDENCE.read(confidence))
    return number.failure_rate or 1 - exact(DEFAULT_CONFIDENCE)


def _refuse_confidence(confidence: float | None) -> None:
    if confidence is not None:
        raise DuffError(
            "the confidence cannot be chosen here, because it follows from the intervals of the "
            "releases. Leave confidence out, or release again with another interval."
        )


def _difference(first: ComparedNumber, second: ComparedNumber, rate: Fraction | None) -> Difference:
    """The difference of two numbers with ends that fail with this probability."""
    one, two = first.estimate.value, second.estimate.value
    if one is None or two is None:
        return Difference(one, two)
    ends = None if rate is None else _both_ends(first, second, rate)
    ratios = _ratios(one, two, ends)
    if rate is None or ends is None:
        return Difference(one, two, one - two, None, None, *ratios)
    reach = first.reach(second, rate)
    if reach is None:
        low = _outward(ends[0][0], ends[1][1], -math.inf)
        high = _outward(ends[0][1], ends[1][0], math.inf)
    else:
        noisy_difference = first.center - second.center
        low, high = (
            _outward(noisy_difference, reach, -math.inf),
            _outward(noisy_difference, -reach, math.inf),
        )
    low, high = _holding(low, high, one - two)
    return Difference(one, two, one - two, low, high, *ratios)


def _both_ends(
    first: ComparedNumber, second: ComparedNumber, rate: Fraction
) -> tuple[tuple[Any, Any], tuple[Any, Any]] | None:
    """Ends of both numbers that hold together; None if one has none."""
    ends = []
    for number in (first, second):
        if first.noisy is not None and second.noisy is not None:
            pair = number.ends(rate / 2)
            assert pair is not None
        else:
            pair = number.estimate.low, number.estimate.high
        if pair[0] is None:
            return None
        ends.append(pair)
    return ends[0], ends[1]


def _ratios(
    one: Any, two: Any, ends: tuple[tuple[Any, Any], tuple[Any, Any]] | None
) -> tuple[float | None, float | None, float | None]:
    """The ratio of two numbers above 0, and its ends."""
    if not all(isinstance(value, int | float | Decimal) and value > 0 for value in (one, two)):
        return None, None, None
    ratio = float(Fraction(one) / Fraction(two))
    if ends is None:
        return ratio, None, None
    (low, high), (other_low, other_high) = ends
    if low < 0 or other_low < 0:
        return None, None, None
    least = float(Fraction(low) / Fraction(other_high)) if other_high > 0 else 0.0
    greatest = float(Fraction(high) / Fraction(other_low)) if other_low > 0 else math.inf
    least, greatest = max(0.0, math.nextafter(least, -1)), math.nextafter(greatest, math.inf)
    return ratio, min(least, ratio), max(greatest, ratio)


def _outward(one: Any, two: Any, towards: float) -> Any:
    """The difference of two ends, not rounded inward."""
    difference = one - two
    return math.nextafter(difference, towards) if isinstance(difference, float) else difference


def _holding(low: Any, high: Any, value: Any) -> tuple[Any, Any]:
    """Ends that hold the printed value, which may have been moved to be 0 or to add up."""
    return (None, None) if low is None else (min(low, value), max(high, value))


def _zero_like(value: object) -> Any:
    return dt.timedelta(0) if isinstance(value, dt.timedelta) else 0


def _ratio_text(difference: Difference, to: str) -> str:
    if difference.ratio is None:
        return ""
    if difference.ratio_low is None or difference.ratio_high is None:
        return f"{difference.ratio:.3g}"
    high = "any" if math.isinf(difference.ratio_high) else f"{difference.ratio_high:.3g}"
    return f"{difference.ratio:.3g} ({difference.ratio_low:.3g} {to} {high})"
