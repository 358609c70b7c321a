"""Forecasts of one release at any epsilon and for any number of records, from public facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from duffdp._engines.requests import Engine
from duffdp._parameters import INTERVAL
from duffdp._pipeline.request import ReleaseRequest
from duffdp._pipeline.run import ArraySource
from duffdp._planning.epsilon import CLOSE_RATIO, SIMULATED_RATIO, least_epsilon
from duffdp._planning.forecast import DataSet, Forecast, forecast, output_columns, position
from duffdp._planning.outcomes import Effort, needs_simulation
from duffdp._planning.synthetic import BASE_RECORDS, SyntheticRecords
from duffdp._sampling.entropy import SYSTEM
from duffdp.domain import Categories, Grid, Presence
from duffdp.errors import DuffError
from duffdp.research.guarantees import least_error
from duffdp.statistics.program import OutputColumn

DEFAULT_POINTS = 2**9  # for a law of several draws: its errors are good to about 2 %
# The sampling error of any size is scaled from so many samples of so many records.
_SAMPLES, _SAMPLE_SIZE = 64, 400
_NORMAL_95 = 1.96  # standard deviations within which 95 of 100 normal errors are
_MAX_FORECASTS, _MAX_DATA_SETS = 64, 8  # in the cache of each release
_Result = TypeVar("_Result")


class ReleaseForecast:
    """One release of a plan at any epsilon and size; no record is read.

    Results are cached: moving one input recomputes only the results that depend on it.
    """

    def __init__(self, request: ReleaseRequest, records: SyntheticRecords) -> None:
        self._request, self._synthetic = request, records
        self._checked = request.check()
        if not self._checked.spec.can_be_planned:
            raise DuffError(f"the error of {self._checked.spec.name} cannot be planned.")
        self._data: dict[int, DataSet] = {}
        self._forecasts: dict[tuple[Any, ...], Forecast] = {}

    @cached_property
    def needs_draws(self) -> bool:
        """True if the errors can only be simulated, at any epsilon and size."""
        plan = self._checked.plan_on(self.data(1).domain)
        return needs_simulation(plan, self._checked.post_process(plan) is not None)

    @cached_property
    def outputs(self) -> tuple[OutputColumn, ...]:
        """The numbers of the release, without the ends of intervals."""
        return output_columns(self._checked, self.data(1).domain)

    def data(self, size: int) -> DataSet:
        """So many synthetic records, with the statistic of them."""

        def make() -> DataSet:
            domain = self._checked.domain_for(self._synthetic.integer, self._synthetic.untyped)
            if isinstance(domain, Grid) and not domain.timed:
                records, engine = _grid_engine(self._synthetic, size, domain)
                return DataSet.of_engine(self._checked, records, engine, domain)
            return self._data_set(self._records(size))

        return _cached(self._data, size, make, _MAX_DATA_SETS)

    def errors(
        self, epsilon: Fraction, size: int, draws: int = 0, points: int = DEFAULT_POINTS
    ) -> Forecast:
        """The errors of the numbers at this epsilon of the release; `draws` are for a release that
        needs them.
        """
        # Ends that follow from noise change nothing about the numbers, so they are left out.
        costs_epsilon = self._checked.spec.interval_costs_epsilon
        request = self._request if costs_epsilon else self._request.replace(interval=None)
        return self._forecast(request, epsilon, size, draws, points)

    def intervals(self, epsilon: Fraction, size: int, draws: int = 0) -> Forecast:
        """The errors with the expected widths of intervals, if the release has any."""
        if self._checked.spec.interval_costs_epsilon:
            return self.errors(epsilon, size, draws)
        return self._forecast(self._request, epsilon, size, draws, DEFAULT_POINTS // 4)

    def _forecast(
        self, request: ReleaseRequest, epsilon: Fraction, size: int, draws: int, points: int
    ) -> Forecast:
        effort = Effort(points, draws, np.random.SeedSequence(0))
        key = (request[INTERVAL], epsilon, size, draws if self.needs_draws else points)

        def make() -> Forecast:
            return forecast(request.replace(epsilon=epsilon).check(), self.data(size), effort)

        return _cached(self._forecasts, key, make, _MAX_FORECASTS)

    def within(
        self,
        epsilon: Fraction,
        size: int,
        probability: float,
        output: int = 0,
        draws: int = 0,
        points: int = DEFAULT_POINTS,
    ) -> float:
        """The error that is not exceeded with this probability."""
        errors = self.errors(epsilon, size, draws, points).errors[output]
        return least_error(errors.tail, 1 - probability)

    def least_epsilon(
        self, error: float, probability: float, size: int, output: int = 0, draws: int = 0
    ) -> float | None:
        """The least epsilon of the release whose error is within a limit with this probability;
        None if there is none.
        """

        def is_too_small(epsilon: float) -> bool:
            errors = self.errors(Fraction(epsilon), size, draws).errors[output]
            return errors.tail(error) > 1 - probability

        return least_epsilon(is_too_small, SIMULATED_RATIO if self.needs_draws else CLOSE_RATIO)

    def sampling_error(self, size: int, output: int = 0) -> float | None:
        """The error, without any noise, that 95 of 100 samples of this size from a large population
        do not exceed; None for a number that is counted and not estimated.
        """
        if isinstance(self._checked.domain, Presence | Categories) or not size:
            return None
        factor = size / _SAMPLE_SIZE  # totals grow with its root, all else shrinks
        error = self._sampling_errors[output]
        return error * math.sqrt(factor if self.is_total(output) else 1 / factor)

    def is_total(self, output: int) -> bool:
        """True if a number is a total, which grows with the number of records."""
        return self._checked.spec.additive or self.outputs[output].kind == "count"

    @cached_property
    def _sampling_errors(self) -> list[float]:
        """The sampling error of each number for samples of `_SAMPLE_SIZE` records."""
        rng, records = np.random.default_rng(1), self._records(BASE_RECORDS)
        samples = [self._data_set(rng.choice(records, _SAMPLE_SIZE)) for _ in range(_SAMPLES)]
        numbers = [[position(sample.domain, truth) for truth in sample.truth] for sample in samples]
        errors: list[float] = (_NORMAL_95 * np.std(np.array(numbers), axis=0)).tolist()
        return errors

    def _records(self, size: int) -> Any:
        domain = self._checked.domain
        if isinstance(domain, Presence):
            return np.zeros(size)
        if isinstance(domain, Categories):
            values = np.array(list(domain))
            return values[np.arange(size) * len(values) // max(size, 1)]
        if domain.kind in ("date", "datetime") or (isinstance(domain, Grid) and domain.timed):
            raise DuffError(
                "dates and times have no named distribution, so their errors are not previewed."
            )
        return self._synthetic.records(size)

    def _data_set(self, records: object) -> DataSet:
        synthetic = self._synthetic
        return DataSet.of_array(
            self._checked,
            records,
            lambda *_: self._checked.domain_for(synthetic.integer, synthetic.untyped),
        )


@lru_cache(maxsize=16)  # several statistics need the same records
def _grid_engine(synthetic: SyntheticRecords, size: int, domain: Grid) -> tuple[Any, Engine]:
    records = synthetic.records(size)
    return records, ArraySource(records, lambda *_: domain).engine(SYSTEM)[0]


def _cached(
    cache: dict[Any, _Result], key: object, make: Callable[[], _Result], limit: int
) -> _Result:
    """The cached result of a key; the oldest one is dropped if there are more than the limit."""
    if key not in cache:
        result = make()
        while len(cache) >= limit:
            cache.pop(next(iter(cache)))
        cache[key] = result
    return cache[key]
