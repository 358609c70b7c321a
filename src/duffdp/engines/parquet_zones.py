"""The time zones of columns of a Parquet file, where its writer left the schema of Arrow in it.

Parquet itself knows instants and no zones. What Arrow's libraries add to the description of a file
(pandas, polars and pyarrow do) is a message of Apache Arrow's format in a FlatBuffer, of which a
few fields are of interest here.
"""

from __future__ import annotations

import base64
import struct
from typing import NamedTuple

KEY = "ARROW:schema"
_CONTINUES = b"\xff\xff\xff\xff"
_TIMESTAMP = 10  # of the union of types in Arrow's Schema.fbs


class _Record(NamedTuple):
    """A table of a FlatBuffer, at a place of the bytes."""

    data: bytes
    place: int

    def _offset(self, slot: int) -> int | None:
        """Where the field with this number is; None if it is left out."""
        table = self.place - _read("<i", self.data, self.place)
        size = _read("<H", self.data, table)
        at = 4 + 2 * slot
        found = _read("<H", self.data, table + at) if at < size else 0
        return self.place + found if found else None

    def byte(self, slot: int) -> int:
        at = self._offset(slot)
        return 0 if at is None else self.data[at]

    def record(self, slot: int) -> _Record | None:
        at = self._offset(slot)
        return None if at is None else _Record(self.data, at + _read("<I", self.data, at))

    def records(self, slot: int) -> list[_Record]:
        found = self.record(slot)
        if found is None:
            return []
        first, many = found.place + 4, _read("<I", self.data, found.place)
        if first + 4 * many > len(self.data):
            raise ValueError("a list that is longer than all of it")
        places = [first + 4 * at for at in range(many)]
        return [_Record(self.data, at + _read("<I", self.data, at)) for at in places]

    def text(self, slot: int) -> str:
        found = self.record(slot)
        if found is None:
            return ""
        begin, size = found.place + 4, _read("<I", self.data, found.place)
        return self.data[begin : begin + size].decode()


def _read(form: str, data: bytes, place: int) -> int:
    number: int = struct.unpack_from(form, data, place)[0]
    return number


def read_zones(schema: bytes) -> dict[str, str]:
    """The zone of each column that has one, by what a file says; none if that cannot be read."""
    try:
        data = base64.b64decode(schema, validate=True)
        data = data[8:] if data.startswith(_CONTINUES) else data[4:]
        described = _Record(data, _read("<I", data, 0)).record(2)
        zones = {}
        for field in [] if described is None else described.records(1):
            kind = field.record(3)
            if field.byte(2) == _TIMESTAMP and kind is not None and (zone := kind.text(1)):
                zones[field.text(0)] = zone
        return zones
    except (ValueError, struct.error, IndexError, MemoryError):
        return {}
