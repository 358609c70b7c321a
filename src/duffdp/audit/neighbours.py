"""The exact-neighbour test: all small data sets, one record more or less, and the laws of what
comes out for both."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, TypeVar

from duffdp.domain import Grid
from duffdp.mechanisms.law import Law
from duffdp.steps import StepFunction

Data = TypeVar("Data")
Chosen = tuple[int, ...]  # a data set as positions of its records, in order


class Distribution(Protocol):
    """What one draw can come to."""

    def outputs(self) -> Iterable[Any]:
        """Outputs of every probability that there is: all, or one of each set that is equally
        likely."""

    def log_probability(self, output: Any, /) -> float:
        """Logarithm of the probability of one output; -inf for what cannot come out."""


class Listed:
    """A distribution whose outputs are all listed, with their probabilities."""

    def __init__(self, probabilities: Mapping[Any, float]) -> None:
        self._logs = {output: math.log(p) for output, p in probabilities.items() if p > 0}

    def outputs(self) -> Iterable[Any]:
        return self._logs

    def log_probability(self, output: Any, /) -> float:
        return self._logs.get(output, -math.inf)


class Stepped:
    """The law of a mechanism over the candidates of a step function, equal within a run."""

    def __init__(self, steps: StepFunction, law: Law) -> None:
        self._starts = [steps.domain.value(i) for i in steps.start.tolist()]
        self.log_probability = cache(law.log_probability)  # each law meets several neighbours

    def outputs(self) -> Iterable[Any]:
        return self._starts


def neighbours(
    many: int, most: int, *, repeats: bool = True
) -> Iterator[tuple[Chosen, Chosen, int]]:
    """Every data set of fewer than `most` out of `many` records, with one record more, and that
    record.

    Data sets come by size; with `repeats` a record may occur more than once (edges of a graph may
    not).
    """
    combine = itertools.combinations_with_replacement if repeats else itertools.combinations
    for size in range(most):
        for here in combine(range(many), size):
            for joined in range(many):
                if repeats or joined not in here:
                    yield here, tuple(sorted((*here, joined))), joined


def log_ratio(here: Sequence[Distribution], there: Sequence[Distribution]) -> float:
    """The largest log-ratio, either way, of the probabilities of all outputs of independent
    draws."""
    return max(map(abs, log_ratios(here, there)))


def log_ratios(here: Sequence[Distribution], there: Sequence[Distribution]) -> tuple[float, float]:
    """The least and the largest log-ratio of the probabilities of all outputs of independent
    draws."""
    least = most = 0.0
    for before, after in zip(here, there, strict=True):
        ratios = _of_each_output(before, after).values()
        least, most = least + min(ratios), most + max(ratios)
    return least, most


def worst_output(here: Distribution, there: Distribution) -> tuple[float, Any]:
    """The largest log-ratio of one draw, either way, and an output that has it."""
    ratios = _of_each_output(here, there)
    worst = max(ratios, key=lambda output: abs(ratios[output]))
    return abs(ratios[worst]), worst


def _of_each_output(here: Distribution, there: Distribution) -> dict[Any, float]:
    outputs = dict.fromkeys([*here.outputs(), *there.outputs()])
    return {x: there.log_probability(x) - here.log_probability(x) for x in outputs}


def largest_log_ratio(
    draws_of: Callable[[Data], Sequence[Distribution]], pairs: Iterable[tuple[Data, Data]]
) -> float:
    """The largest privacy loss over pairs of neighbours: at most epsilon, or the guarantee is
    broken.

    Parameters
    ----------
    draws_of
        The distributions of the independent draws that a release of a data set makes.
    pairs
        Neighbouring data sets, as anything hashable.
    """
    known = cache(draws_of)
    return max(log_ratio(known(here), known(there)) for here, there in pairs)


def largest_loss(
    statistic: Any, mechanism: Any, *, size: int = 4, most: int = 5, domain: Any = None
) -> float:
    """The largest privacy loss of a mechanism over all neighbours on a small domain: at most its
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
    Touches no data: a proof by enumeration for the domain and sizes that it covers, evidence for
    others.

    Runtime
    -------
    One law for each of the `comb(size + most, most)` data sets.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definition 1.

    Examples
    --------
    >>> import duffdp
    >>> mechanism = duffdp.mechanisms.Exponential(1.0)
    >>> loss = largest_loss(duffdp.statistics.Median(), mechanism, size=3, most=3)
    >>> round(loss, 6) <= 1
    True
    """
    candidates = Grid(0, size - 1, 1) if domain is None else domain

    def draws_of(data: Chosen) -> list[Distribution]:
        steps = statistic.steps(list(data), candidates)
        return [Stepped(steps, mechanism.law(steps))]

    return largest_log_ratio(draws_of, ((here, there) for here, there, _ in neighbours(size, most)))
