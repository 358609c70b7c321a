"""Candidates of tables by how many records they have: how many there are of each kind, and any one
of them by its position, without fetching them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Ints
from duffdp.domain.snapping import rounded_down
from duffdp.engines.tables.descent import LazyColumn, answered, whole
from duffdp.engines.tables.lazy_rows import LazyRows
from duffdp.engines.tables.names import COUNT, GROUP, INDEX, WIDTH
from duffdp.errors import UnsupportedData

BUCKETS = 8  # bits: so finely is told where candidates lie, and less so for each of many groups
FETCHED = 2**16  # as many candidates with records as this are fetched one by one


class Member(NamedTuple):
    """A candidate of a group: which one, in order, of all that have so many records."""

    group: int
    records: int
    position: int


class _Part(NamedTuple):
    """A range of candidates of one group in buckets of 2**shift, in order: for each bucket and
    number of records, how many candidates there have so many. Those without a record are not
    listed.
    """

    low: int
    high: int
    shift: int
    bucket: Ints
    records: Ints
    many: Ints

    def narrowed(self, member: Member) -> tuple[int, int, int, int]:
        """The bucket of a member: its ends, how many candidates there have records, and the
        position of the member there.
        """
        chosen = self.records == member.records
        bucket, many = self.bucket[chosen], self.many[chosen]
        if not member.records:
            first = np.unique(self.bucket)
            taken = np.bincount(np.searchsorted(first, self.bucket), self.many).astype(np.int64)
            bucket, many = self._without(first, taken)
        upto = np.cumsum(many)
        at = int(np.searchsorted(upto, member.position, side="right"))
        if at == len(upto):
            raise UnsupportedData("the data changed between two queries. Make a copy of them.")
        low = int(bucket[at])
        high = min(low + 2**self.shift - 1, self.high)
        inside = int(self.many[(self.bucket >= low) & (self.bucket <= high)].sum())
        return low, high, inside, member.position - int(upto[at] - many[at])

    def _without(self, first: Ints, taken: Ints) -> tuple[Ints, Ints]:
        """Buckets with the candidates of each that have no record."""
        step = 2**self.shift
        every = np.arange(self.low, self.high + 1, step)
        width = np.minimum(every + step - 1, self.high) - every + 1
        width[(first - self.low) // step] -= taken
        return every, width


@dataclass
class CountClasses:
    """Rows with INDEX and GROUP in an engine that runs queries.

    One query tells for all groups how many candidates have how many records, by coarse buckets of
    candidates; another one finds a member in its bucket.
    """

    lazy: LazyRows

    def of_group(self, group: int) -> tuple[Ints, Ints]:
        """Numbers of records from 0 on, and how many candidates have each."""
        part = self._parts[group]
        records, at = np.unique(part.records, return_inverse=True)
        many = np.bincount(at, part.many, minlength=len(records)).astype(np.int64)
        none = self.lazy.domain.size - int(many.sum())
        return np.append(0, records), np.append(none, many)

    def candidates(self, members: Sequence[Member]) -> list[int]:
        """The members, each by a query or two."""
        return [self._candidate(member) for member in members]

    def _candidate(self, member: Member) -> int:
        part = self._parts[member.group]
        while True:
            low, high, inside, position = part.narrowed(member)
            if not inside or part.shift == 0:
                return low + position
            member = member._replace(position=position)
            rows = self.lazy.of_group(member.group)
            index = self.lazy.nw.col(INDEX)
            rows = self._by_candidate(rows.filter((index >= low) & (index <= high)), [])
            if inside <= FETCHED:
                return self._member(rows, member, low)
            shift = max(0, part.shift - BUCKETS)
            got = self._fetch(self._by_class(rows, shift, []))
            order = np.argsort(got[INDEX])
            part = _Part(low, high, shift, *(got[name][order] for name in (INDEX, COUNT, WIDTH)))

    def _member(self, rows: Any, member: Member, low: int) -> int:
        """A member among the fetched candidates of a bucket."""
        got = self._fetch(rows)
        order = np.argsort(got[INDEX])
        index, records = got[INDEX][order], got[COUNT][order]
        if member.records:
            found = index[records == member.records]
            if member.position >= len(found):
                raise UnsupportedData("the data changed between two queries. Make a copy of them.")
            return int(found[member.position])
        # So many candidates without a record lie before each of those with one.
        before = index - low - np.arange(len(index))
        return low + member.position + int(np.searchsorted(before, member.position, side="right"))

    @cached_property
    def _parts(self) -> list[_Part]:
        """All candidates of every group."""
        lazy = self.lazy
        size = lazy.domain.size
        bits = max(1, BUCKETS - lazy.groups.bit_length() // 2)
        shift = max(0, (size - 1).bit_length() - bits)
        by = [GROUP] if lazy.groups > 1 else []
        rows = self._by_candidate(lazy.counted, lazy.by if lazy.late else by)
        if lazy.late:
            # A group may be spelled in several ways.
            rows = lazy.joined(rows).group_by(GROUP, INDEX).agg(lazy.nw.col(COUNT).sum())
        got = self._fetch(self._by_class(rows, shift, by))
        group = got[GROUP] if by else np.zeros_like(got[INDEX])
        order = np.lexsort((got[INDEX], group))
        group = group[order]
        bucket, records, many = (got[name][order] for name in (INDEX, COUNT, WIDTH))
        cuts = np.searchsorted(group, np.arange(lazy.groups + 1))
        own = [slice(*cuts[g : g + 2]) for g in range(lazy.groups)]
        return [_Part(0, size - 1, shift, bucket[g], records[g], many[g]) for g in own]

    def _by_candidate(self, rows: Any, by: list[str]) -> Any:
        return rows.group_by(*by, INDEX).agg(self.lazy.nw.len().alias(COUNT))

    def _by_class(self, rows: Any, shift: int, by: list[str]) -> Any:
        """How many candidates of each bucket have how many records."""
        bucket = rounded_down(self.lazy.nw.col(INDEX), shift).alias(INDEX)
        rows = rows.with_columns(bucket) if shift else rows
        return rows.group_by(*by, INDEX, COUNT).agg(self.lazy.nw.len().alias(WIDTH))

    def _fetch(self, rows: Any) -> dict[str, Ints]:
        got = answered(self.lazy.engine.fetch, rows)
        return {name: whole(values) for name, values in got.items()}


@dataclass(frozen=True, slots=True)
class ClassedColumn(LazyColumn):
    """One group of a lazy table that tells its candidates by how many records they have."""

    counts: CountClasses

    def classes(self) -> tuple[Ints, Ints]:
        """Numbers of records, 0 among them, and how many candidates have each."""
        return self.counts.of_group(self.group)

    def candidates(self, asked: Sequence[tuple[ClassedColumn, int, int]]) -> list[int]:
        """For several columns of one table a number of records and a position: the candidate at
        this position among all with so many records.
        """
        return self.counts.candidates([Member(column.group, *each) for column, *each in asked])
