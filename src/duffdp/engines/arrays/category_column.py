"""The records of one array by category."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from duffdp.domain import Array, Categories, Ints, Membership
from duffdp.domain.reading import EPOCH, FINER
from duffdp.engines.arrays.records import Records

CHUNK = 2**16
# Equal records of these types equal the same categories, so that they can be counted together.
_COUNTED = frozenset({str, bytes, int, float, bool, type(None)})
_NO_PYTHON_TIME = object()  # present, and equal to no category


class CategoryColumn:
    """The records of one array that fall into categories, or among some values and elsewhere;
    others are dropped.
    """

    def __init__(self, records: Records, categories: Categories | Membership) -> None:
        self._array, self._categories = records.array, categories

    def tally(self) -> tuple[Ints, Ints]:
        """Every category with records, and how many."""
        counts = np.zeros(self._categories.size, dtype=np.int64)
        for begin in range(0, len(self._array), CHUNK):
            for record, number in _value_counts(self._array[begin : begin + CHUNK]):
                if (place := self._categories.record_index(record)) >= 0:
                    counts[place] += number
        index = counts.nonzero()[0]
        return index, counts[index]


def _value_counts(part: Array) -> Iterable[tuple[Any, int]]:
    if part.dtype.kind in "iubmM":
        value, count = np.unique(part, return_counts=True)
        return zip(map(_as_python, value), count.tolist(), strict=True)
    records = part.tolist()
    if _COUNTED.issuperset(map(type, records)):
        return Counter(records).items()
    return ((_as_python(record), 1) for record in records)


def _as_python(record: Any) -> Any:
    """A numpy scalar as the Python value it equals; None if it is missing."""
    if not issubclass(type(record), np.generic):  # isinstance would ask the record itself
        return record
    value = record.item()
    if not isinstance(record, np.datetime64 | np.timedelta64) or not isinstance(value, int):
        return value
    unit, many = np.datetime_data(record.dtype)
    micros, rest = divmod(int(record.view(np.int64)) * many, FINER.get(unit, 1))
    if rest or unit not in FINER:
        return _NO_PYTHON_TIME
    span = dt.timedelta(microseconds=micros)
    return EPOCH + span if isinstance(record, np.datetime64) else span
