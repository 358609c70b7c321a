"""`duffdp triangles`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from duffdp.cli import options as o

Edges = Annotated[Path, typer.Argument(help="A CSV file with an edge a line: two columns of node numbers.")]
Nodes = Annotated[int, typer.Option("--nodes", help="The public number of nodes, those without edges included.")]


def triangles(
    edges: Edges, epsilon: o.Epsilon, nodes: Nodes, mechanism: o.Chosen = o.Mechanism.best, ledger: o.Book = None,
    dataset: o.Dataset = None, call_id: o.CallId = None, form: o.Shown = o.Format.table, out: o.Out = None,
) -> None:  # fmt: skip
    """A private number of triangles of a graph; the guarantee is for one edge."""
    import duffdp
    from duffdp.cli.shown import check_format, show
    from duffdp.cli.single import opened_ledger

    check_format(form, out)
    release = duffdp.triangles(
        edges, epsilon=epsilon, nodes=nodes, mechanism=str(mechanism), ledger=opened_ledger(ledger, dataset, call_id)
    )
    show([release], [""], form, out)
