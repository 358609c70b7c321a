"""A plan as a file in TOML, and as Python: the same release, to be read, kept and run elsewhere."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
WIDTH = 88  # of a line of Python


def as_toml(words: Mapping[str, Any]) -> str:
    """The words of a table as a file that `duffdp table` runs."""
    single = {name: given for name, given in words.items() if not isinstance(given, Mapping)}
    lines = [f"{_key(name)} = {_toml(given)}" for name, given in single.items()]
    for name, given in words.items():
        if isinstance(given, Mapping):
            lines += ["", f"[{_key(name)}]"]
            lines += [f"{_key(each)} = {_toml(said)}" for each, said in given.items()]
    return "\n".join([*lines, ""])


def as_python(words: Mapping[str, Any], page: Mapping[str, Any]) -> str:
    """The words of a table as calls; `page` is what else the page about it is told."""
    given = dict(words)
    statistics = given.pop("statistics")
    if given.get("interval") is False:
        given["interval"] = None
    if "bounds" in given:
        given["bounds"] = {name: tuple(ends) for name, ends in given["bounds"].items()}
    ledger = given.get("ledger")
    lines = [f"    {_python(statistics)},"]
    for name, said in given.items():
        text = _keys(said) if name == "keys" else _python(said)
        lines.append(f"    {name}={text},")
    told = "".join(f", {name}={_python(said)}" for name, said in page.items())
    book = "" if ledger is None else f", ledger=duffdp.Ledger({_book(given)})"
    imports = ["import datetime", "", "import duffdp"] if "datetime." in "".join(lines) else []
    return "\n".join(
        [
            *(imports or ["import duffdp"]),
            "",
            "plan = duffdp.TablePlan(",
            *lines,
            ")",
            "table = plan.run()",
            'table.to_csv("table.csv")',
            f'duffdp.report.write(table, "page.html"{book}{told})',
            "",
        ]
    )


def _book(given: Mapping[str, Any]) -> str:
    name = given.get("dataset")
    return _python(given["ledger"]) + ("" if name is None else f", dataset={_python(name)}")


def _keys(keys: list[list[Any]]) -> str:
    if len(keys) == 1:
        return _python(keys[0])
    return f"[{', '.join(f'duffdp.Categories({_python(part)})' for part in keys)}]"


def _python(given: Any, indent: int = 4) -> str:
    """A value of Python, with double quotation marks, on several lines if it is long."""
    if isinstance(given, str):
        return json.dumps(given, ensure_ascii=False)
    if isinstance(given, float) and math.isinf(given):
        return f'float("{given}")'
    if not isinstance(given, Mapping | list | tuple):
        return repr(given)
    inner = indent + 4
    if isinstance(given, Mapping):
        marks = "{}"
        parts = [f"{_python(name)}: {_python(said, inner)}" for name, said in given.items()]
    else:
        marks = "()" if isinstance(given, tuple) else "[]"
        parts = [_python(each, inner) for each in given]
    line = f"{marks[0]}{', '.join(parts)}{marks[1]}"
    if len(line) + indent <= WIDTH and "\n" not in line:
        return line
    ends = "".join(f"\n{' ' * inner}{part}," for part in parts)
    return f"{marks[0]}{ends}\n{' ' * indent}{marks[1]}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _toml(name)


def _toml(given: Any) -> str:
    """A value of TOML."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, str):
        return json.dumps(given, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(given, dt.date):
        return given.isoformat()
    if isinstance(given, Mapping):
        parts = (f"{_key(name)} = {_toml(said)}" for name, said in given.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(given, list | tuple):
        return f"[{', '.join(map(_toml, given))}]"
    return repr(given)
