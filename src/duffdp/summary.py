"""The verbs for several numbers at once under one epsilon: quantiles, and a summary with a count."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Domain, Grid
from duffdp.engines.arrays import Column, read
from duffdp.errors import DuffError
from duffdp.mechanisms import Joint
from duffdp.mechanisms.mechanism import read_epsilon
from duffdp.release import Release, _bounded, quantile
from duffdp.sampling.certain import two_sided_geometric
from duffdp.sampling.entropy import entropy
from duffdp.statistics.quantiles import read_qs

SUMMARY = {"1%": "0.01", "25%": "0.25", "50%": "0.5", "75%": "0.75", "99%": "0.99"}
COUNT_SHARE = Fraction(1, 8)  # of epsilon: the count then errs by about 8 / epsilon, more than enough for most readers


def quantiles(
    data: Any, qs: Any, *, epsilon: float, bounds: Any = None, step: Any = None, mechanism: str = "best", rng: object = None
) -> Release:
    """Several private quantiles for one epsilon, in order.

    Parameters
    ----------
    data
        A one-dimensional array, series or list. Missing records are dropped, others clamped to the bounds.
    qs
        Different numbers from 0 (about the minimum) to 1 (about the maximum), in any order; values come sorted.
    epsilon
        The whole privacy loss of this call, for all quantiles together.
    bounds
        `(lower, upper)`, public: from knowledge of the subject, never from the data.
    step
        Distance between possible outputs. None: 1 for integer types, a day for dates, else about 2**40 candidates.
    mechanism
        "best": all at once by the joint exponential mechanism. "duff": one release each of the paper's mechanism with
        epsilon / len(qs), sorted.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for experiments, not private.

    Returns
    -------
    Release
        `value` is a list, one value for each of the sorted qs.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record. Bounds, step, qs and the type of the column are public.

    Utility
    -------
    Deciles err by about 3.5 / epsilon ranks each; with nine releases at epsilon / 9 it would be ten times that.

    Runtime
    -------
    One pass over the data, and forward passes over windows around the ranks whose length does not depend on the data.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles" (ICML 2021); `docs/several-quantiles.md`.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.quantiles(range(1000), [0.25, 0.5, 0.75], epsilon=2.0, bounds=(0, 1000), step=10, rng=1).value
    [250, 500, 750]
    """
    shares = read_qs(qs)
    if mechanism not in ("best", "duff"):
        raise DuffError(f'mechanism must be "best" or "duff", got {mechanism!r}.')
    exact, source = read_epsilon(epsilon), entropy(rng)
    grid: Domain
    if mechanism == "duff":
        shared = None if rng is None else np.random.default_rng(rng)  # type: ignore[arg-type]
        part = exact / len(shares)
        each = [quantile(data, q, epsilon=part, bounds=bounds, step=step, mechanism="duff", rng=shared) for q in shares]  # type: ignore[arg-type]
        value, label, grid = sorted(release.value for release in each), f"{each[0].mechanism} x {len(each)}", each[0].domain
    else:
        column, grid = _column(data, bounds, step)
        value, label = [grid.value(i) for i in Joint(exact).release(column, shares, source)], Joint.name
    return Release(
        value=value,
        epsilon=float(exact),
        statistic=f"quantiles({', '.join(f'{float(q):g}' for q in shares)})",
        mechanism=label,
        domain=grid,
        secure=source.secure,
    )


def describe(data: Any, *, epsilon: float, bounds: Any = None, step: Any = None, rng: object = None) -> Release:
    """A private summary for one epsilon: the number of records, the quartiles, and quantiles near both ends.

    Parameters
    ----------
    data, epsilon, bounds, step, rng
        As for `quantiles`.

    Returns
    -------
    Release
        `value` is a dictionary with "count", "1%", "25%", "50%", "75%" and "99%".

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record. An eighth of epsilon goes to the count (two-sided
    geometric noise, clamped at 0), the rest to the quantiles together. The minimum and maximum are single records and can not be
    had privately with any precision: 1 % and 99 % stand for them.

    Utility
    -------
    The count errs by about 8 / epsilon, the quantiles by about 3 / epsilon ranks.

    Runtime
    -------
    As `quantiles`.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms" (STOC 2009): geometric noise.
    Gillenwater, Joseph and Kulesza (ICML 2021).

    Examples
    --------
    >>> import duffdp
    >>> duffdp.describe(range(10000), epsilon=1.0, bounds=(0, 10000), step=100, rng=1).value
    {'count': 9995, '1%': 100, '25%': 2500, '50%': 5000, '75%': 7500, '99%': 9900}
    """
    exact, source = read_epsilon(epsilon), entropy(rng)
    column, grid = _column(data, bounds, step)
    shares = tuple(Fraction(q) for q in SUMMARY.values())
    proposal = Joint(exact * (1 - COUNT_SHARE)).proposal(column, shares)
    count = max(0, proposal.total + two_sided_geometric(exact * COUNT_SHARE, source))
    values = [grid.value(i) for i in proposal.release(source)]
    return Release(
        value={"count": count, **dict(zip(SUMMARY, values, strict=True))},
        epsilon=float(exact),
        statistic="describe",
        mechanism=f"two-sided-geometric + {Joint.name}",
        domain=grid,
        secure=source.secure,
    )


def _column(data: Any, bounds: Any, step: Any) -> tuple[Column, Grid]:
    """Check the bounds before the data are read."""
    grid = _bounded(bounds, step, integer=False)
    records = read(data)
    if step is None and records.integer:
        grid = _bounded(bounds, step, integer=True)
    return Column(records, grid), grid
