"""A lower bound on epsilon from outputs alone: an event that distinguishes two neighbors, chosen on
one half of the draws and counted on the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from duffdp._optional import load
from duffdp.errors import DuffError

Outputs = npt.NDArray[np.float64]  # a row for each draw, a column for each number
MAX_NUMBER_CELLS = 32  # that the values of a number are gathered in
# Events are compared by bounds that fail this rarely: at 5 % a rare event that looked good by luck
# was chosen in about one of 60 audits, and then proved nothing.
CHOICE_MISS = 1e-6


@dataclass(frozen=True, slots=True)
class LowerBound:
    """Counts of an event in draws for two neighbors, the more likely one first.

    The event was chosen on other draws.
    """

    count: int
    draws: int
    neighbour_count: int
    neighbour_draws: int

    def epsilon(self, confidence: float = 0.95) -> float:
        """A lower bound on epsilon, which is false with a probability of at most 1 - confidence."""
        first, second = np.array(self.count), np.array(self.neighbour_count)
        return float(_log_ratio(first, self.draws, second, self.neighbour_draws, 1 - confidence))


def lower_bound(first: Outputs, second: Outputs) -> LowerBound:
    """A lower bound on the privacy loss between two neighbors, from draws for each.

    Parameters
    ----------
    first, second
        Independent draws for two neighbors, one row per draw and one column per number.

    Returns
    -------
    LowerBound
        Its `epsilon(confidence)` is the bound.

    Privacy
    -------
    Not private: it counts outputs without noise. Use it for made-up data sets.

    Utility
    -------
    Draws at even positions choose the event, and those at odd positions are counted, so the choice
    cannot bias the bound. The event is a set of cells of one number, or of a score of all numbers:
    those cells whose frequencies differ most (Neyman and Pearson).

    References
    ----------
    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial" (1934). Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper" (IEEE S&P 2021). Kong,
    Munoz Medina, Ribero and Syed, "DP-Auditorium" (2023).

    Examples
    --------
    >>> import duffdp, numpy as np
    >>> first = np.repeat([0.0, 1.0], [3000, 1000])[:, None]  # 1 in a quarter of the draws
    >>> second = np.repeat([0.0, 1.0], [1000, 3000])[:, None]
    >>> bound = duffdp.audit.lower_bound(first, second)
    >>> round(float(np.log(3)), 2), round(bound.epsilon(0.95), 2)
    (1.1, 1.0)
    """
    if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1]:
        raise DuffError(
            f"draws must be two tables with the same columns, got {first.shape} and {second.shape}."
        )
    inside, swapped = _best_event(first[::2], second[::2])
    likely, unlikely = (second, first) if swapped else (first, second)
    counted = [int(inside(draws[1::2]).sum()) for draws in (likely, unlikely)]
    return LowerBound(counted[0], len(likely[1::2]), counted[1], len(unlikely[1::2]))


Event = Callable[[Outputs], npt.NDArray[np.bool_]]


def _best_event(first: Outputs, second: Outputs) -> tuple[Event, bool]:
    """The event with the largest bound on these draws, and whether it is likelier for the second
    data set."""
    numbers = [_Number(i, first, second) for i in range(first.shape[1])]
    features: list[Callable[[Outputs], npt.NDArray[Any]]] = [n.cells for n in numbers]
    if len(numbers) > 1:
        score = _Score(numbers, first, second)
        features.append(score.cells)
    best: tuple[float, Event, bool] | None = None
    for cells in features:
        cell_count = int(max(cells(first).max(), cells(second).max())) + 1
        before, after = (
            np.bincount(cells(draws), minlength=cell_count) for draws in (first, second)
        )
        ratio = np.log((before + 0.5) / len(first)) - np.log((after + 0.5) / len(second))
        for swapped in (False, True):
            order = np.argsort(ratio if swapped else -ratio, kind="stable")
            likely, unlikely = (after, before) if swapped else (before, after)
            sizes = (len(second), len(first)) if swapped else (len(first), len(second))
            bounds = _log_ratio(
                np.cumsum(likely[order]),
                sizes[0],
                np.cumsum(unlikely[order]),
                sizes[1],
                CHOICE_MISS,
            )
            place = int(bounds.argmax())
            if best is None or bounds[place] > best[0]:
                in_event = np.isin(np.arange(cell_count), order[: place + 1])
                best = float(bounds[place]), _inside(cells, in_event), swapped
    assert best is not None
    return best[1], best[2]


def _inside(cells: Callable[[Outputs], npt.NDArray[Any]], in_event: npt.NDArray[np.bool_]) -> Event:
    return lambda draws: in_event[np.minimum(cells(draws), len(in_event) - 1)]


class _Number:
    """One number of the outputs, in cells: its values one by one, or between its quantiles."""

    def __init__(self, place: int, first: Outputs, second: Outputs) -> None:
        self._place = place
        values = np.unique(np.concatenate([first[:, place], second[:, place]]))
        if len(values) > MAX_NUMBER_CELLS:
            pooled = np.concatenate([first[:, place], second[:, place]])
            values = np.unique(np.quantile(pooled, np.linspace(0, 1, MAX_NUMBER_CELLS + 1)[1:-1]))
        self._ends = values[:-1]

    def cells(self, outputs: Outputs) -> npt.NDArray[Any]:
        return np.searchsorted(self._ends, outputs[:, self._place], side="left")


class _Score:
    """Likelihood ratio of all numbers together, as if they were independent, in cells."""

    def __init__(self, numbers: list[_Number], first: Outputs, second: Outputs) -> None:
        self._numbers, self._weights = numbers, []
        for number in numbers:
            cell_count = len(number._ends) + 1
            before, after = (
                np.bincount(number.cells(d), minlength=cell_count) for d in (first, second)
            )
            self._weights.append(
                np.log((before + 0.5) / len(first)) - np.log((after + 0.5) / len(second))
            )
        scores = self._score(first)[:, None], self._score(second)[:, None]
        self._number = _Number(0, *scores)

    def _score(self, outputs: Outputs) -> npt.NDArray[np.float64]:
        parts = zip(self._numbers, self._weights, strict=True)
        scores = [weights[number.cells(outputs)] for number, weights in parts]
        return np.asarray(np.sum(scores, axis=0), dtype=np.float64)

    def cells(self, outputs: Outputs) -> npt.NDArray[Any]:
        return self._number.cells(self._score(outputs)[:, None])


def _log_ratio(count: Any, draws: Any, other_count: Any, other_draws: Any, miss: float) -> Any:
    """The logarithm of the least probability that goes with the one count over the largest that
    goes with the other (Clopper and Pearson), each missed with half of `miss`."""
    inverse = load("scipy.special", "research").betaincinv
    lowest = np.where(count > 0, inverse(np.maximum(count, 1), draws - count + 1, miss / 2), 0.0)
    other_misses = other_draws - other_count
    highest = np.where(
        other_misses > 0, inverse(other_count + 1, np.maximum(other_misses, 1), 1 - miss / 2), 1.0
    )
    with np.errstate(divide="ignore"):
        return np.log(lowest) - np.log(highest)
