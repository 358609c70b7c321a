"""Tables of people: adapters for every library, groups, the rows that count, and radix descent."""

from __future__ import annotations

from duffdp.engines.tables.table import Table, open_table

__all__ = ["Table", "open_table"]
