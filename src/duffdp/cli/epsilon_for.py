"""`duffdp epsilon-for`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from duffdp.cli.planning import question, with_options

Within = Annotated[
    float | None, typer.Option("--within", help="How far from the truth an answer may be.")
]
Probability = Annotated[
    float | None,
    typer.Option("--probability", "-p", help="How often it has to be within: 0.95 if not said."),
]
Width = Annotated[
    float | None,
    typer.Option("--width", help="Or how wide the interval may be on the average (--interval)."),
]
Output = Annotated[
    str | None,
    typer.Option("--output", metavar="NAME", help="Which of several numbers; else every one."),
]
OneMechanism = Annotated[str, typer.Option("--mechanism", help="best, duff or a baseline.")]


@with_options(
    [("within", Within, None), ("probability", Probability, None), ("width", Width, None)],
    [("output", Output, None), ("mechanism", OneMechanism, "best")],
)
def epsilon_for(**given: Any) -> None:
    """The smallest epsilon that is accurate enough.

    NOT PRIVATE for a file: use public or synthetic records.
    """
    from duffdp import planning
    from duffdp.cli.output import say

    wish = {name: given[name] for name in ("within", "probability", "width", "output")}
    if wish["within"] is not None and wish["probability"] is None:
        wish["probability"] = 0.95
    say(str(planning.epsilon_for(**wish, mechanism=given["mechanism"], **question(given))))
