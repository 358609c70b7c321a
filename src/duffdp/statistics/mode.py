"""The mode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np

from duffdp.domain import Domain, Ordered
from duffdp.engines.arrays import array_source, read
from duffdp.engines.source import Classed, Question, Tally
from duffdp.steps import Batch, StepFunction, filled, merged

FEW = 16  # columns that are asked one by one
LISTED = 2**16  # candidates whose counts are fetched one by one, wherever records live


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
    One counting pass; on a grid with many candidates a sort, or in lazy tables a query that counts
    candidates by their number of records and one that finds the candidate.

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
        if isinstance(domain, Ordered) and domain.size > LISTED and _classed(columns):
            return self._by_class(columns, domain)
        return Batch.of([self.window(column, domain, max_distance) for column in columns])

    def _by_class(self, columns: Sequence[Classed], domain: Domain) -> Batch:
        """Candidates in the order of their records: all with equally many are one run."""
        classes = [column.classes() for column in columns]
        steps = []
        for records, many in classes:
            start = np.cumsum(many) - many
            runs = filled(start, many, records.max() - records)
            steps.append(StepFunction(domain, *runs, self.unit, self.rate))

        def candidates_of(positions: list[int]) -> list[int]:
            asked = []
            for column, (records, many), position in zip(columns, classes, positions, strict=True):
                upto = np.cumsum(many)
                at = int(np.searchsorted(upto, position, side="right"))
                asked.append((column, int(records[at]), position - int(upto[at] - many[at])))
            return columns[0].candidates(asked)

        return replace(Batch.of(steps), candidates_of=candidates_of)

    def __repr__(self) -> str:
        return f"Mode(rate={self.rate})"


def _classed(columns: Sequence[Tally]) -> TypeGuard[Sequence[Classed]]:
    """Whether columns tell how many candidates have how many records, without naming them: each
    takes a query of its own then.
    """
    return len(columns) <= FEW and all(hasattr(column, "classes") for column in columns)
