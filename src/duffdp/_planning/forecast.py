"""Forecasts of one release on one data set: the distribution of the error of each number."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from duffdp._engines.requests import Engine
from duffdp._pipeline.draw_plan import DrawPlan
from duffdp._pipeline.estimates import INTERVAL_COLUMNS, columns_per_number, whole_range
from duffdp._pipeline.released_values import number_reader
from duffdp._pipeline.request import CheckedRequest
from duffdp._pipeline.run import ArraySource
from duffdp._planning.outcomes import (
    NEGLIGIBLE_MASS,
    Effort,
    Outcomes,
    law_of,
    noisy_outcomes,
    planned_draws,
    program_outcomes,
    simulated_outcomes,
)
from duffdp._sampling.entropy import SYSTEM
from duffdp.domain import Categories, Floats, PublicSet
from duffdp.mechanisms.law import Law
from duffdp.statistics.program import OutputColumn, PostProcess

_PIECES_PER_RUN = 16  # of a law, in each of which the released value is a straight line
_MAX_PIECES = 2**10  # of a whole law
_EXACT_DIGITS = 12  # that rounding leaves of an error
_FORECAST_ROUNDING = 1e-12  # of an error, as a share of the numbers
_MIN_CANDIDATE_STEP = 1e-300  # between candidates that are the same double


@dataclass(frozen=True, slots=True)
class DataSet:
    """Public or synthetic records in an engine, and the exact statistic of them."""

    records: Any
    engine: Engine
    domain: PublicSet
    truth: Sequence[Any]

    @classmethod
    def of_engine(
        cls, checked: CheckedRequest, records: object, engine: Engine, domain: PublicSet
    ) -> DataSet:
        """Records that an engine holds already."""
        assert checked.spec.can_be_planned
        truth = checked.spec.exact(checked.terms.parameters, engine, domain)
        return cls(records, engine, domain, tuple(truth))

    @classmethod
    def of_array(
        cls,
        checked: CheckedRequest,
        records: object,
        domain_for: Callable[..., PublicSet] | None = None,
    ) -> DataSet:
        """The records of an array; `domain_for` replaces the request's choice of a domain."""
        source = ArraySource(records, domain_for or checked.domain_for)
        return cls.of_engine(checked, records, source.engine(SYSTEM)[0], source.domain)


@dataclass(frozen=True, slots=True)
class Forecast:
    """The distributions of the errors of a release's numbers, the expected widths of their
    intervals, and the probability that an interval is the whole range; `draws` is 0 if nothing was
    simulated.
    """

    errors: tuple[ErrorLaw, ...]
    widths: tuple[float, ...] = ()
    too_few: tuple[float, ...] = ()
    draws: int = 0


def output_columns(checked: CheckedRequest, domain: PublicSet) -> tuple[OutputColumn, ...]:
    """The numbers of a release, without the ends of intervals."""
    post_process = checked.post_process(checked.plan)
    columns = checked.plan.columns if post_process is None else post_process.columns(domain)
    return tuple(columns[:: columns_per_number(checked.plan.interval)])


def forecast(checked: CheckedRequest, data: DataSet, effort: Effort) -> Forecast:
    """The forecast of a release on one data set."""
    plan = checked.plan_on(data.domain)
    post_process = checked.post_process(plan)
    if post_process is None:
        return _forecast_of_draws(plan, data, effort)
    columns = post_process.columns(data.domain)
    draws = planned_draws(plan)
    if len(draws) == 1:
        law = law_of(draws[0], data.engine, data.domain)
        if law is not None:
            return Forecast((_error_of_candidate(post_process, columns, data, law),))
    outcomes, simulated = _outcomes(plan, post_process.independent, data, effort)
    values = [post_process.values(data.domain, row) for row in outcomes.rows]
    by_column = list(zip(*values, strict=True))
    if plan.interval is None:
        return Forecast(_point_errors(columns, by_column, data, outcomes.weights), draws=simulated)
    errors = _point_errors(
        columns[::INTERVAL_COLUMNS], by_column[::INTERVAL_COLUMNS], data, outcomes.weights
    )
    weights = outcomes.weights / outcomes.weights.sum()
    widths, too_few = [], []
    for i, column in enumerate(columns[::INTERVAL_COLUMNS]):
        low, high = by_column[INTERVAL_COLUMNS * i + 1 : INTERVAL_COLUMNS * (i + 1)]
        low_at, high_at = (_positions(data.domain, ends) for ends in (low, high))
        widths.append(float(weights @ (high_at - low_at)))
        full_range = whole_range(column, data.domain)
        is_whole = [pair == full_range for pair in zip(low, high, strict=True)]
        too_few.append(float(weights @ np.array(is_whole)))
    return Forecast(errors, tuple(widths), tuple(too_few), simulated)


def _forecast_of_draws(plan: DrawPlan, data: DataSet, effort: Effort) -> Forecast:
    """The forecast of numbers that are released as they are drawn."""
    errors: list[ErrorLaw] = []
    simulated: Outcomes | None = None
    for draw in planned_draws(plan):
        if not draw.part.is_released:
            continue
        numbers = slice(len(errors), len(errors) + len(draw.part.columns))
        columns, truths = plan.columns[numbers], data.truth[numbers]
        law = law_of(draw, data.engine, data.domain)
        if law is not None:
            errors.append(MechanismErrorLaw(law, truths[0]))
            continue
        outcomes = noisy_outcomes(draw, data.engine, data.domain, True, effort.points)
        first = 0
        if outcomes is None:
            simulated = simulated or simulated_outcomes(plan, data.engine, data.domain, effort)
            outcomes, first = simulated, len(errors)
        by_column = list(zip(*outcomes.rows, strict=True))
        for i, (column, truth) in enumerate(zip(columns, truths, strict=True)):
            values = list(number_reader(column, data.domain)(by_column[first + i]))
            errors.append(_point_error(column, data.domain, values, outcomes.weights, truth))
    return Forecast(tuple(errors), draws=0 if simulated is None else effort.draws)


def _outcomes(
    plan: DrawPlan, independent: bool, data: DataSet, effort: Effort
) -> tuple[Outcomes, int]:
    """The outcomes of a release, and the number of draws if its law is unknown."""
    outcomes: Outcomes | None = None
    draws = planned_draws(plan)
    if len(draws) == 1:
        outcomes = noisy_outcomes(draws[0], data.engine, data.domain, independent, effort.points)
    outcomes = outcomes or program_outcomes(plan, data.engine, data.domain, effort.points)
    if outcomes is not None:
        return outcomes, 0
    return simulated_outcomes(plan, data.engine, data.domain, effort), effort.draws


# Error laws.


class ErrorLaw(Protocol):
    """The distribution of the error of one released number."""

    def expected_error(self) -> float:
        """Mean of the error."""

    def tail(self, t: float) -> float:
        """Probability of an error of more than t."""

    def deviation(self, share: float) -> float:
        """The quantile of the signed error at this share: positive above the truth."""


class MechanismErrorLaw:
    """Errors that follow from the mechanism's distribution of the released number."""

    def __init__(self, law: Any, truth: Any) -> None:
        self._law, self._truth = law, truth

    def expected_error(self) -> float:
        return float(self._law.expected_error(self._truth))

    def tail(self, t: float) -> float:
        return float(self._law.tail(self._truth, t))

    def deviation(self, share: float) -> float:
        domain = self._law.domain
        return position(domain, self._law.quantile(share)) - position(domain, self._truth)


class CandidateErrorLaw:
    """Errors of a number that is a rising function of one candidate.

    Parameters
    ----------
    law
        Of the candidate.
    position
        The released value of a candidate, as a number.
    truth
        The exact value, as a number.
    """

    def __init__(self, law: Law, position: Callable[[int], float], truth: float) -> None:
        start, count, mass = law.runs()
        heavy = mass > NEGLIGIBLE_MASS
        start, count, mass = start[heavy], count[heavy], mass[heavy]
        pieces = np.minimum(count, max(1, min(_PIECES_PER_RUN, _MAX_PIECES // len(count))))
        run = np.repeat(np.arange(len(count)), pieces)
        piece = np.arange(len(run)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        cuts = [
            (start[run] + _whole_share(count[run], piece + i, pieces[run])).astype(np.int64)
            for i in (0, 1)
        ]
        self._count = cuts[1] - cuts[0]
        self._mass = mass[run] * (self._count / count[run])
        first = np.array([position(i) for i in cuts[0].tolist()])
        last, longer = first.copy(), self._count > 1
        last[longer] = [position(i) for i in (cuts[1] - 1)[longer].tolist()]
        self._slack = _FORECAST_ROUNDING * max(abs(truth), float(np.abs(last).max()))
        self._first, self._last = first - truth, last - truth
        # The distance between two candidates of a piece; any number where there is but one.
        self._step = np.where(longer, (last - first) / np.maximum(self._count - 1, 1), 1.0)
        self._step[self._step <= 0] = _MIN_CANDIDATE_STEP

    def expected_error(self) -> float:
        first, last, count, step = self._first, self._last, self._count, self._step
        with np.errstate(over="ignore"):
            below = np.clip(np.ceil(-first / step), 0, count)
        above = count - below
        # Two arithmetic series, one on either side of the truth.
        sums = below * (-first) - step * below * (below - 1) / 2
        sums += above * last - step * above * (above - 1) / 2
        return float(self._mass @ (sums / count))

    def tail(self, t: float) -> float:
        reach = t + self._slack
        with np.errstate(over="ignore"):
            low = np.clip(np.ceil((-reach - self._first) / self._step), 0, self._count)
            high = np.clip(np.floor((reach - self._first) / self._step) + 1, 0, self._count)
        return float(self._mass @ (1 - np.maximum(high - low, 0) / self._count))

    def deviation(self, share: float) -> float:
        cumulative = np.cumsum(self._mass)
        share *= cumulative[-1]
        run = min(int(np.searchsorted(cumulative, share, side="right")), len(cumulative) - 1)
        inside = (share - (cumulative[run] - self._mass[run])) / self._mass[run] * self._count[run]
        place = min(max(int(inside), 0), int(self._count[run]) - 1)
        return float(self._first[run] + place * self._step[run])


class PointErrorLaw:
    """Weighted differences to the truth; differences below the precision of numbers of size `scale`
    are rounding.
    """

    def __init__(self, deviations: Floats, weights: Floats, scale: float) -> None:
        digits = _EXACT_DIGITS - math.ceil(math.log10(scale)) if scale else _EXACT_DIGITS
        self._deviations, weights = np.round(deviations, digits), weights / weights.sum()
        self._weights, errors = weights, np.abs(self._deviations)
        order = np.argsort(errors)
        self._errors, weights = errors[order], weights[order]
        self._mean = float(self._errors @ weights)
        self._tail_weights = np.append(np.cumsum(weights[::-1])[::-1], 0.0)

    def expected_error(self) -> float:
        return self._mean

    def tail(self, t: float) -> float:
        return float(self._tail_weights[np.searchsorted(self._errors, t, side="right")])

    def deviation(self, share: float) -> float:
        order = np.argsort(self._deviations)
        cumulative = np.cumsum(self._weights[order])
        rank = int(np.searchsorted(cumulative, share * cumulative[-1], side="right"))
        return float(self._deviations[order[min(rank, len(order) - 1)]])


def position(domain: Any, value: Any) -> float:
    """A released value as a number whose differences are errors: days for dates, seconds for
    times.
    """
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(**({"days": 1} if domain.kind == "date" else {"seconds": 1}))
    if isinstance(value, dt.date):
        return float(domain.place(value) * domain.spacing)
    return float(value)


def _positions(domain: PublicSet, values: Sequence[Any]) -> Floats:
    return np.array([position(domain, value) for value in values])


def _error_of_candidate(
    post_process: PostProcess, columns: tuple[OutputColumn, ...], data: DataSet, law: Law
) -> ErrorLaw:
    """The error law of a value that is made of one candidate."""
    (_,), (truth,) = columns, data.truth

    def released(candidate: int) -> float:
        (value,) = post_process.values(data.domain, [candidate])
        return position(data.domain, value)

    return CandidateErrorLaw(law, released, position(data.domain, truth))


def _point_errors(
    columns: Sequence[OutputColumn],
    by_column: Sequence[Sequence[Any]],
    data: DataSet,
    weights: Floats,
) -> tuple[ErrorLaw, ...]:
    return tuple(
        _point_error(column, data.domain, values, weights, truth)
        for column, values, truth in zip(columns, by_column, data.truth, strict=True)
    )


def _point_error(
    column: OutputColumn, domain: PublicSet, values: Sequence[Any], weights: Floats, truth: object
) -> ErrorLaw:
    """The error law of weighted values; the error of a wrong category is 1."""
    if column.kind == "candidate" and isinstance(domain, Categories):
        wrong = np.array([float(value != truth) for value in values])
        return PointErrorLaw(wrong, weights, 1.0)
    exact, numbers = position(domain, truth), _positions(domain, values)
    largest = max(abs(exact), float(np.abs(numbers).max()))
    return PointErrorLaw(numbers - exact, weights, largest)


def _whole_share(count: Any, part: Any, parts: Any) -> Any:
    """count * part / parts, rounded down without overflow."""
    quotient, remainder = np.divmod(count, parts)
    return quotient * part + remainder * part // parts
