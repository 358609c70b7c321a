"""Several releases under one epsilon: checked together, charged all or none, then drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from duffdp.domain import Digits
from duffdp.engines.keys import refuse_data_as_keys
from duffdp.errors import BoundsError, DuffError
from duffdp.facts import Facts
from duffdp.parameters import read_epsilon, read_weight
from duffdp.pipeline.ask import Ask, Checked, settled
from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Prepared, ledger_of, make_releases
from duffdp.pipeline.sources import read_sources
from duffdp.pipeline.text_values import with_values
from duffdp.pipeline.toml import read_toml, refuse_unknown
from duffdp.statistics.registry import check_parameter_names, entry

SHARED = ("where", "unit", "contributions", "groups_per_person", "mechanism")
WORDS = (
    *("bounds", "digits", "step", "categories", "column", "by", "keys", "margin"),
    *("interval", "covers", "simultaneous", "suppress_below"),
    *SHARED,
    "name",
)
GRAPH_WORDS = ("mechanism", "name")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a plan would cost: the facts and rows of every release, and what its ledger has left."""

    releases: dict[str, Facts]
    rows: dict[str, int]
    epsilon: Fraction
    remaining: Fraction | None

    @property
    def fits(self) -> bool:
        """Whether the budget covers it; without a ledger nothing stands against it."""
        return self.remaining is None or self.epsilon <= self.remaining


class Plan:
    """Several releases over one source under one epsilon, charged all or none.

    Parameters
    ----------
    releases
        A mapping for each release: `statistic`, `column`, its parameters (`q`, a list of them for
        several quantiles), `bounds` and `step`, `digits` in place of them, or `categories`, `by`
        and `keys`, `where`, `unit`, `contributions`, `groups_per_person`, `suppress_below`,
        `mechanism` as the verbs take them; `name`, and `weight`, its share of epsilon in proportion
        to the others (1 if not given).
    epsilon
        The privacy loss of all releases together.
    where, unit, contributions, groups_per_person, mechanism
        For every release that does not have its own.
    source, ledger, dataset, call_id
        The data and the budget, if they are a part of the plan.
    sources
        Where `bounds`, `step`, `categories` and `keys` came from and whatever else a reviewer asks,
        for the page about it (`duffdp.report.write`).

    Privacy
    -------
    Pure epsilon-differential privacy for all releases together, for whoever is the unit of all of
    them; the shares add up to epsilon. All parameters are checked before anything is charged, and
    all is charged before a row is read.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14:
    shares add up.

    Examples
    --------
    >>> import duffdp
    >>> ages = {"column": "age", "bounds": (0, 120)}
    >>> tail = {"statistic": "quantile", "q": 0.9, "weight": 3}
    >>> plan = duffdp.Plan([{"statistic": "median", **ages}, {**tail, **ages}], epsilon=1.0)
    >>> [(name, str(facts.loss.epsilon)) for name, facts in plan.check().releases.items()]
    [('median of age', '1/4'), ('quantile 0.9 of age', '3/4')]
    """

    def __init__(
        self,
        releases: Iterable[Mapping[str, Any]],
        *,
        epsilon: Any,
        where: str | None = None,
        unit: str | None = None,
        contributions: int = 1,
        groups_per_person: int | None = None,
        mechanism: str = "best",
        source: Any = None,
        ledger: Any = None,
        dataset: str | None = None,
        call_id: str | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        self.epsilon = read_epsilon(epsilon)
        several = isinstance(releases, Iterable) and not isinstance(releases, Mapping | str)
        listed = list(releases) if several else []
        if not listed or not all(isinstance(given, Mapping) for given in listed):
            raise DuffError(
                "a plan lists its results, each with statistic, column and bounds or categories. "
                'Pass for example [{"statistic": "median", "column": "age", "bounds": (0, 120)}].'
            )
        shared = {
            "where": where,
            "unit": unit,
            "contributions": contributions,
            "groups_per_person": groups_per_person,
            "mechanism": mechanism,
        }
        weights = []
        for i, given in enumerate(listed, 1):
            with _in_place(i, given):
                weights.append(read_weight(given.get("weight", 1)))
        self.asks: list[Ask] = []
        self.names: list[str] = []
        for i, (given, weight) in enumerate(zip(listed, weights, strict=True), 1):
            with _in_place(i, given):
                self.asks.append(_ask(shared, given, self.epsilon * weight / sum(weights)))
                refuse_data_as_keys(self.asks[-1].keys, source)
                self.asks[-1].check()
                self.names.append(self.asks[-1].title)
        twice = next((name for i, name in enumerate(self.names) if name in self.names[:i]), None)
        if twice is not None:
            raise DuffError(
                f"two results of the plan are called {twice!r}. Give each release its own name."
            )
        self.source, self.ledger, self.dataset, self.call_id = source, ledger, dataset, call_id
        self.sources = read_sources(sources)
        self.reads_text = False  # keys and categories mean what they are

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Plan:
        """A plan from a file: `source`, `epsilon`, and a `[[release]]` for each result.

        Paths count from where the file lies. `keys` is a list of values or, for several columns of
        `by`, one list for each: all combinations are answered. Keys and categories that are text
        stand for values of the type that their column has.
        """
        given = read_toml(Path(path))
        plan = cls(given.pop("release"), **given)
        plan.reads_text = True
        return plan

    def check(self, data: Any = None, *, ledger: Any = None) -> Cost:
        """What it would cost; with data, names and types are checked too, and no row is read."""
        source = self.source if data is None else data
        found: dict[str, Facts] = {}
        rows: dict[str, int] = {}
        for i, (name, ask) in enumerate(zip(self.names, self.asks, strict=True), 1):
            checked = ask.check()
            with _in_place(i, {"name": ask.name}):
                found[name] = (
                    _facts(checked) if source is None else self._prepared(ask, source).facts
                )
            ends = 3 if checked.recipe.interval else 1  # they stand beside values
            numbers = len(checked.columns) // ends
            rows[name] = numbers * max(len(checked.selection.groups.keys), 1)
        book = self._ledger(ledger)
        return Cost(found, rows, self.epsilon, None if book is None else book.remaining_exactly())

    def run(
        self,
        data: Any = None,
        *,
        ledger: Any = None,
        rng: object = None,
        done: Callable[[], None] | None = None,
    ) -> dict[str, Release]:
        """Charge all releases or none, then make them; `done` is called after each."""
        return self.make(self.prepared(data, rng), ledger, done)

    def prepared(self, data: Any, rng: object) -> list[Prepared]:
        """All releases after all checks that need no row."""
        source = self.source if data is None else data
        if source is None:
            raise DuffError("the plan names no source. Pass the data: plan.run(data).")
        prepared = []
        for i, ask in enumerate(self.asks, 1):
            with _in_place(i, {"name": ask.name}):
                prepared.append(self._prepared(ask, source, rng))
        return prepared

    def make(
        self, prepared: list[Prepared], ledger: Any, done: Callable[[], None] | None
    ) -> dict[str, Release]:
        """Charge what was prepared, all or none, then read and draw."""
        releases = make_releases(prepared, self._ledger(ledger), done)
        return dict(zip(self.names, releases, strict=True))

    def _prepared(self, ask: Ask, source: Any, rng: object = None) -> Prepared:
        """One release after all checks that need no row."""
        return Prepared.of(with_values(ask, source) if self.reads_text else ask, source, rng)

    def _ledger(self, given: Any) -> Any:
        ledger = self.ledger if given is None else given
        return None if ledger is None else ledger_of(ledger, self.dataset, self.call_id)

    def __repr__(self) -> str:
        return f"Plan({', '.join(map(repr, self.names))}, epsilon={float(self.epsilon):g})"


def _facts(checked: Checked) -> Facts:
    """What is known of a release without its data."""
    made, selection = settled(checked.recipe, checked.domain), checked.selection
    return Facts(
        statistic=made.statistic,
        mechanism=made.mechanism,
        loss=made.loss,
        unit=made.unit,
        domain=checked.domain,
        column=selection.column,
        by=selection.groups.by,
        keys=selection.groups.keys,
        interval=made.interval,
        within=selection.within,
        where=None if selection.where is None else selection.where.text,
        suppression=made.suppression,
    )


@contextmanager
def _in_place(number: int, given: Mapping[str, Any]) -> Iterator[None]:
    """The error of a check of one release says which one it was."""
    try:
        yield
    except DuffError as error:
        name = given.get("name")
        called = f" ({name})" if name and isinstance(name, str) else ""
        raise type(error)(f"release {number} of the plan{called}: {error}") from None


def _ask(shared: Mapping[str, Any], given: Mapping[str, Any], epsilon: Fraction) -> Ask:
    known = entry(given.get("statistic"))
    words: tuple[str, ...] = GRAPH_WORDS if known.of_graphs else WORDS
    if known.of_pairs:
        words = tuple(word for word in words if word != "column")
        if not {"x", "y"} <= set(given):
            raise DuffError(f"{known.name} needs x and y, the names of two columns.")
    check_parameter_names(known, given)
    refuse_unknown(given, ("statistic", "weight", *known.read, *words), known.name)
    if not isinstance(given.get("name", ""), str):
        raise DuffError(f"name must be a text, got {given['name']!r}.")
    statistic, parameters = known.for_parameters({name: given.get(name) for name in known.read})
    options = {name: shared[name] for name in SHARED if name in words}
    if options["mechanism"] == "duff" and "duff" not in known.choices:
        options["mechanism"] = known.choices[0]  # what is for all releases is not for this one
    options |= {name: given[name] for name in words if name in given}
    if "digits" in options:
        if "bounds" in options:
            raise BoundsError("got bounds and digits. Pass one of them.")
        options["bounds"] = Digits(options.pop("digits"))
    return Ask(statistic=statistic, epsilon=epsilon, parameters=parameters, **options)
