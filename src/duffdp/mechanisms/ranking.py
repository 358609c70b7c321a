"""The order of the largest of several numbers, by two-sided geometric noise.

Promise: The order follows from numbers with noise and fair coins alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from duffdp._evidence import Evidence, Totals
from duffdp._sampling.entropy import Entropy
from duffdp.mechanisms.geometric import Geometric


class NoisyRanking(Geometric):
    """The positions of the largest noisy whole numbers, in falling order.

    Parameters
    ----------
    epsilon
        The privacy loss.

    Privacy
    -------
    The numbers with noise are epsilon-differentially private, all of them together, for neighbors
    whose numbers differ by at most `sensitivity`, all differences added up. Their order follows
    from them and from coins for ties, and costs nothing more for any number of places.

    Utility
    -------
    Two numbers that differ by g are exchanged with a probability of about `(2 + epsilon g) / 4 *
    exp(-epsilon g)`, for any number of places. Drawing one place after another would divide epsilon
    among them.

    Runtime
    -------
    A sort.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006); `docs/explanation/statistics.md`, "The most common values".

    Examples
    --------
    >>> import duffdp
    >>> given = {"epsilon": 9.0, "categories": ["a", "b", "c"], "rng": 1}
    >>> release = duffdp.top(["a"] * 3 + ["b"] * 40 + ["c"] * 20, 2, **given)
    >>> release.value, release.mechanism.parts[0].name
    (['b', 'c'], 'noisy-ranking')
    """

    name: ClassVar[str] = "noisy-ranking"

    def rank(
        self, groups: Sequence[Sequence[int]], sensitivity: int, places: int, source: Entropy
    ) -> list[list[int]]:
        """For each group the positions of its largest numbers."""
        return [
            ranked(noisy, places, source) for noisy in self.release(groups, sensitivity, source)
        ]

    def numbers(self, evidence: Evidence, source: Entropy) -> list[Sequence[int]]:
        """A column for each place: the position of the number that is there."""
        assert isinstance(evidence, Totals)
        assert evidence.places is not None
        order = (evidence.sensitivity, evidence.places, source)
        return list(zip(*self.rank(evidence.numbers, *order), strict=True))


def ranked(numbers: Sequence[int], places: int, source: Entropy) -> list[int]:
    """The positions of the largest numbers in falling order; ties in a fair random order."""
    values = np.array(numbers)
    order: list[int] = np.argsort(values, kind="stable")[::-1].tolist()
    end = 0
    for place in range(places):
        if place >= end:  # a run of equal numbers begins
            end = place + int(np.count_nonzero(values == values[order[place]]))
        other = place + source.below(end - place)
        order[place], order[other] = order[other], order[place]
    return order[:places]
