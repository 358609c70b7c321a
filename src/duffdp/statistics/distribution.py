"""Whole distribution: counts of cells that are narrow where there are many records.

Noisy counts of one stage decide where the cells of the next one lie.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import NamedTuple

from duffdp._engines.requests import BinCounts, Inquiry, ask
from duffdp._parameters import BAND_CONFIDENCE, Choice
from duffdp.domain import PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.statistics.cells import Cells
from duffdp.statistics.program import (
    DrawSpec,
    OutputColumn,
    PostProcess,
    ProgramRun,
    ReleaseProgram,
)
from duffdp.statistics.spec import DrawSettings, Parameters, StatisticSpec
from duffdp.statistics.statistic import Scope, TotalsStatistic

MAX_COUNTED_CANDIDATES = 2**9 + 1  # up to so many, each candidate is a cell


class NoisyCells(NamedTuple):
    """Noisy cells of a distribution: the last candidate of each cell, noisy counts,
    the epsilon of their noise, the confidence of the band and the rows of a person.
    """

    ends: Sequence[int]
    counts: Sequence[int]
    epsilon: Fraction
    confidence: Fraction
    contributions: int


class Stage(NamedTuple):
    """A stage of counts, which shows where to count more finely next."""

    cells: int
    share: Fraction  # of epsilon
    ignored: int  # noise that counts for nothing, in multiples of its scale
    evenly: int  # twentieths of the records that are spread over all cells, whatever is counted


#: By measurement (`python -m benchmarks.distribution`).
STAGES = (
    Stage(64, Fraction(1, 8), 1, 2),
    Stage(256, Fraction(1, 16), 3, 10),
    Stage(256, Fraction(1, 16), 3, 10),
)
LAST_SHARE = 1 - sum((stage.share for stage in STAGES), Fraction(0))
# Noise scales, below which no count of the first cells stands out: then later stages would follow
# noise, and the first cells are counted again with all that is left. Of 64 empty cells one exceeds
# this about one time in a hundred (`python -m benchmarks.distribution_few`).
MIN_CELL_WEIGHT = 8
UNNARROWED_SHARE = 1 - STAGES[0].share
MIN_FINAL_CELLS, MAX_FINAL_CELLS = 32, 1024  # of the last stage


@dataclass(frozen=True, slots=True)
class CountsBetween(TotalsStatistic):
    """The number of records from each of some candidates to the next.

    Parameters
    ----------
    starts
        The first candidate of each cell, in order, beginning with 0.

    Privacy
    -------
    One record is in one cell, so all numbers together change by 1 when it is added or removed.
    Cells that follow from noisy counts depend on private numbers and public facts, so the epsilons
    of stages add up. Not private without noise.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1; `docs/explanation/distribution.md`.
    """

    starts: tuple[int, ...]

    def totals(self, domain: PublicSet) -> Inquiry[list[tuple[int, ...]]]:
        """The numbers of every group, cell by cell."""
        counts = yield from ask(BinCounts(self.starts))
        return [tuple(cells.tolist()) for cells in counts]

    def sensitivity(self, domain: PublicSet) -> int:
        """The most by which one record moves all numbers together."""
        return 1


def narrow(draws: Sequence[DrawSpec], scope: Scope, epsilon: Fraction) -> ProgramRun:
    """Count cells of one width, then cells that are narrow where earlier counts say that records
    are; the counts of the last cells are the distribution. Groups of few records have the first
    cells in the last stage, and its epsilon and that of the stages between.
    """
    size, last = scope.domain.size, len(draws) - 1
    numbers = yield [draws[0].draw(epsilon, CountsBetween(first_cells(size)))]
    columns = list(numbers[0])
    few = [has_few_records(row, epsilon) for row in zip(*columns, strict=True)]
    extra = epsilon * (UNNARROWED_SHARE - LAST_SHARE)
    for stage, draw in enumerate(draws[1:], 1):
        rows = zip(*columns, strict=True)
        cells = [
            None
            if is_few and stage < last
            else CountsBetween(tuple(cells_of(row, epsilon, size, stage))[-1])
            for row, is_few in zip(rows, few, strict=True)
        ]
        unspent = [extra if is_few and stage == last else Fraction(0) for is_few in few]
        numbers = yield [draw.draw(epsilon, cells, unspent)]
        columns += numbers[0]
    return columns


def has_few_records(numbers: Sequence[int], epsilon: Fraction) -> bool:
    """True if no count of the first cells clearly exceeds its noise; `numbers` begin with them."""
    largest = max(numbers[: STAGES[0].cells])
    return largest * epsilon * STAGES[0].share < MIN_CELL_WEIGHT


def first_cells(size: int) -> tuple[int, ...]:
    """The first candidates of cells of the same width."""
    cells = STAGES[0].cells
    return tuple(sorted({i * size // cells for i in range(cells)}))


def cells_of(
    numbers: Sequence[int], epsilon: Fraction, size: int, stages: int = len(STAGES)
) -> Iterator[tuple[int, ...]]:
    """The cells of the first stage, of the next one, and so on, by their first candidates; for few
    records those of the first stage alone.

    `numbers` are those of all stages before, each filled up to its number of cells.
    """
    starts, begin = first_cells(size), 0
    yield starts
    if has_few_records(numbers, epsilon):
        return
    records = max(1, sum(numbers[: len(starts)]))
    following = [*(stage.cells for stage in STAGES[1:]), _final_cells(records * epsilon)]
    for stage, cells in zip(STAGES[:stages], following, strict=False):
        counts = numbers[begin : begin + len(starts)]
        begin += stage.cells
        ignored = math.ceil(stage.ignored / (epsilon * stage.share))
        weights = [
            20 * len(starts) * max(0, count - ignored) + stage.evenly * records for count in counts
        ]
        starts = _divided(starts, size, weights, cells)
        yield starts


def _divided(
    starts: Sequence[int], size: int, weights: Sequence[int], cells: int
) -> tuple[int, ...]:
    """Cells of about the same weight, as if it were spread evenly within each of the old ones;
    beside them one for each bound, where the records outside of the bounds count.
    """
    before = [0, *accumulate(weights)]
    widths = [b - a for a, b in pairwise((*starts, size))]
    new_starts = {0, 1, size - 1}
    cells -= 2
    for cell in range(1, cells):
        place = cell * before[-1]  # in parts of a weight, as many as there are cells
        i = bisect_right(before, place // cells) - 1
        along = (place - cells * before[i]) * widths[i] // (cells * weights[i])
        new_starts.add(starts[i] + along)
    return tuple(sorted(new_starts))


def _final_cells(weight: Fraction) -> int:
    """Ten times the third root of records times epsilon: what a cell hides is about as much then
    as the noise of all cells before it.
    """
    cells = MIN_FINAL_CELLS
    while cells < MAX_FINAL_CELLS and (cells + 1) ** 3 <= 1000 * weight:
        cells += 1
    return cells


def _names(stage: int, cells: int) -> tuple[str, ...]:
    return tuple(f"stage_{stage}_cell_{cell}" for cell in range(cells))


class DistributionSpec(StatisticSpec):
    """The whole distribution of a column, with a band around it."""

    name = "distribution"
    parameters = (BAND_CONFIDENCE,)
    choices = ("best",)
    shape = "distribution"
    no_interval_reason = (
        "a distribution has a confidence band instead. Pass confidence for the band"
    )
    can_be_planned = False

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        """A count of each candidate, or of cells that become narrower where records are."""
        epsilon, noise = settings.epsilon, "two-sided-geometric"
        band = (BAND_CONFIDENCE.of(parameters), settings.contributions)

        def values(domain: PublicSet, numbers: Sequence[int]) -> list[NoisyCells]:
            if domain.size <= MAX_COUNTED_CANDIDATES:
                return [NoisyCells(range(domain.size), numbers, epsilon, *band)]
            *_, starts = cells_of(numbers, epsilon, domain.size)
            begin = sum(stage.cells for stage in STAGES)
            counts = numbers[begin : begin + len(starts)]
            ends = [*(start - 1 for start in starts[1:]), domain.size - 1]
            share = UNNARROWED_SHARE if has_few_records(numbers, epsilon) else LAST_SHARE
            return [NoisyCells(ends, counts, epsilon * share, *band)]

        release = PostProcess(lambda _: (OutputColumn("distribution", "distribution"),), values)
        if settings.domain.size <= MAX_COUNTED_CANDIDATES:
            return ReleaseProgram((DrawSpec(Cells(), noise, ("cells",)),), post_process=release)
        stages = [
            DrawSpec(None, noise, _names(place, stage.cells), stage.share, "narrowing")
            for place, stage in enumerate(STAGES)
        ]
        last = DrawSpec(None, noise, _names(len(STAGES), MAX_FINAL_CELLS), LAST_SHARE)
        return ReleaseProgram((*stages, last), narrow, release, forwards_epsilon=True)

    def step_rule(self, choice: Choice) -> StepRule:
        return "order"


SPECS = (DistributionSpec(),)
