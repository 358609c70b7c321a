"""Sums of levels and of their squares: one query for all groups, each with levels of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from duffdp.domain.snapping import rounded_down
from duffdp.engines.source import Levels
from duffdp.engines.tables.lazy_rows import LazyRows
from duffdp.engines.tables.names import COUNT, GROUP, HIGH, INDEX, LOW, START, WIDTH

PIECE = 21  # bits of a number that are summed by themselves: 2**42 of them fit 64 bits
LEVEL, SQUARE, LARGE = "level", "square", "large"


def level_sums(lazy: LazyRows, wanted: dict[int, Levels]) -> tuple[Any, list[Any]]:
    """Rows with levels, and the aggregates that `moments_of` reads."""
    nw = lazy.nw
    if lazy.groups == 1:
        ((_, levels),) = wanted.items()
        rows = lazy.counted
        offset = nw.col(INDEX).clip(levels.low, levels.high) - (levels.low - _half(levels))
        offset = rounded_down(offset, levels.shift)
        level = offset * 2.0**-levels.shift
    else:
        limits = {
            GROUP: list(wanted),
            LOW: [levels.low for levels in wanted.values()],
            HIGH: [levels.high for levels in wanted.values()],
            START: [levels.low - _half(levels) for levels in wanted.values()],
            WIDTH: [1 << levels.shift for levels in wanted.values()],
        }
        rows = (
            lazy.joined(lazy.counted, limits)
            if lazy.late
            else lazy.counted.join(
                lazy.engine.literal_frame(lazy.counted, limits), on=GROUP, how="inner"
            )
        )
        index, low, high, width = map(nw.col, (INDEX, LOW, HIGH, WIDTH))
        above = nw.when(index > high).then(high).otherwise(index)
        rows = rows.with_columns(nw.when(index < low).then(low).otherwise(above).alias(INDEX))
        rows = rows.with_columns((index - nw.col(START)).alias(INDEX))
        # A multiple of a power of two is divided by it without error, in doubles too.
        level = (index - index % width) / width
    rows = rows.with_columns((level + 0.5).floor().cast(nw.Int64).alias(LEVEL))
    rows = rows.with_columns((nw.col(LEVEL) * nw.col(LEVEL)).alias(SQUARE))
    rows = rows.with_columns(rounded_down(nw.col(SQUARE), PIECE).alias(LARGE))
    rows = rows.with_columns(
        (nw.col(SQUARE) - nw.col(LARGE)).alias(SQUARE),
        (nw.col(LARGE) * 2.0**-PIECE + 0.5).floor().cast(nw.Int64).alias(LARGE),
    )
    sums = [nw.col(name).sum() for name in (LEVEL, SQUARE, LARGE)]
    return rows, [nw.len().alias(COUNT), *sums]


def moments_of(got: dict[str, Any], at: int) -> tuple[int, int, int]:
    """The number of records, the sum of levels and the sum of squares in one row of the answer."""
    many, total, rest, large = (_number(got[name][at]) for name in (COUNT, LEVEL, SQUARE, LARGE))
    return many, total, rest + (large << PIECE)


def _half(levels: Levels) -> int:
    return 1 << levels.shift >> 1


def _number(given: Any) -> int:
    """A sum as engines write it: missing if there was no record."""
    missing = given is None or given is np.ma.masked or given != given
    return 0 if missing else int(given)
