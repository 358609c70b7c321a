"""JSON lines files: an object on each line, of which the requested columns are read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from duffdp._engines.files.fields import quote_paths, quote_text, read_fields
from duffdp._engines.files.format import Format, Reader, ReadRequest
from duffdp._engines.files.packing import open_bytes, packed_endings
from duffdp._engines.files.text_records import (
    BYTE_ORDER_MARK,
    TABLE_NUMBERS,
    Form,
    fill_table,
    read_csv,
    read_lines,
    read_with_fallback,
    survey,
)
from duffdp.errors import Argument, UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_UNSPLIT = "\x1f"  # may not occur in JSON, so that a line with it is no object anyway


class JsonLines(Reader):
    """JSON lines files."""

    def __init__(self, request: ReadRequest) -> None:
        columns, rules = request.columns, request.rules
        if not columns and request.kind == "row":
            columns = ["row"]  # whether it is there or not, there is a record
        if not columns:
            raise UnsupportedData(
                "JSON lines have no list of columns, so one must be named. Pass for example ",
                Argument("column", "age"),
                ".",
            )
        if rules.skip_rows:
            raise UnsupportedData(
                Argument("skip_rows"),
                " is for CSV and Excel files: JSON lines have no header. Leave it out.",
            )
        self._encoding = rules.encoding
        self._connection, self._paths, self._columns = request.connection, request.paths, columns
        self.zones = rules.zones
        self.untyped = [name for name in columns if name not in rules.kinds]
        texts = [f"NULLIF(texts[{i}], '')" for i in range(1, len(columns) + 1)]
        fields = zip(columns, texts, strict=True)
        self._select = read_fields(fields, request.values, request.kind, rules)
        #: The columns and their types, which the records have no say in.
        self.types = request.connection.sql(
            f"SELECT {self._select} FROM (SELECT NULL::VARCHAR[] AS texts) WHERE false"
        )

    def rows(self) -> DuckDBPyRelation:
        return read_with_fallback(self._rows)

    def _rows(self, by_duckdb: bool) -> DuckDBPyRelation:
        connection = self._connection
        lines, parts = [], []
        for path in self._paths:
            if by_duckdb and survey(path, None, self._encoding) is Form.LINES:
                lines.append(path)
                continue
            name = f"duffdp_rows_{next(TABLE_NUMBERS)}"
            connection.execute(f"CREATE TEMP TABLE {name} (line VARCHAR)")
            with open_bytes(path) as file:
                rows = _without_mark(read_lines(file))
                fill_table(connection, name, rows, self._encoding)
            parts.append(f"SELECT line FROM {name}")
        if lines:
            reader = read_csv(quote_paths(lines), _UNSPLIT, ["line"], header=False, quoted=False)
            parts.append(f"SELECT line FROM {reader}")
        # In one expression: DuckDB may ask for fields before it leaves rows out, and not all lines
        # are JSON.
        valid = "CASE WHEN json_valid(line) THEN"
        pointers = ", ".join(
            quote_text("/" + name.replace("~", "~0").replace("/", "~1")) for name in self._columns
        )
        taken = (
            f"SELECT {valid} json_extract_string(line, [{pointers}]) END AS texts, "
            f"{valid} json_type(line) END AS kind FROM ({' UNION ALL '.join(parts)})"
        )
        name = f"duffdp_rows_{next(TABLE_NUMBERS)}"
        connection.execute(
            f"CREATE TEMP TABLE {name} AS SELECT {self._select} FROM ({taken}) WHERE kind = "
            "'OBJECT'"
        )
        return connection.table(name)


def _without_mark(rows: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    for first in itertools.islice(rows, 1):
        yield [first[0].removeprefix(BYTE_ORDER_MARK)]
    yield from rows


JSON_LINES = Format(
    "JSON lines",
    packed_endings(".jsonl", ".ndjson"),
    JsonLines,
    is_text=True,
    lists_columns=False,
)
