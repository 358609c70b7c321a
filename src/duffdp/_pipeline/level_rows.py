"""Numbers of groups on several levels, estimated together so that they add up.

Promise: Rows of larger groups are computed from drawn numbers and public facts alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain, pairwise

from duffdp._facts import Facts
from duffdp._parameters import Groups
from duffdp._pipeline.draw_plan import known_noise
from duffdp._pipeline.group_sums import (
    cells_of,
    noise_draw,
    noise_spec,
    numbers_per_group,
    value_columns,
    without_zeros,
)
from duffdp._pipeline.group_tree import ErrorWeights, GroupEstimator, GroupTree
from duffdp._pipeline.released_values import CellRow
from duffdp.domain import Grid
from duffdp.mechanisms.weighted_noises import NoiseSum, WeightedNoise, ratio_tilts
from duffdp.statistics.noise_interval import RatioEnds, around_value, sensitivity_of
from duffdp.statistics.registry import statistic_spec
from duffdp.statistics.spec import IntervalSpec

GroupLevel = tuple[Groups, Sequence[int]]  # groups, and to which of them each key belongs
Numbers = Sequence[Sequence[int]]  # for each group the drawn numbers
MAX_DENOMINATOR = 1000  # of relative variances: close ones weigh as well, and stay small numbers
MIN_NOISE_VARIANCE = 1e-200  # below, doubles have none: with a huge epsilon
NoiseKey = tuple[str, Fraction, Fraction, int]  # mechanism, epsilon, weight and how often


def adds_up(facts: Facts) -> bool:
    """True if the numbers of groups add up to those of larger groups, which then need no draw."""
    spec = statistic_spec(facts.statistic.name)
    return spec.adds_up(facts.mechanism.asked) and facts.suppression is None


def tree_of(levels: Sequence[GroupLevel]) -> GroupTree | None:
    """The tree of the groups of a table and its margins; None where margins cross each other."""
    margins = [groups.by for groups, _ in levels]
    if any(not set(above) < set(below) for below, above in pairwise(margins)):
        return None
    return GroupTree.of_places([places for _, places in levels[1:]])


def rows_of_levels(
    tree: GroupTree, facts: Sequence[Facts | None], drawn: Sequence[Numbers | None]
) -> list[CellRow]:
    """The cells of all groups, level by level, from the numbers that were drawn on some levels, the
    lowest among them; None on the others.
    """
    lowest = facts[0]
    assert lowest is not None
    width = numbers_per_group(lowest)
    estimator = GroupEstimator(tree, relative_variances(facts))
    columns = [
        [None if numbers is None else [row[i] for row in numbers] for numbers in drawn]
        for i in range(width)
    ]
    estimates = [estimator.estimates(column) for column in columns]
    whole = [estimator.whole(column, _least(lowest)) for column in estimates]
    rows = []
    for level, size in enumerate(tree.sizes):
        for group in range(size):
            values = [column[level][group] for column in whole]
            if lowest.interval is None:
                rows.append(cells_of(lowest, values))
                continue
            centers = [column[level][group] for column in estimates]
            spec = _guarantee(lowest, size)
            noises = _noises(facts, estimator.error_weights(level, group))
            with_ends = _ratio_with_ends if is_ratio(lowest) else _with_ends
            rows.append(with_ends(lowest, values, centers, noises, spec))
    return rows


def relative_variances(facts: Sequence[Facts | None]) -> list[Fraction | None]:
    """The variance of a draw on each level, in those of the lowest level, nearly."""
    lowest = facts[0]
    assert lowest is not None
    draw = noise_draw(lowest)
    sensitivity = sensitivity_of(draw, lowest.domain)

    def variance(one: Facts) -> Fraction:
        noise = known_noise(draw.mechanism, one.row_epsilon)
        return Fraction(max(noise.variance(sensitivity), MIN_NOISE_VARIANCE))

    unit, least = variance(lowest), Fraction(1, MAX_DENOMINATOR)
    return [
        None
        if one is None
        else max(least, (variance(one) / unit).limit_denominator(MAX_DENOMINATOR))
        for one in facts
    ]


def is_ratio(facts: Facts) -> bool:
    """True if a value is made of both numbers of its group."""
    return statistic_spec(facts.statistic.name).is_ratio_of_counts


def _guarantee(lowest: Facts, groups: int) -> IntervalSpec:
    """The guarantee of the intervals of one group on a level with so many."""
    assert lowest.interval is not None
    simultaneous = lowest.interval.simultaneous
    rate = (1 - lowest.interval.confidence) / (groups if simultaneous else 1)
    return noise_spec(lowest, rate, 1, simultaneous)


def _noises(facts: Sequence[Facts | None], weights: ErrorWeights) -> tuple[NoiseKey, ...]:
    """The noises in an estimate with these error weights. They are symmetric, so signs of weights
    do not matter.
    """
    noises = []
    for (at, weight), times in sorted(weights.items()):
        one = facts[at]
        assert one is not None
        noises.append((noise_draw(one).mechanism, one.row_epsilon, abs(weight), times))
    return tuple(noises)


def expected_errors(tree: GroupTree, facts: Sequence[Facts | None], group_size: int) -> list[float]:
    """For each level the expected error of the first number of its group with the most parts, in
    units of the release. Every part on the lowest level has `group_size` records; a share is one
    close to 0 or 1, which errs most.
    """
    lowest = facts[0]
    assert lowest is not None
    sensitivity = sensitivity_of(noise_draw(lowest), lowest.domain)
    estimator, errors = GroupEstimator(tree, relative_variances(facts)), []
    for level, sizes in enumerate(tree.leaf_counts):
        largest = max(range(len(sizes)), key=sizes.__getitem__)
        weights = estimator.error_weights(level, largest)
        total = NoiseSum(_weighted(_noises(facts, weights)), sensitivity)
        error = total.expected_size() * sensitivity
        if is_ratio(lowest):
            error = min(1.0, error / (group_size * sizes[largest]))
        elif isinstance(lowest.domain, Grid):
            error *= float(lowest.domain.multiple(1))
        errors.append(error)
    return errors


@lru_cache(maxsize=1024)  # groups of the same shape have the same errors, in every format again
def largest_error(
    noises: tuple[NoiseKey, ...], sensitivity: int, failure_rate: Fraction
) -> Fraction:
    """The size of a weighted sum of noises that is exceeded with at most this probability."""
    return NoiseSum(_weighted(noises), sensitivity).largest(failure_rate)


@lru_cache(maxsize=1024)
def largest_tilts(
    noises: tuple[NoiseKey, ...], sensitivity: int, failure_rate: Fraction
) -> tuple[int, ...]:
    """Bounds on the noise of the ratio of two numbers that both have such weighted noises."""
    if len(noises) == 1:
        ((mechanism, epsilon, weight, times),) = noises
        if weight == times == 1:
            return known_noise(mechanism, epsilon).largest_tilts(sensitivity, failure_rate)
    return ratio_tilts(_weighted(noises), sensitivity, failure_rate)


def _weighted(noises: Sequence[NoiseKey]) -> list[WeightedNoise]:
    """The noises by their names."""
    return [
        WeightedNoise(known_noise(name, epsilon), weight, times)
        for name, epsilon, weight, times in noises
    ]


def _ratio_with_ends(
    facts: Facts,
    values: Sequence[int],
    centers: Sequence[Fraction],
    noises: tuple[NoiseKey, ...],
    spec: IntervalSpec,
) -> CellRow:
    """The ratio of two whole numbers with the ends that the noise of both estimates leaves."""
    draw = noise_draw(facts)
    sensitivity = sensitivity_of(draw, facts.domain)
    ends = RatioEnds(partial(largest_tilts, noises, sensitivity), sensitivity, spec)
    (value,), (column,) = cells_of(facts, values), value_columns(facts)
    return tuple(around_value(facts.domain, column, value, ends(*centers)))


def _with_ends(
    facts: Facts,
    values: Sequence[int],
    centers: Sequence[Fraction],
    noises: tuple[NoiseKey, ...],
    spec: IntervalSpec,
) -> CellRow:
    """Whole numbers with the ends of their intervals, moved to hold them."""
    sensitivity = sensitivity_of(noise_draw(facts), facts.domain)
    reach = largest_error(noises, sensitivity, spec.failure_rate_each(len(values)))
    lows = [math.ceil(center - reach) for center in centers]
    highs = [math.floor(center + reach) for center in centers]
    released, as_drawn = cells_of(facts, values), without_zeros(facts)
    lows = [_bounded(min(pair), facts) for pair in zip(lows, values, strict=True)]
    highs = [_bounded(max(pair), facts) for pair in zip(highs, values, strict=True)]
    low_ends = map(min, cells_of(as_drawn, lows), released)  # of a count that was set to 0: 0
    cells = zip(released, low_ends, cells_of(as_drawn, highs), strict=True)
    return tuple(chain.from_iterable(cells))


def _least(facts: Facts) -> int | None:
    """The least whole number that can be released; None if there is none."""
    if isinstance(facts.domain, Grid):  # a sum, of records that may all be 0 or more
        return 0 if facts.domain.units[0] >= 0 else None
    return None if facts.statistic.parameters.get("nonnegative") is False else 0


def _bounded(number: int, facts: Facts) -> int:
    least = _least(facts)
    return number if least is None else max(least, number)
