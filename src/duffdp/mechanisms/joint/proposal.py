"""A law to draw several quantiles from that covers the exact one, and drafts from it that are
accepted in proportion.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from itertools import groupby, pairwise

import numpy as np

from duffdp.domain import Floats, Ints
from duffdp.mechanisms.joint.draft import Bools, Draft, Layer, Place
from duffdp.mechanisms.joint.rare_places import place_between, tuple_of_far_size
from duffdp.rank_profile import FINENESS, FINEST, UNIT, RankProfile
from duffdp.sampling.entropy import Entropy

Pass = tuple[list[Floats], list[Floats], Floats]

# Sizes are multiples of 16 / epsilon: a finer grid of sizes does not make quantiles better. None is
# 0, for which all tuples would weigh the same: with few records they would outweigh the good ones.
SPACING, FIRST = 16, 1
# Far above what rounding does to the weights of a proposal, far below what a rejection costs.
TOLERANCE = 2.0**-10
RARE = 32  # bits: sizes beyond those that are weighed are drawn one time in 2**32
SCALE = 2**40  # weights of a proposal as whole numbers
# Of epsilon: a pass for sizes that are so unlikely, by so many nats, that their weight is bounded
# alone.
FLAT, UNLIKELY = 1 / 4, 2.5
NEAR = 2  # sizes to each side that are weighed together at first
WORDS = 3  # that a draft takes, and as many for each quantile
WORTH = 2.0  # nats: blocks are made finer if this much was lost to places that share one,
WIDE = 4.0  # or so much to ranks that one block holds


class Proposal:
    """A law over sizes and places that is, up to a known factor, nowhere below the exact one.

    A size, then blocks from the last layer to the first by a forward pass in doubles, with weights
    rounded to whole numbers, then uniform places in the blocks: so the probability of every draft
    is known exactly. Sizes far from the number of records come with a uniform tuple.
    """

    def __init__(
        self,
        profile: RankProfile,
        epsilon: Fraction,
        fineness: int = FINENESS,
    ) -> None:
        self._profile, self._epsilon, self._fineness = profile, epsilon, fineness
        self._shares = [b - a for a, b in pairwise((Fraction(0), *profile.qs, Fraction(1)))]
        self._volume: Floats = profile.cells / profile.parts
        self._layers: list[Layer] = []
        for j in range(len(profile.qs)):
            self._layers.append(self._layer(j))
        self._passes: dict[tuple[Fraction, float], Pass] = {}
        self._beyond_bits: int | None = None
        if profile.records is None:
            self._weigh_sizes()
        else:
            self._middle = Fraction(profile.records)
            self._sizes, self._unlikely = [self._middle], np.zeros(1, dtype=bool)
            self._weights = np.array([self._weight(self._middle)])
        self._log_top = Fraction(_log_sum(self._weights) + TOLERANCE)

    def _layer(self, j: int) -> Layer:
        profile, begin, high = self._profile, self._profile.blocks[j], int(self._profile.high[j])
        end = np.append(begin[1:], high)
        wanted = UNIT * profile.total * profile.qs[j]
        whole = math.floor(wanted)  # differences of ranks are small, ranks need not be
        scale = float(self._epsilon) / 2 / UNIT
        least, most = ((profile.rank[at] - whole) * scale for at in (begin, end - 1))
        place = np.concatenate([least[:1], (least + most) / 2, most[-1:]])
        low = int(begin[0])
        before = float(profile.start[low]) + profile.part[low] / profile.parts[low]
        upto = float(profile.start[high - 1]) + (
            (profile.part[high - 1] + profile.cells[high - 1]) / profile.parts[high - 1]
        )
        inside = np.add.reduceat(self._volume[:high], begin)
        with np.errstate(divide="ignore"):
            weight = np.log(np.concatenate([[before], inside, [max(profile.size - upto, 0.0)]]))
        weight[1:-1] += most - least
        first = np.concatenate([[-1], 2 * begin, [2 * high - 1]])
        last = np.concatenate([[2 * low - 1], 2 * end - 2, [2 * len(profile.rank) + 1]])
        count, same = np.zeros_like(first), np.zeros(len(first), dtype=bool)
        if j:
            source = self._layers[-1]
            count = np.searchsorted(source.first, last, side="right")
            at = np.maximum(count - 1, 0)
            same = (count > 0) & (source.first[at] == first) & (source.last[at] == last)
        rest = float(wanted - whole) * scale
        return Layer(float(profile.qs[j]), place - rest, weight, first, last, count, same)

    def _weigh_sizes(self) -> None:
        """The weights of all sizes but those that are drawn about one time in 2**RARE, by a bound
        on all their weights: the score is at least the records that a size is off by. Sizes that
        are unlikely by another bound share a pass (docs/several-quantiles.md).
        """
        profile, epsilon = self._profile, self._epsilon
        many = len(profile.qs)
        middle = max(FIRST, round(epsilon * profile.total / SPACING))
        self._middle = SPACING * middle / epsilon
        volume = many * math.log(profile.size) - math.lgamma(many + 1)
        near = [SPACING * max(middle + k, FIRST) / epsilon for k in range(-NEAR, NEAR + 1)]
        self._weigh([(self._middle, FLAT), *((size, 1.0) for size in dict.fromkeys(near))])
        own = self._weight(self._middle)
        nats = max(volume - own + RARE * math.log(2), 0.0)
        more = math.ceil(2 * nats / SPACING) + 1
        self._first = max(FIRST, middle - more)
        self._sizes = [SPACING * i / epsilon for i in range(self._first, middle + more + 1)]
        apart = np.abs(np.arange(self._first, middle + more + 1) - middle) * (SPACING / 2)
        wrong = [float(abs(profile.total - size) * epsilon / 2) for size in self._sizes]
        bound = self._weight(self._middle, FLAT) + FLAT * apart - (1 - FLAT) * np.array(wrong)
        self._unlikely = (bound < own - UNLIKELY) & (apart > 0)
        likely = np.flatnonzero(~self._unlikely)
        self._weigh([(self._sizes[at], 1.0) for at in likely])
        self._weights = bound
        self._weights[likely] = [self._weight(self._sizes[at]) for at in likely]
        off = SPACING / 2 * (more + 0.5)
        self._beyond_bits = min(
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

    def _weigh(self, asked: list[tuple[Fraction, float]]) -> None:
        """The passes for several sizes, each with a share of epsilon: a row for each.

        The weight of two places in a row is exp(-|difference of where they lie|), which falls
        geometrically to both sides: each layer takes a few running sums.
        """
        asked = [each for each in asked if each not in self._passes]
        if not asked:
            return
        half, total = self._epsilon / 2, self._profile.total
        excess = np.array([[float(half * (total - size))] for size, _ in asked])
        share = np.array([[share] for _, share in asked])
        lies = [(layer.place + excess * layer.q) * share for layer in self._layers]
        # A place outside a window has no more weight than one at its edge, unless the layers before
        # and after have blocks further out.
        ends = np.zeros((2, len(lies) + 2, len(asked)))
        for side in (0, 1):
            ends[side, 1:-1] = [lie[:, -side] for lie in lies]
            ends[side, -1] = (excess * share)[:, 0]
        ends[1] *= -1
        further = np.maximum(ends[:, 1:-1] - [ends[:, :-2], ends[:, 2:]], 0.0).sum(axis=0)
        totals: list[Floats] = []
        for j, layer in enumerate(self._layers):
            entry = -np.abs(lies[0])
            if j:
                earlier = self._layers[j - 1]
                moved = layer.place + excess * (layer.q - earlier.q)
                split = np.searchsorted(earlier.place, moved, side="right")
                entry = _exponential_sums(
                    totals[-1], lies[j - 1], lies[j], split, layer.before, layer.same
                )
            totals.append(entry + layer.weight)
            totals[-1][:, 0] += further[0, j]
            totals[-1][:, -1] += further[1, j]
        final = totals[-1] - np.abs(excess * share - lies[-1])
        for row, each in enumerate(asked):
            self._passes[each] = [x[row] for x in lies], [x[row] for x in totals], final[row]

    def draft(self, words: list[int], source: Entropy) -> Draft:
        """A size and places, with a ratio of 0 if they are not in order or there is no such size;
        takes its random words from the end of the list.
        """
        word = words.pop()
        if self._beyond_bits is None:
            return self._near(words, word, source)
        odds, against = 2 ** max(self._beyond_bits, 0), 2 ** max(-self._beyond_bits, 0)
        if _below(odds + against, words, source) < odds:
            return self._near(words, word, source)
        return self._beyond(word, Fraction(odds, against), source)

    def _near(self, words: list[int], word: int, source: Entropy) -> Draft:
        """Block by block from the last place to the first."""
        pick, factor = _pick(self._weights, words, source)
        size, factors = self._sizes[pick], [factor]
        lies, totals, weights = (
            self._pass(self._middle, FLAT) if self._unlikely[pick] else self._pass(size)
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
                weights[-1:] -= math.log(2) * self._layers[j].same[block]
        places: list[Place] = []
        shared: Counter[tuple[int, int]] = Counter()
        for runs_of, same in groupby(blocks):
            found = [self._place(runs_of, words, source) for _ in same]
            # One block is drawn from in any order, and so is one run that lies in several blocks.
            factors += [factor for _, factor in found]
            factors.append(Fraction(1, math.factorial(len(found))))
            places += sorted(place for place, _ in found)
            for where, many in Counter(place.where for place, _ in found).items():
                shared[where] += many
                factors.append(Fraction(math.factorial(many)))
        factors += [Fraction(1, math.factorial(many)) for many in shared.values()]
        if any(a.where > b.where for a, b in pairwise(places)):
            return Draft(size, [], [], Fraction(0), Fraction(0), word, blocks)
        tops, bottoms = (
            math.prod(f) for f in zip(*(f.as_integer_ratio() for f in factors), strict=True)
        )
        return self._made(size, places, Fraction(tops, bottoms), word, blocks)

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
        high = profile.begin(end) if begin < 0 else profile.size << FINEST
        cell, finest = place_between(low, high, source)
        run, holds = profile.find(finest)
        if holds:
            place = Place((2 * run, cell), cell, int(profile.rank[run]))
        else:
            rank = profile.rank_at(cell, finest - (cell << FINEST))
            place = Place((2 * run + 1, finest), cell, rank)
        return place, Fraction(high - low, 1 << FINEST)

    def _beyond(self, word: int, ratio: Fraction, source: Entropy) -> Draft:
        """A uniform tuple, with a size beyond those that are weighed: half as likely each time."""
        profile, upto = self._profile, self._first + len(self._sizes)
        index, cells, more = tuple_of_far_size(
            self._first, upto, profile.size, len(profile.qs), source
        )
        if index < FIRST:
            return Draft(Fraction(0), [], [], Fraction(0), Fraction(0), word, None)
        places = [Place((0, 0), cell, profile.rank_at(cell, part)) for cell, part in cells]
        return self._made(SPACING * index / self._epsilon, places, ratio * more, word, None)

    def _made(
        self,
        size: Fraction,
        places: list[Place],
        ratio: Fraction,
        word: int,
        blocks: list[tuple[int, int]] | None,
    ) -> Draft:
        candidates, ranks = [place.cell for place in places], [place.rank for place in places]
        ends = (0, *ranks, UNIT * self._profile.total)
        score = sum(
            (
                abs(Fraction(b - a, UNIT) - size * share)
                for (a, b), share in zip(pairwise(ends), self._shares, strict=True)
            ),
            Fraction(0),
        )
        exponent = self._log_top + self._epsilon / 2 * score
        return Draft(size, candidates, ranks, exponent, ratio, word, blocks)

    def after(self, refused: Draft) -> Proposal:
        """What to draw from once a draft was refused: windows get wider if it left them, and
        blocks finer if many places shared them. The law is the same.
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
        elif float(self._epsilon) / 2 * ranks / UNIT > WIDE:
            # Where records are tied, no place is near the wanted rank, and blocks get wide.
            fineness *= 4
            profile = profile.cut({}, float(self._epsilon), fineness)
        elif lost > WORTH:
            single = {a: 8 << k.bit_length() for (a, b), k in shared.items() if b - a == 1}
            fineness *= 4 if len(single) < len(shared) else 1
            profile = profile.cut(single, float(self._epsilon), fineness)
        else:
            return self
        return Proposal(profile, self._epsilon, fineness)


def _pick(logs: Floats, words: list[int], source: Entropy) -> tuple[int, Fraction]:
    """An index with a probability near the weight exp(logs), and one over its exact probability."""
    weights = (np.exp(logs - logs.max()) * SCALE).astype(np.int64) + (logs > -np.inf)
    upto = np.cumsum(weights)
    pick = int(np.searchsorted(upto, _below(int(upto[-1]), words, source), side="right"))
    return pick, Fraction(int(upto[-1]), int(weights[pick]))


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
    some = np.flatnonzero(high > low)
    if not len(some):
        return out
    low, high = low[some], high[some]
    pivots, begins, i = [], low.tolist(), 0
    while i < len(begins):
        pivots.append(int(high[i]))
        i = bisect_right(begins, pivots[-1], i)
    pivot = np.array(pivots)
    own = pivot[np.searchsorted(pivot, low)]
    finite = logs[np.isfinite(logs)]
    # Sums begin anew at every pivot: what was added before is too little to be noticed.
    marks = np.zeros(len(logs) + 1)
    marks[pivot] = float(np.ptp(finite)) + 64 if len(finite) else 1.0
    stretch = np.cumsum(marks[:-1])
    back = np.logaddexp.accumulate((logs - stretch)[::-1])[::-1] + stretch
    found = np.where(low < own, back[np.minimum(low, len(logs) - 1)], -np.inf)
    if (high > own).any():
        ahead = np.logaddexp.accumulate(logs + stretch) - stretch
        found = np.where(high > own, np.logaddexp(found, ahead[high - 1]), found)
    out[some] = found
    return out


def _exponential_sums(
    total: Floats, source: Floats, target: Floats, split: Ints, before: Ints, same: Bools
) -> Floats:
    """In each row, for each target the log of the sum of exp(total - |target - source|) over as
    many sources as `before` says, the last of them by half if it is the `same`; the first `split`
    sources do not lie to the right of the target.
    """
    until = before - same
    split = np.minimum(split, until)
    rising = np.logaddexp.accumulate(total + source, axis=1)
    left = np.take_along_axis(rising, np.maximum(split, 1) - 1, axis=1)
    near = np.where(split > 0, left, -np.inf) - target
    rows = np.arange(len(total))[:, None] * total.shape[1]  # one after the other
    ahead = _range_log_sums(
        (total - source).ravel(), (rows + split).ravel(), (rows + until).ravel()
    )
    found = np.logaddexp(near, ahead.reshape(target.shape) + target)
    if same.any():
        at = np.maximum(before - 1, 0)
        own = total[:, at] - np.abs(target - source[:, at]) - math.log(2)
        found = np.where(same, np.logaddexp(found, own), found)
    return found
