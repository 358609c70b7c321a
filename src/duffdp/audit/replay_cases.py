"""The calls that `duffdp audit --replay` walks: every statistic of the registry with every choice
of mechanism and with an interval, for rows, groups, people and edges of a synthetic table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import duffdp
from duffdp._optional import load
from duffdp.audit.neighbor_tables import neighbors
from duffdp.audit.replay import Replay, replay
from duffdp.statistics.registry import REGISTRY
from duffdp.statistics.spec import StatisticSpec

BOUNDS = (0, 1000)
KEYS = ["a", "b", "c"]
NODES = 40
# The rows that count of a person, in all and in each of two groups, and the rows of a person who
# joins: some do not count.
SELECTIONS: dict[str, dict[str, Any]] = {
    "row": {},
    "group": {"by": "group", "keys": KEYS},
    "person": {"unit": "person", "contributions": 2},
    "person in groups": {
        "unit": "person",
        "contributions": 2,
        "groups_per_person": 2,
        "by": "group",
        "keys": KEYS,
    },
}
JOINING_ROWS = 7
CONFIDENCE = 0.8


@dataclass(frozen=True, slots=True)
class ReplayCase:
    """A call with the kind of its neighbors, and the data that it is replayed on."""

    spec: StatisticSpec
    options: dict[str, Any]
    kind: str
    data: Any

    def __str__(self) -> str:
        words = [f"{name}={value}" for name, value in self.options.items() if name != "nodes"]
        return f"{self.spec.name}({', '.join(words)}), {self.kind}"

    def replay(self, seed: int = 0) -> Replay:
        """Replay the call: a record or person at a bound joins."""
        if self.spec.of_graphs:
            return replay(self, self.data[:-1], self.data, seed=seed)
        unit = SELECTIONS[self.kind].get("unit")
        value = float(BOUNDS[0] if self.spec.makes_domain else BOUNDS[1])
        pairs = neighbors(self.data, column="x", values=[value], unit=unit, rows=JOINING_ROWS)
        _, pair = pairs
        return replay(self, pair.data, pair.neighbor, seed=seed)

    def __call__(self, data: Any, rng: object) -> Any:
        """Run the call."""
        verb = getattr(duffdp, self.spec.name)
        options = {**self.options, "epsilon": 1, "rng": rng}
        if self.spec.of_graphs:
            return verb(data, **options)
        if not self.spec.makes_domain:
            options |= {"bounds": BOUNDS, "step": 1}
        options |= SELECTIONS[self.kind]
        if self.spec.of_pairs:
            return verb("x", "y", data=data, **options)
        return verb(data, column="x", **options)


def replay_cases(rows: int) -> Iterator[ReplayCase]:
    """Every call, on a table with this many rows."""
    table, edges = synthetic_table(rows), _edges()
    for spec in REGISTRY.values():
        for options in _option_sets(spec):
            if spec.of_graphs:
                yield ReplayCase(spec, {**options, "nodes": NODES}, "edge", edges)
                continue
            for kind in SELECTIONS:
                yield ReplayCase(spec, options, kind, table)


def _option_sets(spec: StatisticSpec) -> Iterator[dict[str, Any]]:
    """The examples of a statistic with each choice of mechanism, and the first with intervals."""
    for choice in spec.choices:
        chosen = {"mechanism": choice} if len(spec.choices) > 1 else {}
        for example in spec.examples:
            yield {**example, **chosen}
        if spec.has_interval(choice):
            yield {**spec.examples[0], **chosen, "interval": CONFIDENCE}


def synthetic_table(rows: int) -> Any:
    """Skewed numbers with ties, in groups, of people with about three rows."""
    arrow = load("pyarrow", "cli")
    order = np.arange(rows, dtype=np.uint64)
    # The high bits of multiples of an odd number: spread evenly, and the same on every machine.
    spread = [
        (order * np.uint64(odd) % np.uint64(2**32)).astype(np.float64) / 2**32
        for odd in (2654435761, 2246822519, 3266489917, 668265263)
    ]
    x = np.minimum(np.floor(-100 * np.log1p(-spread[0])), BOUNDS[1])
    return arrow.table(
        {
            "x": x,
            "y": x / 2 + np.floor(100 * spread[1]),
            "group": np.array(KEYS)[(len(KEYS) * spread[2]).astype(np.int64)],
            "person": (max(rows / 3, 1) * spread[3]).astype(np.int64),
        }
    )


def _edges() -> list[tuple[int, int]]:
    """A graph with triangles; its last edge closes some."""
    edges = [(i, j) for j in range(NODES) for i in range(j) if (3 * i + 5 * j) % 4 == 0]
    return [*edges, (0, 1)] if (0, 1) not in edges else edges
