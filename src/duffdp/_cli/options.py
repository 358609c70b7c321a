"""Command options made from parameters, the options that commands share, and public values that
are written as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from duffdp._parameters import (
    CALL_ID,
    DATASET,
    EXPLAIN,
    KEYS,
    LEDGER,
    QUIET,
    SQL,
    TEXT_FILE_OPTIONS,
    Parameter,
)
from duffdp._text import comma_list, value
from duffdp.errors import Argument, DuffError


class PublicValue(click.ParamType):  # type: ignore[type-arg]
    """A number, an ISO date or an ISO time."""

    name = "value"

    def convert(self, text: Any, param: Any, ctx: Any) -> Any:
        """The value that a text means."""
        try:
            return value(text)
        except DuffError as error:
            fix = ""
            if param is not None and param.nargs == 2 and "," in text:
                fix = f". Write {param.opts[0]} {' '.join(text.split(',', 1))}"
            self.fail(f"{str(error).rstrip('.')}{fix}", param, ctx)


class Choices(click.Choice):  # type: ignore[type-arg]
    """The choices of a parameter; undocumented synonyms are accepted, too."""

    def __init__(self, parameter: Parameter[Any], choices: Iterable[str]) -> None:
        super().__init__(list(choices))
        self._parameter = parameter

    def convert(self, text: Any, param: Any, ctx: Any) -> Any:
        """The documented choice."""
        return super().convert(self._parameter.documented_value(text), param, ctx)


class NamedOption(click.Option):
    """An option that errors call by its first name."""

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """The documented name in quotes."""
        return f"'{self.opts[0]}'"


NUMBERS = ("whole numbers", "1..999")
PATTERN_WAYS = ("pattern", "numbers", "days")  # before a colon, instead of a list of keys


class Number(click.ParamType):  # type: ignore[type-arg]
    """A number; repeat the option for several of them."""

    name = "float"

    def convert(self, text: Any, param: Any, ctx: Any) -> Any:
        """The number that a text means."""
        try:
            return float(text)
        except ValueError:
            parts = [part for part in text.split(",") if part.strip()]
            fix = ""
            share = text.removesuffix("%")
            if param is not None and share != text and share.isdigit():
                fix = f" Write {param.opts[0]} {int(share) / 100:g}."
            elif param is not None and param.multiple and len(parts) > 1:
                fix = f" Write {' '.join(f'{param.opts[0]} {part.strip()}' for part in parts)}."
            return self.fail(f"{text!r} is not a number.{fix}".rstrip("."), param, ctx)


FILE = click.Path(path_type=Path)
# A list stays text here: it may be a file, and that file must not be the data.
CLICK_TYPES: dict[str, Any] = {
    "number": Number(),
    "whole": click.INT,
    "flag": click.BOOL,
    "value": PublicValue(),
    "pair": PublicValue(),
    "file": FILE,
}


def option(parameter: Parameter[Any], **changes: Any) -> click.Option:
    """The command option of a parameter; `changes` are arguments of `click.Option`."""
    kind: Any = CLICK_TYPES.get(parameter.kind, click.STRING)
    attributes: dict[str, Any] = {
        "type": Choices(parameter, parameter.choices) if parameter.kind == "choice" else kind,
        "help": parameter.help,
        "metavar": parameter.metavar or None,
        "required": parameter.required,
        "multiple": parameter.repeated,
        "is_flag": parameter.kind == "flag" or None,  # False would refuse negative numbers
        "nargs": 2 if parameter.kind == "pair" else 1,
    }
    attributes |= changes
    if not attributes["required"] and not parameter.required:  # click takes None for a default too
        attributes.setdefault("default", parameter.default)
    aliases = (f"--{alias.replace('_', '-')}" for alias in parameter.aliases)
    flags = (*(parameter.flags or (parameter.option,)), *aliases)
    kind_of_option = NamedOption if parameter.aliases else click.Option
    return kind_of_option([parameter.name, *flags], **attributes)


PIPE_OPTION = click.Option(
    ["--pipe"],
    type=click.Choice(["csv", "tsv", "jsonl", "parquet"]),
    help="The format of piped data. CSV and Parquet are recognized without it.",
)
READING_OPTIONS = (
    PIPE_OPTION,
    # None is what nobody said, so that a file with types of its own is not taken for a text file.
    *(option(one, default=None) for one in TEXT_FILE_OPTIONS),
    option(SQL),
)
LEDGER_OPTIONS = tuple(map(option, (LEDGER, DATASET, CALL_ID)))


def output_options(formats: Iterable[str]) -> tuple[click.Option, ...]:
    """The options of a command that writes a result."""
    return (
        click.Option(
            ["result_format", "--format", "-f"],
            type=click.Choice(list(formats)),
            help="The format of the result. By default that of the ending of --out, or a table on "
            "the terminal.",
        ),
        click.Option(
            ["--out", "-o"], type=FILE, help="Write to this file instead of the terminal."
        ),
        click.Option(
            ["--csv-separator"],
            type=click.Choice([",", ";", "tab", "|"]),
            default=",",
            help="The separator of CSV.",
        ),
        click.Option(
            ["--csv-decimal"],
            type=click.Choice([".", ","]),
            default=".",
            help="The decimal mark of CSV.",
        ),
        click.Option(
            ["--all-digits"],
            is_flag=True,
            default=False,
            help="Write CSV with all digits instead of rounding numbers by their error.",
        ),
        click.Option(
            ["--report"],
            type=FILE,
            help="Also write a report about the release: report.html or report.md.",
        ),
        click.Option(
            ["--registry"],
            type=FILE,
            help="Also write an entry for the OpenDP deployments registry: entry.yaml.",
        ),
        click.Option(["--title"], default="Private release", help="The title of the report."),
        click.Option(["--author"], help="The author of the report, printed unchanged."),
        click.Option(
            ["--engine-check"],
            type=FILE,
            help="The stored result of check-engine; the report prints a summary of it.",
        ),
        option(EXPLAIN),
        option(QUIET),
    )


def read_options(
    parameters: Iterable[Parameter[Any]], options: Mapping[str, Any]
) -> dict[str, Any]:
    """The options of a release as its Python function takes them: those that were passed, with
    lists and groups read.
    """
    _refuse_data_as_lists(parameters, options)
    values: dict[str, Any] = {}
    for parameter in parameters:
        text = options[parameter.name]
        if text is None or text == () or parameter.name in ("by", "keys"):
            continue
        if parameter.kind == "list":
            values[parameter.name] = read_list(text, parameter.name)
        elif parameter.kind == "values":
            values[parameter.name] = [value(part) for part in read_list(text, parameter.name)]
        else:
            values[parameter.name] = text
    if "digits" in values:
        if "bounds" in values:
            raise DuffError(
                *("got ", Argument("bounds"), " and ", Argument("digits")),
                ". Pass one of them.",
            )
        from duffdp.domain import Digits  # here: other commands do without numpy

        values["bounds"] = Digits(values.pop("digits"))
    return values | read_groups(options.get("by") or (), options.get("keys") or ())


def read_list(text: str, name: str = KEYS.name) -> list[str]:
    """The values of a list with commas, quoted like CSV; or the lines of @FILE. Errors are about
    the parameter `name`.
    """
    if not text.startswith("@"):
        return comma_list(text)
    from duffdp._engines.keys import read_lines

    return read_lines(text[1:], name)


def read_groups(by: Iterable[str], keys: Iterable[str]) -> dict[str, Any]:
    """The keys of each column, or the path of one table of all of them, still as text."""
    names, lists = list(by), list(keys)
    if not names and not lists:
        return {}
    if len(lists) == 1 and len(names) > 1 and lists[0].startswith("@"):
        return {"by": names, "keys": lists[0][1:]}
    if len(lists) < len(names):
        raise DuffError(
            *(Argument("by", names[len(lists)]), " needs ", Argument("keys"), ", the public list "),
            *("of its groups. Pass for example ", Argument("keys", list(KEYS.example)), "."),
        )
    if not names:
        raise DuffError(
            *(Argument("keys"), " needs ", Argument("by"), ", the column that forms groups. Pass "),
            *("for example ", Argument("by", "region"), "."),
        )
    if len(lists) > len(names):
        raise DuffError(
            *(Argument("keys"), " must be passed once for each ", Argument("by")),
            f", got {len(lists)} and {len(names)}. Write all groups of one column as one list: ",
            *(Argument("keys", lists), "."),
        )
    return {"by": names, "keys": dict(zip(names, map(_keys_of_column, lists), strict=True))}


def _keys_of_column(text: str) -> Any:
    """The keys of one column: a path, a column of @FILE[COLUMN], a pattern, or a list."""
    if text.startswith("@"):
        path, column = _file_and_column(text)
        if not column:
            return path
        from duffdp._engines.keys import CodeBook

        return CodeBook(path, key=column)
    way, colon, key_text = text.partition(":")
    if not colon or way not in PATTERN_WAYS:
        return read_list(text)
    from duffdp.domain import Pattern  # here: other commands do without numpy

    if way == "pattern":
        return Pattern(key_text)
    ends = key_text.split("..")
    try:
        return Pattern(days=ends) if way == "days" else Pattern(numbers=list(map(value, ends)))
    except DuffError:
        kind, example = ("dates", "2024-01-01..2024-12-31") if way == "days" else NUMBERS
        raise DuffError(
            *(Argument("keys"), f" with {way}: must have two {kind}, the smaller one first, got "),
            *(f"{key_text!r:.40}. Pass for example ", Argument("keys", f"{way}:{example}"), "."),
        ) from None


def _file_and_column(text: str) -> tuple[str, str]:
    """The path of @FILE or @FILE[COLUMN], and the column."""
    path, bracket, column = text[1:].rpartition("[")
    if bracket and column.endswith("]") and not Path(text[1:]).exists():
        return path, column[:-1]
    return text[1:], ""


def _refuse_data_as_lists(parameters: Iterable[Parameter[Any]], options: Mapping[str, Any]) -> None:
    """Refuse @FILE that is the data file, before a message could quote a line of it."""
    from duffdp._engines.keys import refuse_data_as_keys

    for parameter in parameters:
        if parameter.kind not in ("list", "values") or not options[parameter.name]:
            continue
        texts = options[parameter.name]
        for text in texts if parameter.repeated else (texts,):
            if text.startswith("@"):
                refuse_data_as_keys(_file_and_column(text)[0], options["data"], parameter.name)
