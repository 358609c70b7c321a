"""Parquet files, which declare their types and are read in place.

Parquet itself knows instants and no zones. What Arrow's libraries add to the description of a file
(pandas, polars and pyarrow do) is a message of Apache Arrow's format in a FlatBuffer, of which a
few fields are of interest here.
"""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING, NamedTuple

from duffdp._engines.files.fields import FieldRules, quote_name, quote_paths
from duffdp._engines.files.format import Format, OpenRequest, ReadRequest, RowSource
from duffdp.errors import UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SCHEMA_KEY = "ARROW:schema"
_CONTINUES = b"\xff\xff\xff\xff"
_TIMESTAMP = 10  # of the union of types in Arrow's Schema.fbs


class ParquetFiles:
    """Parquet files of one schema; values in folder names (`region=north`) are text."""

    def __init__(self, request: OpenRequest) -> None:
        connection, paths = request.connection, request.paths
        listed = ", ".join(quote_paths(paths))
        self._differing = _differing(connection, listed, len(paths)) if len(paths) > 1 else set()
        relation = connection.sql(
            f"SELECT * FROM read_parquet([{listed}], union_by_name = {bool(self._differing)}, "
            "hive_types_autocast = false)"
        )
        alike = [name for name in relation.columns if name not in self._differing]
        # By their names: the places of columns are others in a file that is replaced meanwhile.
        rows = relation.project(", ".join(map(quote_name, alike)))
        # The zones of columns of instants, where all files say the same.
        zones = _zones(connection, listed) if "WITH TIME ZONE" in str(rows.types) else {}
        self._source = RowSource(request.name, rows, lambda: rows, zones=zones)

    def columns(self, request: ReadRequest, rules: FieldRules) -> RowSource:
        for name in request.columns:
            if name in self._differing:
                raise UnsupportedData(
                    f"the column {name!r} has different types in the Parquet files. Write the "
                    "files with one schema."
                )
        return self._source


def _differing(connection: DuckDBPyConnection, listed: str, files: int) -> set[str]:
    """The columns that not all files have, or declare alike."""
    declared = connection.execute(
        "SELECT name FROM (SELECT file_name, name, list_sort(list((type, logical_type, "
        "converted_type, "
        f"precision, scale)::VARCHAR)) AS kind FROM parquet_schema([{listed}]) WHERE type IS "
        "NOT NULL "
        "GROUP BY file_name, name) GROUP BY name HAVING count(DISTINCT kind) > 1 OR count(*) < "
        f"{files}"
    )
    return {name for (name,) in declared.fetchall()}


def _zones(connection: DuckDBPyConnection, listed: str) -> dict[str, str]:
    """The zones that all files say, if they say the same."""
    said = connection.execute(
        f"SELECT DISTINCT value FROM parquet_kv_metadata([{listed}]) WHERE key = ?",
        [_SCHEMA_KEY.encode()],
    )
    known = [read_zones(schema) for (schema,) in said.fetchall()]
    return known[0] if known and all(zones == known[0] for zones in known) else {}


class _Record(NamedTuple):
    """A table of a FlatBuffer, at a position of the bytes."""

    data: bytes
    place: int

    def _offset(self, slot: int) -> int | None:
        """The position of the field with this number, or None if it is left out."""
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


PARQUET = Format("Parquet", (".parquet",), ParquetFiles)
