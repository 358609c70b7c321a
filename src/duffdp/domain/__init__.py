"""The public set of possible outputs: a grid of values, or a list of categories."""

from duffdp.domain.aliases import Array, Floats, Ints, Keys
from duffdp.domain.categories import Categories
from duffdp.domain.grid import Grid

Domain = Grid | Categories

__all__ = ["Array", "Categories", "Domain", "Floats", "Grid", "Ints", "Keys"]
