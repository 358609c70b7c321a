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
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "duffdp"
PAGE = ROOT / "docs" / "review" / "trusted-base.md"
BEGIN, END = "<!-- base: written by tools/trusted_base.py -->", "<!-- end of base -->"

GUARANTEE, MECHANISMS, QUANTILES, GRAPHS = (
    f"../explanation/{page}.md"
    for page in ("guarantee", "mechanisms", "several-quantiles", "graphs")
)
DISTRIBUTIONS = f"{GUARANTEE}#from-distances-to-output-distributions"


class Part(NamedTuple):
    """A part of the base: what a reader should ask, and for each file, in reading order, where its
    proof and its tests are.
    """

    title: str
    question: str
    proofs: dict[str, str]


BASE = (
    Part(
        "What is promised",
        "Whom does a release protect, and what may it cost?",
        {
            "_privacy.py": "[the guarantee](security.md#the-guarantee), "
            "`tests/pipeline/facts_test.py`"
        },
    ),
    Part(
        "Domain and snapping",
        "Can a record change the set of outputs, another record, or whether there is an error?",
        {
            "domain/reading.py": "`tests/domain/domain_test.py`, `tests/engines/records_test.py`",
            "domain/grid.py": f"[equal outputs]"
            f"({GUARANTEE}#why-low-order-bits-leak-nothing), "
            "`tests/guarantees/low_bits_test.py`",
            "domain/snapping.py": f"[tiny results]"
            f"({GUARANTEE}#snapping-where-a-tiny-result-is-an-error), "
            "`tests/domain/snapping_test.py`",
            "domain/digits.py": f"[digits]({GUARANTEE}#significant-digits), "
            "`tests/domain/digits_test.py`",
            "domain/categories.py": "`tests/domain/domain_test.py`",
            "domain/bins.py": "`tests/domain/bins_test.py`",
            "domain/cells.py": "`tests/domain/bins_test.py`",
            "domain/zones.py": "`tests/engines/zones_test.py`",
        },
    ),
    Part(
        "Requests and answers",
        "What can a statistic learn of the records, and from whom?",
        {
            "_engines/requests.py": "`tests/support/request_oracle.py`, "
            "`tests/engines/exact_answers_test.py`",
        },
    ),
    Part(
        "Rows of a person",
        "Can one person decide which rows of another count? Can one more row than the cap count?",
        {
            "_engines/people.py": "`tests/engines/people_test.py`, "
            "`tests/pipeline/groups_per_person_test.py`"
        },
    ),
    Part(
        "Evidence",
        "What exactly does a mechanism receive, and who says how far one record moves it?",
        {
            "_steps.py": f"[distances]({GUARANTEE}#one-record-moves-a-distance-by-at-most-one), "
            "`tests/guarantees/neighbours_test.py`",
            "_rank_profile.py": f"[ties]({QUANTILES}#ties), `tests/mechanisms/joint_test.py`",
            "_count_ladder.py": f"[local sensitivities]({GRAPHS}#local-sensitivities), "
            "`tests/guarantees/neighbours_test.py`",
            "_evidence.py": "`tests/audit/replay_test.py`",
        },
    ),
    Part(
        "Programs",
        "What does a program of draws see? Nothing but numbers that were drawn.",
        {
            "statistics/statistic.py": "`tests/guarantees/driver_test.py`",
            "statistics/program.py": "`tests/guarantees/driver_test.py`",
        },
    ),
    Part(
        "Account and driver",
        "Can a draw happen that was not paid for? Is epsilon divided among rows exactly once?",
        {
            "_pipeline/draw_plan.py": f"[groups and people]"
            f"({GUARANTEE}#groups-people-in-several-of-them-and-sizes), "
            "`tests/guarantees/public_door_test.py`",
            "_pipeline/driver.py": "`tests/guarantees/driver_test.py`",
            "_pipeline/run.py": "`tests/guarantees/public_door_test.py`, "
            "`tests/guarantees/found_keys_test.py`",
        },
    ),
    Part(
        "Mechanisms",
        "Is each factor at most exp(epsilon)? Which lines use the rate or the sensitivity?",
        {
            "mechanisms/__init__.py": "`tests/guarantees/dominating_pairs_test.py`",
            "mechanisms/mechanism.py": f"[output distributions]({DISTRIBUTIONS}), "
            "`tests/guarantees/law_test.py`",
            "mechanisms/exponential.py": f"[output distributions]({DISTRIBUTIONS}), "
            "`tests/guarantees/neighbours_test.py`",
            "mechanisms/permute_and_flip.py": f"[output distributions]({DISTRIBUTIONS}), "
            "`tests/guarantees/neighbours_test.py`",
            "mechanisms/lattice.py": f"[on a lattice]({MECHANISMS}#on-a-lattice), "
            "`tests/mechanisms/lattice_test.py`",
            "mechanisms/geometric.py": "[counts](../explanation/statistics.md#counts-in-cells), "
            "`tests/mechanisms/geometric_test.py`",
            "mechanisms/thresholded_geometric.py": f"[keys]({MECHANISMS}#keys-that-are-found), "
            "`tests/guarantees/found_keys_test.py`, "
            "`tests/mechanisms/thresholded_geometric_test.py`",
            "mechanisms/staircase.py": f"[staircase noise]({MECHANISMS}#staircase-noise), "
            "`tests/mechanisms/staircase_test.py`",
            "mechanisms/ranking.py": "[common values]"
            "(../explanation/statistics.md#the-most-common-values), "
            "`tests/mechanisms/geometric_test.py`",
            "mechanisms/piecewise_laplace.py": f"[two mechanisms]({GRAPHS}#two-mechanisms), "
            "`tests/mechanisms/piecewise_laplace_test.py`",
            "mechanisms/joint/__init__.py": "[the output distribution]"
            f"({QUANTILES}#the-output-distribution), `tests/mechanisms/joint_test.py`",
            "mechanisms/joint/_draft.py": f"[an exact draw]({QUANTILES}#the-draw-is-exact), "
            "`tests/mechanisms/joint_proposal_test.py`",
            "mechanisms/joint/_proposal.py": f"[an exact draw]({QUANTILES}#the-draw-is-exact), "
            "`tests/mechanisms/joint_proposal_test.py`",
            "mechanisms/joint/_window_runs.py": f"[many groups]({QUANTILES}#many-groups), "
            "`tests/mechanisms/joint_groups_test.py`",
            "mechanisms/joint/_grouped_proposal.py": f"[many groups]({QUANTILES}#many-groups), "
            "`tests/mechanisms/joint_groups_test.py`",
        },
    ),
    Part(
        "Sampler",
        "Can a rounding, a missing bit or the caller's settings decide an outcome?",
        {
            "_sampling/entropy.py": "`tests/sampling/entropy_test.py`, "
            "`tests/guarantees/caller_state_test.py`",
            "_sampling/lazy_uniform.py": "`tests/sampling/lazy_uniform_test.py`",
            "_sampling/race.py": f"[the exact race]({MECHANISMS}#the-exact-race), "
            "`tests/sampling/race_test.py`",
            "_sampling/integer_noise.py": f"[staircase noise]({MECHANISMS}#staircase-noise), "
            "`tests/mechanisms/geometric_test.py`, `tests/mechanisms/staircase_test.py`",
            "_sampling/rare_places.py": "`tests/mechanisms/thresholded_geometric_test.py`",
        },
    ),
    Part(
        "Ledger",
        "Can a crash, a retry or two processes give budget away?",
        {
            "ledger/charge.py": "`tests/ledger/ledger_test.py`",
            "ledger/journal.py": "`tests/ledger/journal_test.py`, `tests/ledger/faults_test.py`",
            "ledger/ledger.py": "`tests/ledger/ledger_test.py`, `tests/ledger/replay_test.py`",
            "ledger/_composition.py": "[composition](../explanation/composition.md), "
            "`tests/guarantees/dominating_pairs_test.py`",
        },
    ),
)
FILES = tuple(file for part in BASE for file in part.proofs)


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
    """The list as Markdown, with a heading and a question for each part."""
    parts = []
    for number, part in enumerate(BASE, 1):
        rows = [
            f"| `{file}` | {promise(SOURCE / file)} | {proof} |"
            for file, proof in part.proofs.items()
        ]
        heading = f"### {number}. {part.title}\n\n{part.question}\n"
        head = ["| file | promise | proof and tests |", "| --- | --- | --- |"]
        parts.append("\n".join([heading, *head, *rows]))
    return "\n\n".join(parts)


def line_counts() -> str:
    """The lines of code of every file and of all, as text."""
    rows, total = [], 0
    for part in BASE:
        lines = {file: code_lines(SOURCE / file) for file in part.proofs}
        rows += [f"{sum(lines.values()):6} {part.title}"]
        rows += [f"{number:10} {file}" for file, number in lines.items()]
        total += sum(lines.values())
    return "\n".join([*rows, f"{total:6} in all {len(FILES)} files"])


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
