"""The records of one array in bins."""

from __future__ import annotations

import numpy as np

from duffdp.domain import Array, Bins, Ints, Membership
from duffdp.domain.membership import INSIDE, OUTSIDE
from duffdp.engines.arrays.keyed_array import KeyedArray
from duffdp.engines.arrays.records import Records


class BinColumn:
    """The records of one array that lie in bins, or in one and outside of it; others are dropped.

    Records are put into bins one by one as they pass.
    """

    def __init__(self, records: Records, domain: Bins | Membership) -> None:
        bins = domain.among if isinstance(domain, Membership) else domain
        assert isinstance(bins, Bins)
        self._domain, self._bins, self._array = domain, bins, records.array
        self._keyed = None if records.array.dtype.kind == "O" else KeyedArray(records.array, bins)

    def tally(self) -> tuple[Ints, Ints]:
        """Every cell with records, and how many."""
        if self._keyed is None:
            found = self._of_objects(self._array)
            counts = np.bincount(found[found >= 0], minlength=self._domain.size)
        else:
            reached = np.zeros(self._bins.size + 2, dtype=np.int64)
            for keys in self._keyed.chunks():
                reached += np.bincount(self._bins.thresholds.reached(keys), minlength=len(reached))
            counts = reached[1:-1]  # in each bin; what is before and after all of them lies outside
            if self._domain is not self._bins:
                counts = np.array([counts.sum(), reached[0] + reached[-1]])
        index = counts.nonzero()[0]
        return index, counts[index]

    def indices(self) -> Ints:
        """The cell of every record in order, -1 for those that are dropped."""
        if self._keyed is None:
            return self._of_objects(self._array)
        present, keys = self._keyed.present_keys()
        index = np.full(len(self._array), -1, dtype=np.int64)
        index[present] = self._cells(keys)
        return index

    def _cells(self, keys: Array) -> Ints:
        """The cell of every key."""
        found = self._bins.snap(keys)
        return np.where(found >= 0, INSIDE, OUTSIDE) if self._domain is not self._bins else found

    def _of_objects(self, array: Array) -> Ints:
        return np.fromiter(map(self._domain.record_index, array), dtype=np.int64, count=len(array))
