"""Arrays and lists, and the engines that count them."""

from __future__ import annotations

import numpy as np

from duffdp._engines.arrays.cells import CellEngine
from duffdp._engines.arrays.column import wrong_kind
from duffdp._engines.arrays.engine import ArrayEngine
from duffdp._engines.arrays.records import Records, read_array
from duffdp._engines.requests import Engine, ValueCounts, ask, run_inquiry
from duffdp.domain import Ints, Ordered, PublicSet

__all__ = [
    "ArrayEngine",
    "CellEngine",
    "Records",
    "array_engine",
    "read_array",
    "value_counts",
    "wrong_kind",
]


def array_engine(records: Records, domain: PublicSet) -> Engine:
    """The engine that counts the records of an array on a domain."""
    if isinstance(domain, Ordered):
        return ArrayEngine(records, domain)
    return CellEngine.of_array(records, domain)


def value_counts(values: object, domain: PublicSet) -> tuple[Ints, Ints]:
    """Distinct indices of the records of any one-dimensional container, with their counts."""
    engine = array_engine(read_array(values), domain)
    return run_inquiry(ask(ValueCounts()), engine, np.zeros(1, dtype=np.int64)).group(0)
