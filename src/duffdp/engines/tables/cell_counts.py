"""Counts of records between candidates of a list, in engines that run queries."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Ints
from duffdp.domain.thresholds import Thresholds
from duffdp.engines.tables.lazy_rows import LazyRows
from duffdp.engines.tables.names import COUNT, GROUP, INDEX


def celled(lazy: LazyRows, rows: Any, starts: tuple[int, ...]) -> Any:
    """Rows with INDEX as the number of the cell that it lies in."""
    nw, last = lazy.nw, lazy.domain.size - 1
    cells = Thresholds.of((*map(Fraction, starts), Fraction(last)))
    return rows.with_columns(cells.of_column(nw, nw.col(INDEX), nw.Int64).alias(INDEX))


def by_cell(got: dict[str, Ints], groups: int, cells: int) -> Ints:
    """The answer as a row for each group; a group may be spelled in several ways."""
    found = np.zeros((groups, cells), dtype=np.int64)
    cell = got[INDEX] + (got[GROUP] * cells if groups > 1 else 0)
    np.add.at(found.reshape(-1), cell, got[COUNT])
    return found
