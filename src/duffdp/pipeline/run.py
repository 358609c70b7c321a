"""Check, charge, read, draw: the one way of every release, alone or together with others."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from duffdp.domain import Ordered, Presence, PublicSet
from duffdp.engines.arrays import array_source, read
from duffdp.engines.edges import check_edges
from duffdp.engines.keys import refuse_data_as_keys
from duffdp.engines.libraries import is_table
from duffdp.engines.query import Query
from duffdp.engines.source_name import source_name
from duffdp.engines.tables import Table
from duffdp.engines.tables.pair_columns import PairColumns
from duffdp.engines.tables.passes import Passes
from duffdp.engines.tables.together import read_together
from duffdp.errors import ChargeNote
from duffdp.facts import Facts
from duffdp.ledger.charge import Charge, Result
from duffdp.pipeline.answer import answer
from duffdp.pipeline.ask import EVERYTHING, Ask, settled
from duffdp.pipeline.draw import Numbers, Steps, draw_in_steps
from duffdp.pipeline.outcome import Release
from duffdp.pipeline.recipe import Recipe
from duffdp.pipeline.text_values import with_keys
from duffdp.sampling.entropy import SYSTEM, Entropy, entropy
from duffdp.statistics.entry import Finish
from duffdp.statistics.mode import Mode

if TYPE_CHECKING:
    from duffdp.ledger.ledger import Ledger
from duffdp.version import __version__


class Edges:
    """The edges of a graph, not read yet; what no edge could change is checked."""

    close = None  # nothing is begun that has to end

    def __init__(self, edges: Any, domain: PublicSet) -> None:
        check_edges(edges)
        self._edges, self.domain = edges, domain

    def sources(self, source: Entropy) -> list[Any]:
        return [self._edges]


class Array:
    """The records of an array or a list, of which the type is checked."""

    close = None

    def __init__(self, data: Any, domain_for: Callable[[bool, bool], PublicSet]) -> None:
        records = read(data)
        untyped = records.array.dtype.kind == "O"
        domain = domain_for(records.integer, untyped)
        # The records of an array are its values, which may be missing.
        self.domain = Presence() if isinstance(domain, Presence) else domain
        # Of an array with a type no record is read yet; others are checked without their records.
        self._unread = records if untyped else None
        checked = records._replace(array=records.array[:0]) if untyped else records
        self._counts = array_source(checked, self.domain)

    def sources(self, source: Entropy) -> list[Any]:
        if self._unread is None:
            return [self._counts]
        return [array_source(self._unread, self.domain)]


class Prepared(NamedTuple):
    """A release that could be paid for: parameters are checked and types are known, but no row
    has been read.
    """

    recipe: Recipe
    finish: Finish | None
    facts: Facts
    data: Array | Table | Edges | PairColumns
    entropy: Entropy
    given: Any  # the data as the caller named them

    @classmethod
    def of(cls, ask: Ask, data: Any, rng: object) -> Prepared:
        """Check the parameters; of the data, look at the types."""
        if ask.keys is not None and not isinstance(ask.keys, list):  # no data that have groups
            refuse_data_as_keys(ask.keys, data)
        checked = ask.check()
        if checked.selection.written and is_table(data):
            given = checked.selection
            checked = with_keys(ask, given, data, given.written).check()
        source = SYSTEM if rng is None else entropy(rng)
        selection, domain_for = checked.selection, checked.domain_for
        table: Array | Table | Edges | PairColumns
        if checked.recipe.unit.kind == "edge":
            table = Edges(data, checked.domain)
        elif checked.recipe.entry.of_pairs and selection.pair is None:
            table = PairColumns(data, checked.domain)
        elif selection is EVERYTHING and (type(data) is np.ndarray or not is_table(data)):
            table = Array(data, domain_for)
        else:
            table = Table(data, selection, checked.domain.kind, domain_for)
        finish, made = checked.finish, checked.recipe
        if made.coarse is not None:
            made = settled(made, table.domain)
        facts = Facts(
            statistic=made.statistic,
            mechanism=made.mechanism,
            loss=made.loss,
            unit=made.unit,
            domain=table.domain,
            column=selection.column,
            by=selection.groups.by,
            keys=selection.groups.keys,
            secure=source.secure,
            interval=made.interval,
            within=selection.within,
            where=None if selection.where is None else selection.where.text,
            sql=data.sql if isinstance(data, Query) else None,
            suppression=made.suppression,
        )
        return cls(made, finish, facts, table, source, data)


class Rows(NamedTuple):
    """Which rows a verb was asked about: its arguments of these names."""

    column: Any = None
    by: Any = None
    keys: Any = None
    where: Any = None
    unit: Any = None
    contributions: Any = 1
    groups_per_person: Any = None
    suppress_below: Any = None


ALL_ROWS = Rows()


def run_one(
    statistic: Any,
    parameters: Mapping[str, Any],
    data: Any,
    epsilon: Any,
    bounds: Any,
    step: Any,
    categories: Any,
    rows: Rows,
    mechanism: Any,
    ledger: Any,
    rng: object,
    interval: Any = None,
    covers: Any = "data",
    simultaneous: Any = False,
) -> Release:
    """One release on its own."""
    ask = Ask(
        statistic=statistic,
        epsilon=epsilon,
        parameters=parameters,
        bounds=bounds,
        step=step,
        categories=categories,
        mechanism=mechanism,
        interval=interval,
        covers=covers,
        simultaneous=simultaneous,
        column=rows.column,
        by=rows.by,
        keys=rows.keys,
        where=rows.where,
        unit=rows.unit,
        contributions=rows.contributions,
        groups_per_person=rows.groups_per_person,
        suppress_below=rows.suppress_below,
    )
    return run(ask, data, None if ledger is None else ledger_of(ledger), rng)


def run(ask: Ask, data: Any, ledger: Ledger | None = None, rng: object = None) -> Release:
    """Check, charge, read and draw one release."""
    return make_releases([Prepared.of(ask, data, rng)], ledger)[0]


def make_releases(
    prepared: Sequence[Prepared], ledger: Ledger | None, done: Callable[[], None] | None = None
) -> list[Release]:
    """Pay for all or for none, then read and draw: nothing is read before all are paid."""
    charges: Sequence[Charge | None] = (
        [None] * len(prepared)
        if ledger is None
        else ledger.charge_all(
            [one.facts for one in prepared], [partial(source_name, one.given) for one in prepared]
        )
    )
    todo = dict(enumerate(zip(prepared, charges, strict=True)))
    if len(todo) > 1:
        unread = [one for one, paid in todo.values() if paid is None or paid.earlier is None]
        read_together([one.data for one in unread if not _counts_values(one)])
    steps: dict[int, Steps] = {}
    found: Passes | Numbers
    releases: dict[int, Release] = {}
    try:
        while todo:
            asked: dict[int, Passes] = {}
            for i, (one, paid) in list(todo.items()):
                result = None if paid is None else paid.earlier
                if result is None:
                    if i not in steps:
                        # Records are let go once the numbers are there.
                        steps[i] = draw_in_steps(
                            one.recipe, one.data.sources(one.entropy), one.data.domain, one.entropy
                        )
                    try:
                        found = next(steps[i])
                    except StopIteration as end:
                        found = end.value
                    if isinstance(found, Passes):
                        asked[id(found)] = found
                        continue
                    result = Result(found, dt.datetime.now(dt.UTC))
                    if paid is not None and paid.store is not None:
                        paid.store(result)
                facts = one.facts
                made = answer(one.recipe, one.finish, facts, result, one.data)
                value, columns, cells, sizes = made
                about = (result.time, __version__, sizes)
                releases[i] = Release(value, facts, columns, cells, *about)
                del todo[i]
                if done is not None:
                    done()
            for passes in asked.values():  # when all have said what they wait for
                passes.answer()
    except BaseException as error:  # an interrupt, too
        cost = sum(paid.facts.loss.epsilon for paid in charges if paid and paid.earlier is None)
        if cost and ledger is not None:
            told = f"epsilon {float(cost):.12g} was charged to the data set {ledger.dataset!r}"
            error.add_note(ChargeNote(f"{told} and stays charged"))
        raise
    finally:
        for one in prepared:
            if one.data.close is not None:
                one.data.close()
    return list(map(releases.__getitem__, range(len(prepared))))


def _counts_values(one: Prepared) -> bool:
    """Whether all values of a column are counted, which queries of its own do without fetching
    them.
    """
    modes = any(isinstance(part.statistic, Mode) for part, _ in one.recipe.parts)
    return modes and isinstance(one.data.domain, Ordered)


def ledger_of(ledger: Any, dataset: str | None = None, call_id: str | None = None) -> Ledger:
    """The ledger that an argument or a plan names."""
    from duffdp.ledger.ledger import Ledger  # here: a release without a ledger needs no SQLite

    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger, dataset=dataset)
    return book if call_id is None else book.call(call_id)
