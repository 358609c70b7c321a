"""An adversary that looks for one record that shows.

Run it with `python tests/support/adversary.py --minutes 10`. It makes two tables that differ in one
record, asks both for the same release and compares all that can be observed except the value:
errors, warnings, what is printed, columns, facts of the release, rows of the ledger; and that the
counts which engines hand to statistics differ by that one record at most. A finding is printed as
the smallest pair of tables that shows it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import narwhals
import openpyxl
import pyarrow
from polars.exceptions import PanicException

import containers
import duffdp
import engines
from duffdp import Digits, Ledger
from duffdp._engines.requests import PairRecords, ValueCounts
from duffdp._engines.sql.query import OpenSources
from inquiries import ask
from nasty import worth
from scenarios import CELLS, Maker, Scenario, smaller

COMMAND = [sys.executable, "-m", "duffdp"]
SHARES: dict[str, list[Any]] = {
    "quantile": [0.9],
    "quantiles": [[0.25, 0.5]],
    "trimmed_mean": [0.25],
    "top": [2],
}
FLAGS = {"trimmed_mean": "--trim", "top": "-k"}  # of the command, for what is in SHARES; else -q
OWN = ("values", "between", "bins")  # parameters of verbs with a public set of their own
# What libraries say when they do not take a record: then there is no table to ask.
NOT_TAKEN = (
    pyarrow.ArrowException,
    duckdb.Error,
    PanicException,
    ArithmeticError,
    ValueError,
    TypeError,
)
EXACT = 1e9  # an epsilon without noise
UNSEEN = {"value", "low", "high", "noisy", "time"}  # what may differ in a release
OF_TABLES = ("bounds", "step")  # given for each column


def engine_of(data: Any, verb: str, options: dict[str, Any]) -> tuple[Any, int]:
    """The engine that counts, and its column: the one place that knows the library from inside."""
    from duffdp._pipeline.request import ReleaseRequest
    from duffdp._pipeline.run import PreparedRelease

    statistic = "mode" if "categories" in options else "median"
    pair = {name: options[name] for name in ("x", "y") if name in options}
    if verb == "slope" and not pair:
        data = (data, data)
    request = ReleaseRequest(
        verb if verb in (*CELLS, "slope") else statistic,
        {"epsilon": 1}
        | pair
        | {name: value for name, value in options.items() if name not in {"mechanism", "total"}},
    )
    prepared = PreparedRelease.of(request, data, None, OpenSources())
    return prepared.data.engine(prepared.entropy)


def counts(data: Any, verb: str, options: dict[str, Any]) -> Counter[Any]:
    """How many records count at each candidate of each group.

    With people, whose rows are picked at random, how many count in all; where groups are picked,
    which have different numbers of rows, nothing can be said.
    """
    if "groups_per_person" in options:
        return Counter()
    if verb == "triangles":
        from duffdp._engines.edges import read_edges

        return Counter({"edges": len(read_edges(data).first)})
    if verb == "profile":
        look = released(verb, data, options | {"rng": 1}, EXACT)
        cells = look.releases["fields of x"].cells[0]
        return Counter({"rows": sum(cells)} if "unit" in options else dict(enumerate(cells)))
    found: Counter[Any] = Counter()
    engine, column = engine_of(data, verb, options)
    if verb == "slope":
        for group, pairs in enumerate(ask(engine, PairRecords())):
            found.update((group, *pair) for pair in zip(*pairs, strict=True))
        return found
    for group, (values, times) in enumerate(ask(engine, ValueCounts(), column=column).split()):
        for index, count in zip(values, times, strict=True):
            found["rows" if "unit" in options else (group, int(index))] += int(count)
    return found


def released(verb: str, data: Any, options: dict[str, Any], epsilon: float = 1.0) -> Any:
    """What a verb makes of a table; records without a second column are beside themselves."""
    if verb == "profile":
        return duffdp.profile(data, columns=["x"], epsilon=epsilon, **options)
    if verb == "table":
        own = {n: {"x": options[n]} if n in OF_TABLES else options[n] for n in options}
        own.pop("column")
        own |= {"names": {"count": "Records", "all": "Total"}, "shown_in": {"x": "units"}}
        return duffdp.table(data, {"x": ["median", "mean", 0.25, 0.75]}, epsilon=1.0, **own)
    if verb != "slope":
        return getattr(duffdp, verb)(data, *SHARES.get(verb, []), epsilon=1.0, **options)
    if "x" in options:
        return duffdp.slope(**options, data=data, epsilon=1.0)
    return duffdp.slope(data, data, **options, epsilon=1.0)


def observed(scenario: Scenario, data: Any, folder: Path) -> dict[str, Any]:
    """Everything that somebody without access to the data sees, but the value."""
    if scenario.command:
        return _observed_command(scenario, str(data), folder)
    options = {name: worth(text) for name, text in scenario.options.items()}
    ledger = _new_ledger(folder) if scenario.ledger else None
    if ledger:
        options["ledger"] = ledger
    seen: dict[str, Any] = {}
    printed, complained = io.StringIO(), io.StringIO()
    with (
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(complained),
    ):
        warnings.simplefilter("always")
        try:
            made = released(scenario.verb, data, options)
            seen["release"] = PUBLIC.get(scenario.verb, _public)(made)
        except (Exception, PanicException) as error:
            seen["error"] = type(error).__name__, str(error)
    # Python warns of unclosed files when it collects them, whoever opened them.
    kept = [w for w in warned if w.category is not ResourceWarning]
    seen["warnings"] = {(w.category.__name__, str(w.message)) for w in kept}
    seen["printed"] = printed.getvalue(), complained.getvalue()
    if ledger:
        seen["ledger"] = _charges(ledger)
    return seen


def _public(release: Any) -> dict[str, Any]:
    """All of a release but its value; type, keys and being in the public set are no secrets."""
    facts = {n: str(fact) for n, fact in release.to_dict().items() if n not in UNSEEN}
    rows = release.rows()
    released = [
        (column.kind, value)
        for cells in release.cells
        for column, value in zip(release.columns, cells, strict=True)
        if value is not None  # withheld, by noisy sizes
    ]
    candidates = [value for kind, value in released if kind == "candidate"]
    facts["keys"] = str([(keys, part) for keys, part, _ in rows])
    facts["type"] = type(release.value).__name__
    facts["noisy"] = None if release.noisy is None else list(map(len, release.noisy))
    if release.suppress_below is None:
        facts["types"] = str(sorted({type(value).__name__ for _, value in released}))
    facts["outside"] = any(not _is_candidate(release.domain, value) for value in candidates)
    if isinstance(release.value, dict) and rows[0][0]:
        facts["columns"] = list(map(repr, release.value))
    elif rows[0][0]:
        facts["columns"] = list(narwhals.from_native(release.value).collect_schema())
    return facts


def _public_table(table: Any) -> dict[str, Any]:
    """All of a table but its values, in every form that it is handed on in."""
    facts: dict[str, Any] = {name: _public(release) for name, release in table.releases.items()}
    facts["outside"] = any(one["outside"] for one in facts.values())
    frame = table.to_frame()
    facts["type"] = type(frame).__name__
    facts["columns"] = list(narwhals.from_native(frame).collect_schema())
    shown = table.display_tables()
    names = [[row[: one.text_columns] for row in one.rows] for one in shown]
    facts["text"] = [one.header for one in shown], names, shown[0].caption, table.smallest
    texts = table.to_markdown(), table.to_csv(), table.to_latex(), str(table)
    facts["formats"] = [text.count("\n") for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        table.to_excel(Path(folder, "table.xlsx"))
        book = openpyxl.load_workbook(Path(folder, "table.xlsx"))
        facts["workbook"] = [
            (sheet.title, sheet.dimensions, [cell.value for cell in sheet[1]]) for sheet in book
        ]
        page = duffdp.report.write(table, Path(folder, "page.html")).read_text(encoding="utf-8")
        facts["page"] = re.findall("<h[1-6]>.*?</h[1-6]>", page)
    if len(table.keys) > 1:
        change = table.compare("count", *table.keys[:2])
        facts["comparison"] = change.names, change.confidence, change.exact, change.title
        order = table.rank("count")
        facts["order"] = sorted(map(str, order.order)), order.confidence, order.simultaneous
    return facts


def _public_profile(look: Any) -> dict[str, Any]:
    """All of a profile but its values; its kinds, remarks and texts are computed from these."""
    assert str(look)
    assert look.to_json()
    assert look.display_tables()
    facts: dict[str, Any] = {name: _public(release) for name, release in look.releases.items()}
    facts["outside"] = any(one["outside"] for one in facts.values())
    facts["columns"] = [(one.name, one.type) for one in look.columns.values()]
    facts["reading"] = [note.worded() for note in look.reading]
    return facts


PUBLIC = {"table": _public_table, "profile": _public_profile}


def _is_candidate(domain: Any, value: Any) -> bool:
    try:
        return bool(domain.value(domain.index(value)) == value)
    except duffdp.DuffError:
        return False


def _new_ledger(folder: Path) -> Ledger:
    path = folder / "budget.db"
    path.unlink(missing_ok=True)
    return Ledger(path, epsilon=10)


def _charges(ledger: Ledger) -> list[dict[str, Any]]:
    return [{n: fact for n, fact in charge.items() if n != "time"} for charge in ledger.charges()]


def _observed_command(scenario: Scenario, data: str, folder: Path) -> dict[str, Any]:
    """The same by the command line: its exit code and all it prints, but the value."""
    several = scenario.verb == "quantiles"
    name = "quantile" if several else scenario.verb.replace("_", "-")
    line = [*COMMAND, name, data]
    for name, text in scenario.options.items():
        value = worth(text)
        if name in ("keys", "categories", "values", "bins"):
            value = ",".join(map(str, value))
        if isinstance(value, Digits):
            name, value = "digits", value.digits
        pair = name in ("bounds", "between")
        line += [f"--{name.replace('_', '-')}", *(map(str, value) if pair else [str(value)])]
    for share in SHARES.get(scenario.verb, [[]])[0] if several else SHARES.get(scenario.verb, []):
        line += [FLAGS.get(scenario.verb, "-q"), str(share)]
    line += ["--epsilon", "1", "--format", "json"]
    ledger = _new_ledger(folder) if scenario.ledger else None
    if ledger:
        line += ["--ledger", str(ledger.path)]
    ran = subprocess.run(line, capture_output=True, check=False, timeout=300)
    seen: dict[str, Any] = {"exit code": ran.returncode, "stderr": ran.stderr, "stdout": ran.stdout}
    if ran.returncode == 0:
        told = json.loads(ran.stdout)
        if "suppress_below" in scenario.options:  # which values are withheld follows from noise
            told = {name: part for name, part in told.items() if name not in UNSEEN}
        seen["stdout"] = _shape(told)
    if ledger:
        seen["ledger"] = _charges(ledger)
    return seen


def _shape(told: Any, inside: bool = False) -> Any:
    """What was printed, with the types of values in their place."""
    if isinstance(told, dict) and inside and "noise_epsilon" in told:
        return sorted(told)  # how many cells there are is a part of the value
    if isinstance(told, dict):
        return {name: _shape(part, inside or name in UNSEEN) for name, part in told.items()}
    if isinstance(told, list):
        return [_shape(part, inside) for part in told]
    return type(told).__name__ if inside else told


def differences(scenario: Scenario, folder: Path) -> dict[str, tuple[Any, Any]]:
    """What tells the two tables apart; nothing, if the guarantee is kept."""
    options = {name: worth(text) for name, text in scenario.options.items()}
    seen: list[dict[str, Any]] = []
    tallies: list[Counter[Any]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the making of tables and counts alone says
        for records in scenario.tables():
            try:
                data = containers.build(scenario.container, records, scenario.types, folder)
            except NOT_TAKEN:
                return {}
            seen.append(observed(scenario, data, folder))
            if "error" not in seen[-1] and not seen[-1].get("exit code"):
                try:
                    tallies.append(counts(data, scenario.verb, options))
                except Exception as error:  # released, and cannot be counted
                    return {"counts": (repr(error), records)}
    one, other = seen
    found = {n: (one.get(n), other.get(n)) for n in {**one, **other} if one.get(n) != other.get(n)}
    if not found and one.get("release", {}).get("outside"):
        found["public set"] = "a value that is not in it", ""
    if len(tallies) == 2:
        gone, come = tallies[0] - tallies[1], tallies[1] - tallies[0]
        if (gone + come).total() > 1:
            found["counts"] = dict(gone), dict(come)
    return found


def shrunk(scenario: Scenario, folder: Path, tries: int = 60) -> Scenario:
    """The smallest scenario that a few tries find with a difference in one of the same places."""
    places, again = set(differences(scenario, folder)), True
    while again and tries > 0:
        again = False
        for simpler in smaller(scenario):
            tries -= 1
            if places & set(differences(simpler, folder)):
                scenario, again = simpler, True
                break
            if tries <= 0:
                break
    return scenario


def hunt(
    seconds: float, seed: int, spark: bool = False
) -> Iterator[tuple[Scenario | None, dict[str, Any]]]:
    """Findings, one of each sort; (None, {}) for every other pair of tables."""
    maker, known = Maker(seed, spark), set()
    if spark:
        engines.spark()  # what it says when it starts is not about a table
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="duffdp-adversary-") as name:
        folder = Path(name)
        while time.monotonic() < end:
            scenario = maker.scenario()
            found = differences(scenario, folder)
            record = repr(scenario.records[scenario.place])[:80]
            sort = scenario.container, scenario.command, record, *sorted(found)
            if not found or sort in known:
                yield None, {}
                continue
            known.add(sort)
            if not scenario.command:  # a process each would take long
                scenario = shrunk(scenario, folder)
            yield scenario, differences(scenario, folder) or found


def main() -> int:
    """Print every finding; 1 if there is one."""
    parser = argparse.ArgumentParser(description="Look for a record that shows.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--spark", action="store_true", help="also Spark frames, which are slow")
    asked = parser.parse_args()
    pairs = findings = 0
    for scenario, found in hunt(60 * asked.minutes, asked.seed, asked.spark):
        pairs += 1
        if scenario is not None:
            findings += 1
            print(f"{scenario!r:.2000}", flush=True)
            for name, (one, other) in found.items():
                print(f"  {name}\n    with    {one!r:.400}\n    without {other!r:.400}", flush=True)
    print(f"seed {asked.seed}: {pairs} pairs of tables, {findings} findings")
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
