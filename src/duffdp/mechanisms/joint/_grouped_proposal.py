"""Several quantiles of many groups at once: one proposal distribution that covers the exact ones,
and drafts from it that are accepted in proportion.

For 3,000 groups this takes an 18th of the time of a `Proposal` for each group with three quantiles,
and a quarter with nine (`benchmarks/several_quantiles.py`).

Promise: Draws for several groups together have the output distribution of each group alone.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from duffdp._rank_profile import PART_BITS, RANK_UNIT, QuantileRanks, rank_at
from duffdp._sampling.entropy import Entropy, Words, below_each
from duffdp._sampling.lazy_uniform import WORD, bernoulli
from duffdp.domain import Floats, Ints
from duffdp.mechanisms.joint._draft import Bools, Draft, place_between, tuple_of_far_size
from duffdp.mechanisms.joint._proposal import (
    DRAFT_WORDS,
    FIRST_SIZE,
    FLAT_SHARE,
    RARE_SIZE_BITS,
    SIZE_SPACING,
    WEIGHT_SCALE,
    WEIGHT_TOLERANCE,
)
from duffdp.mechanisms.joint._window_runs import Blocks, WindowRuns

# Sizes to each side of the middle one that get their own pass: more of them as long as sizes that
# are only bounded weigh more than MAX_BOUNDED_SHARE. With many records per group bounds are weak.
MIN_WEIGHED_SIZES, MAX_WEIGHED_SIZES, MAX_BOUNDED_SHARE = 3, 9, 1 / 8
# Doubles hold all weights as long as no place lies further than this from the target rank.
MAX_NATS = 160.0
# What a pass adds up to at least, where the heaviest block of every quantile weighs 1. Terms are at
# most 1 before they are raised for places outside of windows, and doubles lose those below 1e-308:
# next to nothing of such a sum. Groups with a smaller sum get a proposal of their own.
MIN_PASS_SUM = 1e-200
# Relative to all that is added up, far more than it is rounded by: what this leaves open is
# decided exactly, one time in 10**8.
DRAFT_SLACK = 2.0**-34


class GroupedProposal:
    """A distribution over sizes and places of each of many groups that is, up to a known factor,
    nowhere below the exact one; blocks hold the same ranks in all groups.

    An array has a row for each group and each pass. Pass 0 is that of the middle size at
    `FLAT_SHARE` of epsilon, which all sizes without a pass of their own share. Places of different
    quantiles are drawn as if they need not be in order, and refused if they are not: this suits few
    quantiles, or quantiles that lie apart.
    """

    def __init__(self, groups: list[QuantileRanks], epsilon: Fraction) -> None:
        self.groups, self.epsilon = groups, epsilon
        self.qs, self.size = groups[0].qs, groups[0].size
        self.shares = [b - a for a, b in pairwise((Fraction(0), *self.qs, Fraction(1)))]
        self.cumulative_shares = np.array([float(q) for q in self.qs])
        c = float(epsilon) / 2
        self.nat = c / RANK_UNIT
        blocks = Blocks.around_target(len(self.qs), c, groups[0].reach)
        runs = self.runs = WindowRuns.of(groups, self.qs, groups[0].reach, blocks)
        self.volume: Floats = runs.cells / runs.parts
        shape = len(groups), len(self.qs)
        self.fraction = runs.fraction.reshape(shape) * c
        top, bottom = epsilon.as_integer_ratio()
        totals = [group.total for group in groups]
        self.middle = np.array(
            [
                max(
                    FIRST_SIZE, (2 * top * n + SIZE_SPACING * bottom) // (2 * SIZE_SPACING * bottom)
                )
                for n in totals
            ]
        )
        # c times the records by which the middle size is too small.
        self.shortfall = np.array(
            [
                (top * n - SIZE_SPACING * bottom * middle) / (2 * bottom)
                for n, middle in zip(totals, self.middle.tolist(), strict=True)
            ]
        )
        # What stands for each block, in nats, with all that lies before and after a window.
        inner = blocks.middles * self.nat
        self.place: Floats = np.concatenate([inner[:1], inner, inner[-1:]])
        self._weigh_blocks(blocks, shape)
        self.weighed_reach = MIN_WEIGHED_SIZES
        self._weigh()
        while self.weighed_reach < MAX_WEIGHED_SIZES and self._bounded_share() > MAX_BOUNDED_SHARE:
            self.weighed_reach += 2
            self._weigh()
        self.fits = self._fitting()

    def _weigh_blocks(self, blocks: Blocks, shape: tuple[int, int]) -> None:
        """The weight of each block, and a bound on how far the exact weight exceeds that of its
        representative; in logarithms, the largest of a window is 0.
        """
        runs = self.runs
        begin, end = runs.begin[:, :-1], runs.begin[:, 1:]
        nonempty = end > begin
        inside = np.add.reduceat(np.append(self.volume, 0.0), begin.ravel()).reshape(begin.shape)
        first_offset, last_offset = (
            np.where(nonempty, runs.rank[np.where(nonempty, at, 0)] - blocks.middles, 0)
            for at in (begin, end - 1)
        )
        first, last = runs.cut[:-1], runs.cut[1:] - 1
        before = runs.start[first] + runs.part[first] / runs.parts[first]
        split = runs.parts[last] > 1
        partial = np.where(split, (runs.parts[last] - 1 - runs.part[last]) / runs.parts[last], 0.0)
        after = (self.size - runs.start[last] - runs.cells[last]) + partial
        weight = np.zeros((len(begin), len(self.place)))
        weight[:, 0], weight[:, -1] = before, after
        weight[:, 1:-1] = np.where(nonempty, inside, 0.0)
        self.nonempty: Bools = (weight > 0).reshape(*shape, -1)
        excess = np.zeros_like(weight)
        excess[:, 1:-1] = np.maximum(-first_offset, last_offset)
        excess[:, 0] = np.maximum(runs.rank[first] - blocks.middles[0], 0)
        excess[:, -1] = np.maximum(blocks.middles[-1] - runs.rank[last], 0)
        excess *= 2 * self.nat
        with np.errstate(divide="ignore"):
            logs = np.log(weight)
        top = (logs + excess).max(axis=1, keepdims=True)
        self.scale: Floats = top.reshape(shape).sum(axis=1)
        flat, full = (
            np.exp(logs + f * excess - top).reshape(*shape, -1) for f in (FLAT_SHARE, 1.0)
        )
        self.flat_and_full: Floats = np.stack([flat, full], axis=1)

    def _weigh(self) -> None:
        """One pass for the middle size at FLAT_SHARE of epsilon, and one for each size near it: a
        row of a group each.

        Block b of a quantile is entered from all blocks b' of the quantile before, with the weight
        exp(-|place[b] + moved - place[b']|). The blocks up to the split lie to the left, where this
        is exp(place[b']) / exp(place[b] + moved), and the others to the right: two running sums.
        """
        steps = np.array([0, *range(-self.weighed_reach, self.weighed_reach + 1)])
        weight = self.flat_and_full[:, np.minimum(np.arange(len(steps)), 1)]
        share = np.ones(len(steps))
        share[0] = FLAT_SHARE
        self.row_share = share
        shortfall = self.row_shortfall = self.shortfall[:, None] - SIZE_SPACING / 2 * steps
        # Group, row and quantile: where a place of the wanted rank lies.
        shift = self.shift = shortfall[:, :, None] * self.cumulative_shares
        shift -= self.fraction[:, None, :]
        place = share[:, None] * self.place
        rising, falling = np.exp(place), np.exp(-place)
        outside_factor = self._outside_factor()
        self.totals: list[Floats] = []
        entry: Floats = np.exp(-np.abs(place + (share * shift[:, :, 0])[:, :, None]))
        rows = np.arange(shift.shape[0] * shift.shape[1]).reshape(shift.shape[:2])[:, :, None]
        blocks = len(self.place)
        for j in range(len(self.qs)):
            if j:
                moved = shift[:, :, j] - shift[:, :, j - 1]
                earlier = self.totals[-1]
                split = np.searchsorted(self.place, self.place + moved[:, :, None], side="right")
                split += rows * (blocks + 1)
                rising_sums, falling_sums = np.zeros((2, *earlier.shape[:2], blocks + 1))
                np.cumsum(earlier * rising, axis=2, out=rising_sums[:, :, 1:])
                np.cumsum((earlier * falling)[:, :, ::-1], axis=2, out=falling_sums[:, :, -2::-1])
                shift_factor = np.exp(share * moved)[:, :, None]
                entry = rising_sums.ravel()[split] * falling / shift_factor
                entry += falling_sums.ravel()[split] * rising * shift_factor
            total = entry * weight[:, :, j]
            total[:, :, 0] *= outside_factor[0, j]
            total[:, :, -1] *= outside_factor[1, j]
            self.totals.append(total)
        ends = place + (share * shift[:, :, -1])[:, :, None]
        self.last = total * np.exp(-np.abs((share * shortfall)[:, :, None] - ends))
        sums = self.last.sum(axis=2)
        valid = (sums >= MIN_PASS_SUM) & (sums < np.inf)
        self.weighed: Bools = valid.all(axis=1)
        self._weigh_sizes(np.log(np.where(valid, sums, MIN_PASS_SUM)) + self.scale[:, None])

    def _outside_factor(self) -> Floats:
        """By what the law may exceed its value at the edge of a window, for both sides, all
        quantiles, groups and rows.

        A place that lies further out comes nearer to the place before or after it by at most what
        the edge of that one's window lies further out. Side 0 is before windows; side 1 is its
        mirror image. `place[-side]` is the first place or the last.
        """
        group_count, rows = self.row_shortfall.shape
        ends = np.zeros((2, len(self.qs) + 2, group_count, rows))
        for side in (0, 1):
            ends[side, 1:-1] = np.moveaxis(self.place[-side] + self.shift, 2, 0)
            ends[side, -1] = self.row_shortfall
        ends[1] *= -1
        distance = np.maximum(ends[:, 1:-1] - [ends[:, :-2], ends[:, 2:]], 0.0).sum(axis=0)
        factor: Floats = np.exp(np.minimum(distance * self.row_share, 4 * MAX_NATS))
        return factor

    def _weigh_sizes(self, rows: Floats) -> None:
        """The weights of sizes, as `Proposal` has them: those without a pass of their own by a
        bound, and how rare those beyond are.
        """
        volume = len(self.qs) * math.log(self.size) - math.lgamma(len(self.qs) + 1)
        middle_weight = rows[:, 1 + self.weighed_reach]
        nats = max(volume - float(middle_weight.min()) + RARE_SIZE_BITS * math.log(2), 0.0)
        self.size_reach = reach = max(math.ceil(2 * nats / SIZE_SPACING) + 1, self.weighed_reach)
        steps = np.arange(-reach, reach + 1)
        distance = SIZE_SPACING / 2 * np.abs(steps)
        wrong = np.abs(self.shortfall[:, None] - SIZE_SPACING / 2 * steps)
        bound = rows[:, :1] + FLAT_SHARE * distance - (1 - FLAT_SHARE) * wrong
        bound[:, reach - self.weighed_reach : reach + self.weighed_reach + 1] = rows[:, 1:]
        bound[self.middle[:, None] + steps < FIRST_SIZE] = -np.inf
        top = bound.max(axis=1, keepdims=True)
        self.sizes = np.exp(bound - top)
        self.some_size: Bools = np.isfinite(bound)
        total = top[:, 0] + np.log(self.sizes.sum(axis=1))
        self.log_top = total + WEIGHT_TOLERANCE
        off = SIZE_SPACING / 2 * (reach + 0.5)
        self.rare_size_bits = np.minimum(np.floor((total + off - volume) / math.log(2)) - 3, 60)

    def _bounded_share(self) -> float:
        """The share of drafts with a size that is weighed by a bound."""
        weighed = self.sizes[
            :, self.size_reach - self.weighed_reach : self.size_reach + self.weighed_reach + 1
        ]
        bounded = 1 - weighed.sum(axis=1) / self.sizes.sum(axis=1)
        return float(bounded[self.weighed].sum()) / len(bounded)

    def _fitting(self) -> Bools:
        """For which groups doubles hold all that is weighed, and no bound is too weak to be of
        use.
        """
        nats = np.abs(self.shift).max(axis=(1, 2))
        finite = self.weighed & np.isfinite(self.log_top) & np.isfinite(self.scale)
        finite &= np.isfinite(self.sizes).all(axis=1)
        wide = nats + float(self.place[-1]) <= MAX_NATS
        # What lies before one window lies before what lies after the next one.
        distance = np.abs(np.diff(self.shift, axis=2)).max(axis=(1, 2), initial=0.0)
        fits: Bools = finite & wide & (distance <= 2 * self.place[-1]) & (self.rare_size_bits > 0)
        return fits


class Factor(NamedTuple):
    """The inverse probability of a choice, for each draft: `top / bottom`."""

    top: Ints
    bottom: Ints


class GroupedDrafts:
    """A size and places for each of some groups.

    Their probabilities are products of fractions of whole numbers, so a draft can be accepted with
    a probability that is known exactly: nearly always doubles are precise enough.
    """

    def __init__(self, proposal: GroupedProposal, groups: Ints, source: Entropy) -> None:
        self._proposal, self._groups, self._source = proposal, groups, source
        quantiles = len(proposal.qs)
        words = source.words(len(groups) * DRAFT_WORDS * (quantiles + 1)).reshape(-1, len(groups))
        self._word, places = words[0], words[DRAFT_WORDS:].reshape(DRAFT_WORDS, quantiles, -1)
        bits = proposal.rare_size_bits[groups].astype(np.uint64)
        self._has_rare_size: Bools = words[1] >> (np.uint64(WORD) - bits) == 0
        pick, factor = _pick(proposal.sizes[groups], proposal.some_size[groups], words[2], source)
        self._step = pick - proposal.size_reach
        self._factors = [factor]
        self._outside: dict[int, Fraction] = {}  # one over the densities of places outside
        self.candidates, self._rank = np.zeros((2, len(groups), quantiles), dtype=np.int64)
        blocks = self._blocks(places[0])
        for j, block in enumerate(blocks):
            self._places(j, block, places[1, j], places[2, j])
        self._ordered = self._order()

    def _blocks(self, words: Words) -> list[Ints]:
        """Block by block from the last place to the first."""
        proposal, groups = self._proposal, self._groups
        row = np.where(
            np.abs(self._step) <= proposal.weighed_reach, 1 + proposal.weighed_reach + self._step, 0
        )
        share, shift = proposal.row_share[row], proposal.shift[groups, row]
        weights: Floats = proposal.last[groups, row]
        blocks: list[Ints] = []
        for j in range(len(proposal.qs) - 1, -1, -1):
            block, factor = _pick(weights, proposal.nonempty[groups, j], words[j], self._source)
            self._factors.append(factor)
            blocks.insert(0, block)
            if j:
                lies = proposal.place[block] + shift[:, j] - shift[:, j - 1]
                distance = np.abs(proposal.place - lies[:, None])
                weights = proposal.totals[j - 1][groups, row] * np.exp(-share[:, None] * distance)
        return blocks

    def _places(self, j: int, block: Ints, run_words: Words, cell_words: Words) -> None:
        """A uniform place in each block."""
        proposal, runs = self._proposal, self._proposal.runs
        window = self._groups * len(proposal.qs) + j
        outside = (block == 0) | (block == len(proposal.place) - 1)
        at = np.where(outside, 1, block)
        begin = np.where(outside, runs.cut[window], runs.begin[window, at - 1])
        end = np.where(outside, begin + 1, runs.begin[window, at])
        run, factor = _pick_of_ranges(proposal.volume, begin, end, run_words, self._source)
        cell = below_each(runs.cells[run], cell_words, self._source)
        self.candidates[:, j] = runs.start[run] + cell
        self._rank[:, j] = runs.rank[run]
        # For places outside these say nothing.
        top, bottom = (np.where(outside, 1, array) for array in factor)
        cells, parts = (np.where(outside, 1, array[run]) for array in (runs.cells, runs.parts))
        self._factors += [Factor(top, bottom), Factor(cells, parts)]
        for i in np.flatnonzero(outside).tolist():
            self._place_outside(i, j, int(window[i]), block[i] == 0)

    def _place_outside(self, i: int, j: int, window: int, before: bool) -> None:
        """A place before or after a window; its rank is counted."""
        proposal, runs = self._proposal, self._proposal.runs
        low = 0 if before else runs.end_of(int(runs.cut[window + 1]) - 1)
        high = runs.begin_of(int(runs.cut[window])) if before else proposal.size << PART_BITS
        cell, finest = place_between(low, high, self._source)
        column = proposal.groups[int(self._groups[i])]
        rank = rank_at(column.rank_of, cell, finest - (cell << PART_BITS))
        self.candidates[i, j] = cell
        self._rank[i, j] = rank - RANK_UNIT * int(runs.base[window])
        density = Fraction(high - low, 1 << PART_BITS)
        self._outside[i] = self._outside.get(i, Fraction(1)) * density

    def _order(self) -> Bools:
        """A mask of the drafts whose places are in order. Places at one candidate with one rank
        come in any order: one over the density of all orders together.
        """
        base = self._proposal.runs.base.reshape(-1, len(self._proposal.qs))[self._groups]
        rank, cell = RANK_UNIT * base + self._rank, self.candidates
        level = rank[:, :-1] == rank[:, 1:]
        orders, tied = np.ones((2, len(rank)), dtype=np.int64)
        for is_tied in (level & (cell[:, :-1] == cell[:, 1:])).T:
            tied = np.where(is_tied, tied + 1, 1)
            orders *= tied
        self._factors.append(Factor(np.ones_like(orders), orders))
        rising = (rank[:, :-1] < rank[:, 1:]) | (level & (cell[:, :-1] <= cell[:, 1:]))
        ordered: Bools = rising.all(axis=1)
        return ordered

    def accepted(self) -> Bools:
        """A mask of the accepted drafts, decided in doubles where these are certain.

        `words` are whole numbers of 64 bits: the uniform number lies between this one and the next,
        over 2**64.
        """
        chance, slack = self._chances()
        words = self._word.astype(np.float64)
        with np.errstate(divide="ignore"):
            low, high = (np.log(words + offset) - WORD * math.log(2) for offset in (0, 1))
        possible = chance <= 0  # else let the exact way say that it is not
        yes: Bools = self._ordered & ~self._has_rare_size & possible & (high <= chance - slack)
        no = ~self._ordered | (possible & (low >= chance + slack))
        for i in np.flatnonzero(~yes & (~no | self._has_rare_size)).tolist():
            draft = self.draft(i)
            if draft.ratio and bernoulli(draft.exponent, draft.ratio, self._source, draft.word):
                yes[i] = True
                self.candidates[i] = draft.candidates
        return yes

    def _chances(self) -> tuple[Floats, Floats]:
        """The logarithm of the probability that each draft is accepted with, unless it is beyond
        the sizes that are weighed, and more than what it may be off by.
        """
        proposal, groups = self._proposal, self._groups
        shortfall = proposal.shortfall[groups] - SIZE_SPACING / 2 * self._step
        ends = np.zeros((len(groups), len(proposal.qs) + 2))
        ends[:, 1:-1] = (
            self._rank * proposal.nat
            - proposal.fraction[groups]
            + shortfall[:, None] * proposal.cumulative_shares
        )
        ends[:, -1] = shortfall
        logs = [np.log(factor.top / factor.bottom) for factor in self._factors]
        logs += [
            -proposal.log_top[groups],
            -np.abs(np.diff(ends)).sum(axis=1),
            np.zeros(len(groups)),
        ]
        for i, density in self._outside.items():
            logs[-1][i] = math.log(density.numerator) - math.log(density.denominator)
        size = np.abs(logs).sum(axis=0) + np.abs(ends).sum(axis=1) + 1
        return np.sum(logs, axis=0), DRAFT_SLACK * size

    def draft(self, i: int) -> Draft:
        """One of the drafts in exact numbers, with a ratio of 0 if its places are not in order or
        there is no such size.
        """
        if self._has_rare_size[i]:
            return self._rare_size_draft(i)
        proposal, group = self._proposal, int(self._groups[i])
        base = proposal.runs.base[group * len(proposal.qs) : (group + 1) * len(proposal.qs)]
        ranks = [
            RANK_UNIT * b + r for b, r in zip(base.tolist(), self._rank[i].tolist(), strict=True)
        ]
        ratio = self._outside.get(i, Fraction(1)) * int(self._ordered[i])
        ratio *= Fraction(
            math.prod(int(f.top[i]) for f in self._factors),
            math.prod(int(f.bottom[i]) for f in self._factors),
        )
        index = int(proposal.middle[group] + self._step[i])
        return self._exact_draft(i, index, self.candidates[i].tolist(), ranks, ratio)

    def _rare_size_draft(self, i: int) -> Draft:
        """A uniform tuple, with a size beyond those that are weighed."""
        proposal, group = self._proposal, int(self._groups[i])
        middle, column = int(proposal.middle[group]), proposal.groups[group]
        first, end = max(FIRST_SIZE, middle - proposal.size_reach), middle + proposal.size_reach + 1
        index, cells, ratio = tuple_of_far_size(
            first, end, proposal.size, len(proposal.qs), self._source
        )
        if index < FIRST_SIZE:
            return Draft(Fraction(0), [], [], Fraction(0), Fraction(0), 0, None)
        ranks = [rank_at(column.rank_of, cell, part) for cell, part in cells]
        # One over the odds of a rare size: one of a weighed size counts as 1.
        ratio *= 2 ** int(proposal.rare_size_bits[group]) - 1
        return self._exact_draft(i, index, [cell for cell, _ in cells], ranks, ratio)

    def _exact_draft(
        self, i: int, index: int, candidates: list[int], ranks: list[int], ratio: Fraction
    ) -> Draft:
        proposal, group = self._proposal, int(self._groups[i])
        size = SIZE_SPACING * index / proposal.epsilon
        ends = (0, *ranks, RANK_UNIT * proposal.groups[group].total)
        gaps = [Fraction(b - a, RANK_UNIT) for a, b in pairwise(ends)]
        score = sum(
            (abs(gap - size * share) for gap, share in zip(gaps, proposal.shares, strict=True)),
            Fraction(0),
        )
        exponent = Fraction(float(proposal.log_top[group])) + proposal.epsilon / 2 * score
        return Draft(size, candidates, ranks, exponent, ratio, int(self._word[i]), None)


def _pick(weights: Floats, nonempty: Bools, words: Words, source: Entropy) -> tuple[Ints, Factor]:
    """In each row an index with a probability near its weight, one that holds something, and one
    over its exact probability.
    """
    top = np.maximum(weights.max(axis=1, keepdims=True), 1e-300)
    integers = (weights / top * WEIGHT_SCALE).astype(np.int64) + nonempty
    cumulative = np.cumsum(integers, axis=1)
    bound = cumulative[:, -1]
    pick = (cumulative <= below_each(bound, words, source)[:, None]).sum(axis=1)
    return pick, Factor(bound, integers[np.arange(len(pick)), pick])


def _pick_of_ranges(
    volume: Floats, begin: Ints, end: Ints, words: Words, source: Entropy
) -> tuple[Ints, Factor]:
    """A run of each range, drawn by its volume."""
    length = end - begin
    first = np.cumsum(length) - length
    run = np.arange(int(length.sum())) + np.repeat(begin - first, length)
    top = np.maximum.reduceat(volume[run], first)
    # So that what all of them add up to is a whole number of 64 bits.
    scale = min(WEIGHT_SCALE, 2**62 // len(run))
    integers = (volume[run] / np.repeat(top, length) * scale).astype(np.int64) + 1
    cumulative = np.cumsum(integers)
    before = cumulative[first] - integers[first]
    bound = cumulative[first + length - 1] - before
    at = np.searchsorted(cumulative, before + below_each(bound, words, source), side="right")
    return run[at], Factor(bound, integers[at])
