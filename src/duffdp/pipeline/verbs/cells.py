"""Counts: of all records, of those in a public set, in bins and categories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Rows, run_one


def count(
    data: Any,
    *,
    epsilon: float,
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
    """A private number of rows or of people.

    Without a `unit` it is the number of rows: all rows of a table, whatever is in them, or with a
    `column` those where it is not missing. With a `unit` it is the number of people: each counts
    once, over all groups together, in that of one of their rows. With `contributions=m` above 1 it
    is the number of their rows, of which m a person count at most.

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow,
        DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with
        `column`. Missing records are dropped, one by one.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
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
        `value` is a whole number of 0 or more: what the noise takes below 0 is 0.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`.

    Utility
    -------
    Errs by about 1 / epsilon, whatever the number is; with `contributions` m times that.

    Runtime
    -------
    One pass over the data; one query of a table that stays where it is.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms" (STOC
    2009); `docs/theory.md`, "Counts in cells".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.count([31, 35, None, 40] * 1000, epsilon=1.0, rng=1).value
    3000
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    given = (data, epsilon, None, None, None, rows, "best", ledger, rng)
    return run_one("count", {}, *given, interval, "data", simultaneous)


def share(
    data: Any,
    *,
    epsilon: float,
    values: Iterable[Any] | None = None,
    between: Any = None,
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
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """A private share of the records that are among some values, or lie between two ends.

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow,
        DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with
        `column`. Missing records are dropped, one by one.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    values
        The values that a record is among, public: of all records that are not missing. Either
        this or `between`.
    between
        `(lower, upper)`, public, both ends included: numbers, dates or datetimes, of which the
        first may be -inf or the last inf. Records that are no numbers (or dates) are dropped.
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
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a number from 0 to 1.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. The number of records is private too. A record is inside or outside, so that both counts
    together move by 1 and each gets noise at the whole epsilon; the share is made of these.

    Utility
    -------
    Errs by about 0.75 to 1 / (epsilon n) for n records. Where the noise leaves none, it is 0.5.

    Runtime
    -------
    One pass over the data; one query of a table that stays where it is.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006); `docs/theory.md`, "Counts in cells".

    Examples
    --------
    >>> import duffdp
    >>> ages = [12, 31, 35, 40] * 1000
    >>> round(duffdp.share(ages, between=(0, 17), epsilon=1.0, rng=1).value, 3)
    0.25
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    own = {"values": values, "between": between}
    given = (data, epsilon, None, None, None, rows, "best", ledger, rng)
    return run_one("share", own, *given, interval, covers, simultaneous)


def histogram(
    data: Any,
    *,
    epsilon: float,
    bins: Iterable[Any] | None = None,
    categories: Iterable[Any] | None = None,
    nonnegative: bool = True,
    adds_up: bool = False,
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
    """Private counts of records in public bins or categories, one epsilon for all of them.

    Parameters
    ----------
    data
        A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow,
        DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with
        `column`. Missing records are dropped, one by one.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    bins
        The edges of bins, public and rising: numbers, dates or datetimes. A bin holds its lower
        edge, the last one its upper edge as well, as in `numpy.histogram`. The first edge may be
        -inf and the last inf. Records outside are dropped. Either this or `categories`.
    categories
        The values that are counted, public. Records with another value are dropped.
    nonnegative
        Whether counts that noise takes below 0 become 0, after the draw: this costs no epsilon,
        and adds a little to the sum of many small counts.
    adds_up
        Whether the counts become the closest ones of 0 and more that add up to what they added up
        to with their noise, after the draw as well: so that their sum is right on average.
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
        `value` is a dictionary from the label of a cell, such as "[0, 18)", to its count; with
        groups a column a cell.

    Privacy
    -------
    Pure epsilon-differential privacy for all cells together; neighbours differ by one record, or by
    one person with `unit`. One record is in one cell at most, so that each count gets noise at the
    whole epsilon.

    Utility
    -------
    Each count errs by about 1 / epsilon, however many cells there are.

    Runtime
    -------
    One pass over the data; one query of a table that stays where it is.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1; Hay, Rastogi, Miklau and Suciu, "Boosting the accuracy of differentially
    private histograms through consistency" (VLDB 2010); `docs/theory.md`, "Counts in cells".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.histogram([3, 17, 30, 64, 65] * 100, bins=[0, 18, 65, 120], epsilon=1.0, rng=1).value
    {'[0, 18)': 200, '[18, 65)': 197, '[65, 120]': 100}
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    own = {"bins": bins, "nonnegative": nonnegative, "adds_up": adds_up}
    given = (data, epsilon, None, None, categories, rows, "best", ledger, rng)
    return run_one("histogram", own, *given, interval, "data", simultaneous)
