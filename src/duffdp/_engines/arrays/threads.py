"""Work on all cores in threads, because numpy releases the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from duffdp.domain import Array

MIN_STRETCH = 2**20  # records that are worth a thread
MAX_THREADS = 8

T = TypeVar("T")


def map_stretches(work: Callable[[Array], T], array: Array) -> list[T]:
    """The results of `work` for stretches of an array, which together are the array."""
    count = min(len(array) // MIN_STRETCH, cores(), MAX_THREADS)
    if count < 2:
        return [work(array)]
    from concurrent.futures import ThreadPoolExecutor  # it takes a while to load

    edges = [len(array) * i // count for i in range(count + 1)]
    first, *others = (array[begin:end] for begin, end in pairwise(edges))
    # This thread works as well: two new threads often begin on the same core, and a sum of 1e7
    # doubles then takes 1.7 times as long.
    with ThreadPoolExecutor(count - 1) as threads:
        results = threads.map(work, others)
        return [work(first), *results]


def parallel_map(work: Callable[..., T], *pieces: Sequence[Any]) -> list[T]:
    """The results of `work` for several pieces, in order; if some fail, the first error."""
    count = min(len(pieces[0]), cores(), MAX_THREADS)
    if count < 2:
        return list(map(work, *pieces))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(work, *pieces))  # after an error, no other piece is begun


def cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
