"""What is released of a spread that was drawn as whole numbers."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction

from duffdp.domain import Grid, PublicSet
from duffdp.domain.reading import nearest_double
from duffdp.statistics.entry import Column, Finish
from duffdp.statistics.moments import variance_of
from duffdp.statistics.variance import deviation_of


def variance_value(squared: bool, one_draw: bool) -> Finish:
    """The variance of one draw or of noisy sums; or its root, a duration for dates and times."""

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
        assert isinstance(domain, Grid)
        variance = (
            deviation_of(numbers[0], domain) ** 2
            if one_draw
            else variance_of(numbers, domain.size - 1)
        )
        if squared:
            found = nearest_double(variance / domain.index_units(Fraction(1)) ** 2)
            return [min(found, sys.float_info.max)]
        return [domain.length(math.sqrt(variance))]

    return Finish(lambda domain: _named("variance" if squared else "std", domain), values)


def iqr_value() -> Finish:
    """A difference of two candidates, in the kind of the bounds."""

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
        assert isinstance(domain, Grid)
        return [domain.difference(numbers[0])]

    return Finish(lambda domain: _named("iqr", domain), values)


def _named(name: str, domain: PublicSet) -> tuple[Column, ...]:
    timed = isinstance(domain, Grid) and domain.timed
    return (Column(name, "duration" if timed else "number"),)
