"""What of the registry can be audited by its explicit law: each statistic with the mechanisms
that it is released by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from duffdp.facts import MechanismFact
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.pipeline.recipe import make_recipe
from duffdp.statistics.registry import entries


@dataclass(frozen=True, slots=True)
class Audited:
    """A statistic with a step function, and the mechanism that draws from it."""

    title: str
    statistic: Any
    mechanism: type[Mechanism]
    fact: MechanismFact


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
                        yield Audited(title, part.statistic, type(mechanism), recipe.mechanism)
