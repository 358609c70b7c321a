"""The verbs for several numbers at once under one epsilon: quantiles, and a summary with a count."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from duffdp.domain import Domain
from duffdp.errors import DuffError
from duffdp.mechanisms import Exponential, Joint
from duffdp.mechanisms.mechanism import read_epsilon
from duffdp.opened import Opened, chosen_rows, drawn
from duffdp.release import SUMMARY, Release
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
        Distance between possible outputs. None: 1 for integer types (in CSV and JSON files, which have none, for bounds that are
        whole numbers), a day for dates, else about 2**40 candidates.
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
    selection = chosen_rows((column, by, keys, unit, contributions))
    opened = Opened.of(data, bounds, step, selection)
    share = exact / selection.contributions
    joint, each = Joint(share), Exponential(share / len(shares))
    name = f"quantiles({', '.join(f'{float(q):g}' for q in shares)})"
    label = Joint.name if mechanism == "best" else f"{each.name}(distance) x {len(shares)}"

    def draw(sources: list[Any]) -> list[list[int]]:
        if mechanism == "best":
            return [joint.release(held, shares, source) for held in sources]
        return _each(sources, opened.domain, shares, each, source)

    rows = opened.drawn(ledger, name, label, exact, source, draw)
    values = [[opened.domain.value(i) for i in indices] for indices in rows]
    value: Any = values[0]
    if selection.by:
        value = opened.answers({f"{float(q):g}": [row[j] for row in values] for j, q in enumerate(shares)})
    return Release(
        value=value,
        epsilon=float(exact),
        statistic=name,
        mechanism=label,
        domain=opened.domain,
        unit=unit or "row",
        contributions=selection.contributions,
        secure=source.secure,
    )


def _each(
    sources: list[Any], grid: Domain, shares: tuple[Fraction, ...], chosen: Exponential, source: Entropy
) -> list[list[int]]:
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
    selection = chosen_rows((column, by, keys, unit, contributions))
    opened = Opened.of(data, bounds, step, selection)
    shares = tuple(Fraction(q) for q in SUMMARY.values())
    joint = Joint(exact * (1 - COUNT_SHARE) / selection.contributions)
    noise = exact * COUNT_SHARE / selection.contributions
    label = f"two-sided-geometric + {Joint.name}"

    def draw(sources: list[Any]) -> list[list[int]]:
        proposals = [joint.proposal(held, shares) for held in sources]
        return [[max(0, p.total + two_sided_geometric(noise, source)), *p.release(source)] for p in proposals]

    found = opened.drawn(ledger, "describe", label, exact, source, draw)
    rows = [{"count": count, **dict(zip(SUMMARY, map(opened.domain.value, indices), strict=True))} for count, *indices in found]
    return Release(
        value=opened.answers({name: [row[name] for row in rows] for name in rows[0]}) if selection.by else rows[0],
        epsilon=float(exact),
        statistic="describe",
        mechanism=label,
        domain=opened.domain,
        unit=unit or "row",
        contributions=selection.contributions,
        secure=source.secure,
    )
