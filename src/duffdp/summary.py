"""The verbs for several numbers at once under one epsilon: quantiles, and a summary with a count."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from duffdp.domain import Grid
from duffdp.engines.arrays import Column, read
from duffdp.engines.frames import Table, is_table, open_table, select
from duffdp.errors import DuffError
from duffdp.mechanisms import Exponential, Joint
from duffdp.mechanisms.mechanism import read_epsilon
from duffdp.release import NEGLIGIBLE, Release, _bounded
from duffdp.sampling.certain import two_sided_geometric
from duffdp.sampling.entropy import Entropy, entropy
from duffdp.statistics import Quantile
from duffdp.statistics.quantiles import read_qs

SUMMARY = {"1%": "0.01", "25%": "0.25", "50%": "0.5", "75%": "0.75", "99%": "0.99"}
COUNT_SHARE = Fraction(1, 8)  # of epsilon: the count then errs by about 8 / epsilon, more than enough for most readers


def quantiles(
    data: Any, qs: Any, *, epsilon: float, bounds: Any = None, step: Any = None, column: str | None = None, by: Any = None,
    keys: Any = None, unit: str | None = None, contributions: int = 1, mechanism: str = "best", rng: object = None,
) -> Release:  # fmt: skip
    """Several private quantiles for one epsilon, in order.

    Parameters
    ----------
    data
        An array, a series, a list, a frame or a path, as for `median`.
    qs
        Different numbers from 0 (about the minimum) to 1 (about the maximum), in any order; values come sorted.
    epsilon
        The whole privacy loss of this call, for all quantiles together.
    bounds
        `(lower, upper)`, public: from knowledge of the subject, never from the data.
    step
        Distance between possible outputs. None: 1 for integer types, a day for dates, else about 2**40 candidates.
    column, by, keys, unit, contributions
        As for `median`.
    mechanism
        "best": all at once by the joint exponential mechanism. "duff": one release each of the paper's mechanism with
        epsilon / len(qs), sorted.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for experiments, not private.

    Returns
    -------
    Release
        `value` is a list, one value for each of the sorted qs; with `by` a frame, keys and a column for each q.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with `unit`. Bounds, step, qs and the type of the column are public.

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
    opened = _open(data, bounds, step, (column, by, keys, unit, contributions))
    share = exact / opened.contributions
    if mechanism == "best":
        joint = Joint(share)
        drawn = [joint.release(held, shares, source) for held in opened.sources]
        label = Joint.name
    else:
        drawn, label = _each(opened, shares, Exponential(share / len(shares)), source)
    values = [[opened.grid.value(i) for i in indices] for indices in drawn]
    value: Any = values[0]
    if opened.table is not None and by is not None:
        value = opened.table.answers({f"{float(q):g}": [row[j] for row in values] for j, q in enumerate(shares)})
    return Release(
        value=value,
        epsilon=float(exact),
        statistic=f"quantiles({', '.join(f'{float(q):g}' for q in shares)})",
        mechanism=label,
        domain=opened.grid,
        unit=unit or "row",
        contributions=opened.contributions,
        secure=source.secure,
    )


def _each(opened: _Opened, shares: tuple[Fraction, ...], chosen: Exponential, source: Entropy) -> tuple[list[list[int]], str]:
    """One release of the paper's mechanism for each quantile, sorted."""
    grid = opened.grid
    drawn: list[list[int]] = [[] for _ in opened.sources]
    for q in shares:
        statistic = Quantile(q)
        far = (NEGLIGIBLE + math.log(grid.size)) / (float(statistic.rate) * chosen.epsilon)
        steps = [statistic.window(held, grid, far) for held in opened.sources]
        for row, value in zip(drawn, chosen.release(steps, source), strict=True):
            row.append(grid.index(value))
    return [sorted(row) for row in drawn], f"{chosen.name}(distance) x {len(shares)}"


def describe(
    data: Any, *, epsilon: float, bounds: Any = None, step: Any = None, column: str | None = None, by: Any = None, keys: Any = None,
    unit: str | None = None, contributions: int = 1, rng: object = None,
) -> Release:  # fmt: skip
    """A private summary for one epsilon: the number of records, the quartiles, and quantiles near both ends.

    Parameters
    ----------
    data, epsilon, bounds, step, column, by, keys, unit, contributions, rng
        As for `quantiles`.

    Returns
    -------
    Release
        `value` is a dictionary with "count", "1%", "25%", "50%", "75%" and "99%"; with `by` a frame with these columns.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with `unit`. An eighth of epsilon goes to the count (two-sided
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
    opened = _open(data, bounds, step, (column, by, keys, unit, contributions))
    shares = tuple(Fraction(q) for q in SUMMARY.values())
    joint = Joint(exact * (1 - COUNT_SHARE) / opened.contributions)
    rows = []
    for held in opened.sources:
        proposal = joint.proposal(held, shares)
        count = max(0, proposal.total + two_sided_geometric(exact * COUNT_SHARE / opened.contributions, source))
        rows.append({"count": count, **dict(zip(SUMMARY, map(opened.grid.value, proposal.release(source)), strict=True))})
    grouped = opened.table is not None and by is not None
    return Release(
        value=opened.table.answers({name: [row[name] for row in rows] for name in rows[0]})
        if grouped and opened.table
        else rows[0],
        epsilon=float(exact),
        statistic="describe",
        mechanism=f"two-sided-geometric + {Joint.name}",
        domain=opened.grid,
        unit=unit or "row",
        contributions=opened.contributions,
        secure=source.secure,
    )


class _Opened(NamedTuple):
    """Where the records are, on which grid, and how many rows a person has at most."""

    sources: list[Any]
    grid: Grid
    contributions: int
    table: Table | None


def _open(data: Any, bounds: Any, step: Any, where: tuple[Any, ...]) -> _Opened:
    """Check the parameters before the data are read."""
    selection = select(*where) if where != (None, None, None, None, 1) or is_table(data) else None
    grid = _bounded(bounds, step, integer=False)
    if selection is None:
        records = read(data)
        grid = _bounded(bounds, step, integer=step is None and records.integer)
        return _Opened([Column(records, grid)], grid, 1, None)
    table = open_table(data, selection)
    grid = _bounded(bounds, step, integer=step is None and table.integer)
    return _Opened(list(table.sources(grid)), grid, selection.contributions, table)
