"""The draw test: frequencies of real draws compared with the stated output distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duffdp.domain import Grid

MAX_TESTED_CANDIDATES = 100
AUDIT_DATA = (0, 0, 1, 1, 1, 2, 3, 3, 3, 3)


def draw_deviation(
    statistic: Any,
    mechanism: Any,
    *,
    size: int = 20_000,
    false_alarm: float = 1e-9,
    law: Any = None,
) -> tuple[float, float]:
    """Total absolute difference between the frequencies of draws and their stated distribution, and
    the limit that chance alone allows.

    Parameters
    ----------
    statistic, mechanism
        As for `largest_loss`.
    size
        The number of draws.
    false_alarm
        The probability that a correct sampler exceeds the limit.
    law
        The mechanism whose output distribution is expected; by default `mechanism` itself. Pass
        another one to check that a wrong distribution is noticed.

    Returns
    -------
    tuple
        The deviation and its limit.

    Privacy
    -------
    Reads no data: it draws for ten records in the source code.

    References
    ----------
    Weissman, Ordentlich, Seroussi, Verdu and Weinberger, "Inequalities for the L1 deviation of
    the empirical distribution" (2003): the limit holds for every sample size.

    Examples
    --------
    >>> import duffdp
    >>> mechanism = duffdp.mechanisms.Exponential(1.0)
    >>> deviation, limit = duffdp.audit.draw_deviation(
    ...     duffdp.statistics.Median(), mechanism, size=2000
    ... )
    >>> deviation <= limit
    True
    """
    steps = statistic.steps(list(AUDIT_DATA), Grid(0, 3, 1))
    domain, start, count = steps.domain, steps.start, steps.count
    if (
        domain.size <= MAX_TESTED_CANDIDATES
    ):  # one by one; of more candidates, those with the same distance together
        start = np.arange(domain.size)
        count = np.ones(domain.size, dtype=np.int64)
    places = [domain.index(value) for value in mechanism.draw(steps, size).tolist()]
    runs = np.searchsorted(start, places, side="right") - 1
    frequencies = np.bincount(runs, minlength=len(start)) / size
    law_of = (law or mechanism).law(steps)
    chances = [law_of.probability(domain.value(int(first))) for first in start]
    deviation = float(np.abs(frequencies - chances * count).sum())
    return deviation, math.sqrt(2 * (len(start) * math.log(2) - math.log(false_alarm)) / size)
