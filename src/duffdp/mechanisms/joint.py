"""One exponential mechanism for several quantiles and the number of records together, drawn exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from duffdp.engines.source import Source
from duffdp.mechanisms.blocks import Blocks
from duffdp.mechanisms.log_sums import log_sum, range_log_sums
from duffdp.mechanisms.mechanism import read_epsilon
from duffdp.sampling.certain import happens
from duffdp.sampling.entropy import Entropy
from duffdp.statistics.quantiles import FINEST, UNIT, Runs, runs_around

Floats = npt.NDArray[np.float64]

MOST_EPSILON = Fraction(1000)  # more would only take longer: then answers are exact already
SPACING = 16  # sizes are multiples of 16 / epsilon: a finer grid of sizes does not make quantiles better
TOLERANCE = 2.0**-10  # far above what rounding does to the weights of a proposal, far below what a rejection costs
RARE = 32  # bits: candidates outside the windows are visited one time in 2**32
SCALE = 2**40  # weights of a proposal as whole numbers
MOST_RANKS = 2**21  # a window never holds more ranks to a side


class Joint:
    """Sorted places t_1 <= ... <= t_m for several quantiles, and a size s, by one exponential mechanism.

    The score of (s, t) is `sum over gaps of |records in the gap - s * share of the gap|`, and the probability is
    proportional to `exp(-epsilon/2 * score)`, over all sorted places in the domain and all s that are multiples of 16 / epsilon.
    Records at one value are spread over the width of their candidate, so that a gap may begin within a tie.

    Parameters
    ----------
    epsilon
        The privacy loss for all quantiles together.

    Privacy
    -------
    Pure epsilon-differential privacy for neighbours that differ in one record. For any fixed (s, t) a record that joins adds 1 in
    all to the gaps, so the score moves by at most 1. With s held at the true number of records, as published, every gap moves and
    the score by up to `2 (1 - smallest share)`: making s part of the output nearly halves the noise
    (`tests/joint_test.py` enumerates both).

    Utility
    -------
    Deciles err by about 3.5 / epsilon ranks, whatever the number of records.

    Runtime
    -------
    One pass over the data, and about 50 forward passes over windows of a few hundred ranks for deciles at epsilon 1.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles" (ICML 2021): the score with s = n and its forward pass.
    `docs/several-quantiles.md`: the free size, ties, windows and the exact draw.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from duffdp.engines.arrays import Column, read
    >>> from duffdp.sampling.entropy import entropy
    >>> import duffdp
    >>> column = Column(read(range(1000)), duffdp.Grid(0, 999, 1))
    >>> duffdp.mechanisms.Joint(5.0).release(column, (Fraction(1, 4), Fraction(3, 4)), entropy(1))
    [249, 749]
    """

    name = "joint-exponential"

    def __init__(self, epsilon: Any) -> None:
        self._epsilon = min(read_epsilon(epsilon), MOST_EPSILON)
        self.epsilon = float(self._epsilon)

    def release(self, column: Source, qs: tuple[Fraction, ...], source: Entropy) -> list[int]:
        """The indices of one candidate for each of the sorted shares `qs`."""
        return self.proposal(column, qs).release(source)

    def proposal(self, column: Source, qs: tuple[Fraction, ...]) -> Proposal:
        """Windows and sizes wide enough that what they leave out is visited about one time in 2**RARE."""
        m = len(qs)
        nats = m * math.log(column.length + 2) - math.lgamma(m + 1) + RARE  # a guess that fits evenly spread records
        runs = runs_around(column, qs, self._reach(nats))
        short = RARE - Proposal(runs, qs, self._epsilon, column.size, 0.0).bits  # one size tells how wide it has to be
        needed = max(short * math.log(2), 8.0)
        needed += math.log(needed)  # for the number of sizes
        if self._outside(runs, qs) < needed - RARE / 2 * math.log(2) and self._reach(needed) > self._reach(nats):
            runs = runs_around(column, qs, self._reach(needed))
        return Proposal(runs, qs, self._epsilon, column.size, min(needed, self._outside(runs, qs)))

    def _outside(self, runs: Runs, qs: tuple[Fraction, ...]) -> float:
        """c times the least score of places outside the windows, whatever the size."""
        return min(self.epsilon / 2 * away / max(float(q), 1 - float(q)) for away, q in zip(runs.reach, qs, strict=True))

    def _reach(self, nats: float) -> int:
        return min(math.ceil(2 * nats / self.epsilon) + 1, MOST_RANKS)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The window of one quantile: its blocks, and their ranks less the wanted rank, times c."""

    low: int
    high: int
    place: Floats


@dataclass(frozen=True, slots=True)
class _Passed:
    """A forward pass: for every layer the log-weight of coming from an earlier block, of ending in a block, and the last."""

    entry: list[Floats]
    total: list[Floats]
    last: Floats


class Proposal:
    """A law to draw from that is, up to a factor, nowhere below the exact one; draws are accepted in proportion.

    Inside: a size, then blocks by backward sampling from a forward pass in doubles, with weights rounded to whole numbers, so
    that the probability of every draw is known exactly. Outside (another size, or a place outside its window): a uniform tuple.
    """

    def __init__(self, runs: Runs, qs: tuple[Fraction, ...], epsilon: Fraction, size: int, nats: float) -> None:
        self._runs, self._qs, self._epsilon, self._size = runs, qs, epsilon, size
        self._shares = [b - a for a, b in pairwise((Fraction(0), *qs, Fraction(1)))]
        self._blocks = Blocks(runs, float(epsilon) / 2, 1 / len(qs))
        self._layers = [self._layer(j) for j in range(len(qs))]
        middle = float(epsilon) / 2 * runs.total
        spacing = SPACING / 2  # c times 16 / epsilon
        self._first = max(0, math.ceil((middle - nats) / spacing))
        self._sizes = max(1, math.floor((middle + nats) / spacing) - self._first + 1)
        weights = np.array([log_sum(self._forward(self._first + i).last) for i in range(self._sizes)])
        self._size_weights = weights
        top = log_sum(weights) + TOLERANCE + len(qs) * self._blocks.spread
        self._log_top = Fraction(top)
        volume = len(qs) * math.log(size) - math.lgamma(len(qs) + 1) + math.log(self._sizes + 4)
        self.bits = min(math.floor((top + nats - volume) / math.log(2)) - 1, 60)

    @property
    def total(self) -> int:
        """The true number of records: not private."""
        return self._runs.total

    def release(self, source: Entropy) -> list[int]:
        """The indices of one candidate for each share, exactly from the joint law."""
        while True:
            if (drawn := self.draw(source)) is not None:
                return drawn

    def _layer(self, j: int) -> _Layer:
        low, high = self._blocks.window(self._runs.low[j], self._runs.high[j])
        q, n = self._qs[j], self._runs.total
        away = (self._blocks.rank[low:high] * q.denominator - UNIT * n * q.numerator).astype(np.float64)
        return _Layer(low, high, away * (float(self._epsilon) / 2 / (UNIT * q.denominator)))

    def _excess(self, size: int) -> float:
        """c times the number of records less the size."""
        return float(self._epsilon * self._runs.total - SPACING * size) / 2

    def _forward(self, size: int) -> _Passed:
        """Each layer is two linear recursions, for the exponential kernel falls geometrically to both sides."""
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
            for many in range(2, j + 2):  # `many` places in one block: volume**many / many!, and empty gaps between them
                first = self._layers[j + 1 - many]
                shared = first.high - layer.low
                if shared <= 0:
                    break
                together = entries[j + 1 - many][layer.low - first.low :] + self._together(j, many, size, layer.low, first.high)
                total[:shared] = np.logaddexp(total[:shared], together)
            entries.append(entry)
            totals.append(total)
        last = totals[-1] - np.abs(excess * float(self._shares[-1]) - self._layers[-1].place)
        return _Passed(entries, totals, last)

    def _together(self, j: int, many: int, size: int, low: int, high: int) -> Floats:
        """Log-weight of the places j - many + 1 .. j in one block, without the gap before the first of them."""
        gaps = SPACING / 2 * size * float(self._qs[j] - self._qs[j + 1 - many])
        together: Floats = many * self._blocks.log_volume[low:high] - math.lgamma(many + 1) - gaps
        return together

    def draw(self, source: Entropy) -> list[int] | None:
        """One draw from the exact law, or None if the proposal was turned down."""
        odds = 2 ** max(self.bits, 0)
        if source.below(odds + 2 ** max(-self.bits, 0)) < odds:
            size, ratio, places = self._inside(source)
            exponent = self._log_top
        else:
            found = self._outside(source)
            if found is None:
                return None
            size, ratio, places = found
            exponent, ratio = self._log_top, ratio * Fraction(2) ** self.bits
        exponent += self._score(size, [rank for _, rank in places]) * self._epsilon / 2
        return [cell for cell, _ in places] if happens(exponent, ratio, source) else None

    def _score(self, size: int, ranks: list[int]) -> Fraction:
        s, ends = SPACING * size / self._epsilon, (0, *ranks, UNIT * self._runs.total)
        return sum(
            (abs(Fraction(b - a, UNIT) - s * share) for (a, b), share in zip(pairwise(ends), self._shares, strict=True)),
            Fraction(0),
        )

    def _inside(self, source: Entropy) -> tuple[int, Fraction, list[tuple[int, int]]]:
        """A size and places, from the last to the first, and one over the exact density of proposing them."""
        pick, ratio = _pick(self._size_weights, source)
        size = self._first + pick
        passed, excess = self._forward(size), self._excess(size)
        weights, j = passed.last, len(self._qs) - 1
        places: list[tuple[int, int]] = []
        while j >= 0:
            layer = self._layers[j]
            local, factor = _pick(weights, source)
            block = layer.low + local
            ratio *= factor
            many, factor = self._how_many(passed, j, block, size, source)
            ratio *= factor * self._blocks.volume(block) ** many / math.factorial(many)
            places += sorted((self._blocks.place(block, source) for _ in range(many)), reverse=True)
            j -= many
            if j >= 0:
                before, gap = self._layers[j], excess * float(self._shares[j + 1])
                until = min(block, before.high) - before.low
                later = self._layers[j + 1].place[block - self._layers[j + 1].low]
                weights = passed.total[j][:until] - np.abs(later - before.place[:until] + gap)
        return size, ratio, places[::-1]

    def _how_many(self, passed: _Passed, j: int, block: int, size: int, source: Entropy) -> tuple[int, Fraction]:
        """How many places, the one of layer j the last of them, lie in this block."""
        logs = []
        for many in range(1, j + 2):
            first = self._layers[j + 1 - many]
            if not first.low <= block < first.high:
                break
            together = self._together(j, many, size, block, block + 1)[0]
            logs.append(passed.entry[j + 1 - many][block - first.low] + together)
        pick, ratio = _pick(np.array(logs), source)
        return pick + 1, ratio

    def _outside(self, source: Entropy) -> tuple[int, Fraction, list[tuple[int, int]]] | None:
        """A uniform tuple with a size near the windows or, less and less likely, far from them; None if it is inside."""
        pick, halvings = source.below(self._sizes + 4), 0
        size, known = self._first + pick, pick < self._sizes
        if not known:
            while source.below(2):
                halvings += 1
            size = self._first + self._sizes + halvings if pick % 2 else self._first - 1 - halvings
            if size < 0:
                return None
        drawn = sorted((source.below(self._size), source.below(1 << FINEST)) for _ in self._qs)
        if known and all(self._runs.holds(j, cell) for j, (cell, _) in enumerate(drawn)):
            return None
        # Far sizes are two of four parts for each side, halved once for the side's first size and then again and again.
        ratio = Fraction(self._size ** len(self._qs) * (self._sizes + 4), math.factorial(len(self._qs))) * 2**halvings
        return size, ratio, [(cell, self._runs.rank_at(cell, part)) for cell, part in drawn]


def _step(total: Floats, before: _Layer, layer: _Layer, gap: float) -> Floats:
    """log of the sum over earlier blocks of exp(total - |place - earlier place + gap|), for every block of a layer."""
    end = np.minimum(np.arange(layer.low, layer.high), before.high) - before.low
    split = np.minimum(np.searchsorted(before.place, layer.place + gap, side="right"), end)
    rising = np.logaddexp.accumulate(total + before.place)
    near = np.where(split > 0, rising[np.maximum(split, 1) - 1], -np.inf) - (layer.place + gap)
    return np.logaddexp(near, range_log_sums(total - before.place, split, end) + (layer.place + gap))


def _pick(logs: Floats, source: Entropy) -> tuple[int, Fraction]:
    """An index with a probability near the weight exp(logs), and one over its exact probability."""
    weights = (np.exp(logs - logs.max()) * SCALE).astype(np.int64) + (logs > -np.inf)
    upto = np.cumsum(weights)
    pick = int(np.searchsorted(upto, source.below(int(upto[-1])), side="right"))
    return pick, Fraction(int(upto[-1]), int(weights[pick]))
