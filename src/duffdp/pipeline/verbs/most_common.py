"""The most common values: one of them, or several in order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Rows, run_one


def mode(
    data: Any,
    *,
    epsilon: float,
    categories: Iterable[Any] | None = None,
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
    """A private most common value.

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow,
        DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with
        `column`. Missing records are dropped, others clamped to the bounds.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    categories
        The public list of possible values; records with another value are dropped. Or else
        `bounds`.
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
        "best": permute-and-flip with the full epsilon. "duff": the paper's exponential mechanism
        with epsilon/2.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a category, or a candidate between the bounds; with `by` a frame of keys
        and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. The categories are public.

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
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, categories, rows, mechanism, ledger, rng, interval)
    return run_one("mode", {}, *given)


def top(
    data: Any,
    k: int,
    *,
    epsilon: float,
    categories: Iterable[Any] | None = None,
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
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """The private order of the k most common values.

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow,
        DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with
        `column`. Missing records are dropped, others clamped to the bounds.
    k
        How many values: from 1 to the number of possible ones.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    categories
        The possible values, public. Records with another value are dropped. Either this or
        `bounds`.
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
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a list of k different values, the most common one first.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. All counts get noise for one epsilon, and their order costs no more.

    Utility
    -------
    Two values whose counts are g apart change places with a probability of about
    (2 + epsilon g) / 4 exp(-epsilon g), whatever k is; for k = 1 it is the mode. Drawing one place
    after another divides epsilon by k and is right less often.

    Runtime
    -------
    One pass over the data, and noise for every possible value: at most 2**20 of them.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006); Gillenwater, Joseph, Munoz Medina and Ribero, "A joint exponential mechanism for
    differentially private top-k" (ICML 2022); `docs/theory.md`, "The most common values".

    Examples
    --------
    >>> import duffdp
    >>> visits = ["north"] * 300 + ["south"] * 500 + ["east"] * 100
    >>> duffdp.top(visits, 2, categories=["north", "south", "east"], epsilon=1.0, rng=1).value
    ['south', 'north']
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, bounds, step, categories, rows, "best", ledger, rng, interval)
    return run_one("top", {"k": k}, *given)
