"""Exact sums of levels and of their squares: one query for all groups, each with levels of its
own.

A few bits are summed at a time where an engine's sums could overflow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duffdp.domain.snapping import rounded_down
from duffdp.engines.source import Levels, LevelSums
from duffdp.engines.tables.lazy_rows import GroupedRows, LazyRows
from duffdp.engines.tables.names import COUNT, GROUP, HIGH, INDEX, LOW, START, WIDTH

PIECE = 21  # bits of a number that are summed by themselves: 2**42 of them fit 64 bits
LEVEL, SQUARE = "level", "square"

Names = tuple[str, str, str, str]


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
        rows, pieces = in_pieces(lazy, rows, name, most)
        names += pieces
    return rows, [nw.len().alias(COUNT), *(nw.col(name).sum() for name in names)]


def in_pieces(lazy: GroupedRows, rows: Any, name: str, bits: int) -> tuple[Any, list[str]]:
    """Rows with a column of whole numbers of so many bits in pieces whose sums do not overflow, and
    the names of these; the highest keeps the name.
    """
    nw, names = lazy.nw, []
    for i in range(-(-bits // PIECE) - 1 if lazy.engine.sums_overflow else 0):
        # A multiple of a power of two below 2**62 is divided by it without error, in doubles too.
        piece, rest = f"{name}_{i}", nw.col(name)
        rows = rows.with_columns((rest % 2**PIECE).alias(piece))
        above = ((rest - nw.col(piece)) * 2.0**-PIECE).floor().cast(nw.Int64)
        rows = rows.with_columns(above.alias(name))
        names.append(piece)
    return rows, [*names, name]


def sums_of(got: dict[str, Any], at: int) -> LevelSums:
    """What one row of the answer says."""
    return sums_named(got, at, COUNT, LEVEL, SQUARE)


def sums_named(got: dict[str, Any], at: int, records: str, level: str, square: str) -> LevelSums:
    """What one row says in columns of these names."""
    sums = (_put_together(got, at, name) for name in (level, square))
    return LevelSums(_number(got[records][at]), *sums)


def _with_level(lazy: LazyRows, levels: Levels, *_: Levels) -> Any:
    """Rows whose levels are the same in all groups."""
    level = level_of(lazy.nw, lazy.nw.col(INDEX), levels, lazy.domain.size)
    return lazy.counted.with_columns(level.alias(LEVEL))


def level_of(nw: Any, index: Any, levels: Levels, size: int) -> Any:
    """The level of a candidate of `size`, as an expression."""
    if levels.low > 0 or levels.high < size - 1:
        index = index.clip(levels.low, levels.high)
    start = levels.low - _half(levels)
    index = index - start if start else index
    if levels.shift:
        whole = rounded_down(index, levels.shift) * 2.0**-levels.shift
        index = (whole + 0.5).floor().cast(nw.Int64)
    return index


def _joined(lazy: LazyRows, wanted: dict[int, Levels]) -> Any:
    """Rows of the groups that want something, with the levels that each wants."""
    nw, every = lazy.nw, wanted.values()
    limits = {GROUP: list(wanted)} | level_limits(list(every), (LOW, HIGH, START, WIDTH))
    if lazy.late:
        rows = lazy.joined(lazy.counted, limits)
    else:
        small = lazy.engine.literal_frame(lazy.counted, limits)
        rows = lazy.counted.join(small, on=GROUP, how="inner")
    shifted = any(levels.shift for levels in every)
    return with_own_level(nw, rows, INDEX, LEVEL, (LOW, HIGH, START, WIDTH), shifted)


def level_limits(every: list[Levels], names: Names) -> dict[str, list[int]]:
    """Levels as columns of these names: where they begin and end, what is 0, and how wide one
    is.
    """
    limits = (
        (levels.low, levels.high, levels.low - _half(levels), 1 << levels.shift) for levels in every
    )
    return dict(zip(names, map(list, zip(*limits, strict=True)), strict=True))


def with_own_level(nw: Any, rows: Any, index: str, level: str, limits: Names, shifted: bool) -> Any:
    """Rows with the level of a candidate by limits of their own, in columns of these names."""
    low, high, start, width = map(nw.col, limits)
    above = nw.when(nw.col(index) > high).then(high).otherwise(nw.col(index))
    rows = rows.with_columns(above.alias(level))
    clamped = nw.when(nw.col(level) < low).then(low).otherwise(nw.col(level))
    rows = rows.with_columns((clamped - start).alias(level))
    if not shifted:
        return rows
    # A multiple of a power of two is divided by it without error, in doubles too.
    whole = ((nw.col(level) - nw.col(level) % width) / width + 0.5).floor().cast(nw.Int64)
    return rows.with_columns(whole.alias(level))


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
