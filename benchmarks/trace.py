"""How far one release walks through the house: functions called, files, and changes of file.

Every call of Python code in the package counts, lambdas and generators too. A change of file is
two calls in a row that stand in different files. Run `python -m benchmarks.trace`; with `--show`
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

import duffdp

SOURCE = Path(duffdp.__file__).parent
MOST_CHANGES = 40

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
    given = {
        "column": "age",
        "by": "ward",
        "keys": ["a", "b"],
        "unit": "person",
        "bounds": (0, 120),
        "epsilon": epsilon,
        "ledger": duffdp.Ledger(folder / "budget.db", epsilon=9),
    }
    found = {}
    for verb, shares in ((duffdp.median, []), (duffdp.quantiles, [[0.25, 0.75]])):
        run = partial(verb, path, *shares, **given)
        run()  # imports come first
        found[verb.__name__] = trace(run)
    return found


def main(show: bool) -> None:
    for epsilon in (1, 0.001):
        with tempfile.TemporaryDirectory() as folder:
            for name, calls in walks(Path(folder), epsilon).items():
                walk = stays(calls)
                print(
                    f"{name}(csv, by, unit, ledger, epsilon={epsilon}): {len(calls)} calls"
                    f" of {len(set(calls))} functions in {len({file for file, _ in calls})} files,"
                    f" {len(walk) - 1} changes of file (at most {MOST_CHANGES})"
                )
                if show:
                    print("".join(f"    {file}: {' '.join(names)}\n" for file, names in walk))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print the walk, file by file")
    main(parser.parse_args().show)
