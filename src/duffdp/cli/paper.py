"""`duffdp paper`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import typer

from duffdp.errors import DuffError


def paper(context: typer.Context) -> None:
    """Run the experiments of the paper.

    In a copy of the source that holds the folder 'experiments'; further arguments go to them.
    """
    if not Path("experiments", "__main__.py").is_file():
        raise DuffError("there is no folder 'experiments' here. Run it in the top folder of the source of duffdp.")
    raise typer.Exit(subprocess.run([sys.executable, "-m", "experiments", *context.args], check=False).returncode)
