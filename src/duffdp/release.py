"""The verbs people call, and what they return."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from duffdp.domain import Categories, Domain
from duffdp.engines.selection import is_table
from duffdp.engines.tables.answers import rows
from duffdp.errors import BoundsError, DuffError
from duffdp.mechanisms import Exponential, PermuteAndFlip
from duffdp.mechanisms.distance_bound import distance_bound, mean_distance_bound
from duffdp.mechanisms.mechanism import Mechanism, read_epsilon
from duffdp.opened import Opened, chosen_rows, drawn
from duffdp.plain import plain
from duffdp.sampling.entropy import entropy
from duffdp.statistics import Mean, Mode, Quantile

# The quantiles of `describe`.
SUMMARY = {"1%": "0.01", "25%": "0.25", "50%": "0.5", "75%": "0.75", "99%": "0.99"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One private value, and what has to be known to use it: nothing in it depends on the data but the value.

    Privacy
    -------
    `value` is epsilon-differentially private for neighbours that differ by one `unit` with up to `contributions` rows. With
    `secure=False` the draw can be reproduced by whoever knows the seed, and there is no guarantee.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definitions 1 and 2.

    Examples
    --------
    >>> import duffdp
    >>> release = duffdp.median([3, 4, 5], epsilon=1.0, bounds=(0, 9), step=1, rng=7)
    >>> release.epsilon, release.unit, release.secure
    (1.0, 'row', False)
    """

    value: Any
    epsilon: float
    delta: float = 0.0
    statistic: str
    mechanism: str
    domain: Domain
    unit: str = "row"
    contributions: int = 1
    secure: bool

    def __float__(self) -> float:
        return float(self.value)

    @property
    def grouped(self) -> bool:
        """Whether `value` is a frame with a row for each group."""
        return not isinstance(self.value, str) and is_table(self.value)

    def distance_bound(self, confidence: float = 0.95) -> int:
        """How many records would have to join or leave, at most, until `value` is the exact answer.

        Parameters
        ----------
        confidence
            The probability with which this holds, over the draw of the mechanism, for every data set: between 0 and 1. With
            groups it holds for each group by itself.

        Returns
        -------
        int
            A number of records. For a mean, the exact value of which need not be a candidate, it is the number beyond those that
            the closest candidate needs.

        Privacy
        -------
        Computed from epsilon, contributions and the domain, all public; the data play no part.

        Utility
        -------
        For medians, quantiles and modes by the plain distance no smaller number holds for all data sets.

        References
        ----------
        `docs/theory.md`, "How far an output can be"; Asi and Duchi (NeurIPS 2020).

        Examples
        --------
        >>> import duffdp
        >>> duffdp.median([31, 35, 40], epsilon=1.0, bounds=(0, 120), step=1).distance_bound(0.95)
        14
        """
        statistic = self.statistic.partition("(")[0]
        kind, _, utility = self.mechanism.partition("(")
        known = statistic in ("median", "quantile", "mean", "mode") and utility in ("distance)", "signed)")
        if not known or kind not in (Exponential.name, PermuteAndFlip.name):
            raise DuffError(
                f"there is no bound on the distance of a {statistic} by {self.mechanism}, only for the distance utilities."
            )
        flip = kind == PermuteAndFlip.name
        rate = Fraction(1) if statistic == "mode" and flip else Fraction(1, 2)
        c = rate * read_epsilon(self.epsilon) / self.contributions
        bound = distance_bound(self.domain.size, c, flip, confidence)
        if statistic == "mean":
            return min(bound, mean_distance_bound(c, confidence))
        # Without any record every candidate is one record away from being the quantile.
        return bound if statistic == "mode" else max(bound, 1)

    def rows(self) -> list[tuple[dict[str, Any], str, Any]]:
        """Every released number: the keys of its group, what it is (a statistic, or a line of `describe`), and its value.

        Examples
        --------
        >>> import duffdp
        >>> release = duffdp.quantiles(range(1000), [0.25, 0.75], epsilon=1.0, bounds=(0, 1000), step=100, rng=1)
        >>> release.rows()
        [({}, 'quantile(0.25)', 200), ({}, 'quantile(0.75)', 700)]
        """
        name, _, shares = self.statistic.partition("(")
        parts = [f"quantile({share})" for share in shares.rstrip(")").split(", ")] if name == "quantiles" else [self.statistic]
        if name == "describe":
            parts = ["count", *SUMMARY]
        if not self.grouped:
            values = self.value.values() if isinstance(self.value, dict) else self.value if name == "quantiles" else [self.value]
            return [({}, part, value) for part, value in zip(parts, values, strict=True)]
        found = []
        for row in rows(self.value):
            cells = list(row.items())  # keys come first
            keys = dict(cells[: -len(parts)])
            found += [(keys, part, value) for part, (_, value) in zip(parts, cells[-len(parts) :], strict=True)]
        return found

    def to_dict(self) -> dict[str, Any]:
        """All fields as types that JSON has; the domain as its public parameters, a frame as a list of its rows."""
        fields = {
            "value": rows(self.value) if self.grouped else self.value,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "statistic": self.statistic,
            "mechanism": self.mechanism,
            **self.domain.parameters(),
            "unit": self.unit,
            "contributions": self.contributions,
            "secure": self.secure,
        }
        return {name: plain(value) for name, value in fields.items()}

    def to_json(self) -> str:
        """All fields as JSON text."""
        return json.dumps(self.to_dict())


def median(
    data: Any, *, epsilon: float, bounds: Any = None, step: Any = None, column: str | None = None, by: Any = None, keys: Any = None,
    unit: str | None = None, contributions: int = 1, mechanism: str = "best", ledger: Any = None, rng: object = None,
) -> Release:  # fmt: skip
    """A private median of numbers, dates or times.

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow, DuckDB, Spark, dask, ibis) or the path
        of a file, a folder or a table, with `column`. Missing records are dropped, others clamped to the bounds.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    bounds
        `(lower, upper)`, public: from knowledge of the subject, never from the data.
    step
        Distance between possible outputs. None: 1 for integer types (in CSV and JSON files, which have none, for bounds that are
        whole numbers), a day for dates, else about 2**40 candidates.
    column
        The column of a frame or file.
    by, keys
        One column or several that form groups, and the public list of groups: values, tuples, a frame, or one `Categories`
        for each column. Every key is answered, rows with other keys are ignored, and one epsilon covers all groups.
    unit, contributions
        The column that names the person, and how many rows of a person count at most. Without it a row is a person.
    mechanism
        "best": signed distance with permute-and-flip. "duff": the paper's distance with the exponential mechanism.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for experiments, not private.

    Returns
    -------
    Release

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with `unit`. Bounds, step, q and the type of the column are public.

    Utility
    -------
    Errs by about 1/epsilon ranks.

    Runtime
    -------
    One pass over the data and a small sort.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; McKenna and Sheldon (NeurIPS 2020).

    Examples
    --------
    >>> import duffdp
    >>> ages = [31, 35, 38, 40, 41, 44, 52] * 100
    >>> duffdp.median(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value
    40
    """
    where = (column, by, keys, unit, contributions)
    return _release("median", Fraction(1, 2), data, epsilon, bounds, step, mechanism, ledger, rng, where)


def quantile(
    data: Any, q: float, *, epsilon: float, bounds: Any = None, step: Any = None, column: str | None = None, by: Any = None,
    keys: Any = None, unit: str | None = None, contributions: int = 1, mechanism: str = "best", ledger: Any = None,
    rng: object = None,
) -> Release:  # fmt: skip
    """A private quantile of numbers, dates or times: the value with rank max(1, ceil(q n)).

    Parameters
    ----------
    q
        From 0 (the minimum) to 1 (the maximum).
    data, epsilon, bounds, step, column, by, keys, unit, contributions, mechanism, ledger, rng
        As for `median`.

    Returns
    -------
    Release

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with `unit`. Bounds, step, q and the type of the column are public.

    Utility
    -------
    Errs by about 2 max(q, 1-q) / epsilon ranks.

    Runtime
    -------
    One pass over the data and a small sort.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; `docs/theory.md`, "Quantiles".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.quantile(range(1000), 0.9, epsilon=1.0, bounds=(0, 1000), step=10, rng=1).value
    900
    """
    where = (column, by, keys, unit, contributions)
    return _release(f"quantile({q})", q, data, epsilon, bounds, step, mechanism, ledger, rng, where)


def mean(
    data: Any, *, epsilon: float, bounds: Any = None, step: Any = None, column: str | None = None, by: Any = None, keys: Any = None,
    unit: str | None = None, contributions: int = 1, mechanism: str = "best", ledger: Any = None, rng: object = None,
) -> Release:  # fmt: skip
    """A private mean of the clamped records.

    Parameters
    ----------
    data, epsilon, bounds, step, column, by, keys, unit, contributions, ledger, rng
        As for `median`.
    mechanism
        "best": the distance with permute-and-flip. "duff": with the exponential mechanism.

    Returns
    -------
    Release

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with `unit`. The number of records is private too.

    Utility
    -------
    Errs by about 2 (upper - lower) / (epsilon n); tight bounds help.

    Runtime
    -------
    One pass over the data.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; `docs/theory.md`, "Mean".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.mean([20, 30, 40] * 1000, epsilon=1.0, bounds=(0, 100), step=1, rng=1).value
    30
    """
    where = (column, by, keys, unit, contributions)
    return _release("mean", None, data, epsilon, bounds, step, mechanism, ledger, rng, where)


def mode(
    data: Any, *, epsilon: float, categories: Iterable[Any] | None = None, bounds: Any = None, step: Any = None,
    column: str | None = None, by: Any = None, keys: Any = None, unit: str | None = None, contributions: int = 1,
    mechanism: str = "best", ledger: Any = None, rng: object = None,
) -> Release:  # fmt: skip
    """A private most common value.

    Parameters
    ----------
    categories
        The public list of possible values; records with another value are dropped. Or else:
    bounds, step
        A public grid, as for `median`.
    data, epsilon, column, by, keys, unit, contributions, ledger, rng
        As for `median`.
    mechanism
        "best": permute-and-flip with the full epsilon. "duff": the paper's exponential mechanism with epsilon/2.

    Returns
    -------
    Release

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with `unit`. The categories are public.

    Utility
    -------
    The mode wins unless another value is within a few 1/epsilon records of it.

    Runtime
    -------
    One counting pass.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; `docs/theory.md`, "Mode".

    Examples
    --------
    >>> import duffdp
    >>> votes = ["yes"] * 60 + ["no"] * 40
    >>> duffdp.mode(votes, epsilon=1.0, categories=["yes", "no"], rng=1).value
    'yes'
    """
    if (categories is None) == (bounds is None):
        given = "neither" if bounds is None else "both"
        raise BoundsError(f'mode needs either categories or bounds, got {given}. Pass for example categories=["yes", "no"].')
    chosen = None if categories is None else categories if isinstance(categories, Categories) else Categories(categories)
    where = (column, by, keys, unit, contributions)
    return _release("mode", None, data, epsilon, bounds, step, mechanism, ledger, rng, where, chosen)


def _release(
    name: str, q: Any, data: Any, epsilon: Any, bounds: Any, step: Any, mechanism: str, ledger: Any, rng: object,
    where: tuple[Any, Any, Any, Any, Any], categories: Categories | None = None,
) -> Release:  # fmt: skip
    """Check all parameters, then charge, then read the data, then draw."""
    selection = chosen_rows(where)
    try:
        chosen, statistic, label, total = planned(name, q, mechanism, epsilon, selection.contributions)
    except TypeError:  # something unhashable among them: let the check say what is wrong
        chosen, statistic, label, total = planned.__wrapped__(name, q, mechanism, epsilon, selection.contributions)
    source = entropy(rng)
    opened = Opened.of(data, bounds, step, selection, categories)
    found = opened.drawn(
        ledger, name, label, epsilon, source, lambda sources: drawn(chosen, statistic, sources, opened.domain, source)
    )
    values = [opened.domain.value(index) for index in found]
    return Release(
        value=opened.answers({name.partition("(")[0]: values}) if selection.by else values[0],
        epsilon=total,
        statistic=name,
        mechanism=label,
        domain=opened.domain,
        unit=selection.unit or "row",
        contributions=selection.contributions,
        secure=source.secure,
    )


@lru_cache(maxsize=256, typed=True)
def planned(
    name: str, q: Any, mechanism: str, epsilon: Any, contributions: int
) -> tuple[Mechanism, Quantile | Mean | Mode, str, float]:
    """The mechanism and statistic behind a name."""
    if mechanism not in ("best", "duff"):
        raise DuffError(f'mechanism must be "best" or "duff", got {mechanism!r}.')
    duff = mechanism == "duff"
    # A person with m rows moves a distance by up to m: the same as one row at epsilon / m.
    total = read_epsilon(epsilon)
    share = total / contributions
    chosen = Exponential(share) if duff else PermuteAndFlip(share)
    if name == "mode":
        return chosen, Mode(Fraction(1, 2) if duff else 1), f"{chosen.name}(distance)", float(total)
    if name == "mean":
        return chosen, Mean(), f"{chosen.name}(distance)", float(total)
    utility = "distance" if duff else "signed"
    return chosen, Quantile(q, utility), f"{chosen.name}({utility})", float(total)
