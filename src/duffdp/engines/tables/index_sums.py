"""Exact sums of indices in engines that run queries: a few bits at a time, so that no engine's
integers overflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duffdp.engines.tables.names import COUNT, INDEX

PIECE = 21  # bits of an index that are summed by themselves: 2**42 of them fit 64 bits
_PIECE, _OUTSIDE = "piece_{}", "outside_{}"


def summed(nw: Any, rows: Any, first: int, last: int, size: int) -> tuple[Any, list[Any]]:
    """Rows, and the aggregates that `count_and_sum` reads: their number, and the sum of INDEX,
    clamped to two candidates of `size`.
    """
    if first > 0 or last < size - 1:
        rows = rows.with_columns(nw.col(INDEX).clip(first, last).alias(INDEX))
    rest, pieces = nw.col(INDEX), -(-max(last, 1).bit_length() // PIECE)
    for i in range(pieces - 1):
        piece = rest % 2**PIECE
        # A multiple of a power of two below 2**62 is divided by it without error, in doubles too.
        rows = rows.with_columns(piece.alias(_PIECE.format(i)))
        rows = rows.with_columns(((rest - piece) * 2.0**-PIECE).floor().cast(nw.Int64).alias(INDEX))
    rows = rows.with_columns(rest.alias(_PIECE.format(pieces - 1)))
    sums = [nw.col(_PIECE.format(i)).sum() for i in range(pieces)]
    return rows, [nw.len().alias(COUNT), *sums]


def count_and_sum(answer: dict[str, Any], at: int) -> tuple[int, int]:
    """What one row of the answer says."""
    names = [name for name in answer if name.startswith(_PIECE.format(""))]
    total = sum(_number(answer[name][at]) << (PIECE * i) for i, name in enumerate(sorted(names)))
    return _number(answer[COUNT][at]), total


def counted_outside(nw: Any, centre: int, radii: Sequence[int]) -> list[Any]:
    """The aggregates that `outside_counts` reads: rows further than each radius from a
    candidate.
    """
    index = nw.col(INDEX)
    return [
        ((index < centre - radius) | (index > centre + radius))
        .cast(nw.Int64)
        .sum()
        .alias(_OUTSIDE.format(i))
        for i, radius in enumerate(radii)
    ]


def outside_counts(answer: dict[str, Any], radii: Sequence[int]) -> list[int]:
    """What the only row of the answer says."""
    return [_number(answer[_OUTSIDE.format(i)][0]) for i in range(len(radii))]


def _number(given: Any) -> int:
    """A sum as engines write it: missing if there was no record."""
    missing = given is None or given is np.ma.masked or given != given
    return 0 if missing else int(given)
