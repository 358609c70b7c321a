"""Frames in memory, by narwhals: columns become arrays, and public values positions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from duffdp._engines.libraries import Narwhals
from duffdp.domain import Array, Ints


class MemoryFrame:
    """A frame in memory; libraries with a faster way have their own adapter."""

    objects = True  # each is looked at by itself
    nanoseconds = True  # keys are compared with a column of nanoseconds exactly
    mixes_types = False  # in one column of an answer
    session_zone = None  # types of columns say their zone

    @property
    def untested_engine(self) -> str | None:
        """The name of a library on which no test of every build runs."""
        return str(self.frame.implementation) if type(self) is MemoryFrame else None

    def __init__(self, nw: Narwhals, frame: Any) -> None:
        self.nw, self.frame = nw, frame
        self.schema = self.declared_types()

    def declared_types(self) -> Mapping[str, Any]:
        """The types of all columns."""
        types: Mapping[str, Any] = self.frame.collect_schema()
        return types

    def column(self, name: str) -> Any:
        """One column as a series."""
        return self.frame.get_column(name)

    def array(self, name: str) -> tuple[Array, Array | None]:
        """A column of numbers, dates or objects as an array, and which rows are missing where
        the array cannot say so.
        """
        series = self.column(name)
        missing = series.is_null().to_numpy() if series.null_count() else None
        dtype = self.schema[name]
        if isinstance(dtype, self.nw.Datetime) and dtype.time_zone is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        elif dtype == self.nw.Decimal:
            series = series.cast(self.nw.Float64)
        return series.to_numpy(), missing

    def missing(self, name: str) -> Array:
        """Mask of the rows of a column, of no objects, that are null or nan."""
        series = self.column(name)
        missing: Array = series.is_null().to_numpy().astype(bool)
        if self.schema[name].is_float():
            missing = missing | series.is_nan().fill_null(True).to_numpy().astype(bool)
        return missing

    @property
    def length(self) -> int:
        """The number of rows."""
        return len(self.frame)

    def positions(self, name: str, values: Sequence[Any]) -> Ints:
        """For each row the position of its value in a list of different ones, -1 if it is not
        there.
        """
        return positions_of_objects(self.column(name).to_list(), values)

    def people(self, name: str) -> Ints:
        """For each row the number of its person, -1 if it has none."""
        return numbers_of_objects(self.column(name).to_list())

    def tells_apart(self, name: str) -> bool:
        """True if the library can distinguish people of a column: tried without a row."""
        try:
            type(self)(self.nw, self.frame.head(0)).people(name)
        except Exception:  # of its own types: what it says is of no use
            return False
        return True

    def grouped(self, name: str, by: list[str]) -> tuple[Any, Array, Ints] | None:
        """Rows of a group side by side, if the library does it well: the groups, their values,
        and how many each has.
        """
        return None

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        """A small frame of the same library."""
        return self.nw.from_dict(columns, backend=self.frame.implementation).to_native()


def positions_of_objects(records: Iterable[Any], values: Sequence[Any]) -> Ints:
    """Positions by the equality of Python; what cannot be compared is not in the list."""
    places = {value: i for i, value in enumerate(values)}
    records = list(records)
    try:
        positions = [places.get(record, -1) for record in records]
    except Exception:  # some record has no hash: each by itself
        positions = [_looked_up(places, record, -1) for record in records]
    return np.array(positions, dtype=np.int64)


def numbers_of_objects(records: Iterable[Any]) -> Ints:
    """Equal objects get the same number; -1 for missing ones and those without equality."""
    numbers: dict[Any, int] = {}
    return np.fromiter((_number(numbers, record) for record in records), dtype=np.int64)


def _number(numbers: dict[Any, int], record: Any) -> int:
    try:
        person = _person(record)
        return -1 if person is None else numbers.setdefault(person, len(numbers))
    except Exception:  # a type that only looks like one of ours
        return -1


def _person(record: Any) -> Any:
    """Key that identifies a person, of types whose equality is known: others, and missing values,
    name nobody.
    """
    if isinstance(record, np.generic):
        record = record.item()
    if isinstance(record, tuple):
        parts = tuple(map(_person, record))
        return None if None in parts else parts
    if isinstance(record, dt.datetime):
        return None if record != record else dt.datetime.isoformat(record)
    comparable = isinstance(record, str | bytes | int | float | Decimal | dt.date | UUID)
    return record if comparable and record == record else None


def _looked_up(places: dict[Any, int], record: Any, otherwise: int) -> int:
    try:
        return places.get(record, otherwise)
    except Exception:
        return otherwise
