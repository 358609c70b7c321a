"""An array of numbers or moments as keys that can be compared, a piece at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from duffdp.domain import Array, Bins, Keys, Scale
from duffdp.domain.reading import DAY, has_plain_unit, moments
from duffdp.errors import UnsupportedData

CHUNK = 2**17  # 1 MiB of doubles: stays in a cache, and threads seldom wait for each other
_INT64, _UINT64 = np.iinfo(np.int64), np.iinfo(np.uint64)
_INT_MAX = 2**63 - 1


def wrong_kind(dated: bool, given: str, dates: bool) -> str:
    """What is wrong with a column that bounds do not fit."""
    wanted, fix = (
        ("dates or times", "numbers") if dated else ("numbers", "dates, such as 2020-01-31")
    )
    fits = not dated if dates else dated
    other = f", or bounds that are {fix}" if fits else " or convert it"
    return f"these bounds need a column of {wanted}, got {given}. Pass another column{other}."


class KeyedArray:
    """An array, no objects, whose type fits a grid or bins."""

    def __init__(self, array: Array, scale: Scale) -> None:
        if array.dtype.kind not in ("M" if scale.timed else "fiub"):
            raise UnsupportedData(
                wrong_kind(scale.timed, f"dtype {array.dtype}", array.dtype.kind == "M")
            )
        if array.dtype.kind == "M" and not has_plain_unit(array.dtype):
            raise UnsupportedData(
                f"times must count in a unit such as seconds, got dtype {array.dtype}. "
                'Convert them, for example by .astype("datetime64[us]").'
            )
        self._array, self._days, self._clock = array, scale.kind == "date", scale.clock
        # Bins compare whole numbers with whole numbers, whatever their edges are.
        self.integer = array.dtype.kind != "f" and (isinstance(scale, Bins) or scale.whole)
        # uint64 goes beyond int64, which matters only where candidates do as well.
        unsigned = array.dtype.kind == "u" and array.dtype.itemsize == 8
        beyond = self.integer and scale.whole_ends[1] >= _INT_MAX
        self._limits = _UINT64 if unsigned and beyond else _INT64
        self._narrowed = unsigned and not beyond

    def chunks(self, length: int = CHUNK, stretch: Array | None = None) -> Iterator[Keys]:
        """Present records as keys, a cache-sized piece at a time; of a stretch of the array, if
        one is given.
        """
        array = self._array if stretch is None else stretch
        for begin in range(0, len(array), length):
            yield self.keys(array[begin : begin + length])

    def present_keys(self) -> tuple[Array, Keys]:
        """Which records are present, and the keys of these."""
        with np.errstate(all="ignore"):
            present = self._array == self._array  # not nan, not NaT
        return present, self.keys(self._array[present])

    def keys(self, part: Array) -> Keys:
        """The present records of a part of the array as keys."""
        if part.dtype.kind == "M":
            if self._clock is None:
                return moments(part, days=self._days)
            times = self._clock.of_array(moments(part, days=False))
            return times // DAY if self._days else times
        if self.integer:
            if self._narrowed:
                part = np.minimum(part, np.uint64(_INT_MAX))
            return part.astype(self._limits.dtype, copy=False)
        floating = part.dtype.kind == "f"
        if part.dtype != np.float64:
            with np.errstate(all="ignore"):  # a record beyond all doubles is infinite, silently
                part = part.astype(np.float64)
        # A nan comes out on top: one reading, no copy, and nothing that could warn.
        if floating and part.size and math.isnan(part.item(part.argmax())):
            return part[~np.isnan(part)]
        return part
