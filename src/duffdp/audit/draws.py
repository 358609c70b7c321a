"""The draw test: frequencies of real draws against the explicit law."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from duffdp.domain import Grid

DATA = (0, 0, 1, 1, 1, 2, 3, 3, 3, 3)


def draw_deviation(
    statistic: Any,
    mechanism: Any,
    *,
    size: int = 20_000,
    false_alarm: float = 1e-9,
    law: Any = None,
) -> tuple[float, float]:
    """How far frequencies of draws are from the law, in total absolute difference, and how far
    chance alone would take them.

    Parameters
    ----------
    statistic, mechanism
        As for `largest_loss`.
    size
        How many draws.
    false_alarm
        The chance that a correct sampler lies beyond the limit.
    law
        The mechanism whose law is expected, if not `mechanism` itself: to see that a wrong one is
        found.

    Returns
    -------
    tuple
        The deviation and its limit.

    Privacy
    -------
    Touches no data: it draws for ten records that are written in the source.

    References
    ----------
    Weissman, Ordentlich, Seroussi, Verdu and Weinberger, "Inequalities for the L1 deviation of
    the empirical distribution" (2003): the limit holds for every sample size.

    Examples
    --------
    >>> import duffdp
    >>> mechanism = duffdp.mechanisms.Exponential(1.0)
    >>> deviation, limit = draw_deviation(duffdp.statistics.Median(), mechanism, size=2000)
    >>> deviation <= limit
    True
    """
    domain = Grid(0, 3, 1)
    steps = statistic.steps(list(DATA), domain)
    drawn = (
        np.bincount(np.asarray(mechanism.draw(steps, size), dtype=np.int64), minlength=domain.size)
        / size
    )
    expected = (law or mechanism).law(steps)
    deviation = float(np.abs(drawn - [expected.probability(x) for x in range(domain.size)]).sum())
    return deviation, math.sqrt(2 * (math.log(2**domain.size - 2) - math.log(false_alarm)) / size)
