"""Every statistic by its name; a statistic is loaded when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from duffdp.errors import DuffError
from duffdp.statistics.entry import Entry

# Where the entry of each statistic stands. The order is that of pages and of the command line.
HOMES = {
    "median": "quantile",
    "quantile": "quantile",
    "quantiles": "quantiles",
    "mean": "mean",
    "mode": "mode",
    "describe": "describe",
    "triangles": "triangles",
    "stars": "stars",
}


def entry(name: str) -> Entry:
    """The entry of a statistic, or an error that lists those there are."""
    if name not in HOMES:
        raise DuffError(f"statistic must be one of {', '.join(HOMES)}, got {name!r}.")
    entries: dict[str, Entry] = import_module(f"duffdp.statistics.{HOMES[name]}").ENTRIES
    return entries[name]


def entries() -> Iterator[Entry]:
    """All of them, in order."""
    return map(entry, HOMES)
