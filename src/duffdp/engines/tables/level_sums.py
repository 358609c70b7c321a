"""Exact sums of levels and of their squares: one query for all groups, each with levels of its
own.

A few bits are summed at a time where an engine's sums could overflow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duffdp.domain.snapping import rounded_down
from duffdp.engines.source import Levels, LevelSums
from duffdp.engines.tables.lazy_rows import LazyRows
from duffdp.engines.tables.names import COUNT, GROUP, HIGH, INDEX, LOW, START, WIDTH

PIECE = 21  # bits of a number that are summed by themselves: 2**42 of them fit 64 bits
LEVEL, SQUARE = "level", "square"


def shared(lazy: LazyRows, wanted: dict[int, Levels]) -> bool:
    """Whether all groups want the same: then rows need not be told their group to be summed."""
    return len(wanted) == lazy.groups and len(set(wanted.values())) == 1


def level_sums(lazy: LazyRows, wanted: dict[int, Levels]) -> tuple[Any, list[Any]]:
    """Rows with levels, and the aggregates that `sums_of` reads. Squares are wanted by all groups
    or by none.
    """
    nw = lazy.nw
    rows = _with_level(lazy, *wanted.values()) if shared(lazy, wanted) else _joined(lazy, wanted)
    squares = any(levels.squares for levels in wanted.values())
    bits = max(levels.top for levels in wanted.values()).bit_length()
    if squares:
        rows = rows.with_columns((nw.col(LEVEL) * nw.col(LEVEL)).alias(SQUARE))
    names: list[str] = []
    for name, most in ((LEVEL, bits), (SQUARE, 2 * bits))[: 1 + squares]:
        for i in range(-(-most // PIECE) - 1 if lazy.engine.sums_overflow else 0):
            # A multiple of a power of two below 2**62 is divided by it without error, in doubles
            # too.
            piece, rest = f"{name}_{i}", nw.col(name)
            rows = rows.with_columns((rest % 2**PIECE).alias(piece))
            above = ((rest - nw.col(piece)) * 2.0**-PIECE).floor().cast(nw.Int64)
            rows = rows.with_columns(above.alias(name))
            names.append(piece)
        names.append(name)
    return rows, [nw.len().alias(COUNT), *(nw.col(name).sum() for name in names)]


def sums_of(got: dict[str, Any], at: int) -> LevelSums:
    """What one row of the answer says."""
    return LevelSums(_number(got[COUNT][at]), *(_put_together(got, at, n) for n in (LEVEL, SQUARE)))


def _with_level(lazy: LazyRows, levels: Levels, *_: Levels) -> Any:
    """Rows whose levels are the same in all groups."""
    index, nw = lazy.nw.col(INDEX), lazy.nw
    if levels.low > 0 or levels.high < lazy.domain.size - 1:
        index = index.clip(levels.low, levels.high)
    start = levels.low - _half(levels)
    index = index - start if start else index
    if levels.shift:
        whole = rounded_down(index, levels.shift) * 2.0**-levels.shift
        index = (whole + 0.5).floor().cast(nw.Int64)
    return lazy.counted.with_columns(index.alias(LEVEL))


def _joined(lazy: LazyRows, wanted: dict[int, Levels]) -> Any:
    """Rows of the groups that want something, with the levels that each wants."""
    nw, every = lazy.nw, wanted.values()
    limits = {
        GROUP: list(wanted),
        LOW: [levels.low for levels in every],
        HIGH: [levels.high for levels in every],
        START: [levels.low - _half(levels) for levels in every],
        WIDTH: [1 << levels.shift for levels in every],
    }
    if lazy.late:
        rows = lazy.joined(lazy.counted, limits)
    else:
        small = lazy.engine.literal_frame(lazy.counted, limits)
        rows = lazy.counted.join(small, on=GROUP, how="inner")
    index, low, high, width = map(nw.col, (INDEX, LOW, HIGH, WIDTH))
    above = nw.when(index > high).then(high).otherwise(index)
    rows = rows.with_columns(nw.when(index < low).then(low).otherwise(above).alias(INDEX))
    rows = rows.with_columns((index - nw.col(START)).alias(LEVEL))
    if not any(levels.shift for levels in every):
        return rows
    # A multiple of a power of two is divided by it without error, in doubles too.
    level = nw.col(LEVEL)
    whole = ((level - level % width) / width + 0.5).floor().cast(nw.Int64)
    return rows.with_columns(whole.alias(LEVEL))


def _put_together(got: dict[str, Any], at: int, name: str) -> int:
    """A sum from those of its pieces, the highest of which has the name itself."""
    if name not in got:
        return 0
    pieces = sum(each.startswith(f"{name}_") for each in got)
    lower = sum(_number(got[f"{name}_{i}"][at]) << (PIECE * i) for i in range(pieces))
    return lower + (_number(got[name][at]) << (PIECE * pieces))


def _half(levels: Levels) -> int:
    return 1 << levels.shift >> 1


def _number(given: Any) -> int:
    """A sum as engines write it: missing if there was no record."""
    missing = given is None or given is np.ma.masked or given != given
    return 0 if missing else int(given)
