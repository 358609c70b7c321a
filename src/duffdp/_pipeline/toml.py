"""A plan written as TOML."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from duffdp._engines.addresses import ADDRESS
from duffdp._engines.files.paths import format_named
from duffdp._engines.files.text_file import TextFile
from duffdp._engines.keys import CODE_BOOK
from duffdp._engines.sql.query import Query
from duffdp._parameters import (
    PLAN_OPTIONS,
    TABLE_OPTIONS,
    TEXT_FILE_OPTIONS,
    documented_options,
)
from duffdp.domain import Categories
from duffdp.errors import BoundsError, DuffError, did_you_mean

PIPE = "-"  # the source is what is piped into the command
REQUIRED = ("source", "epsilon", "release")
TEXT_FIELDS = ("source", "ledger", "dataset", "call_id")
FIELDS = tuple(option.name for option in TEXT_FILE_OPTIONS)  # of a source that is text
SQL_KEY = "sql"  # a query over the source
PLACES = (*FIELDS, SQL_KEY, "ledger", "dataset", "call_id", "sources")
TOP = (*REQUIRED, *(option.name for option in PLAN_OPTIONS), *PLACES)
NEEDED_OF_TABLE = ("source", "epsilon", "statistics")
TOP_OF_TABLE = (
    "source",
    *(option.name for option in TABLE_OPTIONS),
    "within",
    "group_size",
    *PLACES,
)

_MISSING = {
    "source": ' Add for example source = "people.csv".',
    "epsilon": " Add for example epsilon = 1.0.",
    "release": " Add a [[release]] for each result.",
    "statistics": ' Add a table [statistics] with lines such as age = "median".',
}
_SOURCE_HINT = (
    ' Reading options have lines of their own: source = "people.csv", and below it for example '
    'decimal = ",".'
)
OTHER_KIND = {
    "statistics": "is a table. Run it with: duffdp table, or TablePlan.from_toml in Python.",
    "release": "lists releases. Run it with: duffdp release, or Plan.from_toml in Python.",
}


def read_toml(path: Path) -> dict[str, Any]:
    """The plan in a file; a relative source or ledger is meant from where the file lies."""
    entries = _read(path, REQUIRED, TOP)
    if isinstance(entries["release"], list):
        entries["release"] = [_with_keys(release, path.parent) for release in entries["release"]]
    return entries


def read_table_toml(path: Path) -> dict[str, Any]:
    """The table in a file; a relative source or ledger is meant from where the file lies."""
    return _words_of_table(_read(path, NEEDED_OF_TABLE, TOP_OF_TABLE), path.parent)


def read_table_text(text: str, folder: Path) -> dict[str, Any]:
    """The table that a text would be in a file of this folder."""
    read = _parse(text, folder, "of this page", NEEDED_OF_TABLE, TOP_OF_TABLE)
    return _words_of_table(read, folder)


def _words_of_table(read: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The words of Python; `interval = false` is none."""
    entries = _with_keys(read, folder)
    if entries.get("interval") is False:
        entries["interval"] = None
    return dict(entries)


def _read(path: Path, required: tuple[str, ...], allowed: tuple[str, ...]) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        known = "it is data and not a plan" if format_named(path.name) else "check the path"
        raise DuffError(
            f"cannot read the plan {str(path)!r}: {known}. Pass a TOML file, such as plan.toml."
        ) from None
    return _parse(text, path.parent, repr(str(path)), required, allowed)


def _parse(
    text: str, folder: Path, name: str, required: tuple[str, ...], allowed: tuple[str, ...]
) -> dict[str, Any]:
    """Entries of a plan's text, if it has all that it needs and nothing unknown."""
    import tomllib  # here: a command without a plan does without it

    try:
        entries = dict(documented_options(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        raise DuffError(f"the plan {name} is not TOML: {error}. {_toml_hint(error)}") from None
    for word, content in OTHER_KIND.items():
        if word in entries and word not in allowed:
            raise DuffError(f"the plan {name} {content}")
    refuse_unknown(entries, allowed, "the plan")
    for name in required:
        if name not in entries:
            hint = _MISSING.get(name, "")
            raise DuffError(f"the plan needs {name!r}.{hint}")
    for name in TEXT_FIELDS:
        content = entries.get(name, name)
        if not isinstance(content, str) or not content:
            hint = _SOURCE_HINT if isinstance(content, dict) else " Put it in double quotes."
            raise DuffError(f"{name} must be text, got {content!r:.60}.{hint}")
    for name in ("source", "ledger"):
        if name in entries and entries[name] != PIPE and not ADDRESS.match(entries[name]):
            entries[name] = str(folder / entries[name])
    fields = {name: entries.pop(name) for name in FIELDS if name in entries}
    if fields:
        entries["source"] = TextFile(entries["source"], **fields)
    if SQL_KEY in entries:
        entries["source"] = Query(entries["source"], entries.pop(SQL_KEY))
    return entries


def _toml_hint(error: Exception) -> str:
    """The usual reason for text that is not TOML."""
    if "overwrite" in str(error) or "twice" in str(error):
        return "Write each key once."
    return 'Put text in double quotes, as in source = "people.csv".'


def _with_keys(release: Any, folder: Path) -> Any:
    """A list of values for each column of `by` stands for all their combinations; files are meant
    from the folder of the plan.
    """
    keys = release.get("keys") if isinstance(release, dict) else None
    if isinstance(keys, str):
        return release | {"keys": str(folder / keys)}
    by = release.get("by") if isinstance(release, dict) else None
    name = by[0] if isinstance(by, list) and len(by) == 1 else by
    if isinstance(keys, dict) and CODE_BOOK in keys and isinstance(name, str) and name not in keys:
        keys = {name: keys}  # the code book of the only column
    if isinstance(keys, dict):
        paths = {name: _in_folder(part, folder) for name, part in keys.items()}
        return release | {"keys": paths}
    if not isinstance(keys, list) or not keys or not all(isinstance(part, list) for part in keys):
        return release
    try:
        return release | {"keys": [Categories(part) for part in keys]}
    except BoundsError as error:
        raise error.about_other("categories", "keys") from None


def _in_folder(part: object, folder: Path) -> Any:
    """Keys of one column: a path, or that of a code book, is meant from the folder of the plan."""
    if isinstance(part, dict) and isinstance(part.get(CODE_BOOK), str):
        return part | {CODE_BOOK: str(folder / part[CODE_BOOK])}
    return str(folder / part) if isinstance(part, str) else part


def refuse_unknown(entries: Iterable[str], names: Iterable[str], where: str) -> None:
    """An error for an entry that nobody would read, with the name that was probably meant."""
    allowed = list(names)
    for name in entries:
        if name not in allowed:
            known = (
                f" Known are {', '.join(allowed)}."
                if allowed
                else " There is nothing that it could name: leave it out."
            )
            hint = did_you_mean(name, allowed) or known
            raise DuffError(f"{where} has an unknown entry {name!r}.{hint}")
