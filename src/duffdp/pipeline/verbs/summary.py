"""Trimmed means and summaries."""

from __future__ import annotations

from typing import Any

from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Rows, run_one


def trimmed_mean(
    data: Any,
    trim: float,
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
    mechanism: str = "best",
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """A private mean of the clamped records without the lowest and the highest ones.

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow,
        DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with
        `column`. Missing records are dropped, others clamped to the bounds.
    trim
        The share that is cut off at either end: above 0 and below 0.5.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    bounds
        `(lower, upper)`, public: from knowledge of the subject, never from the data. Or a
        `Grid`; where nobody knows bounds, `Digits` for medians, quantiles and modes.
    step
        Distance between possible outputs. None: 1 for integer types and, in lists and files
        of text, which have none, for bounds that are whole numbers at least 10 apart; a day
        for dates; else a power of ten, at most 1, with at least 100,000 steps between the
        bounds. `Release.domain` says it.
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
        None: no interval can be promised here. The error for others says what to ask for.
    mechanism
        "best": the distance with permute-and-flip. "duff": with the exponential mechanism.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a number between the bounds; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. The number of records is private too.

    Utility
    -------
    Wide bounds cost little, for single records at the ends play no part. Skewed records are biased:
    it is another number than their mean.

    Runtime
    -------
    One counting pass that brings back every distinct value.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; `docs/theory.md`, "Trimmed
    mean".

    Examples
    --------
    >>> import duffdp
    >>> ages = [20, 30, 40] * 1000
    >>> duffdp.trimmed_mean(ages, 0.1, epsilon=1.0, bounds=(0, 1000), step=1, rng=1).value
    30
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, None, rows, mechanism, ledger, rng, interval)
    return run_one("trimmed_mean", {"trim": trim}, *given)


def describe(
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
    """A private summary for one epsilon: the number of records, their mean, the quartiles, and
    quantiles near both ends.

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
        Distance between possible outputs. None: 1 for integer types and, in lists and files
        of text, which have none, for bounds that are whole numbers at least 10 apart; a day
        for dates; else a power of ten, at most 1, with at least 100,000 steps between the
        bounds. `Release.domain` says it.
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
        `value` is a dictionary with "count", "mean", "1%", "25%", "50%", "75%" and "99%"; with `by`
        a frame with these columns. With `Digits`, between which there are no lengths, there is no
        mean.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. A fifth of epsilon goes to one draw that tells the count (no less than 0) and the mean
    (staircase noise on how far all records together are from either bound), the rest to the
    quantiles together. The minimum and maximum are single records and can not be had
    privately with any precision: 1 % and 99 % stand for them.

    Utility
    -------
    The count errs by about 7.5 / epsilon, the mean by about 5 (upper - lower) / (epsilon n), the
    quantiles by about 3 / epsilon ranks.

    Runtime
    -------
    As `quantiles`.

    References
    ----------
    Geng and Viswanath, "The optimal noise-adding mechanism in differential privacy" (IEEE
    Transactions on Information Theory 62, 2016): staircase noise. Gillenwater, Joseph and Kulesza
    (ICML 2021). `docs/theory.md`, "Mean by soft counts".

    Examples
    --------
    >>> import duffdp
    >>> release = duffdp.describe(range(10000), epsilon=1.0, bounds=(0, 10000), step=100, rng=1)
    >>> {name: round(number) for name, number in release.value.items()}
    {'count': 9990, 'mean': 4999, '1%': 100, '25%': 2500, '50%': 5000, '75%': 7500, '99%': 9900}
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, None, rows, "best", ledger, rng)
    return run_one("describe", {}, *given, interval, "data", simultaneous)
