"""Any statistic, a caller's own one too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Rows, run_one


def release(
    statistic: Any,
    data: Any,
    *,
    epsilon: float,
    bounds: Any = None,
    step: Any = None,
    categories: Iterable[Any] | None = None,
    column: str | None = None,
    by: Any = None,
    keys: Any = None,
    where: str | None = None,
    unit: str | None = None,
    contributions: int = 1,
    groups_per_person: int | None = None,
    suppress_below: int | None = None,
    mechanism: str = "best",
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """A private release of any statistic, with groups, people and a ledger.

    Parameters
    ----------
    statistic
        An object with `steps(values, domain)` that returns a `StepFunction`: one of
        `duffdp.statistics`, or your own. `values` is the list of the clamped and snapped records of
        one group.
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
    categories
        The public list of possible values, in place of `bounds`.
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
    mechanism
        "best": permute-and-flip. "duff": the exponential mechanism.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is one of the candidates; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy, if the statistic keeps its promise: when one record joins or
    leaves, `max(change) - min(change)` of its distances, times `unit`, is at most 1 / `rate`.
    `duffdp.testing.check_statistic` searches for a counterexample.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definition 6; `docs/your-own-statistic.md`.

    Examples
    --------
    >>> import duffdp
    >>> third = duffdp.statistics.Quantile(0.75, utility="rank")
    >>> duffdp.release(third, range(1000), epsilon=5.0, bounds=(0, 1000), step=10, rng=1).value
    750
    """
    rows = Rows(column, by, keys, where, unit, contributions, groups_per_person, suppress_below)
    return run_one(
        statistic, {}, data, epsilon, bounds, step, categories, rows, mechanism, ledger, rng
    )
