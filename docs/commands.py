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
SHARED_BY = 5  # commands with the same option
# Every option of so many commands has one section, or the script fails.
SECTIONS = {
    "Statistic": (
        *("--epsilon", "--column", "--bounds", "--digits", "--step", "--categories"),
        *("--interval", "--covers", "--simultaneous", "--mechanism"),
    ),
    "Groups and people": (
        *("--where", "--by", "--keys", "--other", "--finding", "--suppress-below"),
        *("--unit", "--contributions", "--groups-per-person"),
    ),
    "Reading data": (
        *("--pipe", "--types", "--decimal", "--thousands", "--date-format", "--encoding"),
        *("--skip-rows", "--sql", "--quiet"),
    ),
    "Budget": ("--ledger", "--dataset", "--call-id"),
    "Output": (
        *("--format", "--out", "--csv-separator", "--csv-decimal", "--all-digits", "--explain"),
        *("--report", "--registry", "--title", "--author", "--engine-check"),
    ),
}


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
        next((name for name in one.opts if name.startswith("--")), one.opts[0])
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
    """The first long name of an option, or its only name."""
    names = [word.rstrip(",") for word in record[0].split() if word[0] == "-"]
    return next((name for name in names if name.startswith("--")), names[0])


def meaning(record: tuple[str, str]) -> tuple[str, str]:
    """An option without its default, which can differ between commands."""
    return record[0], record[1].partition("  [default")[0]


def commands_page() -> str:
    """All commands; an option that several of them have is explained once."""
    by_name = {option_name(record): record for record in shared(options)}
    assert sorted(by_name) == sorted(name for names in SECTIONS.values() for name in names), (
        "an option of many commands without a section: SECTIONS of docs/commands.py"
    )
    sections = {title: [by_name[name] for name in names] for title, names in SECTIONS.items()}
    shared_text = shared(paragraphs)
    parts = ["## Shared options", "Each command below names the ones that it takes."]
    parts += map(fill, shared_text)
    for title, records in sections.items():
        parts += [f"### {title}", table(("option", "meaning"), map(cells, records))]
    explained: dict[tuple[str, str], str] = {}
    for name, command in commands():
        parts += [f"## duffdp {name}", f"`{usage(name, command)}`"]
        parts += [fill(text) for text in paragraphs(command) if text not in shared_text]
        rest = [record for record in options(command) if record not in by_name.values()]
        own = [record for record in rest if meaning(record) not in explained]
        if own:
            parts.append(table(("option", "meaning"), map(cells, own)))
        if needed := required(command):
            parts.append(f"Required: {', '.join(f'`{one}`' for one in needed)}.")
        if others := [*shared_options(command, sections), *earlier_options(rest, explained)]:
            parts.append("\n".join(others))
        explained |= {meaning(record): name for record in own}
    return "\n\n".join(parts)


def shared_options(
    command: click.Command, sections: dict[str, list[tuple[str, str]]]
) -> Iterator[str]:
    """The sections of which a command takes options: one line for those that it takes whole."""
    links = {title: f"[{title}](#{title.lower().replace(' ', '-')})" for title in sections}
    taken = {
        title: [record for record in records if record in options(command)]
        for title, records in sections.items()
    }
    for title, records in taken.items():
        if records and records != sections[title]:
            yield listed(f"- {links[title]}", records)
    whole = [links[title] for title, records in taken.items() if records == sections[title]]
    if whole:
        yield fill(f"- All options: {', '.join(whole)}.", "  ")


def earlier_options(
    records: list[tuple[str, str]], explained: dict[tuple[str, str], str]
) -> Iterator[str]:
    """A line for each earlier command that explains some of these options."""
    for name in dict.fromkeys(explained.values()):
        taken = [record for record in records if explained.get(meaning(record)) == name]
        if taken:
            yield listed(f"- As for [{name}](#duffdp-{name.replace(' ', '-')})", taken)


def listed(lead: str, records: list[tuple[str, str]]) -> str:
    """An item with the names of options."""
    words = ", ".join(f"`{option_name(record)}`" for record in records)
    return fill(f"{lead}: {words}.", "  ")


def fill(text: str, indent: str = "") -> str:
    """A paragraph in lines of 100 characters."""
    return textwrap.fill(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


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
