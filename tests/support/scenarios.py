"""Two tables that differ in one record, and what is asked of both, drawn at random."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import collated
import containers
import nasty
from nasty import Pool, worth

WINDOW = 25_000  # more records than any reader looks at before it decides
ORDERED = ("median", "quantile", "quantiles", "mode", "describe")  # which take digits
WITH_INTERVAL = ("median", "quantile", "sum")
VERBS = ("median", "quantile", "quantiles", "mean", "sum", "trimmed_mean", "mode", "describe")
WITHOUT_COMMAND = ("table", "profile")  # whose command has other options
CELLS = ("count", "share", "histogram")  # with a public set of their own
VERBS += ("variance", "std", "iqr", "distribution")
# Bounds for each kind of value, and steps that go with them.
_FINE, _COARSE = ["None", "1", "0.5", "7"], ["2**30", "2**40"]
_QUESTIONS = {
    "numbers": [
        ("(0, 120)", _FINE),
        ("(0.0, 120.0)", _FINE),
        ("(-5, 10**6)", _FINE),
        ("(0, 1)", ["None", "1", "0.5"]),
        ("(0, 2**64)", _COARSE),
        ("(-2**63, 2**63)", _COARSE),
    ],
    "large numbers": [("(2**53, 2**53 + 64)", ["None", "1", "2"])],
    "dates": [
        ("(dt.date(2023, 1, 1), dt.date(2025, 1, 1))", ["None", "1", "7"]),
        ("(dt.date.min, dt.date.max)", ["365"]),
    ],
    "moments": [
        ("(dt.datetime(2023, 1, 1), dt.datetime(2025, 1, 1))", ["None", "60"]),
        ("(dt.datetime.min, dt.datetime.max)", ["86400"]),
    ],
    "zoned moments": [
        (
            "(dt.datetime(2023, 1, 1, tzinfo=dt.UTC), dt.datetime(2025, 1, 1, tzinfo=dt.UTC))",
            ["60"],
        ),
    ],
}
# Kinds of records that are asked as another kind is.
_OTHER = {"words": "words", "fractions": "numbers", "ids": "numbers", "codes": "numbers"}
_CONDITIONS = [
    *("x >= 1", "NOT x BETWEEN 2 AND 5.5", "x <> 1e300", "x IN (1, 5, 17)", "x < 0.1 OR x > 4"),
    *("x IS NULL OR x > 3", "x = 'a'", "x > '2001-01-01'", "x = TRUE", "x IS NOT NULL"),
    *("g <> 'a'", "NOT (g = 'a' OR p IS NULL)", "g IN ('a', 'é', '')", "g IS NULL", "p <> 1"),
]
_LETTERS = "['a', 'b']"
_KEYS = {"int8": "[1, 5]", "bool": "[True, False]", "date": "[dt.date(2024, 1, 1)]"}
_LOOSE = ["'ANN'", "'ann'", "'Ann '", "'ann '", "'änn'", "''", "None"]
_COLLATED = [
    f"collated {name}" for name in collated.TABLES if collated.missing(name) is None
]  # where it can be made
_GROUP_AND_PERSON = [
    ("string", "person"),
    ("large string", "string"),
    ("dictionary", "float person"),
    ("int8", "person"),
    ("bool", "string"),
    ("date", "decimal"),
]


@dataclass(frozen=True)
class Scenario:
    """Two tables, with and without the record at `place`, and what is asked; all of it is text."""

    container: str
    records: tuple[Any, ...]
    place: int
    verb: str
    options: dict[str, str] = field(default_factory=dict)
    types: tuple[str, ...] = ()
    before: int = 0  # how often another record stands in front of all
    ledger: bool = False
    command: bool = False

    def tables(self) -> Iterator[tuple[Any, ...]]:
        """The records with and without one."""
        padding = (self.records[0 if self.place else -1],) * self.before
        yield padding + self.records
        yield padding + self.records[: self.place] + self.records[self.place + 1 :]


class Maker:
    """Draws scenarios."""

    def __init__(self, seed: int, spark: bool = False) -> None:
        self.random = random.Random(seed)
        slow = {"dask": 0.2, "ibis": 0.3, "postgres": 0.3, "spark": 0.01 * spark}
        weights = dict.fromkeys(containers.TYPED, 1.0) | slow
        self._typed, self._weights = list(weights), list(weights.values())

    def scenario(self) -> Scenario:
        """One pair of tables and a question."""
        makers = [self._objects, self._text, self._typed_columns, self._sqlite, self._edges]
        makers.append(self._collated)
        made = self.random.choices(makers, [6, 5, 5, 1, 2, 1])[0]()
        if (
            made.container in containers.PATHS
            and made.verb not in WITHOUT_COMMAND
            and self._chance(0.01)
        ):
            made = replace(made, command=True)
        elif made.container in containers.TEXT and len(made.records) > 1 and self._chance(0.02):
            made = replace(made, before=WINDOW)
        return replace(made, ledger=self._chance(0.15))

    def _chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _records(self, pool: Pool) -> tuple[tuple[Any, ...], int]:
        """A few ordinary records, the one that joins or leaves, at times a nasty one that stays."""
        few = self.random.choices(pool.ordinary, k=self.random.choice([0, 1, 2, 3, 7, 20]))
        if self._chance(0.3):
            few.insert(self.random.randint(0, len(few)), self.random.choice(pool.nasty))
        place = self.random.choice([0, len(few), self.random.randint(0, len(few))])
        joins = pool.nasty if self._chance(0.85) else pool.ordinary
        few.insert(place, self.random.choice(joins))
        return tuple(few), place

    def _rows(self, *pools: Pool) -> tuple[tuple[Any, ...], int]:
        """Rows of a column from each pool; a nasty row has one nasty value, or all."""
        choice = self.random.choice
        ordinary, odd = [], []
        for _ in range(12):
            ordinary.append(tuple(choice(pool.ordinary) for pool in pools))
            row = [choice(pool.ordinary) for pool in pools]
            for place in self.random.sample(range(len(pools)), choice([1, 1, 1, len(pools)])):
                row[place] = choice(pools[place].nasty)
            odd.append(tuple(row))
        return self._records(Pool(ordinary, odd))

    def _asked(self, kind: str, named: bool, keys: str) -> tuple[str, dict[str, str]]:
        """A verb with its parameters for a kind of value; groups and people need columns."""
        choice, verb = self.random.choice, "mode"
        options = {"column": "'x'"} if named else {}
        if self._chance(0.3):
            verb = choice(CELLS)
            options |= self._cells(verb, kind)
            if verb == "count" and self._chance(0.5):
                options.pop("column", None)
        elif kind == "words":
            verb = choice(["mode", "top"])
            options["categories"] = choice(["['a', 'b', 'z']", "['a', 'A', '']"])
        else:
            verb = choice(VERBS)
            bounds, steps = choice(_QUESTIONS[kind])
            options["bounds"] = bounds
            if (step := choice(steps)) != "None":
                options["step"] = step
            if kind.endswith("numbers") and verb in ORDERED and self._chance(0.2):
                options.pop("step", None)
                options["bounds"] = choice(["Digits(2)", "Digits(1)"])
        if named and self._chance(0.2):
            options["where"] = repr(choice(_CONDITIONS))
        if named and self._chance(0.4):
            options |= {"by": "'g'", "keys": keys}
        if kind == "numbers" and options.get("bounds", "")[:1] == "(" and self._chance(0.15):
            # Beside the person, or beside themselves.
            options.pop("column", None)
            return "slope", options | ({"x": "'p'", "y": "'x'"} if named else {})
        if named and self._chance(0.3):
            options |= {"unit": "'p'", "contributions": choice(["1", "3"])}
            if "by" in options and self._chance(0.4):
                options["groups_per_person"] = choice(["1", "2"])
        if "by" in options and verb != "distribution" and self._chance(0.3):
            options["suppress_below"] = choice(["1", "5"])
        if named and self._chance(0.1):
            return "profile", _of_profiles(options)
        if named and "bounds" in options and self._chance(0.15):
            return "table", options | ({"total": "True"} if "by" in options else {})
        if verb not in ("describe", "sum", "top", "distribution", *CELLS) and self._chance(0.2):
            options["mechanism"] = choice(["'duff'", "'clipped'"]) if verb == "mean" else "'duff'"
        if verb in WITH_INTERVAL and self._chance(0.3):
            options["interval"] = "0.9"
        return verb, options

    def _cells(self, verb: str, kind: str) -> dict[str, str]:
        """What a verb that counts in cells takes for a kind of value."""
        if verb == "count":
            return {}
        if kind == "words":
            listed = self.random.choice(["['a', 'b', 'z']", "['a', 'A', '']"])
            return {"values" if verb == "share" else "categories": listed}
        bounds, _ = self.random.choice(_QUESTIONS[kind])
        return {"between" if verb == "share" else "bins": bounds}

    def _objects(self) -> Scenario:
        container = self.random.choice(list(containers.IN_MEMORY))
        kind = self.random.choice(list(nasty.OBJECTS))
        records, place = self._rows(nasty.OBJECTS[kind], nasty.GROUPS, nasty.PEOPLE)
        named = container == "object frame"
        asked = self._asked(kind if kind in _QUESTIONS else _OTHER[kind], named, _LETTERS)
        return Scenario(container, records, place, *asked)

    def _typed_columns(self) -> Scenario:
        (container,) = self.random.choices(self._typed, self._weights)
        values = [name for name, declared in nasty.TYPES.items() if declared.kind != "people"]
        others = self.random.choice(_GROUP_AND_PERSON[: 1 if container == "hive" else None])
        types = (self.random.choice(values), *others)
        pools = [Pool(nasty.TYPES[name].ordinary, nasty.TYPES[name].nasty) for name in types]
        if container in containers.WITHOUT_NULLS:
            pools = [Pool(good, [v for v in bad if v != "None"] or good) for good, bad in pools]
        records, place = self._rows(*pools)
        kind, named = nasty.TYPES[types[0]].kind, container not in containers.LISTED
        asked = self._asked(kind, named, _KEYS.get(types[1], _LETTERS))
        return Scenario(container, records, place, *asked, types)

    def _text(self) -> Scenario:
        container = self.random.choice(list(containers.TEXT))
        ordinary, odd = nasty.LINES, nasty.NASTY_LINES
        if container in containers.JSON:
            ordinary, odd = nasty.OBJECT_LINES, nasty.NASTY_OBJECT_LINES
        kind = self.random.choice(list(ordinary))
        records, place = self._records(Pool(ordinary[kind], odd))
        keys = self.random.choice([_LETTERS, "['1', '2']", "['a', 'A', 'é']", "[1, 2]"])
        asked = self._asked(kind if kind in _QUESTIONS else _OTHER[kind], True, keys)
        return Scenario(container, records, place, *asked)

    def _sqlite(self) -> Scenario:
        choice = self.random.choice
        kind = choice(["numbers", "words"])
        value = choice(["INTEGER", "REAL", "NUMERIC", "DECIMAL(5, 2)"])
        types = (value if kind == "numbers" else "TEXT", choice(["TEXT", ""]))
        odd, letters = nasty.NASTY_CELLS, nasty.GROUPS.ordinary
        pools = Pool(nasty.OBJECTS[kind].ordinary, odd), Pool(letters, odd), Pool(["1", "2"], odd)
        records, place = self._rows(*pools)
        asked = self._asked(kind, True, _LETTERS)
        return Scenario("sqlite", records, place, *asked, (*types, choice(["TEXT", "INTEGER", ""])))

    def collated(self, container: str) -> Scenario:
        """Texts that a collation may take for one another, as groups and people."""
        texts = [text for text in _LOOSE if collated.holds(container, worth(text) or "")]
        pool = Pool(["1", "2", "7"], ["None", "0", "2**40"])
        records, place = self._rows(pool, *[Pool(texts, texts)] * 2)
        verb = self.random.choice(["median", "mean", "sum", "count", "histogram", "mode"])
        options = {"column": "'x'"}
        if verb == "histogram":
            options["bins"] = "(0, 5, 10)"
        elif verb == "mode" and self._chance(0.5):
            options |= {"column": "'g'", "categories": "['ANN', 'ann', 'z']"}
        elif verb != "count":
            options["bounds"] = "(0, 10)"
        if self._chance(0.5):
            options["where"] = repr(self.random.choice(["g = 'ann'", "p <> 'ANN'", "g IS NULL"]))
        if self._chance(0.5):
            options |= {"by": "'g'", "keys": "['ann', 'ANN']"}
        if self._chance(0.7):
            options |= {"unit": "'p'", "contributions": self.random.choice(["1", "3"])}
        return Scenario(container, records, place, verb, options, ledger=self._chance(0.5))

    def _collated(self) -> Scenario:
        return self.collated(self.random.choice(_COLLATED))

    def _edges(self) -> Scenario:
        container = self.random.choice(list(containers.GRAPHS))
        pool = Pool(nasty.EDGES, nasty.NASTY_EDGES)
        if container in containers.GRAPH_FILES:
            pool = Pool(nasty.EDGE_LINES, nasty.NASTY_EDGE_LINES)
        elif container == "edges list":
            pool = Pool(nasty.EDGES, nasty.NASTY_PAIRS)
        options = {"nodes": self.random.choice(["5", "10"])}
        if self._chance(0.3):
            options["mechanism"] = "'duff'"
        return Scenario(container, *self._records(pool), "triangles", options)


def smaller(scenario: Scenario) -> Iterator[Scenario]:
    """Simpler scenarios of the same kind, the boldest first."""
    records, place, options = scenario.records, scenario.place, scenario.options
    if len(records) > 1:
        yield replace(scenario, records=(records[place],), place=0, before=0)
    if scenario.before:
        yield replace(scenario, before=0)
    for i in range(len(records)):
        if i != place:
            left = records[:i] + records[i + 1 :]
            yield replace(scenario, records=left, place=place - (i < place))
    if scenario.ledger:
        yield replace(scenario, ledger=False)
    for names in (
        ("where",),
        ("by", "keys", "groups_per_person", "suppress_below"),
        ("suppress_below",),
        ("groups_per_person",),
        ("unit", "contributions", "groups_per_person"),
        ("mechanism",),
        ("interval",),
        ("step",),
    ):
        if names[0] in options and options.get("step") not in _COARSE:
            yield replace(scenario, options=_without(options, names))
    if scenario.verb != "median" and "bounds" in options:
        yield replace(scenario, verb="median")


def _of_profiles(options: dict[str, str]) -> dict[str, str]:
    """The parameters that a profile takes, too."""
    names = ("where", "by", "keys", "unit", "contributions")
    bounds = options.get("bounds", "")
    return {name: options[name] for name in names if name in options} | (
        {"bounds": f"{{'x': {bounds}}}"} if bounds.startswith("(") else {}
    )


def _without(options: dict[str, str], names: Sequence[str]) -> dict[str, str]:
    return {name: text for name, text in options.items() if name not in names}
