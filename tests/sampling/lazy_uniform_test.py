"""The uniform number behind every exact draw: its bounds hold whatever the bits that are not
drawn.
"""

from __future__ import annotations

from decimal import ROUND_UP, Context, Decimal, DefaultContext, Inexact, Rounded, Subnormal
from fractions import Fraction

import numpy as np
import pytest

from duffdp._sampling.lazy_uniform import LazyUniform, bernoulli, bernoullis, decide
from duffdp._sampling.rare_places import event_rate


class Listed:
    """Words from a list."""

    secure = False

    def __init__(self, *words):
        self._words = list(words)

    def words(self, size):
        return np.array([self._words.pop(0) for _ in range(size)], dtype=np.uint64)


def exact(value: Fraction) -> Fraction:
    """-log(1 - V) to 600 digits."""
    near = Context(prec=600)
    return -Fraction(
        near.ln(near.divide(Decimal((1 - value).numerator), Decimal((1 - value).denominator)))
    )


@pytest.mark.parametrize("bits", [1, 4, 64, 192, 640])
def test_the_bounds_hold_and_are_tight(bits):
    """Near 0, where 1 - V cancels, near 1, where the logarithm is large, and between; 192 bits and
    more too.
    """
    top = (1 << bits) - 1
    for known in sorted({0, 1, min(2, top), top // 3, top // 2, max(top - 2, 0), max(top - 1, 0)}):
        bounds = LazyUniform(known, bits).exponential()
        if known == top:
            assert bounds is None
            continue
        low, high = bounds
        ends = [exact(Fraction(known + end, 1 << bits)) for end in (0, 1)]
        tiny = Fraction(1, 10**580)
        assert low <= ends[0] + tiny
        assert high >= ends[1] - tiny
        assert high - low <= (ends[1] - ends[0]) + 3 * ends[1] / (1 << bits)


def test_the_last_interval_has_no_upper_bound():
    assert LazyUniform(2**64 - 1, 64).exponential() is None


def test_bits_are_drawn_until_the_outcome_is_certain():
    seen = []

    def half(uniform):
        seen.append((uniform.prefix, uniform.bits))
        middle = 1 << uniform.bits - 1
        return "low" if uniform.prefix + 1 < middle else "high" if uniform.prefix > middle else None

    assert decide(Listed(2**63 - 1, 2**64 - 1, 5), half) == "low"
    assert seen == [(2**63 - 1, 64), (2**127 - 1, 128), ((2**127 - 1) << 64 | 5, 192)]


@pytest.mark.parametrize(
    ("exponent", "ratio"),
    [
        (Fraction(1), Fraction(1, 3)),
        (Fraction(0), Fraction(1, 3)),
        (Fraction(0), Fraction(1)),
        (Fraction(3), Fraction(20)),  # nearly 1
        (Fraction(40), Fraction(1)),  # few words below it
        (Fraction(700), Fraction(1, 2)),  # less than any word
        (Fraction(700), Fraction(int(Decimal(699).exp()))),
        (Fraction(-1000), Fraction(1, int(Decimal(1001).exp()))),  # exp(1000) is no double
    ],
)
def test_many_coins_fall_as_each_would(exponent, ratio):
    """Near where they turn as well, and by the same bits: those that doubles leave open need more
    of them, one after the other.
    """
    chance = Fraction(ratio) * Fraction(Context(prec=60).exp(Decimal(-int(exponent))))
    turn = int(chance * 2**64)
    near = [turn + i for step in (1, 2**20, 2**27, 2**40) for i in (-step, 0, step)]
    words = [word for word in (*near, 0, 2**63, 2**64 - 1) if 0 <= word < 2**64]
    together, alone = Counted(), Counted()
    fell = bernoullis(exponent, ratio, together, words)
    assert fell == [bernoulli(exponent, ratio, alone, word) for word in words]
    assert together.asked == alone.asked


def test_many_coins_with_a_probability_above_1_are_an_error():
    with pytest.raises(ArithmeticError):
        bernoullis(Fraction(0), Fraction(2), Listed(), [5, 2**64 - 1])


class Counted:
    """The same word, so often."""

    secure = False

    def __init__(self):
        self.asked = 0

    def words(self, size):
        self.asked += size
        return np.full(size, 2**62 + 5, dtype=np.uint64)


def test_a_chance_below_all_doubles_is_not_taken_for_none():
    chance = Fraction(1, 2**1100)
    assert bernoulli(Fraction(0), chance, Listed(*[0] * 40)) is True
    assert bernoulli(Fraction(0), chance, Listed(*[0] * 17, 2**63)) is False


def test_a_chance_among_the_doubles_that_have_lost_digits():
    """The double nearest to 5/8 of the smallest one is the smallest one itself: 3/4 of it lies
    above the chance and below that double.
    """
    chance = Fraction(5, 2**1077)
    assert float(chance) == 2.0**-1074
    for word, falls in ((3 * 2**12, False), (2**13, True)):
        assert bernoulli(Fraction(0), chance, Listed(*[0] * 16, word, *[0] * 9)) is falls


def test_a_ratio_among_the_doubles_that_have_lost_digits():
    """As above, with an exponent that makes the chance one of the doubles with all digits."""
    ratio, exponent = Fraction(5, 2**1077), Fraction(-590)
    chance = ratio * Fraction(Context(prec=60).exp(Decimal(590)))
    for factor, falls in ((Fraction(9, 10), True), (Fraction(11, 10), False)):
        bits = int(chance * factor * 2**512).to_bytes(64, "big")
        words = [int.from_bytes(bits[at : at + 8], "big") for at in range(0, 64, 8)]
        assert bernoulli(exponent, ratio, Listed(*words)) is falls


def test_the_default_of_all_decimals_plays_no_part(monkeypatch):
    """A program may change what `Context()` copies before it starts threads."""

    def outcomes():
        coins = [
            bernoulli(Fraction(exponent), Fraction(1, 3), Listed(*words, *[2**63] * 40))
            for exponent, words in ((0, [2**64 // 3]), (1, [2262059300422961758]), (700, [0] * 16))
        ]
        return coins, LazyUniform(5, 64).exponential(), event_rate(Fraction(1, 3), 40, 30)

    expected = outcomes()
    for name, value in (("rounding", ROUND_UP), ("Emin", -5), ("Emax", 5), ("clamp", 1)):
        monkeypatch.setattr(DefaultContext, name, value)
    for signal in (Inexact, Rounded, Subnormal):
        monkeypatch.setitem(DefaultContext.traps, signal, True)
    assert outcomes() == expected
