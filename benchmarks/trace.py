"""The path of a call through the code: functions called, files, changes of file, parameters checked
and sources opened.

Every call of Python code in the package counts, lambdas and generators too. A change of file is
two successive calls in different files. Run `python -m benchmarks.trace`; with `--show`
it prints the walk as well, one line for each stay in a file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import duffdp

SOURCE = Path(duffdp.__file__).parent

Call = tuple[str, str]


def trace(run: Callable[[], object]) -> list[Call]:
    """The functions of the package that a run enters, in order, with their files."""
    calls: list[Call] = []

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(SOURCE)):
            calls.append((str(Path(code.co_filename).relative_to(SOURCE)), code.co_name))

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def stays(calls: list[Call]) -> list[tuple[str, list[str]]]:
    """The walk, file by file: which functions are called before the file changes."""
    return [
        (file, [name for _, name in some]) for file, some in groupby(calls, lambda call: call[0])
    ]


def walks(folder: Path, epsilon: float) -> dict[str, list[Call]]:
    """What a median and two quantiles of a CSV file call, by groups, for people, with a ledger."""
    path = folder / "people.csv"
    rows = "".join(f"{i % 90},{'ab'[i % 2]},{i % 500}\n" for i in range(2000))
    path.write_text(f"age,ward,person\n{rows}")
    given: dict[str, Any] = {
        "column": "age",
        "by": "ward",
        "keys": ["a", "b"],
        "unit": "person",
        "bounds": (0, 120),
        "epsilon": epsilon,
        "ledger": duffdp.Ledger(folder / "budget.db", epsilon=9),
    }
    table = {key: given[key] for key in ("by", "keys", "unit", "epsilon", "ledger")}
    calls: dict[str, Callable[[], object]] = {
        "median": partial(duffdp.median, path, **given),
        "quantiles": partial(duffdp.quantiles, path, [0.25, 0.75], **given),
        "table of three releases": partial(
            duffdp.table,
            path,
            {"age": ["median", "mean", "std"]},
            bounds={"age": (0, 120)},
            interval=None,
            **table,
        ),
    }
    for run in calls.values():
        run()  # imports come first
    return {name: trace(run) for name, run in calls.items()}


def main(show: bool) -> None:
    for epsilon in (1, 0.001):
        with tempfile.TemporaryDirectory() as folder:
            for name, calls in walks(Path(folder), epsilon).items():
                walk, functions = stays(calls), [function for _, function in calls]
                print(
                    f"{name}(csv, by, unit, ledger, epsilon={epsilon}): {len(calls)} calls"
                    f" of {len(set(calls))} functions in {len({file for file, _ in calls})} files,"
                    f" {len(walk) - 1} changes of file, {functions.count('check')} checks,"
                    f" {functions.count('open_path')} files opened"
                )
                if show:
                    print("".join(f"    {file}: {' '.join(names)}\n" for file, names in walk))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print the walk, file by file")
    main(parser.parse_args().show)
