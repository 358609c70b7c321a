"""The entry of whole distributions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from duffdp.errors import DuffError
from duffdp.parameters import Choice, read_confidence
from duffdp.statistics.entry import Column, Entry, Finish, Parameters, Part
from duffdp.statistics.no_interval import BAND

if TYPE_CHECKING:
    from duffdp.domain import PublicSet

CONFIDENCE, MOST_CONFIDENCE = 0.95, 0.999
FEW_CANDIDATES = 2**9 + 1  # are all counted


class NoisyCells(NamedTuple):
    """What a distribution is made of, beside its domain: the last candidate of each cell, noisy
    counts, the epsilon of their noise, the confidence of the band and the rows of a person.
    """

    ends: Sequence[int]
    counts: Sequence[int]
    epsilon: Fraction
    confidence: Fraction
    contributions: int


def _read_confidence(confidence: Any) -> Fraction:
    read = Fraction(read_confidence(CONFIDENCE if confidence is None else confidence))
    if read > Fraction(str(MOST_CONFIDENCE)):
        raise DuffError(
            f"the confidence of a band is at most {MOST_CONFIDENCE}, got {confidence!r:.40}. Pass "
            "for example confidence=0.95."
        )
    return read


def _distribution(
    given: Parameters, choice: Choice, epsilon: Fraction, contributions: int, few: bool
) -> tuple[tuple[Part, ...], Finish]:
    """A count of each candidate, or of cells that become narrower where records are."""
    from duffdp.statistics.cells import Cells
    from duffdp.statistics.narrowing import (
        LAST_SHARE,
        MOST,
        STAGES,
        FirstCells,
        NarrowerCells,
        cells_of,
    )

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[NoisyCells]:
        known = (given["confidence"], contributions)
        if domain.size <= FEW_CANDIDATES:
            return [NoisyCells(range(domain.size), numbers, epsilon, *known)]
        *_, starts = cells_of(numbers, epsilon, domain.size)
        begin = sum(stage.cells for stage in STAGES)
        counts = numbers[begin : begin + len(starts)]
        ends = [*(start - 1 for start in starts[1:]), domain.size - 1]
        return [NoisyCells(ends, counts, epsilon * LAST_SHARE, *known)]

    finish = Finish(lambda _: (Column("distribution", "distribution"),), values)
    noise = "two-sided-geometric"
    if few:
        return (Part(Cells(), noise, ("cells",)),), finish
    parts = []
    for place, stage in enumerate(STAGES):
        cells = NarrowerCells(epsilon, place) if place else FirstCells(epsilon)
        parts.append(Part(cells, noise, _names(place, stage.cells), stage.share, "narrowing"))
    last = NarrowerCells(epsilon, len(STAGES))
    return (*parts, Part(last, noise, _names(len(STAGES), MOST), LAST_SHARE)), finish


def _names(stage: int, cells: int) -> tuple[str, ...]:
    return tuple(f"stage_{stage}_cell_{cell}" for cell in range(cells))


DISTRIBUTION = Entry(
    name="distribution",
    summary="A private distribution of a column: quantiles, shares and a band around them.",
    parts=lambda given, choice: _distribution(given, choice, Fraction(1), 1, False)[0],
    by_epsilon=_distribution,
    few=FEW_CANDIDATES,
    title=lambda _: "Distribution",
    step_rule=lambda _: "order",
    read={"confidence": _read_confidence},
    optional=frozenset({"confidence"}),
    shape="distribution",
    no_interval=BAND,
    choices=("best",),
)
