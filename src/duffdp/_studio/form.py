"""Fields of the studio's form, and the plan that they describe."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from duffdp._engines.addresses import ADDRESS
from duffdp._parameters import EPSILON
from duffdp._studio.choices import CHOICES, placeholder, read_text
from duffdp._studio.folder import TABLE_SEPARATOR, is_text
from duffdp._text import value, visible
from duffdp.errors import DuffError

Pairs = Iterable[tuple[str, str]]
MOST_COLUMNS, MOST_GROUP_COLUMNS = 12, 2
MOST_GROUPS = 10_000
LARGEST_ERROR = 1e300
NO_INTERVAL = "none"
SPACE = "space"  # as a mark in a field
ROWS = ""  # in the place of the column that names people
FORM_SOURCES = ("bounds", "keys")


class FieldError(DuffError):
    """Error of a field that cannot be read: its name and the reason."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.field = name


@dataclass(frozen=True, slots=True)
class ColumnFields:
    """The fields of one column."""

    name: str
    lower: str = ""
    upper: str = ""
    step: str = ""
    unit: str = ""
    shape: str = "normal"
    categories: str = ""
    statistics: tuple[str, ...] = ()
    parameters: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupFields:
    """The fields of one column that forms groups: its name, and its keys, one per line."""

    by: str = ""
    keys: str = ""

    def listed(self) -> list[str]:
        """The keys."""
        return _lines(self.keys)


@dataclass(frozen=True, slots=True)
class StudioForm:
    """All fields of the page."""

    source: str = ""
    decimal: str = ""
    thousands: str = ""
    date_format: str = ""
    encoding: str = ""
    skip_rows: str = ""
    types: str = ""
    person: str = ROWS
    contributions: str = "1"
    groups_per_person: str = ""
    where: str = ""
    columns: tuple[ColumnFields, ...] = ()
    groups: tuple[GroupFields, ...] = (GroupFields(), GroupFields())
    total: str = ""
    size: str = "500"
    interval: str = "0.95"
    epsilon: str = "1"
    profile_epsilon: str = "0.5"
    look: str = ""
    within: str = ""
    probability: str = "95"
    ledger: str = "budget.db"
    dataset: str = ""
    budget: str = "3"
    title: str = ""
    author: str = ""
    sources: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, pairs: Pairs) -> StudioForm:
        """The form that a browser sent; other fields are not read."""
        fields: dict[str, list[str]] = {}
        for name, text in pairs:
            fields.setdefault(name, []).append(text.replace("\r\n", "\n"))
        single = {
            name: fields[name][0].strip()
            for name in cls.__dataclass_fields__
            if name in fields and name not in ("columns", "groups", "sources")
        }
        single["source"] = _source(single.get("source", ""), fields)
        column_count = sum(name.startswith("column.") for name in fields)
        if column_count > MOST_COLUMNS:
            raise DuffError(f"a table in the studio can have at most {MOST_COLUMNS} columns.")
        columns = [_column(fields, i) for i in range(MOST_COLUMNS) if f"column.{i}" in fields]
        groups = [
            GroupFields(*(fields.get(f"{name}.{i}", [""])[0] for name in ("by", "keys")))
            for i in range(MOST_GROUP_COLUMNS)
        ]
        sources = {name: fields.get(f"source.{name}", [""])[0].strip() for name in FORM_SOURCES}
        return cls(**single, columns=tuple(columns), groups=tuple(groups), sources=sources)

    def after_button(self, pairs: Pairs) -> StudioForm:
        """After one that adds or takes away a column."""
        fields = dict(pairs)
        columns = self.columns
        if name := fields.get("add", "").strip():
            if name in (column.name for column in columns):
                raise DuffError(f"the column {visible(name)!r:.60} is in the table already.")
            if len(columns) == MOST_COLUMNS:
                raise DuffError(f"a table in the studio can have at most {MOST_COLUMNS} columns.")
            columns = (*columns, ColumnFields(name))
        if removed := fields.get("remove", ""):
            columns = tuple(column for column in columns if column.name != removed)
        return replace(self, columns=columns)

    def fields(self) -> list[tuple[str, str]]:
        """The form as pairs of names and texts, as a browser would send it."""
        pairs = [
            (name, getattr(self, name))
            for name in self.__dataclass_fields__
            if name not in ("columns", "groups", "sources")
        ]
        for i, column in enumerate(self.columns):
            pairs.append((f"column.{i}", column.name))
            for name in ("lower", "upper", "step", "unit", "shape", "categories"):
                pairs.append((f"{name}.{i}", getattr(column, name)))
            pairs += [(f"statistic.{i}", name) for name in column.statistics]
            for (statistic, name), text in column.parameters.items():
                pairs.append((f"{statistic}.{name}.{i}", text))
        for i, group in enumerate(self.groups):
            pairs += [(f"by.{i}", group.by), (f"keys.{i}", group.keys)]
        return pairs + [(f"source.{name}", text) for name, text in self.sources.items()]

    @property
    def reading(self) -> dict[str, Any]:
        """The typed rules for reading the fields of a text file, in the notation of a plan."""
        if not is_text(self.source):
            return {}
        words: dict[str, Any] = {
            name: text
            for name in ("decimal", "thousands", "date_format", "encoding")
            if (text := getattr(self, name))
        }
        if words.get("thousands") == SPACE:
            words["thousands"] = " "
        if self.skip_rows and self.skip_rows != "0":
            words["skip_rows"] = number_in("skip_rows", self.skip_rows, "lines above the header")
        types = dict(map(_column_type, _lines(self.types)))
        return words | ({"types": types} if types else {})

    def group_size(self) -> int:
        """Number of records of the smallest group that matters."""
        size = number_in("size", self.size, "the size of the smallest group")
        if not isinstance(size, int) or not 1 <= size <= 10**6:
            raise FieldError(
                "size", "the size of the smallest group must be a whole number from 1 to 1,000,000."
            )
        return size

    def error_goal(self) -> tuple[float, float]:
        """The error that may not be exceeded, and how often."""
        error = number_in("within", self.within, "the largest error")
        percent = number_in("probability", self.probability, "the number of releases out of 100")
        if not 0 < percent < 100:
            raise FieldError(
                "probability",
                "the number of releases out of 100 must be above 0 and below 100. Type for "
                "example 95.",
            )
        if not 0 <= error <= LARGEST_ERROR:  # neither is what is no number
            raise FieldError(
                "within",
                "the largest error must be a finite number of 0 or more. Type for example 2.",
            )
        return float(error), float(percent) / 100

    def profile_words(self) -> dict[str, Any]:
        """The first look, in the words of `profile`: bounds and groups as far as they are typed."""
        if not self.source:
            raise FieldError("source", "no file is chosen. Choose a file in the folder.")
        label = "epsilon of the first look"
        epsilon = number_in("profile_epsilon", self.profile_epsilon, label)
        try:
            EPSILON.read(epsilon)
        except DuffError:
            raise FieldError(
                "profile_epsilon",
                f"{label} must be {EPSILON.rule}, got {self.profile_epsilon}. Type for example "
                "0.5.",
            ) from None
        words: dict[str, Any] = {"epsilon": epsilon}
        bounds = {column.name: _bounds(i, column) for i, column in enumerate(self.columns)}
        if bounds := {name: pair for name, pair in bounds.items() if pair is not None}:
            words["bounds"] = bounds
        if keys := {
            group.by: group.listed() for group in self.groups if group.by and group.listed()
        }:
            words |= {"by": list(keys), "keys": keys}
        return words | self._rows()

    def with_bounds(self, bounds: Mapping[str, Any], source: str) -> StudioForm:
        """The form with these bounds where it has none, and where they came from."""
        columns = tuple(
            replace(column, lower=_end(bounds[column.name][0]), upper=_end(bounds[column.name][1]))
            if column.name in bounds and not (column.lower or column.upper)
            else column
            for column in self.columns
        )
        sources = self.sources
        if columns != self.columns and not sources.get("bounds"):
            sources = {**sources, "bounds": source}
        return replace(self, columns=columns, sources=sources)

    def _rows(self) -> dict[str, Any]:
        """The choice of rows and of the person they belong to."""
        words: dict[str, Any] = {"where": self.where} if self.where else {}
        if self.person != ROWS:
            rows = number_in("contributions", self.contributions, "rows used per person")
            words |= {"unit": self.person, "contributions": rows}
        return words

    def words(self) -> dict[str, Any]:
        """The plan, in the words of a table in TOML."""
        if not self.source:
            raise FieldError("source", "no file is chosen. Choose a file in the folder.")
        statistics = {column.name: _statistics(i, column) for i, column in enumerate(self.columns)}
        statistics = {name: listed for name, listed in statistics.items() if listed}
        if not statistics:
            raise DuffError("the table has no statistics yet. Add a column and select a statistic.")
        words: dict[str, Any] = {
            "source": self.source,
            "epsilon": number_in("epsilon", self.epsilon, "epsilon"),
        }
        words |= self.reading
        words |= self._groups()
        words |= self._rows()
        if self.groups_per_person and "by" in words and "unit" in words:
            words["groups_per_person"] = number_in(
                "groups_per_person", self.groups_per_person, "the groups of a person"
            )
        words["interval"] = (
            False
            if self.interval == NO_INTERVAL
            else number_in("interval", self.interval, "the confidence of intervals")
        )
        words["statistics"] = statistics
        for name, read in (("bounds", _bounds), ("step", _step), ("categories", _categories)):
            by_column = {
                c.name: read(i, c) for i, c in enumerate(self.columns) if c.name in statistics
            }
            if present := {
                column: public for column, public in by_column.items() if public is not None
            }:
                words[name] = present
        if sources := {name: text for name, text in self.sources.items() if text}:
            words["sources"] = sources
        return words

    def _groups(self) -> dict[str, Any]:
        grouping = [(i, group) for i, group in enumerate(self.groups) if group.by]
        if not grouping:
            return {}
        group_count = 1
        for i, group in grouping:
            if not group.listed():
                raise FieldError(
                    f"keys.{i}",
                    f"list the groups of {visible(group.by)!r:.60}, one per line. They are "
                    "public and "
                    "must not come from the data.",
                )
            group_count *= len(group.listed())
        if group_count > MOST_GROUPS:
            raise FieldError(
                f"keys.{grouping[-1][0]}",
                f"the studio handles at most {MOST_GROUPS:,} groups. List fewer, or download the "
                "plan "
                "and run it with duffdp table.",
            )
        words: dict[str, Any] = {
            "by": [group.by for _, group in grouping],
            "keys": [group.listed() for _, group in grouping],
        }
        return words | ({"total": True} if self.total else {})


def _column(fields: Mapping[str, list[str]], i: int) -> ColumnFields:
    def field(name: str) -> str:
        return fields.get(f"{name}.{i}", [""])[0].strip()

    parameters = {
        (choice.name, parameter.name): field(f"{choice.name}.{parameter.name}")
        for choice in CHOICES.values()
        for parameter in choice.parameters
    }
    return ColumnFields(
        name=fields[f"column.{i}"][0],
        lower=field("lower"),
        upper=field("upper"),
        step=field("step"),
        unit=field("unit"),
        shape=field("shape") or "normal",
        categories=field("categories"),
        statistics=tuple(name for name in fields.get(f"statistic.{i}", []) if name in CHOICES),
        parameters={name: text for name, text in parameters.items() if text},
    )


def _source(path: str, fields: Mapping[str, list[str]]) -> str:
    """The source: a table of a server if one was typed, else the file with its sheet or table."""
    server, part = (fields.get(name, [""])[0].strip() for name in ("server", "part"))
    if server:
        return server
    if ADDRESS.match(path):
        return path
    file = path.partition(TABLE_SEPARATOR)[0]
    return part if part.startswith(f"{file}{TABLE_SEPARATOR}") else path


def _column_type(line: str) -> tuple[str, str]:
    name, mark, kind = line.rpartition("=")
    if not mark or not name.strip() or not kind.strip():
        raise FieldError("types", "each line of types must look like: cost = double.")
    return name.strip(), kind.strip()


def _end(bound: object) -> str:
    """A bound as it is typed."""
    return bound.isoformat() if isinstance(bound, dt.date) else f"{bound:g}"


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def number_in(name: str, text: str, label: str) -> Any:
    """The number in a field, whole if it is written so."""
    if not text:
        raise FieldError(name, f"{label} is missing. Type a number.")
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        example = _with_point(text) or "Type a number, such as 2."
        raise FieldError(
            name, f"{label} must be a number, got {visible(text)!r:.40}. {example}"
        ) from None


def _with_point(text: str) -> str:
    """The advice about a number with a decimal comma; empty for other text."""
    whole, comma, digits = text.partition(",")
    is_number = bool(comma) and whole.lstrip("+-").isdecimal() and digits.isdecimal()
    return f"Type {whole}.{digits} with a point." if is_number else ""


def _read(name: str, text: str, column: ColumnFields) -> Any:
    try:
        return value(text)
    except DuffError:
        label = {"lower": "From", "upper": "To", "step": "Step"}[name.partition(".")[0]]
        fix = _with_point(text) or "Type a number, or a date such as 2024-12-31."
        got = visible(text)
        raise FieldError(
            name,
            f"“{label}” of {visible(column.name)!r:.60} must be a number or a date, got "
            f"{got!r:.40}. {fix}",
        ) from None


def _bounds(i: int, column: ColumnFields) -> Any:
    if not column.lower and not column.upper:
        return None
    for name, text in (("lower", column.lower), ("upper", column.upper)):
        if not text:
            raise FieldError(
                f"{name}.{i}",
                f"{visible(column.name)!r:.60} needs both bounds. Fill in From and To.",
            )
    ends = (("lower", column.lower), ("upper", column.upper))
    return [_read(f"{name}.{i}", text, column) for name, text in ends]


def _step(i: int, column: ColumnFields) -> Any:
    return _read(f"step.{i}", column.step, column) if column.step else None


def _categories(i: int, column: ColumnFields) -> Any:
    return _lines(column.categories) or None


def _quantiles(field: str, numbers: list[Any]) -> list[Any]:
    """Different numbers from 0 to 1."""
    example = "Type for example 0.25, 0.75."
    if not numbers:
        raise FieldError(field, f"the quantiles are missing. {example}")
    for number in numbers:
        if not isinstance(number, int | float) or not 0 <= number <= 1:
            raise FieldError(
                field, f"each quantile must be a number from 0 to 1, got {number}. {example}"
            )
    if len(set(numbers)) < len(numbers):
        raise FieldError(field, "a quantile is listed twice. List each once.")
    return numbers


def _statistics(i: int, column: ColumnFields) -> list[Any]:
    """The requested statistics of one column, in the words of a table."""
    statistics: list[Any] = []
    for name in column.statistics:
        words: dict[str, Any] = {}
        for parameter in CHOICES[name].parameters:
            at = f"{name}.{parameter.name}.{i}"
            text = column.parameters.get((name, parameter.name), "")
            if not text and parameter.required and name != "quantile":
                raise FieldError(
                    at,
                    f"{CHOICES[name].title} of {visible(column.name)!r:.60} needs: "
                    f"{parameter.label}. Type for example {placeholder(parameter)}.",
                )
            if text:
                try:
                    words[parameter.name] = read_text(parameter, text)
                except DuffError:
                    got, example = visible(text), placeholder(parameter)
                    raise FieldError(
                        at, f"“{parameter.label}” must look like {example}, got {got!r:.40}."
                    ) from None
        if name == "quantile":  # numbers are quantiles, drawn together if there are several
            statistics += _quantiles(f"quantile.q.{i}", words.get("q", []))
        else:
            statistics.append({"statistic": name, **words} if words else name)
    return statistics
