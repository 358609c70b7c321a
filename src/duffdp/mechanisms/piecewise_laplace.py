"""Piecewise Laplace noise: Laplace noise stretched along the rungs of a ladder.

Promise: Smoothed rungs of neighbors differ so little that the density changes by at most
exp(epsilon).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

from duffdp._count_ladder import CountLadder
from duffdp._evidence import Evidence, Ladders
from duffdp._privacy import LossFamily
from duffdp._sampling.entropy import Entropy, entropy
from duffdp._sampling.lazy_uniform import LazyUniform, decide
from duffdp.errors import DuffError
from duffdp.mechanisms.mechanism import Mechanism

MIN_RUNG_EPSILON = Fraction(1, 10**6)  # the number of rungs grows with 1 / epsilon
# Smoothed rungs grow by epsilon / GROWTH_DIVISOR at most; 1/6 of epsilon pays for it.
GROWTH_DIVISOR = 12
RUNG_BITS = 64  # rungs are smoothed in units of 2**-RUNG_BITS, rounded up
RUNG_CHUNK = 2**16  # rungs in memory at once


class PiecewiseLaplace(Mechanism):
    """Laplace noise whose scale grows with the local sensitivity, with about half the error of a
    ladder.

    The rungs I(0), I(1), ... of a ladder are its local sensitivities (see `duffdp.ladder`). They
    are smoothed, `J(k) = max(I(k), J(k+1) / (1 + epsilon/12))`, so J(k) and J(k+1) differ by
    little, as do those of neighboring data. Z has a Laplace distribution of rate `c = 5/6 epsilon`,
    and `k = floor(|Z|)`. The noise has the sign of Z and the size `J(0) + ... + J(k-1) + (|Z| - k)
    J(k)`. The count with this noise is rounded to a whole number and clamped to 0 .. largest.

    Parameters
    ----------
    epsilon
        The privacy loss.

    Methods
    -------
    draw, expected_error, median_error

    Privacy
    -------
    Pure epsilon-differential privacy for neighbors S, S' that differ in one edge or record. As on a
    ladder, one change moves the position |Z| of an output by at most 1: `J(k)(S) <= J(k+1)(S')` and
    `J(0) >= |T(S) - T(S')|`. So the levels k of an output differ by at most 1.

    Their rungs differ by at most a factor of `(1 + epsilon/12)^2`: `J(k+1)(S') <= J(k+2)(S) <= (1 +
    epsilon/12)^2 J(k)(S)`. The density `c/2 exp(-c |Z|) / J` changes by a factor of at most `exp(c)
    (1 + epsilon/12)^2 <= exp(epsilon)`. Rounding and clamping read no data
    (`tests/mechanisms/piecewise_laplace_test.py`: all graphs on up to 5 nodes). Draws are exact.

    Utility
    -------
    The expected error is `sum of J(k) exp(-c k) (1 - exp(-c)) / c`: about 1.2 I(0) / epsilon.

    Runtime
    -------
    A few additions per level up to the drawn level.

    References
    ----------
    Zhang et al. (SIGMOD 2015): ladders. Nissim, Raskhodnikova and Smith (STOC 2007): smoothing.
    Durfee (2025): piecewise Laplace noise over the reach of t changes. The proof for smoothed rungs
    is in `docs/explanation/graphs.md`.

    Examples
    --------
    >>> import duffdp
    >>> ladder = duffdp.statistics.Triangles(nodes=10).ladder([(0, 1), (1, 2), (0, 2)])
    >>> round(duffdp.mechanisms.PiecewiseLaplace(1.0).expected_error(ladder), 2)
    3.46
    """

    name: ClassVar[str] = "piecewise-laplace"
    loss_family: ClassVar[LossFamily] = "pure"

    def __init__(self, epsilon: Any) -> None:
        super().__init__(epsilon)
        if self._epsilon < MIN_RUNG_EPSILON:
            raise DuffError(
                f"epsilon must be at least {float(MIN_RUNG_EPSILON):g} here, got {epsilon!r:.40}. "
                "Pass for example epsilon=1.0."
            )
        self.rate = self._epsilon * Fraction(GROWTH_DIVISOR - 2, GROWTH_DIVISOR)

    def smoothed(self, ladder: CountLadder, levels: int) -> list[int]:
        """J(0) .. J(levels - 1) in units of 2**-64, exactly as the recursion from infinitely far
        gives them.
        """
        growth = 1 + self._epsilon / GROWTH_DIVISOR
        up, down = growth.numerator, growth.denominator
        # From `end` on the sensitivities themselves grow slowly enough: there J is I.
        end = max(levels, ladder.slow_from(growth))
        smooth: list[int] = []
        rung = 0
        for begin in range(end - end % RUNG_CHUNK, -1, -RUNG_CHUNK):
            rungs = ladder.sensitivity(begin, min(begin + RUNG_CHUNK, end + 1))
            for level in range(begin + len(rungs) - 1, begin - 1, -1):
                rung = max(rungs[level - begin] << RUNG_BITS, -(-rung * down // up))
                if level < levels:
                    smooth.append(rung)
        return smooth[::-1]

    def release(self, ladder: CountLadder, largest: int, source: Entropy) -> int:
        """One whole number from 0 to `largest`."""
        sign = source.below(2)

        def output_distance(uniform: LazyUniform) -> int | None:
            bounds = uniform.exponential()
            if bounds is None:
                return None
            low, high = (self._distance(ladder, bound / self.rate, largest) for bound in bounds)
            return low if low == high else None

        distance = decide(source, output_distance)
        return min(max(ladder.count + (distance if sign else -distance), 0), largest)

    def numbers(self, evidence: Evidence, source: Entropy) -> list[Sequence[int]]:
        """One column: a whole number for every group."""
        assert isinstance(evidence, Ladders)
        largest = evidence.domain.size - 1
        return [[self.release(ladder, largest, source) for ladder in evidence.ladders]]

    def draw(
        self, ladder: CountLadder, largest: int, size: int | None = None, rng: object = None
    ) -> int | list[int]:
        """One whole number from 0 to `largest`, or a list of `size` independent ones."""
        source = entropy(rng)
        if size is None:
            return self.release(ladder, largest, source)
        return [self.release(ladder, largest, source) for _ in range(size)]

    def _distance(self, ladder: CountLadder, place: Fraction, largest: int) -> int:
        """Distance of the output from the count, up to `largest`, for |Z| = place."""
        level = math.floor(place)
        smooth = self.smoothed(ladder, level + 1)
        distance: Fraction = (sum(smooth[:level]) + (place - level) * smooth[level]) / (
            1 << RUNG_BITS
        )
        return min(math.floor(distance + Fraction(1, 2)), largest)

    def expected_error(self, ladder: CountLadder) -> float:
        """Expected distance between the output and the count, before rounding and clamping."""
        c = float(self.rate)
        # J(k) exp(-c k) falls at least as fast as exp(-(c - epsilon/12) k): what is left out is
        # exp(-40) of it.
        smooth = self.smoothed(ladder, math.ceil(40 / (c - self.epsilon / GROWTH_DIVISOR)))
        return (
            math.fsum(j / (1 << RUNG_BITS) * math.exp(-c * k) for k, j in enumerate(smooth))
            * -math.expm1(-c)
            / c
        )

    def median_error(self, ladder: CountLadder) -> float:
        """Median distance between the output and the count, before rounding and clamping."""
        place = math.log(2) / float(self.rate)
        smooth = self.smoothed(ladder, math.floor(place) + 1)
        return math.fsum([*smooth[:-1], (place % 1) * smooth[-1]]) / (1 << RUNG_BITS)
