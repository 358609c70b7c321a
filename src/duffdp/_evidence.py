"""Evidence: the counts, sums or distances of each group that a mechanism receives. The input of a
mechanism, never part of a release.

Promise: Mechanisms receive these five types and nothing else; a sensitivity is declared beside the
numbers, and that of key counts is 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from duffdp._count_ladder import CountLadder
from duffdp._rank_profile import QuantileRanks
from duffdp._steps import AnswerFor, Windows
from duffdp.domain import Grid


@dataclass(frozen=True, slots=True)
class Totals:
    """Whole numbers of every group that get noise; one record moves those of its group by at most
    `sensitivity` in all.

    `places`: only the order of so many largest numbers is released.
    """

    numbers: Sequence[tuple[int, ...]]
    sensitivity: int
    places: int | None = None

    def answered_by(self, answer: AnswerFor) -> Totals:
        """This evidence, which asks for nothing more."""
        return self


@dataclass(frozen=True, slots=True)
class RankProfiles:
    """The ranks near several quantiles of every group, for a joint draw."""

    columns: Sequence[QuantileRanks]

    def answered_by(self, answer: AnswerFor) -> RankProfiles:
        """This evidence, able to look further while a number is drawn."""
        return RankProfiles(
            [replace(column, position=i, answer=answer) for i, column in enumerate(self.columns)]
        )


@dataclass(frozen=True, slots=True)
class Ladders:
    """A count of every group with its local sensitivities, on the grid from 0 to the largest."""

    ladders: Sequence[CountLadder]
    domain: Grid

    def windows(self, levels: int) -> Windows:
        """The candidates that so many changes reach."""
        return Windows.of([ladder.window(self.domain, levels) for ladder in self.ladders])

    def answered_by(self, answer: AnswerFor) -> Ladders:
        """This evidence, which asks for nothing more."""
        return self


@dataclass(frozen=True, slots=True)
class KeyCounts:
    """The number of records of every key that occurs, by its position among `size` possible keys;
    one record moves one of them by 1. Noisy counts of at least `threshold` are released.
    """

    counts: Mapping[int, int]
    size: int
    threshold: int

    def answered_by(self, answer: AnswerFor) -> KeyCounts:
        """This evidence, which asks for nothing more."""
        return self


Evidence = Windows | Totals | RankProfiles | Ladders | KeyCounts  # the last for found keys
