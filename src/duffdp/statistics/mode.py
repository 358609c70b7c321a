"""The mode."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Domain
from duffdp.engines.arrays import array_source, read
from duffdp.engines.source import Question, Tally
from duffdp.steps import Batch, StepFunction, merged


class Mode:
    """The most common value; with ties every one of them counts as a mode.

    Parameters
    ----------
    rate
        The coefficient c over epsilon. 1 is safe because one record moves one count in one
        direction; the paper's own mechanism uses 1/2.

    Privacy
    -------
    The distance is the largest count minus the count of the candidate; its range over one record is
    1 (`tests/neighbours_test.py`). Records outside the public domain are clamped (grid) or dropped
    (categories).

    Utility
    -------
    Grows by 1 for every record by which a candidate is behind.

    Runtime
    -------
    One counting pass; on a grid with many candidates a sort.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Mode().steps(["a", "b", "b"], duffdp.Categories(["a", "b", "c"]))
    >>> [steps.distance_at(x) for x in "abc"]
    [1, 0, 2]
    """

    unit = Fraction(1)

    def __init__(self, rate: Fraction | int = 1) -> None:
        self.rate = Fraction(rate)

    def steps(self, values: Any, domain: Domain) -> StepFunction:
        """The distance of every candidate of the domain."""
        return self.window(array_source(read(values), domain), domain)

    def question(self, max_distance: float) -> Question:
        """What it needs to know: the counts of all values."""
        return Question(tally=True)

    def window(self, column: Tally, domain: Domain, max_distance: float = 0.0) -> StepFunction:
        """The whole step function, as a mode needs the counts of all values."""
        index, count = column.tally()
        many = len(index)
        start, size, records = np.zeros((3, 2 * many + 1), dtype=np.int64)
        start[1::2] = index
        np.add(index, 1, out=start[2::2])
        np.subtract(start[1:], start[:-1], out=size[:-1])
        size[-1] = domain.size - start[-1]
        records[1::2] = count
        return StepFunction(
            domain, *merged(start, size, records.max() - records), self.unit, self.rate
        )

    def windows(self, columns: Sequence[Tally], domain: Domain, max_distance: float) -> Batch:
        """The windows of several columns side by side."""
        return Batch.of([self.window(column, domain, max_distance) for column in columns])

    def __repr__(self) -> str:
        return f"Mode(rate={self.rate})"
