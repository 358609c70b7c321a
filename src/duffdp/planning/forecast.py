"""The errors of one release on one data set, number by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from duffdp.domain import PublicSet
from duffdp.pipeline.answer import reader
from duffdp.pipeline.ask import Checked, settled
from duffdp.pipeline.recipe import Recipe
from duffdp.pipeline.span import ENDS, whole_range
from duffdp.planning.errors import (
    CandidateErrors,
    Errors,
    LawErrors,
    point_errors,
    position,
    positions,
)
from duffdp.planning.outcomes import (
    Effort,
    Outcomes,
    independent_outcomes,
    law_of,
    noisy_outcomes,
    simulated_outcomes,
)
from duffdp.statistics.entry import Column, Finish


@dataclass(frozen=True, slots=True)
class DataSet:
    """Records that are public or synthetic, as a source of counts on a domain, and the statistic
    of them without noise.
    """

    records: Any
    source: Any
    domain: PublicSet
    truth: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Forecast:
    """What to expect of a release: the errors of its numbers, the expected widths of their
    intervals and how often these are the whole range; from so many draws, none if laws are known.
    """

    errors: tuple[Errors, ...]
    widths: tuple[float, ...] = ()
    too_few: tuple[float, ...] = ()
    draws: int = 0


def forecast(checked: Checked, data: DataSet, effort: Effort) -> Forecast:
    """What to expect on one data set."""
    made, finish = settled(checked.recipe, data.domain), checked.finish
    if finish is None:
        return _of_numbers(made, data, effort)
    columns = finish.columns(data.domain)
    if len(made.parts) == 1:
        ((part, mechanism),) = made.parts
        law = law_of(part, mechanism, data.source, data.domain)
        if law is not None:
            return Forecast((_made_of_candidate(finish, columns, data, law),))
    outcomes, draws = _outcomes(made, finish.each, data, effort)
    values = [finish.values(data.domain, row) for row in outcomes.rows]
    by_column = list(zip(*values, strict=True))
    ends = made.interval is not None
    each = ENDS if ends else 1
    errors = tuple(
        point_errors(column, data.domain, found, outcomes.weights, truth)
        for column, found, truth in zip(columns[::each], by_column[::each], data.truth, strict=True)
    )
    if not ends:
        return Forecast(errors, draws=draws)
    at = [
        positions(column, data.domain, found)
        for column, found in zip(columns, by_column, strict=True)
    ]
    weights = outcomes.weights / outcomes.weights.sum()
    widths = tuple(
        float(weights @ (high - low)) for low, high in zip(at[1::ENDS], at[2::ENDS], strict=True)
    )
    few = []
    for place, column in enumerate(columns[::ENDS]):
        whole = whole_range(column, data.domain)
        pairs = zip(by_column[ENDS * place + 1], by_column[ENDS * place + 2], strict=True)
        few.append(float(weights @ np.array([pair == whole for pair in pairs])))
    return Forecast(errors, widths, tuple(few), draws)


def _of_numbers(made: Recipe, data: DataSet, effort: Effort) -> Forecast:
    """Numbers that are released as they are drawn, part by part."""
    errors: list[Errors] = []
    simulated: Outcomes | None = None
    for part, mechanism in made.parts:
        columns = made.columns[len(errors) : len(errors) + len(part.columns)]
        truths = data.truth[len(errors) : len(errors) + len(part.columns)]
        law = law_of(part, mechanism, data.source, data.domain)
        if law is not None:
            errors.append(LawErrors(law, truths[0]))
            continue
        outcomes = noisy_outcomes(part, mechanism, data.source, data.domain, True, effort.points)
        first = 0
        if outcomes is None:
            simulated = simulated or simulated_outcomes(made, data.source, data.domain, effort)
            outcomes, first = simulated, len(errors)
        by_column = list(zip(*outcomes.rows, strict=True))
        for i, (column, truth) in enumerate(zip(columns, truths, strict=True)):
            found = list(reader(column, data.domain)(by_column[first + i]))
            errors.append(point_errors(column, data.domain, found, outcomes.weights, truth))
    return Forecast(tuple(errors), draws=0 if simulated is None else effort.draws)


def _made_of_candidate(
    finish: Finish, columns: tuple[Column, ...], data: DataSet, law: Any
) -> Errors:
    """The errors of a value that is made of one candidate."""
    (column,), (truth,) = columns, data.truth

    def released(candidate: int) -> float:
        (value,) = finish.values(data.domain, [candidate])
        return position(column, data.domain, value)

    return CandidateErrors(law, released, position(column, data.domain, truth))


def _outcomes(made: Recipe, alone: bool, data: DataSet, effort: Effort) -> tuple[Outcomes, int]:
    """What can be drawn, from the law if it is known, and the number of draws if it is not."""
    asked = data.source, data.domain
    known: Outcomes | None = None
    if len(made.parts) == 1:
        known = noisy_outcomes(*made.parts[0], *asked, alone, effort.points)
    known = known or independent_outcomes(made, *asked, effort.points)
    if known is not None:
        return known, 0
    return simulated_outcomes(made, *asked, effort), effort.draws
