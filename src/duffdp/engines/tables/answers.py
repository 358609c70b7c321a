"""Counts as engines that run queries answer them."""

from __future__ import annotations

from typing import Any

import numpy as np

from duffdp.domain import Ints


def added_up(group: Ints, part: Ints, index: Ints, count: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Counts of the same index in the same group made one: a group may be spelled in several
    ways.
    """
    new = np.ones(len(index), dtype=bool)
    new[1:] = (group[1:] != group[:-1]) | (part[1:] != part[:-1]) | (index[1:] != index[:-1])
    if new.all():
        return group, part, index, count
    begin = new.nonzero()[0]
    return group[begin], part[begin], index[begin], np.add.reduceat(count, begin)


def whole(values: Any) -> Ints:
    """Whole numbers from whatever an engine returns them as."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return values.astype(np.int64)
    return np.array([int(value) for value in values], dtype=np.int64)
