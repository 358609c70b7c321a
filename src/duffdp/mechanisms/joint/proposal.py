"""A law to draw several quantiles from that covers the exact one, over blocks of candidates; and
the draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from duffdp.domain import Floats, Ints
from duffdp.rank_profile import FINEST, UNIT, RankProfile
from duffdp.sampling.entropy import Entropy
from duffdp.sampling.lazy_uniform import happens

Bools = npt.NDArray[np.bool_]

# Sizes are multiples of 16 / epsilon: a finer grid of sizes does not make quantiles better.
SPACING = 16
# Far above what rounding does to the weights of a proposal, far below what a rejection costs.
TOLERANCE = 2.0**-10
RARE = 32  # bits: candidates outside the windows are visited one time in 2**32
SCALE = 2**40  # weights of a proposal as whole numbers


class Blocks:
    """Runs joined while their ranks, times c, stay within `most` of each other.

    A block holds whole candidates and gaps, or parts of one candidate.
    """

    def __init__(self, profile: RankProfile, c: float, most: float) -> None:
        self._profile = profile
        begin, within = _block_begins(profile, min(int(most * UNIT / c), 2**62))
        end = np.append(begin[1:], len(profile.rank))
        self._begin = begin
        first, last = profile.rank[begin], profile.rank[end - 1]
        width = last - first
        self.rank: Ints = first + width // 2
        self.spread = (
            float((width + (width > 0)).max()) * c / UNIT
        )  # one more for the rounding of the middle
        whole = profile.start[end - 1] + profile.cells[end - 1] - profile.start[begin]
        self._many = np.where(within, end - begin, whole)
        self._parts = np.where(within, profile.parts[begin], 1)
        self._within = within
        self.log_volume: Floats = np.log(self._many) - np.log(self._parts)

    def window(self, j: int) -> tuple[int, int]:
        """The blocks that make up the window of quantile j."""
        low, high = self._profile.low[j], self._profile.high[j]
        return int(np.searchsorted(self._begin, low)), int(np.searchsorted(self._begin, high))

    def volume(self, block: int) -> Fraction:
        """How many candidates a block holds; a part of a candidate counts as such."""
        return Fraction(int(self._many[block]), int(self._parts[block]))

    def place(self, block: int, words: list[int], source: Entropy) -> tuple[int, int]:
        """A uniform place in a block: its candidate and its rank."""
        runs, first = self._profile, int(self._begin[block])
        place = _below(int(self._many[block]), words, source)
        if self._within[block]:
            return int(runs.start[first]), int(runs.rank[first + place])
        cell, part = int(runs.start[first]) + place, _below(1 << FINEST, words, source)
        run = int(np.searchsorted(runs.start, cell, side="left"))
        if run == len(runs.start) or runs.start[run] != cell:
            run -= 1  # within a gap
        return cell, int(runs.rank[run + (part * int(runs.parts[run]) >> FINEST)])


def _block_begins(runs: RankProfile, room: int) -> tuple[Ints, Bools]:
    """Where blocks begin, and whether each lies within one candidate.

    Cells of a fixed grid of ranks, `room` wide, are stretches: what begins and ends in one differs
    by less than `room`.
    """
    many = len(runs.rank)
    start, part = runs.start, runs.part
    fresh = _changes(start)  # the first run of a candidate or gap
    head = np.flatnonzero(fresh)
    tail = np.append(head[1:], many) - 1
    edge = np.zeros(many + 1, dtype=bool)
    edge[runs.low + runs.high] = True
    # Runs that do not go on where the one before ended: a hole between windows.
    hole = np.ones(many, dtype=bool)
    meets = (
        (start[:-1] + runs.cells[:-1] == start[1:])
        & (part[:-1] == runs.parts[:-1] - 1)
        & (part[1:] == 0)
    )
    hole[1:] = np.where(fresh[1:], ~meets, part[1:] != part[:-1] + 1)
    cut = edge[:-1] | hole | _changes(runs.rank // max(room, 1))
    # A candidate that is not whole, or is cut, is taken by its parts.
    inside = np.cumsum(cut & ~fresh)
    split = (tail - head + 1 != runs.parts[head]) | (inside[tail] != inside[head])
    within = np.repeat(split, tail - head + 1)
    begin = np.flatnonzero(cut | (fresh & (within | np.append(True, within[:-1]))))
    return begin, within[begin]


def _changes(values: Ints) -> Bools:
    """Where a value differs from the one before."""
    changes = np.ones(len(values), dtype=bool)
    changes[1:] = values[1:] != values[:-1]
    return changes


@dataclass(frozen=True, slots=True)
class _Layer:
    """The window of one quantile: its blocks, and their ranks less the wanted rank, times c."""

    low: int
    high: int
    place: Floats


@dataclass(frozen=True, slots=True)
class _Passed:
    """A forward pass: for every layer the log-weight of coming from an earlier block, of ending
    in a block, and the last.
    """

    entry: list[Floats]
    total: list[Floats]
    last: Floats


class Proposal:
    """A law to draw from that is, up to a factor, nowhere below the exact one; draws are accepted
    in proportion.

    Inside: a size, then blocks by backward sampling from a forward pass in doubles, with weights
    rounded to whole numbers, so that the probability of every draw is known exactly. Outside
    (another size, or a place outside its window): a uniform tuple.
    """

    def __init__(self, profile: RankProfile, epsilon: Fraction, nats: float) -> None:
        """Sizes within `nats` of the true one, in the score times c; no place outside the
        windows may be nearer.
        """
        qs = profile.qs
        self._profile, self._qs, self._epsilon = profile, qs, epsilon
        self._shares = [b - a for a, b in pairwise((Fraction(0), *qs, Fraction(1)))]
        self._blocks = Blocks(profile, float(epsilon) / 2, 1 / len(qs))
        self._layers = [self._layer(j) for j in range(len(qs))]
        middle = float(epsilon) / 2 * profile.total
        spacing = SPACING / 2  # c times 16 / epsilon
        self._first = max(0, math.ceil((middle - nats) / spacing))
        self._sizes = max(1, math.floor((middle + nats) / spacing) - self._first + 1)
        weights = np.array(
            [log_sum(self._forward(self._first + i).last) for i in range(self._sizes)]
        )
        self._size_weights = weights
        top = log_sum(weights) + TOLERANCE + len(qs) * self._blocks.spread
        self._log_top = Fraction(top)
        volume = (
            len(qs) * math.log(profile.size) - math.lgamma(len(qs) + 1) + math.log(self._sizes + 4)
        )
        self.bits = min(math.floor((top + nats - volume) / math.log(2)) - 1, 60)

    @classmethod
    def fitting(cls, profile: RankProfile, epsilon: Fraction) -> Proposal:
        """The one that is hardly ever left for what lies outside of it, as far as the windows
        allow that.
        """
        nats = min(needed_nats(profile, epsilon), nats_outside(profile, epsilon))
        return cls(profile, epsilon, nats)

    def release(self, source: Entropy) -> list[int]:
        """The indices of one candidate for each share, exactly from the joint law."""
        while True:
            if (found := self.draw(source)) is not None:
                return found

    def _layer(self, j: int) -> _Layer:
        low, high = self._blocks.window(j)
        wanted = UNIT * self._profile.total * self._qs[j]
        whole = math.floor(wanted)  # differences of ranks are small, ranks need not be
        away = (self._blocks.rank[low:high] - whole).astype(np.float64) - float(wanted - whole)
        return _Layer(low, high, away * (float(self._epsilon) / 2 / UNIT))

    def _excess(self, size: int) -> float:
        """c times the number of records less the size."""
        return float(self._epsilon * self._profile.total - SPACING * size) / 2

    def _forward(self, size: int) -> _Passed:
        """Each layer is two linear recursions, for the exponential kernel falls geometrically to
        both sides.
        """
        excess, volume = self._excess(size), self._blocks.log_volume
        entries: list[Floats] = []
        totals: list[Floats] = []
        for j, layer in enumerate(self._layers):
            share = float(self._shares[j])
            if j == 0:
                entry = -np.abs(layer.place + excess * share)
            else:
                entry = _step(totals[-1], self._layers[j - 1], layer, excess * share)
            total = entry + volume[layer.low : layer.high]
            for many in range(
                2, j + 2
            ):  # `many` places in one block: volume**many / many!, and empty gaps between them
                first = self._layers[j + 1 - many]
                shared = first.high - layer.low
                if shared <= 0:
                    break
                together = entries[j + 1 - many][layer.low - first.low :] + self._together(
                    j, many, size, layer.low, first.high
                )
                total[:shared] = np.logaddexp(total[:shared], together)
            entries.append(entry)
            totals.append(total)
        last = totals[-1] - np.abs(excess * float(self._shares[-1]) - self._layers[-1].place)
        return _Passed(entries, totals, last)

    def _together(self, j: int, many: int, size: int, low: int, high: int) -> Floats:
        """Log-weight of the places j - many + 1 .. j in one block, without the gap before the
        first of them.
        """
        gaps = SPACING / 2 * size * float(self._qs[j] - self._qs[j + 1 - many])
        together: Floats = many * self._blocks.log_volume[low:high] - math.lgamma(many + 1) - gaps
        return together

    def draw(self, source: Entropy) -> list[int] | None:
        """One draw from the exact law, or None if the proposal was turned down."""
        odds = 2 ** max(self.bits, 0)
        # All at once: three, and for each quantile its block, how many share it, the candidate and
        # its part.
        first, *words = source.words(3 + 4 * len(self._qs)).tolist()
        if _below(odds + 2 ** max(-self.bits, 0), words, source) < odds:
            size, ratio, places = self._inside(words, source)
            exponent = self._log_top
        else:
            found = self._outside(source)
            if found is None:
                return None
            size, ratio, places = found
            exponent, ratio = self._log_top, ratio * Fraction(2) ** self.bits
        exponent += self._score(size, [rank for _, rank in places]) * self._epsilon / 2
        return [cell for cell, _ in places] if happens(exponent, ratio, source, first) else None

    def _score(self, size: int, ranks: list[int]) -> Fraction:
        s, ends = SPACING * size / self._epsilon, (0, *ranks, UNIT * self._profile.total)
        return sum(
            (
                abs(Fraction(b - a, UNIT) - s * share)
                for (a, b), share in zip(pairwise(ends), self._shares, strict=True)
            ),
            Fraction(0),
        )

    def _inside(
        self, words: list[int], source: Entropy
    ) -> tuple[int, Fraction, list[tuple[int, int]]]:
        """A size and places, from the last to the first, and one over the exact density of
        proposing them.
        """
        pick, ratio = _pick(self._size_weights, words, source)
        size = self._first + pick
        passed, excess = self._forward(size), self._excess(size)
        weights, j = passed.last, len(self._qs) - 1
        places: list[tuple[int, int]] = []
        while j >= 0:
            layer = self._layers[j]
            local, factor = _pick(weights, words, source)
            block = layer.low + local
            ratio *= factor
            many, factor = self._how_many(passed, j, block, size, words, source)
            ratio *= factor * self._blocks.volume(block) ** many / math.factorial(many)
            found = [self._blocks.place(block, words, source) for _ in range(many)]
            places += sorted(found, reverse=True)
            j -= many
            if j >= 0:
                before, gap = self._layers[j], excess * float(self._shares[j + 1])
                until = min(block, before.high) - before.low
                later = self._layers[j + 1].place[block - self._layers[j + 1].low]
                weights = passed.total[j][:until] - np.abs(later - before.place[:until] + gap)
        return size, ratio, places[::-1]

    def _how_many(
        self, passed: _Passed, j: int, block: int, size: int, words: list[int], source: Entropy
    ) -> tuple[int, Fraction]:
        """How many places, the one of layer j the last of them, lie in this block."""
        logs = []
        for many in range(1, j + 2):
            first = self._layers[j + 1 - many]
            if not first.low <= block < first.high:
                break
            together = self._together(j, many, size, block, block + 1)[0]
            logs.append(passed.entry[j + 1 - many][block - first.low] + together)
        pick, ratio = _pick(np.array(logs), words, source)
        return pick + 1, ratio

    def _outside(self, source: Entropy) -> tuple[int, Fraction, list[tuple[int, int]]] | None:
        """A uniform tuple with a size near the windows or, less and less likely, far from them;
        None if it is inside.
        """
        pick, halvings = source.below(self._sizes + 4), 0
        size, known = self._first + pick, pick < self._sizes
        if not known:
            while source.below(2):
                halvings += 1
            size = self._first + self._sizes + halvings if pick % 2 else self._first - 1 - halvings
            if size < 0:
                return None
        cells = sorted(
            (source.below(self._profile.size), source.below(1 << FINEST)) for _ in self._qs
        )
        places = [(cell, self._profile.rank_at(cell, part)) for cell, part in cells]
        if known and all(self._profile.holds(j, *place) for j, place in enumerate(places)):
            return None
        # Far sizes are two of four parts for each side, halved once for the side's first size and
        # then again and again.
        ratio = (
            Fraction(
                self._profile.size ** len(self._qs) * (self._sizes + 4),
                math.factorial(len(self._qs)),
            )
            * 2**halvings
        )
        return size, ratio, places


def needed_nats(profile: RankProfile, epsilon: Fraction) -> float:
    """c times the score beyond which all that is left out is visited about one time in 2**RARE."""
    short = RARE - Proposal(profile, epsilon, 0.0).bits  # one size tells
    needed = max(short * math.log(2), 8.0)
    return needed + math.log(needed)  # for the number of sizes


def nats_outside(profile: RankProfile, epsilon: Fraction) -> float:
    """c times the least score of places outside the windows, whatever the size."""
    c = float(epsilon) / 2
    return min(
        c * away / max(float(q), 1 - float(q))
        for away, q in zip(profile.away, profile.qs, strict=True)
    )


def _step(total: Floats, before: _Layer, layer: _Layer, gap: float) -> Floats:
    """log of the sum over earlier blocks of exp(total - |place - earlier place + gap|), for
    every block of a layer.
    """
    end = np.minimum(np.arange(layer.low, layer.high), before.high) - before.low
    split = np.minimum(np.searchsorted(before.place, layer.place + gap, side="right"), end)
    rising = np.logaddexp.accumulate(total + before.place)
    near = np.where(split > 0, rising[np.maximum(split, 1) - 1], -np.inf) - (layer.place + gap)
    return np.logaddexp(
        near, range_log_sums(total - before.place, split, end) + (layer.place + gap)
    )


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


def log_sum(logs: Floats) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def range_log_sums(logs: Floats, low: Ints, high: Ints) -> Floats:
    """log of the sum of exp(logs[low:high]) for ranges whose ends never go back; no differences,
    so nothing cancels.
    """
    out = np.full(len(low), -np.inf)
    i = 0
    while i < len(low):
        pivot, first = int(high[i]), int(low[i])
        until = int(np.searchsorted(low, pivot, side="right"))
        if pivot > first:
            back = np.append(np.logaddexp.accumulate(logs[first:pivot][::-1])[::-1], -np.inf)
            out[i:until] = back[low[i:until] - first]
        most = int(high[until - 1])
        if most > pivot:
            ahead = np.concatenate([[-np.inf], np.logaddexp.accumulate(logs[pivot:most])])
            out[i:until] = np.logaddexp(out[i:until], ahead[high[i:until] - pivot])
        i = until
    return out
