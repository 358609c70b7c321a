"""The statistics that a column can have in the studio, and the fields of their parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from duffdp._parameters import (
    BOUNDS,
    EPSILON,
    LEDGER,
    RELEASE_OPTIONS,
    TEXT_FILE_OPTIONS,
    TYPES,
    Parameter,
)
from duffdp._studio.folder import ColumnType
from duffdp._text import comma_list, value
from duffdp.errors import QUERY
from duffdp.statistics.registry import REGISTRY, SUMMARIES
from duffdp.statistics.spec import StatisticSpec


class Choice(NamedTuple):
    """A statistic that can be selected in the form."""

    name: str
    title: str
    parameters: tuple[Parameter[Any], ...]
    of_numbers: bool
    of_words: bool

    def fits(self, column: ColumnType) -> bool:
        """True if it can be asked of a column of this type."""
        return (self.of_numbers and column.has_numbers) or (self.of_words and column.has_words)


def read_text(parameter: Parameter[Any], text: str) -> Any:
    """The value of a parameter that is typed into a field: commas separate several values."""
    if parameter.kind == "list":
        return comma_list(text)
    if parameter.repeated or parameter.kind in ("values", "pair"):
        return [value(part) for part in comma_list(text)]
    return value(text)


def placeholder(parameter: Parameter[Any]) -> str:
    """The example that an empty field shows."""
    return _typed(parameter.example)


ALWAYS = "count"  # stands beside every group without being asked for


def _choice(spec: StatisticSpec) -> Choice:
    parameters = tuple(parameter for parameter in spec.parameters if parameter.label)
    numbers = spec.outputs.startswith("grid") or {"between", "bins"} & set(spec.parameter_names)
    words = spec.outputs.endswith("categories") or "values" in spec.parameter_names
    return Choice(spec.name, spec.heading(), parameters, bool(numbers), words)


def _asked_of_one_column(spec: StatisticSpec) -> bool:
    return spec.name in SUMMARIES and spec.can_be_planned and not spec.of_pairs


CHOICES = {
    spec.name: _choice(spec)
    for spec in REGISTRY.values()
    if _asked_of_one_column(spec) and spec.name != ALWAYS
}


class FormDialect:
    """The notation of the studio's form in errors: fields by their labels."""

    def sentence(self, text: str) -> str:
        """The text with the verb for fields: values are typed, not passed."""
        return _PASS.sub(lambda verb: "Type" if verb[0] == "Pass" else "type", text)

    def mention(self, name: str) -> str:
        """The label of the field, or the name of what has no field."""
        if name == BOUNDS.name:
            return "“From” and “To”"
        if name == QUERY:
            return "sql of the downloaded plan.toml"
        return f"“{_LABELS[name]}”" if name in _LABELS else name

    def assignment(self, name: str, value: object) -> str:
        """What to type, and the label of the field."""
        if isinstance(value, Mapping) and name == TYPES.name:
            lines = ", ".join(f"{column} = {part}" for column, part in value.items())
            return f"{lines} under {self.mention(name)}"
        if isinstance(value, Mapping):  # by column
            ((column, value),) = value.items()
            return f"{self.assignment(name, value)} of {column}"
        if name == BOUNDS.name and isinstance(value, list | tuple):
            return f"{' and '.join(map(str, value))} under {self.mention(name)}"
        return f"{_typed(value)} under {self.mention(name)}"

    def text_file(self, name: str, value: object) -> str:
        """What to choose, and the label of the field."""
        return self.assignment(name, _MARKS.get(str(value), value))


def sentence(text: str) -> str:
    """The text with a capital letter, unless it begins with a name."""
    word = text.partition(" ")[0]
    return f"{text[0].upper()}{text[1:]}" if word.isalpha() and word != "duffdp" else text


_MARKS = {".": "a point", ",": "a comma", " ": "a space"}
_PASS = re.compile(r"\b[Pp]ass\b")


def _typed(value: object) -> str:
    """A value as somebody types it into a field."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


_LABELS = {
    parameter.name: parameter.label
    for parameter in (
        *(parameter for choice in CHOICES.values() for parameter in choice.parameters),
        *(*RELEASE_OPTIONS, *TEXT_FILE_OPTIONS, EPSILON, LEDGER),
    )
    if parameter.label
}
FORM = FormDialect()
