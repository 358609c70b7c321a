"""The exact errors that mechanisms would make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duffdp.errors import DuffError
from duffdp.parameters import read_number
from duffdp.planning.question import (
    NOT_PRIVATE,
    SYNTHETIC,
    check,
    default_mechanisms,
    made,
    questions,
)
from duffdp.research.guarantees.exact import least_error


@dataclass(frozen=True, slots=True)
class Preview:
    """The exact errors of some mechanisms on some data, without noise.

    Privacy
    -------
    Not private if `not_private` is True: it was computed from records that were given. Its text
    says so. From synthetic data it says nothing about anyone.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level
    sets.

    Examples
    --------
    >>> import duffdp
    >>> seen = duffdp.preview("uniform", n=100, epsilon=1.0, bounds=(0, 1), data_sets=2)
    >>> seen.not_private, seen.expected_error("duff") < 0.05
    (False, True)
    """

    statistic: str
    epsilon: float
    mechanisms: tuple[str, ...]
    not_private: bool
    _laws: dict[str, list[tuple[Any, Any]]] = field(repr=False)

    def laws(self, mechanism: str) -> list[Any]:
        """The explicit law of a mechanism on each of the data sets."""
        return [law for law, _ in self._known(mechanism)]

    def expected_error(self, mechanism: str) -> float:
        """Expected error, the mean over the data sets."""
        return float(np.mean([law.expected_error(truth) for law, truth in self._known(mechanism)]))

    def tail(self, mechanism: str, t: float) -> float:
        """Probability of an error of more than t, the mean over the data sets."""
        return float(np.mean([law.tail(truth, t) for law, truth in self._known(mechanism)]))

    def error_within(self, mechanism: str, probability: float) -> float:
        """The error that is not exceeded with this probability."""
        share = read_number("probability", probability, 0, 1, 0.95)
        return least_error(lambda t: self.tail(mechanism, t), 1 - share)

    def _known(self, mechanism: str) -> list[tuple[Any, Any]]:
        if mechanism not in self._laws:
            raise DuffError(
                f"mechanism must be one of {', '.join(self.mechanisms)}, got {mechanism!r}."
            )
        return self._laws[mechanism]

    def __str__(self) -> str:
        lines = [
            f"{self.statistic}, epsilon {self.epsilon:g}",
            f"{'':<28}{'mean error':>12}{'half within':>13}{'95 % within':>13}",
        ]
        for name in self.mechanisms:
            half, most = (self.error_within(name, share) for share in (0.5, 0.95))
            lines.append(f"{name:<28}{self.expected_error(name):>12.4g}{half:>13.4g}{most:>13.4g}")
        return "\n".join([*lines, NOT_PRIVATE if self.not_private else SYNTHETIC])


def preview(
    data: Any,
    *,
    epsilon: Any,
    bounds: Any = None,
    step: Any = None,
    categories: Iterable[Any] | None = None,
    statistic: str = "median",
    q: Any = None,
    mechanisms: Sequence[str] | None = None,
    delta: float | None = None,
    n: int | None = None,
    data_sets: int = 8,
    seed: int = 0,
) -> Preview:
    """The exact errors that mechanisms would make. NOT PRIVATE if records are given.

    Parameters
    ----------
    data
        Records shaped like yours (public or synthetic ones, so that nothing leaks), or a name with
        `n`: "normal" (centred in the bounds, a twentieth of their range its standard deviation),
        "uniform", "beta" (1/2, 1/2).
    epsilon
        The privacy loss that a release would have.
    bounds, step, categories
        The public domain, as for `median` and `mode`.
    statistic, q
        "median", "quantile" (with q), "mean", "sum" or "mode".
    mechanisms
        Names: "best" and "duff" as in a release, and "distance" for a mean (the first two if there
        are none); the baselines "rank-exponential", "error-exponential", "laplace",
        "smooth-cauchy", "smooth-cauchy-tight", "smooth-pareto", "smooth-laplace" and
        "smooth-laplace-log-normal".
    delta
        For the last two.
    n, data_sets, seed
        With a name: how many records, and how many data sets to average over.

    Returns
    -------
    Preview

    Privacy
    -------
    With records: none, and the result says so (`not_private`). With a name: it touches no record.

    Utility
    -------
    Exact: errors are sums over the law, not samples. For sums and the best mean, which get noise,
    they are means over 65,536 points of the noise that are equally likely, and good to about a
    thousandth.

    Runtime
    -------
    A sort and, for "best", up to n integrals for each data set.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level
    sets.

    Examples
    --------
    >>> import duffdp
    >>> ages = [25, 38, 40, 41, 70] * 20
    >>> names = ["duff", "smooth-pareto"]
    >>> print(duffdp.preview(ages, epsilon=0.5, bounds=(0, 120), step=1, mechanisms=names))
    median, epsilon 0.5
                                  mean error  half within  95 % within
    duff                             0.02514            0            0
    smooth-pareto                      0.521        0.271        1.787
    NOT PRIVATE: computed from the records without noise. Share it only if the records are public.
    """
    names = default_mechanisms(statistic) if mechanisms is None else tuple(mechanisms)
    for name in names:
        check(name, statistic, epsilon, delta)
    asked = questions(data, statistic, q, bounds, step, categories, n, data_sets, seed)
    makers = {name: made(name, statistic, epsilon, delta, asked[0].domain) for name in names}
    laws = {
        name: [(maker.law(question.prepared(name, epsilon)), question.truth) for question in asked]
        for name, maker in makers.items()
    }
    return Preview(statistic, float(epsilon), names, not isinstance(data, str), laws)
