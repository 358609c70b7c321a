"""Break one promise after another in a copy of the source; the test that each mutation names must
fail.

`python -m tests.mutants` tries all of them, `python -m tests.mutants plan ledger` those with such
a word in their name or their file. `--from 117` begins with that number: each line shows its own,
so a run can continue where another one stopped. `--list` shows the mutations and runs nothing.
`--replay` looks for them by replays alone (`tests/audit/replayed_calls_test.py`), but for those
that no replay can see, and counts both.
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import itertools
import os
import py_compile
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NoReturn

import pytest
from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.table import MUTANTS

REPLAYS = ("tests/audit/replayed_calls_test.py",)
# Slow to import, the same for every mutation and safe to fork: read once, for all processes.
LIBRARIES = ("scipy.stats", "pandas", "narwhals", "ibis")


def run(mutant: Mutant | None, source: Path, tests: tuple[str, ...]) -> str | None:
    """The first test that fails, if any, with the library taken from `source`."""
    with tempfile.TemporaryFile("w+") as output:
        child = os.fork()
        if child == 0:
            run_here(source, tests, output.fileno())
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        told = output.read()
    if code == 0:
        return None
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", told, re.MULTILINE)
    if found is None or found[0].startswith("ERROR"):
        raise SystemExit(f"{mutant.name if mutant else 'no mutation'}: {told[-2000:]}")
    return found[1]


def run_here(source: Path, tests: tuple[str, ...], output: int) -> NoReturn:
    """Run tests in this process, which has not imported the library yet, and end it."""
    code = -1
    try:
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(ROOT)
        os.environ["PYTHONPATH"] = str(source)  # for the processes that tests start
        sys.path.insert(0, str(source))
        code = pytest.main(["-x", "-q", "-rfE", "-p", "no:cacheprovider", *tests])
        sys.stdout.flush()
    finally:
        os._exit(code)


def broken(mutant: Mutant, source: Path, tests: tuple[str, ...]) -> str | None:
    """Break the copy, look for a test that notices, and mend the copy."""
    path = source / "duffdp" / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.name}: its text is not in {mutant.file} once. Adapt the table.")
    path.write_text(text.replace(mutant.old, mutant.new))
    try:
        return run(mutant, source, tests)
    finally:
        path.write_text(text)


def main(arguments: list[str]) -> int:
    """Try all mutations with one of the words in their name or file; how many survived."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", allow_abbrev=False)
    parser.add_argument("words", nargs="*", help="parts of names or files; all mutations if none")
    parser.add_argument("--from", dest="first", type=int, default=1, help="the first number to try")
    parser.add_argument("--list", action="store_true", help="show the mutations, run nothing")
    parser.add_argument("--replay", action="store_true", help="look for them by replays")
    options = parser.parse_args(arguments)
    chosen = {
        number: mutant
        for number, mutant in enumerate(MUTANTS, 1)
        if number >= options.first
        and (
            not options.words
            or any(word in f"{mutant.name} {mutant.file}" for word in options.words)
        )
    }
    if options.list:
        for number, mutant in chosen.items():
            print(f"{number:4} {mutant.name}\n     {mutant.file}: {', '.join(mutant.tests)}")
        return 0
    unseen = Counter(mutant.unseen for mutant in chosen.values() if mutant.unseen)
    if options.replay:
        chosen = {number: mutant for number, mutant in chosen.items() if not mutant.unseen}
    for library in LIBRARIES:
        importlib.import_module(library)
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        by_content = py_compile.PycInvalidationMode.CHECKED_HASH  # times are too coarse for edits
        compileall.compile_dir(source, quiet=1, invalidation_mode=by_content)
        tests = {n: REPLAYS if options.replay else each.tests for n, each in chosen.items()}
        sound = tuple(dict.fromkeys(itertools.chain.from_iterable(tests.values())))
        if (failed := run(None, source, sound)) is not None:
            raise SystemExit(f"{failed} fails without a mutation")
        for number, mutant in chosen.items():
            began = time.monotonic()
            killer = broken(mutant, source, tests[number])
            survived += killer is None
            seconds = time.monotonic() - began
            print(
                f"{number:4} {mutant.name:62} {seconds:5.1f} s  {killer or 'SURVIVED'}", flush=True
            )
    by = " by replays" if options.replay else ""
    print(f"{len(chosen) - survived} of {len(chosen)} mutations were noticed{by}")
    if options.replay:
        print(f"{unseen.total()} more cannot be seen by a replay:")
        for reason, count in unseen.most_common():
            print(f"{count:4} {reason}")
    return survived


if __name__ == "__main__":
    raise SystemExit(min(main(sys.argv[1:]), 1))
