"""Write the signatures of the public functions where type checkers and editors read them.

`python tools/stubs.py` writes `functions.pyi` and `table.pyi` beside their modules, from the
`Parameter` objects; `--check` says whether they are up to date, and a test runs it.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
MODULES = {"duffdp._pipeline.functions": "Release", "duffdp._planning.table": "Table"}
HEAD = '''"""Written by tools/stubs.py; do not edit."""

from collections.abc import Iterable, Mapping
from typing import Any

from duffdp._pipeline.{home} import {result}
'''


def stub(module: str, result: str) -> str:
    """The text of one stub file: a signature for every documented function."""
    home = "release" if result == "Release" else "table"
    text = HEAD.format(home=home, result=result)
    for name, function in vars(import_module(module)).items():
        if inspect.isfunction(function) and function.__module__ == module:
            text += f"\ndef {name}(\n{_parameters(function)}) -> {result}: ...\n"
    return text


def _parameters(function: object) -> str:
    lines, starred = [], False
    for one in inspect.signature(function).parameters.values():  # type: ignore[arg-type]
        if one.kind is one.KEYWORD_ONLY and not starred:
            lines.append("    *,\n")
            starred = True
        default = "" if one.default is one.empty else f" = {one.default!r}".replace("'", '"')
        lines.append(f"    {one.name}: {one.annotation}{default},\n")
    return "".join(lines)


def main(arguments: list[str]) -> int:
    """Write all stubs, or say which are out of date."""
    stale = []
    for module, result in MODULES.items():
        path = SOURCE / f"{module.replace('.', '/')}.pyi"
        text = stub(module, result)
        if not path.exists() or path.read_text() != text:
            stale.append(path.name)
            if "--check" not in arguments:
                path.write_text(text)
    if stale and "--check" in arguments:
        print(f"{', '.join(stale)} out of date: run python tools/stubs.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
