"""What numbers stand for once they are released."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from duffdp.domain import Grid, PublicSet
from duffdp.statistics.entry import Column


def reader(column: Column, domain: Any) -> Callable[[int], Any]:
    """What is released of a drawn number, where nothing else is made of it."""
    return domain.value if column.kind == "candidate" else partial(max, 0)


def whole_range(column: Column, domain: PublicSet) -> tuple[Any, Any] | None:
    """The ends of an interval that says nothing; None if there are no such ends."""
    if column.kind != "candidate":
        return None
    assert isinstance(domain, Grid)
    return domain.value(0), domain.value(domain.size - 1)
