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

import numpy as np

from duffdp.domain import Floats, Ints
from duffdp.sampling.entropy import Entropy, Words
from duffdp.sampling.lazy_uniform import WORD, LazyUniform
from duffdp.steps import Batch, StepFunction, Tail

# Bounds the rounding of the first pass in doubles (a few units of 2**-52 a step) with room to
# spare: the price of a
# wide slack is only that refinement is needed one time in 10**8.
SLACK = 2.0**-36
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

    def __post_init__(self) -> None:
        doubles = float(self.period or 0), float(1 - self.slope)
        object.__setattr__(self, "in_doubles", doubles)

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
    low, high = _keys(known, bits, batch.count, batch.distance, float(c), noise)
    if len(batch.begin) == 1:
        can_win = (low <= high.min()).nonzero()[0]
        winner, left = can_win[:1], [len(can_win)]
    else:
        runs = np.diff(batch.begin, append=len(batch.count))
        can_win = low <= np.repeat(np.minimum.reduceat(high, batch.begin), runs)
        many = np.add.reduceat(can_win, batch.begin, dtype=np.intp)
        winner, left = can_win.nonzero()[0][np.cumsum(many) - many], many.tolist()
    return [
        begin + (entropy.below(count) if count > 1 else 0)
        if alone == 1 and begin >= 0
        else _settle(batch, i, known, bits, low, high, c, noise, entropy)
        for i, (begin, count, alone) in enumerate(
            zip(batch.start[winner].tolist(), batch.count[winner].tolist(), left, strict=True)
        )
    ]


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
    low: Floats,
    high: Floats,
    c: Fraction,
    noise: Noise,
    entropy: Entropy,
) -> int:
    """The winner of one step function whose first pass left several that can win, or the tail."""
    place, tail = batch.place(which), batch.tail_of(which)
    best: _Contender | None = None
    least = high[place].min(initial=np.inf)
    for run in (place.start + (low[place] <= least).nonzero()[0]).tolist():
        uniform = LazyUniform(int(known[run]), bits)
        rival = _Contender(int(batch.distance[run]), [(uniform, int(batch.count[run]))], run=run)
        best = rival if best is None or rival.beats(best, c, noise, entropy) else best
    if tail is not None:
        best, candidate = _visit_tail(
            tail, best, LazyUniform(int(known[place.start - 1]), bits), c, noise, entropy
        )
        if candidate is not None:
            return candidate
    assert best is not None
    return int(batch.start[best.run]) + entropy.below(int(batch.count[best.run]))


def _keys(
    known: Words, bits: int, count: Ints, distance: Ints, c: float, noise: Noise
) -> tuple[Floats, Floats]:
    """Lower and upper bounds of every key, in doubles."""
    uniform = known.astype(np.float64)
    uniform += 0.5
    uniform *= -(2.0**-bits)
    time = np.log1p(np.maximum(uniform, 2.0**-53 - 1, out=uniform), out=uniform)
    time /= count
    key = np.log(-np.expm1(time) if noise.exponential else -time)
    shift = distance * c
    # Undrawn bits move V by one unit, and near 1 doubles are coarse: little where V is many units
    # away from 0 and 1.
    units = np.minimum(known, np.uint64(2**bits - 1) - known)
    slack = 2.0**12 / np.maximum(units, 2.0**-900)
    # Rounding: the logarithm is at most 90 in size.
    rounding = np.abs(shift)
    rounding *= 3 * SLACK
    rounding += 90 * SLACK
    if noise.period is None:
        key += shift
        slack += rounding
        return key - slack, key + slack
    # Half of the slack stays below the bend, so that no whole period is missed by rounding, and
    # half above it.
    slack += 90 * SLACK
    period, lost = noise.in_doubles
    low, high = key - slack, key + slack
    for bound in (low, high):
        bound -= lost * np.fmod(bound, period)  # minus what is lost of the noise, which is -bound
        bound += shift
    return low - rounding, high + rounding


@dataclass(slots=True)
class _Contender:
    """A run of candidates, or one candidate of a tail, whose time is a sum of E_i / m_i."""

    distance: int
    terms: list[tuple[LazyUniform, int]]
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
            for uniform in {
                id(u): u for contender in (self, other) for u, _ in contender.terms
            }.values():
                uniform.refine(entropy)

    def _bound(self, c: Fraction, noise: Noise) -> None:
        if self.bits != (bits := sum(uniform.bits for uniform, _ in self.terms)):
            self.bits, self.low, self.high = bits, self.key(c, noise, 0), self.key(c, noise, 1)

    def key(self, c: Fraction, noise: Noise, upper: int) -> Key:
        """Lower or upper bound of the key.

        `Decimal.ln` and `Decimal.exp` are correctly rounded, so a step errs by at most one unit in
        the last digit. A time s is at least 2**-(bits + 63) (or 0), so the cancellations in log(1 -
        V) and 1 - exp(-s) cost at most 2**(bits + 64) units, and all steps together less than
        2**(bits + 67).
        """
        bits = max(uniform.bits for uniform, _ in self.terms)
        lost = (bits + 67) * 0.30103
        digits = math.ceil(2 * lost) + 8
        near = Context(prec=digits, Emin=-(10**9), Emax=10**9, traps=[])
        time = Decimal(0)
        for uniform, share in self.terms:
            left = (1 << uniform.bits) - uniform.known - upper  # 1 - V in units of 2**-bits
            logarithm = near.ln(near.divide(Decimal(left), Decimal(1 << uniform.bits)))
            time = near.subtract(time, near.divide(logarithm, Decimal(share)))
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
    terms: list[tuple[LazyUniform, int]] = []
    met: set[int] = set()
    candidate: int | None = None
    while len(met) < tail.count:
        uniform = first if not met else LazyUniform.begin(entropy)
        terms = [*terms, (uniform, tail.count - len(met))]
        if best is not None and best.beats(_Contender(tail.floor, terms), c, noise, entropy):
            break
        position = entropy.below(tail.count)
        while position in met:
            position = entropy.below(tail.count)
        met.add(position)
        index = tail.candidate(position)
        rival = _Contender(tail.distance_of(index), terms)
        if best is None or rival.beats(best, c, noise, entropy):
            best, candidate = rival, index
    return best, candidate
