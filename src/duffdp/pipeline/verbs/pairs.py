"""Statistics of pairs of numbers."""

from __future__ import annotations

from typing import Any

from duffdp.errors import DuffError
from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Rows, run_one


def slope(
    x: Any,
    y: Any,
    *,
    epsilon: float,
    bounds: Any = None,
    step: Any = None,
    data: Any = None,
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
    """A private slope of y over x: by how much y rises where x rises by one.

    It is that of Theil and Sen, the median of the slopes of all pairs of records that differ in x:
    up to 29 % of the records may be anything without much effect on it.

    Parameters
    ----------
    x
        An array, series or list of numbers; or the name of a column of `data`.
    y
        The same beside x. A record counts if both of its numbers are there. They need no bounds;
        numbers beyond 2**300 count as that.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    bounds
        `(lower, upper)`, public: from knowledge of the subject, never from the data. Or a
        `Grid`; where nobody knows bounds, `Digits` for medians, quantiles and modes.
    step
        Distance between possible slopes. None: about 2**40 candidates.
    data
        A frame (pandas, polars, pyarrow, DuckDB, Spark, dask, ibis) or the path of a file, a folder
        or a table, where x and y are the names of columns.
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
        "best": permute-and-flip, with the distance in sixteenths of a record. "duff": the paper's
        exponential mechanism, with the distance in whole records.
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
    Pure epsilon-differential privacy; neighbours differ by one record (a pair), or by one person
    with `unit`. The bounds of the slope are public; how many records there are is private.

    Utility
    -------
    The answer is the slope of data that differ from these in a few 1/epsilon records: it errs by
    about 1 / (f n epsilon), where f is the density of the slopes of pairs at their median.

    Runtime
    -------
    The numbers of all records come back from an engine, 16 bytes each: for up to about a million.
    About 100 n / epsilon of the pairs of records are listed, in pieces: a few seconds for 100,000
    records at epsilon 1.

    References
    ----------
    Sen, "Estimates of the regression coefficient based on Kendall's tau" (JASA 1968); Alabi,
    McMillan, Sarathy, Smith and Vadhan, "Differentially private simple linear regression" (PETS
    2022); `docs/theory.md`, "Slope".

    Examples
    --------
    >>> import duffdp
    >>> hours = [i % 40 for i in range(400)]
    >>> wages = [12 * hour + i % 7 for i, hour in enumerate(hours)]
    >>> duffdp.slope(hours, wages, epsilon=1.0, bounds=(0, 50), step=0.1, rng=1).value
    12.0
    """
    named = isinstance(x, str) and isinstance(y, str)
    if named == (data is None):
        raise DuffError(
            "x and y are two arrays, or the names of two columns of data. Pass for example "
            'slope("height", "weight", data=people, ...).'
        )
    columns = {"x": x, "y": y} if named else {}
    rows = Rows(None, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    both = data if named else (x, y)
    given = (both, epsilon, bounds, step, None, rows, mechanism, ledger, rng, interval)
    return run_one("slope", columns, *given)
