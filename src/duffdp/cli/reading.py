"""How the values of options are read: by a few lines of its own, as typer loads pydantic for it,
which takes longer than most commands and has words of its own.
"""

from __future__ import annotations

from enum import Enum
from functools import partial
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import typer

EXPECTED = {int: "a whole number", float: "a number"}


class Reading:
    """A command or a group of typer that reads values by what its function declares."""

    callback: Any

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        declared = get_type_hints(self.callback, include_extras=True) if self.callback else {}
        for parameter in parameters:
            kind = declared.get(parameter.name)
            parameter.process_value = partial(_read_parameter, parameter, kind)
        return parameters


class Command(Reading, typer.core.TyperCommand):
    """One command."""


class Group(Reading, typer.core.TyperGroup):
    """Commands under one name."""


def _read_parameter(parameter: Any, declared: Any, ctx: Any, value: Any) -> Any:
    """The value of an option or an argument. What is needed and missing is typer's to tell, and
    what it made itself or calls a function with is its to read.
    """
    absent = value is None or value == ()
    if absent and not parameter.required:
        return () if parameter.multiple else None
    if absent or declared is None or parameter.callback is not None:
        return type(parameter).process_value(parameter, ctx, value)
    kind, said = get_args(declared)
    try:
        return _read(kind, value, said.min)
    except ValueError as error:
        raise typer.BadParameter(str(error), ctx=ctx, param=parameter) from None


def _read(kind: Any, value: Any, least: float | None) -> Any:
    """A value of a declared kind, not below the least one."""
    if isinstance(kind, UnionType):  # something or None
        kind = next(part for part in get_args(kind) if part is not type(None))
    if get_origin(kind) in (list, tuple):
        return get_origin(kind)(_read(get_args(kind)[0], part, least) for part in value)
    if issubclass(kind, Enum):
        return _choose(kind, value)
    try:
        found = kind(value)
    except ValueError:
        raise ValueError(f"expected {EXPECTED[kind]}, got {value!r}.") from None
    if least is not None and found < least:
        raise ValueError(f"expected {least} or more, got {value!r}.")
    return found


def _choose(kind: type[Enum], value: Any) -> Enum:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(repr(choice.value) for choice in kind)
        raise ValueError(f"{value!r} is not one of {known}.") from None
