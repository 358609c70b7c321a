"""Operations of every engine that runs queries, by narwhals; each engine's own adapter adds the
rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from duffdp._engines.libraries import DataType, Frame, Narwhals
from duffdp._engines.queries.names import COLUMN_NAME, COUNT, INDEX
from duffdp._engines.sql.parse import ReadQuery
from duffdp.domain import Array


class QueryAdapter(Protocol):
    """A lazy table of one engine."""

    schema: Mapping[str, DataType]  # the declared types of columns
    objects: ClassVar[bool]  # whether columns of objects can be groups, categories and people
    nanoseconds: ClassVar[bool]  # whether keys are compared with a column of nanoseconds exactly
    frame: Frame  # while a path is opened for its types alone, without rows
    floor_returns_integer: ClassVar[bool]  # else a number rounded down is a double
    mixes_types: ClassVar[bool]  # whether one column of an answer can hold values of several types
    max_result_rows: ClassVar[int]  # of all groups together, before an answer takes long
    sums_overflow: ClassVar[bool]  # whether a sum of 64-bit numbers may be too large for its type
    divides_by_reciprocal: ClassVar[bool]  # x / 3 is x * (1 / 3), which may be another number
    has_custom_missing: ClassVar[bool]  # whether `present` has to say what a missing number is
    holds_nan: ClassVar[bool]  # whether a double can be nan
    caps_values: ClassVar[bool]  # whether `cap_per_column` takes any numbers, not only whole ones
    reads_texts: ClassVar[bool]  # whether `text_of` can tell a text from what stands for it
    # Whether several columns can be counted in one pass, and whole numbers stay exact beside
    # missing ones.
    side_by_side: ClassVar[bool]

    @property
    def untested_engine(self) -> str | None:
        """The name of an engine on which no test of every build runs."""

    @property
    def session_zone(self) -> str | None:
        """The zone of all instants, where the types of columns do not say it."""

    @property
    def fast_hash_cells(self) -> int:
        """Number of cells, all groups together, above which grouping slows down: less than
        `max_result_rows` if an extra pass is cheaper than a large hash table.
        """

    def present(self, rows: Frame, name: str) -> Frame:
        """Rows that have a value in a column; nan is none."""

    def rows(self, columns: dict[str, str]) -> Frame:
        """Some columns under new names, as a narwhals frame; text compares letter by letter, as
        itself or as what `stands_for` makes of it.
        """

    def stands_for(self, text: str) -> str:
        """The value that `rows` has instead of a text."""

    def text_of(self, stored: Any) -> str | None:
        """The text of a value of `rows`; None if it is not text."""

    def check_equality(self, name: str) -> None:
        """Refuse a column whose values the engine may take for one another."""

    def tells_apart(self, name: str) -> bool:
        """True if people of a column of a type without a name here can be distinguished."""

    def without_rows(self) -> QueryAdapter | None:
        """This table without its rows, if it must be tried whether all queries run; None if that is
        known.
        """

    def literal_frame(self, rows: Frame, columns: dict[str, list[Any]]) -> Frame:
        """A small narwhals frame in the same engine, with the types of those columns of `rows`
        that have its names.
        """

    def doubles(self, rows: Frame, name: str) -> Frame:
        """Rows with the decimals of a column, of any size, as doubles."""

    def clock(self, rows: Frame, name: str, ends: tuple[int, int]) -> tuple[Frame, str]:
        """Rows with dates and times as whole numbers since 1970 in `name`, and their unit: D, s, ms
        or us. Where there is none, any number or none.

        Those outside of two ends in microseconds, infinite ones among them, may be moved there.
        """

    def cap(self, rows: Frame, keys: tuple[int, ...], limit: int, *within: str) -> Frame:
        """At most `limit` rows of each person, in each value of the columns `within`, by the order
        of a keyed hash of two numbers: the same rows in every query.
        """

    def queried(self, read: ReadQuery) -> Any:
        """The result of a query as a table of the same library; None where it takes none."""

    def cap_per_column(
        self, rows: Frame, keys: tuple[int, ...], limit: int, names: list[str]
    ) -> Frame:
        """Rows with the numbers in the columns `names` of `limit` rows of each person that have
        one, by the same order for all columns; other numbers there become missing.
        """

    def stored(self, rows: Frame) -> Frame:
        """The rows, computed once where the engine can keep them until `drop`."""

    def drop(self) -> None:
        """Release stored data."""

    def counts(self, rows: Frame, names: list[str], by: list[str]) -> Frame:
        """Number of rows with each number in each of the columns `names`, by groups: `by`,
        COLUMN_NAME, INDEX, COUNT. By one pass over the rows; missing values do not count.
        """

    def sample(self, rows: Frame, name: str) -> tuple[Array, float] | None:
        """A few blocks of a column of numbers, and about which share of it they are; None where the
        engine would read everything for it.
        """

    def piece_type(self, dtype: DataType) -> str | None:
        """The type of numpy in which `pieces` has numbers of a column, without error; None where
        they would leave another process for that, or are no such numbers.
        """

    def pieces(self, rows: Frame, types: dict[str, str]) -> Iterator[list[Array]]:
        """Some columns of numbers in these types, an array of each at a time, without rows in which
        one of them is missing. Arrays are gone when the next ones are asked for.
        """

    def fetch(self, rows: Frame) -> dict[str, Any]:
        """The few rows of a finished query, column by column; whole numbers are exact."""

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        """A small frame for the caller."""


@dataclass
class NarwhalsQuery:
    """Operations that most engines share."""

    nw: Narwhals
    frame: Frame
    schema: Mapping[str, DataType]
    divides_by_reciprocal: ClassVar[bool] = False
    objects: ClassVar[bool] = False  # one that cannot be compared would stop the query
    nanoseconds: ClassVar[bool] = False
    floor_returns_integer: ClassVar[bool] = False
    mixes_types: ClassVar[bool] = False
    max_result_rows: ClassVar[int] = 2**20
    sums_overflow: ClassVar[bool] = True
    has_custom_missing: ClassVar[bool] = False
    holds_nan: ClassVar[bool] = True
    caps_values: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = True
    side_by_side: ClassVar[bool] = True

    @property
    def untested_engine(self) -> str | None:
        return None

    @property
    def session_zone(self) -> str | None:
        return None

    @property
    def fast_hash_cells(self) -> int:
        return self.max_result_rows

    def stands_for(self, text: str) -> str:
        return text

    def text_of(self, stored: Any) -> str | None:
        return stored if isinstance(stored, str) else None

    def check_equality(self, name: str) -> None:
        """None is."""

    def tells_apart(self, name: str) -> bool:
        return True

    def without_rows(self) -> QueryAdapter | None:
        return None

    def present(self, rows: Frame, name: str) -> Frame:
        return rows.filter(~self.nw.col(name).is_null())

    def doubles(self, rows: Frame, name: str) -> Frame:
        return rows.with_columns(self.nw.col(name).cast(self.nw.Float64))

    def queried(self, read: ReadQuery) -> Any:
        return None

    def cap_per_column(
        self, rows: Frame, keys: tuple[int, ...], limit: int, names: list[str]
    ) -> Frame:
        raise NotImplementedError  # where columns are not side by side

    def stored(self, rows: Frame) -> Frame:
        return rows

    def drop(self) -> None:
        """Nothing is."""

    def counts(self, rows: Frame, names: list[str], by: list[str]) -> Frame:
        listed = rows.unpivot(on=names, index=by, variable_name=COLUMN_NAME, value_name=INDEX)
        present = listed.filter(~self.nw.col(INDEX).is_null())
        return present.group_by(*by, COLUMN_NAME, INDEX).agg(self.nw.len().alias(COUNT))

    def sample(self, rows: Frame, name: str) -> tuple[Array, float] | None:
        return None

    def piece_type(self, dtype: DataType) -> str | None:
        return None

    def pieces(self, rows: Frame, types: dict[str, str]) -> Iterator[list[Array]]:
        raise NotImplementedError  # where there is no type for them

    def fetch(self, rows: Frame) -> dict[str, Any]:
        collected = rows.lazy().collect()
        return {name: collected.get_column(name).to_list() for name in collected.columns}

    @property
    def native(self) -> Any:
        return self.frame.to_native()

    def as_frame(self, native: Any) -> Frame:
        """A lazy table of the library as a frame of narwhals."""
        frame: Frame = self.nw.from_native(native)
        return frame
