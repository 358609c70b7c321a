"""`duffdp paper`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duffdp.errors import DuffError
from duffdp.optional import load


def paper(
    out: Annotated[
        Path, typer.Option(help="The folder for paper.md and its figures.", file_okay=False)
    ],
    data: Annotated[
        Path, typer.Option(help="The file vertebral_column.csv of the source.", dir_okay=False)
    ],
) -> None:
    """Run the experiments of the paper.

    Writes figures, tables and a page with every claim beside what was measured.
    """
    if not data.is_file():
        raise DuffError(
            f"there is no file {str(data)!r}. Pass demo/vertebral_column.csv of the source."
        )
    for package in ("scipy", "matplotlib", "rich"):
        load(package, "paper")
    from duffdp.research.experiments.run import run

    out.mkdir(parents=True, exist_ok=True)
    run(out, data)
    typer.echo(f"written: {out / 'paper.md'} and {out / 'paper'}")
