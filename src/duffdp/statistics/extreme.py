"""The least and the largest record, aimed at from inside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from duffdp.domain import Ordered
from duffdp.engines.source import Source
from duffdp.errors import DuffError
from duffdp.parameters import read_epsilon, read_q
from duffdp.statistics.quantile import Quantile
from duffdp.steps import Batch, StepFunction

BEYOND = 1 / 50  # how often an answer may lie beyond all records


class Extreme:
    """The minimum or the maximum, by the record that a few others lie beyond.

    Every candidate beyond the largest record is one record away from being the maximum, however
    far it is, so that most answers would be anywhere up to the bound. The record with `inside`
    others beyond it is a better target: an answer beyond all records is that far from it.

    Parameters
    ----------
    q
        0 or 1.
    epsilon
        What the draw may cost.

    Privacy
    -------
    `inside` follows from epsilon and the number of candidates, which are public. The distance is
    that of an order statistic: it changes by at most 1 when one record joins or leaves, and needs
    the rate 1/2 (`tests/extreme_test.py`).

    Utility
    -------
    With more than `inside` records an answer lies beyond all of them at most one time in fifty.
    With fewer it lies near the other bound.

    References
    ----------
    `docs/theory.md`, "The least and the largest record".

    Examples
    --------
    >>> from duffdp import Grid
    >>> Extreme(1, epsilon=1).inside(Grid(0, 120, 1)), Extreme(1, epsilon=20).inside(Grid(0, 9, 1))
    (17, 0)
    """

    rate = Fraction(1, 2)
    uneven = True

    def __init__(self, q: Any, epsilon: Any) -> None:
        self.q, self.epsilon = read_q(q), read_epsilon(epsilon)
        if self.q not in (0, 1):
            raise DuffError(f"q must be 0 or 1, got {q!r:.40}. Use Quantile for others.")

    def inside(self, domain: Ordered) -> int:
        """How many records may lie beyond the one that is aimed at."""
        nats = math.log(domain.size / BEYOND)
        return max(0, math.ceil(nats / float(self.rate * self.epsilon)) - 1)

    def steps(self, values: Any, domain: Ordered) -> StepFunction:
        """The distance of every candidate of the domain."""
        return self._aimed_at(domain).steps(values, domain)

    def windows(self, columns: Sequence[Source], domain: Ordered, max_distance: float) -> Batch:
        """The candidates up to about the distance `max_distance`, and the rest as tails."""
        return self._aimed_at(domain).windows(columns, domain, max_distance)

    def _aimed_at(self, domain: Ordered) -> Quantile:
        return Quantile(self.q, "signed", self.inside(domain))

    def __repr__(self) -> str:
        return f"Extreme({self.q}, epsilon={float(self.epsilon):g})"


class ExtremeAtAnyEpsilon:
    """The minimum or the maximum, before it is known what the draw may cost."""

    rate = Extreme.rate

    def __init__(self, q: Fraction) -> None:
        self.q = q

    def at(self, epsilon: Fraction) -> Extreme:
        """The statistic for a draw that may cost so much."""
        return Extreme(self.q, epsilon)
