"""What a column can be asked for on the page: the statistics of the registry, and how their
parameters are written there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from duffdp.statistics.entry import Entry
from duffdp.statistics.registry import entries
from duffdp.studio.folder import ColumnType
from duffdp.written import comma_list, value


class Parameter(NamedTuple):
    """One parameter of a statistic: its name, what it is called, an example, and what reads it."""

    name: str
    label: str
    example: str
    read: Callable[[str], Any]


class Choice(NamedTuple):
    """A statistic that can be ticked."""

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    of_numbers: bool
    of_words: bool

    def fits(self, column: ColumnType) -> bool:
        """Whether it can be asked of a column of this type."""
        return (self.of_numbers and column.has_numbers) or (self.of_words and column.has_words)


def _values(text: str) -> list[Any]:
    return [value(part) for part in comma_list(text)]


def _one_or_several(text: str) -> Any:
    read = _values(text)
    return read[0] if len(read) == 1 else read


PARAMETERS = {
    "q": Parameter("q", "shares from 0 to 1", "0.25, 0.75", _values),
    "trim": Parameter("trim", "share cut off at either end", "0.1", _one_or_several),
    "k": Parameter("k", "how many places", "3", _one_or_several),
    "between": Parameter("between", "from, to (both included)", "0, 30", _values),
    "values": Parameter("values", "or these values", "a, b", comma_list),
    "bins": Parameter("bins", "edges, rising", "0, 18, 65, 120", _values),
}
ALWAYS = "count"  # stands beside every group without being asked for
TITLES = {"trimmed_mean": "Trimmed mean", "quantile": "Quantiles", "top": "Most common values"}


def _choice(known: Entry) -> Choice:
    parameters = tuple(PARAMETERS[name] for name in known.read if name in PARAMETERS)
    numbers = known.outputs.startswith("grid") or {"between", "bins"} & known.read.keys()
    words = known.outputs.endswith("categories") or "values" in known.read
    title = TITLES.get(known.name) or known.title({})
    return Choice(known.name, title, parameters, bool(numbers), words)


def _asked_of_one_column(known: Entry) -> bool:
    return bool(known.summary) and known.exact is not None and not known.of_pairs


CHOICES = {
    known.name: _choice(known)
    for known in entries()
    if _asked_of_one_column(known) and known.name != ALWAYS
}
