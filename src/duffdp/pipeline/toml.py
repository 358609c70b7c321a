"""A plan written as TOML."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from duffdp.domain import Categories
from duffdp.engines.addresses import ADDRESS
from duffdp.engines.query import Query
from duffdp.engines.text_file import TextFile
from duffdp.errors import DuffError

PIPE = "-"  # the source is what is piped into the command
NEEDED = ("source", "epsilon", "release")
TEXTS = ("source", "ledger", "dataset", "call_id")
FIELDS = ("types", "decimal", "date_format")  # of a source that is text
SQL = "sql"  # a query over the source
TOP = (
    *(*NEEDED, *FIELDS, SQL, "where", "ledger", "dataset", "call_id", "unit", "contributions"),
    *("mechanism", "sources"),
)
NEEDED_OF_TABLE = ("source", "epsilon", "statistics")
TOP_OF_TABLE = (
    *(
        *NEEDED_OF_TABLE,
        *FIELDS,
        SQL,
        "bounds",
        "step",
        "categories",
        "by",
        "keys",
        "total",
        "where",
        "unit",
    ),
    *("contributions", "interval", "smallest", "weights", "mechanism"),
    *("ledger", "dataset", "call_id", "sources"),
)


def read_toml(path: Path) -> dict[str, Any]:
    """The plan in a file; a relative source or ledger is meant from where the file lies."""
    given = _read(path, NEEDED, TOP)
    if isinstance(given["release"], list):
        given["release"] = [_with_keys(release) for release in given["release"]]
    return given


def read_table_toml(path: Path) -> dict[str, Any]:
    """The table in a file, with the words of Python; `interval = false` is none."""
    given = _with_keys(_read(path, NEEDED_OF_TABLE, TOP_OF_TABLE))
    if given.get("interval") is False:
        given["interval"] = None
    return dict(given)


def _read(path: Path, needed: tuple[str, ...], known: tuple[str, ...]) -> dict[str, Any]:
    """What stands in a file, if it has all that it needs and nothing that nobody reads."""
    import tomllib  # here: a command without a plan does without it

    try:
        with path.open("rb") as file:
            given = tomllib.load(file)
    except (OSError, UnicodeDecodeError):
        raise DuffError(f"cannot read the plan {str(path)!r}. Check the path.") from None
    except tomllib.TOMLDecodeError as error:
        raise DuffError(f"the plan {str(path)!r} is not TOML: {error}.") from None
    refuse_unknown(given, known, "the plan")
    for name in needed:
        if name not in given:
            more = " Add a [[release]] for each result." if name == "release" else ""
            raise DuffError(f"the plan needs {name!r}.{more}")
    for name in TEXTS:
        text = given.get(name, name)
        if not isinstance(text, str) or not text:
            raise DuffError(f"{name} must be a text, got {text!r}.")
    for name in ("source", "ledger"):
        if name in given and given[name] != PIPE and not ADDRESS.match(given[name]):
            given[name] = str(path.parent / given[name])
    fields = {name: given.pop(name) for name in FIELDS if name in given}
    if fields:
        given["source"] = TextFile(given["source"], **fields)
    if SQL in given:
        given["source"] = Query(given["source"], given.pop(SQL))
    return given


def _with_keys(release: Any) -> Any:
    """A list of values for each column of `by` stands for all their combinations."""
    keys = release.get("keys") if isinstance(release, dict) else None
    if not isinstance(keys, list) or not keys or not all(isinstance(part, list) for part in keys):
        return release
    return release | {"keys": [Categories(part) for part in keys]}


def refuse_unknown(given: Mapping[str, Any], names: Iterable[str], where: str) -> None:
    """An error for an entry that nobody would read, with the name that was probably meant."""
    known = list(names)
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1, 0.5)
            hint = f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(known)}."
            raise DuffError(f"{where} has an unknown entry {name!r}. {hint}")
