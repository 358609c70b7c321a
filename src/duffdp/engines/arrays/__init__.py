"""Arrays and lists."""

from duffdp.engines.arrays.category_column import CategoryColumn
from duffdp.engines.arrays.column import Column, wrong_kind
from duffdp.engines.arrays.ranks import SORTED, distinct, trim, wanted
from duffdp.engines.arrays.records import Records, read

__all__ = [
    "SORTED",
    "CategoryColumn",
    "Column",
    "Records",
    "distinct",
    "read",
    "trim",
    "wanted",
    "wrong_kind",
]
