"""The joint exponential mechanism for several quantiles.

Promise: Places and a size are drawn with a probability proportional to exp(-epsilon / 2 times the
score), which one record moves by at most 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from duffdp._evidence import Evidence, RankProfiles
from duffdp._privacy import LossFamily
from duffdp._rank_profile import MIN_GROUPED_COLUMNS, QuantileRanks
from duffdp._sampling.entropy import Entropy
from duffdp._sampling.lazy_uniform import bernoulli
from duffdp.mechanisms.joint._grouped_proposal import GroupedDrafts, GroupedProposal
from duffdp.mechanisms.joint._proposal import DRAFT_WORDS, Proposal
from duffdp.mechanisms.mechanism import Mechanism

# A rank is then missed one time in e**32 for each place that misses it: more would take longer.
MAX_JOINT_EPSILON = Fraction(64)
# Below it, blocks of ranks for many windows exceed 64 bits.
MIN_GROUPED_EPSILON = Fraction(1, 10**6)
# Drawn for side by side: places alike come in 20! orders, which 64 bits hold.
MAX_GROUPED_QUANTILES = 20
PROPOSALS_AT_ONCE = 16  # groups whose proposals are kept at a time
GROUPS_AT_ONCE = 128  # groups that are weighed together: their arrays fit into a processor's cache
# Drafts of a group before it gets a proposal of its own: they take less time.
MAX_GROUPED_DRAFTS = 40


class Joint(Mechanism):
    """The exponential mechanism for several quantiles at once: it draws sorted places t_1 <= ... <=
    t_m, and a number s of records.

    The score of (s, t) is `sum over gaps of |records in the gap - s * share of the gap|`, and the
    probability is proportional to `exp(-epsilon/2 * score)`. The t are any m sorted candidates, and
    s is any multiple of 16 / epsilon. Records at one value are spread over the width of their
    candidate, so a gap may begin within a tie.

    Parameters
    ----------
    epsilon
        The privacy loss for all quantiles together; above 64 the output distribution is that of 64.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbors that differ in one record. It is bounded-range
    (see `duffdp.Loss`). For any fixed (s, t) an added record adds a total of 1 to the gaps, so the
    score moves by at most 1. In the published mechanism, s is the exact number of records, so an
    added record moves the score by up to `2 (1 - smallest share)`. Drawing s instead nearly halves
    the noise (`tests/mechanisms/joint_test.py` enumerates both).

    Utility
    -------
    The error of deciles is about 3.5 / epsilon ranks, for any number of records.

    Runtime
    -------
    For each s, one forward pass over about a hundred blocks per quantile. Deciles at epsilon 1 need
    20 to 40 values of s, with ties or without.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles" (ICML 2021): the score with
    s = n and its forward pass. `docs/explanation/several-quantiles.md`: the drawn s, ties, windows
    and the exact draw.

    Examples
    --------
    >>> import duffdp
    >>> given = {"epsilon": 5.0, "bounds": (0, 999), "step": 1, "rng": 1}
    >>> release = duffdp.quantiles(range(1000), [0.25, 0.75], **given)
    >>> release.value, release.mechanism.parts[0].name
    ([249, 749], 'joint-exponential')
    """

    name: ClassVar[str] = "joint-exponential"
    loss_family: ClassVar[LossFamily] = "bounded-range"

    def __init__(self, epsilon: Any) -> None:
        super().__init__(epsilon)
        self._drawn_epsilon = min(self._epsilon, MAX_JOINT_EPSILON)

    @np.errstate(all="ignore")  # no weight is so near 0 that one record could make an error of it
    def release(self, columns: Sequence[QuantileRanks], source: Entropy) -> list[list[int]]:
        """For each column the indices of one candidate for each of its sorted shares."""
        candidates: list[list[int]] = [[]] * len(columns)
        for begin in range(0, len(columns), GROUPS_AT_ONCE):
            block = columns[begin : begin + GROUPS_AT_ONCE]
            pending = list(range(len(block)))
            if self._drawn_epsilon >= MIN_GROUPED_EPSILON and can_group(block):
                pending = self._draw_grouped(list(block), candidates, begin, source)
            for at in range(0, len(pending), PROPOSALS_AT_ONCE):
                chunk = {begin + i: block[i] for i in pending[at : at + PROPOSALS_AT_ONCE]}
                self._draw_singly(chunk, candidates, source)
        return candidates

    def numbers(self, evidence: Evidence, source: Entropy) -> list[Sequence[int]]:
        """A column for each quantile: the index of a candidate for every group."""
        assert isinstance(evidence, RankProfiles)
        return list(zip(*self.release(evidence.columns, source), strict=True))

    def _draw_grouped(
        self, columns: list[QuantileRanks], results: list[list[int]], begin: int, source: Entropy
    ) -> list[int]:
        """Draw for all columns together; returns those that do not fit, or are left after
        MAX_GROUPED_DRAFTS.
        """
        proposal = GroupedProposal(columns, self._drawn_epsilon)
        waiting = np.flatnonzero(proposal.fits)
        drafts_left = MAX_GROUPED_DRAFTS
        while len(waiting) and drafts_left:
            # Several drafts of each where few are left: the first that is accepted counts.
            drafts_per_group = min(GROUPS_AT_ONCE // len(waiting), drafts_left)
            drafts = GroupedDrafts(proposal, np.repeat(waiting, drafts_per_group), source)
            accepted = drafts.accepted().reshape(-1, drafts_per_group)
            done, first = accepted.any(axis=1), accepted.argmax(axis=1)
            first_accepted = drafts.candidates[np.arange(len(waiting)) * drafts_per_group + first][
                done
            ].tolist()
            for i, candidates in zip(waiting[done].tolist(), first_accepted, strict=True):
                results[begin + i] = candidates
            waiting, drafts_left = waiting[~done], drafts_left - drafts_per_group
        return [*np.flatnonzero(~proposal.fits).tolist(), *waiting.tolist()]

    def _draw_singly(
        self, columns: dict[int, QuantileRanks], results: list[list[int]], source: Entropy
    ) -> None:
        """Draws for some columns, each from a proposal of its own, which learns from what was
        refused.
        """
        profiles = {i: column.profile(float(self._drawn_epsilon)) for i, column in columns.items()}
        waiting: dict[int, Proposal | None] = dict.fromkeys(columns)
        while waiting:
            word_count = DRAFT_WORDS + DRAFT_WORDS * len(columns[next(iter(waiting))].qs)
            words = source.words(len(waiting) * word_count).reshape(-1, word_count).tolist()
            drafts = []
            for draft_words, (i, current) in zip(words, waiting.items(), strict=True):
                proposal = current or Proposal(profiles[i], self._drawn_epsilon)
                drafts.append((i, proposal, proposal.draft(draft_words, source)))
            waiting = {}
            for i, proposal, draft in drafts:
                if draft.ratio and bernoulli(draft.exponent, draft.ratio, source, draft.word):
                    results[i] = draft.candidates
                else:
                    waiting[i] = proposal.after(draft)


def can_group(columns: Sequence[QuantileRanks]) -> bool:
    """True if columns can be drawn for side by side: several, with the same few quantiles, a window
    around each, and sizes that are drawn.
    """
    kinds = {(c.qs, c.size, c.reach, c.records, len(c.ranks)) for c in columns}
    ((qs, _, _, records, windows),) = kinds if len(kinds) == 1 else [((), 0, 0, 0, -1)]
    fits = len(columns) >= MIN_GROUPED_COLUMNS and len(qs) <= MAX_GROUPED_QUANTILES
    return fits and records is None and windows == len(qs)
