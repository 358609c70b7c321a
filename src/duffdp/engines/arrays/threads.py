"""Long arrays in stretches side by side, a thread for each core: numpy works without the
interpreter's lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from duffdp.domain import Array

LONG = 2**20  # records of a stretch that is worth a thread
MOST = 8

T = TypeVar("T")


def in_stretches(work: Callable[[Array], T], array: Array) -> list[T]:
    """What `work` finds in each stretch of an array; the stretches together are the array."""
    many = min(len(array) // LONG, cores(), MOST)
    if many < 2:
        return [work(array)]
    from concurrent.futures import ThreadPoolExecutor  # it takes a while to load

    edges = [len(array) * i // many for i in range(many + 1)]
    stretches = [array[begin:end] for begin, end in pairwise(edges)]
    with ThreadPoolExecutor(many - 1) as threads:  # this one works as well
        others = threads.map(work, stretches[1:])
        return [work(stretches[0]), *others]


def side_by_side(work: Callable[..., T], *pieces: Sequence[Any]) -> list[T]:
    """What `work` finds for each of several pieces, in their order; if some fail, the error of the
    first of them.
    """
    many = min(len(pieces[0]), cores(), MOST)
    if many < 2:
        return list(map(work, *pieces))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(many) as threads:
        return list(threads.map(work, *pieces))  # what is not begun is left after an error


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
