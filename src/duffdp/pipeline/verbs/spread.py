"""Private variances, standard deviations and interquartile ranges."""

from __future__ import annotations

from typing import Any

from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Rows, run_one


def variance(
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
    mechanism: str = "best",
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """A private variance: the mean squared distance of the records from their mean.

    Records outside of the bounds count as the nearest bound. The squares are divided by the number
    of records (`ddof=0` in numpy), and the variance of no record is 0.

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
        None: no interval can be promised here. The error for others says what to ask for.
    mechanism
        "best": from sums of records that are clamped to a private interval. "duff": the paper's
        exponential mechanism by distance, in one draw: for bounds that are no wider than the data.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a number of 0 or more. Bounds that are dates are refused: ask for `std`.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. A twelfth of epsilon goes to the number of records, a quarter to an interval that holds
    nearly all of them, a twenty-fourth to a rough mean, the rest to sums of squares around it,
    clamped to that interval; with few records all but the twelfth goes to sums within the bounds.
    Bounds and step are public.

    Utility
    -------
    Wide bounds cost little. Records outside of the interval, a few / epsilon of them, count as its
    nearest end: heavy tails come out smaller than they are. With fewer than about 70 / epsilon
    records the interval is the bounds, and where these are wide the error is large.

    Runtime
    -------
    Three passes over the data, and no sort.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006). Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1: the distance.
    `docs/theory.md`, "Variance".

    Examples
    --------
    >>> import duffdp
    >>> ages = [18, 25, 31, 38, 40, 41, 52, 70] * 500
    >>> round(duffdp.variance(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value)
    228
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, None, rows, mechanism, ledger, rng, interval)
    return run_one("variance", {}, *given)


def std(
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
    mechanism: str = "best",
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """A private standard deviation, the root of the variance.

    Records outside of the bounds count as the nearest bound. The squares are divided by the number
    of records (`ddof=0` in numpy), and the standard deviation of no record is 0.

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
        None: no interval can be promised here. The error for others says what to ask for.
    mechanism
        "best": from sums of records that are clamped to a private interval. "duff": the paper's
        exponential mechanism by distance, in one draw: for bounds that are no wider than the data.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a number of 0 or more, a `timedelta` for dates and times.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. A twelfth of epsilon goes to the number of records, a quarter to an interval that holds
    nearly all of them, a twenty-fourth to a rough mean, the rest to sums of squares around it,
    clamped to that interval; with few records all but the twelfth goes to sums within the bounds.
    Bounds and step are public.

    Utility
    -------
    Wide bounds cost little. Records outside of the interval, a few / epsilon of them, count as its
    nearest end: heavy tails come out smaller than they are. With fewer than about 70 / epsilon
    records the interval is the bounds, and where these are wide the error is large.

    Runtime
    -------
    Three passes over the data, and no sort.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006). Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1: the distance.
    `docs/theory.md`, "Variance".

    Examples
    --------
    >>> import duffdp
    >>> ages = [18, 25, 31, 38, 40, 41, 52, 70] * 500
    >>> round(duffdp.std(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value, 1)
    15.1
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, None, rows, mechanism, ledger, rng, interval)
    return run_one("std", {}, *given)


def iqr(
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
    """A private interquartile range: the third quartile minus the first, in one draw.

    The quartiles are those of `quantile`: with n records those of rank ceil(n / 4) and
    ceil(3 n / 4).

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
    covers
        "data": the exact statistic of the records that count. "population": that of the
        distribution that records were drawn from, independently; any distribution.
    simultaneous
        Whether all intervals of the release hold together with that probability, those of
        all groups, and not only each by itself; they are a little wider.
    mechanism
        "best": permute-and-flip. "duff": the paper's exponential mechanism. Both by the distance.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a number of 0 or more in the kind of the bounds, a `timedelta` for dates and
        times.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. Bounds and step are public.

    Utility
    -------
    Off by the width of about 2 / epsilon records at the quartiles, whatever the bounds are.

    Runtime
    -------
    One pass over the data, and no sort.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; `docs/theory.md`,
    "Interquartile range".

    Examples
    --------
    >>> import duffdp
    >>> ages = [18, 25, 31, 38, 40, 41, 52, 70] * 500
    >>> duffdp.iqr(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value
    16
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, None, rows, mechanism, ledger, rng)
    return run_one("iqr", {}, *given, interval, covers, simultaneous)
