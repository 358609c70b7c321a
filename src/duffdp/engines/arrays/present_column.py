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
        counts = np.array([sum(map(_present, parts))])
        index = counts.nonzero()[0]
        return index, counts[index]


def _present(part: Array) -> int:
    kind = part.dtype.kind
    if kind == "O":
        return sum(map(is_present, part))
    with np.errstate(all="ignore"):
        # A nan comes out on top: one reading, and no more of them where there is none.
        if kind in "cmM" or (kind == "f" and np.isnan(part.max())):
            return int(np.count_nonzero(part == part))  # nan and NaT differ from themselves
    return len(part)
