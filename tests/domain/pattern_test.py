"""Patterns: every string once, counted exactly without a list, against enumeration; and those that
are refused.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
from fractions import Fraction
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import duffdp
from duffdp import BoundsError, Pattern
from duffdp.domain.pattern import count_for_finding, key_threshold

ALPHABET = "ab0-"

atoms = st.sampled_from(["a", "b", "0", r"\d{1}", "[ab]", "[a-b0]", r"\-", "[0-0-]"])


def extended(inner):
    counts = st.sampled_from(["?", "{2}", "{0,2}", "{1,3}", "{1}"])
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda parts: f"({parts[0]}|{parts[1]})"),
        st.tuples(inner, counts).map(lambda parts: f"(?:{parts[0]}){parts[1]}"),
    )


expressions = st.recursive(atoms, extended, max_leaves=5)


def strings_of(text, length):
    """All strings up to a length that Python's own expressions match as a whole."""
    digits = "123456789" if r"\d" in text else ""
    matches = re.compile(text.replace(r"\d", "[0-9]")).fullmatch
    return [
        "".join(parts)
        for n in range(length + 1)
        for parts in itertools.product(ALPHABET + digits, repeat=n)
        if matches("".join(parts))
    ]


@settings(max_examples=150, deadline=None)
@given(expressions)
def test_counts_and_places_against_enumeration(text):
    if re.fullmatch(text, ""):
        with pytest.raises(BoundsError, match="empty text"):
            Pattern(text)
        return
    pattern = Pattern(text)
    longest = max(len(pattern.value(i)) for i in range(min(pattern.size, 50)))
    if pattern.size > 500 or longest > (3 if r"\d" in text else 6):
        return
    listed = [pattern.value(i) for i in range(pattern.size)]
    assert [pattern.index(value) for value in listed] == list(range(pattern.size))
    assert listed == sorted(listed)
    longest = max(map(len, listed))
    if longest <= (3 if r"\d" in text else 6):
        assert sorted(strings_of(text, longest)) == listed


def test_strings_with_two_parses_count_once():
    assert Pattern("(a|ab)(c|bc)").size == 3
    assert Pattern("(a?){1,3}b").size == 4
    assert Pattern("(a|b|ab){1,2}").size == len(
        {"".join(p) for n in (1, 2) for p in itertools.product(["a", "b", "ab"], repeat=n)}
    )


def test_a_universe_that_nobody_could_list():
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pattern = Pattern(length=20, alphabet=letters)
    assert pattern.size == 36**20
    for index in (0, 1, 36**20 - 1, 36**19 + 12345, 7 * 36**11):
        assert pattern.index(pattern.value(index)) == index
    assert "a" * 19 not in pattern
    assert "A" * 20 not in pattern
    assert Pattern("[a-z0-9]{20}").size == pattern.size


def test_numbers_and_days():
    numbers = Pattern(numbers=(-3, 10))
    assert [numbers.index(v) for v in (-3, 10, 11, 2.0, 2.5, True, "2", float("nan"))] == [
        *(0, 13, None, 5, None, None, None, None)
    ]
    assert [numbers.text_index(t) for t in ("-3", "07", "7", "+7", "", "٣", None)] == [
        *(0, None, 10, None, None, None, None)
    ]
    days = Pattern(days=("2024-02-27", dt.date(2024, 3, 2)))
    assert days.size == 5
    assert [days.value(i).isoformat() for i in (1, 2, 3)] == [
        *("2024-02-28", "2024-02-29", "2024-03-01")
    ]
    assert days.index(dt.datetime(2024, 2, 28, tzinfo=None)) is None
    assert days.text_index("2024-02-29") == 2
    assert days.text_index("20240229") is None


@pytest.mark.parametrize(
    "text",
    [
        *("a*", "a+", "a{2,}", "(a|b)*", "", "a?", "(a?b?){3}", "[^a]", ".", "a.c", "(a", "a)"),
        *("[]", "[b-a]", "[a", "(a{9999}){9999}", "(){999999999}", "a{3,2}", r"\w", r"\1", "^a$"),
        *("a??", "(?=a)b", "(?P<x>a)", "a{}", "a{x}", "\x00", "\ud800", "[\x00-\x1f]", "?a"),
        *(
            "(a|b){0,40}a(a|b){40}",
            "[\ud7ff-\ue000]",
            "((((" * 20 + "a",
            "[a-z]{1,5000}",
            "a" * 3000,
        ),
    ],
)
def test_patterns_that_are_refused(text):
    with pytest.raises(BoundsError) as caught:
        Pattern(text)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "parameters",
    [
        *({}, {"text": "a", "numbers": (1, 2)}, {"length": 3}, {"alphabet": "ab"}),
        *({"length": 0, "alphabet": "ab"}, {"length": 2, "alphabet": ""}, {"numbers": (2, 1)}),
        *({"numbers": (1.5, 2)}, {"numbers": 3}, {"days": ("x", "y")}, {"days": (1, 2)}),
        *({"text": "a", "false_keys": 0}, {"text": "a", "false_keys": True}),
        *({"text": "a", "false_keys": 1e9}, {"length": 2, "alphabet": "a\x00"}),
    ],
)
def test_parameters_that_are_refused(parameters):
    with pytest.raises(duffdp.DuffError):
        Pattern(**parameters)


@pytest.mark.parametrize("size", [1, 2600, 36**20])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_threshold_is_the_least_one(size, epsilon):
    threshold = key_threshold(size, Fraction(1, 20), epsilon)
    decay = exp(-float(epsilon))

    def expected(t):
        return size * decay**t / (1 + decay)

    assert expected(threshold) <= 0.05
    assert threshold == 1 or expected(threshold - 1) > 0.05


def test_people_that_a_key_needs():
    """As the documentation says it: more than the threshold, to be found nearly always."""
    threshold, epsilon = 11, Fraction(1)
    needed = count_for_finding(threshold, epsilon, Fraction(95, 100))
    law = duffdp.mechanisms.ThresholdedGeometric(1)
    assert law.probability(needed, None, threshold) <= 0.05
    assert law.probability(needed - 1, None, threshold) > 0.05


def test_equality_and_text():
    for pattern in (
        *(Pattern("[A-Z]{2}"), Pattern(length=3, alphabet="ab", false_keys=0.5)),
        *(Pattern(numbers=(1, 9)), Pattern(days=("2024-01-01", "2024-01-09"))),
    ):
        again = eval(repr(pattern), {"Pattern": Pattern})
        assert again == pattern == Pattern.from_parameters(pattern.parameters())
        assert hash(again) == hash(pattern)
    assert Pattern("[A-Z]{2}") != Pattern("[A-Z]{3}")
    with pytest.raises(duffdp.DuffError, match="no parameter 'regex'"):
        Pattern.from_parameters({"regex": "a"})
