"""Windows against whole step functions."""

from __future__ import annotations

import numpy as np


def same(whole, cut, few=30):
    """Compare a window with the whole, candidate by candidate at all run ends and at places
    between."""
    tail = cut.tail
    ends = np.unique(
        np.concatenate(
            [whole.start, whole.start + whole.count - 1, cut.start, cut.start + cut.count - 1]
        )
    )
    inside = (
        (ends >= cut.start[0]) & (ends <= cut.start[-1])
        if len(cut.start)
        else np.zeros(len(ends), dtype=bool)
    )
    outside = np.random.default_rng(3).permutation(ends[~inside])[
        :few
    ]  # the tail reads all records for each
    for index in [*ends[inside].tolist(), *outside.tolist()]:
        assert cut.distance_of(index) == whole.distance_of(index)
        if tail is not None and not tail.first <= index <= tail.last:
            assert whole.distance_of(index) >= tail.floor
    covered = int(cut.count.sum())
    assert covered + (tail.count if tail else 0) == whole.domain.size
    if tail is not None:
        assert covered == tail.last - tail.first + 1
        ends = [
            tail.candidate(i)
            for i in {0, tail.count - 1, max(tail.first - 1, 0), min(tail.first, tail.count - 1)}
        ]
        assert all(not tail.first <= i <= tail.last for i in ends)
        assert {tail.candidate(0), tail.candidate(tail.count - 1)} <= {
            0,
            tail.last + 1,
            tail.first - 1,
            whole.domain.size - 1,
        }
