"""A table as it is asked for: a plan of releases of the same groups, with names and shares."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, Self

from duffdp.engines.keys import load_keys
from duffdp.engines.tables import Table as SourceTable
from duffdp.errors import DuffError
from duffdp.parameters import (
    Groups,
    read_flag,
    read_interval,
    read_smallest,
    read_suppress_below,
    read_weight,
)
from duffdp.pipeline.accuracy import count_bound
from duffdp.pipeline.answer import beside
from duffdp.pipeline.ask import Checked
from duffdp.pipeline.plan import Cost, Plan
from duffdp.pipeline.suppression import TOO_SMALL
from duffdp.pipeline.table import Measure, Table, margin_name
from duffdp.pipeline.table_words import USUAL, Wanted, asked_for, columns_of, together
from duffdp.pipeline.toml import read_table_text, read_table_toml, refuse_unknown
from duffdp.statistics.entry import Column

# What of epsilon goes to a release, beside others: what is made of noisy counts errs least at the
# same epsilon, and several draws one after the other share it (`benchmarks/table_shares.py`).
COUNTS, ONE_DRAW, SEVERAL_DRAWS = 1, 4, 8
MOST_WITH_MARGINS = 2  # columns of groups: for more of them a margin of each set costs too much


class TablePlan:
    """A table that is not released yet: what it asks for, what it would cost, and how to make it.

    Parameters
    ----------
    statistics, epsilon, bounds, step, categories, by, keys, total, unit, contributions,
    groups_per_person, interval, simultaneous, smallest, suppress_below, weights, mechanism
        As `duffdp.table` takes them.
    source, ledger, dataset, call_id, sources
        The data, the budget and what a reviewer asks, as `duffdp.Plan` takes them.

    Privacy
    -------
    That of `duffdp.Plan`: the shares of all releases add up to epsilon, all is checked before
    anything is charged, and charged before a row is read.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14:
    shares add up.

    Examples
    --------
    >>> import duffdp
    >>> asked = {"age": ["median", "mean"]}
    >>> plan = duffdp.TablePlan(asked, epsilon=1.3, bounds={"age": (0, 120)})
    >>> [(name, str(facts.loss.epsilon)) for name, facts in plan.check().releases.items()]
    [('count', '1/10'), ('age_median', '4/5'), ('age_mean', '2/5')]
    """

    def __init__(
        self,
        statistics: Mapping[str, Any],
        *,
        epsilon: Any,
        bounds: Mapping[str, Any] | None = None,
        step: Mapping[str, Any] | None = None,
        categories: Mapping[str, Any] | None = None,
        by: Any = None,
        keys: Any = None,
        total: bool = False,
        where: str | None = None,
        unit: str | None = None,
        contributions: int = 1,
        groups_per_person: int | None = None,
        interval: float | None = USUAL,
        simultaneous: bool = False,
        smallest: int | None = None,
        suppress_below: int | None = None,
        weights: Mapping[str, Any] | None = None,
        mechanism: str = "best",
        source: Any = None,
        ledger: Any = None,
        dataset: str | None = None,
        call_id: str | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        self.interval = read_interval(interval, "data", simultaneous)
        columns = columns_of({"bounds": bounds, "step": step, "categories": categories})
        wanted = asked_for(statistics, columns, interval, mechanism)
        groups = {} if by is None and keys is None else {"by": by, "keys": load_keys(by, keys)}
        asked = [one.words | groups for one in wanted]
        shared: dict[str, Any] = {
            "where": where,
            "unit": unit,
            "contributions": contributions,
            "groups_per_person": groups_per_person,
            "mechanism": mechanism,
        }
        first = Plan(asked, epsilon=epsilon, **shared, source=source)
        checked = [ask.check() for ask in first.asks]
        self.smallest = None if smallest is None else read_smallest(smallest)
        self.suppress_below = read_suppress_below(suppress_below)
        if self.suppress_below is not None and self.smallest is not None:
            raise DuffError(
                f"suppress_below={suppress_below} says from which count on a group is not too "
                f"small, got smallest={smallest} as well. Leave one of them out."
            )
        self.margins = _margins(checked[0].selection.by) if read_flag("total", total) else ()
        self._outputs = _named_outputs(wanted, checked)
        self._again = {
            one.name: () if _adds_up(made) else self.margins
            for one, made in zip(wanted, checked, strict=True)
        }
        if self.interval is not None and self.interval.simultaneous:
            asked = together(asked, self.interval, self._again)
        self._wanted, self._checked, self._asked = wanted, checked, asked
        self.wanted_errors: dict[str, Any] | None = None  # of a file
        place = {"source": source, "ledger": ledger, "dataset": dataset, "call_id": call_id}
        self._shared = {"epsilon": epsilon, **shared, **place, "sources": sources}
        self.plan = self._shared_out(weights)

    def _shared_out(self, weights: Mapping[str, Any] | None) -> Plan:
        """The releases with their shares of epsilon; margins have equal parts of them."""
        releases: list[dict[str, Any]] = []
        shares = _weights(self._wanted, self._checked, weights)
        for words, weight in zip(self._asked, shares, strict=True):
            name, again = words["name"], self._again[words["name"]]
            each = words | {"weight": weight / (1 + len(again))}
            margins = ({"name": margin_name(name, m), "margin": m} for m in again)
            releases += [each, *(each | margin for margin in margins)]
        return Plan(releases, **self._shared)

    def with_weights(self, weights: Mapping[str, Any]) -> Self:
        """The same table with other parts of epsilon for some releases, as `duffdp.table` has
        them.
        """
        made = copy(self)
        made.plan = self._shared_out(weights)
        made.plan.reads_text = self.plan.reads_text
        made.wanted_errors = None
        return made

    @property
    def copies(self) -> dict[str, int]:
        """How often each release is drawn: for groups, and for each margin that needs a draw."""
        return {name: 1 + len(again) for name, again in self._again.items()}

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Self:
        """A table from a file with the words of `duffdp.table`, and `source`.

        Paths count from where the file lies, and keys and categories that are text stand for values
        of the type that their column has, as in `duffdp.Plan.from_toml`.
        """
        return cls._written(read_table_toml(Path(path)))

    @classmethod
    def from_text(cls, text: str, folder: str | os.PathLike[str]) -> Self:
        """The table that a text in TOML would be in a file of this folder."""
        return cls._written(read_table_text(text, Path(folder)))

    @classmethod
    def _written(cls, given: dict[str, Any]) -> Self:
        """A table as it is written; wanted errors, which planning makes weights of, are kept
        aside.
        """
        errors = {
            new: given.pop(name)
            for name, new in (("within", "errors"), ("group_size", "group_size"))
            if name in given
        }
        if len(errors) == 1:
            raise DuffError(
                "within and group_size go together: how far releases may be off on average, in "
                "groups of how many records. Pass both or none."
            )
        made = cls(given.pop("statistics"), **given)
        made.plan.reads_text = True
        made.wanted_errors = errors or None
        return made

    def check(self, data: Any = None, *, ledger: Any = None) -> Cost:
        """What it would cost; with data, names and types are checked too, and no row is read."""
        return self.plan.check(data, ledger=ledger)

    def run(
        self,
        data: Any = None,
        *,
        ledger: Any = None,
        rng: object = None,
        done: Callable[[], None] | None = None,
    ) -> Table:
        """Charge all releases or none, then make the table; `done` is called after each release."""
        assert self.wanted_errors is None, "weights for these are found by duffdp.planning"
        prepared = self.plan.prepared(data, rng)
        releases = self.plan.make(prepared, ledger, done)
        measures = tuple(
            Measure(
                name,
                self._outputs[name],
                releases[name],
                tuple(releases[margin_name(name, margin)] for margin in again),
            )
            for name, again in self._again.items()
        )
        facts = measures[0].release.facts
        smallest = self.smallest if self.suppress_below is None else self.suppress_below
        if smallest is None:
            confidence = USUAL if self.interval is None else float(self.interval.confidence)
            noise = count_bound(facts, confidence)
            assert noise is not None
            smallest = noise + 1
        hides, groups = self.suppress_below is not None, Groups(facts.by, facts.keys)
        table = Table(measures, groups, self.margins, smallest, None, hides, self.interval)
        source = prepared[0].data
        assert isinstance(source, SourceTable)
        return replace(table, frame=source.frame(table.wide()))

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self._again))
        return f"TablePlan({names}, epsilon={float(self.plan.epsilon):g})"


def _margins(by: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """All sets of columns that groups can be taken together by, but for all columns themselves."""
    if not 0 < len(by) <= MOST_WITH_MARGINS:
        raise DuffError(
            f"total takes groups by one or two columns together, got {len(by)} columns of by. "
            "Pass total=False."
        )
    sizes = reversed(range(len(by)))
    return tuple(margin for size in sizes for margin in combinations(by, size))


def _adds_up(made: Checked) -> bool:
    """Whether numbers of groups add up to those of all of them: counts and sums."""
    counts = all(column.kind == "count" for column in made.columns)
    return counts or made.recipe.entry.adds_up


def _weights(
    wanted: list[Wanted], checked: list[Checked], weights: Mapping[str, Any] | None
) -> list[Fraction]:
    """The weights that were given, and the usual ones for the rest."""
    if weights is not None and not isinstance(weights, Mapping):
        raise DuffError(
            f"weights are given for each release, got {weights!r:.60}. Pass for example "
            f"weights={{{wanted[-1].name!r}: 2}}."
        )
    given = dict(weights or {})
    refuse_unknown(given, [one.name for one in wanted], "weights")
    found = []
    for one, made in zip(wanted, checked, strict=True):
        try:
            found.append(read_weight(given.get(one.name, _usual_weight(made))))
        except DuffError as error:
            raise DuffError(f"{one.name}: {error}") from None
    return found


def _usual_weight(made: Checked) -> int:
    """By what is drawn, which is public; rows of a person cost the error of so many people."""
    parts = [part for part, _ in made.recipe.parts]
    weight = ONE_DRAW if len(parts) == 1 else SEVERAL_DRAWS
    if all(part.kind == "count" for part in parts):
        weight = COUNTS
    return weight * made.recipe.unit.contributions


def _named_outputs(wanted: list[Wanted], checked: list[Checked]) -> dict[str, tuple[str, ...]]:
    """The columns that each release fills, all of them different; case does not tell them apart."""
    found: dict[str, list[str]] = {}
    owners: dict[str, str] = {TOO_SMALL: "the table itself"}
    for one, made in zip(wanted, checked, strict=True):
        names = [f"{one.stem}_{column.name}" for column in made.columns]
        if made.recipe.entry.shape == "value":
            names = [f"{one.name}{end}" for end in ("", "_low", "_high")][: len(made.columns)]
        for name in names:
            if name.casefold() in owners:
                raise DuffError(
                    f"{one.name} and {owners[name.casefold()]} both fill a column {name!r}. Ask "
                    'once, or as a mapping with "statistic" and another "name".'
                )
            owners[name.casefold()] = one.name
        found[one.name] = names
    by = checked[0].selection.by
    if TOO_SMALL in map(str.casefold, by):
        raise DuffError(f"by must not name a column {TOO_SMALL!r}, which the table has itself.")
    renamed = iter(beside(tuple(Column(n) for names in found.values() for n in names), by))
    return {name: tuple(next(renamed) for _ in names) for name, names in found.items()}
