"""Errors in the words of the command line and of plan files: `--bounds 0 120` and
`bounds = [0, 120]` instead of Python's `bounds=(0, 120)`.
"""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Mapping
from typing import Any

from duffdp import _parameters as parameters
from duffdp._parameters import Parameter
from duffdp.errors import QUERY

PARAMETERS = {
    parameter.name: parameter
    for parameter in vars(parameters).values()
    if isinstance(parameter, Parameter)
}


class CommandLineDialect:
    """The notation of command options in errors: `--by region --keys north,south`."""

    def sentence(self, text: str) -> str:
        """The text as it is."""
        return text

    def mention(self, name: str) -> str:
        """The option, or the argument in capitals."""
        if name in ("data", "edges"):
            return name.upper()
        if name == QUERY:
            return "--sql"
        parameter = PARAMETERS.get(name)
        option = f"--{name.replace('_', '-')}" if parameter is None else parameter.option
        return option.partition("/")[0]

    def assignment(self, name: str, value: object) -> str:
        """The option with its value, quoted for a shell."""
        if name == "pattern":  # one way to write keys
            return self.assignment("keys", f"pattern:{value}")
        option, parameter = self.mention(name), PARAMETERS.get(name)
        if value is True:
            return option
        if value is None or value is False:
            other = "" if parameter is None else parameter.option.partition("/")[2]
            return other or f"no {option}"
        if isinstance(value, Mapping) and parameter is not None and "=" in parameter.metavar:
            return f"{option} {','.join(f'{key}={part}' for key, part in value.items())}"
        if isinstance(value, Mapping):  # a list for each column
            return " ".join(self.assignment(name, part) for part in value.values())
        if not isinstance(value, list | tuple):
            return f"{option} {_quoted(str(value))}"
        if parameter is not None and parameter.repeated and parameter.kind != "list":
            return " ".join(f"{option} {_quoted(str(part))}" for part in value)
        if isinstance(value, tuple):
            return " ".join([option, *(_quoted(str(part)) for part in value)])
        return f"{option} {_quoted(_comma_list(value))}"

    def text_file(self, name: str, value: object) -> str:
        """The option with its value."""
        return self.assignment(name, value)


class PlanDialect:
    """The notation of TOML plan keys in errors: `by = "region"`."""

    def sentence(self, text: str) -> str:
        """The text as it is."""
        return text

    def mention(self, name: str) -> str:
        """The key."""
        return "sql" if name == QUERY else name

    def assignment(self, name: str, value: object) -> str:
        """The key with its value."""
        if name == "releases" and isinstance(value, list):
            lines = ", ".join(f"{key} = {_toml(part)}" for key, part in value[0].items())
            return f"[[release]] with {lines}"
        if isinstance(value, Mapping):
            lines = " and ".join(f"{key} = {_toml(part)}" for key, part in value.items())
            return f"[{name}] with {lines}"
        return f"no {name}" if value is None else f"{name} = {_toml(value)}"

    def text_file(self, name: str, value: object) -> str:
        """The key with its value."""
        return self.assignment(name, value)


COMMAND_LINE, PLAN = CommandLineDialect(), PlanDialect()


def _quoted(text: str) -> str:
    """A value as a shell takes it; double quotes around text with single ones read better, and
    marks without quotes look like the end of a sentence.
    """
    if text in (".", ",", ";"):
        return f"'{text}'"
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\!') else shlex.quote(text)


def _comma_list(values: list[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_toml(part)}' for key, part in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else str(value)
