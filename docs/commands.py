"""Writes docs/reference/commands.md and the pages of the Python API from the code.

python docs/commands.py
"""

from __future__ import annotations

import inspect
import runpy
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import click

from duffdp._cli.app import application

PAGE = Path(__file__).parent / "reference" / "commands.md"
T = TypeVar("T")
BEGIN, END = "<!-- written by docs/commands.py -->", "<!-- end of what is written -->"
SHARED_BY = 8  # commands with the same option


def commands(
    group: click.Group = application, prefix: str = ""
) -> Iterator[tuple[str, click.Command]]:
    """Every command with its name, in the order of the help."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        path = f"{prefix} {name}".strip()
        if isinstance(command, click.Group):
            yield from commands(command, path)
        elif command is not None:
            yield path, command


def options(command: click.Command) -> list[tuple[str, str]]:
    """The options of a command: how each is typed, and its help."""
    context = click.Context(command, show_default=True)
    records = (one.get_help_record(context) for one in command.params)
    return [
        (record[0], record[1].replace("[required]", "").strip())
        for record in records
        if record is not None and record[0].startswith("-")
    ]


def required(command: click.Command) -> list[str]:
    """The options that a command must have."""
    return [
        max(one.opts, key=len)
        for one in command.params
        if one.required and isinstance(one, click.Option)
    ]


def paragraphs(command: click.Command) -> list[str]:
    """The description of a command, each paragraph on a line of its own."""
    text = inspect.cleandoc(command.help or "")
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def shared(parts: Callable[[click.Command], list[T]]) -> list[T]:
    """Options or paragraphs that many commands have."""
    counts = Counter(one for _, command in commands() for one in parts(command))
    return [one for one, count in counts.items() if count >= SHARED_BY]


def option_name(record: tuple[str, str]) -> str:
    """The longest name of an option, as it is referred to."""
    return max((word.rstrip(",") for word in record[0].split() if word[0] == "-"), key=len)


def commands_page() -> str:
    """All commands, with the options that many of them share listed once."""
    shared_options, shared_text = shared(options), shared(paragraphs)
    parts = ["## Shared options", "Each command below names the ones that it takes."]
    parts += map(fill, shared_text)
    parts.append(table(("option", "meaning"), map(cells, shared_options)))
    for name, command in commands():
        parts += [f"## duffdp {name}", f"`{usage(name, command)}`"]
        parts += [fill(text) for text in paragraphs(command) if text not in shared_text]
        own = [record for record in options(command) if record not in shared_options]
        others = [option_name(one) for one in options(command) if one in shared_options]
        if own:
            parts.append(table(("option", "meaning"), map(cells, own)))
        if needed := required(command):
            parts.append(f"Required: {', '.join(f'`{one}`' for one in needed)}.")
        if others:
            words = ", ".join(f"`{option}`" for option in others)
            parts.append(fill(f"[Shared options](#shared-options): {words}."))
    return "\n\n".join(parts)


def fill(text: str) -> str:
    """A paragraph in lines of 100 characters."""
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def usage(name: str, command: click.Command) -> str:
    """The line that shows how a command is typed."""
    pieces = command.collect_usage_pieces(click.Context(command))
    return " ".join(["duffdp", name, *pieces])


def cells(record: tuple[str, str]) -> tuple[str, str]:
    """An option as the cells of a table."""
    typed, meaning = record
    return tuple(part.replace("|", "\\|") for part in (f"`{typed}`", meaning.replace("*", "\\*")))


def table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page() -> str:
    """The page on commands with the part between the marks as it is now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{commands_page()}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    runpy.run_path(str(Path(__file__).with_name("api.py")), run_name="__main__")
