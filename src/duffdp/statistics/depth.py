"""Quantiles by how deep the wanted rank lies within a tie."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from duffdp.domain import Grid, Ints
from duffdp.engines.arrays import Ranks
from duffdp.statistics.quantile import Quantile
from duffdp.steps import StepFunction, Tail


class DepthQuantile(Quantile):
    """The q-quantile with the score max(below - q n, q n - below - equal) / max(q, 1-q): the sharpest known for ties.

    It is negative, by the depth of the rank q n within the tie, for the true quantile and for no other candidate. The rank score
    of `Quantile` has its least value at the tie whose q-th part is nearest to q n, which may be the next one.

    Parameters
    ----------
    q
        From 0 (the minimum) to 1 (the maximum), as for `Quantile`.

    Privacy
    -------
    One record moves `below - q n` and `q n - below - equal` by at most max(q, 1-q) each, so the score by at most 1; rate 1/2
    (`tests/depth_test.py`). Scores are shifted to begin at 0, which no mechanism sees.

    Utility
    -------
    On integer ages (n = 1000, epsilon 1) the first decile errs a seventh as much as with the rank score, the median a third
    (`python -m benchmarks.depth`). Without ties both are the same.

    Runtime
    -------
    As `Quantile`.

    References
    ----------
    `docs/depth.md`. The rank score: Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), u_2 in section 4.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.DepthQuantile(0.5).steps([1, 1, 1, 2, 2, 2, 2, 3], duffdp.Grid(0, 4, 1))
    >>> [steps.distance_at(x) for x in range(5)]
    [10, 4, 0, 8, 10]
    """

    def __init__(self, q: Any) -> None:
        super().__init__(q, "rank")

    def _distance(self, below: Ints, equal: Ints, total: int) -> Ints:
        wanted, m = self._p * total, self._m
        score: Ints = np.maximum(m * below - wanted, wanted - m * (below + equal))
        return score

    def _steps(self, ranks: Ranks, domain: Grid, tail: Tail | None) -> StepFunction:
        steps = super()._steps(ranks, domain, tail)
        least = int(steps.distance.min())
        shifted = None
        if tail is not None:
            raw = tail.distance_of
            shifted = replace(tail, floor=tail.floor - least, distance_of=lambda index: raw(index) - least)
        return replace(steps, distance=steps.distance - least, tail=shifted)

    def __repr__(self) -> str:
        return f"DepthQuantile({self.q})"
