"""Intervals that follow from noise: how far away the exact number can be, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from duffdp.domain import PublicSet
from duffdp.statistics.entry import Column, Finish, Parameters, Part, Promise

Parts = tuple[Part, ...]


def with_ends(value: Column) -> tuple[Column, ...]:
    """The column of a value and those of the ends of its interval."""
    return value, *(value._replace(name=f"{value.name}_{side}") for side in ("low", "high"))


def largest_noise(part: Part, promise: Promise, domain: PublicSet, many: int = 1) -> int:
    """The noise of one of so many numbers that is not exceeded as often as is promised."""
    noisy = promise.mechanism(part.mechanism, promise.epsilon * part.share)
    moved = part.statistic.sensitivity(domain)
    found: int = noisy.largest_noise(moved, 1 - promise.each(many))
    return found


def around_number(
    parts: Parts, finish: Finish | None, _: Parameters, promise: Promise
) -> tuple[Parts, Finish]:
    """A value that rises with one noisy number, between what it would be for the least and the
    largest number that the noise leaves possible; no draw of its own.
    """
    (part,) = parts

    @cache
    def largest(domain: PublicSet) -> int:
        return largest_noise(part, promise, domain)

    def columns(domain: PublicSet) -> tuple[Column, ...]:
        kinds = (Column(name, part.kind) for name in part.columns)
        (value,) = kinds if finish is None else finish.columns(domain)
        return with_ends(value)

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
        (number,) = numbers
        most = largest(domain)
        each = ([number], [number - most], [number + most])
        if finish is None:
            return [max(0, total) for (total,) in each]
        return [value for total in each for value in finish.values(domain, total)]

    return parts, Finish(columns, values)


def around_cells(
    parts: Parts, finish: Finish, _: Parameters, promise: Promise
) -> tuple[Parts, Finish]:
    """The number of records in each cell, between what the noise leaves possible; ends make room
    for numbers that were moved, to add up or because there are no fewer than none.
    """
    (part,) = parts

    @cache
    def largest(domain: PublicSet) -> int:
        return largest_noise(part, promise, domain, domain.size)

    def columns(domain: PublicSet) -> tuple[Column, ...]:
        return tuple(each for cell in finish.columns(domain) for each in with_ends(cell))

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[int]:
        most, found = largest(domain), []
        for number, value in zip(numbers, finish.values(domain, numbers), strict=True):
            low, high = max(0, number - most), max(0, number + most)
            found += [value, min(low, value), max(high, value)]
        return found

    return parts, Finish(columns, values)
