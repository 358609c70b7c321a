"""The public set of possible outputs: a grid of values, numbers with a fixed number of digits, a
list of categories, or cells in which records are counted.
"""

from duffdp.domain._aliases import Array, Floats, Ints, Keys
from duffdp.domain.bins import Bins
from duffdp.domain.categories import Categories
from duffdp.domain.cells import Fields, Membership, Presence
from duffdp.domain.digits import Digits
from duffdp.domain.grid import Grid
from duffdp.domain.key_level import KeyLevel
from duffdp.domain.pattern import Pattern

Ordered = Grid | Digits  # numbers, dates or times, to the nearest of which records are snapped
Domain = Ordered | Categories  # candidates, one of which comes out
Cells = Bins | Membership | Presence | Fields  # which come out with their counts
PublicSet = Domain | Cells
Scale = Ordered | Bins  # numbers, dates or times in order

__all__ = [
    "Array",
    "Bins",
    "Categories",
    "Cells",
    "Digits",
    "Domain",
    "Fields",
    "Floats",
    "Grid",
    "Ints",
    "KeyLevel",
    "Keys",
    "Membership",
    "Ordered",
    "Pattern",
    "Presence",
    "PublicSet",
    "Scale",
]
