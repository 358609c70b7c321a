"""Notes that every result has because of its call alone: how fields are read, which groups get a
value, the step of answers, an engine that nobody tested, a large epsilon.

Records are dropped and clamped in silence, because an error would depend on them. These notes say
so every time, whatever is in the data. They are made from typed facts; each place prints them in
its own words.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import NamedTuple

from duffdp._engines.files.fields import FieldRules
from duffdp._facts import Facts
from duffdp._parameters import DECIMAL
from duffdp._text import duration_text, parameter_text
from duffdp.domain import Categories, Membership
from duffdp.errors import PYTHON, Argument, Dialect, word

LARGE_EPSILON = 10  # above, one person may change a probability more than 22,000-fold
EVERY_GROUP = "every listed group gets a value, even without rows; spell keys as in the data"
CHECK = "duffdp.audit.check_engine"
_NUMBERS = ("int", "float", "decimal")
_TIMES = ("date", "datetime")


class Reading(NamedTuple):
    """How a release reads its values: the rules of a text file if they are text, whether the step
    of answers is the default, and the engine if no test of every build runs on it.
    """

    text: FieldRules | None = None
    default_step: bool = False
    untested_engine: str | None = None


class Note(NamedTuple):
    """One line, and the columns that it is about if others are released beside them."""

    columns: tuple[str, ...]
    parts: tuple[str | Argument, ...]

    def worded(self, dialect: Dialect = PYTHON) -> str:
        """The line in the words of one place."""
        text = word(self.parts, dialect)
        return f"{', '.join(self.columns)}: {text}" if self.columns else text


def notes_about(releases: Iterable[tuple[Facts, Reading | None]]) -> list[Note]:
    """The notes of releases that are made together, each once."""
    listed = list(releases)
    epsilon = float(sum(facts.loss.epsilon for facts, _ in listed))
    lines: dict[tuple[str | Argument, ...], dict[str, None]] = {}
    if epsilon > LARGE_EPSILON:
        large = f"epsilon {epsilon:.6g} is above {LARGE_EPSILON}: no protection worth the name"
        lines[(large,)] = {}
    if any(facts.by for facts, _ in listed):
        lines[(EVERY_GROUP,)] = {}
    for engine in {reading.untested_engine for _, reading in listed if reading is not None}:
        if engine is not None:
            lines[(f"{engine} is not tested with duffdp; check it first with {CHECK}",)] = {}
    for facts, reading in listed:
        for parts in _about_values(facts, reading or Reading()):
            named = lines.setdefault(parts, {})
            if facts.column is not None and len(listed) > 1:
                named[facts.column] = None
    return [Note(tuple(columns), parts) for parts, columns in lines.items()]


def _about_values(facts: Facts, reading: Reading) -> Iterable[tuple[str | Argument, ...]]:
    """The lines about the values of one release."""
    domain = facts.domain
    if isinstance(domain, Categories):
        yield ("values that are not listed are ignored; spell them as in the data",)
    elif isinstance(domain, Membership) and isinstance(domain.members, Categories):
        yield ("values that are not listed count as others; spell them as in the data",)
    elif reading.text is not None and domain.kind in _NUMBERS:
        yield ("values that are not numbers are ignored",)
        yield _about_marks(reading.text)
    elif reading.text is not None and domain.kind in _TIMES:
        layout = reading.text.date_format or "2024-12-31"
        yield (
            f"values that are not dates are ignored; dates are read as {layout}, ",
            *(Argument("date_format"), " changes it"),
        )
    step = getattr(domain, "step", None)  # categories and digits have none
    if reading.default_step and step is not None:
        text = duration_text(step) if isinstance(step, dt.timedelta) else parameter_text(step)
        yield (f"answers are in steps of {text}; ", Argument("step"), " changes it")


def _about_marks(rules: FieldRules) -> tuple[str | Argument, ...]:
    """How numbers are written, and what becomes of marks between thousands."""
    decimal, thousands = rules.decimal, rules.thousands
    if thousands is not None:
        return (f"numbers are read as 1280{decimal}50 and 1{thousands}280{decimal}50",)
    grouped = f"1.280{decimal}50" if decimal != DECIMAL.default else f"1,280{decimal}50"
    mark = "." if decimal != DECIMAL.default else ","
    options: tuple[str | Argument, ...] = (Argument("thousands", mark), " reads it")
    if decimal == DECIMAL.default:
        options = (Argument("decimal"), " and ", Argument("thousands"), " change it")
    return (f"numbers are read as 1280{decimal}50, and {grouped} is ignored; ", *options)
