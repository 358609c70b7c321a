"""Two-sided geometric noise on the counts of all possible keys, of which large ones are
released.

Promise: Every possible key gets noise, whether it occurs or not, and is released by its noisy count
alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

from duffdp._evidence import KeyCounts
from duffdp._parameters import EPSILON
from duffdp._privacy import LossFamily
from duffdp._sampling.entropy import Entropy
from duffdp._sampling.integer_noise import geometrics, two_sided_geometrics
from duffdp._sampling.rare_places import rare_places


class ThresholdedGeometric:
    """The noisy counts of all possible keys that are at least as large as a public threshold.

    Parameters
    ----------
    epsilon
        The privacy loss.

    Privacy
    -------
    Pure epsilon-differential privacy: every possible key gets two-sided geometric noise, also those
    without a record, and one record moves one count by 1. Leaving out small counts is
    post-processing. Draws are exact (`tests/mechanisms/thresholded_geometric_test.py`).

    Utility
    -------
    A key without records is released with probability exp(-epsilon t) / (1 + exp(-epsilon)).

    Runtime
    -------
    A draw for each key that occurs, and one for each key that does not and is released all the
    same: the number of possible keys plays no part.

    References
    ----------
    Cormode, Procopiuc, Srivastava and Tran, "Differentially private summaries for sparse data"
    (ICDT 2012); Ghosh, Roughgarden and Sundararajan (STOC 2009).

    Examples
    --------
    >>> import duffdp
    >>> law = duffdp.mechanisms.ThresholdedGeometric(1.0)
    >>> [round(law.probability(count, None, threshold=5), 3) for count in (0, 4, 5, 9)]
    [0.995, 0.731, 0.269, 0.005]
    """

    name: ClassVar[str] = "thresholded-geometric"
    loss_family: ClassVar[LossFamily] = "geometric"

    def __init__(self, epsilon: Any) -> None:
        self._epsilon = EPSILON.read(epsilon)
        self.epsilon = float(self._epsilon)

    def numbers(self, evidence: KeyCounts, source: Entropy) -> list[Sequence[int]]:
        """Two columns: the places of the released keys, in order, and their noisy counts."""
        released = self.release(evidence, source)
        ordered = sorted(released)
        return [ordered, [released[place] for place in ordered]]

    def release(self, evidence: KeyCounts, source: Entropy) -> dict[int, int]:
        """The noisy counts of the keys that are released, by their places."""
        counts, threshold = dict(sorted(evidence.counts.items())), evidence.threshold
        noise = two_sided_geometrics(self._epsilon, len(counts), source)
        released = {
            place: count + extra
            for (place, count), extra in zip(counts.items(), noise, strict=True)
            if count + extra >= threshold
        }
        places = rare_places(evidence.size, self._epsilon, threshold, source)
        absent = [place for place in places if place not in counts]
        # Noise that is known to reach the threshold exceeds it by a geometric number.
        excess = geometrics(self._epsilon, len(absent), source)
        released |= {place: threshold + more for place, more in zip(absent, excess, strict=True)}
        return released

    def probability(self, count: int, output: int | None, threshold: int) -> float:
        """The probability of a noisy count for a key with so many records; None is that it is not
        released. Not private.
        """
        decay = math.exp(-self.epsilon)
        if output is not None:
            inside = output >= threshold
            return inside * decay ** abs(output - count) * (1 - decay) / (1 + decay)
        missing = threshold - count
        tail = decay ** abs(missing if missing > 0 else 1 - missing) / (1 + decay)
        return 1 - tail if missing > 0 else tail

    def possible_counts(
        self, output: int, threshold: int, confidence: float | Fraction
    ) -> tuple[int, int]:
        """The least and the largest count of a released key: an interval that holds with this
        probability for every key that is released, however it came to be.

        The noise of a released key is known to reach the threshold, so small outputs leave every
        smaller count possible. By the conditional distribution each side fails half of the time.
        """
        miss = float(1 - confidence) / 2 * (1 - 1e-9)  # doubles err by less
        low = _first(lambda count: self._at_least(count, output, threshold) > miss, output)
        reach = math.ceil(-math.log(miss) / self.epsilon) + 2
        below = _first(
            lambda count: self._at_most(count, output, threshold) <= miss, output + reach
        )
        return min(low, output), max(output, below - 1)

    def _at_least(self, count: int, output: int, threshold: int) -> float:
        """The probability of this noisy count or a larger one, for a key that is released."""
        return self._tail(output - count) / self._tail(threshold - count)

    def _at_most(self, count: int, output: int, threshold: int) -> float:
        """The probability of this noisy count or a smaller one, for a key that is released."""
        if count > output:  # both tails are small: no difference of large numbers
            here, before = self._tail(count - output), self._tail(count - threshold + 1)
            return (here - before) / (1 - before)
        return 1 - self._at_least(count, output + 1, threshold)

    def _tail(self, least: int) -> float:
        """The probability that noise is at least this."""
        decay = math.exp(-self.epsilon)
        if least > 0:
            return decay**least / (1 + decay)
        return 1 - decay ** (1 - least) / (1 + decay)

    def __repr__(self) -> str:
        return f"ThresholdedGeometric(epsilon={self.epsilon:g})"


def _first(holds: Any, last: int) -> int:
    """The first number from 0 to `last` for which a condition holds that holds from there on;
    `last` if there is none before.
    """
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
