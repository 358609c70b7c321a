"""The trusted base: the files that must be right for the guarantee, in reading order, with the
proof of each.

    python tools/trusted_base.py            prints the list and its lines
    python tools/trusted_base.py --write    writes the table of docs/review/trusted-base.md
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "duffdp"
PAGE = ROOT / "docs" / "review" / "trusted-base.md"
BEGIN, END = "<!-- base: written by tools/trusted_base.py -->", "<!-- end of base -->"

# Parts in reading order: the files of each, and where its proof and its tests are.
BASE: dict[str, tuple[tuple[str, ...], str]] = {
    "What is promised": (
        ("_privacy.py",),
        "[security](security.md#the-guarantee)",
    ),
    "Domain and snapping": (
        (
            "domain/grid.py",
            "domain/snapping.py",
            "domain/digits.py",
            "domain/categories.py",
            "domain/bins.py",
            "domain/cells.py",
            "domain/zones.py",
            "domain/reading.py",
        ),
        "`tests/domain/`, `tests/guarantees/low_bits_test.py`",
    ),
    "Requests and answers": (
        ("_engines/requests.py",),
        "`tests/support/request_oracle.py`, `tests/engines/`",
    ),
    "Rows of a person": (
        ("_engines/people.py",),
        "`tests/engines/people_test.py`",
    ),
    "Evidence": (
        ("_steps.py", "_rank_profile.py", "_count_ladder.py", "_evidence.py"),
        "[the guarantee](../explanation/guarantee.md), `tests/guarantees/neighbours_test.py`",
    ),
    "Programs": (
        ("statistics/statistic.py", "statistics/program.py"),
        "`tests/guarantees/driver_test.py`",
    ),
    "Account and driver": (
        ("_pipeline/draw_plan.py", "_pipeline/driver.py", "_pipeline/run.py"),
        "`tests/guarantees/driver_test.py`, `tests/guarantees/public_door_test.py`",
    ),
    "Mechanisms": (
        (
            "mechanisms/__init__.py",
            "mechanisms/mechanism.py",
            "mechanisms/exponential.py",
            "mechanisms/permute_and_flip.py",
            "mechanisms/lattice.py",
            "mechanisms/geometric.py",
            "mechanisms/thresholded_geometric.py",
            "mechanisms/staircase.py",
            "mechanisms/ranking.py",
            "mechanisms/piecewise_laplace.py",
            "mechanisms/joint/__init__.py",
            "mechanisms/joint/_draft.py",
            "mechanisms/joint/_proposal.py",
            "mechanisms/joint/_window_runs.py",
            "mechanisms/joint/_grouped_proposal.py",
        ),
        "[mechanisms](../explanation/mechanisms.md), "
        "[several quantiles](../explanation/several-quantiles.md), `tests/mechanisms/`",
    ),
    "Sampler": (
        (
            "_sampling/entropy.py",
            "_sampling/lazy_uniform.py",
            "_sampling/race.py",
            "_sampling/integer_noise.py",
            "_sampling/rare_places.py",
        ),
        "[mechanisms](../explanation/mechanisms.md), `tests/sampling/`",
    ),
    "Ledger": (
        (
            "ledger/charge.py",
            "ledger/journal.py",
            "ledger/ledger.py",
            "ledger/_composition.py",
        ),
        "`tests/ledger/`, `tests/guarantees/dominating_pairs_test.py`",
    ),
}
FILES = tuple(file for files, _ in BASE.values() for file in files)


def code_lines(path: Path) -> int:
    """Lines of code, without comments, docstrings and blank lines."""
    text = path.read_text(encoding="utf-8")
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            first = node.body[0]
            documented |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in silent and token.type != tokenize.ENDMARKER:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - documented)


def promise(path: Path) -> str:
    """The promise at the top of a file; empty if there is none."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    found = re.search(r"^Promise: (.+?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return "" if found is None else " ".join(found[1].split())


def table() -> str:
    """The list as Markdown, with a heading for each part."""
    parts = []
    for number, (title, (files, proof)) in enumerate(BASE.items(), 1):
        rows = [f"| `{file}` | {promise(SOURCE / file)} |" for file in files]
        heading = f"### {number}. {title}\n\nProof and tests: {proof}.\n"
        parts.append("\n".join([heading, "| file | promise |", "| --- | --- |", *rows]))
    return "\n\n".join(parts)


def line_counts() -> str:
    """The lines of code of every file and of all, as text."""
    lines = {file: code_lines(SOURCE / file) for file in FILES}
    rows = [f"{number:6} {file}" for file, number in lines.items()]
    return "\n".join([*rows, f"{sum(lines.values()):6} in all {len(FILES)} files"])


def main() -> None:
    """Print the list, or write it into the page."""
    if "--write" in sys.argv:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}", encoding="utf-8")
        return
    print(line_counts())


if __name__ == "__main__":
    main()
