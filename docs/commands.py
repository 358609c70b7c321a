"""Writes the help of every command into commands.md, between the marks: `python docs/commands.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).with_name("commands.md")
BEGIN, END = "<!-- help: written by commands.py -->", "<!-- end of help -->"
COMMANDS = [
    "",
    "median",
    "quantile",
    "mean",
    "mode",
    "describe",
    "triangles",
    "release",
    "ledger init",
    "ledger show",
    "ledger verify",
    "preview",
    "epsilon-for",
    "audit",
    "paper",
]


def helped(command: str) -> str:
    """What `duffdp COMMAND --help` prints in a window of 110 columns."""
    ran = subprocess.run(
        [sys.executable, "-c", "from duffdp.cli import main; main()", *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"COLUMNS": "110", "TERMINAL_WIDTH": "110", "NO_COLOR": "1"},
    )
    lines = "\n".join(line.rstrip() for line in ran.stdout.strip().splitlines())
    title = f"duffdp {command}".strip()
    return f"### {title}\n\n```text\n{lines}\n```\n"


def page() -> str:
    """The page with the help as it is now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n" + "\n".join(map(helped, COMMANDS)) + f"\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
