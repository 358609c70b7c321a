"""The race: every run of candidates gets a random key and the smallest key wins, exactly.

A candidate at distance d gets an Exp(1) time s. The exponential mechanism returns the smallest
`log(s) + c d` (Algorithm 1 of the paper); permute-and-flip, as report-noisy-max with exponential
noise, the smallest `log(1 - exp(-s)) + c d`. The first of m candidates at one distance comes at
time E/m, with E an Exp(1): one draw for a whole run. A lattice bends the noise upwards in jumps:
it still rises with the noise, so the first of m stays the first.

Exactness: E = -log(1 - V) for a uniform V of which some bits are drawn. Every key is an interval,
and runs whose intervals can still win get more bits and more digits until one is left. Bits not
drawn are never needed.

Promise: The winner is that of exact arithmetic, however doubles round.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from duffdp._sampling.entropy import Entropy, Words, below_each
from duffdp._sampling.lazy_uniform import WORD, LazyUniform, exact_context
from duffdp._steps import StepFunction, Tail, Windows
from duffdp.domain import Floats, Ints

# Bounds the rounding of the first pass in doubles (a few units of 2**-52 a step) with room to
# spare: the price of a wide slack is only that refinement is needed one time in 10**8.
RACE_SLACK = 2.0**-36
LOG_SHIFT = 90 * RACE_SLACK  # of logarithms, which are at most 90 in size
# In front of a number whose logarithm is lowered by that; an array, which numpy takes sooner.
LOWERED_SIGN = np.array(-math.exp(-LOG_SHIFT))
# From words to uniform numbers, with a minus sign; never above what the bits say, and never -1.
WORD_UNIT = np.array(-(1 - 2.0**-51) * 2.0**-WORD)
RACE_BLOCK = 2**20  # runs raced at once when many draws are asked for
Key = Fraction | float  # a float only if infinite


@dataclass(frozen=True, slots=True)
class RaceNoise:
    """Noise in the key of a candidate, in addition to its distance.

    Minus an exponential noise n, or log(s) if not `exponential`. With a `period` the noise counts
    as `period * k + slope * (n - period * k)`, k = floor(n / period): whole periods count in full,
    and the rest of the last one for a share `slope` of at most 1.
    """

    exponential: bool
    period: Fraction | None = None
    slope: Fraction = Fraction(1)
    in_doubles: tuple[float, float] = field(init=False)  # the period, and 1 less the slope

    def __post_init__(self) -> None:
        doubles = float(self.period or 0), float(1 - self.slope)
        object.__setattr__(self, "in_doubles", doubles)

    def bent(self, noise: Fraction) -> Fraction:
        """The value that an exponential noise counts as."""
        return noise if self.period is None else noise - (1 - self.slope) * (noise % self.period)


GUMBEL = RaceNoise(exponential=False)
EXPONENTIAL = RaceNoise(exponential=True)


def race(
    batch: Windows, c: Fraction, noise: RaceNoise, entropy: Entropy, *, bits: int = WORD
) -> list[int]:
    """The index of one candidate for each step function: exactly that of the smallest key, when a
    step of distance adds `c` to it."""
    words = entropy.words(len(batch.count))
    if bits < WORD:
        words = words >> np.uint64(WORD - bits)
    first = _first_pass(words, bits, batch.count, batch.distance, float(c), noise)
    low = first.low
    if len(batch.begin) == 1:
        run = int(low.argmin())
        begin = batch.start.item(run)
        if begin >= 0:
            limit, least = first.limit(run), low.item(run)
            low[run] = math.inf
            if low.item(low.argmin()) > limit:
                return [_within(begin, batch.count.item(run), entropy)]
            low[run] = least
        return [_settle(batch, 0, words, bits, first, c, noise, entropy)]
    runs = np.diff(batch.begin, append=len(low))
    least = low == np.repeat(np.minimum.reduceat(low, batch.begin), runs)
    least_count = np.add.reduceat(least, batch.begin, dtype=np.intp)
    leading = least.nonzero()[0][np.cumsum(least_count) - least_count]
    can_win = low <= np.repeat(first.limit(leading), runs)
    decided = np.add.reduceat(can_win, batch.begin, dtype=np.intp) == 1
    winner_index, count = batch.start[leading], batch.count[leading]
    unsettled = np.flatnonzero(~decided | (winner_index < 0)).tolist()
    if len(wide := np.flatnonzero(count > 1)):
        winner_index[wide] += below_each(count[wide], entropy.words(len(wide)), entropy)
    for i in unsettled:
        winner_index[i] = _settle(batch, i, words, bits, first, c, noise, entropy)
    winners: list[int] = winner_index.tolist()
    return winners


def _within(start: int, count: int, entropy: Entropy) -> int:
    """A uniform draw of one of these candidates."""
    return start + (entropy.below(count) if count > 1 else 0)


def races(
    step: StepFunction,
    size: int,
    c: Fraction,
    noise: RaceNoise,
    entropy: Entropy,
    *,
    bits: int = WORD,
) -> list[int]:
    """`size` independent draws from one step function."""
    draws_at_once = max(1, RACE_BLOCK // (len(step.distance) + 1))
    winners: list[int] = []
    while len(winners) < size:
        winners += race(
            Windows.of([step] * min(draws_at_once, size - len(winners))),
            c,
            noise,
            entropy,
            bits=bits,
        )
    return winners


def _settle(
    batch: Windows,
    position: int,
    words: Words,
    bits: int,
    first: _FirstPass,
    c: Fraction,
    noise: RaceNoise,
    entropy: Entropy,
) -> int:
    """The winner of one step function whose first pass left several that can win, or the tail."""
    place, tail = batch.place(position), batch.tail_of(position)
    best: _Contender | None = None
    low = first.low[place]
    least = first.limit(place.start + int(low.argmin())) if len(low) else math.inf
    for run in (place.start + (low <= least).nonzero()[0]).tolist():
        uniform = LazyUniform(int(words[run]), bits)
        times = _Times(uniform, batch.count.item(run))
        rival = _Contender(batch.distance.item(run), times, run=run)
        best = rival if best is None or rival.beats(best, c, noise, entropy) else best
    if tail is not None:
        best, candidate = _visit_tail(
            tail, best, LazyUniform(int(words[place.start - 1]), bits), c, noise, entropy
        )
        if candidate is not None:
            return candidate
    assert best is not None
    return _within(batch.start.item(best.run), batch.count.item(best.run), entropy)


class _FirstPass(NamedTuple):
    """Lower bounds of all keys in doubles, before slack for rounding, and the data for upper
    bounds.
    """

    low: Floats
    bend_loss: Floats | None  # what the bend took, 0 or less; None without one
    words: Words
    middle: float  # of all words
    noise: RaceNoise

    def limit(self, run: object) -> Any:
        """Bound that lower bounds exceed if they cannot win against a run, or each of several."""
        at: Any = np.ndarray.item if isinstance(run, int) else np.ndarray.take
        low = at(self.low, run)
        # Undrawn bits move V by one unit of 2**-64, and doubles by less than 2**14 near 1: little
        # where V is many units away from 0 and 1, as nearly all are.
        units = self.middle - abs(at(self.words, run) * 1.0 - self.middle)
        width = 2 * LOG_SHIFT + 2.0**16 / (units + 2.0**-990)
        high = low + width
        if self.bend_loss is not None:  # the noise of the upper bound may have a whole period less
            period, lost = self.noise.in_doubles
            high = high + lost * period * (at(self.bend_loss, run) >= -lost * width)
        return high + RACE_SLACK * (90 + abs(high))


def _first_pass(
    words: Words, bits: int, count: Ints, distance: Ints, c: float, noise: RaceNoise
) -> _FirstPass:
    """Lower bounds of all keys, and what makes upper bounds of them.

    Logarithms are at most 90 in size, and a key errs by less than 2**-48 of 90 and itself: a lower
    bound that is the larger one by `RACE_SLACK` of both belongs to the larger key.
    """
    has_zero = words.item(words.argmin()) == 0
    unit = WORD_UNIT if bits == WORD else WORD_UNIT * 2.0 ** (WORD - bits)
    time = np.multiply(np.maximum(words, 1) if has_zero else words, unit)
    np.log1p(time, out=time)
    np.divide(time, count, out=time)
    if noise.exponential:
        np.expm1(time, out=time)
    np.multiply(time, LOWERED_SIGN, out=time)
    low = np.log(time, out=time)
    bend_loss = None
    if noise.period is not None:
        period, lost = noise.in_doubles
        bend_loss = np.fmod(low, period)
        np.multiply(bend_loss, lost, out=bend_loss)
        np.subtract(low, bend_loss, out=low)  # minus what is lost of the noise, which is -low
    np.add(low, np.multiply(distance, c), out=low)
    if has_zero:
        low[words == 0] = -1e300  # nothing is known of these
    return _FirstPass(low, bend_loss, words, (2.0**bits - 1) / 2, noise)


class _Times:
    """The times at which candidates of a run are met, one after the other: E_1/m_1, E_1/m_1 +
    E_2/m_2, ...

    Bounds of these sums are kept until more bits are drawn, so that each takes one logarithm.
    """

    def __init__(self, first: LazyUniform, share: int) -> None:
        self._terms = [(first, share)]
        self.bits = first.bits  # the most that a uniform has, so that sums have digits enough
        self._sums: tuple[list[Decimal], list[Decimal]] = [], []

    def add(self, uniform: LazyUniform, share: int) -> None:
        """One more candidate; times of those before it stay."""
        self._terms.append((uniform, share))

    def refine(self, count: int, entropy: Entropy) -> None:
        """Draw more bits for the first of them."""
        for uniform, _ in self._terms[:count]:
            uniform.refine(entropy)
            self.bits = max(self.bits, uniform.bits)
        self._sums = [], []

    def bound(self, count: int, context: Context, upper: int) -> Decimal:
        """Lower or upper bound of one time, but for the rounding of `key` below."""
        sums = self._sums[upper]
        for uniform, share in self._terms[len(sums) : count]:
            complement = (1 << uniform.bits) - uniform.prefix - upper  # 1 - V in units of 2**-bits
            logarithm = context.ln(context.divide(Decimal(complement), Decimal(1 << uniform.bits)))
            before = sums[-1] if sums else Decimal(0)
            sums.append(context.subtract(before, context.divide(logarithm, Decimal(share))))
        return sums[count - 1]


@dataclass(slots=True)
class _Contender:
    """A run of candidates or one candidate of a tail, with the time at which it is met."""

    distance: int
    times: _Times
    order: int = 1  # the first of a run, or after so many others
    run: int = -1
    bits: int = -1
    low: Key = -math.inf
    high: Key = math.inf

    def beats(self, other: _Contender, c: Fraction, noise: RaceNoise, entropy: Entropy) -> bool:
        """True if this key is smaller; draws bits until that is certain."""
        while True:
            self._bound(c, noise)
            other._bound(c, noise)
            if self.high < other.low or other.high < self.low:
                return self.high < other.low
            if self.times is other.times:
                self.times.refine(max(self.order, other.order), entropy)
            else:
                self.times.refine(self.order, entropy)
                other.times.refine(other.order, entropy)

    def _bound(self, c: Fraction, noise: RaceNoise) -> None:
        if self.bits != self.times.bits:
            self.bits, self.low, self.high = (
                self.times.bits,
                self.key(c, noise, 0),
                self.key(c, noise, 1),
            )

    def key(self, c: Fraction, noise: RaceNoise, upper: int) -> Key:
        """Lower or upper bound of the key.

        `Decimal.ln` and `Decimal.exp` are correctly rounded, so a step errs by at most one unit in
        the last digit. A time s is 0 or at least 2**-(bits + 63). So the cancellations in log(1 -
        V) and 1 - exp(-s) cost at most 2**(bits + 64) units. All steps together cost less than
        2**(bits + 67), for any number of terms: each sum of positive terms errs by one unit.
        """
        lost = (self.times.bits + 67) * 0.30103
        digits = math.ceil(lost + self.times.bits * 0.30103) + 8  # rounding stays below bits
        context = exact_context(digits)
        time = self.times.bound(self.order, context, upper)
        key = context.ln(
            context.subtract(Decimal(1), context.exp(context.minus(time)))
            if noise.exponential
            else time
        )
        if not key.is_finite():
            return float(key)
        unit = Decimal((0, (1,), math.ceil(lost) - digits))
        slack = context.multiply(context.add(key.copy_abs(), Decimal(1)), unit)
        bound = Fraction(context.add(key, slack) if upper else context.subtract(key, slack))
        return c * self.distance - noise.bent(-bound)


def _visit_tail(
    tail: Tail,
    best: _Contender | None,
    first: LazyUniform,
    c: Fraction,
    noise: RaceNoise,
    entropy: Entropy,
) -> tuple[_Contender | None, int | None]:
    """Meet the candidates left out of a window in the order of their times, until none can still
    win.

    The times of `m` candidates come as E_1/m, E_1/m + E_2/(m-1), ..., each at a uniform candidate
    not yet met. A key is at least that of the same time at the distance `tail.floor`.
    """
    times = _Times(first, tail.count)
    visited: set[int] = set()
    candidate: int | None = None
    while True:
        count = len(visited) + 1
        if best is not None and best.beats(_Contender(tail.floor, times, count), c, noise, entropy):
            break
        position = entropy.below(tail.count)
        while position in visited:
            position = entropy.below(tail.count)
        visited.add(position)
        index = tail.candidate(position)
        rival = _Contender(tail.distance_of(index), times, count)
        if best is None or rival.beats(best, c, noise, entropy):
            best, candidate = rival, index
        if count == tail.count:
            break
        times.add(LazyUniform.begin(entropy), tail.count - count)
    return best, candidate
