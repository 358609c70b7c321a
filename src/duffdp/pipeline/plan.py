"""Several releases over one source under one epsilon: checked together, charged all or none, then drawn."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from duffdp.domain import Categories
from duffdp.errors import DuffError
from duffdp.facts import Facts
from duffdp.parameters import read_epsilon, read_weight
from duffdp.pipeline.ask import Ask
from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import Prepared, ledger_of, run
from duffdp.statistics.registry import entry

SHARED = ("unit", "contributions", "mechanism")
WORDS = ("bounds", "step", "categories", "column", "by", "keys", *SHARED, "name")
TOP = ("source", "epsilon", "ledger", "dataset", "call_id", *SHARED, "release")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a plan would cost: the facts of every release, and what its ledger has left."""

    releases: dict[str, Facts]
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
        A mapping for each release: `statistic`, `column`, its parameters (`q`, a list of them for several quantiles), `bounds` and
        `step` or `categories`, `by` and `keys`, `unit`, `contributions`, `mechanism` as the verbs take them; `name`, and `weight`,
        its share of epsilon in proportion to the others (1 if not given).
    epsilon
        The privacy loss of all releases together.
    unit, contributions, mechanism
        For every release that does not have its own.
    source, ledger, dataset, call_id
        The data and the budget, if they are a part of the plan.

    Privacy
    -------
    Pure epsilon-differential privacy for all releases together, for whoever is the unit of all of them; the shares add up to
    epsilon. All parameters are checked before anything is charged, and all is charged before a row is read.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14: shares add up.

    Examples
    --------
    >>> import duffdp
    >>> ages = {"column": "age", "bounds": (0, 120)}
    >>> plan = duffdp.Plan([{"statistic": "median", **ages}, {"statistic": "quantile", "q": 0.9, **ages, "weight": 3}], epsilon=1.0)
    >>> [(name, str(facts.loss.epsilon)) for name, facts in plan.check().releases.items()]
    [('median of age', '1/4'), ('quantile 0.9 of age', '3/4')]
    """

    def __init__(
        self,
        releases: Iterable[Mapping[str, Any]],
        *,
        epsilon: Any,
        unit: str | None = None,
        contributions: int = 1,
        mechanism: str = "best",
        source: Any = None,
        ledger: Any = None,
        dataset: str | None = None,
        call_id: str | None = None,
    ) -> None:
        self.epsilon = read_epsilon(epsilon)
        entries = list(releases) if isinstance(releases, Iterable) and not isinstance(releases, Mapping | str) else []
        if not entries or not all(isinstance(given, Mapping) for given in entries):
            raise DuffError(
                "a plan lists its results, each with statistic, column and bounds or categories. "
                'Pass for example [{"statistic": "median", "column": "age", "bounds": (0, 120)}].'
            )
        shared = {"unit": unit, "contributions": contributions, "mechanism": mechanism}
        weights = []
        for i, given in enumerate(entries, 1):
            with _in_place(i):
                weights.append(read_weight(given.get("weight", 1)))
        self.asks: list[Ask] = []
        self.names: list[str] = []
        for i, (given, weight) in enumerate(zip(entries, weights, strict=True), 1):
            with _in_place(i):
                self.asks.append(_ask(shared, given, self.epsilon * weight / sum(weights)))
                self.names.append(self.asks[-1].title)
        twice = next((name for i, name in enumerate(self.names) if name in self.names[:i]), None)
        if twice is not None:
            raise DuffError(f"two results of the plan are called {twice!r}. Give each release its own name.")
        self.source, self.ledger, self.dataset, self.call_id = source, ledger, dataset, call_id

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Plan:
        """A plan from a file: `source`, `epsilon`, and a `[[release]]` for each result; paths count from where it lies."""
        from duffdp.pipeline.toml import read_toml

        given = read_toml(Path(path))
        _known(given, TOP, "the plan")
        releases = given.pop("release")
        return cls(releases, **given)

    def check(self, data: Any = None, *, ledger: Any = None) -> Cost:
        """What it would cost and what would be left; with data, their names and types are checked too, and no row is read."""
        source = self.source if data is None else data
        found: dict[str, Facts] = {}
        for i, (name, ask) in enumerate(zip(self.names, self.asks, strict=True), 1):
            with _in_place(i):
                found[name] = _facts(ask, source)
        book = self._ledger(ledger)
        return Cost(found, self.epsilon, None if book is None else book.remaining_exactly())

    def run(
        self, data: Any = None, *, ledger: Any = None, rng: object = None, done: Callable[[], None] = lambda: None
    ) -> dict[str, Release]:
        """Charge all releases or none, then make them; `done` is called after each."""
        source = self.source if data is None else data
        if source is None:
            raise DuffError("the plan names no source. Pass the data: plan.run(data).")
        return dict(zip(self.names, run(self.asks, source, self._ledger(ledger), rng, done), strict=True))

    def _ledger(self, given: Any) -> Any:
        ledger = self.ledger if given is None else given
        return None if ledger is None else ledger_of(ledger, self.dataset, self.call_id)

    def __repr__(self) -> str:
        return f"Plan({', '.join(map(repr, self.names))}, epsilon={float(self.epsilon):g})"


def _facts(ask: Ask, source: Any) -> Facts:
    if source is None:
        checked = ask.check()
        made = checked.recipe
        return Facts(
            statistic=made.statistic,
            mechanism=made.mechanism,
            loss=made.loss,
            unit=checked.unit,
            domain=checked.domain,
            column=ask.column,
            by=checked.selection.by,
            keys=checked.selection.keys,
        )
    prepared = Prepared.of(ask, source, None)
    prepared.refuse_what_types_forbid()
    return prepared.facts


@contextmanager
def _in_place(number: int) -> Iterator[None]:
    """The error of a check of one release says which one it was."""
    try:
        yield
    except DuffError as error:
        raise type(error)(f"release {number} of the plan: {error}") from None


def _ask(shared: Mapping[str, Any], given: Mapping[str, Any], epsilon: Fraction) -> Ask:
    known = entry(given.get("statistic"))
    _known(given, ("statistic", "weight", *known.read, *WORDS), known.name)
    for name in known.read:
        if name not in given:
            raise DuffError(f"{known.name} needs {name!r}.")
    statistic, parameters = known.for_parameters({name: given[name] for name in known.read})
    options = {name: shared[name] for name in SHARED if not known.of_graphs or name == "mechanism"}
    options |= {name: given[name] for name in WORDS if name in given}
    if options.get("mechanism") not in known.choices and "mechanism" not in given:
        options["mechanism"] = known.choices[0]  # the shared one is not for this statistic
    by, keys = options.get("by"), options.get("keys")
    if isinstance(by, list) and len(by) > 1 and isinstance(keys, list) and all(isinstance(part, list) for part in keys):
        options["keys"] = [Categories(part) for part in keys]  # one list for each column
    return Ask(statistic=statistic, epsilon=epsilon, parameters=parameters, **options)


def _known(given: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(str(name), names, 1, 0.5)
            hint = f" Did you mean {near[0]!r}?" if near else f" Known are {', '.join(names)}."
            raise DuffError(f"{where} has an unknown entry {name!r}.{hint}")
