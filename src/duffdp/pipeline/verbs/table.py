"""The table: several statistics of the same groups for one epsilon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duffdp.pipeline.table import Table
from duffdp.pipeline.table_plan import TablePlan


def table(
    data: Any,
    statistics: Mapping[str, Any],
    *,
    epsilon: float,
    bounds: Mapping[str, Any] | None = None,
    step: Mapping[str, Any] | None = None,
    categories: Mapping[str, Any] | None = None,
    by: Any = None,
    keys: Any = None,
    total: bool = False,
    where: str | None = None,
    unit: str | None = None,
    contributions: int = 1,
    groups_per_person: int | None = None,
    interval: float | None = 0.95,
    simultaneous: bool = False,
    smallest: int | None = None,
    suppress_below: int | None = None,
    weights: Mapping[str, Any] | None = None,
    mechanism: str = "best",
    ledger: Any = None,
    rng: object = None,
) -> Table:
    """A private table: groups down, statistics of several columns across, a count beside each.

    Parameters
    ----------
    data
        A frame (pandas, polars, pyarrow, DuckDB, Spark, dask, ibis) or the path of a file,
        a folder or a table. Missing records are dropped, others clamped to the bounds.
    statistics
        For each column what is asked: the name of a statistic, a number from 0 to 1 for a
        quantile, a mapping with `statistic` and its parameters as a plan has them, or a list of
        these. Several numbers are drawn together.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    bounds
        For each column its public `(lower, upper)`, or a `Grid`; never from the data.
    step
        For some columns the distance between possible outputs.
    categories
        For some columns the public list of their values, for modes and the like.
    by
        One column or several that form groups.
    keys
        The public list of groups: values or tuples, a series or frame, a type that declares
        its values (`polars.Enum`, `pandas.CategoricalDtype`), the path of a table or of a
        file with one on a line; or a mapping from each column to one of these, for all
        combinations. Every key is answered, rows with other keys are ignored, and one
        epsilon covers all groups.
    total
        Whether rows for all groups together follow; with two columns of groups, also those for
        each value of either. Counts and sums are added up, at no cost. Everything else is released
        once more for each of these margins, and its share of epsilon is split evenly.
    where
        Which rows count, the others are left out: comparisons of columns with fixed values
        as in "age >= 18 AND ward <> 'ER'", with AND, OR, NOT, IN, BETWEEN and IS NULL.
        Public.
    unit
        The column that names the person. Without it a row is protected.
    contributions
        How many rows of a person count at most, picked at random. The count is one of people all
        the same: each counts once.
    groups_per_person
        In how many groups a person counts at most, picked at random; epsilon covers all of
        them. None: in as many as `contributions` rows are in.
    interval
        The confidence of the intervals around numbers that can have one (counts, sums, means,
        shares, histograms, medians, single quantiles, interquartile ranges), each by itself.
        Several quantiles and summaries have them if they ask for them. None: no intervals, and
        smaller errors of medians, quantiles and ranges.
    simultaneous
        Whether all intervals of the table hold together with that probability, and not only each
        by itself; they are wider.
    smallest
        A group with a smaller noisy count is `too_small`. None: one that cannot be told from an
        empty group.
    suppress_below
        The same, and numbers of such groups are withheld, all but their count.
    weights
        The part of epsilon of some releases, in proportion to the others: `{"age_median": 16}`.
        Usually 1 for counts, 4 for other numbers that are drawn at once, 8 for what takes several
        draws (a median with an interval, a summary, a standard deviation), times `contributions`
        for all but the count.
    mechanism
        "best" or "duff", where a statistic has both.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Table
        Wide: key columns, `count`, then `age_median`, `age_median_low`, `age_median_high` and so
        on, and `too_small`.

    Privacy
    -------
    Pure epsilon-differential privacy for all numbers of the table together; neighbours differ by
    one row, or by one person with `unit`. The shares of releases add up to epsilon; all are charged
    before a row is read, or none.

    Utility
    -------
    That of each statistic at its share of epsilon, which `TablePlan.check` lists.

    Runtime
    -------
    That of its releases one after the other.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14:
    shares add up; McSherry, "Privacy integrated queries" (SIGMOD 2009): groups cost one epsilon.

    Examples
    --------
    >>> import duffdp
    >>> people = duffdp.table(
    ...     "demo/adult.parquet", {"age": "median", "hours_per_week": [0.25, 0.75]}, epsilon=3,
    ...     bounds={"age": (0, 120), "hours_per_week": (0, 99)}, by="sex", keys=["Female", "Male"],
    ... )
    >>> people.tidy().to_pandas()["statistic"].unique().tolist()
    ['count', 'median', 'quantile(0.25)', 'quantile(0.75)']
    >>> people.to_pandas()[["sex", "hours_per_week_0.25", "too_small"]]
          sex  hours_per_week_0.25  too_small
    0  Female                   30      False
    1    Male                   40      False
    """
    plan = TablePlan(
        statistics,
        epsilon=epsilon,
        bounds=bounds,
        step=step,
        categories=categories,
        by=by,
        keys=keys,
        total=total,
        where=where,
        unit=unit,
        contributions=contributions,
        groups_per_person=groups_per_person,
        interval=interval,
        simultaneous=simultaneous,
        smallest=smallest,
        suppress_below=suppress_below,
        weights=weights,
        mechanism=mechanism,
        source=data,
    )
    return plan.run(ledger=ledger, rng=rng)
