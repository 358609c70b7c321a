"""Medians and quantiles."""

from __future__ import annotations

from typing import Any

from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Rows, run_one


def median(
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
    """A private median of numbers, dates or times.

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
        "best": signed distance on a lattice or, with more than 2**20 candidates or a small
        epsilon, with permute-and-flip. "duff": the paper's distance with the exponential mechanism.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a number, or a date or time if the bounds are; with `by` a frame of keys
        and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. Bounds, step and the type of the column are public.

    Utility
    -------
    Errs by about 1/epsilon ranks.

    Runtime
    -------
    One pass over the data and a small sort.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; McKenna and Sheldon (NeurIPS
    2020).

    Examples
    --------
    >>> import duffdp
    >>> ages = [31, 35, 38, 40, 41, 44, 52] * 100
    >>> duffdp.median(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value
    40
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, None, rows, mechanism, ledger, rng)
    return run_one("median", {}, *given, interval, covers, simultaneous)


def quantile(
    data: Any,
    q: float,
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
    """A private quantile of numbers, dates or times: the value with rank max(1, ceil(q n)).

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow,
        DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with
        `column`. Missing records are dropped, others clamped to the bounds.
    q
        From 0 (the minimum) to 1 (the maximum). At 0 and 1 the best mechanism aims at the record
        that a few others lie beyond, so that an answer beyond all records is rare.
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
        "best": signed distance on a lattice or, with more than 2**20 candidates or a small
        epsilon, with permute-and-flip. "duff": the paper's distance with the exponential mechanism.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a number, or a date or time if the bounds are; with `by` a frame of keys
        and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. Bounds, step, q and the type of the column are public.

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
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, None, rows, mechanism, ledger, rng)
    return run_one("quantile", {"q": q}, *given, interval, covers, simultaneous)


def quantiles(
    data: Any,
    qs: Any,
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
    """Several private quantiles for one epsilon, in order.

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow,
        DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with
        `column`. Missing records are dropped, others clamped to the bounds.
    qs
        Different numbers from 0 (about the minimum) to 1 (about the maximum), in any order; values
        come sorted.
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
        "best": all at once by the joint exponential mechanism. "duff": one release each of the
        paper's mechanism with epsilon / len(qs), sorted.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a list, one value for each of the sorted qs; with `by` a frame, keys and a column
        for each q.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. Bounds, step, qs and the type of the column are public.

    Utility
    -------
    Deciles err by about 3.5 / epsilon ranks each; with nine releases at epsilon / 9 it would be ten
    times that.

    Runtime
    -------
    One pass over the data, and forward passes over windows around the ranks whose length does not
    depend on the data.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles" (ICML 2021);
    `docs/several-quantiles.md`.

    Examples
    --------
    >>> import duffdp
    >>> given = {"epsilon": 2.0, "bounds": (0, 1000), "step": 10}
    >>> duffdp.quantiles(range(1000), [0.25, 0.5, 0.75], **given, rng=1).value
    [250, 500, 750]
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, None, rows, mechanism, ledger, rng)
    return run_one("quantiles", {"qs": qs}, *given, interval, covers, simultaneous)
