"""The exact-neighbor test: the largest privacy loss over all pairs of small neighboring data sets,
from their explicit output distributions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar

from duffdp._steps import StepFunction
from duffdp.domain import Grid
from duffdp.mechanisms.law import Law

Data = TypeVar("Data")
RecordPositions = tuple[int, ...]  # a data set as positions of its records, in order


class OutputLaw(Protocol):
    """Exact distribution of one draw."""

    def outputs(self) -> Iterable[Any]:
        """Outputs of every probability that there is: all, or one of each set that is equally
        likely."""

    def log_probability(self, output: object, /) -> float:
        """Logarithm of the probability of one output; -inf for what cannot come out."""


class ListedLaw:
    """A distribution whose outputs are all listed, with their probabilities."""

    def __init__(self, probabilities: Mapping[Any, float]) -> None:
        self._logs = {output: math.log(p) for output, p in probabilities.items() if p > 0}

    def outputs(self) -> Iterable[Any]:
        return self._logs

    def log_probability(self, output: object, /) -> float:
        return self._logs.get(output, -math.inf)


class StepLaw:
    """The output distribution of a mechanism over the candidates of a step function, equal within a
    run.
    """

    def __init__(self, steps: StepFunction, law: Law) -> None:
        self._starts = [steps.domain.value(i) for i in steps.start.tolist()]
        self.log_probability = cache(law.log_probability)  # each law meets several neighbours

    def outputs(self) -> Iterable[Any]:
        return self._starts


def neighbours(
    record_kinds: int, max_records: int, *, repeats: bool = True
) -> Iterator[tuple[RecordPositions, RecordPositions, int]]:
    """Every data set of fewer than `max_records` out of `record_kinds` records, the same with one
    record more, and that record.

    Data sets come by size; with `repeats` a record may occur more than once (edges of a graph may
    not).
    """
    combine = itertools.combinations_with_replacement if repeats else itertools.combinations
    for size in range(max_records):
        for data in combine(range(record_kinds), size):
            for joined in range(record_kinds):
                if repeats or joined not in data:
                    yield data, tuple(sorted((*data, joined))), joined


def log_ratio(laws: Sequence[OutputLaw], neighbour_laws: Sequence[OutputLaw]) -> float:
    """The largest log-ratio, either way, of the probabilities of all outputs of independent
    draws."""
    return max(map(abs, log_ratios(laws, neighbour_laws)))


def log_ratios(
    laws: Sequence[OutputLaw], neighbour_laws: Sequence[OutputLaw]
) -> tuple[float, float]:
    """The least and the largest log-ratio of the probabilities of all outputs of independent
    draws."""
    lowest = highest = 0.0
    for before, after in zip(laws, neighbour_laws, strict=True):
        ratios = _log_ratio_by_output(before, after).values()
        lowest, highest = lowest + min(ratios), highest + max(ratios)
    return lowest, highest


def worst_output(law: OutputLaw, neighbour_law: OutputLaw) -> tuple[float, Any]:
    """The largest log-ratio of one draw, either way, and an output that has it."""
    ratios = _log_ratio_by_output(law, neighbour_law)
    worst = max(ratios, key=lambda output: abs(ratios[output]))
    return abs(ratios[worst]), worst


def _log_ratio_by_output(law: OutputLaw, neighbour_law: OutputLaw) -> dict[Any, float]:
    outputs = dict.fromkeys([*law.outputs(), *neighbour_law.outputs()])
    return {x: neighbour_law.log_probability(x) - law.log_probability(x) for x in outputs}


def largest_log_ratio(
    draws_of: Callable[[Data], Sequence[OutputLaw]], pairs: Iterable[tuple[Data, Data]]
) -> float:
    """The largest privacy loss over pairs of neighbors: at most epsilon, or the guarantee is
    broken.

    Parameters
    ----------
    draws_of
        The distributions of the independent draws that a release of a data set makes.
    pairs
        Neighboring data sets, as anything hashable.
    """
    laws_of = cache(draws_of)
    return max(log_ratio(laws_of(data), laws_of(neighbour)) for data, neighbour in pairs)


def largest_loss(
    statistic: Any, mechanism: Any, *, size: int = 4, most: int = 5, domain: Any = None
) -> float:
    """The largest privacy loss of a mechanism over all neighbors on a small domain: at most its
    epsilon, or it is broken.

    Parameters
    ----------
    statistic
        Such as `duffdp.statistics.Median()`.
    mechanism
        Such as `duffdp.mechanisms.Exponential(1.0)`.
    size, most
        Records are 0 .. size - 1; data sets have up to `most` of them.
    domain
        The public candidates, if not the records themselves.

    Returns
    -------
    float
        The largest log-ratio of two probabilities of one outcome.

    Privacy
    -------
    Reads no data. It is a proof by enumeration for the domain and sizes that it covers, and
    evidence for others.

    Runtime
    -------
    One output distribution for each of the `comb(size + most, most)` data sets.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definition 1.

    Examples
    --------
    >>> import duffdp
    >>> mechanism = duffdp.mechanisms.Exponential(1.0)
    >>> loss = duffdp.audit.largest_loss(duffdp.statistics.Median(), mechanism, size=3, most=3)
    >>> round(loss, 6) <= 1
    True
    """
    candidates = Grid(0, size - 1, 1) if domain is None else domain

    def draws_of(data: RecordPositions) -> list[OutputLaw]:
        steps = statistic.steps(list(data), candidates)
        return [StepLaw(steps, mechanism.law(steps))]

    return largest_log_ratio(
        draws_of, ((data, neighbour) for data, neighbour, _ in neighbours(size, most))
    )
