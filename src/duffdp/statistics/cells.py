"""Numbers of records in the cells of a public domain."""

from __future__ import annotations

import numpy as np

from duffdp._engines.requests import Engine, Inquiry, ValueCounts, ask
from duffdp.domain import Ints, PublicSet
from duffdp.statistics.program import DrawSpec, PostProcess, ReleaseProgram
from duffdp.statistics.records import exact_counts
from duffdp.statistics.statistic import TotalsStatistic


class Cells(TotalsStatistic):
    """The number of records in every cell: each category or bin, the inside and outside of a set,
    or all records.

    Privacy
    -------
    One record is in at most one cell, so all numbers together change by at most 1 when it is added
    or removed (`tests/statistics/cells_test.py`). Not private without noise.

    Runtime
    -------
    One pass over the data; one query of a table in a database.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.statistics.Cells().of_records([3, 18, 65, 70, None], duffdp.Bins([0, 18, 65]))
    (1, 2)
    """

    def totals(self, domain: PublicSet) -> Inquiry[list[tuple[int, ...]]]:
        """The numbers of every group, cell by cell."""
        counts = yield from ask(ValueCounts())
        cells = np.zeros((len(counts.ends), domain.size), dtype=np.int64)
        for row, (index, count) in zip(cells, counts.split(), strict=True):
            row[index] = count
        return list(map(tuple, cells.tolist()))

    def sensitivity(self, domain: PublicSet) -> int:
        """The largest change of all numbers together when one record is added or removed."""
        return 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def cell_program(
    columns: tuple[str, ...], post_process: PostProcess | None = None
) -> ReleaseProgram:
    """The number of records in every cell, with noise."""
    draw = DrawSpec(Cells(), "two-sided-geometric", columns, kind="count")
    return ReleaseProgram((draw,), post_process=post_process)


def exact_cells(engine: Engine, domain: PublicSet) -> Ints:
    """The number of records in every cell without noise: not private."""
    cells = np.zeros(domain.size, dtype=np.int64)
    index, count = exact_counts(engine)
    cells[index] = count
    return cells
