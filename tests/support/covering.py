"""Parametrizations that cover pairs: for products that are too large to run in full."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any


def every_pair(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """A part of the product of axes in which any two values of two axes meet at least once.

    A fault that depends on two values, such as an engine and a type, is seen as in the whole
    product; one that takes three values to show may be missed.

    Examples
    --------
    >>> every_pair("ab", (1, 2), (True, False))
    [('a', 1, True), ('a', 2, False), ('b', 1, False), ('b', 2, True)]
    >>> len(every_pair(range(11), range(8), range(4)))
    88
    """
    lists = [list(axis) for axis in axes]
    rows = list(product(*(range(len(values)) for values in lists)))
    pairs = list(combinations(range(len(lists)), 2))
    missing = {(a, b, row[a], row[b]) for row in rows for a, b in pairs}
    chosen = []
    while missing:
        meets = [{(a, b, row[a], row[b]) for a, b in pairs} & missing for row in rows]
        best = max(range(len(rows)), key=lambda at: len(meets[at]))
        missing -= meets[best]
        chosen.append(rows[best])
    return [
        tuple(values[at] for values, at in zip(lists, row, strict=True)) for row in sorted(chosen)
    ]
