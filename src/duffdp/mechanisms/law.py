"""The explicit output distribution of a mechanism: the probabilities of all candidates, and exact
errors without sampling.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duffdp._steps import StepFunction
from duffdp.domain import Categories, Digits, Floats, Ints
from duffdp.errors import DuffError, UnsupportedData


class Law:
    """Output distribution of a mechanism: the probability of every candidate.

    Errors are absolute differences in the unit of the domain (days and seconds for dates and
    times); between categories the error is 1 unless they are the same.

    Attributes
    ----------
    domain
        The possible outputs.

    Methods
    -------
    probability, log_probability, quantile, interval, expected_error, tail

    Privacy
    -------
    Not private: it depends on the data without noise. For planning on public data, for tests and
    for research.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the output distribution as a sum
    over level sets.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Median().steps([1, 2, 2, 3], duffdp.Grid(0, 4, 1))
    >>> law = duffdp.mechanisms.Exponential(2.0).law(steps)
    >>> round(law.expected_error(2), 3), round(law.tail(2, 1), 3), law.interval(0.9)
    (0.194, 0.021, (1, 2))
    """

    def __init__(self, steps: StepFunction, log_weight: Floats) -> None:
        self._steps, self.domain = steps, steps.domain
        log_mass = log_weight + np.log(steps.count)
        top = log_mass.max()
        self._log_each = log_weight - (top + np.log(np.exp(log_mass - top).sum()))
        self._mass = np.exp(self._log_each + np.log(steps.count))

    def log_probability(self, value: object) -> float:
        """Logarithm of the probability of one candidate; -inf for any other value."""
        index = self._steps.domain.find(value)
        if index is None:
            return -np.inf
        return float(self._log_each[np.searchsorted(self._steps.start, index, side="right") - 1])

    def probability(self, value: object) -> float:
        """Probability of one candidate; 0 for any other value."""
        return float(np.exp(self.log_probability(value)))

    def runs(self) -> tuple[Ints, Ints, Floats]:
        """The first candidate and the number of candidates of every run, and the probability of
        all of them together.
        """
        return self._steps.start, self._steps.count, self._mass

    def expected_error(self, target: object) -> float:
        """Expected distance between the output and `target`."""
        domain = self._steps.domain
        if isinstance(domain, Categories):
            return self.tail(target, 0)
        if isinstance(domain, Digits):
            return self._uneven_error(domain, target)
        place, scale = domain.place(target), domain.spacing
        first, count = self._steps.start - place, self._steps.count.astype(np.float64)
        last = first + (count - 1)
        # A run that lies on both sides of the target is two arithmetic series, any other is one.
        left_count = np.clip(np.floor(-first) + 1, 0, count)
        right_count = count - left_count
        sums = (
            left_count * (-first)
            - left_count * (left_count - 1) / 2
            + right_count * last
            - right_count * (right_count - 1) / 2
        )
        return float((self._mass * (sums / count)).sum() * scale)

    def tail(self, target: Any, t: float) -> float:
        """Probability that the output is more than `t` away from `target`."""
        domain = self._steps.domain
        if isinstance(domain, Categories):
            return 1.0 - self.probability(target) if t < 1 else 0.0
        if isinstance(domain, Digits):
            first, last = domain.place(float(target) - t), domain.place(float(target) + t)
        else:
            place, reach = domain.place(target), t / domain.spacing
            first, last = place - reach, place + reach
        low, high = np.ceil(first - 1e-9), np.floor(last + 1e-9)
        start, count = self._steps.start, self._steps.count
        inside = np.minimum(start + count - 1, high) - np.maximum(start, low) + 1
        outside = 1 - np.clip(inside, 0, count) / count
        return float((self._mass * outside).sum())

    def interval(self, confidence: float) -> tuple[Any, Any]:
        """Two candidates that enclose the output with at least this probability and equal tails."""
        domain = self._steps.domain
        if isinstance(domain, Categories):
            raise UnsupportedData(
                "an interval needs ordered outputs, got categories. Use probability()."
            )
        if not 0 < confidence < 1:
            raise DuffError(
                f"confidence must be between 0 and 1, got {confidence!r}. Pass for example 0.95."
            )
        tail_share = (1 - confidence) / 2
        low = self._quantile(self._mass, tail_share)
        high = domain.size - 1 - self._quantile(self._mass[::-1], tail_share, mirror=True)
        return domain.value(low), domain.value(high)

    def quantile(self, share: float) -> Any:
        """The first candidate at which the cumulative probability exceeds `share`."""
        domain = self._steps.domain
        if isinstance(domain, Categories):
            raise UnsupportedData(
                "a quantile needs ordered outputs, got categories. Use probability()."
            )
        return domain.value(self._quantile(self._mass, share))

    def _quantile(self, mass: Floats, share: float, mirror: bool = False) -> int:
        """Candidates before the first at which the mass from one side passes `share`."""
        count = self._steps.count[::-1] if mirror else self._steps.count
        cumulative = np.cumsum(mass)
        run = min(int(np.searchsorted(cumulative, share, side="right")), len(mass) - 1)
        before = cumulative[run] - mass[run]
        inside = min(int((share - before) / mass[run] * count[run]), int(count[run]) - 1)
        return int(count[:run].sum()) + max(inside, 0)

    def _uneven_error(self, domain: Digits, target: Any) -> float:
        """Runs are cut where the spacing changes and at the target: a piece is as far away as the
        middle of its ends.
        """
        starts = self._steps.start
        between = np.clip(np.ceil(domain.place(target)), 0, domain.size - 1)
        cuts = np.concatenate([starts, domain.stretches(), [between]])
        first = np.unique(cuts).astype(np.int64)
        end = np.append(first[1:], domain.size)
        probability = np.exp(self._log_each[np.searchsorted(starts, first, side="right") - 1])
        middle = (domain.values(first.tolist()) + domain.values((end - 1).tolist())) / 2
        return float((probability * (end - first) * np.abs(middle - float(target))).sum())
