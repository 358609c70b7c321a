"""The numbers of candidates with equally many records, and any such candidate by its position,
without fetching all candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from duffdp._engines.arrays.engine import candidate_at
from duffdp._engines.libraries import Frame
from duffdp._engines.queries.expressions import rounded_down
from duffdp._engines.queries.names import COUNT, GROUP, INDEX, INDEXES, WIDTH
from duffdp._engines.queries.rows import QueryRows, whole_numbers
from duffdp.domain import Ints
from duffdp.errors import UnsupportedData

BUCKET_BITS = 8  # so finely is told where candidates lie, and less so for each of many groups
MAX_FETCHED = 2**16  # candidates with records that are fetched one by one


class CountTable(NamedTuple):
    """A range of candidates of one group in buckets of 2**shift: for each bucket and number of
    records, the number of candidates with that many. Those without a record are not listed.
    """

    low: int
    high: int
    shift: int
    bucket: Ints
    records: Ints
    candidates: Ints

    def counts_of_counts(self) -> tuple[Ints, Ints]:
        """Numbers of records from 0 on, and how many candidates have each."""
        records, at = np.unique(self.records, return_inverse=True)
        candidates = np.bincount(at, self.candidates, minlength=len(records)).astype(np.int64)
        empty = self.high - self.low + 1 - int(candidates.sum())
        return np.append(0, records), np.append(empty, candidates)

    def narrow(self, records: int, position: int) -> tuple[int, int, int, int]:
        """The bucket of the candidate at a position among those with so many records: its ends, how
        many candidates there have records, and the position there.
        """
        matches = self.records == records
        bucket, candidates = self.bucket[matches], self.candidates[matches]
        if not records:
            bucket, candidates = self._empty_candidates()
        cumulative = np.cumsum(candidates)
        at = int(np.searchsorted(cumulative, position, side="right"))
        if at == len(cumulative):
            raise _changed()
        low = int(bucket[at])
        high = min(low + 2**self.shift - 1, self.high)
        inside = int(self.candidates[(self.bucket >= low) & (self.bucket <= high)].sum())
        return low, high, inside, position - int(cumulative[at] - candidates[at])

    def _empty_candidates(self) -> tuple[Ints, Ints]:
        """All buckets with the number of candidates of each that have no record."""
        first = np.unique(self.bucket)
        occupied = np.bincount(np.searchsorted(first, self.bucket), self.candidates).astype(
            np.int64
        )
        step = 2**self.shift
        starts = np.arange(self.low, self.high + 1, step)
        width = np.minimum(starts + step - 1, self.high) - starts + 1
        width[(first - self.low) // step] -= occupied
        return starts, width


def count_tables(rows: QueryRows, column: int, groups: Sequence[int]) -> list[CountTable]:
    """Number of candidates by their number of records, for some groups, in coarse buckets: one
    query.
    """
    nw, size = rows.nw, rows.sizes[column]
    bits = max(1, BUCKET_BITS - len(groups).bit_length() // 2)
    shift = max(0, (size - 1).bit_length() - bits)
    limits = None if len(groups) == rows.groups else {GROUP: list(groups)}
    frame, by = rows.in_groups(rows.column_rows(column), limits)
    frame = _by_candidate(rows, frame, column, by)
    if by and by == rows.by:
        # A group may be spelled in several ways.
        frame = rows.join_keys(frame).group_by(GROUP, INDEX).agg(nw.col(COUNT).sum())
        by = [GROUP]
    fetched = _fetch(rows, _by_count(rows, frame, shift, by))
    group = fetched[GROUP] if by else np.zeros_like(fetched[INDEX])
    order = np.lexsort((fetched[INDEX], group))
    columns = [fetched[name][order] for name in (INDEX, COUNT, WIDTH)]
    spans = (slice(*np.searchsorted(group[order], (g, g + 1))) for g in groups)
    return [CountTable(0, size - 1, shift, *(array[span] for array in columns)) for span in spans]


def find_candidate(
    rows: QueryRows, column: int, group: int, table: CountTable, records: int, position: int
) -> int:
    """The candidate at a position among those with so many records, by a query or two."""
    index = rows.nw.col(INDEXES.format(column))
    limits = None if rows.groups == 1 else {GROUP: [group]}
    while True:
        low, high, inside, position = table.narrow(records, position)
        if not inside or table.shift == 0:
            return low + position
        frame, _ = rows.in_groups(rows.column_rows(column, low, high), limits)
        frame = frame.filter((index >= low) & (index <= high))
        frame = _by_candidate(rows, frame, column, [])
        if inside <= MAX_FETCHED:
            fetched = _fetch(rows, frame)
            order = np.argsort(fetched[INDEX])
            values, counts = fetched[INDEX][order] - low, fetched[COUNT][order]
            try:
                return low + candidate_at(values, counts, records, position)
            except IndexError:
                raise _changed() from None
        shift = max(0, table.shift - BUCKET_BITS)
        fetched = _fetch(rows, _by_count(rows, frame, shift, []))
        order = np.argsort(fetched[INDEX])
        columns = (fetched[name][order] for name in (INDEX, COUNT, WIDTH))
        table = CountTable(low, high, shift, *columns)


def _by_candidate(rows: QueryRows, frame: Frame, column: int, by: Sequence[str]) -> Frame:
    index = rows.nw.col(INDEXES.format(column)).alias(INDEX)
    return frame.select(*by, index).group_by(*by, INDEX).agg(rows.nw.len().alias(COUNT))


def _by_count(rows: QueryRows, frame: Frame, shift: int, by: Sequence[str]) -> Frame:
    """Number of candidates of each bucket by their number of records."""
    bucket = rounded_down(rows.nw.col(INDEX), shift).alias(INDEX)
    frame = frame.with_columns(bucket) if shift else frame
    return frame.group_by(*by, INDEX, COUNT).agg(rows.nw.len().alias(WIDTH))


def _fetch(rows: QueryRows, frame: Frame) -> dict[str, Ints]:
    return {name: whole_numbers(values) for name, values in rows.fetch(frame).items()}


def _changed() -> UnsupportedData:
    return UnsupportedData("the data changed between two queries. Copy the data and use the copy.")
