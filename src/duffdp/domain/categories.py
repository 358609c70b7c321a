"""A public list of categories.

Promise: A record is one of the public categories or is dropped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from duffdp.domain._aliases import Array
from duffdp.errors import Argument, BoundsError


class Categories:
    """A public list of categories: the possible values of a mode, `top`, a histogram or a share.

    Parameters
    ----------
    values
        At least two different hashable values, none of them missing (None, nan).

    Methods
    -------
    value, values, index

    Privacy
    -------
    The list is public and must not be taken from the data. Records with another value are dropped.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1: modes over a finite set.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.Categories(["a", "b"]).value(1)
    'b'
    """

    __slots__ = ("_position", "size", "values_")

    def __init__(self, values: Iterable[Hashable]) -> None:
        fix = (" Pass for example ", Argument("categories", ["yes", "no"]), ".")
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise BoundsError(
                Argument("categories"),
                f" must be a list of values, got {values!r:.60}.",
                *(
                    (" Pass ", Argument("categories", [values]), ".")
                    if isinstance(values, str)
                    else fix
                ),
            )
        items = [item.item() if isinstance(item, np.generic) else item for item in values]
        if not items:
            raise BoundsError(Argument("categories"), " must not be empty.", *fix)
        position: dict[Hashable, int] = {}
        for item in items:
            try:
                missing, duplicate = item is None or bool(item != item), item in position
            except (TypeError, ValueError):
                raise BoundsError(
                    Argument("categories"),
                    f" must be hashable values such as text or numbers, got {item!r}.",
                    *fix,
                ) from None
            if missing:
                raise BoundsError(
                    Argument("categories"),
                    f" must not contain missing values, got {item!r}. Leave it out: missing "
                    "records are dropped.",
                )
            if duplicate:
                raise BoundsError(
                    Argument("categories"),
                    f" must differ from each other, got {item!r} twice. List each once.",
                )
            position[item] = len(position)
        self.values_ = tuple(items)
        self.size = len(items)
        self._position = position

    @property
    def kind(self) -> str:
        return "category"

    def value(self, index: int) -> Any:
        """The category with this index."""
        return self.values_[index]

    def values(self, indices: Iterable[int]) -> Array:
        """The categories with these indices as an array of objects."""
        out = np.empty(len(positions := list(indices)), dtype=object)
        out[:] = [self.values_[i] for i in positions]
        return out

    def record_index(self, record: object) -> int:
        """Index of a record's category; -1 for any other or missing value."""
        try:
            return self._position.get(record, -1)
        except Exception:  # it cannot be hashed or compared, whatever the reason
            return -1

    def find(self, value: object) -> int | None:
        """Index of a category; None for any other value."""
        index = self.record_index(value)
        return index if index >= 0 else None

    def index(self, value: object) -> int:
        """Index of a category; an error for any other value."""
        index = self.record_index(value)
        if index < 0:
            raise BoundsError(f"expected one of the {self.size} categories, got {value!r}.")
        return index

    def parameters(self) -> dict[str, Any]:
        """The public parameters that define the domain."""
        return {"categories": list(self)}

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values_)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Categories) and self.values_ == other.values_

    def __hash__(self) -> int:
        return hash(self.values_)

    def __repr__(self) -> str:
        return f"Categories({list(self.values_)!r})"
