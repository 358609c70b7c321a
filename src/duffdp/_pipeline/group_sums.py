"""Sums over groups and other intervals computed from drawn numbers, at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from duffdp._facts import Facts, StatisticFact
from duffdp._parameters import ADDS_UP, NONNEGATIVE, ZERO_BELOW
from duffdp._pipeline.cross_counts import cross_counts
from duffdp._pipeline.draw_plan import DrawPlan, known_noise
from duffdp._pipeline.estimates import columns_per_number
from duffdp._pipeline.released_values import CellRow
from duffdp.ledger.charge import Result
from duffdp.statistics.cells import Cells
from duffdp.statistics.program import DrawSpec, OutputColumn, ReleaseProgram
from duffdp.statistics.registry import statistic_spec
from duffdp.statistics.spec import DrawSettings, IntervalSpec


def noisy_numbers(plan: DrawPlan, facts: Facts, result: Result) -> Sequence[Sequence[int]] | None:
    """The drawn numbers of a release whose intervals follow from its noise: counts, sums, shares,
    means.

    None for other releases, and where values of small groups are withheld. Also None for counts
    that found their keys, because these are too large on average.
    """
    spec = plan.spec
    by_noise = spec.has_interval(facts.mechanism.asked) and not spec.interval_costs_epsilon
    if not by_noise or facts.suppression is not None:
        return None
    if plan.finding is not None and plan.finding.counts_are_values:
        return None
    return result.numbers


def sum_of_groups(facts: Facts, noisy: Sequence[Sequence[int]], margin_groups: int) -> CellRow:
    """The cells of a margin from the drawn numbers of its groups.

    The noise of a sum is the sum of independent noises, so its distribution is known and an
    interval costs nothing. `margin_groups` is the number of groups of the margin, whose intervals
    may have to hold together.
    """
    sums = sums_of_noise(facts, noisy)
    if facts.interval is None:
        return _cells(facts, _program(facts), sums)
    simultaneous = facts.interval.simultaneous
    rate = (1 - facts.interval.confidence) / (margin_groups if simultaneous else 1)
    return _cells(facts, _program(facts, noise_spec(facts, rate, len(noisy), simultaneous)), sums)


def sums_of_noise(facts: Facts, noisy: Sequence[Sequence[int]]) -> list[int]:
    """The sums of the drawn numbers of groups, of which there may be none."""
    sums = [sum(column) for column in zip(*noisy, strict=True)]
    return sums or [0] * numbers_per_group(facts)


def ends_from_noise(
    facts: Facts, numbers: Sequence[int], summands: int, failure_rate: Fraction
) -> CellRow:
    """Values with ends that each fail with this probability, from the drawn numbers of one group,
    or from their sums over several groups.
    """
    return _cells(facts, _program(facts, noise_spec(facts, failure_rate, summands)), numbers)


def noise_spec(
    facts: Facts, failure_rate: Fraction, summands: int, simultaneous: bool = False
) -> IntervalSpec:
    """The guarantee of ends that follow from the noise of so many groups; without groups, the
    ends are those of one.
    """
    return IntervalSpec(
        failure_rate,
        "data" if facts.interval is None else facts.interval.covers,
        simultaneous,
        facts.row_epsilon,
        known_noise,
        summands=max(1, summands),
    )


def noise_draw(facts: Facts) -> DrawSpec:
    """The draw that a release with known noise consists of."""
    (draw,) = _program(facts).draws
    return draw


def numbers_per_group(facts: Facts) -> int:
    """The number of numbers drawn for each group."""
    draw = noise_draw(facts)
    return facts.domain.size if isinstance(draw.statistic, Cells) else len(draw.columns)


def cells_of(facts: Facts, numbers: Sequence[int]) -> CellRow:
    """The released values of whole numbers, without ends."""
    return _cells(facts, _program(facts), numbers)


def value_columns(facts: Facts) -> tuple[OutputColumn, ...]:
    """The columns of these values."""
    program = _program(facts)
    assert program.post_process is not None
    return program.post_process.columns(facts.domain)


def without_zeros(facts: Facts) -> Facts:
    """The facts of the same release without counts that are set to 0."""
    parameters = {**facts.statistic.parameters, ZERO_BELOW.name: None}
    return replace(facts, statistic=StatisticFact(facts.statistic.name, parameters))


def _program(facts: Facts, interval: IntervalSpec | None = None) -> ReleaseProgram:
    """The program of a release, with intervals if they are asked for."""
    spec = statistic_spec(facts.statistic.name)
    parameters = spec.checked(facts.statistic.parameters)
    settings = DrawSettings(facts.mechanism.asked, facts.domain, facts.row_epsilon)
    if interval is None:
        return spec.program(parameters, settings)
    return spec.interval_program(parameters, settings, interval)


def _cells(facts: Facts, program: ReleaseProgram, numbers: Sequence[int]) -> CellRow:
    """The released values of drawn numbers."""
    if program.post_process is None:  # a count
        return tuple(max(0, number) for number in numbers)
    return tuple(program.post_process.values(facts.domain, numbers))


def counts_that_add_up(
    facts: Facts,
    rows: Sequence[CellRow],
    noisy: Sequence[Sequence[int]],
    margins: Sequence[Sequence[int]],
) -> list[CellRow]:
    """The rows of groups and their margins with counts of 0 and more that add up: the closest ones
    to the counts as drawn, by least squares. Intervals are widened to hold them. Other numbers stay
    as they are, and so do counts that the statistic moved itself: to add up, or to 0.

    `margins` has the place of each group in the rows, the columns and the total of a cross table.
    """
    parameters, spec = facts.statistic.parameters, statistic_spec(facts.statistic.name)
    counts = spec.additive and spec.makes_domain
    moved = parameters.get(ADDS_UP.name) or parameters.get(ZERO_BELOW.name) is not None
    if not counts or moved or parameters.get(NONNEGATIVE.name) is False:
        return list(rows)
    step = columns_per_number(facts.interval)
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
    for i, noisy_row in enumerate(zip(*noisy, strict=True)):
        total = max(0, sum(noisy_row))
        crossed = cross_counts(noisy_row, margins[0], margins[1])
        if crossed is None:
            continue
        values = [*crossed.cells, *crossed.rows, *crossed.columns, total]
        columns[step * i] = values
        if step > 1:
            low, high = step * i + 1, step * i + 2
            columns[low] = list(map(min, columns[low], values))
            columns[high] = list(map(max, columns[high], values))
    return list(zip(*columns, strict=True))
