"""An adversary that looks for one record that shows: `python tests/adversary.py --minutes 10 --seed 1`.

It makes two tables that differ in one record, asks both for the same release and compares everything that can be observed
except the value: errors, warnings, what is printed, columns, facts of the release, rows of the ledger; and that the counts
which engines hand to statistics differ by that one record at most. A finding is printed with the smallest tables that show it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import narwhals
import pyarrow
from polars.exceptions import PanicException

import containers
import duffdp
from containers import worth
from duffdp import Categories, Ledger

WINDOW = 25_000  # more records than any reader looks at before it decides
COMMAND = [sys.executable, "-W", "error::SyntaxWarning", "-c", "from duffdp.cli import main; main()"]
VERBS = ("median", "quantile", "quantiles", "mean", "mode", "describe")
LIBRARY_ERRORS = (pyarrow.ArrowException, duckdb.Error, PanicException)
SHARES = {"quantile": 0.9, "quantiles": [0.25, 0.5]}


@dataclass(frozen=True)
class Scenario:
    """Two tables, with and without the record at `place`, and what is asked of them; everything in it is text."""

    container: str
    records: tuple[Any, ...]
    place: int
    verb: str
    options: dict[str, str] = field(default_factory=dict)
    types: tuple[str, ...] = ()
    before: int = 0  # how often the first record stands in front of all
    ledger: bool = False
    command: bool = False

    def tables(self) -> Iterator[tuple[Any, ...]]:
        """The records with and without one."""
        padding = (self.records[0 if self.place else -1],) * self.before
        yield padding + self.records
        yield padding + self.records[: self.place] + self.records[self.place + 1 :]


def sources(data: Any, verb: str, options: dict[str, Any]) -> list[Any]:
    """What the engine counts for each group: the one place that knows the library from inside."""
    from duffdp.opened import Opened, chosen_rows

    selection = chosen_rows(tuple(options.get(n, 1 if n == "contributions" else None) for n in ("column", "by", "keys", "unit", "contributions")))  # fmt: skip
    categories = Categories(options["categories"]) if "categories" in options else None
    opened = Opened.of(data, options.get("bounds"), options.get("step"), selection, categories)
    return opened._sources(opened.held)


def counts(data: Any, verb: str, options: dict[str, Any]) -> Counter[Any]:
    """How many records count at each candidate of each group; with people, whose rows are picked at random, how many in all."""
    if verb == "triangles":
        from duffdp.engines.edges import read_edges

        return Counter({"edges": len(read_edges(data, options["nodes"]).tail)})
    found: Counter[Any] = Counter()
    for group, source in enumerate(sources(data, verb, options)):
        for index, count in zip(*source.tally(), strict=True):
            found["rows" if "unit" in options else (group, int(index))] += int(count)
    return found


def observed(scenario: Scenario, data: Any, folder: Path) -> dict[str, Any]:
    """Everything that somebody without access to the data sees, but the value."""
    if scenario.command:
        return _observed_command(scenario, str(data), folder)
    options = {name: worth(text) for name, text in scenario.options.items()}
    seen: dict[str, Any] = {}
    ledger = _new_ledger(folder) if scenario.ledger else None
    printed, complained = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stdout(printed), contextlib.redirect_stderr(complained):
        warnings.simplefilter("always")
        try:
            verb = getattr(duffdp, scenario.verb)
            shares = [SHARES[scenario.verb]] if scenario.verb in SHARES else []
            release = verb(data, *shares, epsilon=1.0, **options, **({"ledger": ledger} if ledger else {}))
            seen["release"] = _public(release)
        except (Exception, PanicException) as error:
            seen["error"] = type(error).__name__, str(error)
    seen["warnings"] = {(w.category.__name__, str(w.message)) for w in warned if w.category is not ResourceWarning}
    seen["printed"] = printed.getvalue(), complained.getvalue()
    if ledger:
        seen["ledger"] = _charges(ledger)
    return seen


def _public(release: Any) -> dict[str, Any]:
    """The facts of a release: all but its value, of which the type, the keys and the public set are facts."""
    facts = {name: str(fact) for name, fact in release.to_dict().items() if name not in ("value", "low", "high", "time")}
    rows = release.rows()
    numbers = [(part, value) for _, part, value in rows if part != "count"]
    facts["keys"] = [(str(keys), part) for keys, part, _ in rows]
    facts["type"] = type(release.value).__name__
    facts["types of values"] = sorted({type(value).__name__ for _, value in numbers})
    facts["in the public set"] = all(_is_candidate(release.domain, value) for _, value in numbers)
    if release.by if hasattr(release, "by") else release.grouped:
        facts["columns"] = list(narwhals.from_native(release.value).collect_schema())
    return facts


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
    return [{name: fact for name, fact in charge.items() if name != "time"} for charge in ledger.charges()]


def _observed_command(scenario: Scenario, data: str, folder: Path) -> dict[str, Any]:
    """The same by the command line: its exit code and all it prints, but the value."""
    line = [*COMMAND, scenario.verb.removesuffix("s") if scenario.verb == "quantiles" else scenario.verb, data]
    options = {name: worth(text) for name, text in scenario.options.items()}
    for name, value in options.items():
        listed = ",".join(map(str, value)) if name in ("keys", "categories") else value
        line += [f"--{name}", *(map(str, value) if name == "bounds" else [str(listed)])]
    shares = SHARES.get(scenario.verb, [])
    for share in shares if isinstance(shares, list) else [shares]:
        line += ["-q", str(share)]
    ledger = _new_ledger(folder) if scenario.ledger else None
    line += ["--epsilon", "1", "--format", "json", *(["--ledger", str(ledger.path)] if ledger else [])]
    ran = subprocess.run(line, capture_output=True, check=False, timeout=300)
    try:
        told: Any = _shape(json.loads(ran.stdout))
    except ValueError:
        told = ran.stdout
    return {"exit code": ran.returncode, "stderr": ran.stderr, "stdout": told, "ledger": _charges(ledger) if ledger else None}


def _shape(told: Any, inside: bool = False) -> Any:
    """What was printed, with the types of values in their place."""
    if isinstance(told, dict):
        return {name: _shape(part, inside or name == "value") for name, part in told.items()}
    if isinstance(told, list):
        return [_shape(part, inside) for part in told]
    return type(told).__name__ if inside else told


def differences(scenario: Scenario, folder: Path) -> dict[str, tuple[Any, Any]]:
    """What tells the two tables apart; nothing, if the guarantee is kept."""
    seen: list[dict[str, Any]] = []
    tallies: list[Counter[Any] | None] = []
    for records in scenario.tables():
        try:
            data = containers.build(scenario.container, records, scenario.types, folder)
        except (*LIBRARY_ERRORS, ArithmeticError, ValueError, TypeError):
            return {}  # the library that holds the records does not take one of them
        seen.append(observed(scenario, data, folder))
        released = "release" in seen[-1] or seen[-1].get("exit code") == 0
        tallies.append(_counted(scenario, data) if released else None)
    found = {name: (seen[0].get(name), seen[1].get(name)) for name in {**seen[0], **seen[1]} if seen[0].get(name) != seen[1].get(name)}
    facts = seen[0].get("release")
    if facts and not found and not facts["in the public set"]:
        found["public set"] = "a value outside", "of it"
    one, other = tallies
    if one is not None and other is not None and ((one - other) + (other - one)).total() > 1:
        found["counts"] = dict(one - other), dict(other - one)
    return found


def _counted(scenario: Scenario, data: Any) -> Counter[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return counts(data, scenario.verb, {name: worth(text) for name, text in scenario.options.items()})


class Maker:
    """Draws scenarios."""

    def __init__(self, seed: int, spark: bool = False) -> None:
        self.random = random.Random(seed)
        weights = dict.fromkeys(containers.TYPED, 1.0) | {"dask": 0.2, "ibis": 0.3, "spark": 0.01 * spark}  # slow ones
        self._typed, self._weights = list(weights), list(weights.values())

    def scenario(self) -> Scenario:
        """One pair of tables and a question."""
        make = self.random.choices([self._objects, self._text, self._typed_columns, self._sqlite, self._edges], [6, 5, 5, 1, 2])[0]
        made = make()
        if made.container in containers.TEXT or made.container == "sqlite":
            if self.random.random() < 0.01:
                made = replace(made, command=True)
            elif self.random.random() < 0.02:
                made = replace(made, before=WINDOW)
        return replace(made, ledger=self.random.random() < 0.15)

    def _records(self, ordinary: list[Any], nasty: list[Any]) -> tuple[tuple[Any, ...], int]:
        """A few ordinary records, the one that joins or leaves, and sometimes another nasty one that stays."""
        few = self.random.choices(ordinary, k=self.random.choice([0, 1, 2, 3, 7, 20]))
        if self.random.random() < 0.3:
            few.insert(self.random.randint(0, len(few)), self.random.choice(nasty))
        place = self.random.choice([0, len(few), self.random.randint(0, len(few))])
        few.insert(place, self.random.choice(nasty if self.random.random() < 0.85 else ordinary))
        return tuple(few), place

    def _rows(self, *pools: tuple[list[str], list[str]]) -> tuple[tuple[Any, ...], int]:
        """Rows with columns from pools of ordinary and nasty values; a nasty row has one nasty value, or a few."""
        choice, many = self.random.choice, range(12)
        ordinary = [tuple(choice(good) for good, _ in pools) for _ in many]
        nasty = []
        for _ in many:
            row = [choice(good) for good, _ in pools]
            for place in self.random.sample(range(len(pools)), self.random.choice([1, 1, 1, len(pools)])):
                row[place] = choice(pools[place][1])
            nasty.append(tuple(row))
        return self._records(ordinary, nasty)

    def _asked(self, kind: str, named: bool, keys: str | None, people: bool) -> tuple[str, dict[str, str]]:
        """A verb with its parameters, for a kind of value."""
        choice = self.random.choice
        options: dict[str, str] = {"column": "'x'"} if named else {}
        if kind == "words":
            verb = "mode"
            options["categories"] = choice(["['a', 'b', 'z']", "['a', 'A', '']"])
        else:
            verb = choice(VERBS)
            bounds, steps = {
                "numbers": (["(0, 120)", "(0, 120)", "(-5, 10**6)", "(0.0, 120.0)", "(0, 2**64)", "(-2**63, 2**63)", "(0, 1)"], ["None", "1", "0.5", "7"]),
                "dates": (["(dt.date(2023, 1, 1), dt.date(2025, 1, 1))", "(dt.date.min, dt.date.max)"], ["None", "1", "7"]),
                "moments": (["(dt.datetime(2023, 1, 1), dt.datetime(2025, 1, 1))", "(dt.datetime.min, dt.datetime.max)"], ["None", "60"]),
            }[kind]  # fmt: skip
            options["bounds"] = choice(bounds)
            if (step := choice(steps)) != "None":
                options["step"] = step
            if "64" in options["bounds"] or "63" in options["bounds"]:
                options["step"] = choice(["2**30", "2**40"])
            elif "max" in options["bounds"]:
                options["step"] = "365" if kind == "dates" else "86400"
        if keys and self.random.random() < 0.4:
            options |= {"by": "'g'", "keys": keys}
        if people and self.random.random() < 0.3:
            options |= {"unit": "'p'", "contributions": choice(["1", "3"])}
        if self.random.random() < 0.2 and verb != "describe":
            options["mechanism"] = "'duff'"
        return verb, options

    def _objects(self) -> Scenario:
        container, kind = self.random.choice(list(containers.IN_MEMORY)), self.random.choice(list(containers.OBJECTS))
        records, place = self._rows(
            containers.OBJECTS[kind], (containers.GROUPS, containers.NASTY_GROUPS), (containers.PEOPLE, containers.NASTY_PEOPLE)
        )
        named = container == "object frame"
        asked = self._asked("numbers" if kind == "fractions" else kind, named, "['a', 'b']" if named else None, named)
        return Scenario(container, records, place, *asked)

    def _typed_columns(self) -> Scenario:
        (container,) = self.random.choices(self._typed, self._weights)
        first = self.random.choice([name for name in containers.TYPES if "person" not in name])
        types = (first, *self.random.choice([("string", "person"), ("large string", "string"), ("dictionary", "float person"), ("int8", "person"), ("bool", "string"), ("date", "decimal")]))  # fmt: skip
        if container == "hive":
            types = (first, "string", types[2])
        pools = [(containers.TYPES[name][1], containers.TYPES[name][2]) for name in types]
        if container in containers.WITHOUT_NULLS:
            pools = [(good, [text for text in bad if text != "None"] or good) for good, bad in pools]
        records, place = self._rows(*pools)
        kind = "dates" if first == "date" else "moments" if first.startswith("moment") else "words" if first in ("string", "large string", "dictionary") else "numbers"  # fmt: skip
        keys = {"string": "['a', 'b']", "large string": "['a', 'b']", "dictionary": "['a', 'b']", "int8": "[1, 5]", "bool": "[True, False]"}
        named = container not in containers.LISTED
        verb, options = self._asked(kind, named, keys.get(types[1], "[dt.date(2024, 1, 1)]") if named else None, named)
        if first in ("moment utc", "moment zoned"):
            options["bounds"] = "(dt.datetime(2023, 1, 1, tzinfo=dt.UTC), dt.datetime(2025, 1, 1, tzinfo=dt.UTC))"
            options["step"] = "60"
        return Scenario(container, records, place, verb, options, types)

    def _text(self) -> Scenario:
        container = self.random.choice(list(containers.TEXT))
        ordinary, nasty = containers.LINES, containers.NASTY_LINES
        if container in containers.JSON:
            ordinary, nasty = containers.OBJECT_LINES, containers.NASTY_OBJECT_LINES
        kind = self.random.choice(list(ordinary))
        records, place = self._records(ordinary[kind], nasty)
        keys = "[1, 2]" if kind == "codes" and self.random.random() < 0.5 else self.random.choice(["['a', 'b']", "['1', '2']", "['a', 'A', 'é']"])  # fmt: skip
        asked = self._asked(kind if kind in ("dates", "words") else "numbers", True, keys, True)
        return Scenario(container, records, place, *asked)

    def _sqlite(self) -> Scenario:
        kind = self.random.choice(["numbers", "words"])
        types = (self.random.choice(["INTEGER", "REAL", "NUMERIC", "DECIMAL(5, 2)"]) if kind == "numbers" else "TEXT", self.random.choice(["TEXT", ""]), self.random.choice(["TEXT", "INTEGER", ""]))  # fmt: skip
        nasty = containers.NASTY_CELLS
        records, place = self._rows((containers.NUMBERS if kind == "numbers" else containers.GROUPS, nasty), (containers.GROUPS, nasty), (["1", "2", "3"], nasty))
        return Scenario("sqlite", records, place, *self._asked(kind, True, "['a', 'b']", True), types)

    def _edges(self) -> Scenario:
        container = self.random.choice(list(containers.GRAPHS))
        if container in containers.GRAPH_FILES:
            records, place = self._records(containers.EDGE_LINES, containers.NASTY_EDGE_LINES)
        else:
            nasty = containers.NASTY_PAIRS if container == "edges list" else containers.NASTY_EDGES
            records, place = self._records(containers.EDGES, nasty)
        options = {"nodes": self.random.choice(["5", "10"]), "mechanism": self.random.choice(["'best'", "'duff'"])}
        return Scenario(container, records, place, "triangles", options)


def smaller(scenario: Scenario) -> Iterator[Scenario]:
    """Simpler scenarios of the same kind, the boldest first."""
    if scenario.command:
        return
    special = scenario.records[scenario.place]
    if len(scenario.records) > 1:
        yield replace(scenario, records=(special,), place=0, before=0)
    if scenario.before:
        yield replace(scenario, before=0)
    for i in range(len(scenario.records)):
        if i != scenario.place:
            left = scenario.records[:i] + scenario.records[i + 1 :]
            yield replace(scenario, records=left, place=scenario.place - (i < scenario.place))
    if scenario.ledger:
        yield replace(scenario, ledger=False)
    for names in (("by", "keys"), ("unit", "contributions"), ("mechanism",), ("step",)):
        if names[0] in scenario.options and not (names == ("step",) and "2**" in scenario.options["step"]):
            yield replace(scenario, options={n: text for n, text in scenario.options.items() if n not in names})
    if scenario.verb != "median" and "bounds" in scenario.options:
        yield replace(scenario, verb="median")


def shrunk(scenario: Scenario, folder: Path, tries: int = 60) -> Scenario:
    """The smallest scenario that a few tries find with a difference in the same places."""
    wanted, again = set(differences(scenario, folder)), True
    while again and tries > 0:
        again = False
        for simpler in smaller(scenario):
            tries -= 1
            if wanted & set(differences(simpler, folder)):
                scenario, again = simpler, True
                break
            if tries <= 0:
                break
    return scenario


def hunt(seconds: float, seed: int, spark: bool = False) -> Iterator[tuple[Scenario | None, dict[str, Any]]]:
    """Findings, one of each sort; (None, {}) for every pair without one."""
    maker, known, end = Maker(seed, spark), set(), time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="duffdp-adversary-") as name:
        folder = Path(name)
        while time.monotonic() < end:
            scenario = maker.scenario()
            found = differences(scenario, folder)
            sort = scenario.container, scenario.command, repr(scenario.records[scenario.place])[:80], *sorted(found)
            if not found or sort in known:
                yield None, {}
                continue
            known.add(sort)
            scenario = shrunk(scenario, folder)
            yield scenario, differences(scenario, folder) or found


def main() -> int:
    parser = argparse.ArgumentParser(description="Look for a record that shows in anything but the value.")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--spark", action="store_true", help="some pairs as Spark frames, which are slow")
    asked = parser.parse_args()
    pairs = findings = 0
    for scenario, found in hunt(60 * asked.minutes, asked.seed, asked.spark):
        pairs += 1
        if scenario is not None:
            findings += 1
            print(f"{scenario!r:.2000}", flush=True)
            for name, (one, other) in found.items():
                print(f"  {name}\n    with    {one!r:.300}\n    without {other!r:.300}", flush=True)
    print(f"seed {asked.seed}: {pairs} pairs of tables, {findings} findings")
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
