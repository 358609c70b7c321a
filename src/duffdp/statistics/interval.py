"""Quantiles with intervals: what is drawn for them, and what is made of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from duffdp.domain import Grid, Ordered, PublicSet
from duffdp.parameters import share_text
from duffdp.statistics.entry import Column, Finish, Parameters, Part, Promise
from duffdp.statistics.interval_end import SIDES, IntervalEnd
from duffdp.statistics.iqr import QUARTILES
from duffdp.statistics.noise_interval import Parts, with_ends

# What of epsilon goes to the value: it then errs by a tenth of the width or less, and the interval
# is up to a seventh wider than without it (docs/intervals.md, "The value").
VALUE_SHARE = Fraction(1, 8)


def around_quantile(
    parts: Parts, _: Finish | None, given: Parameters, promise: Promise
) -> tuple[Parts, Finish]:
    """A quantile between two ends, each of which may be wrong half as often as the interval."""
    (value,), q = parts, given.get("q", Fraction(1, 2))
    (name,) = value.columns
    ends = quantile_ends((q,), (name,), promise.each(1), 1 - VALUE_SHARE, promise)
    columns = with_ends(Column(name))
    return (replace(value, share=VALUE_SHARE), *ends), Finish(lambda _: columns, _in_order)


def around_quantiles(
    parts: Parts, _: Finish | None, given: Parameters, promise: Promise
) -> tuple[Parts, Finish]:
    """Several quantiles, each between two ends; all ends cost the same.

    The values are drawn for 1/8 of epsilon; a count may come before.
    """
    qs: tuple[Fraction, ...] = given["qs"]
    names = list(map(share_text, qs))
    ends = quantile_ends(qs, names, promise.each(len(qs)), 1 - VALUE_SHARE, promise)
    columns = tuple(each for name in names for each in with_ends(Column(name)))
    cheaper = (replace(part, share=part.share * VALUE_SHARE) for part in parts)

    def finish(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
        return values_with_room(domain, numbers[-3 * len(qs) :])

    return (*cheaper, *ends), Finish(lambda _: columns, finish)


def around_range(
    parts: Parts, finish: Finish, _: Parameters, promise: Promise
) -> tuple[Parts, Finish]:
    """An interquartile range, between what the ends of both quartiles leave possible: each of the
    four may be wrong a quarter as often as the interval.
    """
    (value,), names = parts, ("first", "third")
    ends = quantile_ends(QUARTILES, names, promise.each(1) / 2, 1 - VALUE_SHARE, promise)

    def columns(domain: PublicSet) -> tuple[Column, ...]:
        (column,) = finish.columns(domain)
        return with_ends(column)

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
        assert isinstance(domain, Grid)
        found, *drawn = numbers
        first, third = (_sorted_ends(domain, *drawn[i : i + 2]) for i in (0, 2))
        low, high = max(0, third[0] - first[1]), max(0, third[1] - first[0])
        moved = min(max(found, low), high)
        return [value for each in (moved, low, high) for value in finish.values(domain, [each])]

    return (replace(value, share=VALUE_SHARE), *ends), Finish(columns, values)


def quantile_ends(
    qs: Sequence[Fraction], names: Sequence[str], miss: Fraction, share: Fraction, promise: Promise
) -> Parts:
    """Both ends of every quantile, for this share of epsilon in all."""
    each = share / (2 * len(qs))
    return tuple(
        Part(
            IntervalEnd(
                q, side, miss=miss / 2, covers=promise.covers, epsilon=promise.epsilon * each
            ),
            "exponential",
            (f"{name}_{side}",),
            each,
            utility="end",
        )
        for q, name in zip(qs, names, strict=True)
        for side in SIDES
    )


def _in_order(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
    """The value and the ends; the value is moved between them."""
    assert isinstance(domain, Ordered)
    value, *drawn = numbers
    low, high = _sorted_ends(domain, *drawn)
    return [domain.value(number) for number in (min(max(value, low), high), low, high)]


def values_with_room(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
    """Each value and its ends, from all values, and then all ends: values stay in order, and ends
    make room for them.
    """
    assert isinstance(domain, Ordered)
    many, found = len(numbers) // 3, []
    for i, value in enumerate(sorted(numbers[:many])):
        low, high = _sorted_ends(domain, *numbers[many + 2 * i : many + 2 * i + 2])
        found += [value, min(low, value), max(high, value)]
    return list(map(domain.value, found))


def _sorted_ends(domain: Ordered, low: int, high: int) -> tuple[int, int]:
    """Two ends as candidates: a safe end is the bound."""
    low, high = 0 if low == domain.size else low, min(high, domain.size - 1)
    return min(low, high), max(low, high)
