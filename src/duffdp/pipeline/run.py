"""Check, charge, read, draw: the one way of every release, alone or together with others."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from duffdp.domain import Categories, Domain
from duffdp.engines.arrays import CategoryColumn, Column, Records, read
from duffdp.engines.edges import check_edges
from duffdp.engines.selection import is_table
from duffdp.engines.tables import Table
from duffdp.facts import Facts
from duffdp.ledger.charge import Charge, Result
from duffdp.pipeline.ask import EVERYTHING, Ask, Checked
from duffdp.pipeline.draw import Numbers, draw
from duffdp.pipeline.outcome import Release, released
from duffdp.sampling.entropy import Entropy, entropy

if TYPE_CHECKING:
    from duffdp.ledger.ledger import Ledger


class Edges:
    """The edges of a graph, not read yet."""

    integer = untyped = False

    def __init__(self, edges: Any) -> None:
        self._edges = edges

    def sources(self, domain: Any, entropy: Entropy) -> list[Any]:
        return [self._edges]

    def check(self, domain: Any) -> None:
        """Refuse what no edge could change."""
        check_edges(self._edges)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A release that could be paid for: parameters are checked and types are known, but no row has been read."""

    checked: Checked
    facts: Facts
    data: Records | Table | Edges
    entropy: Entropy

    @classmethod
    def of(cls, ask: Ask, data: Any, rng: object) -> Prepared:
        """Check the parameters; of the data, look at the types."""
        checked = ask.check()
        source = entropy(rng)
        selection = checked.selection
        opened: Records | Table | Edges
        if checked.recipe.entry.of_graphs:
            opened = Edges(data)
        elif selection is EVERYTHING and (type(data) is np.ndarray or not is_table(data)):
            opened = read(data)
        else:
            opened = Table(data, selection, checked.domain.kind)
        domain = checked.domain_for(opened.integer, opened.untyped)
        # What the types forbid is refused here, and so before anything is charged.
        if isinstance(opened, Records):
            _column(opened.without_rows(), domain)
        else:
            opened.check(domain)
        made = checked.recipe
        facts = Facts(
            statistic=made.statistic,
            mechanism=made.mechanism,
            loss=made.loss,
            unit=checked.unit,
            domain=domain,
            column=selection.column,
            by=selection.by,
            keys=selection.keys,
            secure=source.secure,
        )
        return cls(checked, facts, opened, source)

    def numbers(self) -> Numbers:
        """Read the records and draw."""
        return draw(self.checked.recipe, self.sources(), self.facts.domain, self.entropy)

    def sources(self) -> list[Any]:
        """Where the counts come from, one source for each group."""
        data, domain = self.data, self.facts.domain
        if isinstance(data, Records):
            return [_column(data, domain)]
        return data.sources(domain, self.entropy)

    def release(self, result: Result) -> Release:
        """What came out, with its facts."""
        return released(self.checked.recipe, self.facts, result, self._frame)

    def _frame(self, columns: dict[str, list[Any]]) -> Any:
        assert isinstance(self.data, Table)
        return self.data.answers(columns)


def _column(records: Records, domain: Domain) -> CategoryColumn | Column:
    if isinstance(domain, Categories):
        return CategoryColumn(records, domain)
    return Column(records, domain)


ANYWHERE = (None, None, None, None, 1)


def run_one(
    statistic: Any,
    parameters: Mapping[str, Any],
    data: Any,
    epsilon: Any,
    bounds: Any,
    step: Any,
    categories: Any,
    where: tuple[Any, Any, Any, Any, Any],
    mechanism: Any,
    ledger: Any,
    rng: object,
) -> Release:
    """One release on its own; `where` is column, by, keys, unit and contributions."""
    column, by, keys, unit, contributions = where
    ask = Ask(
        statistic=statistic,
        epsilon=epsilon,
        parameters=parameters,
        bounds=bounds,
        step=step,
        categories=categories,
        column=column,
        by=by,
        keys=keys,
        unit=unit,
        contributions=contributions,
        mechanism=mechanism,
    )
    return run(ask, data, None if ledger is None else ledger_of(ledger), rng)


def run(ask: Ask, data: Any, ledger: Ledger | None = None, rng: object = None) -> Release:
    """Check, charge, read and draw one release."""
    return make_releases([Prepared.of(ask, data, rng)], ledger)[0]


def make_releases(
    prepared: Sequence[Prepared], ledger: Ledger | None, done: Callable[[], None] = lambda: None
) -> list[Release]:
    """Pay for all or for none, then read and draw: nothing is read before all are paid."""
    charges: Sequence[Charge | None] = (
        [None] * len(prepared)
        if ledger is None
        else ledger.charge_all([one.facts for one in prepared])
    )
    releases = []
    for one, paid in zip(prepared, charges, strict=True):
        result = None if paid is None else paid.earlier
        if result is None:
            result = Result(one.numbers(), dt.datetime.now(dt.UTC))
            if paid is not None:
                paid.keep(result)
        releases.append(one.release(result))
        done()
    return releases


def ledger_of(ledger: Any, dataset: str | None = None, call_id: str | None = None) -> Ledger:
    """The ledger that an argument or a plan names."""
    from duffdp.ledger.ledger import Ledger  # here: a release without a ledger needs no SQLite

    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger, dataset=dataset)
    return book if call_id is None else book.call(call_id)
