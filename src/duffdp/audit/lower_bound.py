"""A lower bound on epsilon from outputs alone: an event that tells two neighbours apart, found on
one half of the draws and counted on the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from duffdp.errors import DuffError
from duffdp.optional import load

Outputs = npt.NDArray[np.float64]  # a row for each draw, a column for each number
MOST_CELLS = 32  # that the values of a number are gathered in


@dataclass(frozen=True, slots=True)
class LowerBound:
    """How often an event was seen in draws for two neighbours, the more likely one first; none of
    these draws had a part in the choice of the event."""

    seen: int
    of: int
    seen_beside: int
    of_beside: int

    def epsilon(self, confidence: float = 0.95) -> float:
        """Epsilon is at least this, or something happened that has a probability of at most
        1 - confidence."""
        first, second = np.array(self.seen), np.array(self.seen_beside)
        return float(_log_ratio(first, self.of, second, self.of_beside, 1 - confidence))


def lower_bound(here: Outputs, there: Outputs) -> LowerBound:
    """A lower bound on the privacy loss between two neighbours, from draws for each.

    Parameters
    ----------
    here, there
        Independent draws: a row each, with the same numbers in columns.

    Returns
    -------
    LowerBound
        Its `epsilon(confidence)` is the bound.

    Privacy
    -------
    Counts real outputs: for data sets that are made up.

    Utility
    -------
    Even draws choose the event and odd ones count it, so that the choice cannot favour the bound.
    The event is a set of cells of one number, or of a score of all of them, which is made of those
    cells whose frequencies differ most (Neyman and Pearson).

    References
    ----------
    Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial" (1934). Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper" (IEEE S&P 2021). Kong,
    Munoz Medina, Ribero and Syed, "DP-Auditorium" (2023).

    Examples
    --------
    >>> here = np.repeat([0.0, 1.0], [3000, 1000])[:, None]  # 1 in a quarter of the draws
    >>> there = np.repeat([0.0, 1.0], [1000, 3000])[:, None]
    >>> round(float(np.log(3)), 2), round(lower_bound(here, there).epsilon(0.95), 2)
    (1.1, 1.0)
    """
    if here.ndim != 2 or there.ndim != 2 or here.shape[1] != there.shape[1]:
        raise DuffError(
            f"draws must be two tables with the same columns, got {here.shape} and {there.shape}."
        )
    inside, swapped = _best_event(here[::2], there[::2])
    first, second = (there, here) if swapped else (here, there)
    counted = [int(inside(draws[1::2]).sum()) for draws in (first, second)]
    return LowerBound(counted[0], len(first[1::2]), counted[1], len(second[1::2]))


Event = Callable[[Outputs], npt.NDArray[np.bool_]]


def _best_event(here: Outputs, there: Outputs) -> tuple[Event, bool]:
    """The event with the largest bound on these draws, and whether it is likelier for the second
    data set."""
    numbers = [_Number(i, here, there) for i in range(here.shape[1])]
    features: list[Callable[[Outputs], npt.NDArray[Any]]] = [n.cells for n in numbers]
    if len(numbers) > 1:
        score = _Score(numbers, here, there)
        features.append(score.cells)
    best: tuple[float, Event, bool] | None = None
    for cells in features:
        many = int(max(cells(here).max(), cells(there).max())) + 1
        before, after = (np.bincount(cells(draws), minlength=many) for draws in (here, there))
        ratio = np.log((before + 0.5) / len(here)) - np.log((after + 0.5) / len(there))
        for swapped in (False, True):
            order = np.argsort(ratio if swapped else -ratio, kind="stable")
            first, second = (after, before) if swapped else (before, after)
            sizes = (len(there), len(here)) if swapped else (len(here), len(there))
            bounds = _log_ratio(
                np.cumsum(first[order]), sizes[0], np.cumsum(second[order]), sizes[1], 0.05
            )
            place = int(bounds.argmax())
            if best is None or bounds[place] > best[0]:
                chosen = np.isin(np.arange(many), order[: place + 1])
                best = float(bounds[place]), _inside(cells, chosen), swapped
    assert best is not None
    return best[1], best[2]


def _inside(cells: Callable[[Outputs], npt.NDArray[Any]], chosen: npt.NDArray[np.bool_]) -> Event:
    return lambda outputs: chosen[np.minimum(cells(outputs), len(chosen) - 1)]


class _Number:
    """One number of the outputs, in cells: its values one by one, or between its quantiles."""

    def __init__(self, place: int, here: Outputs, there: Outputs) -> None:
        self._place = place
        values = np.unique(np.concatenate([here[:, place], there[:, place]]))
        if len(values) > MOST_CELLS:
            both = np.concatenate([here[:, place], there[:, place]])
            values = np.unique(np.quantile(both, np.linspace(0, 1, MOST_CELLS + 1)[1:-1]))
        self._ends = values[:-1]

    def cells(self, outputs: Outputs) -> npt.NDArray[Any]:
        return np.searchsorted(self._ends, outputs[:, self._place], side="left")


class _Score:
    """What all numbers together say, as if they were independent, in cells."""

    def __init__(self, numbers: list[_Number], here: Outputs, there: Outputs) -> None:
        self._numbers, self._weights = numbers, []
        for number in numbers:
            many = len(number._ends) + 1
            before, after = (np.bincount(number.cells(d), minlength=many) for d in (here, there))
            self._weights.append(
                np.log((before + 0.5) / len(here)) - np.log((after + 0.5) / len(there))
            )
        scores = self._score(here)[:, None], self._score(there)[:, None]
        self._number = _Number(0, *scores)

    def _score(self, outputs: Outputs) -> npt.NDArray[np.float64]:
        parts = zip(self._numbers, self._weights, strict=True)
        said = [weights[number.cells(outputs)] for number, weights in parts]
        return np.asarray(np.sum(said, axis=0), dtype=np.float64)

    def cells(self, outputs: Outputs) -> npt.NDArray[Any]:
        return self._number.cells(self._score(outputs)[:, None])


def _log_ratio(seen: Any, of: Any, seen_beside: Any, of_beside: Any, miss: float) -> Any:
    """The logarithm of the least probability that goes with the one count over the largest that
    goes with the other (Clopper and Pearson), each missed with half of `miss`."""
    inverse = load("scipy.special", "research").betaincinv
    least = np.where(seen > 0, inverse(np.maximum(seen, 1), of - seen + 1, miss / 2), 0.0)
    rest = of_beside - seen_beside
    most = np.where(rest > 0, inverse(seen_beside + 1, np.maximum(rest, 1), 1 - miss / 2), 1.0)
    with np.errstate(divide="ignore"):
        return np.log(least) - np.log(most)
