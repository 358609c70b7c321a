"""Intervals that follow from noise: how far away the exact number can be, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from duffdp.domain import PublicSet
from duffdp.statistics.entry import Column, Finish, Part


def with_noise_ends(part: Part, noisy: Any, finish: Finish | None, confidence: Fraction) -> Finish:
    """A value that rises with one noisy number, between what it would be for the least and the
    largest number that the noise leaves possible with this probability; no draw of its own.
    """

    @cache
    def largest(domain: PublicSet) -> int:
        found: int = noisy.largest_noise(part.statistic.sensitivity(domain), float(confidence))
        return found

    def columns(domain: PublicSet) -> tuple[Column, ...]:
        kinds = (Column(name, part.kind) for name in part.columns)
        (value,) = kinds if finish is None else finish.columns(domain)
        return value, *(value._replace(name=f"{value.name}_{side}") for side in ("low", "high"))

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
        (number,) = numbers
        most = largest(domain)
        each = ([number], [number - most], [number + most])
        if finish is None:
            return [max(0, total) for (total,) in each]
        return [value for total in each for value in finish.values(domain, total)]

    return Finish(columns, values)
