"""Every verb with every choice of mechanism, from the registry: a new statistic is called without
a new line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

import duffdp
from duffdp.statistics.custom import CustomSpec
from duffdp.statistics.registry import REGISTRY
from duffdp.statistics.spec import StatisticSpec


@dataclass(frozen=True)
class Call:
    """A verb with its parameters and its choice of mechanism."""

    spec: StatisticSpec
    verb: Callable[..., duffdp.Release]
    parameters: Mapping[str, Any]

    def outputs(self, **grid: Any) -> dict[str, Any]:
        """What the verb takes of bounds and a step: nothing, if it has a public set of its own."""
        return {} if self.spec.makes_domain else grid

    def __call__(self, data: Any, **given: Any) -> duffdp.Release:
        return self.verb(data, **self.parameters, **given)

    def __str__(self) -> str:
        said = [f"{name}={value}" for name, value in self.parameters.items()]
        return f"{self.spec.name}({', '.join(said)})"


def slope(data: Any, *, column: str | None = None, **given: Any) -> duffdp.Release:
    """Every number with another one that follows from it, so that one record more is one pair
    more: on 0, 1 and 2 with slopes from 1/2 to 3/2.
    """
    if column is not None:
        frame = data.with_columns((2 * pl.col(column) - pl.col(column) ** 2 / 2).alias("beside"))
        return duffdp.slope(column, "beside", data=frame, **given)
    if isinstance(data, np.ndarray):
        return duffdp.slope(data, 2 * data - data**2 / 2, **given)
    beside = [2 * x - x * x / 2 for x in data] if isinstance(data, list) else data
    return duffdp.slope(data, beside, **given)


def verb(known: StatisticSpec) -> Callable[..., duffdp.Release]:
    return slope if known.of_pairs else getattr(duffdp, known.name)


def choices(known: StatisticSpec) -> list[dict[str, str]]:
    return [{"mechanism": c} for c in known.choices] if len(known.choices) > 1 else [{}]


REGISTERED = [
    Call(known, verb(known), {**example, **choice})
    for known in REGISTRY.values()
    for example in known.examples
    for choice in choices(known)
]
WITH_INTERVALS = [
    Call(known, getattr(duffdp, known.name), {**known.examples[0], "interval": 0.8, **choice})
    for known in REGISTRY.values()
    for choice in choices(known)
    if known.has_interval(choice.get("mechanism", known.choices[0]))
]
MEDIAN = duffdp.statistics.Median("rank")
OWN = [
    Call(CustomSpec(MEDIAN), partial(duffdp.release, MEDIAN), choice)
    for choice in choices(CustomSpec(MEDIAN))
]
CALLS = [*REGISTERED, *WITH_INTERVALS, *OWN]
TABLES = [call for call in CALLS if not call.spec.of_graphs]
GRAPHS = [call for call in CALLS if call.spec.of_graphs]
