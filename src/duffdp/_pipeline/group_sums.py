"""Sums over groups, made of drawn numbers: unbiased, with intervals, and free of cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duffdp._facts import Facts
from duffdp._pipeline.draw_plan import DrawPlan
from duffdp._pipeline.estimates import columns_per_number
from duffdp._pipeline.released_values import CellRow
from duffdp.ledger.charge import Result
from duffdp.mechanisms import mechanism_class
from duffdp.statistics.histogram import projected
from duffdp.statistics.registry import statistic_spec
from duffdp.statistics.spec import DrawSettings, IntervalSpec


def noisy_numbers(plan: DrawPlan, facts: Facts, result: Result) -> Sequence[Sequence[int]] | None:
    """The drawn numbers of groups whose values add up; None for other releases, where values of
    small groups are withheld, and for counts that found their keys: these are too large on average.
    """
    if not facts.by or not plan.spec.additive or facts.suppression is not None:
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
    spec, domain = statistic_spec(facts.statistic.name), facts.domain
    parameters = spec.checked(facts.statistic.parameters)
    settings = DrawSettings(facts.mechanism.asked, domain, facts.row_epsilon)
    if facts.interval is None:
        program = spec.program(parameters, settings)
    else:
        simultaneous = facts.interval.simultaneous
        interval = IntervalSpec(
            (1 - facts.interval.confidence) / (margin_groups if simultaneous else 1),
            facts.interval.covers,
            simultaneous,
            facts.row_epsilon,
            lambda name, epsilon: mechanism_class(name)(epsilon),
            summands=max(1, len(noisy)),
        )
        program = spec.interval_program(parameters, settings, interval)
    sums = [sum(column) for column in zip(*noisy, strict=True)] or [0] * len(program.columns)
    if program.post_process is None:  # a count
        return tuple(max(0, number) for number in sums)
    return tuple(program.post_process.values(domain, sums))


def counts_that_add_up(
    facts: Facts, rows: Sequence[CellRow], noisy: Sequence[Sequence[int]]
) -> list[CellRow]:
    """Counts of groups, of 0 and more, that add up to the sum of the counts as drawn: the closest
    ones by least squares. Intervals are widened to hold them. Other numbers stay as they are.
    """
    parameters = facts.statistic.parameters
    counts = statistic_spec(facts.statistic.name).makes_domain
    if not counts or parameters.get("adds_up") or parameters.get("nonnegative") is False:
        return list(rows)
    step = columns_per_number(facts.interval)
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
    for i, drawn in enumerate(zip(*noisy, strict=True)):
        values = projected(drawn)
        columns[step * i] = values
        if step > 1:
            low, high = step * i + 1, step * i + 2
            columns[low] = list(map(min, columns[low], values))
            columns[high] = list(map(max, columns[high], values))
    return list(zip(*columns, strict=True))
