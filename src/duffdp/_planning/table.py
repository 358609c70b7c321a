"""The table: several statistics of the same groups for one epsilon."""

from __future__ import annotations

from typing import Any

from duffdp._parameters import DATA, LEDGER, RNG, TABLE_OPTIONS
from duffdp._pipeline.signatures import documented
from duffdp._pipeline.table import Table
from duffdp._planning.table_plan import TablePlan


@documented(
    *(DATA, *TABLE_OPTIONS, LEDGER, RNG),
    data=DATA.doc.replace("A one-dimensional array, series or list; or a frame", "A frame").replace(
        ", with `column`", ""
    ),
)
def table(
    data: Any, statistics: Any, *, ledger: Any = None, rng: object = None, **options: Any
) -> Table:
    """A private table: a row for each group, and columns for its count and other statistics.

    Returns
    -------
    Table
        A row for each group. Its columns are the keys, `count`, then `age_median`,
        `age_median_low`, `age_median_high` and so on, and `too_small`.

    Privacy
    -------
    Pure epsilon-differential privacy for all numbers of the table together; neighbors differ by one
    row, or by one person with `unit`. The shares of all releases add up to epsilon. The ledger is
    charged for all of them or none, before a row is read.

    Utility
    -------
    Each statistic has the error of its own function at its share of epsilon. `TablePlan.check`
    lists the shares.

    Runtime
    -------
    At most the sum of the runtimes of its releases. Engines that run queries read the data once for
    several releases.

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
    return TablePlan(statistics, source=data, **options).run(ledger=ledger, rng=rng)
