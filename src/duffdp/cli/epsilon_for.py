"""`duffdp epsilon-for`."""

from __future__ import annotations

from typing import Annotated

import typer

from duffdp.cli.preview import (
    Bounds,
    Categories,
    Column,
    Delta,
    Digits,
    Number,
    Quantile,
    Shape,
    Statistic,
    Step,
)

Within = Annotated[float, typer.Option("--within", help="How far from the truth an answer may be.")]
Probability = Annotated[
    float, typer.Option("--probability", "-p", help="How often it has to be within.")
]
OneMechanism = Annotated[str, typer.Option("--mechanism", help="best, duff or a baseline.")]


def epsilon_for(
    data: Shape,
    within: Within,
    probability: Probability = 0.95,
    column: Column = None,
    n: Number = None,
    statistic: Statistic = "median",
    q: Quantile = None,
    bounds: Bounds = None,
    digits: Digits = None,
    step: Step = None,
    categories: Categories = None,
    mechanism: OneMechanism = "best",
    delta: Delta = None,
) -> None:
    """The smallest epsilon that is accurate enough.

    NOT PRIVATE for a file: use public or synthetic records.
    """
    from duffdp import planning
    from duffdp.cli.output import say
    from duffdp.cli.planning import question

    asked = question(data, column, n, statistic, q, bounds, digits, step, categories)
    found = planning.epsilon_for(
        within=within, probability=probability, mechanism=mechanism, delta=delta, **asked
    )
    say(str(found))
