"""The exact neighbour test: all small data sets, all their neighbours, the explicit laws of both."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from duffdp.domain import Grid


def small_data(size: int, most: int) -> Iterator[tuple[int, ...]]:
    """All data sets of up to `most` records with values from 0 to size - 1."""
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(range(size), n)


def largest_loss(statistic: Any, mechanism: Any, *, size: int = 4, most: int = 5) -> float:
    """The largest privacy loss of a mechanism over all neighbours on a small domain: at most its epsilon, or it is broken.

    Parameters
    ----------
    statistic
        Such as `duffdp.statistics.Median()`.
    mechanism
        Such as `duffdp.mechanisms.Exponential(1.0)`.
    size, most
        The domain is 0 .. size - 1; data sets have up to `most` records.

    Returns
    -------
    float

    Privacy
    -------
    Touches no data: a proof by enumeration for the domain and sizes that it covers, evidence for others.

    Runtime
    -------
    One law for each of the `comb(size + most, most)` data sets.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definition 1.

    Examples
    --------
    >>> import duffdp
    >>> round(largest_loss(duffdp.statistics.Median(), duffdp.mechanisms.Exponential(1.0), size=3, most=3), 6) <= 1
    True
    """
    domain = Grid(0, size - 1, 1)
    logs = {}
    for data in small_data(size, most):
        law = mechanism.law(statistic.steps(list(data), domain))
        logs[data] = np.array([law.log_probability(x) for x in range(size)])
    neighbours = ((data, tuple(sorted((*data, x)))) for data in logs if len(data) < most for x in range(size))
    return max(float(np.abs(logs[here] - logs[there]).max()) for here, there in neighbours)
