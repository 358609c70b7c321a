"""A plan written as TOML."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from duffdp.errors import DuffError

PIPE = "-"  # the source is what is piped into the command


def read_toml(path: Path) -> dict[str, Any]:
    """The plan in a file; a relative source or ledger is meant from where the file lies."""
    try:
        with path.open("rb") as file:
            given = tomllib.load(file)
    except (OSError, UnicodeDecodeError):
        raise DuffError(f"cannot read the plan {str(path)!r}. Check the path.") from None
    except tomllib.TOMLDecodeError as error:
        raise DuffError(f"the plan {str(path)!r} is not TOML: {error}.") from None
    for name in ("source", "epsilon", "release"):
        if name not in given:
            more = " Add a [[release]] for each result." if name == "release" else ""
            raise DuffError(f"the plan needs {name!r}.{more}")
    for name in ("source", "ledger", "dataset", "call_id"):
        text = given.get(name, name)
        if not isinstance(text, str) or not text:
            raise DuffError(f"{name} must be a text, got {text!r}.")
    for name in ("source", "ledger"):
        if name in given and given[name] != PIPE:
            given[name] = str(path.parent / given[name])
    return given
