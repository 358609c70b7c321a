"""Releases to be made together: all checked, then all charged at once, then drawn one after the other."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from duffdp.cli.source import Source, without_pandas
from duffdp.cli.values import typed
from duffdp.errors import DuffError
from duffdp.ledger.charge import Charge, Paid, Rehearsal, Rehearsed, Request

if TYPE_CHECKING:
    from duffdp import Ledger, Release


@dataclass(slots=True)
class Task:
    """One release: the verb, its share of epsilon and its parameters; keys and categories may still be text."""

    statistic: str
    epsilon: Fraction
    column: str
    q: Any = None
    by: list[str] = field(default_factory=list)
    keys: list[list[Any]] = field(default_factory=list)
    categories: list[Any] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    @property
    def title(self) -> str:
        """Its name, or what it is."""
        several = isinstance(self.q, list)
        share = "" if self.q is None else f" {', '.join(map(str, sorted(self.q))) if several else self.q}"
        statistic = "summary" if self.statistic == "describe" else self.statistic
        return self.name or f"{statistic}{share} of {self.column}" + (f" by {', '.join(map(str, self.by))}" if self.by else "")

    @property
    def columns(self) -> list[str]:
        """All columns it needs."""
        unit = self.options.get("unit")
        return [self.column, *self.by, *([unit] if unit else [])]

    @property
    def value(self) -> tuple[str, str]:
        """The column that is released, and the kind of its public domain."""
        bounds = self.options.get("bounds")
        bound = bounds[0] if isinstance(bounds, list | tuple) and bounds else None
        timed = "datetime" if isinstance(bound, dt.datetime) else "date" if isinstance(bound, dt.date) else "float"
        return self.column, timed if self.categories is None else "category"

    @property
    def numbers(self) -> int:
        """How many numbers it releases for a group."""
        from duffdp.release import SUMMARY

        if self.statistic == "describe":
            return 1 + len(SUMMARY)
        return len(self.q) if self.statistic == "quantiles" else 1

    def release(self, source: Source, data: Any, ledger: Any) -> Release:
        """Call the verb."""
        import duffdp

        options = dict(self.options)
        bounds = options.get("bounds", ())
        if source.untyped and options.get("step") is None and bounds and all(isinstance(bound, int) for bound in bounds):
            options["step"] = 1  # as for a path
        if self.by or self.keys:
            options["by"] = self.by or None
            options["keys"] = self._keys(source) if self.keys else None
        if self.categories is not None:
            options["categories"] = (
                [str(category) for category in self.categories]
                if source.untyped
                else typed(self.column, source.types.get(self.column, ""), self.categories)
            )
        data = source.with_values(data, *self.value)
        arguments = (data, self.q) if self.q is not None else (data,)
        verb = getattr(duffdp, self.statistic)
        release: Release = verb(*arguments, epsilon=self.epsilon, column=self.column, ledger=ledger, **options)
        return release

    def _keys(self, source: Source) -> list[tuple[Any, ...]]:
        """All combinations of the keys of each column, of the types of the columns."""
        if len(self.keys) != len(self.by):
            raise DuffError(f"each --by needs its own --keys, got {len(self.by)} and {len(self.keys)}.")
        if source.untyped:
            return list(itertools.product(*([str(key) for key in keys] for keys in self.keys)))
        parts = [typed(name, source.types.get(name, ""), keys) for name, keys in zip(self.by, self.keys, strict=True)]
        return list(itertools.product(*parts))


def rehearse(tasks: Iterable[Task], source: Source) -> list[Request]:
    """What each release would cost, after all checks that need no rows."""
    requests = []
    for task in tasks:
        try:
            task.release(source, source.shape, Rehearsal())
        except Rehearsed as stopped:
            requests.append(stopped.request)
    return requests


@without_pandas()
def carry_out(
    tasks: list[Task], source: Source, ledger: Ledger | None, done: Callable[[], None] = lambda: None
) -> list[Release]:  # fmt: skip
    """Make the releases: nothing is charged if one of them cannot be made, and nothing is read before all are paid."""
    requests = rehearse(tasks, source)
    charges = [Charge(request) for request in requests] if ledger is None else ledger.charge_all(requests)
    data = source.shape
    if any(charge.drawn is None for charge in charges):
        data = source.rows(list(dict.fromkeys(column for task in tasks for column in task.columns)))
    releases = []
    for task, charge in zip(tasks, charges, strict=True):
        releases.append(task.release(source, data, Paid(charge)))
        done()
    return releases
