"""Draws follow the explicit law exactly: bounds that hold, refinement that is forced, and tests
with size and power.
"""

from __future__ import annotations

import math
import multiprocessing
import threading
from collections import defaultdict
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from cases import MECHANISMS, SMALL
from duffdp import Categories, DuffError, Grid
from duffdp._sampling import race as racing
from duffdp._sampling.entropy import SYSTEM, SeededEntropy, entropy
from duffdp._sampling.lazy_uniform import LazyUniform
from duffdp._steps import StepFunction, Tail, Windows, certain
from duffdp.mechanisms import Exponential, Lattice, PermuteAndFlip
from duffdp.statistics import Mean, Median, Mode

FALSE_ALARM = 1e-9  # one in a thousand million runs of a correct sampler
DATA = [0, 0, 1, 1, 1, 2, 3, 3, 3, 3]
NOISES = [
    racing.GUMBEL,
    racing.EXPONENTIAL,
    *(
        racing.RaceNoise(exponential=True, period=period, slope=Fraction(1, 2))
        for period in (Fraction(1, 10), Fraction(1, 3), Fraction(4))
    ),
]


def p_value(drawn, law, values):
    """Of the chi-square test that draws follow a law; rare outcomes are pooled."""
    expected = np.array([law.probability(v) for v in values]) * len(drawn)
    observed = np.array([np.count_nonzero(np.asarray(drawn) == v) for v in values])
    assert observed.sum() == len(drawn)
    rare = expected < 5
    if rare.any():
        expected, observed = (
            np.append(expected[~rare], expected[rare].sum()),
            np.append(observed[~rare], observed[rare].sum()),
        )
    return stats.chisquare(observed, expected * (len(drawn) / expected.sum())).pvalue


def check(drawn, mechanism, epsilon, steps, values):
    """Accept the true law, reject the laws of an epsilon 30 % off."""
    assert p_value(drawn, mechanism(epsilon).law(steps), values) > FALSE_ALARM
    for wrong in (0.7 * epsilon, 1.3 * epsilon):
        assert p_value(drawn, mechanism(wrong).law(steps), values) < FALSE_ALARM


def window(steps, first, last, lower=0):
    """The candidates from first to last as a window on a whole step function, with a floor that may
    be too low.
    """
    inside = [
        (i, d)
        for i, d in enumerate(np.repeat(steps.distance, steps.count).tolist())
        if first <= i <= last
    ]
    outside = [
        d
        for i, d in enumerate(np.repeat(steps.distance, steps.count).tolist())
        if not first <= i <= last
    ]
    start, distance = np.array(inside, dtype=np.int64).reshape(-1, 2).T

    def inquire(index):
        return certain(steps.distance_of(index))

    tail = (
        Tail(first, last, len(outside), max(min(outside) - lower, 0), inquire) if outside else None
    )
    return StepFunction(
        steps.domain, start, np.ones_like(start), distance, steps.unit, steps.rate, tail
    )


@pytest.mark.parametrize("mechanism", [*MECHANISMS, Lattice])
@pytest.mark.parametrize(
    ("statistic", "epsilon"),
    [(Median(), 1.0), (Median("rank"), 0.8), (Median("signed"), 0.8), (Mean(), 1.2), (Mode(), 0.6)],
)
def test_draws_follow_the_law(mechanism, statistic, epsilon):
    steps = statistic.steps(DATA, SMALL)
    check(mechanism(epsilon).draw(steps, 60_000), mechanism, epsilon, steps, range(4))


class Scripted:
    """Words of a seed, of which some are the least, the largest or all the same: races are close,
    and nearly all have to be refined. Remembers what it said.
    """

    secure = False

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)
        self.first, self.below_said = None, []

    def words(self, size):
        said = self._rng.integers(0, 2**64, size, dtype=np.uint64)
        if self._rng.random() < 0.5:
            odd = np.array([0, 1, 2**63, 2**64 - 2, 2**64 - 1, said[0]], np.uint64)
            said = np.where(self._rng.random(size) < 0.7, self._rng.choice(odd, size), said)
        self.first = said if self.first is None else self.first
        return said

    def below(self, bound):
        self.below_said.append(int(self._rng.integers(bound)))
        return self.below_said[-1]


EXACT = Context(prec=150, Emin=-(10**9), Emax=10**9, traps=[])


def time_between(uniform):
    """Bounds of the Exp(1) number that is made of a uniform one."""
    whole = 1 << uniform.bits
    left = (EXACT.divide(Decimal(whole - uniform.prefix - more), Decimal(whole)) for more in (0, 1))
    return [EXACT.ln(end).copy_negate() for end in left]


def key_at(time, distance, c, noise):
    """The key by its definition."""
    if noise.exponential:
        amount = EXACT.ln(EXACT.subtract(Decimal(1), EXACT.exp(-time))).copy_negate()
    else:
        amount = EXACT.ln(time).copy_negate()
    if not amount.is_finite():
        return -float(amount)
    amount = Fraction(amount)
    if noise.period is not None:
        whole = amount // noise.period * noise.period
        amount = whole + noise.slope * (amount - whole)
    return c * distance - amount


def noted_races(monkeypatch, batch, c, noise, scripted, bits):
    """The winners, and for each race its contenders and the positions outside of the window that
    were met in it."""
    contenders, met = defaultdict(list), defaultdict(list)
    current, settle = [0], racing._settle

    class Noted(racing._Contender):
        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            contenders[current[0]].append(self)

    def noted_settle(batch, which, *rest):
        current[0], before = which, len(scripted.below_said)
        found = settle(batch, which, *rest)
        met[which] = list(dict.fromkeys(scripted.below_said[before:]))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(racing, "_Contender", Noted)
        patch.setattr(racing, "_settle", noted_settle)
        return racing.race(batch, c, noise, scripted, bits=bits), contenders, met


def keys_of_races(monkeypatch, cut, chosen, bits, seed, side_by_side):
    """The winners of races, each with bounds of all keys by the bits that were drawn: of the
    candidates in the window, of those that were met outside of it, and of the next one there."""
    scripted, batch = Scripted(seed), Windows.of([cut] * side_by_side)
    c, noise = chosen.coefficient(cut), chosen.noise(Fraction(1, 2))
    won, contenders, met = noted_races(monkeypatch, batch, c, noise, scripted, bits)
    for which, winner in enumerate(won):
        keys, place = {}, batch.place(which)
        refined = {each.run: each.times._terms for each in contenders[which]}

        def uniforms(run, refined=refined):
            if run in refined:
                return [uniform for uniform, _ in refined[run]]
            return [LazyUniform(int(scripted.first[run]) >> 64 - bits, bits)]

        for run in range(place.start, place.stop):
            (uniform,) = uniforms(run)
            assert batch.count[run] == 1
            keys[int(batch.start[run])] = [
                key_at(time, int(batch.distance[run]), c, noise) for time in time_between(uniform)
            ]
        if cut.tail is not None:
            candidates = [cut.tail.candidate(position) for position in met[which]]
            distances = [cut.tail.distance_of(index) for index in candidates]
            if len(candidates) < cut.tail.count:  # the next one may be as near as the floor
                candidates, distances = [*candidates, None], [*distances, cut.tail.floor]
            times, left = [Decimal(0)] * 2, cut.tail.count
            met_after = uniforms(-1 if -1 in refined else place.start - 1)
            for uniform, index, distance in zip(met_after, candidates, distances, strict=True):
                more = [EXACT.divide(time, Decimal(left)) for time in time_between(uniform)]
                times, left = [EXACT.add(*both) for both in zip(times, more, strict=True)], left - 1
                keys[index] = [key_at(time, distance, c, noise) for time in times]
        yield winner, keys


@pytest.mark.parametrize("mechanism", [*MECHANISMS, Lattice])
@pytest.mark.parametrize("bits", [1, 2, 5, 64])
@pytest.mark.parametrize(
    ("first", "last", "lower"), [(0, -1, 0), (4, 4, 0), (3, 5, 0), (3, 5, 2), (0, 4, 0), (0, 8, 0)]
)
def test_every_race_is_decided_right(monkeypatch, mechanism, bits, first, last, lower):
    """No window, one candidate, a few, one side and the whole; with the best floor and with one
    that is too low; with hardly any bits to begin with, so that nearly every race is refined.

    Whatever the undrawn bits are, the key of the winner is the smallest: that of every candidate
    is computed from what was drawn by its definition, and the k-th of m that are met outside of
    the window is met after E_1 / m + ... + E_k / (m - k + 1).
    """
    steps = Median().steps([3, 3, 4, 4, 4, 5, 5], Grid(0, 8, 1))
    cut = window(steps, first, last, lower)
    races = 0
    for seed, side_by_side in ((1, 1), (2, 1), (3, 1), (4, 12)):
        for winner, keys in keys_of_races(
            monkeypatch, cut, mechanism(1.0), bits, seed, side_by_side
        ):
            races += 1
            limit = keys.pop(winner)[1]
            assert all(limit <= low for low, _ in keys.values())
    assert races == 15


@pytest.mark.parametrize("mechanism", [*MECHANISMS, Lattice])
def test_windows_and_few_bits_together(mechanism):
    steps, chosen = Median().steps([3, 3, 4, 4, 4, 5, 5], Grid(0, 8, 1)), mechanism(1.0)
    cut = window(steps, 3, 5)
    drawn = racing.races(
        cut, 2_000, chosen.coefficient(cut), chosen.noise(Fraction(1, 2)), SYSTEM, bits=2
    )
    check(drawn, mechanism, 1.0, steps, range(9))


@pytest.mark.parametrize("mechanism", [*MECHANISMS, Lattice])
def test_side_by_side(mechanism):
    """Many step functions in one race: each gets a draw from its own law."""
    chosen = mechanism(1.0)
    kinds = [
        Median().steps(DATA, SMALL),
        window(Median().steps([3, 3, 3], SMALL), 2, 3),
        Median().steps([], SMALL),
    ]
    drawn = np.array(
        racing.race(
            Windows.of(kinds * 4_000),
            chosen.coefficient(kinds[0]),
            chosen.noise(Fraction(1, 2)),
            SYSTEM,
        )
    ).reshape(-1, 3)
    for i, data in enumerate([DATA, [3, 3, 3], []]):
        assert p_value(drawn[:, i], chosen.law(Median().steps(data, SMALL)), range(4)) > FALSE_ALARM


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize("bits", [1, 3, 8, 32, 53, 64])
def test_bounds_of_the_first_pass_hold(noise, bits):
    """The double-precision interval encloses the key whatever the undrawn bits turn out to be."""
    rng = np.random.default_rng(bits)
    top = 2**bits - 1
    edge = [
        0,
        1,
        2,
        3,
        2**11,
        2**12,
        top // 2,
        top // 2 + 1,
        top - 2**12,
        top - 2**11,
        top - 3,
        top - 2,
        top - 1,
        top,
    ]
    if noise.period is not None:  # where the noise of a single candidate jumps
        jumps = [round(math.exp(-k * float(noise.period)) * 2**bits) for k in range(1, 9)]
        edge += [jump + near for jump in jumps for near in range(-3, 4)]
    known = np.array(
        [k for k in edge if 0 <= k <= top]
        + rng.integers(0, top, 60, endpoint=True, dtype=np.uint64).tolist(),
        np.uint64,
    )
    count = np.array([1, 2, 1000, 2**40, 2**62 - 1])[rng.integers(0, 5, len(known))]
    distance = np.array([0, 1, 7, 10_000, 10**9, -3, -(10**6)])[rng.integers(0, 7, len(known))]
    c = Fraction(1, 20)
    for i, word in enumerate(known.tolist()):
        pair = np.array([top // 2, word], np.uint64), bits, count[[0, i]], distance[[0, i]]
        first = racing._first_pass(*pair, float(c), noise)
        low, limit = first.low[1], first.limit(1)
        assert limit == first.limit(np.array([0, 1]))[1]
        # What a rival whose lower bound is the limit may have; one further away has more.
        low, high = (end - 0.9 * racing.RACE_SLACK * (90 + abs(end)) for end in (low, limit))
        for more in (0, 1, 2**63, 2**64 - 2, 2**64 - 1):
            uniform = LazyUniform((word << 64) | more, bits + 64)
            contender = racing._Contender(int(distance[i]), racing._Times(uniform, int(count[i])))
            assert contender.key(c, noise, 0) >= Decimal(low) or word == 0
            assert contender.key(c, noise, 1) <= Decimal(high) or word == top
        assert word > 0 or low < -1e299  # anything can be
        assert 0 < word < top or limit > 1e300


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_more_bits_narrow_the_interval(noise):
    times = racing._Times(LazyUniform(3, 4), 7)
    contender = racing._Contender(5, times)
    widths = []
    for _ in range(4):
        low, high = (contender.key(Fraction(1, 3), noise, upper) for upper in (0, 1))
        assert low < high
        widths.append(high - low)
        times.refine(1, SYSTEM)
    assert all(b < a / 10**15 for a, b in pairwise(widths))


def test_times_of_a_tail_are_summed_once_each():
    """Sums that are kept are those that are made anew, and a time takes one logarithm a bound."""
    read = 0

    class Counted(LazyUniform):
        @property
        def bits(self):
            nonlocal read
            read += 1
            return self._bits

        @bits.setter
        def bits(self, value):
            self._bits = value

    words = np.random.default_rng(1).integers(0, 2**64, 300, dtype=np.uint64).tolist()
    times = racing._Times(Counted(words[0], 64), 300)
    for many, word in enumerate(words[1:], 1):
        low, high = (
            racing._Contender(3, times, many).key(Fraction(1, 2), racing.EXPONENTIAL, upper)
            for upper in (0, 1)
        )
        assert low < high
        times.add(Counted(word, 64), 300 - many)
    assert read < 300 * 10
    times.refine(200, SYSTEM)
    assert times.bits == 128
    anew = racing._Times(*times._terms[0])
    for term in times._terms[1:]:
        anew.add(*term)
    for many in (1, 150, 200, 250, 300):
        kept, whole = (
            racing._Contender(3, each, many).key(Fraction(1, 2), racing.GUMBEL, 1)
            for each in (times, anew)
        )
        assert kept == whole
    terms = [(uniform.prefix / 2**uniform.bits, share) for uniform, share in times._terms]
    expected = math.log(sum(-math.log1p(-v) / share for v, share in terms)) + 1.5
    assert float(whole) == pytest.approx(expected, rel=1e-12)


def test_levels_beyond_the_reach_of_doubles_can_win():
    """A run 80 nats lighter has no chance with 53-bit uniforms; here it wins in the right share of
    its rivals' bits.
    """
    distance = np.array([0, 160], dtype=np.int64)
    steps = StepFunction(SMALL, np.array([0, 1]), np.array([1, 3]), distance)

    class Rigged:
        secure = False

        def __init__(self):
            self.calls = 0

        def words(self, size):
            self.calls += 1
            if self.calls == 1:  # the near run is as late as 64 bits can say, the far one as early
                return np.array([2**64 - 1, 0], dtype=np.uint64)
            return np.array([2**64 - 1 if self.calls % 2 else 0] * size, dtype=np.uint64)

        def below(self, bound):
            return 0

    assert racing.race(Windows.of([steps]), Fraction(1, 2), racing.GUMBEL, Rigged()) == [1]


def test_a_seed_reproduces_and_the_system_does_not():
    steps = Median().steps([], Grid(0, 2**40, 1))
    assert (
        Exponential(1).draw(steps, 5, rng=3)
        == Exponential(1).draw(steps, 5, rng=np.random.default_rng(3))
    ).all()
    assert len(set(Exponential(1).draw(steps, 50).tolist())) > 45
    assert PermuteAndFlip(1).draw(steps) in range(2**40 + 1)


def test_sources():
    assert entropy() is SYSTEM
    assert entropy().secure
    assert not entropy(1).secure
    assert isinstance(entropy(np.random.default_rng(1)), SeededEntropy)
    for wrong in (-1, "seed", 1.5, True):
        with pytest.raises(DuffError, match="rng must be"):
            entropy(wrong)
    with pytest.raises(DuffError, match="size must be"):
        Exponential(1).draw(Median().steps([], SMALL), -1)


def _draw(queue):
    queue.put(SYSTEM.words(4).tolist())


def test_independent_after_fork_and_across_threads():
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    workers = [context.Process(target=_draw, args=(queue,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    found = [tuple(queue.get(timeout=30)) for _ in workers]
    for worker in workers:
        worker.join()
    seen: list[tuple[int, ...]] = []
    threads = [
        threading.Thread(target=lambda: seen.append(tuple(SYSTEM.words(4).tolist())))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({*found, *seen, tuple(SYSTEM.words(4).tolist())}) == 9


def test_draws_keep_the_kind():
    assert Exponential(1).draw(Median().steps([1], Grid(0, 4, 1)), 3).dtype == np.int64
    assert Exponential(1).draw(Median().steps([1], Grid(0.0, 4.0, 0.5)), 3).dtype == np.float64
    assert set(Exponential(9).draw(Mode().steps(["a"] * 9, Categories(["a", "b"])), 3)) == {"a"}
