"""Writes the help of every command into commands.md: `python docs/commands.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from duffdp._cli.app import application

PAGE = Path(__file__).parent / "reference" / "commands.md"
BEGIN, END = "<!-- help: written by commands.py -->", "<!-- end of help -->"
WIDTH = {"COLUMNS": "110", "NO_COLOR": "1"}


def commands(group: click.Group = application, prefix: str = "") -> Iterator[str]:
    """Every command in the order of the help, the one without a name first."""
    yield prefix
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        path = f"{prefix} {name}".strip()
        if isinstance(command, click.Group):
            yield from commands(command, path)
        else:
            yield path


def help_section(command: str) -> str:
    """The output of `duffdp COMMAND --help` in a window of 110 columns."""
    run = subprocess.run(
        [sys.executable, "-c", "from duffdp._cli import main; main()", *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | WIDTH,
    )
    lines = "\n".join(line.rstrip() for line in run.stdout.strip().splitlines())
    title = f"duffdp {command}".strip()
    return f"### {title}\n\n```text\n{lines}\n```\n"


def page() -> str:
    """The page with the help as it is now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n" + "\n".join(map(help_section, commands())) + f"\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
