"""Arrays and lists."""

from __future__ import annotations

from duffdp.domain import Categories, Membership, Ordered, Presence, PublicSet
from duffdp.engines.arrays.bin_column import BinColumn
from duffdp.engines.arrays.category_column import CategoryColumn
from duffdp.engines.arrays.column import Column
from duffdp.engines.arrays.keyed_array import wrong_kind
from duffdp.engines.arrays.present_column import PresentColumn
from duffdp.engines.arrays.ranks import SORTED, distinct, trim, wanted
from duffdp.engines.arrays.records import Records, read

__all__ = [
    "SORTED",
    "BinColumn",
    "CategoryColumn",
    "Column",
    "PresentColumn",
    "Records",
    "array_source",
    "distinct",
    "read",
    "trim",
    "wanted",
    "wrong_kind",
]

ArraySource = Column | CategoryColumn | BinColumn | PresentColumn


def array_source(records: Records, domain: PublicSet) -> ArraySource:
    """The records of an array as a source of counts on a domain."""
    if isinstance(domain, Ordered):
        return Column(records, domain)
    if isinstance(domain, Presence):
        return PresentColumn(records, domain)
    if isinstance(domain, Categories) or (
        isinstance(domain, Membership) and isinstance(domain.among, Categories)
    ):
        return CategoryColumn(records, domain)
    return BinColumn(records, domain)
