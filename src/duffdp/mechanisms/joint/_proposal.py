"""A proposal distribution for several quantiles that covers the exact one, and drafts from it that
are accepted in proportion.

Promise: A proposal is nowhere below the exact weight, and drafts are accepted in proportion.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from itertools import groupby, pairwise

import numpy as np

from duffdp._rank_profile import BLOCK_FINENESS, PART_BITS, RANK_UNIT, RankProfile
from duffdp._sampling.entropy import Entropy
from duffdp.domain import Floats, Ints
from duffdp.mechanisms.joint._draft import (
    Bools,
    Draft,
    Layer,
    Place,
    place_between,
    tuple_of_far_size,
)

Pass = tuple[list[Floats], list[Floats], Floats]

# Sizes are multiples of 16 / epsilon: a finer grid of sizes does not make quantiles better. None is
# 0, for which all tuples would weigh the same: with few records they would outweigh the good ones.
SIZE_SPACING, FIRST_SIZE = 16, 1
# Far above what rounding does to the weights of a proposal, far below what a rejection costs.
WEIGHT_TOLERANCE = 2.0**-10
RARE_SIZE_BITS = 32  # sizes beyond those that are weighed are drawn one time in 2**32
WEIGHT_SCALE = 2**40  # weights of a proposal as whole numbers
# Of epsilon: a pass for sizes that are so unlikely, by so many nats, that their weight is bounded
# alone.
FLAT_SHARE, UNLIKELY_NATS = 1 / 4, 2.5
WEIGHED_SIZES = 2  # sizes to each side that are weighed together at first
DRAFT_WORDS = 3  # that a draft takes, and as many for each quantile
MAX_SHARED_NATS = 2.0  # blocks are made finer if this much was lost to places that share one,
MAX_BLOCK_NATS = 4.0  # or so much to ranks that one block holds


class Proposal:
    """A distribution over sizes and places that is, up to a known factor, nowhere below the exact
    one.

    First a size is drawn, then blocks from the last layer to the first by a forward pass in
    doubles, then uniform places in the blocks. Weights are rounded to whole numbers, so the
    probability of every draft is known exactly. Sizes far from the number of records come with a
    uniform tuple.
    """

    def __init__(
        self,
        profile: RankProfile,
        epsilon: Fraction,
        fineness: int = BLOCK_FINENESS,
    ) -> None:
        self._profile, self._epsilon, self._fineness = profile, epsilon, fineness
        shares = [b - a for a, b in pairwise((Fraction(0), *profile.qs, Fraction(1)))]
        self._share_unit = math.lcm(*(share.denominator for share in shares))
        self._shares = [int(share * self._share_unit) for share in shares]
        self._volume: Floats = profile.cells / profile.parts
        self._layers: list[Layer] = []
        for j in range(len(profile.qs)):
            self._layers.append(self._layer(j))
        self._passes: dict[tuple[Fraction, float], Pass] = {}
        self._rare_size_bits: int | None = None
        if profile.records is None:
            self._weigh_sizes()
        else:
            self._middle = Fraction(profile.records)
            self._sizes, self._unlikely = [self._middle], np.zeros(1, dtype=bool)
            self._weights = np.array([self._weight(self._middle)])
        self._log_top = Fraction(_log_sum(self._weights) + WEIGHT_TOLERANCE)

    def _layer(self, j: int) -> Layer:
        profile, begin, high = self._profile, self._profile.blocks[j], int(self._profile.high[j])
        end = np.append(begin[1:], high)
        target = RANK_UNIT * profile.total * profile.qs[j]
        target_floor = math.floor(target)  # differences of ranks are small, ranks need not be
        scale = float(self._epsilon) / 2 / RANK_UNIT
        low_rank, high_rank = ((profile.rank[at] - target_floor) * scale for at in (begin, end - 1))
        place = np.concatenate([low_rank[:1], (low_rank + high_rank) / 2, high_rank[-1:]])
        low = int(begin[0])
        before = float(profile.start[low]) + profile.part[low] / profile.parts[low]
        window_end = float(profile.start[high - 1]) + (
            (profile.part[high - 1] + profile.cells[high - 1]) / profile.parts[high - 1]
        )
        inside = np.add.reduceat(self._volume[:high], begin)
        with np.errstate(divide="ignore"):
            weight = np.log(
                np.concatenate([[before], inside, [max(profile.size - window_end, 0.0)]])
            )
        weight[1:-1] += high_rank - low_rank
        first_key = np.concatenate([[-1], 2 * begin, [2 * high - 1]])
        last_key = np.concatenate([[2 * low - 1], 2 * end - 2, [2 * len(profile.rank) + 1]])
        count, is_same = np.zeros_like(first_key), np.zeros(len(first_key), dtype=bool)
        if j:
            source = self._layers[-1]
            count = np.searchsorted(source.first, last_key, side="right")
            at = np.maximum(count - 1, 0)
            is_same = (count > 0) & (source.first[at] == first_key) & (source.last[at] == last_key)
        fraction = float(target - target_floor) * scale
        return Layer(
            float(profile.qs[j]), place - fraction, weight, first_key, last_key, count, is_same
        )

    def _weigh_sizes(self) -> None:
        """The weights of all sizes but those that are drawn about one time in 2**RARE_SIZE_BITS, by
        a bound on all their weights: the score is at least the records that a size is off by. Sizes
        that are unlikely by another bound share a pass (docs/explanation/several-quantiles.md).
        """
        profile, epsilon = self._profile, self._epsilon
        quantiles = len(profile.qs)
        middle = max(FIRST_SIZE, round(epsilon * profile.total / SIZE_SPACING))
        self._middle = SIZE_SPACING * middle / epsilon
        volume = quantiles * math.log(profile.size) - math.lgamma(quantiles + 1)
        sizes = [
            SIZE_SPACING * max(middle + k, FIRST_SIZE) / epsilon
            for k in range(-WEIGHED_SIZES, WEIGHED_SIZES + 1)
        ]
        self._weigh([(self._middle, FLAT_SHARE), *((size, 1.0) for size in dict.fromkeys(sizes))])
        middle_weight = self._weight(self._middle)
        nats = max(volume - middle_weight + RARE_SIZE_BITS * math.log(2), 0.0)
        reach = math.ceil(2 * nats / SIZE_SPACING) + 1
        self._first = max(FIRST_SIZE, middle - reach)
        self._sizes = [SIZE_SPACING * i / epsilon for i in range(self._first, middle + reach + 1)]
        distance = np.abs(np.arange(self._first, middle + reach + 1) - middle) * (SIZE_SPACING / 2)
        wrong = [float(abs(profile.total - size) * epsilon / 2) for size in self._sizes]
        bound = (
            self._weight(self._middle, FLAT_SHARE)
            + FLAT_SHARE * distance
            - (1 - FLAT_SHARE) * np.array(wrong)
        )
        self._unlikely = (bound < middle_weight - UNLIKELY_NATS) & (distance > 0)
        likely = np.flatnonzero(~self._unlikely)
        self._weigh([(self._sizes[at], 1.0) for at in likely])
        self._weights = bound
        self._weights[likely] = [self._weight(self._sizes[at]) for at in likely]
        off = SIZE_SPACING / 2 * (reach + 0.5)
        self._rare_size_bits = min(
            math.floor((_log_sum(self._weights) + off - volume) / math.log(2)) - 3, 60
        )

    def _weight(self, size: Fraction, share: float = 1.0) -> float:
        return _log_sum(self._pass(size, share)[2])

    def _pass(self, size: Fraction, share: float = 1.0) -> Pass:
        """For a size and a share of epsilon, where the blocks of every layer lie, the log-weights
        of all ways to come to them, and those of ending in each block of the last.
        """
        self._weigh([(size, share)])
        return self._passes[size, share]

    def _weigh(self, passes: list[tuple[Fraction, float]]) -> None:
        """The passes for several sizes, each with a share of epsilon: a row for each.

        The weight of two places in a row is exp(-|difference of where they lie|), which falls
        geometrically to both sides: each layer takes a few running sums.
        """
        passes = [request for request in passes if request not in self._passes]
        if not passes:
            return
        half, total = self._epsilon / 2, self._profile.total
        # By what a size is too small, in nats.
        shortfall = np.array([[float(half * (total - size))] for size, _ in passes])
        share = np.array([[share] for _, share in passes])
        lies = [(layer.place + shortfall * layer.q) * share for layer in self._layers]
        # A place outside a window has no more weight than one at its edge, unless the layers before
        # and after have blocks further out.
        ends = np.zeros((2, len(lies) + 2, len(passes)))
        for side in (0, 1):
            ends[side, 1:-1] = [lie[:, -side] for lie in lies]
            ends[side, -1] = (shortfall * share)[:, 0]
        ends[1] *= -1
        outside_nats = np.maximum(ends[:, 1:-1] - [ends[:, :-2], ends[:, 2:]], 0.0).sum(axis=0)
        totals: list[Floats] = []
        for j, layer in enumerate(self._layers):
            entry = -np.abs(lies[0])
            if j:
                earlier = self._layers[j - 1]
                moved = layer.place + shortfall * (layer.q - earlier.q)
                split = np.searchsorted(earlier.place, moved, side="right")
                entry = _exponential_sums(
                    totals[-1], lies[j - 1], lies[j], split, layer.before, layer.is_same
                )
            totals.append(entry + layer.weight)
            totals[-1][:, 0] += outside_nats[0, j]
            totals[-1][:, -1] += outside_nats[1, j]
        final = totals[-1] - np.abs(shortfall * share - lies[-1])
        for row, request in enumerate(passes):
            self._passes[request] = [x[row] for x in lies], [x[row] for x in totals], final[row]

    def draft(self, words: list[int], source: Entropy) -> Draft:
        """A size and places, with a ratio of 0 if they are not in order or there is no such size;
        takes its random words from the end of the list.
        """
        word = words.pop()
        if self._rare_size_bits is None:
            return self._weighed_draft(words, word, source)
        odds, against = 2 ** max(self._rare_size_bits, 0), 2 ** max(-self._rare_size_bits, 0)
        if _below(odds + against, words, source) < odds:
            return self._weighed_draft(words, word, source)
        return self._rare_size_draft(word, Fraction(odds, against), source)

    def _weighed_draft(self, words: list[int], word: int, source: Entropy) -> Draft:
        """Block by block from the last place to the first."""
        pick, factor = _pick(self._weights, words, source)
        size, factors = self._sizes[pick], [factor]
        lies, totals, weights = (
            self._pass(self._middle, FLAT_SHARE) if self._unlikely[pick] else self._pass(size)
        )
        blocks: list[tuple[int, int]] = []
        for j in range(len(self._layers) - 1, -1, -1):
            block, factor = _pick(weights, words, source)
            factors.append(factor)
            runs, high = self._profile.blocks[j], int(self._profile.high[j])
            edges = (
                (-1 if block == 0 else high if block > len(runs) else int(runs[block - 1])),
                (-1 if block > len(runs) else high if block == len(runs) else int(runs[block])),
            )
            blocks.insert(0, edges)
            if j:
                before = int(self._layers[j].before[block])
                weights = totals[j - 1][:before] - np.abs(lies[j][block] - lies[j - 1][:before])
                weights[-1:] -= math.log(2) * self._layers[j].is_same[block]
        places: list[Place] = []
        shared: Counter[tuple[int, int]] = Counter()
        for runs_of, block_places in groupby(blocks):
            drawn = [self._place(runs_of, words, source) for _ in block_places]
            # One block is drawn from in any order, and so is one run that lies in several blocks.
            factors += [factor for _, factor in drawn]
            factors.append(Fraction(1, math.factorial(len(drawn))))
            places += sorted(place for place, _ in drawn)
            for where, count in Counter(place.where for place, _ in drawn).items():
                shared[where] += count
                factors.append(Fraction(math.factorial(count)))
        factors += [Fraction(1, math.factorial(count)) for count in shared.values()]
        if any(a.where > b.where for a, b in pairwise(places)):
            return Draft(size, [], [], Fraction(0), Fraction(0), word, blocks)
        tops, bottoms = (
            math.prod(f) for f in zip(*(f.as_integer_ratio() for f in factors), strict=True)
        )
        return self._exact_draft(size, places, Fraction(tops, bottoms), word, blocks)

    def _place(
        self, runs: tuple[int, int], words: list[int], source: Entropy
    ) -> tuple[Place, Fraction]:
        """A place in a block, and one over its density."""
        profile, (begin, end) = self._profile, runs
        if -1 in runs:
            return self._place_outside(begin, end, source)
        run, ratio = begin, Fraction(1)
        if end - begin > 1:
            pick, ratio = _pick(np.log(self._volume[begin:end]), words, source)
            run += pick
        cells = int(profile.cells[run])
        cell = int(profile.start[run]) + (_below(cells, words, source) if cells > 1 else 0)
        where = (2 * run, cell)
        place = Place(where, cell, int(profile.rank[run]))
        return place, ratio * Fraction(cells, int(profile.parts[run]))

    def _place_outside(self, begin: int, end: int, source: Entropy) -> tuple[Place, Fraction]:
        """A place before or after a window; if no run holds it, its rank is counted."""
        profile = self._profile
        low = 0 if begin < 0 else profile.end(begin - 1)
        high = profile.begin(end) if begin < 0 else profile.size << PART_BITS
        cell, finest = place_between(low, high, source)
        run, inside = profile.find(finest)
        if inside:
            place = Place((2 * run, cell), cell, int(profile.rank[run]))
        else:
            rank = profile.rank_at(cell, finest - (cell << PART_BITS))
            place = Place((2 * run + 1, finest), cell, rank)
        return place, Fraction(high - low, 1 << PART_BITS)

    def _rare_size_draft(self, word: int, ratio: Fraction, source: Entropy) -> Draft:
        """A uniform tuple, with a size beyond those that are weighed: half as likely each time."""
        profile, end = self._profile, self._first + len(self._sizes)
        index, cells, density_ratio = tuple_of_far_size(
            self._first, end, profile.size, len(profile.qs), source
        )
        if index < FIRST_SIZE:
            return Draft(Fraction(0), [], [], Fraction(0), Fraction(0), word, None)
        places = [Place((0, 0), cell, profile.rank_at(cell, part)) for cell, part in cells]
        return self._exact_draft(
            SIZE_SPACING * index / self._epsilon, places, ratio * density_ratio, word, None
        )

    def _exact_draft(
        self,
        size: Fraction,
        places: list[Place],
        ratio: Fraction,
        word: int,
        blocks: list[tuple[int, int]] | None,
    ) -> Draft:
        candidates, ranks = [place.cell for place in places], [place.rank for place in places]
        ends = (0, *ranks, RANK_UNIT * self._profile.total)
        # Whole numbers of one common denominator: sums of fractions take six times as long.
        size_top, size_bottom = size.as_integer_ratio()
        rank_factor, share_factor = size_bottom * self._share_unit, size_top * RANK_UNIT
        score = sum(
            abs((b - a) * rank_factor - share * share_factor)
            for (a, b), share in zip(pairwise(ends), self._shares, strict=True)
        )
        exponent = self._log_top + self._epsilon * Fraction(score, 2 * RANK_UNIT * rank_factor)
        return Draft(size, candidates, ranks, exponent, ratio, word, blocks)

    def after(self, refused: Draft) -> Proposal:
        """The proposal after a refused draft: windows get wider if the draft left them, and blocks
        finer if many places shared them. The output distribution is the same.
        """
        if refused.blocks is None:
            return self
        profile, fineness = self._profile, self._fineness
        shared = {runs: k for runs, k in Counter(refused.blocks).items() if k > 2}
        # Blocks with k places are proposed as if 1 / k! were 2**(1 - k).
        lost = sum(math.lgamma(k + 1) - (k - 1) * math.log(2) for k in shared.values())
        inside = [(begin, end) for begin, end in refused.blocks if -1 not in (begin, end)]
        ranks = sum(int(profile.rank[end - 1] - profile.rank[begin]) for begin, end in inside)
        if len(inside) < len(refused.blocks):
            profile = profile.wider(2 * profile.reach)
        elif float(self._epsilon) / 2 * ranks / RANK_UNIT > MAX_BLOCK_NATS:
            # Where records are tied, no place is near the wanted rank, and blocks get wide.
            fineness *= 4
            profile = profile.cut({}, float(self._epsilon), fineness)
        elif lost > MAX_SHARED_NATS:
            single = {a: 8 << k.bit_length() for (a, b), k in shared.items() if b - a == 1}
            fineness *= 4 if len(single) < len(shared) else 1
            profile = profile.cut(single, float(self._epsilon), fineness)
        else:
            return self
        return Proposal(profile, self._epsilon, fineness)


def _pick(logs: Floats, words: list[int], source: Entropy) -> tuple[int, Fraction]:
    """An index with a probability near the weight exp(logs), and one over its exact probability."""
    weights = (np.exp(logs - logs.max()) * WEIGHT_SCALE).astype(np.int64) + (logs > -np.inf)
    cumulative = np.cumsum(weights)
    pick = int(
        np.searchsorted(cumulative, _below(int(cumulative[-1]), words, source), side="right")
    )
    return pick, Fraction(int(cumulative[-1]), int(weights[pick]))


def _below(bound: int, words: list[int], source: Entropy) -> int:
    """A uniform number from 0 to bound - 1: from the next word, or from new bits if that would
    favour some numbers.
    """
    word = words.pop()
    return word % bound if word < 2**64 - 2**64 % bound else source.below(bound)


def _log_sum(logs: Floats) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _range_log_sums(logs: Floats, low: Ints, high: Ints) -> Floats:
    """log of the sum of exp(logs[low:high]) for ranges whose ends never go back; no differences,
    so nothing cancels: every range is what lies before a pivot and what lies after it.
    """
    out = np.full(len(low), -np.inf)
    nonempty = np.flatnonzero(high > low)
    if not len(nonempty):
        return out
    low, high = low[nonempty], high[nonempty]
    pivots, begins, i = [], low.tolist(), 0
    while i < len(begins):
        pivots.append(int(high[i]))
        i = bisect_right(begins, pivots[-1], i)
    pivot = np.array(pivots)
    range_pivot = pivot[np.searchsorted(pivot, low)]
    finite = logs[np.isfinite(logs)]
    # Sums begin anew at every pivot: what was added before is too little to be noticed.
    marks = np.zeros(len(logs) + 1)
    marks[pivot] = float(np.ptp(finite)) + 64 if len(finite) else 1.0
    stretch = np.cumsum(marks[:-1])
    backward = np.logaddexp.accumulate((logs - stretch)[::-1])[::-1] + stretch
    sums = np.where(low < range_pivot, backward[np.minimum(low, len(logs) - 1)], -np.inf)
    if (high > range_pivot).any():
        forward = np.logaddexp.accumulate(logs + stretch) - stretch
        sums = np.where(high > range_pivot, np.logaddexp(sums, forward[high - 1]), sums)
    out[nonempty] = sums
    return out


def _exponential_sums(
    total: Floats, source: Floats, target: Floats, split: Ints, before: Ints, is_same: Bools
) -> Floats:
    """In each row, for each target the log of the sum of exp(total - |target - source|) over as
    many sources as `before` says, the last of them by half if it `is_same`; the first `split`
    sources do not lie to the right of the target.
    """
    until = before - is_same
    split = np.minimum(split, until)
    rising = np.logaddexp.accumulate(total + source, axis=1)
    rising_sums = np.take_along_axis(rising, np.maximum(split, 1) - 1, axis=1)
    left_sums = np.where(split > 0, rising_sums, -np.inf) - target
    rows = np.arange(len(total))[:, None] * total.shape[1]  # one after the other
    right_sums = _range_log_sums(
        (total - source).ravel(), (rows + split).ravel(), (rows + until).ravel()
    )
    sums = np.logaddexp(left_sums, right_sums.reshape(target.shape) + target)
    if is_same.any():
        at = np.maximum(before - 1, 0)
        same_block = total[:, at] - np.abs(target - source[:, at]) - math.log(2)
        sums = np.where(is_same, np.logaddexp(sums, same_block), sums)
    return sums
