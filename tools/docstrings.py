"""The parameters that verbs share, described once: this script writes the text into every
docstring, where editors and `help()` read it.

Run `python tools/docstrings.py` after a change here; `--check` says whether a docstring differs,
and a test runs it.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from pathlib import Path

VERBS = Path(__file__).parent.parent / "src" / "duffdp" / "pipeline" / "verbs"
WIDTH = 92

SHARED = {
    "data": (
        "A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow, "
        "DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with "
        "`column`. Missing records are dropped, others clamped to the bounds."
    ),
    "edges": (
        "Pairs of whole numbers, of any sign and size: an array or list of two columns, a "
        "frame with two columns, a sparse adjacency matrix of scipy or the path of a CSV "
        "file. What is no edge and self-loops are dropped, an edge listed twice or in both "
        "directions counts once."
    ),
    "epsilon": "The whole privacy loss of this call: a finite number above 0.",
    "bounds": (
        "`(lower, upper)`, public: from knowledge of the subject, never from the data. Or a "
        "`Grid`; where nobody knows bounds, `Digits` for medians, quantiles and modes."
    ),
    "step": (
        "Distance between possible outputs. None: 1 for integer types and, in lists and files of "
        "text, which have none, for bounds that are whole numbers at least 10 apart; a day for "
        "dates; else a power of ten, at most 1, with at least 100,000 steps between the bounds. "
        "`Release.domain` says it."
    ),
    "column": "The column of a frame or file.",
    "by": "One column or several that form groups.",
    "keys": (
        "The public list of groups: values or tuples, a series or frame, a type that declares its "
        "values (`polars.Enum`, `pandas.CategoricalDtype`), the path of a table or of a file with "
        "one on a line; or a mapping from each column to one of these, for all combinations. "
        "Every key is answered, rows with other keys are ignored, and one epsilon covers all "
        "groups."
    ),
    "where": (
        "Which rows count, the others are left out: comparisons of columns with fixed values as in "
        "\"age >= 18 AND ward <> 'ER'\", with AND, OR, NOT, IN, BETWEEN and IS NULL. Public."
    ),
    "unit": "The column that names the person. Without it a row is protected.",
    "contributions": (
        "How many rows of a person count at most, picked at random: in all groups together, or in "
        "each with `groups_per_person`."
    ),
    "groups_per_person": (
        "In how many groups a person counts at most, picked at random; epsilon covers all of them. "
        "None: in as many as `contributions` rows are in."
    ),
    "suppress_below": (
        "Withhold the values of groups whose noisy number of records is smaller. A tenth of "
        "epsilon pays for that number, which stands beside each group, and post-processing does "
        "the rest; a statistic that counts records itself needs no other. None: no such number."
    ),
    "interval": (
        "A confidence such as 0.95: the release then has `low` and `high`, and with at least "
        "this probability what it covers lies between them, for each number of each group. Epsilon "
        "pays for values and ends."
    ),
    "covers": (
        '"data": the exact statistic of the records that count. "population": that of the '
        "distribution that records were drawn from, independently; any distribution."
    ),
    "simultaneous": (
        "Whether all intervals of the release hold together with that probability, those of all "
        "groups, and not only each by itself; they are a little wider."
    ),
    "ledger": (
        "A `Ledger` or its path: the budget that is charged before the draw. It refuses what "
        "does not fit, and seeds."
    ),
    "rng": (
        "None: exact draws from the operating system. A seed or a numpy generator: for "
        "experiments, not private."
    ),
    "nodes": (
        "The public number of nodes, those without edges included. It bounds the output and "
        "need not be right for the guarantee to hold."
    ),
}
# What a module of verbs says otherwise.
OWN = {
    "cells.py": {
        "data": (
            "A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow, "
            "DuckDB, Spark, dask, ibis) or the path of a file, a folder or a table, with "
            "`column`. Missing records are dropped, one by one."
        ),
    },
    "table.py": {
        "data": (
            "A frame (pandas, polars, pyarrow, DuckDB, Spark, dask, ibis) or the path of a file, a "
            "folder or a table. Missing records are dropped, others clamped to the bounds."
        ),
    },
    "sums.py": {
        "step": (
            "What records are rounded to and, if it is given, a mean as well. None: 1 for integer "
            "types, a day for dates, else about 2**40 steps between the bounds. A mean that is "
            "drawn from candidates has a power of ten with at least 10**9 steps."
        ),
    },
}
# Of verbs for which no interval can be promised.
WITHOUT_INTERVAL = {"variance", "std", "trimmed_mean", "mode", "top", "slope"}
REFUSED = "None: no interval can be promised here. The error for others says what to ask for."
# Parameters that a module's verbs describe themselves.
KEPT = {
    "pairs.py": {"data", "step"},
    "table.py": {"bounds", "step", "contributions", "interval", "simultaneous", "suppress_below"},
}


def described(docstring: str, names: list[str], indent: str, shared: dict[str, str]) -> str:
    """A docstring whose Parameters section holds an entry for every parameter in order, the shared
    ones as above.
    """
    head, rest = docstring.split(f"{indent}Parameters\n{indent}----------\n", 1)
    body, tail = re.split(rf"\n+(?={indent}Returns\n)", f"\n{rest}", maxsplit=1)
    own: dict[str, str] = {}
    for entry in re.split(rf"\n(?={indent}\S)", body)[1:]:
        name, text = entry.split("\n", 1) if "\n" in entry else (entry, "")
        own[name.strip()] = text
    entries = []
    for name in names:
        if name in shared:
            flat = " ".join(shared[name].split())
            text = textwrap.fill(
                flat, WIDTH, initial_indent=indent + "    ", subsequent_indent=indent + "    "
            )
        else:
            text = own[name]
        entries.append(f"{indent}{name}\n{text}")
    return f"{head}{indent}Parameters\n{indent}----------\n" + "\n".join(entries) + f"\n\n{tail}"


def rewritten(source: str, name: str) -> str:
    """A module of verbs with its docstrings brought up to date."""
    kept = KEPT.get(name, set())
    shared = {key: text for key, text in (SHARED | OWN.get(name, {})).items() if key not in kept}
    for node in ast.parse(source).body:
        text = ast.get_docstring(node, clean=False) if isinstance(node, ast.FunctionDef) else None
        if not isinstance(node, ast.FunctionDef) or text is None or node.name.startswith("_"):
            continue
        arguments = [
            a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        ]
        refused = {"interval": REFUSED} if node.name in WITHOUT_INTERVAL else {}
        source = source.replace(text, described(text, arguments, "    ", shared | refused))
    return source


def main(arguments: list[str]) -> int:
    stale = []
    for path in sorted(VERBS.glob("*.py")):
        before = path.read_text()
        after = rewritten(before, path.name)
        if before != after:
            stale.append(path.name)
            if "--check" not in arguments:
                path.write_text(after)
    if stale and "--check" in arguments:
        print(f"stale docstrings in {', '.join(stale)}: run python tools/docstrings.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
