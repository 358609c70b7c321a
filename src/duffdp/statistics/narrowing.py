"""Cells that are narrow where records are: counts with noise decide where the next ones lie."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import NamedTuple

from duffdp.domain import PublicSet
from duffdp.engines.source import Source


class Stage(NamedTuple):
    """Counts that tell where to look closer."""

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
FEWEST, MOST = 32, 1024  # cells in the end


@dataclass(frozen=True, slots=True)
class FirstCells:
    """The number of records in each of 64 cells of the same width.

    Privacy
    -------
    One record lies in one cell, so that all numbers together move by 1 when it joins or leaves. Not
    private by themselves: noise goes on top.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1; `docs/distribution.md`.
    """

    epsilon: Fraction

    def starts(self, size: int) -> tuple[int, ...]:
        """The first candidate of each cell."""
        cells = STAGES[0].cells
        return tuple(sorted({i * size // cells for i in range(cells)}))

    def totals(self, column: Source, domain: PublicSet) -> tuple[int, ...]:
        """The numbers of one group, cell by cell."""
        return tuple(column.within(self.starts(domain.size), of_all_groups=True))

    def sensitivity(self, domain: PublicSet) -> int:
        """How much one record moves all of them together."""
        return 1


@dataclass(frozen=True, slots=True)
class NarrowerCells:
    """The same in cells that follow from the noisy numbers of earlier ones.

    Parameters
    ----------
    epsilon
        What a row may cost, over all stages.
    stage
        How many stages come before.
    numbers
        What they gave.

    Privacy
    -------
    The cells depend on private numbers and on what is public. Given these, one record lies in one
    cell: stages add up.
    """

    epsilon: Fraction
    stage: int
    numbers: tuple[int, ...] = ()

    def given(self, numbers: Sequence[int], domain: PublicSet, epsilon: Fraction) -> NarrowerCells:
        """After the numbers of earlier stages."""
        return replace(self, numbers=tuple(numbers))

    def starts(self, size: int) -> tuple[int, ...]:
        """The first candidate of each cell."""
        return list(cells_of(self.numbers, self.epsilon, size, self.stage))[-1]

    def totals(self, column: Source, domain: PublicSet) -> tuple[int, ...]:
        """The numbers of one group, cell by cell."""
        return tuple(column.within(self.starts(domain.size), of_all_groups=False))

    def sensitivity(self, domain: PublicSet) -> int:
        """How much one record moves all of them together."""
        return 1


def cells_of(
    numbers: Sequence[int], epsilon: Fraction, size: int, stages: int = len(STAGES)
) -> Iterator[tuple[int, ...]]:
    """The cells of the first stage, of the next one, and so on, by their first candidates.

    `numbers` are those of all stages before, each filled up to its number of cells.
    """
    starts, begin = FirstCells(epsilon).starts(size), 0
    yield starts
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
    found = {0, 1, size - 1}
    cells -= 2
    for cell in range(1, cells):
        place = cell * before[-1]  # in parts of a weight, as many as there are cells
        i = bisect_right(before, place // cells) - 1
        along = (place - cells * before[i]) * widths[i] // (cells * weights[i])
        found.add(starts[i] + along)
    return tuple(sorted(found))


def _final_cells(weight: Fraction) -> int:
    """Ten times the third root of records times epsilon: what a cell hides is about as much then
    as the noise of all cells before it.
    """
    cells = FEWEST
    while cells < MOST and (cells + 1) ** 3 <= 1000 * weight:
        cells += 1
    return cells
