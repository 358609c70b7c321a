"""Base classes of statistics: inquiries that yield counting requests and return evidence.

A statistic contains no loop over engines and imports none.

Promise: A statistic sees answers to its requests and no engine; a distance has a declared rate and
unit, and totals have a declared sensitivity.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import NamedTuple

from duffdp._engines.requests import Inquiry
from duffdp._evidence import Evidence, Totals
from duffdp._steps import Windows
from duffdp.domain import Domain, Grid, Ordered, PublicSet
from duffdp.statistics.records import answer_records

# Candidates that weigh less than this many nats all together are left to the tail of a window,
# which is visited about once in 160,000 draws.
TAIL_NATS = 12.0
STEPS_PER_RECORD = 64  # of scores that cost fractions of a record
HALF = Fraction(1, 2)


class Scope(NamedTuple):
    """The groups that evidence is collected about: the public domain of their records, the number
    of groups, and a guess of the largest group's size, for speed alone. The guess is for
    statistics: programs never see it.
    """

    domain: PublicSet
    groups: int = 1
    max_records: int = 10**8

    @property
    def grid(self) -> Grid:
        """The domain of a statistic that needs evenly spaced candidates."""
        assert isinstance(self.domain, Grid)
        return self.domain

    @property
    def ordered(self) -> Ordered:
        """The domain of a statistic that needs candidates in order."""
        assert isinstance(self.domain, Ordered)
        return self.domain

    @property
    def candidates(self) -> Domain:
        """The domain of a statistic that needs candidates."""
        assert isinstance(self.domain, Domain)
        return self.domain


class BaseStatistic(ABC):
    """A statistic of the records of every group."""

    @abstractmethod
    def evidence(self, scope: Scope, epsilon: float) -> Inquiry[Evidence]:
        """The evidence about every group that a draw of this epsilon needs."""


class DistanceStatistic(BaseStatistic):
    """A statistic defined by the distance of every candidate: how many records must be added or
    removed.

    One record moves each distance by at most one; `rate` is the largest coefficient over epsilon
    that keeps epsilon, and one step of a distance is worth `unit`.

    Methods
    -------
    steps, outputs
    """

    rate: Fraction
    unit: Fraction

    def outputs(self, domain: PublicSet) -> Domain:
        """The candidates if records are read on this domain."""
        assert isinstance(domain, Domain)
        return domain

    @abstractmethod
    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        """The candidates up to about a distance in every group, and the rest as tails."""

    def listed_windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        """These windows with runs in the order of the candidates, to compute distributions."""
        return self.windows(scope, max_distance)

    def evidence(self, scope: Scope, epsilon: float) -> Inquiry[Windows]:
        return self.windows(scope, self.distance_for(scope.domain, epsilon, TAIL_NATS))

    def distance_for(self, domain: PublicSet, epsilon: float, nats: float) -> float:
        """The distance beyond which the weights of all candidates together are below exp(-nats)."""
        return (nats + math.log(self.outputs(domain).size)) / (float(self.rate) * epsilon)


class TotalsStatistic(BaseStatistic):
    """A statistic that consists of whole numbers with noise.

    Methods
    -------
    of_records, sensitivity
    """

    @abstractmethod
    def totals(self, domain: PublicSet) -> Inquiry[list[tuple[int, ...]]]:
        """The numbers of every group."""

    @abstractmethod
    def sensitivity(self, domain: PublicSet) -> int:
        """The most by which one record moves all numbers of its group together."""

    def evidence(self, scope: Scope, epsilon: float) -> Inquiry[Totals]:
        numbers = yield from self.totals(scope.domain)
        return Totals(numbers, self.sensitivity(scope.domain))

    def of_records(self, values: object, domain: PublicSet) -> tuple[int, ...]:
        """The numbers for records in the caller's memory, without noise: not private."""
        (numbers,) = answer_records(self.totals(domain), values, domain)
        return numbers
