"""Tables of people: adapters for every library, groups, the rows that count, and radix descent."""

from __future__ import annotations

from duffdp.engines.tables.table import Table, column_types, read_columns

__all__ = ["Table", "column_types", "read_columns"]
