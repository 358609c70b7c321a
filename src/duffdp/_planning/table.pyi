"""Written by tools/stubs.py; do not edit."""

from collections.abc import Iterable, Mapping
from typing import Any

from duffdp._pipeline.table import Table

def table(
    data: Any,
    statistics: Mapping[str, Any],
    *,
    epsilon: float,
    bounds: Mapping[str, Any] | None = None,
    step: Mapping[str, Any] | None = None,
    categories: Mapping[str, Any] | None = None,
    by: Any = None,
    keys: Any = None,
    other: str | None = None,
    levels: Mapping[str, Any] | bool | None = None,
    total: bool = False,
    where: str | None = None,
    unit: str | None = None,
    contributions: int = 1,
    groups_per_person: int | None = None,
    interval: float | None = 0.95,
    covers: str = "data",
    simultaneous: bool = False,
    smallest: int | None = None,
    suppress_below: int | None = None,
    weights: Mapping[str, Any] | None = None,
    mechanism: str = "best",
    names: Mapping[str, str] | None = None,
    labels: Mapping[str, Any] | None = None,
    shown_in: Mapping[str, str] | None = None,
    ledger: Any = None,
    rng: object = None,
) -> Table: ...
