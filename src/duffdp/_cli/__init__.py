"""The command `duffdp`: a command-line interface to the Python functions, built on click."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line."""
    gc.set_threshold(100_000)  # importing makes many objects and no garbage
    # Commands do no linear algebra, and starting its threads doubles the time of numpy's import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from duffdp._cli.app import run

        code = run(sys.argv[1:])
        sys.stdout.flush()
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit(
            "duffdp: the command line needs click, which is not installed. "
            "Run: pip install 'duffdp[cli]'."
        )
    except KeyboardInterrupt:  # before the first command, or after the last
        print("duffdp: stopped; what was charged stays charged", file=sys.stderr)
        code = 130
    sys.stderr.flush()
    os._exit(code)  # all files are closed, and freeing a large table would only take time
