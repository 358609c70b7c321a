"""A plan written as TOML."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from duffdp.domain import Categories
from duffdp.engines.addresses import ADDRESS
from duffdp.engines.files.text_file import TextFile
from duffdp.engines.sql.query import Query
from duffdp.errors import DuffError
from duffdp.parameters import PLAN_OPTIONS, TABLE_OPTIONS, TEXT_FILE_OPTIONS

PIPE = "-"  # the source is what is piped into the command
NEEDED = ("source", "epsilon", "release")
TEXTS = ("source", "ledger", "dataset", "call_id")
FIELDS = tuple(option.name for option in TEXT_FILE_OPTIONS)  # of a source that is text
SQL = "sql"  # a query over the source
PLACES = (*FIELDS, SQL, "ledger", "dataset", "call_id", "sources")
TOP = (*NEEDED, *(option.name for option in PLAN_OPTIONS), *PLACES)
NEEDED_OF_TABLE = ("source", "epsilon", "statistics")
TOP_OF_TABLE = (
    "source",
    *(option.name for option in TABLE_OPTIONS),
    "within",
    "group_size",
    *PLACES,
)

OTHER_KIND = {
    "statistics": "is a table. Run it with: duffdp table, or TablePlan.from_toml in Python.",
    "release": "lists releases. Run it with: duffdp release, or Plan.from_toml in Python.",
}


def read_toml(path: Path) -> dict[str, Any]:
    """The plan in a file; a relative source or ledger is meant from where the file lies."""
    given = _read(path, NEEDED, TOP)
    if isinstance(given["release"], list):
        given["release"] = [_with_keys(release, path.parent) for release in given["release"]]
    return given


def read_table_toml(path: Path) -> dict[str, Any]:
    """The table in a file; a relative source or ledger is meant from where the file lies."""
    return _words_of_table(_read(path, NEEDED_OF_TABLE, TOP_OF_TABLE), path.parent)


def read_table_text(text: str, folder: Path) -> dict[str, Any]:
    """The table that a text would be in a file of this folder."""
    read = _parse(text, folder, "of this page", NEEDED_OF_TABLE, TOP_OF_TABLE)
    return _words_of_table(read, folder)


def _words_of_table(read: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The words of Python; `interval = false` is none."""
    given = _with_keys(read, folder)
    if given.get("interval") is False:
        given["interval"] = None
    return dict(given)


def _read(path: Path, needed: tuple[str, ...], known: tuple[str, ...]) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise DuffError(f"cannot read the plan {str(path)!r}. Check the path.") from None
    return _parse(text, path.parent, repr(str(path)), needed, known)


def _parse(
    text: str, folder: Path, name: str, needed: tuple[str, ...], known: tuple[str, ...]
) -> dict[str, Any]:
    """What stands in a text, if it has all that it needs and nothing that nobody reads."""
    import tomllib  # here: a command without a plan does without it

    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DuffError(f"the plan {name} is not TOML: {error}.") from None
    for word, said in OTHER_KIND.items():
        if word in given and word not in known:
            raise DuffError(f"the plan {name} {said}")
    refuse_unknown(given, known, "the plan")
    for name in needed:
        if name not in given:
            more = " Add a [[release]] for each result." if name == "release" else ""
            raise DuffError(f"the plan needs {name!r}.{more}")
    for name in TEXTS:
        said = given.get(name, name)
        if not isinstance(said, str) or not said:
            raise DuffError(f"{name} must be a text, got {said!r}.")
    for name in ("source", "ledger"):
        if name in given and given[name] != PIPE and not ADDRESS.match(given[name]):
            given[name] = str(folder / given[name])
    fields = {name: given.pop(name) for name in FIELDS if name in given}
    if fields:
        given["source"] = TextFile(given["source"], **fields)
    if SQL in given:
        given["source"] = Query(given["source"], given.pop(SQL))
    return given


def _with_keys(release: Any, folder: Path) -> Any:
    """A list of values for each column of `by` stands for all their combinations; files are meant
    from the folder of the plan.
    """
    keys = release.get("keys") if isinstance(release, dict) else None
    if isinstance(keys, str):
        return release | {"keys": str(folder / keys)}
    if isinstance(keys, dict):
        found = {
            n: str(folder / part) if isinstance(part, str) else part for n, part in keys.items()
        }
        return release | {"keys": found}
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
