"""What to expect of one release at any epsilon and for any number of records, from public facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from duffdp.domain import Categories, Floats, Grid, Presence, PublicSet
from duffdp.errors import DuffError
from duffdp.pipeline.ask import Ask, Checked
from duffdp.pipeline.run import Array
from duffdp.pipeline.span import ENDS
from duffdp.planning.epsilon import CLOSE, SIMULATED_CLOSE, least_epsilon
from duffdp.planning.errors import position
from duffdp.planning.forecast import DataSet, Forecast, forecast
from duffdp.planning.outcomes import Effort, NoLaw
from duffdp.planning.shapes import SHAPES
from duffdp.research.guarantees.exact import least_error
from duffdp.sampling.entropy import SYSTEM
from duffdp.statistics.entry import Column

POINTS = 2**9  # that stand for a law of several draws: its errors are good to about 2 %
BASE = 2**14  # records of a shape, between which more are evenly spread
SAMPLES, SAMPLED = 64, 400  # so many samples of so many records tell the sampling error
NORMAL = 1.96  # standard deviations within which 95 of 100 normal errors are
KEPT = 64  # forecasts that are remembered, of each release; and of data sets
KEPT_DATA = 8
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Likeness:
    """What the records of a column are taken to be like: a shape between two ends, or those of a
    public sample; and what the type of the column says of them.
    """

    shape: str = "uniform"
    ends: tuple[float, float] = (0.0, 1.0)
    sample: Any = field(default=None, compare=False)  # a sorted array, of which `shape` is a name
    integer: bool = False
    untyped: bool = False

    def records(self, size: int) -> Any:
        """So many of them, evenly spread over the ranks."""
        if self.sample is None:
            base = _base(self.shape)
            low, high = self.ends
            at = (np.arange(size) + 0.5) * (len(base) / max(size, 1)) - 0.5
            found: Any = low + (high - low) * np.interp(at, np.arange(len(base)), base)
        else:
            ranks = (np.arange(size) + 0.5) * (len(self.sample) / max(size, 1))
            found = self.sample[ranks.astype(np.int64)]
        return np.rint(found).astype(np.int64) if self.integer else found


@lru_cache(maxsize=16)  # several statistics ask the same records
def _source(like: Likeness, size: int, domain: Grid) -> tuple[Any, Any]:
    records = like.records(size)
    return records, Array(records, lambda *_: domain).sources(SYSTEM)[0]


@lru_cache(maxsize=16)
def _base(shape: str) -> Floats:
    base: Floats = np.sort(SHAPES[shape](np.random.default_rng(0), BASE))
    return base


class Outlook:
    """One release of a plan, looked at from all sides: no record is read.

    What was computed is remembered, so that moving one input costs what depends on it.
    """

    def __init__(self, ask: Ask, likeness: Likeness) -> None:
        self._ask, self._likeness = ask, likeness
        known = ask.check()
        if known.recipe.entry.exact is None:
            raise DuffError(f"the error of {known.recipe.entry.name} cannot be planned.")
        self._known: Checked = known
        self._data: dict[int, DataSet] = {}
        self._forecasts: dict[tuple[Any, ...], Forecast] = {}
        self._needs_draws = False

    @cached_property
    def outputs(self) -> tuple[Column, ...]:
        """The numbers of the release, without the ends of intervals."""
        data, finish = self.data(1), self._known.finish
        made = self._known.recipe
        columns = made.columns if finish is None else finish.columns(data.domain)
        return tuple(columns[:: 1 if made.interval is None else ENDS])

    def data(self, size: int) -> DataSet:
        """So many records, with the statistic of them."""

        def found() -> DataSet:
            domain = self._known.domain_for(self._likeness.integer, self._likeness.untyped)
            if isinstance(domain, Grid) and not domain.timed:
                return self._with_truth(*_source(self._likeness, size, domain), domain)
            return self._data_set(self._records(size))

        return _remembered(self._data, size, found, KEPT_DATA)

    def errors(
        self, epsilon: Fraction, size: int, draws: int = 0, points: int = POINTS
    ) -> Forecast:
        """How the numbers err for this epsilon of the release; `NoLaw` if that takes draws and
        there are to be none.
        """
        # Ends that follow from noise change nothing about the numbers: they are left out.
        entry = self._known.recipe.entry
        alone = self._ask if entry.ends_are_drawn else replace(self._ask, interval=None)
        return self._forecast(alone, epsilon, size, draws, points)

    def intervals(self, epsilon: Fraction, size: int, draws: int = 0) -> Forecast:
        """The same with expected widths of intervals, if the release has any."""
        if self._known.recipe.entry.ends_are_drawn:
            return self.errors(epsilon, size, draws)
        return self._forecast(self._ask, epsilon, size, draws, POINTS // 4)

    def _forecast(
        self, ask: Ask, epsilon: Fraction, size: int, draws: int, points: int
    ) -> Forecast:
        if self._needs_draws and not draws:
            raise NoLaw("the law of this release is not known: its errors have to be simulated.")
        effort = Effort(points, draws, np.random.SeedSequence(0))
        how = (draws, 0) if self._needs_draws else (0, points)
        asked = (ask.interval, epsilon, size, *how)

        def found() -> Forecast:
            return forecast(replace(ask, epsilon=epsilon).check(), self.data(size), effort)

        try:
            known = _remembered(self._forecasts, asked, found)
        except NoLaw:
            self._needs_draws = True
            raise
        self._needs_draws = self._needs_draws or known.draws > 0
        return known

    def within(
        self,
        epsilon: Fraction,
        size: int,
        probability: float,
        output: int = 0,
        draws: int = 0,
        points: int = POINTS,
    ) -> float:
        """The error that is not exceeded with this probability."""
        errors = self.errors(epsilon, size, draws, points).errors[output]
        return least_error(errors.tail, 1 - probability)

    def least_epsilon(
        self, error: float, probability: float, size: int, output: int = 0, draws: int = 0
    ) -> float | None:
        """The least epsilon of the release that keeps an error with this probability; None if none
        does.
        """

        def misses(epsilon: float) -> bool:
            known = self.errors(Fraction(epsilon), size, draws)
            return known.errors[output].tail(error) > 1 - probability

        simulated = self.errors(Fraction(1), size, draws).draws
        return least_epsilon(misses, SIMULATED_CLOSE if simulated else CLOSE)

    def sampling_error(self, size: int, output: int = 0) -> float | None:
        """What 95 of 100 samples of so many records from a large population of this kind are off,
        without any noise; None for what is counted, and not estimated.
        """
        if isinstance(self._known.domain, Presence | Categories) or not size:
            return None
        times = size / SAMPLED  # totals grow with the root of it, all else shrinks
        return self._sampled[output] * math.sqrt(times if self.is_total(output) else 1 / times)

    def is_total(self, output: int) -> bool:
        """Whether a number is a total, which grows with the number of records."""
        return self._known.recipe.entry.adds_up or self.outputs[output].kind == "count"

    @cached_property
    def _sampled(self) -> list[float]:
        """The sampling error of each number for samples of some records."""
        rng, records, columns = np.random.default_rng(1), self._records(BASE), self.outputs
        sets = [self._data_set(rng.choice(records, SAMPLED)) for _ in range(SAMPLES)]
        found = [
            [
                position(column, one.domain, truth)
                for column, truth in zip(columns, one.truth, strict=True)
            ]
            for one in sets
        ]
        spread: list[float] = (NORMAL * np.std(np.array(found), axis=0)).tolist()
        return spread

    def _records(self, size: int) -> Any:
        domain = self._known.domain
        if isinstance(domain, Presence):
            return np.zeros(size)
        if isinstance(domain, Categories):
            listed = np.array(list(domain))
            return listed[np.arange(size) * len(listed) // max(size, 1)]
        if domain.kind in ("date", "datetime") or (isinstance(domain, Grid) and domain.timed):
            raise DuffError("no shape stands for dates and times: their errors are not previewed.")
        return self._likeness.records(size)

    def _data_set(self, records: Any) -> DataSet:
        like = self._likeness
        array = Array(records, lambda *_: self._known.domain_for(like.integer, like.untyped))
        return self._with_truth(records, array.sources(SYSTEM)[0], array.domain)

    def _with_truth(self, records: Any, source: Any, domain: PublicSet) -> DataSet:
        made = self._known.recipe
        assert made.entry.exact is not None
        truth = made.entry.exact(made.given, source, domain)
        return DataSet(records, source, domain, tuple(truth))


def _remembered(
    known: dict[Any, Found], key: Any, make: Callable[[], Found], most: int = KEPT
) -> Found:
    """What is known under a key, made if it is not; the oldest is forgotten where there are
    many.
    """
    if key not in known:
        found = make()
        while len(known) >= most:
            known.pop(next(iter(known)))
        known[key] = found
    return known[key]
