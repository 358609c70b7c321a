"""Text from the command line as the public values it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duffdp.errors import DuffError
from duffdp.written import comma_list, value


def candidates(bounds: tuple[str, str] | None, digits: int | None) -> Any:
    """What `--bounds` or `--digits` stands for; None if there is neither."""
    if digits is None:
        return None if bounds is None else tuple(map(value, bounds))
    if bounds is not None:
        raise DuffError("got --bounds and --digits. Pass one of them.")
    from duffdp.domain import Digits  # here: other commands do without numpy

    return Digits(digits)


def listed(text: str) -> list[str]:
    """The values of a list with commas, quoted like CSV; or the lines of @FILE."""
    file = text.removeprefix("@")
    if file == text:
        return comma_list(text)
    from duffdp.engines.keys import read_lines

    return read_lines(file)


def refuse_data(data: str, given: Mapping[str, Any]) -> None:
    """An error for @FILE that is the data themselves, before a message could quote a line of it."""
    from duffdp.engines.keys import refuse_data_as_keys

    for name in ("keys", "categories", "values", "bins"):
        found = given.get(name) or []
        for text in [found] if isinstance(found, str) else found:
            if text.startswith("@"):
                refuse_data_as_keys(text[1:], data, name)


def written_parameter(name: str, given: Any) -> Any:
    """A parameter of a statistic from what was written for it: lists and pairs are text."""
    if given is None:
        return None
    if name == "bins":
        return [value(text) for text in listed(given)]
    if name == "between":
        return tuple(map(value, given))
    return listed(given) if name == "values" else given


def groups(by: list[str], keys: list[str]) -> dict[str, Any]:
    """The keys of each column, or the path of one table of all of them, still as text."""
    if not by and not keys:
        return {}
    if len(keys) == 1 and len(by) > 1 and keys[0].startswith("@"):
        return {"by": by, "keys": keys[0][1:]}
    if len(keys) != len(by):
        raise DuffError(f"each --by needs its own --keys, got {len(by)} and {len(keys)}.")
    parts = (text[1:] if text.startswith("@") else listed(text) for text in keys)
    return {"by": by, "keys": dict(zip(by, parts, strict=True))}
