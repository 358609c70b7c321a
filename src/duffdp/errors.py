"""The errors of the public functions and commands. Each says what was given, the rule, and what to
write instead.

No text contains a data value or a count of records. An error that is about parameters carries them
as `Argument`s, so that Python, the command line, plans and the studio each show it in the words of
the place where they were typed; nothing is parsed back from a text.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, NamedTuple, Protocol, Self


class Unset(Enum):
    """The value of an argument that an error mentions by name alone."""

    UNSET = "unset"


UNSET = Unset.UNSET
QUERY = "query"  # the way to pass a query over the data, in the words of each place


class Argument(NamedTuple):
    """A parameter in an error: its name, with or without a value."""

    name: str
    value: Any = UNSET


class TextFileArgument(NamedTuple):
    """An option of text files in an error or note, with a value."""

    name: str
    value: Any


Part = str | Argument | TextFileArgument


class Dialect(Protocol):
    """The notation of parameters in one place where they are typed."""

    def sentence(self, text: str) -> str:
        """Text between parameters, with the verb of the place."""

    def mention(self, name: str) -> str:
        """A parameter by its name."""

    def assignment(self, name: str, value: object) -> str:
        """A parameter with a value, as it would be typed."""

    def text_file(self, name: str, value: object) -> str:
        """An option of text files with a value."""


class PythonDialect:
    """Arguments of Python calls: `bounds=(0, 120)`."""

    def sentence(self, text: str) -> str:
        """The text as it is."""
        return text

    def mention(self, name: str) -> str:
        """The name of the argument."""
        return "duffdp.Query" if name == QUERY else name

    def assignment(self, name: str, value: object) -> str:
        """The argument with its value."""
        if name == "digits":  # Python has no such argument: it is a kind of bounds
            return f"bounds=duffdp.Digits({value})"
        if name == "pattern":
            return f"duffdp.Pattern({_literal(value)})"
        return f"{name}={_literal(value)}"

    def text_file(self, name: str, value: object) -> str:
        """The argument of the object that takes it."""
        return f"TextFile(..., {self.assignment(name, value)})"


def _literal(value: object) -> str:
    """A value as examples in the documentation write it, with double quotes."""
    if isinstance(value, str):
        return repr(value) if '"' in value else f'"{value}"'
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return (
            f"{{{', '.join(f'{_literal(key)}: {_literal(part)}' for key, part in value.items())}}}"
        )
    return repr(value)


PYTHON = PythonDialect()


def word(parts: Iterable[Part], dialect: Dialect) -> str:
    """Text with parameters in the words of one place."""
    return "".join(_worded(part, dialect) for part in parts)


def _worded(part: Part, dialect: Dialect) -> str:
    if isinstance(part, str):
        return dialect.sentence(part)
    if isinstance(part, TextFileArgument):
        return dialect.text_file(part.name, part.value)
    if part.value is UNSET:
        return dialect.mention(part.name)
    return dialect.assignment(part.name, part.value)


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """The question for similar names, after a space; empty if none is similar."""
    from difflib import get_close_matches  # here: most calls end without an error

    folded: dict[str, str] = {}
    for other in names:
        folded.setdefault(str(other).casefold(), other)  # pandas also has numbers and tuples
    spelled = str(name).casefold()
    similar = [spelled] if spelled in folded else get_close_matches(spelled, folded, 2, 0.6)
    return (
        f" Did you mean {' or '.join(repr(folded[other]) for other in similar)}?" if similar else ""
    )


def quoted_names(names: Iterable[str], limit: int = 8) -> str:
    """Names for an error, in quotes; of many the first ones."""
    quoted = [repr(name) for name in names]
    more = f" and {len(quoted) - limit} more" if len(quoted) > limit else ""
    return ", ".join(quoted[:limit]) + more


class DuffError(ValueError):
    """Error of a request that cannot be answered as it is.

    `parameter`, `value`, `rule` and `example` are set if the error is about one parameter.

    Privacy
    -------
    The text is made from public facts: the parameters of the call, and the names and types of
    columns. It contains no record, except that the first record of a CSV file without a header is
    read as names of columns.
    """

    parameter: str | None = None
    value: Any = UNSET
    rule: str = ""
    example: Any = UNSET

    def __init__(self, *parts: str | Argument) -> None:
        self.parts = parts
        super().__init__(self.worded(PYTHON))

    @classmethod
    def about(cls, parameter: str, value: object, rule: str, example: object = UNSET) -> Self:
        """The error for a value that breaks the rule of its parameter."""
        fix: tuple[str | Argument, ...] = ("",)
        if example is not UNSET:
            fix = (" Pass for example ", Argument(parameter, example), ".")
        error = cls(Argument(parameter), f" must be {rule}, got {value!r:.40}.", *fix)
        error.parameter, error.value, error.rule, error.example = parameter, value, rule, example
        return error

    def worded(self, dialect: Dialect) -> str:
        """The text in the notation of one place: Python, the command line, a plan or the studio."""
        return word(self.parts, dialect)

    def about_other(self, parameter: str, other: str) -> Self:
        """This error about another parameter, whose values obey the same rule."""
        return type(self)(
            *(
                Argument(other, part.value)
                if isinstance(part, Argument) and part.name == parameter
                else part
                for part in self.parts
            )
        )

    def prefixed(self, prefix: str) -> Self:
        """This error with a prefix that states where it happened."""
        error = type(self)(prefix, *self.parts)
        error.parameter, error.value = self.parameter, self.value
        error.rule, error.example = self.rule, self.example
        return error


class BoundsError(DuffError):
    """Error of bounds, a step or categories that do not describe a public set of possible outputs.

    Privacy
    -------
    Raised before data is read.
    """


class UnsupportedData(DuffError):
    """Error of data that cannot be read as requested: no such file, column, type or shape.

    Privacy
    -------
    Depends on the declared names, types and shape of the data, which are public.
    """


class SourceError(UnsupportedData):
    """Error of data that cannot be opened.

    Privacy
    -------
    The text is about the name of the data alone.
    """


class BudgetExceeded(DuffError):
    """Error of a release that exceeds the remaining budget.

    Privacy
    -------
    Raised before the draw; the text is about the budget and the request, both public.
    """


class LedgerError(DuffError):
    """Error of a ledger that is missing, damaged, locked or cannot be written; nothing is released.

    Privacy
    -------
    Raised before the draw, or after it instead of the release; the text is about the file alone.
    """


class ChargeNote(str):
    """A note on an error: the cost of the failed release or of the interrupted command."""

    __slots__ = ()


def charge_note(epsilon: float, dataset: str, call_id: str | None, again: float) -> ChargeNote:
    """The note for a charge; `again` is what a retry with the same call id would cost."""
    text = f"epsilon {epsilon:.12g} was charged to the data set {dataset!r} and stays charged"
    if call_id is not None:
        cost = f"epsilon {again:.12g}" if again else "nothing"
        text += f"; the same call with the call id {call_id!r} costs {cost}"
    return ChargeNote(text)


def charge_told(error: BaseException | None) -> str:
    """The cost that the notes of an error name; empty if they name none."""
    notes = getattr(error, "__notes__", ())
    return "; ".join(note for note in notes if isinstance(note, ChargeNote))
