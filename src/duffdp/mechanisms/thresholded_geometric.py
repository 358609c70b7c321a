"""Two-sided geometric noise on the counts of all possible keys, of which large ones are
released.

Promise: Every possible key gets noise, whether it occurs or not, and its noisy count alone decides
whether it is released.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from duffdp._evidence import Evidence, KeyCounts
from duffdp._privacy import LossFamily
from duffdp._sampling.entropy import Entropy
from duffdp._sampling.integer_noise import geometrics, two_sided_geometrics
from duffdp._sampling.rare_places import rare_places
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.mechanisms.noise_errors import ThresholdErrors


class ThresholdedGeometric(ThresholdErrors, Mechanism):
    """The noisy counts of all possible keys that reach a public threshold.

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
    With a threshold t, a key without records is released with probability exp(-epsilon t) / (1 +
    exp(-epsilon)).

    Runtime
    -------
    A draw for each key that occurs, and one for each released key that does not. The number of
    possible keys does not matter.

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

    def numbers(self, evidence: Evidence, source: Entropy) -> list[Sequence[int]]:
        """Two columns: the places of the released keys, in order, and their noisy counts."""
        assert isinstance(evidence, KeyCounts)
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
