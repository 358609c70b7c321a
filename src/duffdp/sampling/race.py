"""The race: every run of candidates gets a random time, the smallest key wins, and the law is
exact.

A candidate at distance d gets an Exp(1) time s. The exponential mechanism returns the smallest
`log(s) + c d` (Algorithm 1 of the paper); permute-and-flip, as report-noisy-max with exponential
noise, the smallest `log(1 - exp(-s)) + c d`. The first of m candidates at one distance comes at
time E/m, with E an Exp(1): one draw for a whole run. A lattice bends the noise upwards in jumps:
it still rises with the noise, so the first of m stays the first.

Exactness: E = -log(1 - V) for a uniform V of which some bits are drawn. Every key is an interval,
and runs whose intervals can still win get more bits and more digits until one is left. Bits not
drawn are never needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Floats, Ints
from duffdp.sampling.entropy import Entropy, Words, below_each
from duffdp.sampling.lazy_uniform import WORD, LazyUniform
from duffdp.steps import Batch, StepFunction, Tail

# Bounds the rounding of the first pass in doubles (a few units of 2**-52 a step) with room to
# spare: the price of a
# wide slack is only that refinement is needed one time in 10**8.
SLACK = 2.0**-36
SHIFT = 90 * SLACK  # of logarithms, which are at most 90 in size
# In front of a number whose logarithm is lowered by that; an array, which numpy takes sooner.
LOWERED = np.array(-math.exp(-SHIFT))
# From words to uniform numbers, with a minus sign; never above what the bits say, and never -1.
UNIT = np.array(-(1 - 2.0**-51) * 2.0**-WORD)
BLOCK = 2**20  # runs raced at once when many draws are asked for
Key = Fraction | float  # a float only if infinite


@dataclass(frozen=True, slots=True)
class Noise:
    """What the key of a candidate has beside its distance.

    Minus an exponential noise n, or log(s) if not `exponential`. With a `period` the noise counts
    as `period * k + slope * (n - period * k)`, k = floor(n / period): whole periods count in full,
    and the rest of the last one for a share `slope` of at most 1.
    """

    exponential: bool
    period: Fraction | None = None
    slope: Fraction = Fraction(1)
    in_doubles: tuple[float, float] = field(init=False)  # the period, and 1 less the slope
    in_arrays: tuple[Floats, Floats] = field(init=False, repr=False, compare=False)  # the same

    def __post_init__(self) -> None:
        doubles = float(self.period or 0), float(1 - self.slope)
        object.__setattr__(self, "in_doubles", doubles)
        object.__setattr__(self, "in_arrays", tuple(map(np.array, doubles)))

    def bent(self, noise: Fraction) -> Fraction:
        """What an exponential noise counts as."""
        return noise if self.period is None else noise - (1 - self.slope) * (noise % self.period)


GUMBEL = Noise(exponential=False)
EXPONENTIAL = Noise(exponential=True)


def race(
    batch: Batch, c: Fraction, noise: Noise, entropy: Entropy, *, bits: int = WORD
) -> list[int]:
    """The index of one candidate for each step function: exactly that of the smallest key, when a
    step of distance adds `c` to it."""
    known = entropy.words(len(batch.count))
    if bits < WORD:
        known = known >> np.uint64(WORD - bits)
    first = _first_pass(known, bits, batch.count, batch.distance, float(c), noise)
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
        return [_settle(batch, 0, known, bits, first, c, noise, entropy)]
    runs = np.diff(batch.begin, append=len(low))
    least = low == np.repeat(np.minimum.reduceat(low, batch.begin), runs)
    many = np.add.reduceat(least, batch.begin, dtype=np.intp)
    leading = least.nonzero()[0][np.cumsum(many) - many]
    can_win = low <= np.repeat(first.limit(leading), runs)
    alone = np.add.reduceat(can_win, batch.begin, dtype=np.intp) == 1
    found, count = batch.start[leading], batch.count[leading]
    unsettled = np.flatnonzero(~alone | (found < 0)).tolist()
    if len(wide := np.flatnonzero(count > 1)):
        found[wide] += below_each(count[wide], entropy.words(len(wide)), entropy)
    for i in unsettled:
        found[i] = _settle(batch, i, known, bits, first, c, noise, entropy)
    winners: list[int] = found.tolist()
    return winners


def _within(start: int, count: int, entropy: Entropy) -> int:
    """One of so many candidates, each as likely as the others."""
    return start + (entropy.below(count) if count > 1 else 0)


def races(
    step: StepFunction, size: int, c: Fraction, noise: Noise, entropy: Entropy, *, bits: int = WORD
) -> list[int]:
    """`size` independent draws from one step function."""
    most = max(1, BLOCK // (len(step.distance) + 1))
    winners: list[int] = []
    while len(winners) < size:
        winners += race(
            Batch.of([step] * min(most, size - len(winners))), c, noise, entropy, bits=bits
        )
    return winners


def _settle(
    batch: Batch,
    which: int,
    known: Words,
    bits: int,
    first: _FirstPass,
    c: Fraction,
    noise: Noise,
    entropy: Entropy,
) -> int:
    """The winner of one step function whose first pass left several that can win, or the tail."""
    place, tail = batch.place(which), batch.tail_of(which)
    best: _Contender | None = None
    low = first.low[place]
    least = first.limit(place.start + int(low.argmin())) if len(low) else math.inf
    for run in (place.start + (low <= least).nonzero()[0]).tolist():
        uniform = LazyUniform(int(known[run]), bits)
        times = _Times(uniform, batch.count.item(run))
        rival = _Contender(batch.distance.item(run), times, run=run)
        best = rival if best is None or rival.beats(best, c, noise, entropy) else best
    if tail is not None:
        best, candidate = _visit_tail(
            tail, best, LazyUniform(int(known[place.start - 1]), bits), c, noise, entropy
        )
        if candidate is not None:
            return candidate
    assert best is not None
    return _within(batch.start.item(best.run), batch.count.item(best.run), entropy)


class _FirstPass(NamedTuple):
    """Lower bounds of all keys in doubles, but for their rounding, and what makes upper bounds."""

    low: Floats
    rest: Floats | None  # what the bend took, 0 or less; None without one
    known: Words
    middle: float  # of all words
    noise: Noise

    def limit(self, run: Any) -> Any:
        """What lower bounds exceed if they cannot win against a run, or each of several."""
        at: Any = np.ndarray.item if isinstance(run, int) else np.ndarray.take
        low = at(self.low, run)
        # Undrawn bits move V by one unit of 2**-64, and doubles by less than 2**14 near 1: little
        # where V is many units away from 0 and 1, as nearly all are.
        units = self.middle - abs(at(self.known, run) * 1.0 - self.middle)
        width = 2 * SHIFT + 2.0**16 / (units + 2.0**-990)
        high = low + width
        if self.rest is not None:  # the noise of the upper bound may have a whole period less
            period, lost = self.noise.in_doubles
            high = high + lost * period * (at(self.rest, run) >= -lost * width)
        return high + SLACK * (90 + abs(high))


def _first_pass(
    known: Words, bits: int, count: Ints, distance: Ints, c: float, noise: Noise
) -> _FirstPass:
    """Lower bounds of all keys, and what makes upper bounds of them.

    Logarithms are at most 90 in size, and a key errs by less than 2**-48 of 90 and itself: a lower
    bound that is the larger one by `SLACK` of both belongs to the larger key.
    """
    none = known.item(known.argmin()) == 0
    unit = UNIT if bits == WORD else UNIT * 2.0 ** (WORD - bits)
    time = np.multiply(np.maximum(known, 1) if none else known, unit)
    np.log1p(time, out=time)
    np.divide(time, count, out=time)
    if noise.exponential:
        np.expm1(time, out=time)
    np.multiply(time, LOWERED, out=time)
    low = np.log(time, out=time)
    rest = None
    if noise.period is not None:
        period, lost = noise.in_arrays
        rest = np.fmod(low, period)
        np.multiply(rest, lost, out=rest)
        np.subtract(low, rest, out=low)  # minus what is lost of the noise, which is -low
    np.add(low, np.multiply(distance, c), out=low)
    if none:
        low[known == 0] = -1e300  # nothing is known of these
    return _FirstPass(low, rest, known, (2.0**bits - 1) / 2, noise)


class _Times:
    """When candidates of a run are met, one after the other: at E_1/m_1, E_1/m_1 + E_2/m_2, ...

    Bounds of these sums are kept until more bits are drawn, so that each takes one logarithm.
    """

    def __init__(self, first: LazyUniform, share: int) -> None:
        self._terms = [(first, share)]
        self.bits = first.bits  # the most that a uniform has, so that sums have digits enough
        self._sums: tuple[list[Decimal], list[Decimal]] = [], []

    def add(self, uniform: LazyUniform, share: int) -> None:
        """One more candidate; times of those before it stay."""
        self._terms.append((uniform, share))

    def refine(self, many: int, entropy: Entropy) -> None:
        """Draw more bits for the first of them."""
        for uniform, _ in self._terms[:many]:
            uniform.refine(entropy)
            self.bits = max(self.bits, uniform.bits)
        self._sums = [], []

    def bound(self, many: int, near: Context, upper: int) -> Decimal:
        """Lower or upper bound of one time, but for the rounding of `key` below."""
        sums = self._sums[upper]
        for uniform, share in self._terms[len(sums) : many]:
            left = (1 << uniform.bits) - uniform.known - upper  # 1 - V in units of 2**-bits
            logarithm = near.ln(near.divide(Decimal(left), Decimal(1 << uniform.bits)))
            before = sums[-1] if sums else Decimal(0)
            sums.append(near.subtract(before, near.divide(logarithm, Decimal(share))))
        return sums[many - 1]


@dataclass(slots=True)
class _Contender:
    """A run of candidates or one candidate of a tail, with the time at which it is met."""

    distance: int
    times: _Times
    many: int = 1  # the first of a run, or after so many others
    run: int = -1
    bits: int = -1
    low: Key = -math.inf
    high: Key = math.inf

    def beats(self, other: _Contender, c: Fraction, noise: Noise, entropy: Entropy) -> bool:
        """Whether this key is smaller; draws bits until that is certain."""
        while True:
            self._bound(c, noise)
            other._bound(c, noise)
            if self.high < other.low or other.high < self.low:
                return self.high < other.low
            if self.times is other.times:
                self.times.refine(max(self.many, other.many), entropy)
            else:
                self.times.refine(self.many, entropy)
                other.times.refine(other.many, entropy)

    def _bound(self, c: Fraction, noise: Noise) -> None:
        if self.bits != self.times.bits:
            self.bits, self.low, self.high = (
                self.times.bits,
                self.key(c, noise, 0),
                self.key(c, noise, 1),
            )

    def key(self, c: Fraction, noise: Noise, upper: int) -> Key:
        """Lower or upper bound of the key.

        `Decimal.ln` and `Decimal.exp` are correctly rounded, so a step errs by at most one unit in
        the last digit. A time s is at least 2**-(bits + 63) (or 0), so the cancellations in log(1 -
        V) and 1 - exp(-s) cost at most 2**(bits + 64) units, and all steps together less than
        2**(bits + 67), however many terms a time has: sums of positive terms err by a unit each.
        """
        lost = (self.times.bits + 67) * 0.30103
        digits = math.ceil(lost + self.times.bits * 0.30103) + 8  # rounding stays below bits
        near = Context(prec=digits, Emin=-(10**9), Emax=10**9, traps=[])
        time = self.times.bound(self.many, near, upper)
        key = near.ln(
            near.subtract(Decimal(1), near.exp(near.minus(time))) if noise.exponential else time
        )
        if not key.is_finite():
            return float(key)
        unit = Decimal((0, (1,), math.ceil(lost) - digits))
        slack = near.multiply(near.add(key.copy_abs(), Decimal(1)), unit)
        bound = Fraction(near.add(key, slack) if upper else near.subtract(key, slack))
        return c * self.distance - noise.bent(-bound)


def _visit_tail(
    tail: Tail,
    best: _Contender | None,
    first: LazyUniform,
    c: Fraction,
    noise: Noise,
    entropy: Entropy,
) -> tuple[_Contender | None, int | None]:
    """Meet the candidates left out of a window in the order of their times, until none can still
    win.

    The times of `m` candidates come as E_1/m, E_1/m + E_2/(m-1), ..., each at a uniform candidate
    not yet met. A key is at least that of the same time at the distance `tail.floor`.
    """
    times = _Times(first, tail.count)
    met: set[int] = set()
    candidate: int | None = None
    while True:
        many = len(met) + 1
        if best is not None and best.beats(_Contender(tail.floor, times, many), c, noise, entropy):
            break
        position = entropy.below(tail.count)
        while position in met:
            position = entropy.below(tail.count)
        met.add(position)
        index = tail.candidate(position)
        rival = _Contender(tail.distance_of(index), times, many)
        if best is None or rival.beats(best, c, noise, entropy):
            best, candidate = rival, index
        if many == tail.count:
            break
        times.add(LazyUniform.begin(entropy), tail.count - many)
    return best, candidate
