"""Means and sums."""

from __future__ import annotations

from typing import Any

from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Rows, run_one


def mean(
    data: Any,
    *,
    epsilon: float,
    bounds: Any = None,
    step: Any = None,
    column: str | None = None,
    by: Any = None,
    keys: Any = None,
    where: str | None = None,
    unit: str | None = None,
    contributions: int = 1,
    groups_per_person: int | None = None,
    suppress_below: int | None = None,
    interval: float | None = None,
    covers: str = "data",
    simultaneous: bool = False,
    mechanism: str = "best",
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """A private mean of the clamped records.

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow,
        DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with
        `column`. Missing records are dropped, others clamped to the bounds.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    bounds
        `(lower, upper)`, public: from knowledge of the subject, never from the data. Or a
        `Grid`; where nobody knows bounds, `Digits` for medians, quantiles and modes.
    step
        What records are rounded to and, if it is given, a mean as well. None: 1 for integer
        types, a day for dates, else about 2**40 steps between the bounds. A mean that is
        drawn from candidates has a power of ten with at least 10**9 steps.
    column
        The column of a frame or file.
    by
        One column or several that form groups.
    keys
        The public list of groups: values or tuples, a series or frame, a type that declares
        its values (`polars.Enum`, `pandas.CategoricalDtype`), the path of a table or of a
        file with one on a line; or a mapping from each column to one of these, for all
        combinations. Every key is answered, rows with other keys are ignored, and one
        epsilon covers all groups.
    where
        Which rows count, the others are left out: comparisons of columns with fixed values
        as in "age >= 18 AND ward <> 'ER'", with AND, OR, NOT, IN, BETWEEN and IS NULL.
        Public.
    unit
        The column that names the person. Without it a row is protected.
    contributions
        How many rows of a person count at most, picked at random: in all groups together,
        or in each with `groups_per_person`.
    groups_per_person
        In how many groups a person counts at most, picked at random; epsilon covers all of
        them. None: in as many as `contributions` rows are in.
    suppress_below
        Withhold the values of groups whose noisy number of records is smaller. A tenth of
        epsilon pays for that number, which stands beside each group, and post-processing
        does the rest; a statistic that counts records itself needs no other. None: no such
        number.
    interval
        A confidence such as 0.95: the release then has `low` and `high`, and with at least
        this probability what it covers lies between them, for each number of each group.
        Epsilon pays for values and ends.
    covers
        "data": the exact statistic of the records that count. "population": that of the
        distribution that records were drawn from, independently; any distribution.
    simultaneous
        Whether all intervals of the release hold together with that probability, those of
        all groups, and not only each by itself; they are a little wider.
    mechanism
        "best": two soft counts with staircase noise. "clipped": for wide bounds, within a
        private interval; biased where records beyond it matter. "distance": the dataset distance
        with permute-and-flip. "duff": with the exponential mechanism.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a number between the bounds, for whole records too; with a `step`, for dates and
        by "distance" and "duff" it is a candidate of the grid.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. The number of records is private too. "clipped" spends a twentieth of
    epsilon on their number, a fifth on an interval, a twentieth on a rough mean and the rest on the
    sum around it; what few records do not need goes to soft counts.

    Utility
    -------
    "best" errs by 0.75 to 1 (upper - lower) / (epsilon n) for n records, a third less at epsilon 5;
    tight bounds help. "clipped" errs by a few times the spread of the records over epsilon n,
    almost whatever the bounds are, but a heavy tail is cut: its mean comes out too small, and more
    records help less than they should. "distance" errs by 1 to 2 (upper - lower) / (epsilon n).

    Runtime
    -------
    One pass over the data, three for "clipped"; for all groups of a table that stays where it is
    one query, and for "clipped" a few.

    References
    ----------
    `docs/theory.md`, "Mean by soft counts" and "Clipped mean". Geng, Kairouz, Oh and Viswanath,
    "The staircase mechanism in differential privacy" (2015). Gillenwater and Munoz Medina, "Duff"
    (NeurIPS 2020), section 4.1, for "duff".

    Examples
    --------
    >>> import duffdp
    >>> round(duffdp.mean([20, 30, 41] * 1000, epsilon=1.0, bounds=(0, 100), rng=1).value, 2)
    30.28
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, None, rows, mechanism, ledger, rng)
    return run_one("mean", {}, *given, interval, covers, simultaneous)


def sum(
    data: Any,
    *,
    epsilon: float,
    bounds: Any = None,
    step: Any = None,
    column: str | None = None,
    by: Any = None,
    keys: Any = None,
    where: str | None = None,
    unit: str | None = None,
    contributions: int = 1,
    groups_per_person: int | None = None,
    suppress_below: int | None = None,
    interval: float | None = None,
    simultaneous: bool = False,
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """A private sum of the clamped records.

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow,
        DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with
        `column`. Missing records are dropped, others clamped to the bounds.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    bounds
        `(lower, upper)`, public: from knowledge of the subject, never from the data. Or a
        `Grid`; where nobody knows bounds, `Digits` for medians, quantiles and modes.
    step
        What records are rounded to and, if it is given, a mean as well. None: 1 for integer
        types, a day for dates, else about 2**40 steps between the bounds. A mean that is
        drawn from candidates has a power of ten with at least 10**9 steps.
    column
        The column of a frame or file.
    by
        One column or several that form groups.
    keys
        The public list of groups: values or tuples, a series or frame, a type that declares
        its values (`polars.Enum`, `pandas.CategoricalDtype`), the path of a table or of a
        file with one on a line; or a mapping from each column to one of these, for all
        combinations. Every key is answered, rows with other keys are ignored, and one
        epsilon covers all groups.
    where
        Which rows count, the others are left out: comparisons of columns with fixed values
        as in "age >= 18 AND ward <> 'ER'", with AND, OR, NOT, IN, BETWEEN and IS NULL.
        Public.
    unit
        The column that names the person. Without it a row is protected.
    contributions
        How many rows of a person count at most, picked at random: in all groups together,
        or in each with `groups_per_person`.
    groups_per_person
        In how many groups a person counts at most, picked at random; epsilon covers all of
        them. None: in as many as `contributions` rows are in.
    suppress_below
        Withhold the values of groups whose noisy number of records is smaller. A tenth of
        epsilon pays for that number, which stands beside each group, and post-processing
        does the rest; a statistic that counts records itself needs no other. None: no such
        number.
    interval
        A confidence such as 0.95: the release then has `low` and `high`, and with at least
        this probability what it covers lies between them, for each number of each group.
        Epsilon pays for values and ends.
    simultaneous
        Whether all intervals of the release hold together with that probability, those of
        all groups, and not only each by itself; they are a little wider.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a whole number if bounds and step are, else a double or a decimal as they are.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. Staircase noise, exact: in whole multiples of the largest number of which both bounds
    and the step are multiples.

    Utility
    -------
    Errs by about max(|lower|, |upper|) / epsilon, whatever the number of records is: 4, 15 and 59 %
    less at epsilon 1, 2 and 5. One record far from 0 weighs as much as the bound that is furthest
    from 0, so that bounds on both sides of 0 are as good as narrow ones on one side of it; of
    records in (990, 1000) rather ask for the mean and the count.

    Runtime
    -------
    One pass over the data; one query of a table that stays where it is.

    References
    ----------
    Geng and Viswanath, "The optimal noise-adding mechanism in differential privacy" (IEEE
    Transactions on Information Theory 62, 2016); `docs/theory.md`, "Sum".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.sum([20, 30, 40] * 1000, epsilon=1.0, bounds=(0, 100), step=1, rng=1).value
    90011
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, None, rows, "best", ledger, rng)
    return run_one("sum", {}, *given, interval, "data", simultaneous)
