"""Exact sums of levels and of their squares, for all columns and groups in one query.

A few bits are summed at a time where an engine's sums could overflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from typing import Any, NamedTuple

import numpy as np

from duffdp._engines.libraries import Expression, Frame, Narwhals
from duffdp._engines.queries.expressions import rounded_down
from duffdp._engines.queries.names import (
    GROUP,
    HIGHS,
    INDEXES,
    LEVEL_SUMS,
    LOWS,
    RECORD_COUNTS,
    SQUARES,
    STARTS,
    WIDTHS,
)
from duffdp._engines.queries.rows import Limits, QueryRows, whole_numbers
from duffdp._engines.requests import Quantization, Sums
from duffdp.domain import Ints

PIECE_BITS = 21  # bits of a number that are summed by themselves: 2**42 of them fit 64 bits

Key = tuple[int, int, Quantization]  # column, group


class _Slot(NamedTuple):
    """One quantization for some groups of a column, all with squares or all without, because
    squares need coarser levels.
    """

    number: int
    column: int
    squares: bool
    quantizations: dict[int, Quantization]  # by group

    @property
    def bits(self) -> int:
        """Of the largest level."""
        return max(quantization.top for quantization in self.quantizations.values()).bit_length()

    @property
    def limits(self) -> tuple[str, str, str, str]:
        """Names of the columns for the beginning and the end of levels, their zero point, and their
        width.
        """
        at = self.number
        return LOWS.format(at, 0), HIGHS.format(at, 0), STARTS.format(at), WIDTHS.format(at)


def level_sums(
    rows: QueryRows, requests: Sequence[tuple[int, Ints, Quantization]]
) -> dict[Key, Sums]:
    """The sums of some groups of columns, by one query."""
    nw, slots = rows.nw, _slots(requests)
    groups = sorted({g for slot in slots for g in slot.quantizations})
    uniform = [len(set(slot.quantizations.values())) == 1 for slot in slots]
    limits: Limits | None = None
    if len(groups) < rows.groups or not all(uniform):
        limits = {GROUP: groups}
        for slot, is_uniform in zip(slots, uniform, strict=True):
            if not is_uniform:
                limits |= _limits(slot, groups)
    columns = sorted({slot.column for slot in slots})
    frame, by = rows.in_groups(rows.side_by_side(columns), limits)
    indices = {column: nw.col(INDEXES.format(column)) for column in columns}
    aggregates = [index.count().alias(RECORD_COUNTS.format(c)) for c, index in indices.items()]
    for slot, is_uniform in zip(slots, uniform, strict=True):
        level, square = LEVEL_SUMS.format(slot.number), SQUARES.format(slot.number)
        index = indices[slot.column]
        if is_uniform:
            (quantization, *_) = slot.quantizations.values()
            levels = _level(nw, index, quantization, rows.sizes[slot.column])
            frame = frame.with_columns(levels.alias(level))
        else:
            frame = _with_own_level(nw, frame, index, level, slot)
        summed = [(level, slot.bits)]
        if slot.squares:
            frame = frame.with_columns((nw.col(level) * nw.col(level)).alias(square))
            summed.append((square, 2 * slot.bits))
        for name, bits in summed:
            frame, pieces = _in_pieces(rows, frame, name, bits)
            aggregates.extend(nw.col(piece).sum() for piece in pieces)
    results = frame.group_by(*by).agg(*aggregates) if by else frame.select(*aggregates)
    return _read(rows.fetch(results, by), slots)


def _slots(requests: Sequence[tuple[int, Ints, Quantization]]) -> list[_Slot]:
    """Requests in as few columns of levels as possible."""
    by_group: dict[tuple[int, int], dict[Quantization, None]] = {}
    for column, groups, quantization in requests:
        for group in groups.tolist():
            by_group.setdefault((column, group), {})[quantization] = None
    by_slot: dict[tuple[int, bool, int], dict[int, Quantization]] = {}
    for (column, group), quantizations in by_group.items():
        for squares in (False, True):
            members = (candidate for candidate in quantizations if candidate.squares == squares)
            for at, quantization in enumerate(members):
                by_slot.setdefault((column, squares, at), {})[group] = quantization
    return [
        _Slot(number, column, squares, members)
        for number, ((column, squares, _), members) in enumerate(by_slot.items())
    ]


def _limits(slot: _Slot, groups: Sequence[int]) -> Limits:
    """The quantization of every group as columns of numbers; any one where none is wanted."""
    (default, *_) = slot.quantizations.values()
    quantizations = [slot.quantizations.get(group, default) for group in groups]
    limits = (
        (
            quantization.low,
            quantization.high,
            quantization.low - _half(quantization),
            1 << quantization.shift,
        )
        for quantization in quantizations
    )
    return dict(zip(slot.limits, map(list, zip(*limits, strict=True)), strict=True))


def _level(nw: Narwhals, index: Expression, quantization: Quantization, size: int) -> Expression:
    """The level of a candidate of `size`, as an expression."""
    if quantization.low > 0 or quantization.high < size - 1:
        index = index.clip(quantization.low, quantization.high)
    start = quantization.low - _half(quantization)
    index = index - start if start else index
    if quantization.shift:
        multiple = rounded_down(index, quantization.shift) * 2.0**-quantization.shift
        index = (multiple + 0.5).floor().cast(nw.Int64)
    return index


def _with_own_level(nw: Narwhals, rows: Frame, index: Expression, level: str, slot: _Slot) -> Frame:
    """Rows with the level of a candidate by the limits of their group."""
    low, high, start, width = map(nw.col, slot.limits)
    rows = rows.with_columns(nw.when(index > high).then(high).otherwise(index).alias(level))
    clamped = nw.when(nw.col(level) < low).then(low).otherwise(nw.col(level))
    rows = rows.with_columns((clamped - start).alias(level))
    if not any(quantization.shift for quantization in slot.quantizations.values()):
        return rows
    # A multiple of a power of two is divided by it without error, in doubles too.
    quotient = ((nw.col(level) - nw.col(level) % width) / width + 0.5).floor().cast(nw.Int64)
    return rows.with_columns(quotient.alias(level))


def _in_pieces(rows: QueryRows, frame: Frame, name: str, bits: int) -> tuple[Frame, list[str]]:
    """A frame with a column of whole numbers of so many bits in pieces whose sums do not overflow,
    and the names of these; the highest keeps the name.
    """
    nw, names = rows.nw, []
    for i in range(-(-bits // PIECE_BITS) - 1 if rows.adapter.sums_overflow else 0):
        # A multiple of a power of two below 2**62 is divided by it without error, in doubles too.
        piece, remaining = f"{name}_{i}", nw.col(name)
        frame = frame.with_columns((remaining % 2**PIECE_BITS).alias(piece))
        above = ((remaining - nw.col(piece)) * 2.0**-PIECE_BITS).floor().cast(nw.Int64)
        frame = frame.with_columns(above.alias(name))
        names.append(piece)
    return frame, [*names, name]


def _read(fetched: dict[str, Any], slots: Sequence[_Slot]) -> dict[Key, Sums]:
    """Sums from what was fetched; a group may be spelled in several ways."""
    groups = whole_numbers(fetched[GROUP]).tolist() if GROUP in fetched else [0]
    sums: dict[Key, Sums] = {}
    for number, column, _, quantizations in slots:
        names = LEVEL_SUMS.format(number), SQUARES.format(number)
        sums |= {(column, g, quantization): Sums() for g, quantization in quantizations.items()}
        for at, group in enumerate(groups):
            if group in quantizations:
                key = column, group, quantizations[group]
                records = _number(fetched[RECORD_COUNTS.format(column)][at])
                row = Sums(records, *(_from_pieces(fetched, at, name) for name in names))
                sums[key] = Sums(*map(add, sums[key], row))
    return sums


def _from_pieces(fetched: dict[str, Any], at: int, name: str) -> int:
    """A sum from those of its pieces, the highest of which has the name itself."""
    if name not in fetched:
        return 0
    pieces = sum(column.startswith(f"{name}_") for column in fetched)
    lower = sum(_number(fetched[f"{name}_{i}"][at]) << (PIECE_BITS * i) for i in range(pieces))
    return lower + (_number(fetched[name][at]) << (PIECE_BITS * pieces))


def _half(quantization: Quantization) -> int:
    return 1 << quantization.shift >> 1


def _number(value: Any) -> int:
    """A sum as engines write it: missing if there was no record."""
    missing = value is None or value is np.ma.masked or value != value
    return 0 if missing else int(value)
