"""What is released of a spread that was drawn as whole numbers."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction

from duffdp.domain import Grid, PublicSet
from duffdp.domain.reading import nearest_double
from duffdp.statistics.entry import Column, Finish
from duffdp.statistics.moments import deviation_square, variance_of
from duffdp.statistics.variance import deviation_of


def variance_value(one_draw: bool) -> Finish:
    """The variance of one draw or of noisy sums."""

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
        assert isinstance(domain, Grid)
        variance = (
            deviation_of(numbers[0], domain) ** 2
            if one_draw
            else variance_of(numbers, domain.size - 1)
        )
        found = nearest_double(variance / domain.index_units(Fraction(1)) ** 2)
        return [min(found, sys.float_info.max)]

    return Finish(lambda domain: _named("variance", domain), values)


def std_value(one_draw: bool, epsilon: Fraction) -> Finish:
    """The root of a variance, a duration for dates and times, if its draws cost epsilon."""

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
        assert isinstance(domain, Grid)
        variance = (
            deviation_of(numbers[0], domain) ** 2
            if one_draw
            else deviation_square(numbers, domain.size - 1, epsilon)
        )
        return [domain.length(math.sqrt(variance))]

    return Finish(lambda domain: _named("std", domain), values)


def iqr_value() -> Finish:
    """A difference of two candidates, in the kind of the bounds."""

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
        assert isinstance(domain, Grid)
        return [domain.difference(numbers[0])]

    return Finish(lambda domain: _named("iqr", domain), values)


def _named(name: str, domain: PublicSet) -> tuple[Column, ...]:
    timed = isinstance(domain, Grid) and domain.timed
    return (Column(name, "duration" if timed else "number"),)
