"""Records that DuckDB cannot read where they lie: copied into a table once for all releases."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from duffdp._engines.files.fields import FieldLabels, FieldRules, quote_name, read_field
from duffdp._engines.files.format import ReadRequest, RowSource
from duffdp._engines.files.text_records import decode

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

_BATCH, _BATCH_ROWS = "duffdp_batch", 50_000
_TABLE_NUMBERS = itertools.count()  # no two tables have one name


class CopiedRows:
    """A table that may spill to disk, made when the first release reads its rows: each column in
    every way that a release reads it.

    `fill` makes the table of this name. It takes the names of the columns whose texts are needed,
    the first of which is called `t0`, and an expression of these for each column of the table.
    """

    def __init__(
        self,
        connection: DuckDBPyConnection,
        fill: Callable[[str, Sequence[str], Sequence[str]], None],
    ) -> None:
        self._connection, self._fill = connection, fill
        self._texts: dict[str, str] = {}  # by the name of the column
        self._columns: dict[str, str] = {}  # by the expression that reads a text
        self._table: str | None = None

    def add(self, reads: Mapping[str, Callable[[str], str]]) -> Callable[[], DuckDBPyRelation]:
        """Add columns, each with what makes an expression from the name of its text; returns a
        function that reads them.
        """
        parts = []
        for name, read in reads.items():
            expression = read(self._texts.setdefault(name, f"t{len(self._texts)}"))
            if expression not in self._columns:
                self._columns[expression] = f"c{len(self._columns)}"
                self._table = None
            parts.append(f"{self._columns[expression]} AS {quote_name(name)}")
        selected = ", ".join(parts)
        return lambda: self._rows().project(selected)

    def _rows(self) -> DuckDBPyRelation:
        if self._table is None:
            table = new_table()
            columns = [f"{read} AS {column}" for read, column in self._columns.items()]
            self._fill(table, list(self._texts), columns)
            self._table = table
        return self._connection.table(self._table)


def new_table() -> str:
    """A name that no other table has."""
    return f"duffdp_rows_{next(_TABLE_NUMBERS)}"


class TextReader(ABC):
    """Text files whose records are parsed once for all releases of a call."""

    def __init__(self, connection: DuckDBPyConnection, name: str, encoding: str) -> None:
        self.connection, self._name, self._encoding = connection, name, encoding
        self._rows = CopiedRows(connection, self._copy)
        self._staged: list[str] = []

    @abstractmethod
    def parse(self, names: Sequence[str], by_duckdb: bool) -> str:
        """The query for the texts of some columns, `t0` for the first of them. `by_duckdb` says
        whether DuckDB may parse files.
        """

    def field(self, text: str, kind: str | FieldLabels, rules: FieldRules, zone: str | None) -> str:
        """The expression of a text as a value of this kind."""
        return read_field(text, kind, rules, zone)

    def source(
        self, names: Sequence[str], needed: Sequence[str], request: ReadRequest, rules: FieldRules
    ) -> RowSource:
        """Columns with their types, and the rows of those that are needed: as declared, else the
        values are read as the request says and all others stay text.
        """
        kinds: dict[str, str | FieldLabels] = dict.fromkeys(request.values, request.kind)
        kinds |= rules.kinds

        def expression(name: str, text: str) -> str:
            return self.field(text, kinds.get(name, "category"), rules, rules.zones.get(name))

        # No record has a say in the types.
        types = (f"{expression(name, 'NULL::VARCHAR')} AS {quote_name(name)}" for name in names)
        return RowSource(
            self._name,
            self.connection.sql(f"SELECT {', '.join(types)} WHERE false"),
            self._rows.add({name: partial(expression, name) for name in needed}),
            untyped=[name for name in names if name not in rules.kinds],
            zones=rules.zones,
        )

    def stage(self, columns: Sequence[str]) -> str:
        """A table for texts that DuckDB does not parse, which is dropped once they are copied."""
        self._staged.append(table := new_table())
        self.connection.execute(f"CREATE TEMP TABLE {table} ({' VARCHAR, '.join(columns)} VARCHAR)")
        return table

    def insert(self, table: str, records: Iterator[list[bytes]]) -> None:
        """Insert records into a table, a batch at a time; an empty field is missing."""
        while batch := list(itertools.islice(records, _BATCH_ROWS)):
            columns = [
                np.array([decode(text, self._encoding) for text in column], dtype=object)
                for column in zip(*batch, strict=True)
            ]
            self.connection.register(_BATCH, {f"v{i}": column for i, column in enumerate(columns)})
            fields = ", ".join(f"NULLIF(v{i}, '')" for i in range(len(columns)))
            self.connection.execute(f"INSERT INTO {table} SELECT {fields} FROM {_BATCH}")
            self.connection.unregister(_BATCH)

    def _copy(self, table: str, names: Sequence[str], columns: Sequence[str]) -> None:
        """All records, parsed into a table. Where a file is packed in a way that DuckDB does not
        know, all are parsed here: no record may decide about that.
        """
        import duckdb

        select = f"CREATE TEMP TABLE {table} AS SELECT {', '.join(columns)}"
        try:
            self.connection.execute(f"{select} FROM ({self.parse(names, True)})")
        except duckdb.Error:
            self.connection.execute(f"{select} FROM ({self.parse(names, False)})")
        while self._staged:
            self.connection.execute(f"DROP TABLE {self._staged.pop()}")
