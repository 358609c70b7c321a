"""Run the commands and examples of Markdown pages, as a reader would who has the demo data.

    python tools/pages.py PAGE...

Each page runs in the current folder. Its commands are the indented lines that begin with `duffdp`;
`# exits with 3` at the end of one is the exit code that it must have. Its examples are doctests.
`+NUMBERS_VARY` marks an example whose output is random: it must have the shape that is shown, with
other numbers.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

NUMBERS_VARY = doctest.register_optionflag("NUMBERS_VARY")
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
EXIT_CODE = re.compile(r"# exits with (\d+)$")


def shape(output: str) -> str:
    """The output with its numbers taken out, and blanks and rules as short as possible."""
    return re.sub(r"[\s─━-]+", " ", re.sub(r"-?\d[\d,.]*", "#", output)).strip()


def compare_shapes() -> None:
    """Teach doctest, and pytest with it, what `NUMBERS_VARY` means."""
    exactly = doctest.OutputChecker.check_output

    def check_output(self: doctest.OutputChecker, want: str, got: str, optionflags: int) -> bool:
        if optionflags & NUMBERS_VARY:
            want, got = shape(want), shape(got)
        return exactly(self, want, got, optionflags)

    doctest.OutputChecker.check_output = check_output  # type: ignore[method-assign]


def commands(page: Path) -> list[tuple[str, int]]:
    """The commands of a page in order, each with its exit code."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL).replace("\\\n", " ")
    lines = [
        line.strip() for line in text.splitlines() if re.match(r"    (\S.* \| )?duffdp ", line)
    ]
    return [(line, int(code[1]) if (code := EXIT_CODE.search(line)) else 0) for line in lines]


def run_command(command: str, code: int) -> None:
    """Run a command in a shell that finds the `duffdp` of this Python, and check its exit code."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        ["bash", "-c", command],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    if run.returncode != code:
        raise SystemExit(f"{command}\nexits with {run.returncode}, not {code}:\n{run.stderr}")


def main() -> None:
    compare_shapes()
    for page in map(Path, sys.argv[1:]):
        runnable = commands(page)
        for command, code in runnable:
            run_command(command, code)
        result = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS)
        if result.failed:
            raise SystemExit(f"{page}: {result.failed} of {result.attempted} examples failed")
        print(f"{page.name}: {len(runnable)} commands, {result.attempted} examples", flush=True)


if __name__ == "__main__":
    main()
