"""Notes about a call that do not depend on the data: how fields are read, which groups get a value,
the default step, an untested engine, a large epsilon.

Records are dropped and clamped in silence, because an error would depend on them. These notes say
so every time, whatever is in the data. They are made from typed facts; each place prints them in
its own words.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from duffdp._engines.files.fields import BOOLEANS, FieldRules
from duffdp._engines.files.paths import format_of, note_of, rules_of
from duffdp._engines.files.text_file import TextFile
from duffdp._engines.libraries import is_path
from duffdp._engines.sql.parse import read_query
from duffdp._engines.sql.query import Query
from duffdp._engines.where import read_condition
from duffdp._facts import Facts
from duffdp._parameters import DECIMAL, FoundKeys
from duffdp._privacy import PrivacyUnit
from duffdp._text import duration_text, parameter_text
from duffdp.domain import Bins, Categories, Digits, Grid, Membership
from duffdp.domain.pattern import count_for_finding
from duffdp.errors import PYTHON, Argument, Dialect, Part, TextFileArgument, word

LARGE_EPSILON = 10  # above, one person may change a probability more than 22,000-fold
EVERY_GROUP = "every listed group gets a value, even without rows; spell keys as in the data"
CHECK_FUNCTION = "duffdp.audit.check_engine"
_NUMBERS = ("int", "float", "decimal")
_TIMES = ("date", "datetime")
_COARSER_TIMES = (("seconds", 1), ("minutes", 60), ("hours", 3600), ("days", 86400))


class Reading(NamedTuple):
    """How a release reads its values.

    The rules of a text file, the name of an untested engine, and whether values are Python objects
    of any type. Also whether the step is the default, and whether nobody chose one. `records` is
    the note of a file format about its records.
    """

    text: FieldRules | None = None
    default_step: bool = False
    untested_engine: str | None = None
    default_grid: bool = False
    objects: bool = False
    records: str = ""


class Note(NamedTuple):
    """One line of text, the columns that it names, and those that it is about."""

    columns: tuple[str, ...]
    parts: tuple[Part, ...]
    about: tuple[str, ...] = ()

    def in_table(self) -> Note:
        """The note as a table takes its advice: a step by column, here that of the first."""
        parts = (
            Argument(part.name, {self.about[0]: part.value})
            if isinstance(part, Argument) and part.name == "step" and self.about
            else part
            for part in self.parts
        )
        return self._replace(parts=tuple(parts))

    def worded(self, dialect: Dialect = PYTHON) -> str:
        """The line in the words of one place."""
        text = word(self.parts, dialect)
        return f"{', '.join(self.columns)}: {text}" if self.columns else text


def notes_about(releases: Iterable[tuple[Facts, Reading | None]]) -> list[Note]:
    """The notes of releases that are made together, each once."""
    listed = list(releases)
    epsilon = sum((facts.loss.epsilon for facts, _ in listed), Fraction(0))
    lines: dict[tuple[Part, ...], dict[str, None]] = {
        note.parts: {} for note in about_large_epsilon(epsilon)
    }
    if any(facts.by and facts.found is None for facts, _ in listed):
        lines[(EVERY_GROUP,)] = {}
    for facts, _ in listed:
        if facts.found is not None and facts.found.threshold:
            lines[(_about_found_keys(facts, facts.found),)] = {}
        if facts.other is not None:
            lines[(f"rows with another key or no key are in the group {facts.other!r}",)] = {}
    for parts in _about_people(listed):
        lines[parts] = {}
    for parts in _about_conditions(listed):
        lines[parts] = {}
    for records in {reading.records for _, reading in listed if reading is not None}:
        if records:
            lines[(records,)] = {}
    for engine in {reading.untested_engine for _, reading in listed if reading is not None}:
        if engine is not None:
            lines[
                (f"{engine} is not tested with duffdp; check it first with {CHECK_FUNCTION}",)
            ] = {}
    for facts, reading in listed:
        for parts in _about_values(facts, reading or Reading()):
            about = lines.setdefault(parts, {})
            if facts.column is not None:
                about[facts.column] = None
    return [
        Note(tuple(about) if len(listed) > 1 else (), parts, tuple(about))
        for parts, about in lines.items()
    ]


def _about_people(listed: list[tuple[Facts, Reading | None]]) -> Iterable[tuple[Part, ...]]:
    """Who is a person, in how many groups a person counts, and which rows answers are about."""
    people = [facts for facts, _ in listed if facts.unit.kind == "person"]
    units = [facts.unit for facts in people]
    for column in {
        facts.unit.column: None for facts, reading in listed if reading and reading.text
    }:
        if column is not None:
            yield (
                f"rows without {column} are ignored, and each spelling of {column} is another "
                "person",
            )
    ungrouped = [facts.unit for facts in people if facts.by and not facts.unit.groups_per_person]
    if ungrouped:
        # A table counts people once, also where its other numbers take several of their rows.
        groups = min(unit.contributions for unit in ungrouped)
        where = "one group" if groups == 1 else f"at most {groups} groups"
        yield (
            f"each person is counted in {where}, chosen at random, so a group may show fewer "
            "people than it has; ",
            *(Argument("groups_per_person", 2), " counts people in two, and doubles the noise"),
        )
    repeated = max((facts.unit.groups_per_person or 0 for facts in people if facts.by), default=0)
    if repeated > 1:
        yield (
            f"each person is counted in up to {repeated} groups, so a total counts people more "
            "than once",
        )
    covers = {facts.interval.covers for facts, _ in listed if facts.interval is not None}
    if units and "data" in covers:
        yield (
            f"intervals cover the rows chosen at random, {rows_of_people(units)}; the answer for "
            "all rows may be outside",
        )
    elif of_values := [
        facts.unit for facts in people if facts.column is not None and not _adds_up_people(facts)
    ]:
        yield (
            f"answers are for the rows chosen at random, {rows_of_people(of_values)}; for all "
            "rows, a sum may be far larger and other answers may differ",
        )


def _adds_up_people(facts: Facts) -> bool:
    """True if a query made one row of all rows of a person."""
    return facts.sql is not None and read_query(facts.sql).people is not None


def _about_conditions(listed: list[tuple[Facts, Reading | None]]) -> Iterable[tuple[Part, ...]]:
    """What a query leaves out, and how a condition reads fields of a text file."""
    for facts, reading in listed:
        if facts.sql is not None:
            yield (Argument("sql"), ": if an expression fails for a row, its value is missing")
        if facts.where is None or reading is None or reading.text is None:
            continue
        yield (
            Argument("where"),
            ": a missing or unreadable value satisfies no comparison; text is compared as spelled, "
            "also NA",
        )
        kinds = {reading.text.kinds.get(name) for name in read_condition(facts.where).columns}
        if kinds & {"integer", "float"}:
            yield about_marks(reading.text)
        if kinds & {"date", "datetime"}:
            yield about_dates(reading.text)


def rows_of_people(units: Iterable[PrivacyUnit]) -> str:
    """The cap on rows in words: "at most 1 row per person in each of at most 4 groups"."""
    unit = max(units, key=lambda unit: unit.contributions)
    rows = "1 row" if unit.contributions == 1 else f"{unit.contributions} rows"
    groups = unit.groups_per_person
    return f"at most {rows} per person" + (f" in each of at most {groups} groups" if groups else "")


def _about_values(facts: Facts, reading: Reading) -> Iterable[tuple[Part, ...]]:
    """The lines about the values of one release."""
    domain = facts.domain
    if facts.unit.kind == "edge":
        yield ("rows that are not pairs of whole numbers are ignored",)
        return
    if isinstance(domain, Categories):
        yield ("values that are not listed are ignored; spell the list as in the data",)
    elif isinstance(domain, Membership) and isinstance(domain.members, Categories):
        yield (
            "values that are not listed count as others, and missing ones are ignored; spell the "
            "list as in the data",
        )
    elif reading.objects and domain.kind in (*_NUMBERS, *_TIMES):
        kind = "numbers" if domain.kind in _NUMBERS else "dates"
        yield (f"values that are not {kind} are ignored, and so is text with digits",)
    elif reading.text is not None and _declared_kind(facts, reading.text) == "boolean":
        yield (f"values other than {BOOLEANS} are ignored",)
    elif reading.text is not None and _declared_kind(facts, reading.text) == "integer":
        yield (about_whole_numbers(reading.text),)
    elif reading.text is not None and domain.kind in _NUMBERS:
        yield ("values that are not numbers are ignored",)
        yield about_marks(reading.text)
    elif reading.text is not None and domain.kind in _TIMES:
        layout, *change = about_dates(reading.text)
        yield (f"values that are not dates are ignored; {layout}", *change)
    if reading.text is not None and isinstance(domain, Bins):
        yield ("values beyond the bins are ignored",)
    elif reading.text is not None and isinstance(domain, Grid) and facts.column is not None:
        code = "dates like 9999-12-31" if domain.kind in _TIMES else "codes like 99"
        remedy = f"; leave out {code} with ", Argument("where")
        yield ("values beyond a bound count as that bound", *remedy)
    if reading.default_step and isinstance(domain, Grid) and not isinstance(domain, Digits):
        yield _about_step(domain)


def _about_step(grid: Grid) -> tuple[Part, ...]:
    """The step that nobody chose, and another one to type."""
    other: float
    if grid.kind == "date":
        rounding, purpose, other = "days", "weeks", 7
    elif grid.kind == "datetime":
        rounding = f"steps of {duration_text(grid.step)}"
        seconds = grid.step.total_seconds()
        purpose, other = next(
            (pair for pair in _COARSER_TIMES if seconds < pair[1]), ("hours", 3600)
        )
    elif grid.step < 1:
        coarser = 1000 * Fraction(str(grid.step))
        rounding, purpose = f"steps of {parameter_text(grid.step)}", "coarser steps"
        other = int(coarser) if coarser.denominator == 1 else float(coarser)
    elif grid.exact_unit == grid.step == 1:
        rounding, purpose, other = "whole numbers", "decimals", 0.1
    else:
        rounding, purpose = f"steps of {parameter_text(grid.step)}", "finer steps"
        other = 0.1 if grid.step == 1 else 1
    return f"answers are rounded to {rounding}; for {purpose}, pass ", Argument("step", other)


def _declared_kind(facts: Facts, rules: FieldRules) -> object:
    """The declared kind of the column with the values; None if it has none."""
    return None if facts.column is None else rules.kinds.get(facts.column)


def _about_found_keys(facts: Facts, found: FoundKeys) -> str:
    """The number of people or rows that a key needs to be found."""
    min_rows = count_for_finding(found.threshold, found.row_epsilon, Fraction(95, 100))
    counted = "people" if facts.unit.kind == "person" else "rows"
    size = f"{found.size:,}" if found.size < 10**9 else f"10^{len(str(found.size)) - 1} or more"
    return (
        f"keys are found among {size} possible ones: a key with {min_rows} {counted} is found with "
        f"95% probability, and noisy counts below {found.threshold} are not published"
    )


def about_large_epsilon(epsilon: Fraction) -> list[Note]:
    """The note about an epsilon that protects nobody."""
    if epsilon <= LARGE_EPSILON:
        return []
    text = f"epsilon {float(epsilon):.6g} is above {LARGE_EPSILON}: no meaningful protection"
    return [Note((), (text,))]


def about_source(data: Any) -> list[Note]:
    """The notes about all records of a file and, if its fields are text, about all fields: the line
    that names its columns, numbers, dates.
    """
    records = [Note((), (text,)) for text in filter(None, [about_records(data)])]
    if not is_text_source(data):
        return records
    rules = rules_of(data)
    marks = Note((), about_marks(rules))
    return [*about_header(data), *records, marks, Note((), about_dates(rules))]


def about_records(data: Any) -> str:
    """The note of the format of a file about its rows; empty if it has none."""
    return note_of(data) if is_path(data) and not isinstance(data, Query) else ""


def about_header(data: Any) -> list[Note]:
    """The note about the line of a text file that names its columns."""
    if not is_text_source(data):
        return []
    form = format_of(data)
    if form is not None and not form.lists_columns:
        return []
    line = "row" if form is not None and form.part else "line"
    skipped = rules_of(data).skip_rows
    text = f"{line} {skipped + 1} names the columns"
    if skipped:  # the caller knows of titles
        return [Note((), (text,))]
    fix = "; if a title is above it, use ", TextFileArgument("skip_rows", 1)
    return [Note((), (text, *fix))]


def is_text_source(data: Any) -> bool:
    """True for a `TextFile`, and for the path of files whose fields are text."""
    if isinstance(data, TextFile):
        return True
    form = format_of(data) if is_path(data) and not isinstance(data, Query) else None
    return form is not None and form.is_text


def about_marks(rules: FieldRules) -> tuple[Part, ...]:
    """The notation of numbers, and the treatment of marks between thousands."""
    decimal, thousands = rules.decimal, rules.thousands
    if thousands is not None:
        return (f"numbers are read as 1280{decimal}50 and 1{thousands}280{decimal}50",)
    if decimal == DECIMAL.default:  # where a point between thousands is the trap
        return (
            "numbers are read as 1280.50, and 1.280 as 1.28; 1280,50 and 1,280.50 are ignored; ",
            *("use ", TextFileArgument("decimal", ","), " or "),
            *(TextFileArgument("thousands", ","), " to read them"),
        )
    return (
        f"numbers are read as 1280{decimal}50; 1.280{decimal}50 and 1 280{decimal}50 are ignored; ",
        *("use ", TextFileArgument("thousands", "."), " or ", TextFileArgument("thousands", " ")),
        " to read them",
    )


def about_whole_numbers(rules: FieldRules) -> str:
    """What a column that is declared as integer ignores."""
    marks = [mark for mark in ".," if mark != rules.thousands]
    examples = [f"12{rules.decimal}5", *(f"1{mark}280" for mark in marks)]
    return (
        f"values that are not whole numbers are ignored, also {' and '.join(examples)}; declare "
        "double for decimals"
    )


def about_dates(rules: FieldRules) -> tuple[Part, ...]:
    """The layout of dates."""
    layout = rules.date_format or "2024-12-31"
    if "%y" in layout:
        layout += ", years 00 to 68 as 2000 to 2068 and 69 to 99 as 1969 to 1999"
    other = "%d.%m.%Y" if rules.date_format is None else "%Y-%m-%d"
    return (
        f"dates are read as {layout}; use ",
        *(TextFileArgument("date_format", other), " for another layout"),
    )
