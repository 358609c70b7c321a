"""Rows of a few columns, each created when it is accessed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

Row = tuple[Any, ...]
MIN_COLUMNAR_ROWS = 2**10  # rows that are kept as columns; fewer are a tuple


class RowsOfColumns(Sequence[Row]):
    """Columns of one length that behave like a tuple of rows."""

    __slots__ = ("columns",)

    def __init__(self, columns: Sequence[Sequence[Any]]) -> None:
        self.columns = tuple(columns)

    def __len__(self) -> int:
        return len(self.columns[0])

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        parts = [column[at] for column in self.columns]
        return tuple(zip(*parts, strict=True)) if isinstance(at, slice) else tuple(parts)

    def __iter__(self) -> Iterator[Row]:
        return zip(*self.columns, strict=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | RowsOfColumns) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))
