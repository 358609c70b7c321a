"""A whole distribution from one draw."""

from __future__ import annotations

from typing import Any

from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Rows, run_one


def distribution(
    data: Any,
    *,
    epsilon: float,
    bounds: Any,
    step: Any = None,
    column: str | None = None,
    by: Any = None,
    keys: Any = None,
    where: str | None = None,
    unit: str | None = None,
    contributions: int = 1,
    groups_per_person: int | None = None,
    confidence: float = 0.95,
    mechanism: str = "best",
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """A private distribution: all quantiles and shares, with a band around them.

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
    confidence
        How often the band holds the exact shares, all at once: up to 0.999.
    mechanism
        "best", and no other.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a `Distribution`; with groups a dictionary of them, by key.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. The number of records is private too. Up to 513 candidates are all counted, with noise
    at the whole epsilon; of more of them, cells are counted in four stages, the cells of each
    chosen by the noisy counts of the one before, and the shares of epsilon add up. Whatever is
    asked of the distribution costs nothing.

    Utility
    -------
    For 1,000 records at epsilon 1 the largest error of a share is about 0.02, half of what sampling
    errs by; `docs/distribution.md` has the table.

    Runtime
    -------
    Four passes over the data, one for few candidates; as many queries of a table that stays where
    it is, and three more for each group.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006); `docs/distribution.md`.

    Examples
    --------
    >>> import duffdp
    >>> ages = [18 + (7 * i * i) % 60 for i in range(5000)]
    >>> found = duffdp.distribution(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value
    >>> found.median, found.quantile(0.9), round(found.mean)
    (46, 70, 48)
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person)
    given = {"confidence": confidence}
    return run_one(
        "distribution", given, data, epsilon, bounds, step, None, rows, mechanism, ledger, rng
    )
