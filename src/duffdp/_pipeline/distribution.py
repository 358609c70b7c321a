"""A whole distribution, computed from noisy counts."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from duffdp._facts import as_json
from duffdp._parameters import Covers, Q, exact, read_interval, share_text
from duffdp._pipeline.export import DisplayTable, as_html_table
from duffdp._pipeline.number_text import as_text
from duffdp._pipeline.plots import draw_shares, new_axes
from duffdp._sampling.cumulative_noise import END_RATIO, walk_bound
from duffdp.domain import Bins, Floats, Grid
from duffdp.errors import Argument, BoundsError, DuffError

_SHARE_ROUNDING = 1e-12  # of a share: more than the error of doubles
_NOISE_SHARE = Fraction(1, 5)  # of the failure rate, for noise; the rest is for sampling
#: The quantiles of tables about a distribution.
TABLE_QUANTILES = tuple(map(Fraction, ("0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99")))


class DistributionStep(NamedTuple):
    """The share of records up to a value, and the ends of the band there."""

    upper: Any
    cdf: float
    low: float
    high: float


class QuantileEstimate(NamedTuple):
    """A quantile with the interval that follows from the band."""

    q: Fraction
    value: Any
    low: Any
    high: Any


class Distribution:
    """Private distribution of the records of a column.

    Everything is computed from noisy counts of records in cells: adjacent ranges of values. Within
    a cell, records are assumed to be evenly spread.

    Attributes
    ----------
    domain
        The public grid.
    ends
        The last candidate of each cell, by its index.
    counts
        The noisy number of records in each cell.
    noise_epsilon
        The epsilon of the noise of each count. The noise is k with a probability proportional to
        exp(-noise_epsilon |k|).
    contributions
        The maximum number of rows used per person.

    Methods
    -------
    count, quantile, quantile_interval, quantiles, median, iqr, mean, mean_bounds, cdf, band,
    confidence, steps, histogram, plot

    Privacy
    -------
    Computed from private numbers and public facts, so its methods cost no epsilon.

    Utility
    -------
    `docs/explanation/distribution.md` compares the largest error of the shares with the sampling
    error.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), proposition 2.1:
    post-processing. Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality"
    (Annals of Probability, 1990).

    Examples
    --------
    >>> import duffdp
    >>> ages = [18 + (7 * i * i) % 60 for i in range(5000)]
    >>> found = duffdp.distribution(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value
    >>> found.median, found.iqr, round(found.cdf(30), 2)
    (46, 36, 0.3)
    >>> low, high = found.band(30)
    >>> low <= found.cdf(30) <= high
    True
    """

    def __init__(
        self,
        domain: Grid,
        ends: Sequence[int],
        counts: Sequence[int],
        epsilon: Fraction,
        confidence: Fraction,
        contributions: int = 1,
    ) -> None:
        self.domain, self.ends, self.counts = domain, tuple(ends), tuple(counts)
        self.noise_epsilon, self._confidence = epsilon, confidence
        self.contributions = contributions
        self._bands: dict[Covers, tuple[Floats, Floats]] = {}
        if len(self.ends) != len(self.counts) or self.ends[-1] != domain.size - 1:
            raise DuffError(
                "ends and counts must have the same length, and the last end must be the upper "
                "bound."
            )

    @property
    def confidence(self) -> float:
        """The band contains the whole distribution function with at least this probability."""
        return float(self._confidence)

    @cached_property
    def _sums(self) -> list[int]:
        return list(accumulate(self.counts))

    @cached_property
    def _weights(self) -> list[int]:
        """The share of records up to the end of each cell, in parts of the last one: the middle of
        what a rising function next to the noisy sums could be.
        """
        total = self._sums[-1]
        if total <= 0:  # nothing is known
            return [end + 1 for end in self.ends]
        within = [min(max(noisy, 0), total) for noisy in self._sums]
        after = list(accumulate(reversed(within), min))[::-1]
        return [a + b for a, b in zip(accumulate(within, max), after, strict=True)]

    @property
    def count(self) -> int:
        """The noisy number of records, at least 0."""
        return max(0, self._sums[-1])

    # Shares.

    def cdf(self, x: object) -> float:
        """The share of records up to a value."""
        return float(self._share(self._index(x)))

    def _share(self, index: int) -> Fraction:
        """The share of records up to a candidate."""
        if index < 0:
            return Fraction(0)
        if index >= self.domain.size - 1:
            return Fraction(1)
        cell = bisect_left(self.ends, index)
        first, before = self._first(cell), self._before(cell)
        rises = (self._weights[cell] - before) * (index - first + 1)
        return Fraction(before + Fraction(rises, self.ends[cell] - first + 1)) / self._weights[-1]

    def _first(self, cell: int) -> int:
        return self.ends[cell - 1] + 1 if cell else 0

    def _before(self, cell: int) -> int:
        return self._weights[cell - 1] if cell else 0

    def _index(self, x: object) -> int:
        """The last candidate up to a value."""
        candidate = self.domain.find(x)
        if candidate is not None:
            return candidate
        return math.floor(min(max(self.domain.place(x), -1), self.domain.size))

    def band(self, x: object, covers: Covers = "data") -> tuple[float, float]:
        """The ends of the band around the share of records up to a value; the band holds for all
        values at once.

        Parameters
        ----------
        x
            A number or date like the bounds.
        covers
            "data": the share of the records that are used. "population": the share in the
            population, of any distribution, from which records were drawn independently.

        Returns
        -------
        tuple
            The lower and the upper end.
        """
        index, (low, high) = self._index(x), self._band(covers)
        if index < 0:
            return 0.0, 0.0
        cell = bisect_left(self.ends, min(index, self.domain.size - 1))
        at_end = index >= self.ends[cell]
        before = float(low[cell - 1]) if cell else 0.0
        return float(low[cell]) if at_end else before, float(high[cell])

    def _band(self, covers: Covers) -> tuple[Floats, Floats]:
        """The band at the ends of cells, around the shares there."""
        read_interval(self.confidence, covers)
        if covers == "population" and self.contributions != 1:
            raise DuffError(
                "a band for the population needs independent rows, got up to "
                f"{self.contributions} per person. Pass ",
                Argument("contributions", 1),
                " or covers='data'.",
            )
        if covers not in self._bands:
            low, high = share_band(self._sums, self.noise_epsilon, self._confidence, covers)
            shares = np.array([weight / self._weights[-1] for weight in self._weights])
            self._bands[covers] = np.minimum(low, shares), np.maximum(high, shares)
        return self._bands[covers]

    def steps(self, covers: Covers = "data") -> list[DistributionStep]:
        """The shares up to the end of each cell, with the band."""
        low, high = self._band(covers)
        return [
            DistributionStep(self.domain.value(end), weight / self._weights[-1], a, b)
            for end, weight, a, b in zip(
                self.ends, self._weights, low.tolist(), high.tolist(), strict=True
            )
        ]

    def outline(self, covers: Covers = "data") -> list[tuple[int, float, float]]:
        """The corners of the band, also between the ends of cells: indices of candidates, each
        with the lower and the upper end.
        """
        low, high = (end.tolist() for end in self._band(covers))
        ends, before = [0, *self.ends], [0.0, *low]
        return [
            (ends[cell + side], before[cell], high[cell])
            for cell in range(len(self.ends))
            for side in (0, 1)
        ]

    def axis(self) -> tuple[int, int]:
        """Ends of the axis of a plot: one record in a thousand is beyond either end."""
        first, last = (self.domain.index(self.quantile(q)) for q in (0.001, 0.999))
        return (0, self.domain.size - 1) if first == last else (first, last)

    # Quantiles.

    def quantile(self, q: object) -> Any:
        """The smallest value at which the cumulative share is at least q (for q = 0: above 0)."""
        share = Q.read(q)
        target = share * self._weights[-1]
        if share == 0:
            return self.domain.value(self._first(bisect_right(self._weights, 0)))
        cell = bisect_left(self._weights, target)
        first, before = self._first(cell), self._before(cell)
        width = self.ends[cell] - first + 1
        along = math.ceil((target - before) * width / (self._weights[cell] - before))
        return self.domain.value(first + along - 1)

    def quantile_interval(self, q: object, covers: Covers = "data") -> tuple[Any, Any]:
        """An interval for the exact quantile, from the band; it holds for all q at once."""
        share = float(Q.read(q))
        low, high = (end.tolist() for end in self._band(covers))
        place = bisect_left if share else bisect_right  # of the least record: any share above 0
        first, last = place(high, share), place(low, share)
        return self.domain.value(self._first(first)), self.domain.value(self.ends[last])

    def quantiles(self, covers: Covers = "data") -> list[QuantileEstimate]:
        """The quantiles that tables show, each with its interval from the band."""
        return [
            QuantileEstimate(q, self.quantile(q), *self.quantile_interval(q, covers))
            for q in TABLE_QUANTILES
        ]

    @property
    def median(self) -> Any:
        """The 1/2-quantile."""
        return self.quantile(Fraction(1, 2))

    @property
    def iqr(self) -> Any:
        """Difference of the 3/4- and 1/4-quantiles; a `timedelta` for dates."""
        ends = (self.domain.index(self.quantile(Fraction(q, 4))) for q in (3, 1))
        upper, lower = ends
        return self.domain.difference(upper - lower)

    # What follows from shares.

    @property
    def mean(self) -> Any:
        """The mean, if records are spread evenly within each cell."""
        low, high = self._mean_places()
        return self._at((low + high) / 2)

    @property
    def mean_bounds(self) -> tuple[Any, Any]:
        """The smallest and the largest mean that these cumulative shares allow."""
        low, high = self._mean_places()
        return self._at(low), self._at(high)

    def _mean_places(self) -> tuple[Fraction, Fraction]:
        shares = [b - a for a, b in pairwise((0, *self._weights))]
        firsts = [self._first(cell) for cell in range(len(self.ends))]
        low, high = (
            sum(share * place for share, place in zip(shares, places, strict=True))
            for places in (firsts, self.ends)
        )
        return Fraction(low, self._weights[-1]), Fraction(high, self._weights[-1])

    def _at(self, place: Fraction) -> Any:
        if self.domain.timed:
            return self.domain.value(round(place))
        return self.domain.number_at(place)

    def histogram(self, bins: Iterable[Any]) -> dict[str, float]:
        """Estimated number of records in each bin, with the labels of `duffdp.histogram`."""
        cells = bins if isinstance(bins, Bins) else Bins(bins)
        if cells.timed != self.domain.timed:
            raise BoundsError(
                Argument("bins"),
                f" must have the type of the bounds ({self.domain.kind}), got {cells.label(0)}. "
                "Pass edges like the bounds.",
            )
        before = [self._share_below(edge) for edge in cells.edges[:-1]]
        last = cells.edges[-1]
        before.append(Fraction(1) if last == math.inf else self._share(self._index(last)))
        return {
            cells.label(i): float((b - a) * self.count) for i, (a, b) in enumerate(pairwise(before))
        }

    def _share_below(self, edge: object) -> Fraction:
        """The share of records below a value."""
        if edge == -math.inf:
            return Fraction(0)
        index = self._index(edge)
        return self._share(index - 1 if self.domain.find(edge) is not None else index)

    def plot(self, ax: object = None, covers: Covers = "data", label: str = "") -> Any:
        """Plot the cumulative shares and the band with matplotlib; returns the axes."""
        return draw_shares(self, ax or new_axes(1, 12)[0], covers, label)

    # As text and types of JSON.

    def to_dict(self) -> dict[str, Any]:
        """All cells, shares and bands as JSON values."""
        steps = self.steps()
        return {
            "count": self.count,
            "confidence": self.confidence,
            "noise_epsilon": str(self.noise_epsilon),
            "contributions": self.contributions,
            "ends": list(self.ends),
            "counts": list(self.counts),
            "upper": [as_json(step.upper) for step in steps],
            "cdf": [step.cdf for step in steps],
            "low": [step.low for step in steps],
            "high": [step.high for step in steps],
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any], domain: Grid) -> Distribution:
        """The distribution from its `to_dict()`."""
        return cls(
            domain,
            values["ends"],
            values["counts"],
            Fraction(values["noise_epsilon"]),
            exact(values["confidence"]),
            values["contributions"],
        )

    def _identity(self) -> tuple[Any, ...]:
        noise = (self.noise_epsilon, self._confidence, self.contributions)
        return (self.domain, self.ends, self.counts, *noise)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Distribution) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        quartiles = ", ".join(
            f"{share_text(q)}: {self.quantile(q)!r}" for q in map(Fraction, ("0.25", "0.5", "0.75"))
        )
        return f"<Distribution of about {self.count} records, quantiles {quartiles}>"

    def _repr_html_(self) -> str:
        rows = [list(map(as_text, (share_text(q), *ends))) for q, *ends in self.quantiles()]
        header, caption = ["quantile", "value", "low", "high"], f"about {self.count} records"
        return as_html_table(DisplayTable(header, rows, caption, (), 1))


def share_band(
    noisy: Sequence[int], epsilon: Fraction, confidence: Fraction, covers: Covers
) -> tuple[Floats, Floats]:
    """Lower and upper ends for the shares of records in the first cell, the first two, and so on.

    With at least this probability all of them hold: for the records, or for the distribution that
    they were drawn from independently. `noisy` are the sums of the first counts, each count with
    two-sided geometric noise at epsilon. The proof is in `docs/explanation/distribution.md`.
    """
    failure_rate = 1 - confidence
    cells, total = len(noisy), noisy[-1]
    noise_rate = failure_rate if covers == "data" else failure_rate * _NOISE_SHARE
    bound = walk_bound(cells, epsilon, noise_rate)
    end_bound = END_RATIO * bound
    if total <= end_bound:  # too few records to tell
        low, high = np.zeros(cells), np.ones(cells)
    else:
        sums = np.array(noisy, dtype=np.float64)
        clock = np.arange(1, cells + 1) / cells
        low = -_largest_share(-sums + bound, -clock, total, end_bound)
        high = _largest_share(sums + bound, clock, total, end_bound)
        if covers == "population":
            # Dvoretzky, Kiefer and Wolfowitz with the constant of Massart, for the fewest records.
            sampling_rate = float(failure_rate * (1 - _NOISE_SHARE))
            distance = math.sqrt(math.log(2 / sampling_rate) / (2 * (total - end_bound)))
            low, high = low - distance, high + distance
        low, high = np.clip(low - _SHARE_ROUNDING, 0, 1), np.clip(high + _SHARE_ROUNDING, 0, 1)
    low = np.maximum.accumulate(low)
    high = np.minimum.accumulate(high[::-1])[::-1]
    low[-1] = high[-1] = 1
    return low, high


def _largest_share(sums: Floats, clock: Floats, total: int, end: int) -> Floats:
    """The largest f with f total - sums <= end |clock - f|, for a total above `end`."""
    above_clock = clock * total <= sums  # then f is the clock or more
    share: Floats = np.where(
        above_clock, (sums - end * clock) / (total - end), (sums + end * clock) / (total + end)
    )
    return share
