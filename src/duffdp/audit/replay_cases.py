"""The calls of `duffdp audit --replay`: every statistic with every mechanism, with intervals and
noisy sizes, for rows, groups, people and edges of a synthetic table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import duffdp
from duffdp._optional import load
from duffdp.audit.neighbor_tables import Neighbors, neighbors
from duffdp.audit.replay import Replay, replay
from duffdp.domain.pattern import Pattern
from duffdp.statistics.registry import REGISTRY
from duffdp.statistics.spec import StatisticSpec

CASE_BOUNDS = (0, 1000)
CASE_KEYS = ["a", "b", "c"]
GROUP_ENDS = (0.8, 0.97)  # shares of the table up to the end of each group but the last
CASE_NODES = 40
# The rows that count of a person, in all and in each of two groups, and the rows of a person who
# joins: some do not count.
SELECTIONS_BY_KIND: dict[str, dict[str, Any]] = {
    "row": {},
    "group": {"by": "group", "keys": CASE_KEYS},
    "person": {"unit": "person", "contributions": 2},
    "person in groups": {
        "unit": "person",
        "contributions": 2,
        "groups_per_person": 2,
        "by": "group",
        "keys": CASE_KEYS,
    },
    "found key": {"by": "group", "keys": Pattern("[a-d]", false_keys=1)},
    "person with found keys": {
        "unit": "person",
        "contributions": 2,
        "groups_per_person": 2,
        "by": "group",
        "keys": Pattern("[a-d]", false_keys=1),
    },
}
ROWS_OF_JOINING = 7  # more than the two that count
CASE_CONFIDENCE = 0.8
FAR = 10.0**6  # a y beyond all others: its slopes are all above or all below those of other rows
MORE_EXAMPLES: dict[str, tuple[dict[str, Any], ...]] = {"quantiles": ({"qs": (0, 0.5, 1)},)}


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
        """Replay the call on each pair of neighbors: one with findings, or the largest loss."""
        results = [replay(self, pair.data, pair.neighbor, seed=seed) for pair in self.neighbors()]
        return max(results, key=lambda result: (not result.ok, result.loss))

    def neighbors(self) -> Iterator[Neighbors]:
        """Pairs whose difference moves evidence as far as it may: records at both bounds."""
        if self.spec.of_graphs:
            yield Neighbors("the last edge joins", self.data[:-1], self.data)
            return
        column, values = "x", tuple(map(float, CASE_BOUNDS))
        if self.spec.of_pairs:  # the last row is at the end of x, far above or below the others
            column, values = "y", (-FAR, FAR)
        unit = SELECTIONS_BY_KIND[self.kind].get("unit")
        yield from neighbors(
            self.data, column=column, values=values, unit=unit, rows=ROWS_OF_JOINING
        )

    def __call__(self, data: object, rng: object) -> Any:
        """Run the call."""
        verb = getattr(duffdp, self.spec.name)
        options = {**self.options, "epsilon": 1, "rng": rng}
        if self.spec.of_graphs:
            return verb(data, **options)
        if not self.spec.makes_domain:
            options |= {"bounds": CASE_BOUNDS, "step": 1}
        options |= SELECTIONS_BY_KIND[self.kind]
        if self.spec.of_pairs:
            return verb("x", "y", data=data, **options)
        return verb(data, column="x", **options)


def replay_cases(rows: int) -> Iterator[ReplayCase]:
    """Every call, on a table with this many rows."""
    table, edges = synthetic_table(rows), _edges()
    sorted_table = table.sort_by("x")
    for spec in REGISTRY.values():
        for options in _option_sets(spec):
            if spec.of_graphs:
                yield ReplayCase(spec, {**options, "nodes": CASE_NODES}, "edge", edges)
                continue
            for kind in SELECTIONS_BY_KIND:
                selection = SELECTIONS_BY_KIND[kind]
                if "unit" in selection and options.get("covers") == "population":
                    continue  # rows of a person are no sample
                if "by" not in selection and "suppress_below" in options:
                    continue  # sizes are those of groups
                yield ReplayCase(spec, options, kind, sorted_table if spec.of_pairs else table)


def _option_sets(spec: StatisticSpec) -> Iterator[dict[str, Any]]:
    """The examples of a statistic with each choice of mechanism, and the first with intervals and
    with noisy sizes.
    """
    examples = spec.examples + MORE_EXAMPLES.get(spec.name, ())
    for choice in spec.choices:
        mechanism_option = {"mechanism": choice} if len(spec.choices) > 1 else {}
        for example in examples:
            yield {**example, **mechanism_option}
        first = {**examples[0], **mechanism_option}
        if spec.has_interval(choice):
            yield {**first, "interval": CASE_CONFIDENCE}
            if spec.covers_population:
                yield {**first, "interval": CASE_CONFIDENCE, "covers": "population"}
        if not spec.of_graphs and spec.shape != "distribution":
            yield {**first, "suppress_below": 5}


def synthetic_table(rows: int) -> Any:
    """Skewed numbers with ties, in a large, a middle and a small group, of people with about
    three rows.
    """
    arrow = load("pyarrow", "cli")
    order = np.arange(rows, dtype=np.uint64)
    # The high bits of multiples of an odd number: spread evenly, and the same on every machine.
    spread = [
        (order * np.uint64(odd) % np.uint64(2**32)).astype(np.float64) / 2**32
        for odd in (2654435761, 2246822519, 3266489917, 668265263)
    ]
    x = np.minimum(np.floor(-100 * np.log1p(-spread[0])), CASE_BOUNDS[1])
    group = np.array(CASE_KEYS)[np.searchsorted(GROUP_ENDS, spread[2])]
    last = min(rows, ROWS_OF_JOINING)  # a person who joins is in all groups
    group[rows - last :] = np.resize(CASE_KEYS, last)
    return arrow.table(
        {
            "x": x,
            "y": x / 2 + np.floor(100 * spread[1]),
            "group": group,
            "person": (max(rows / 3, 1) * spread[3]).astype(np.int64),
        }
    )


def _edges() -> list[tuple[int, int]]:
    """A graph with triangles; its last edge closes some."""
    edges = [(i, j) for j in range(CASE_NODES) for i in range(j) if (3 * i + 5 * j) % 4 == 0]
    return [*edges, (0, 1)] if (0, 1) not in edges else edges
