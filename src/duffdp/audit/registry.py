"""What of the registry can be audited by its explicit law: each statistic with the mechanisms
that it is released by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from duffdp.domain import Grid
from duffdp.facts import MechanismFact
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.pipeline.recipe import make_recipe
from duffdp.statistics.registry import entries
from duffdp.steps import StepFunction


@dataclass(frozen=True, slots=True)
class Audited:
    """A statistic with a step function, and the mechanism that draws from it."""

    title: str
    statistic: Any
    mechanism: type[Mechanism]
    fact: MechanismFact


class ByNumber:
    """A statistic of pairs for records that are numbers: points of an arch, in order."""

    def __init__(self, statistic: Any) -> None:
        self._statistic = statistic

    def steps(self, values: Iterable[int], domain: Grid) -> StepFunction:
        """The step function of the points."""
        pairs = [(i, i * (7 - i) // 2) for i in values]  # slopes of 3, 2, 1 and between
        steps: StepFunction = self._statistic.steps(pairs, domain)
        return steps


def audited() -> Iterator[Audited]:
    """Every statistic of tables that is one draw from a step function, with each choice of
    mechanism."""
    for known in entries():
        for example in known.examples:
            for choice in known.choices:
                made = make_recipe(known.name, tuple(example.items()), choice, 1)
                for recipe in filter(None, (made, made.coarse)):
                    (part, mechanism), *others = recipe.parts
                    if not others and not known.of_graphs and isinstance(mechanism, Mechanism):
                        title = known.title(recipe.statistic.parameters)
                        asked = ByNumber(part.statistic) if known.of_pairs else part.statistic
                        yield Audited(title, asked, type(mechanism), recipe.mechanism)
