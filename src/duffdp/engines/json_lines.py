"""Files with a JSON object on each line, as relations of DuckDB; a column is there because it is
asked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from duffdp.engines.sql import AS_USUAL, FieldRules, quote_paths, quote_text, read_fields
from duffdp.engines.text_records import (
    BYTE_ORDER_MARK,
    Form,
    open_bytes,
    read_csv,
    read_lines,
    survey,
)
from duffdp.engines.text_tables import TABLES, fill_table
from duffdp.errors import UnsupportedData

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_UNSPLIT = "\x1f"  # may not occur in JSON, so that a line with it is no object anyway


class JsonLines:
    """Files of JSON lines; parameters as for `DelimitedFiles`."""

    def __init__(
        self,
        connection: DuckDBPyConnection,
        paths: list[str],
        columns: list[str],
        values: tuple[str, ...],
        kind: str,
        rules: FieldRules = AS_USUAL,
    ) -> None:
        if not columns and kind == "row":
            columns = ["row"]  # whether it is there or not, there is a record
        if not columns:
            raise UnsupportedData(
                "JSON lines have no list of columns, so one must be named. Pass for example "
                'column="age".'
            )
        self._connection, self._paths, self._columns = connection, paths, columns
        texts = [f"NULLIF(texts[{i}], '')" for i in range(1, len(columns) + 1)]
        self._select = read_fields(zip(columns, texts, strict=True), values, kind, rules)
        #: The columns and their types, which the records have no say in.
        self.types = connection.sql(
            f"SELECT {self._select} FROM (SELECT NULL::VARCHAR[] AS texts) WHERE false"
        )

    def rows(self) -> DuckDBPyRelation:
        """All records, parsed once for all queries that follow, in a table that may spill to
        disk.
        """
        import duckdb

        try:
            return self._rows(by_duckdb=True)
        # packed in a way that DuckDB does not know: no record may decide about that
        except duckdb.Error:
            return self._rows(by_duckdb=False)

    def _rows(self, by_duckdb: bool) -> DuckDBPyRelation:
        connection = self._connection
        lines, parts = [], []
        for path in self._paths:
            if by_duckdb and survey(path, None) is Form.LINES:
                lines.append(path)
                continue
            name = f"duffdp_rows_{next(TABLES)}"
            connection.execute(f"CREATE TEMP TABLE {name} (line VARCHAR)")
            with open_bytes(path) as file:
                fill_table(connection, name, _without_mark(read_lines(file)))
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
        name = f"duffdp_rows_{next(TABLES)}"
        connection.execute(
            f"CREATE TEMP TABLE {name} AS SELECT {self._select} FROM ({taken}) WHERE kind = "
            "'OBJECT'"
        )
        return connection.table(name)


def _without_mark(rows: Iterator[list[bytes]]) -> Iterator[list[bytes]]:
    for first in itertools.islice(rows, 1):
        yield [first[0].removeprefix(BYTE_ORDER_MARK)]
    yield from rows
