"""The expressions of a query for engines that have no TRY, one file a kind of value.

An engine says in words how each step is written so that it has a value, or none, for every record
there could be. What it has no words for is refused, by the types of columns and before a row is
read. As each step is safe by itself, it does not matter in which order an engine takes them.
"""

from duffdp.engines.expressions.kinds import Kind, Words
from duffdp.engines.expressions.rows import MOST_DEEP, RowExpressions

__all__ = ["MOST_DEEP", "Kind", "RowExpressions", "Words"]
