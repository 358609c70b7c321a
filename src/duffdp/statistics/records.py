"""Records in the caller's memory, counted for `steps(values, domain)` and for exact values.

This is the one place where statistics read values themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from duffdp._engines.arrays import array_engine, read_array, value_counts
from duffdp._engines.requests import Engine, GroupedCounts, Inquiry, ValueCounts, ask, run_inquiry
from duffdp.domain import Array, Ints, PublicSet

Result = TypeVar("Result")
ONE_GROUP = np.zeros(1, dtype=np.int64)


def counts_of(values: object, domain: PublicSet) -> GroupedCounts:
    """Distinct indices with their counts, as those of one group."""
    return GroupedCounts.join([value_counts(values, domain)])


def answer_records(inquiry: Inquiry[Result], values: object, domain: PublicSet) -> Result:
    """Run an inquiry about records that a caller holds, as one group."""
    return run_inquiry(inquiry, array_engine(read_array(values), domain), ONE_GROUP)


def exact_counts(engine: Engine) -> tuple[Ints, Ints]:
    """Distinct indices of the records of one group, and their counts: not private."""
    return run_inquiry(ask(ValueCounts()), engine, ONE_GROUP).group(0)


def exact_integers(engine: Engine) -> tuple[Array, Array]:
    """Distinct indices and their counts as integers of Python, whose products do not overflow."""
    index, count = exact_counts(engine)
    return index.astype(object), count.astype(object)


def exact_quantiles(qs: Sequence[Fraction], engine: Engine) -> list[int]:
    """Indices of the records with the ranks max(1, ceil(q n)); 0 without records."""
    index, count = exact_counts(engine)
    cumulative = np.cumsum(count)
    if not len(index):
        return [0] * len(qs)
    ranks = [max(1, math.ceil(q * int(cumulative[-1]))) for q in qs]
    return [int(index[np.searchsorted(cumulative, rank)]) for rank in ranks]
