"""A search for counterexamples to the claim that one record moves a statistic's distances by at
most one step.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from duffdp._steps import StepFunction
from duffdp.audit.neighbours import StepLaw, neighbours, worst_output
from duffdp.domain import Domain, Grid
from duffdp.errors import DuffError
from duffdp.mechanisms import Exponential, PermuteAndFlip
from duffdp.mechanisms.mechanism import DistanceMechanism
from duffdp.statistics.ladder import Statistic

MOST_CANDIDATES = 2**12  # every candidate of every data set is looked at


class Counterexample(AssertionError):
    """Two neighbors on which a statistic breaks its claim: `data`, and `joined`, the added record.

    Privacy
    -------
    Made from the small public data sets of a search, not from real records.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), definition 2.4.
    """

    def __init__(self, message: str, data: tuple[Any, ...], joined: object) -> None:
        super().__init__(message)
        self.data, self.joined = data, joined


def check_statistic(
    statistic: Statistic,
    domain: Domain | None = None,
    *,
    records: Iterable[Any] | None = None,
    most: int = 5,
    repeats: bool = True,
    epsilon: float = 1.0,
) -> int:
    """Search all small data sets for neighbors that break the privacy of a statistic.

    It checks every data set with fewer than `most` records and every added record. The step
    functions must cover the domain, and the changes of the distances must be within 1 / rate of
    each other. The output distributions of the exponential mechanism and of permute-and-flip must
    be within epsilon. Data sets are visited by size, so the reported counterexample has the fewest
    records.

    Parameters
    ----------
    statistic
        Any object with `steps(values, domain)`. `values` is a list.
    domain
        The public candidates; by default a grid of 0, 1, 2, 3.
    records
        The possible records of data sets; by default the candidates.
    most
        The largest number of records.
    repeats
        True: a record may occur more than once. Pass False for the edges of a graph.
    epsilon
        The epsilon of both mechanisms.

    Returns
    -------
    int
        The number of compared pairs of neighbors.

    Raises
    ------
    Counterexample
        An AssertionError that shows the smallest pair found.

    Privacy
    -------
    Reads no real data. Without a counterexample, the claim is proven for the searched data sets.
    For others it is only evidence.

    Runtime
    -------
    All multisets of up to `most` records: 126 data sets for the defaults, and a few milliseconds
    each.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy" (FOCS 2007), definition 2 and
    theorem 6.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.testing.check_statistic(duffdp.statistics.Median(), most=3)
    60
    """
    public = Grid(0, 3, 1) if domain is None else domain
    if public.size > MOST_CANDIDATES:
        raise DuffError(
            f"check_statistic visits every candidate, so there can be at most {MOST_CANDIDATES}, "
            f"got {public!r}."
        )
    universe = [public.value(i) for i in range(public.size)] if records is None else list(records)
    if not universe or most < 1:
        raise DuffError(
            f"check_statistic needs records and most of 1 or more, got {len(universe)} records and "
            f"most={most!r}."
        )
    mechanisms: list[DistanceMechanism] = [Exponential(epsilon), PermuteAndFlip(epsilon)]
    seen = cache(lambda data: _Seen(statistic, [universe[i] for i in data], public, mechanisms))
    pairs = 0
    for here, neighbor, joined in neighbours(len(universe), most, repeats=repeats):
        _compare(seen(here), seen(neighbor), universe[joined], mechanisms)
        pairs += 1
    return pairs


class _Seen:
    """One data set, with the distance of every candidate and its log-probability under every
    mechanism.
    """

    def __init__(
        self,
        statistic: Statistic,
        data: list[Any],
        domain: Domain,
        mechanisms: list[DistanceMechanism],
    ) -> None:
        steps = statistic.steps(data, domain)
        if not isinstance(steps, StepFunction):
            raise DuffError(
                f"steps(values, domain) must return a StepFunction, got {type(steps).__name__}."
            )
        if steps.domain != domain:
            raise DuffError(
                f"steps(values, domain) must keep the domain, got {steps.domain!r} for {domain!r}."
            )
        steps.check()
        self.data, self.steps = tuple(data), steps
        self.distance = np.repeat(steps.distance, steps.count)
        self.laws = [StepLaw(steps, mechanism.law(steps)) for mechanism in mechanisms]


def _compare(
    here: _Seen, there: _Seen, joined: object, mechanisms: list[DistanceMechanism]
) -> None:
    case = f"data {list(here.data)!r}, and {joined!r} joins"
    steps = here.steps
    if (steps.unit, steps.rate) != (there.steps.unit, there.steps.rate):
        raise Counterexample(
            f"unit and rate must not depend on the data: {case}.", here.data, joined
        )
    change = (there.distance - here.distance) * float(steps.unit)
    low, high = int(change.argmin()), int(change.argmax())
    spread: Fraction = int(np.ptp(there.distance - here.distance)) * steps.unit
    if spread * steps.rate > 1:
        changes = ", ".join(
            f"{steps.domain.value(i)!r} goes from {here.distance[i] * steps.unit} to "
            f"{there.distance[i] * steps.unit}"
            for i in (low, high)
        )
        raise Counterexample(
            f"{case}: the distance of {changes}. Changes may differ by at most {1 / steps.rate}, "
            f"these differ by {spread}.",
            here.data,
            joined,
        )
    for mechanism, before, after in zip(mechanisms, here.laws, there.laws, strict=True):
        loss, worst = worst_output(before, after)
        if loss > mechanism.epsilon * (1 + 1e-9):
            raise Counterexample(
                f"{case}: the probability of {worst!r} under {mechanism!r} changes by a factor of "
                f"exp({loss:.6g}), which is more than exp(epsilon).",
                here.data,
                joined,
            )
