"""A table as it is asked for: a plan of releases of the same groups, with names and shares."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Self

from duffdp.engines.tables import Table as SourceTable
from duffdp.errors import BoundsError, DuffError
from duffdp.parameters import (
    Groups,
    plain_number,
    read_flag,
    read_interval,
    read_q,
    read_smallest,
    read_weight,
    share_text,
)
from duffdp.pipeline.accuracy import count_bound
from duffdp.pipeline.answer import beside
from duffdp.pipeline.ask import Checked
from duffdp.pipeline.plan import Cost, Plan
from duffdp.pipeline.table import COUNT, TOO_SMALL, Measure, Table, margin_name
from duffdp.pipeline.toml import read_table_text, read_table_toml, refuse_unknown
from duffdp.statistics.entry import Column, Entry
from duffdp.statistics.registry import entry

# What of epsilon goes to a release, beside others: what is made of noisy counts errs least at the
# same epsilon, and several draws one after the other share it (`benchmarks/table_shares.py`).
COUNTS, ONE_DRAW, SEVERAL_DRAWS = 1, 4, 8
USUAL = 0.95  # the confidence by which a group is told from an empty one, without intervals
FOR_ALL = ("column", "by", "keys", "margin", "unit", "contributions", "weight")
_EXAMPLES = {"bounds": "(0, 120)", "step": "1", "categories": '["yes", "no"]'}
MOST_WITH_MARGINS = 2  # columns of groups: for more of them a margin of each set costs too much


class Wanted(NamedTuple):
    """One release that a column is asked for: its name, and what its columns begin with where it
    has several.
    """

    name: str
    stem: str
    words: dict[str, Any]


class TablePlan:
    """A table that is not released yet: what it asks for, what it would cost, and how to make it.

    Parameters
    ----------
    statistics, epsilon, bounds, step, categories, by, keys, total, unit, contributions, interval,
    smallest, weights, mechanism
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
        interval: float | None = USUAL,
        smallest: int | None = None,
        weights: Mapping[str, Any] | None = None,
        mechanism: str = "best",
        source: Any = None,
        ledger: Any = None,
        dataset: str | None = None,
        call_id: str | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        read_interval(interval, "data")
        columns = _columns_of({"bounds": bounds, "step": step, "categories": categories})
        wanted = _wanted(statistics, columns, interval, mechanism)
        groups = {} if by is None and keys is None else {"by": by, "keys": keys}
        asked = [one.words | groups for one in wanted]
        shared: dict[str, Any] = {
            "where": where,
            "unit": unit,
            "contributions": contributions,
            "mechanism": mechanism,
        }
        checked = [ask.check() for ask in Plan(asked, epsilon=epsilon, **shared).asks]
        self.smallest = None if smallest is None else read_smallest(smallest)
        self.margins = _margins(checked[0].selection.by) if read_flag("total", total) else ()
        self._outputs = _named_outputs(wanted, checked)
        self._again = {
            one.name: () if _adds_up(made) else self.margins
            for one, made in zip(wanted, checked, strict=True)
        }
        releases: list[dict[str, Any]] = []
        for words, weight in zip(asked, _weights(wanted, checked, weights), strict=True):
            name, again = words["name"], self._again[words["name"]]
            words["weight"] = weight / (1 + len(again))
            margins = ({"name": margin_name(name, m), "margin": m} for m in again)
            releases += [words, *(words | margin for margin in margins)]
        place = {"source": source, "ledger": ledger, "dataset": dataset, "call_id": call_id}
        self.plan = Plan(releases, epsilon=epsilon, **shared, **place, sources=sources)

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
        made = cls(given.pop("statistics"), **given)
        made.plan.reads_text = True
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
        smallest = self.smallest
        if smallest is None:
            confidence = USUAL if facts.interval is None else float(facts.interval.confidence)
            noise = count_bound(facts, confidence)
            assert noise is not None
            smallest = noise + 1
        table = Table(measures, Groups(facts.by, facts.keys), self.margins, smallest, None)
        source = prepared[0].data
        assert isinstance(source, SourceTable)
        return replace(table, frame=source.frame(table.wide()))

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self._again))
        return f"TablePlan({names}, epsilon={float(self.plan.epsilon):g})"


def _columns_of(given: dict[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Bounds, steps and categories, each by the column that they are for."""
    for name, columns in given.items():
        if columns is not None and not isinstance(columns, Mapping):
            raise BoundsError(
                f"{name} of a table are given for each column, got {columns!r:.60}. Pass for "
                f'example {name}={{"age": {_EXAMPLES[name]}}}.'
            )
    return {name: columns or {} for name, columns in given.items()}


def _wanted(
    statistics: Any, columns: Mapping[str, Mapping[str, Any]], interval: Any, mechanism: str
) -> list[Wanted]:
    """The count, and what each column is asked for."""
    if not isinstance(statistics, Mapping) or not statistics:
        raise DuffError(
            "a table needs a mapping from columns to what is asked of each, got "
            f'{statistics!r:.60}. Pass for example {{"age": ["median", "mean"]}}.'
        )
    for name, given in columns.items():
        refuse_unknown(given, statistics, name)
    count = {"statistic": COUNT, "name": COUNT, "interval": interval, "contributions": 1}
    found = [Wanted(COUNT, COUNT, count)]  # people are counted, each of them once
    for column, given in statistics.items():
        for one in _asked_of(column, given):
            known = entry(one.words["statistic"])
            if known.of_pairs or known.of_graphs:
                raise DuffError(f"{one.name}: {known.name} is no statistic of one column.")
            if known.shape == "distribution":
                raise DuffError(
                    f"{one.name}: a distribution is no number of a table. Ask for quantiles, or "
                    "for the distribution by itself."
                )
            own = {name: columns[name][column] for name in columns if column in columns[name]}
            words = _public_set(one, known, column, own) | one.words
            parameters = {name: words.get(name) for name in known.read}
            asked = entry(known.for_parameters(parameters)[0])
            usual = mechanism if mechanism in asked.choices else asked.choices[0]
            if asked.has_interval(words.get("mechanism", usual)) and _cheap_ends(asked):
                words = {"interval": interval} | words
            found.append(one._replace(words=words | {"column": column, "name": one.name}))
    return found


def _cheap_ends(known: Entry) -> bool:
    """Whether numbers get intervals without being asked for: ends of their own for several numbers
    would leave little of epsilon for each.
    """
    return known.shape == "value" or not known.ends_are_drawn


def _asked_of(column: Any, given: Any) -> list[Wanted]:
    """What one column is asked for: numbers are quantiles, drawn together if there are several."""
    if not isinstance(column, str):
        raise DuffError(f"a column is named by a text, got {column!r:.60}.")
    listed = list(given) if isinstance(given, list | tuple) else [given]
    shares = [read_q(one) for one in listed if plain_number(one) is not None]
    found, quantiles = [], False
    for one in listed:
        if plain_number(one) is not None:
            if quantiles:
                continue
            quantiles = True
            name = share_text(shares[0]) if len(shares) == 1 else "quantiles"
            words: dict[str, Any] = {"statistic": "quantile", "q": shares}
            found.append(Wanted(f"{column}_{name}", column, words))
            continue
        words = dict(one) if isinstance(one, Mapping) else {"statistic": one}
        for word in words:
            if word in FOR_ALL:
                raise DuffError(
                    f"the column {column!r} of the table is asked with {word!r}, which is for the "
                    "whole table. Leave it out there."
                )
        try:
            known = entry(words.get("statistic"))
        except DuffError as error:
            raise DuffError(f"the column {column!r} of the table: {error}") from None
        named = words.pop("name", None)
        if named is not None and (not isinstance(named, str) or not named):
            raise DuffError(f"name must be a text, got {named!r:.60}.")
        found.append(Wanted(named or f"{column}_{known.name}", named or column, words))
    if not found:
        raise DuffError(
            f'the column {column!r} of the table is asked for nothing. Pass for example "median".'
        )
    return found


def _public_set(one: Wanted, known: Entry, column: str, own: dict[str, Any]) -> dict[str, Any]:
    """What of bounds, step and categories of a column a statistic takes."""
    listed = {"categories": own["categories"]} if "categories" in own else {}
    bounded = {name: value for name, value in own.items() if name != "categories"}
    need: tuple[str, ...] = ()
    if known.outputs == "grid":
        found, need = bounded, ("bounds",)
    elif known.outputs == "grid or categories":
        found, need = listed or bounded, ("categories", "bounds")
    else:
        counted = known.outputs == "own or categories" and "bins" not in one.words
        found = listed if counted else {}
    if need and not any(name in found or name in one.words for name in need):
        raise BoundsError(
            f"{one.name}: {' or '.join(need)} of the column {column!r} are missing, and never come "
            f"from the data. Pass for example {need[0]}={{{column!r}: {_EXAMPLES[need[0]]}}}."
        )
    return found


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
