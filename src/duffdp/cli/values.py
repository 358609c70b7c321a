"""Text from the command line as the public values it stands for."""

from __future__ import annotations

import itertools
from pathlib import Path
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
    try:
        return Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise DuffError(
            f"cannot read the list of values {file!r}. "
            "Pass values as A,B,C or a file with one on each line."
        ) from None


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
    """All combinations of the keys of each column, still as text."""
    if len(keys) != len(by):
        raise DuffError(f"each --by needs its own --keys, got {len(by)} and {len(keys)}.")
    if not by:
        return {}
    return {"by": by, "keys": list(itertools.product(*map(listed, keys)))}
