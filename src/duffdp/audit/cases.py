"""The releases that are audited.

By their explicit law: every statistic of the registry that is one draw from a step function. From
the outside: every statistic with every choice of mechanism, for a row, a row in one of many groups,
a person with several rows, or an edge.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

import duffdp
from duffdp._facts import MechanismFact
from duffdp._optional import load
from duffdp._pipeline.distribution import Distribution
from duffdp._pipeline.draw_plan import Terms
from duffdp._pipeline.release import Release
from duffdp._steps import StepFunction
from duffdp.audit.lower_bound import LowerBound, Outputs, lower_bound
from duffdp.domain import Grid
from duffdp.mechanisms import mechanism_class
from duffdp.mechanisms.mechanism import DistanceMechanism
from duffdp.statistics.registry import REGISTRY
from duffdp.statistics.spec import Parameters, StatisticSpec

EXAMPLE_GRIDS = Grid(0, 3, 1), Grid(0, 2**30, 1)  # mechanisms depend on the number of candidates


NeighbourKind = Literal["row", "group", "person", "edge"]
Verb = Callable[..., Release]
# Data sets whose last record is the one that joins, for statistics that tell others apart better
# than the first one.
DEFAULT_DATA = (0, 0, 0, 2)
REVEALING_DATA: dict[str, tuple[Any, ...]] = {
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
MINIMUM_DATA = (2, 0)  # for the least record
MAX_CONTRIBUTIONS = 2
JOINING_ROWS = 3  # of the person who joins: one is capped
ATTACK_FALSE_ALARM = 1e-6  # of all attacks together, for a sound library


@dataclass(frozen=True, slots=True)
class MechanismCase:
    """A statistic with a step function, and the mechanism that draws from it."""

    title: str
    statistic: Any
    mechanism: type[DistanceMechanism]
    fact: MechanismFact


class PairStatistic:
    """A statistic of pairs as one of numbers: each number is a point of an arch, in order."""

    def __init__(self, statistic: Any) -> None:
        self._statistic = statistic

    def steps(self, values: Iterable[int], domain: Grid) -> StepFunction:
        """The step function of the points."""
        pairs = [(i, i * (7 - i) // 2) for i in values]  # slopes of 3, 2, 1 and between
        steps: StepFunction = self._statistic.steps(pairs, domain)
        return steps


def mechanism_cases() -> Iterator[MechanismCase]:
    """Every statistic of tables that is one draw from a step function, with each choice of
    mechanism."""
    for spec in REGISTRY.values():
        for example in spec.examples:
            for choice in spec.choices:
                terms = Terms.check(spec.name, {**example, "mechanism": choice, "epsilon": 1})
                if spec.of_graphs:
                    continue
                for plan in {
                    terms.plan(domain).mechanism: terms.plan(domain) for domain in EXAMPLE_GRIDS
                }.values():
                    part, *later_parts = plan.program.draws
                    kind = mechanism_class(part.mechanism)
                    if not later_parts and issubclass(kind, DistanceMechanism):
                        title = spec.title(plan.statistic.parameters)
                        statistic = (
                            PairStatistic(part.statistic) if spec.of_pairs else part.statistic
                        )
                        yield MechanismCase(title, statistic, kind, plan.mechanism)


@dataclass(frozen=True, slots=True)
class ReleaseCase:
    """A public function with its parameters and mechanism, and the kind of neighbors that it is
    audited for.
    """

    spec: StatisticSpec
    parameters: Parameters
    family: NeighbourKind
    verb: Verb

    @property
    def title(self) -> str:
        """The call without its data."""
        arguments = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.spec.name}({arguments})"

    def __str__(self) -> str:
        return f"{self.title} by {self.family}"

    def lower_bound(self, epsilon: float, draws: int) -> LowerBound:
        """Lower bound on epsilon from this many draws for each of two neighbors."""
        records = REVEALING_DATA.get(self.spec.name, DEFAULT_DATA)
        *data, joined = MINIMUM_DATA if self.parameters.get("q") == 0 else records
        outputs, neighbour_outputs = (self._draws(data, j, epsilon, draws) for j in ((), (joined,)))
        return lower_bound(outputs, neighbour_outputs)

    def _draws(
        self, data: Sequence[Any], joined: Iterable[Any], epsilon: float, count: int
    ) -> Outputs:
        arguments = {**self.parameters, "epsilon": epsilon}
        if not self.spec.of_graphs and not self.spec.makes_domain:
            arguments |= {"bounds": (0, 2), "step": 1}
        if self.family in ("row", "edge"):
            records = [*data, *joined]
            return np.array([_numbers(self._release(records, arguments)) for _ in range(count)])
        rows = [(value, i) for i, value in enumerate(data)]
        rows += [(value, len(data)) for value in joined for _ in range(self._rows)]
        return np.array(_numbers(self._release_groups(rows, count, arguments))).reshape(count, -1)

    @property
    def _rows(self) -> int:
        return JOINING_ROWS if self.family == "person" else 1

    def _release(self, records: list[Any], arguments: dict[str, Any]) -> Release:
        if self.spec.of_graphs:
            return self.verb(records, **arguments)
        if self.spec.of_pairs:
            x, y = np.array(records, dtype=float).reshape(-1, 2).T
            return self.verb(x, y, **arguments)
        return self.verb(np.array(records, dtype=float), **arguments)

    def _release_groups(
        self, rows: list[tuple[Any, int]], count: int, arguments: dict[str, Any]
    ) -> Release:
        """One release of many groups with copies of the rows and people of their own: as many
        draws.
        """
        arrow = load("pyarrow", "cli")
        width = 2 if self.spec.of_pairs else 1
        records = np.array([value for value, _ in rows], dtype=float).reshape(len(rows), width)
        people = np.array([person for _, person in rows], dtype=np.int64)
        groups = np.arange(count, dtype=np.int64)
        table = {
            "group": np.repeat(groups, len(rows)),
            "person": (groups[:, None] * (len(rows) + 1) + people).ravel(),
            **{name: np.tile(column, count) for name, column in zip("xy", records.T, strict=False)},
        }
        arguments |= {"by": "group", "keys": groups.tolist()}
        if self.family == "person":
            arguments |= {"unit": "person", "contributions": MAX_CONTRIBUTIONS}
        frame = arrow.table(table)
        if self.spec.of_pairs:
            return self.verb("x", "y", data=frame, **arguments)
        return self.verb(frame, column="x", **arguments)


def release_cases(verbs: object) -> Iterator[ReleaseCase]:
    """All of them; `verbs` has the functions by name: the package, or anything else."""
    for spec in REGISTRY.values():
        families: tuple[NeighbourKind, ...] = (
            ("edge",) if spec.of_graphs else ("row", "group", "person")
        )
        for example in spec.examples:
            for choice in spec.choices:
                options = {"mechanism": choice} if len(spec.choices) > 1 else {}
                for family in families:
                    verb = getattr(verbs, spec.name)
                    yield ReleaseCase(spec, {**example, **options}, family, verb)


def _numbers(release: Release) -> list[float]:
    """The released numbers, group by group."""
    return [number for _, _, value in release.rows() for number in _of_value(value)]


def _of_value(value: Any) -> list[float]:
    if isinstance(value, Distribution):
        return [float(value.count), value.cdf(0), value.cdf(1)]
    return [float(value)]


def attack_cases() -> list[ReleaseCase]:
    """Every attacked release, by the functions of the package."""
    return list(release_cases(duffdp))


def attacks(draws: int, processes: int) -> Iterator[tuple[ReleaseCase, LowerBound]]:
    """Lower bounds on epsilon from this many draws for each of two neighbors, for each release of
    epsilon 1.
    """
    cases = attack_cases()
    attack, places = partial(_attack, draws=draws), range(len(cases))
    if processes == 1:
        yield from zip(cases, map(attack, places), strict=True)
        return
    # Spawned: the threads of engines would be half-way in a fork.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        yield from zip(cases, pool.map(attack, places), strict=True)


def _attack(place: int, draws: int) -> LowerBound:
    return attack_cases()[place].lower_bound(1.0, draws)


def stays_below(bound: LowerBound, attack_count: int) -> bool:
    """True if one of so many attacks shows no epsilon above 1."""
    return bound.epsilon(1 - ATTACK_FALSE_ALARM / attack_count) <= 1
