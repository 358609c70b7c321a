"""The command `duffdp`: a thin skin over the Python interface, one file a command."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from threading import Thread

READS_DATA = {"median", "quantile", "mean", "mode", "release"}
LOADER = Thread(target=lambda: _load(), daemon=True)


def main() -> None:
    """Run the command line."""
    if READS_DATA & set(sys.argv[1:2]):
        LOADER.start()
    try:
        from duffdp.cli.app import run

        code = run(sys.argv[1:])
    except ModuleNotFoundError as error:
        if error.name != "typer":
            raise
        sys.exit("duffdp: the command line needs typer, which is not installed. Run: pip install 'duffdp[cli]'.")
    except KeyboardInterrupt:  # before the first command
        print("duffdp: stopped; what was charged stays charged", file=sys.stderr)
        code = 130
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # all files are closed; taking a large table apart in memory would only cost time


def _load() -> None:
    """What a release needs, loaded while the options are read: half of the time before the first row."""
    with suppress(ImportError):
        import duckdb  # noqa: F401
        import narwhals  # noqa: F401

        import duffdp.release  # noqa: F401
