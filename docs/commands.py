"""Writes the help of every command into commands.md: `python docs/commands.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from duffdp.cli.app import application

PAGE = Path(__file__).with_name("commands.md")
BEGIN, END = "<!-- help: written by commands.py -->", "<!-- end of help -->"
WIDTH = {"COLUMNS": "110", "TERMINAL_WIDTH": "110", "NO_COLOR": "1"}


def commands() -> Iterator[str]:
    """Every command in the order of the help, the one without a name first."""
    app = application()
    yield ""
    for command in app.registered_commands:
        yield str(command.name)
    for group in app.registered_groups:
        for inner in group.typer_instance.registered_commands:
            yield f"{group.name} {inner.callback.__name__}"


def helped(command: str) -> str:
    """What `duffdp COMMAND --help` prints in a window of 110 columns."""
    ran = subprocess.run(
        [sys.executable, "-c", "from duffdp.cli import main; main()", *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | WIDTH,
    )
    lines = "\n".join(line.rstrip() for line in ran.stdout.strip().splitlines())
    title = f"duffdp {command}".strip()
    return f"### {title}\n\n```text\n{lines}\n```\n"


def page() -> str:
    """The page with the help as it is now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n" + "\n".join(map(helped, commands())) + f"\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
