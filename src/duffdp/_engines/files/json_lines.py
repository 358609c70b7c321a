"""JSON lines files: an object on each line, of which the requested columns are read."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from duffdp._engines.files.copied import TextReader
from duffdp._engines.files.fields import FieldRules, quote_paths, quote_text
from duffdp._engines.files.format import Format, OpenRequest, ReadRequest, RowSource
from duffdp._engines.files.packing import open_bytes, packed_endings
from duffdp._engines.files.text_records import (
    BYTE_ORDER_MARK,
    Form,
    read_csv,
    read_lines,
    survey,
)
from duffdp.errors import Argument, UnsupportedData

_UNSPLIT = "\x1f"  # may not occur in JSON, so that a line with it is no object anyway


class JsonLines(TextReader):
    """JSON lines files."""

    def __init__(self, request: OpenRequest) -> None:
        rules = request.rules
        super().__init__(request.connection, request.name, rules.encoding)
        if rules.skip_rows:
            raise UnsupportedData(
                Argument("skip_rows"),
                " is for CSV and Excel files: JSON lines have no header. Leave it out.",
            )
        self._encoding, self._paths = rules.encoding, request.paths

    def columns(self, request: ReadRequest, rules: FieldRules) -> RowSource:
        names = request.columns
        if not names and request.kind == "row":
            names = ["row"]  # whether it is there or not, there is a record
        if not names:
            raise UnsupportedData(
                "JSON lines do not list their columns, so the column is required. Pass for "
                "example ",
                Argument("column", "age"),
                ".",
            )
        return self.source(names, names, request, rules)

    def parse(self, names: Sequence[str], by_duckdb: bool) -> str:
        lines, parts = [], []
        for path in self._paths:
            if by_duckdb and survey(path, None, self._encoding) is Form.LINES:
                lines.append(path)
                continue
            table = self.stage(["line"])
            with open_bytes(path) as file:
                self.insert(table, _without_mark(read_lines(file)))
            parts.append(f"SELECT line FROM {table}")
        if lines:
            reader = read_csv(quote_paths(lines), _UNSPLIT, ["line"], header=False, quoted=False)
            parts.append(f"SELECT line FROM {reader}")
        # In one expression: DuckDB may ask for fields before it leaves rows out, and not all lines
        # are JSON.
        valid = "CASE WHEN json_valid(line) THEN"
        pointers = ", ".join(
            quote_text("/" + name.replace("~", "~0").replace("/", "~1")) for name in names
        )
        texts = ", ".join(f"NULLIF(texts[{at + 1}], '') AS t{at}" for at in range(len(names)))
        return (
            f"SELECT {texts} FROM (SELECT {valid} json_extract_string(line, [{pointers}]) END AS "
            f"texts, {valid} json_type(line) END AS kind FROM ({' UNION ALL '.join(parts)})) "
            "WHERE kind = 'OBJECT'"
        )


def _without_mark(rows: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    for first in itertools.islice(rows, 1):
        yield [first[0].removeprefix(BYTE_ORDER_MARK)]
    yield from rows


def _note(path: str) -> str:
    return "a column that an object does not have is missing in it; spell columns as in the file"


JSON_LINES = Format(
    "JSON lines",
    packed_endings(".jsonl", ".ndjson"),
    JsonLines,
    is_text=True,
    lists_columns=False,
    note=_note,
)
