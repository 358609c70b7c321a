"""The records of one array that are present."""

from __future__ import annotations

import numpy as np

from duffdp.domain import Array, Ints, Presence
from duffdp.domain.presence import is_present
from duffdp.engines.arrays.keyed_array import CHUNK
from duffdp.engines.arrays.records import Records


class PresentColumn:
    """The records of one array that are not missing."""

    def __init__(self, records: Records, domain: Presence) -> None:
        self._array = records.array

    def tally(self) -> tuple[Ints, Ints]:
        """The one cell and how many records are in it; nothing if there are none."""
        parts = (self._array[at : at + CHUNK] for at in range(0, len(self._array), CHUNK))
        found = np.array([sum(map(_present, parts))])
        return found[:0] * 0 if not found[0] else np.zeros(1, dtype=np.int64), found[found > 0]


def _present(part: Array) -> int:
    if part.dtype.kind == "O":
        return sum(map(is_present, part))
    if part.dtype.kind in "fcmM":
        with np.errstate(all="ignore"):
            return int(np.count_nonzero(part == part))  # nan and NaT differ from themselves
    return len(part)
