"""What a value of an expression can be, and how an engine writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple


class Kind(StrEnum):
    """What a value is."""

    boolean = "boolean"
    integer = "integer"
    double = "double"
    decimal = "decimal"  # as a column of the engine has it
    number = "number"  # what arithmetic goes by
    text = "text"
    date = "date"
    time = "time"  # without a zone
    instant = "instant"
    null = "null"
    other = "other"


NUMBERS = (Kind.integer, Kind.double, Kind.decimal, Kind.number)
TIMES = (Kind.date, Kind.time, Kind.instant)


class Term(NamedTuple):
    """An expression as the engine reads it, its kind, and its value if it is a fixed one."""

    sql: str
    kind: Kind
    value: Any = None


@dataclass(frozen=True)
class Words:
    """How an engine writes steps: each form has a place for every part, {0}, {1} and so on."""

    engine: str
    forms: Mapping[str, str]
    name: Callable[[str], str]  # of a column
    text: Callable[[str], str]
    pattern: Callable[[str], str]  # of LIKE, in which no sign is an escape
