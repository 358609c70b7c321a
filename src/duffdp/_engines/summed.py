"""Engine that adds up the counts of the groups that a larger group combines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from duffdp._engines.requests import (
    Answer,
    ColumnRequest,
    Engine,
    GroupedCounts,
    LevelSums,
    Request,
    Sums,
    ValueCounts,
)
from duffdp.domain import Ints


class SummedEngine:
    """Groups that combine groups of another engine: `places` has the combined group of each of
    them.
    """

    def __init__(self, engine: Engine, places: Sequence[int]) -> None:
        self._engine = engine
        self._parts: list[list[int]] = [[] for _ in range(max(places) + 1)]
        for part, group in enumerate(places):
            self._parts[group].append(part)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self._parts)

    @property
    def max_records(self) -> int:
        """Number of records of the largest group, or more."""
        return self._engine.max_records * max(map(len, self._parts))

    def blocks(self) -> list[Ints]:
        """All groups in one piece."""
        return [np.arange(self.groups)]

    def answer(self, requests: Sequence[ColumnRequest]) -> list[Answer]:
        """One answer for each request, of the sums and counts that add up."""
        asked, sizes = [], []
        for column, groups, request in requests:
            parts = [self._parts[group] for group in groups.tolist()]
            sizes.append(list(map(len, parts)))
            every = np.array([part for several in parts for part in several], dtype=np.int64)
            asked.append(ColumnRequest(column, every, request))
        answers = self._engine.answer(asked)
        return [
            _added(request, answer, counts)
            for (_, _, request), answer, counts in zip(requests, answers, sizes, strict=True)
        ]


def _added(request: Request[Answer], answer: Answer, sizes: Sequence[int]) -> Answer:
    """The answers about so many parts each, added up."""
    ends = np.cumsum(sizes)
    pairs = list(zip((ends - sizes).tolist(), ends.tolist(), strict=True))
    if isinstance(request, LevelSums):
        sums = cast(list[Sums], answer)
        return [Sums(*map(sum, zip(*sums[begin:end], strict=True))) for begin, end in pairs]
    assert isinstance(request, ValueCounts)
    assert isinstance(answer, GroupedCounts)
    parts = answer.split()
    return GroupedCounts.join(_merged(parts[begin:end]) for begin, end in pairs)


def _merged(parts: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Distinct values with their counts, from those of several groups."""
    values, place = np.unique(np.concatenate([values for values, _ in parts]), return_inverse=True)
    counts = np.zeros(len(values), dtype=np.int64)
    np.add.at(counts, place, np.concatenate([counts for _, counts in parts]))
    return values, counts
