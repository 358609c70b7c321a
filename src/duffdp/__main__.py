"""`python -m duffdp` is the command `duffdp`, also where no folder of commands is on the path."""

from __future__ import annotations

from duffdp._cli import main

main()
