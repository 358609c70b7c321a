"""The verbs for several numbers at once under one epsilon: quantiles, and a summary with a count."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from duffdp.domain import Grid
from duffdp.engines.arrays import Records, read
from duffdp.engines.frames import Table, open_table
from duffdp.engines.selection import Selection, is_table, select
from duffdp.errors import DuffError
from duffdp.mechanisms import Exponential, Joint
from duffdp.mechanisms.mechanism import read_epsilon
from duffdp.release import SUMMARY, Release, _bounded, charged, drawn, sources_of
from duffdp.sampling.certain import two_sided_geometric
from duffdp.sampling.entropy import Entropy, entropy
from duffdp.statistics import Quantile
from duffdp.statistics.quantiles import read_qs

COUNT_SHARE = Fraction(1, 8)  # of epsilon: the count then errs by about 8 / epsilon, more than enough for most readers


def quantiles(
    data: Any, qs: Any, *, epsilon: float, bounds: Any = None, step: Any = None, column: str | None = None, by: Any = None,
    keys: Any = None, unit: str | None = None, contributions: int = 1, mechanism: str = "best", ledger: Any = None,
    rng: object = None,
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
    ledger
        As for `median`.
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
    joint, each = Joint(share), Exponential(share / len(shares))
    name = f"quantiles({', '.join(f'{float(q):g}' for q in shares)})"
    label = Joint.name if mechanism == "best" else f"{each.name}(distance) x {len(shares)}"

    def draw(sources: list[Any]) -> list[list[int]]:
        if mechanism == "best":
            return [joint.release(held, shares, source) for held in sources]
        return _each(sources, opened.grid, shares, each, source)

    rows = opened.drawn(ledger, name, label, exact, source.secure, draw)
    values = [[opened.grid.value(i) for i in indices] for indices in rows]
    value: Any = values[0]
    if opened.table is not None and by is not None:
        value = opened.table.answers({f"{float(q):g}": [row[j] for row in values] for j, q in enumerate(shares)})
    return Release(
        value=value,
        epsilon=float(exact),
        statistic=name,
        mechanism=label,
        domain=opened.grid,
        unit=unit or "row",
        contributions=opened.contributions,
        secure=source.secure,
    )


def _each(sources: list[Any], grid: Grid, shares: tuple[Fraction, ...], chosen: Exponential, source: Entropy) -> list[list[int]]:
    """One release of the paper's mechanism for each quantile, sorted."""
    found = [drawn(chosen, Quantile(q), sources, grid, source) for q in shares]
    return [sorted(row) for row in zip(*found, strict=True)]


def describe(
    data: Any, *, epsilon: float, bounds: Any = None, step: Any = None, column: str | None = None, by: Any = None, keys: Any = None,
    unit: str | None = None, contributions: int = 1, ledger: Any = None, rng: object = None,
) -> Release:  # fmt: skip
    """A private summary for one epsilon: the number of records, the quartiles, and quantiles near both ends.

    Parameters
    ----------
    data, epsilon, bounds, step, column, by, keys, unit, contributions, ledger, rng
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
    noise = exact * COUNT_SHARE / opened.contributions
    label = f"two-sided-geometric + {Joint.name}"

    def draw(sources: list[Any]) -> list[list[int]]:
        proposals = [joint.proposal(held, shares) for held in sources]
        return [[max(0, p.total + two_sided_geometric(noise, source)), *p.release(source)] for p in proposals]

    found = opened.drawn(ledger, "describe", label, exact, source.secure, draw)
    rows = [{"count": count, **dict(zip(SUMMARY, map(opened.grid.value, indices), strict=True))} for count, *indices in found]
    grouped = opened.table is not None and by is not None
    return Release(
        value=opened.table.answers({name: [row[name] for row in rows] for name in rows[0]})
        if grouped and opened.table
        else rows[0],
        epsilon=float(exact),
        statistic="describe",
        mechanism=label,
        domain=opened.grid,
        unit=unit or "row",
        contributions=opened.contributions,
        secure=source.secure,
    )


class _Opened(NamedTuple):
    """Records that are not read yet, their grid, and how they are chosen."""

    held: Records | Table
    grid: Grid
    selection: Selection

    @property
    def table(self) -> Table | None:
        return self.held if isinstance(self.held, Table) else None

    @property
    def contributions(self) -> int:
        return self.selection.contributions

    def drawn(
        self, ledger: Any, name: str, label: str, epsilon: Fraction, secure: bool, draw: Callable[[list[Any]], list[list[int]]]
    ) -> list[list[int]]:
        """Charge, then read the records and draw; or what was drawn before under the same call id."""
        charge = None
        if ledger is not None:
            sources_of(self.held.without_rows(), self.grid)  # what the types forbid is not charged
            charge = charged(ledger, name, label, epsilon, self.grid, self.selection, secure)
        if charge is not None and charge.drawn is not None:
            return [list(row) for row in charge.drawn]
        found = draw(sources_of(self.held, self.grid))
        if charge is not None:
            charge.keep(found)
        return found


def _open(data: Any, bounds: Any, step: Any, where: tuple[Any, ...]) -> _Opened:
    """Check the parameters; of the data, look at the types."""
    selection = select(*where) if where != (None, None, None, None, 1) or is_table(data) else None
    _bounded(bounds, step, integer=False)
    held = read(data) if selection is None else open_table(data, selection)
    return _Opened(held, _bounded(bounds, step, integer=step is None and held.integer), selection or Selection())
