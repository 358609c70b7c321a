"""The joint exponential mechanism for several quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from duffdp.loss_family import LossFamily
from duffdp.mechanisms.joint.group_drafts import GroupDrafts
from duffdp.mechanisms.joint.many_groups import ManyGroups
from duffdp.mechanisms.joint.proposal import WORDS, Proposal
from duffdp.parameters import read_epsilon
from duffdp.rank_profile import SIDE_BY_SIDE, NearRanks
from duffdp.sampling.entropy import Entropy
from duffdp.sampling.lazy_uniform import happens

MOST_EPSILON = Fraction(64)  # a rank is then missed one time in e**32: more would only take longer
LEAST_EPSILON = Fraction(1, 10**6)  # below it, blocks of ranks for many windows exceed 64 bits
MOST_QUANTILES = 20  # drawn for side by side: places alike come in 20! orders, which 64 bits hold
TOGETHER = 16  # groups whose proposals are kept at a time
AT_ONCE = 128  # groups that are weighed together: their arrays fit into a processor's cache
ATTEMPTS = 40  # drafts of a group before it gets a proposal of its own: they take less time


class Joint:
    """Sorted places t_1 <= ... <= t_m for several quantiles, and a size s, by one exponential
    mechanism.

    The score of (s, t) is `sum over gaps of |records in the gap - s * share of the gap|`, and the
    probability is proportional to `exp(-epsilon/2 * score)`, over all sorted places in the domain
    and all s that are 1, 2, ... times 16 / epsilon. Records at one value are spread over the width
    of their candidate, so that a gap may begin within a tie.

    Parameters
    ----------
    epsilon
        The privacy loss for all quantiles together; above 64 the law is that of 64.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbours that differ in one record, and epsilon-bounded
    range. For any fixed (s, t) a record that joins adds 1 in all to the gaps, so the score moves by
    at most 1. With s held at the true number of records, as published, every gap moves and the
    score by up to `2 (1 - smallest share)`: making s part of the output nearly halves the noise
    (`tests/joint_test.py` enumerates both).

    Utility
    -------
    Deciles err by about 3.5 / epsilon ranks, whatever the number of records.

    Runtime
    -------
    One forward pass over about a hundred blocks a quantile for each size, of which there are 20 to
    40 for deciles at epsilon 1; ties change this little.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles" (ICML 2021): the score with
    s = n and its forward pass. `docs/several-quantiles.md`: the free size, ties, windows and the
    exact draw.

    Examples
    --------
    >>> from duffdp.engines.arrays import Column, read
    >>> from duffdp.sampling.entropy import entropy
    >>> import duffdp
    >>> column = Column(read(range(1000)), duffdp.Grid(0, 999, 1))
    >>> columns = duffdp.statistics.Quantiles([0.25, 0.75]).near([column], 1.0, 100)
    >>> duffdp.mechanisms.Joint(5.0).release(columns, entropy(1))
    [[250, 749]]
    """

    name: ClassVar[str] = "joint-exponential"
    loss_family: ClassVar[LossFamily] = "bounded-range"

    def __init__(self, epsilon: Any) -> None:
        self._asked = read_epsilon(epsilon)
        self._epsilon = min(self._asked, MOST_EPSILON)
        self.epsilon = float(self._asked)

    @np.errstate(all="ignore")  # no weight is so near 0 that one record could make an error of it
    def release(self, columns: Sequence[NearRanks], source: Entropy) -> list[list[int]]:
        """For each column the indices of one candidate for each of its sorted shares."""
        found: list[list[int]] = [[]] * len(columns)
        for begin in range(0, len(columns), AT_ONCE):
            some = columns[begin : begin + AT_ONCE]
            left = list(range(len(some)))
            if self._epsilon >= LEAST_EPSILON and alike(some):
                left = self._side_by_side(list(some), found, begin, source)
            for at in range(0, len(left), TOGETHER):
                each = {begin + i: some[i] for i in left[at : at + TOGETHER]}
                self._one_by_one(each, found, source)
        return found

    def _side_by_side(
        self, columns: list[NearRanks], found: list[list[int]], begin: int, source: Entropy
    ) -> list[int]:
        """Draws for all columns together; those that are left after ATTEMPTS, or do not fit."""
        law = ManyGroups(columns, self._epsilon)
        waiting = np.flatnonzero(law.fits)
        left = ATTEMPTS
        while len(waiting) and left:
            # Several drafts of each where few are left: the first that is accepted counts.
            each = min(AT_ONCE // len(waiting), left)
            drafts = GroupDrafts(law, np.repeat(waiting, each), source)
            accepted = drafts.accepted().reshape(-1, each)
            done, first = accepted.any(axis=1), accepted.argmax(axis=1)
            chosen = drafts.candidates[np.arange(len(waiting)) * each + first][done].tolist()
            for i, candidates in zip(waiting[done].tolist(), chosen, strict=True):
                found[begin + i] = candidates
            waiting, left = waiting[~done], left - each
        return [*np.flatnonzero(~law.fits).tolist(), *waiting.tolist()]

    def _one_by_one(
        self, columns: dict[int, NearRanks], found: list[list[int]], source: Entropy
    ) -> None:
        """Draws for some columns, each from a proposal of its own, which learns from what was
        refused.
        """
        profiles = {i: each.profile(float(self._epsilon)) for i, each in columns.items()}
        waiting: dict[int, Proposal | None] = dict.fromkeys(columns)
        while waiting:
            many = WORDS + WORDS * len(columns[next(iter(waiting))].qs)
            words = source.words(len(waiting) * many).reshape(-1, many).tolist()
            drafts = []
            for own, (i, made) in zip(words, waiting.items(), strict=True):
                proposal = made or Proposal(profiles[i], self._epsilon)
                drafts.append((i, proposal, proposal.draft(own, source)))
            waiting = {}
            for i, proposal, draft in drafts:
                if draft.ratio and happens(draft.exponent, draft.ratio, source, draft.word):
                    found[i] = draft.candidates
                else:
                    waiting[i] = proposal.after(draft)

    def __repr__(self) -> str:
        return f"Joint(epsilon={self.epsilon:g})"


def alike(columns: Sequence[NearRanks]) -> bool:
    """Whether columns can be drawn for side by side: several, with the same few quantiles, a
    window around each, and sizes that are drawn.
    """
    kinds = {(c.qs, c.size, c.reach, c.records, len(c.ranks)) for c in columns}
    ((qs, _, _, records, windows),) = kinds if len(kinds) == 1 else [((), 0, 0, 0, -1)]
    fits = len(columns) >= SIDE_BY_SIDE and len(qs) <= MOST_QUANTILES
    return fits and records is None and windows == len(qs)
