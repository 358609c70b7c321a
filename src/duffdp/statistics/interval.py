"""Statistics with an interval: what is drawn for it, and what is made of that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from duffdp.domain import Ordered, PublicSet
from duffdp.parameters import Interval
from duffdp.statistics.entry import Column, Finish, Part
from duffdp.statistics.interval_end import SIDES, IntervalEnd

# What of epsilon goes to the value: it then errs by a tenth of the width or less, and the interval
# is up to a seventh wider than without it (docs/intervals.md, "The value").
VALUE_SHARE = Fraction(1, 8)


def around_quantile(
    value: Part, q: Fraction, wanted: Interval, epsilon: Fraction
) -> tuple[tuple[Part, ...], Finish]:
    """A quantile between two ends, each of which may be wrong half as often as the interval."""
    (name,) = value.columns
    share = (1 - VALUE_SHARE) / 2
    names = tuple(f"{name}_{side}" for side in SIDES)
    ends = (
        Part(
            IntervalEnd(
                q,
                side,
                miss=(1 - wanted.confidence) / 2,
                covers=wanted.covers,
                epsilon=epsilon * share,
            ),
            "exponential",
            (column,),
            share,
            utility="end",
        )
        for side, column in zip(SIDES, names, strict=True)
    )
    columns = (Column(name), *map(Column, names))
    return (replace(value, share=VALUE_SHARE), *ends), Finish(lambda _: columns, _in_order)


def _in_order(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
    """The value and the ends: a safe end is the bound, and the value lies between them."""
    assert isinstance(domain, Ordered)
    value, low, high = numbers
    low, high = 0 if low == domain.size else low, min(high, domain.size - 1)
    low, high = min(low, high), max(low, high)
    return [domain.value(number) for number in (min(max(value, low), high), low, high)]
