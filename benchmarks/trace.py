"""How far one release walks through the house: functions called, files they stand in, and how often the file changes.

Run `python -m benchmarks.trace`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duffdp

SOURCE = str(Path(duffdp.__file__).parent)
MOST_CHANGES = 40


def trace(call: Callable[[], Any]) -> list[tuple[str, str]]:
    """The functions of the package that a call enters, in order, with their files."""
    seen: list[tuple[str, str]] = []

    def watch(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE) and code.co_name[0] != "<":
            seen.append((code.co_filename, code.co_name))

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


def main() -> None:
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "people.csv"
    rows = "".join(f"{i % 90},{'ab'[i % 2]},{i % 500}\n" for i in range(2000))
    path.write_text(f"age,ward,person\n{rows}")
    given: dict[str, Any] = {"column": "age", "by": "ward", "keys": ["a", "b"], "unit": "person"}
    given |= {"epsilon": 0.001, "bounds": (0, 120), "ledger": duffdp.Ledger(Path(folder.name) / "b.db", epsilon=9)}
    calls: dict[str, Callable[[], Any]] = {
        "median": lambda: duffdp.median(path, **given),
        "quantiles": lambda: duffdp.quantiles(path, [0.25, 0.75], **given),
    }
    for name, call in calls.items():
        call()  # imports come first
        seen = trace(call)
        files = [file for file, _ in seen]
        changes = sum(a != b for a, b in zip(files, files[1:], strict=False))
        print(
            f"{name}(csv, by, unit, ledger): {len(seen)} calls of {len(set(seen))} functions in "
            f"{len(set(files))} files, {changes} changes of file (at most {MOST_CHANGES})"
        )
    folder.cleanup()


if __name__ == "__main__":
    main()
