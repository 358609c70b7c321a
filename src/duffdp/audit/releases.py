"""Releases to audit from the outside: every statistic of the registry with every choice of
mechanism, for a row, a row in one of many groups, a person with several rows, or an edge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from duffdp.audit.lower_bound import LowerBound, Outputs, lower_bound
from duffdp.optional import load
from duffdp.pipeline.distribution import Distribution
from duffdp.pipeline.outcome import Release
from duffdp.statistics.entry import Entry, Parameters
from duffdp.statistics.registry import entries

Family = Literal["row", "group", "person", "edge"]
Verb = Callable[..., Release]
# Data sets whose last record is the one that joins, for statistics that tell others apart better
# than the first one.
FEW = (0, 0, 0, 2)
TELLING: dict[str, tuple[Any, ...]] = {
    "median": (0, 0, 2, 2, 2),
    "mode": (0, 0, 2, 2, 2),
    "top": (0, 0, 2, 2, 2),
    "iqr": (0, 0, 2),
    "trimmed_mean": (0, 2),
    "variance": (*[0] * 20, 2),
    "std": (*[0] * 20, 2),
    "describe": (2,),
    "quantiles": (0, 0, 0, 0, 2, 2),
    "slope": ((0, 0), (1, 0), (2, 4)),
    "triangles": ((0, 1), (1, 2), (0, 2)),
    "stars": ((0, 1), (1, 2), (0, 2)),
}
LEAST = (2, 0)  # for the least record
CONTRIBUTIONS = 2
ROWS = 3  # of the person who joins: one is capped


@dataclass(frozen=True, slots=True)
class AuditedRelease:
    """A verb with its parameters and a choice of mechanism, and the kind of neighbours that it is
    audited for."""

    entry: Entry
    parameters: Parameters
    family: Family
    verb: Verb

    @property
    def title(self) -> str:
        """The call without its data."""
        said = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.entry.name}({said})"

    def __str__(self) -> str:
        return f"{self.title} by {self.family}"

    def lower_bound(self, epsilon: float, draws: int) -> LowerBound:
        """What so many draws for each of two neighbours tell about an epsilon."""
        told = TELLING.get(self.entry.name, FEW)
        *data, joined = LEAST if self.parameters.get("q") == 0 else told
        here, there = (self._draws(data, j, epsilon, draws) for j in ((), (joined,)))
        return lower_bound(here, there)

    def _draws(
        self, data: Sequence[Any], joined: Iterable[Any], epsilon: float, many: int
    ) -> Outputs:
        given = {**self.parameters, "epsilon": epsilon}
        if not self.entry.of_graphs and self.entry.own_domain is None:
            given |= {"bounds": (0, 2), "step": 1}
        if self.family in ("row", "edge"):
            records = [*data, *joined]
            return np.array([_numbers(self._release(records, given)) for _ in range(many)])
        rows = [(value, i) for i, value in enumerate(data)]
        rows += [(value, len(data)) for value in joined for _ in range(self._rows)]
        return np.array(_numbers(self._release_groups(rows, many, given))).reshape(many, -1)

    @property
    def _rows(self) -> int:
        return ROWS if self.family == "person" else 1

    def _release(self, records: list[Any], given: dict[str, Any]) -> Release:
        if self.entry.of_graphs:
            return self.verb(records, **given)
        if self.entry.of_pairs:
            x, y = np.array(records, dtype=float).reshape(-1, 2).T
            return self.verb(x, y, **given)
        return self.verb(np.array(records, dtype=float), **given)

    def _release_groups(
        self, rows: list[tuple[Any, int]], many: int, given: dict[str, Any]
    ) -> Release:
        """The same rows in each of many groups, with people of its own: as many draws."""
        arrow = load("pyarrow", "cli")
        width = 2 if self.entry.of_pairs else 1
        records = np.array([value for value, _ in rows], dtype=float).reshape(len(rows), width)
        people = np.array([person for _, person in rows], dtype=np.int64)
        groups = np.arange(many, dtype=np.int64)
        table = {
            "group": np.repeat(groups, len(rows)),
            "person": (groups[:, None] * (len(rows) + 1) + people).ravel(),
            **{name: np.tile(column, many) for name, column in zip("xy", records.T, strict=False)},
        }
        given |= {"by": "group", "keys": groups.tolist()}
        if self.family == "person":
            given |= {"unit": "person", "contributions": CONTRIBUTIONS}
        frame = arrow.table(table)
        if self.entry.of_pairs:
            return self.verb("x", "y", data=frame, **given)
        return self.verb(frame, column="x", **given)


def audited_releases(verbs: Any) -> Iterator[AuditedRelease]:
    """All of them; `verbs` is the package, or anything else that has the verbs by name."""
    for known in entries():
        families: tuple[Family, ...] = ("edge",) if known.of_graphs else ("row", "group", "person")
        for example in known.examples:
            for choice in known.choices:
                chosen = {"mechanism": choice} if len(known.choices) > 1 else {}
                for family in families:
                    verb = getattr(verbs, known.name)
                    yield AuditedRelease(known, {**example, **chosen}, family, verb)


def _numbers(release: Release) -> list[float]:
    """What a release says, group by group, as numbers."""
    return [number for _, _, value in release.rows() for number in _of_value(value)]


def _of_value(value: Any) -> list[float]:
    if isinstance(value, Distribution):
        return [float(value.count), value.cdf(0), value.cdf(1)]
    return [float(value)]
