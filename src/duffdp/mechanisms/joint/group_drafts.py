"""Drafts of several quantiles for many groups at once, and which of them are accepted."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from duffdp.domain import Floats, Ints
from duffdp.mechanisms.joint.draft import Bools, Draft
from duffdp.mechanisms.joint.many_groups import ManyGroups
from duffdp.mechanisms.joint.proposal import FIRST, SCALE, SPACING, WORDS
from duffdp.mechanisms.joint.rare_places import place_between, tuple_of_far_size
from duffdp.rank_profile import FINEST, UNIT, rank_at
from duffdp.sampling.entropy import Entropy, Words, below_each
from duffdp.sampling.lazy_uniform import WORD, happens

# Relative to all that is added up, far more than it is rounded by: what this leaves open is
# decided exactly, one time in 10**8.
SLACK = 2.0**-34


class Factor(NamedTuple):
    """One over the probability of a choice, for each draft: `top / bottom`."""

    top: Ints
    bottom: Ints


class GroupDrafts:
    """A size and places for each of some groups.

    Their probabilities are products of fractions of whole numbers, so a draft can be accepted with
    a probability that is known exactly: nearly always doubles are enough to tell.
    """

    def __init__(self, law: ManyGroups, which: Ints, source: Entropy) -> None:
        self._law, self._which, self._source = law, which, source
        many = len(law.qs)
        words = source.words(len(which) * WORDS * (many + 1)).reshape(-1, len(which))
        self._word, places = words[0], words[WORDS:].reshape(WORDS, many, -1)
        bits = law.beyond_bits[which].astype(np.uint64)
        self._beyond: Bools = words[1] >> (np.uint64(WORD) - bits) == 0
        pick, factor = _pick(law.sizes[which], law.some_size[which], words[2], source)
        self._step = pick - law.more
        self._factors = [factor]
        self._outside: dict[int, Fraction] = {}  # one over the densities of places outside
        self.candidates, self._rank = np.zeros((2, len(which), many), dtype=np.int64)
        blocks = self._blocks(places[0])
        for j, block in enumerate(blocks):
            self._places(j, block, places[1, j], places[2, j])
        self._ordered = self._order()

    def _blocks(self, words: Words) -> list[Ints]:
        """Block by block from the last place to the first."""
        law, which = self._law, self._which
        row = np.where(np.abs(self._step) <= law.near, 1 + law.near + self._step, 0)
        share, shift = law.row_share[row], law.shift[which, row]
        weights: Floats = law.last[which, row]
        blocks: list[Ints] = []
        for j in range(len(law.qs) - 1, -1, -1):
            block, factor = _pick(weights, law.holds[which, j], words[j], self._source)
            self._factors.append(factor)
            blocks.insert(0, block)
            if j:
                lies = law.place[block] + shift[:, j] - shift[:, j - 1]
                away = np.abs(law.place - lies[:, None])
                weights = law.totals[j - 1][which, row] * np.exp(-share[:, None] * away)
        return blocks

    def _places(self, j: int, block: Ints, run_words: Words, cell_words: Words) -> None:
        """A uniform place in each block."""
        law, runs = self._law, self._law.runs
        window = self._which * len(law.qs) + j
        outside = (block == 0) | (block == len(law.place) - 1)
        at = np.where(outside, 1, block)
        begin = np.where(outside, runs.cut[window], runs.begin[window, at - 1])
        end = np.where(outside, begin + 1, runs.begin[window, at])
        run, factor = _pick_of_ranges(law.volume, begin, end, run_words, self._source)
        cell = below_each(runs.cells[run], cell_words, self._source)
        self.candidates[:, j] = runs.start[run] + cell
        self._rank[:, j] = runs.rank[run]
        # For places outside these say nothing.
        top, bottom = (np.where(outside, 1, each) for each in factor)
        cells, parts = (np.where(outside, 1, each[run]) for each in (runs.cells, runs.parts))
        self._factors += [Factor(top, bottom), Factor(cells, parts)]
        for i in np.flatnonzero(outside).tolist():
            self._place_outside(i, j, int(window[i]), block[i] == 0)

    def _place_outside(self, i: int, j: int, window: int, before: bool) -> None:
        """A place before or after a window; its rank is counted."""
        law, runs = self._law, self._law.runs
        low = 0 if before else runs.end_of(int(runs.cut[window + 1]) - 1)
        high = runs.begin_of(int(runs.cut[window])) if before else law.size << FINEST
        cell, finest = place_between(low, high, self._source)
        column = law.groups[int(self._which[i])]
        rank = rank_at(column.rank_of, cell, finest - (cell << FINEST))
        self.candidates[i, j] = cell
        self._rank[i, j] = rank - UNIT * int(runs.base[window])
        density = Fraction(high - low, 1 << FINEST)
        self._outside[i] = self._outside.get(i, Fraction(1)) * density

    def _order(self) -> Bools:
        """Which drafts have their places in order. Places at one candidate with one rank come in
        any order: one over the density of all orders together.
        """
        base = self._law.runs.base.reshape(-1, len(self._law.qs))[self._which]
        rank, cell = UNIT * base + self._rank, self.candidates
        level = rank[:, :-1] == rank[:, 1:]
        orders, alike = np.ones((2, len(rank)), dtype=np.int64)
        for same in (level & (cell[:, :-1] == cell[:, 1:])).T:
            alike = np.where(same, alike + 1, 1)
            orders *= alike
        self._factors.append(Factor(np.ones_like(orders), orders))
        rising = (rank[:, :-1] < rank[:, 1:]) | (level & (cell[:, :-1] <= cell[:, 1:]))
        ordered: Bools = rising.all(axis=1)
        return ordered

    def accepted(self) -> Bools:
        """Which drafts are accepted; decided in doubles where these are certain."""
        chance, slack = self._chances()
        known = self._word.astype(np.float64)
        with np.errstate(divide="ignore"):
            low, high = (np.log(known + more) - WORD * math.log(2) for more in (0, 1))
        possible = chance <= 0  # else let the exact way say that it is not
        yes: Bools = self._ordered & ~self._beyond & possible & (high <= chance - slack)
        no = ~self._ordered | (possible & (low >= chance + slack))
        for i in np.flatnonzero(~yes & (~no | self._beyond)).tolist():
            draft = self.draft(i)
            if draft.ratio and happens(draft.exponent, draft.ratio, self._source, draft.word):
                yes[i] = True
                self.candidates[i] = draft.candidates
        return yes

    def _chances(self) -> tuple[Floats, Floats]:
        """The logarithm of the probability that each draft is accepted with, unless it is beyond
        the sizes that are weighed, and more than what it may be off by.
        """
        law, which = self._law, self._which
        excess = law.excess[which] - SPACING / 2 * self._step
        ends = np.zeros((len(which), len(law.qs) + 2))
        ends[:, 1:-1] = self._rank * law.nat - law.rest[which] + excess[:, None] * law.shares_upto
        ends[:, -1] = excess
        logs = [np.log(factor.top / factor.bottom) for factor in self._factors]
        logs += [-law.log_top[which], -np.abs(np.diff(ends)).sum(axis=1), np.zeros(len(which))]
        for i, density in self._outside.items():
            logs[-1][i] = math.log(density.numerator) - math.log(density.denominator)
        size = np.abs(logs).sum(axis=0) + np.abs(ends).sum(axis=1) + 1
        return np.sum(logs, axis=0), SLACK * size

    def draft(self, i: int) -> Draft:
        """One of the drafts in exact numbers, with a ratio of 0 if its places are not in order or
        there is no such size.
        """
        if self._beyond[i]:
            return self._beyond_weighed(i)
        law, group = self._law, int(self._which[i])
        base = law.runs.base[group * len(law.qs) : (group + 1) * len(law.qs)]
        ranks = [UNIT * b + r for b, r in zip(base.tolist(), self._rank[i].tolist(), strict=True)]
        ratio = self._outside.get(i, Fraction(1)) * int(self._ordered[i])
        ratio *= Fraction(
            math.prod(int(f.top[i]) for f in self._factors),
            math.prod(int(f.bottom[i]) for f in self._factors),
        )
        index = int(law.middle[group] + self._step[i])
        return self._made(i, index, self.candidates[i].tolist(), ranks, ratio)

    def _beyond_weighed(self, i: int) -> Draft:
        """A uniform tuple, with a size beyond those that are weighed."""
        law, group = self._law, int(self._which[i])
        middle, column = int(law.middle[group]), law.groups[group]
        first, upto = max(FIRST, middle - law.more), middle + law.more + 1
        index, cells, ratio = tuple_of_far_size(first, upto, law.size, len(law.qs), self._source)
        if index < FIRST:
            return Draft(Fraction(0), [], [], Fraction(0), Fraction(0), 0, None)
        ranks = [rank_at(column.rank_of, cell, part) for cell, part in cells]
        ratio *= 2 ** int(law.beyond_bits[group]) - 1
        return self._made(i, index, [cell for cell, _ in cells], ranks, ratio)

    def _made(
        self, i: int, index: int, candidates: list[int], ranks: list[int], ratio: Fraction
    ) -> Draft:
        law, group = self._law, int(self._which[i])
        size = SPACING * index / law.epsilon
        ends = (0, *ranks, UNIT * law.groups[group].total)
        gaps = [Fraction(b - a, UNIT) for a, b in pairwise(ends)]
        score = sum(
            (abs(gap - size * share) for gap, share in zip(gaps, law.shares, strict=True)),
            Fraction(0),
        )
        exponent = Fraction(float(law.log_top[group])) + law.epsilon / 2 * score
        return Draft(size, candidates, ranks, exponent, ratio, int(self._word[i]), None)


def _pick(weights: Floats, holds: Bools, words: Words, source: Entropy) -> tuple[Ints, Factor]:
    """In each row an index with a probability near its weight, one that holds something, and one
    over its exact probability.
    """
    top = np.maximum(weights.max(axis=1, keepdims=True), 1e-300)
    whole = (weights / top * SCALE).astype(np.int64) + holds
    upto = np.cumsum(whole, axis=1)
    bound = upto[:, -1]
    pick = (upto <= below_each(bound, words, source)[:, None]).sum(axis=1)
    return pick, Factor(bound, whole[np.arange(len(pick)), pick])


def _pick_of_ranges(
    volume: Floats, begin: Ints, end: Ints, words: Words, source: Entropy
) -> tuple[Ints, Factor]:
    """The same for a run of each range, by its volume."""
    length = end - begin
    first = np.cumsum(length) - length
    run = np.arange(int(length.sum())) + np.repeat(begin - first, length)
    top = np.maximum.reduceat(volume[run], first)
    scale = min(SCALE, 2**62 // len(run))  # what all of them add up to is a whole number of 64 bits
    whole = (volume[run] / np.repeat(top, length) * scale).astype(np.int64) + 1
    upto = np.cumsum(whole)
    before = upto[first] - whole[first]
    bound = upto[first + length - 1] - before
    at = np.searchsorted(upto, before + below_each(bound, words, source), side="right")
    return run[at], Factor(bound, whole[at])
