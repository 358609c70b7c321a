"""The public set of possible outputs: a grid of values, a list of categories, or cells in which
records are counted."""

from duffdp.domain.aliases import Array, Floats, Ints, Keys
from duffdp.domain.bins import Bins
from duffdp.domain.categories import Categories
from duffdp.domain.grid import Grid
from duffdp.domain.membership import Membership
from duffdp.domain.presence import Presence

Domain = Grid | Categories  # candidates, one of which comes out
Cells = Bins | Membership | Presence  # which come out with their counts
PublicSet = Domain | Cells
Scale = Grid | Bins  # numbers, dates or times in order

__all__ = [
    "Array",
    "Bins",
    "Categories",
    "Cells",
    "Domain",
    "Floats",
    "Grid",
    "Ints",
    "Keys",
    "Membership",
    "Presence",
    "PublicSet",
    "Scale",
]
