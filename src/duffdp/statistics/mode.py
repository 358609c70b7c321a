"""Mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from duffdp._engines.requests import (
    CandidateAt,
    CountsOfCounts,
    Engine,
    Inquiry,
    ValueCounts,
    ask,
)
from duffdp._parameters import Choice
from duffdp._steps import StepFunction, Windows, filled, merged
from duffdp.domain import Domain, Ints, Ordered, PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.statistics.program import ReleaseProgram
from duffdp.statistics.records import counts_of, exact_counts
from duffdp.statistics.spec import DrawSettings, Parameters, StatisticSpec
from duffdp.statistics.statistic import DistanceStatistic, Scope

MAX_LISTED_CANDIDATES = 2**16  # whose counts are fetched one by one, wherever records live
#: Why values without an order have no interval.
NO_ORDER = (
    "values without an order have no interval. Use a histogram, whose counts have intervals, or "
    "distance_bound() of a mode, its error as a number of records"
)


class Mode(DistanceStatistic):
    """The most common value; with ties, each of the tied values is a mode.

    Parameters
    ----------
    rate
        The coefficient c over epsilon. 1 is safe because one record moves one count in one
        direction; the paper's own mechanism uses 1/2.

    Privacy
    -------
    The distance is the largest count minus the count of the candidate. When one record is added or
    removed, the largest change of a distance minus the smallest is at most 1
    (`tests/guarantees/neighbours_test.py`). Records outside the public domain are clamped (grid) or
    dropped (categories).

    Utility
    -------
    The distance grows by 1 for every record by which a candidate is behind the mode.

    Runtime
    -------
    One counting pass; on a grid with many candidates a sort, or in lazy tables a query that counts
    candidates by their number of records and one that finds the candidate.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Mode().steps(["a", "b", "b"], duffdp.Categories(["a", "b", "c"]))
    >>> [steps.distance_at(x) for x in "abc"]
    [1, 0, 2]
    """

    unit = Fraction(1)

    def __init__(self, rate: Fraction | int = 1) -> None:
        self.rate = Fraction(rate)

    def steps(self, values: object, domain: Domain) -> StepFunction:
        """The distance of every candidate of the domain."""
        return self._steps(*counts_of(values, domain).group(0), domain)

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        """Whole step functions, as a mode needs the counts of all values."""
        domain = scope.domain
        if isinstance(domain, Ordered) and domain.size > MAX_LISTED_CANDIDATES:
            return (yield from self._by_count(domain))
        return (yield from self.listed_windows(scope, max_distance))

    def listed_windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        counts = yield from ask(ValueCounts())
        return Windows.of([self._steps(*group, scope.candidates) for group in counts.split()])

    def _steps(self, index: Ints, count: Ints, domain: Domain) -> StepFunction:
        start, size, records = np.zeros((3, 2 * len(index) + 1), dtype=np.int64)
        start[1::2] = index
        np.add(index, 1, out=start[2::2])
        np.subtract(start[1:], start[:-1], out=size[:-1])
        size[-1] = domain.size - start[-1]
        records[1::2] = count
        return StepFunction(
            domain, *merged(start, size, records.max() - records), self.unit, self.rate
        )

    def _by_count(self, domain: Domain) -> Inquiry[Windows]:
        """Candidates in the order of their records: all with equally many are one run."""
        counts = yield from ask(CountsOfCounts())
        groups = counts.split()
        steps = []
        for records, candidates in groups:
            start = np.cumsum(candidates) - candidates
            runs = filled(start, candidates, records.max() - records)
            steps.append(StepFunction(domain, *runs, self.unit, self.rate))

        def locate(i: int, position: int) -> Inquiry[int]:
            records, candidates = groups[i]
            cumulative = np.cumsum(candidates)
            at = int(np.searchsorted(cumulative, position, side="right"))
            before = int(cumulative[at] - candidates[at])
            (candidate,) = yield from ask(CandidateAt(int(records[at]), position - before))
            return candidate

        return replace(Windows.of(steps), locate=locate)

    def __repr__(self) -> str:
        return f"Mode(rate={self.rate})"


class ModeSpec(StatisticSpec):
    """The mode."""

    name = "mode"
    outputs = "grid or categories"
    allows_uneven_grid = True
    no_interval_reason = NO_ORDER
    distance_bound = "any"
    baselines = "mode"

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        """All counts move in one direction, so the full rate holds; the paper uses half of it."""
        rate = Fraction(1, 2) if settings.choice == "duff" else Fraction(1)
        return ReleaseProgram.by_distance(Mode(rate), self.name, settings.choice)

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        """The first of several."""
        assert isinstance(domain, Domain)
        index, count = exact_counts(engine)
        return [domain.value(int(index[count.argmax()]) if len(index) else 0)]

    def step_rule(self, choice: Choice) -> StepRule:
        return "order"


SPECS = (ModeSpec(),)
