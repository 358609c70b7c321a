"""Check, charge, read and draw: the path of every release, alone or with others.

Promise: Parameters are checked, then the ledger is charged, then records are read; the rows of a
person that are used are those that epsilon is divided among; only drawn numbers reach a release.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from duffdp._engines.arrays import array_engine, read_array
from duffdp._engines.edges import EdgeEngine, check_edges
from duffdp._engines.keys import refuse_data_as_keys
from duffdp._engines.libraries import is_table
from duffdp._engines.pairs import PairColumns, PairEngine, make_pairs
from duffdp._engines.people import Cap
from duffdp._engines.requests import Engine
from duffdp._engines.shared import share_rows, share_scans
from duffdp._engines.sql.query import OpenSources, Query, source_name
from duffdp._engines.table import SourceTable
from duffdp._engines.universe import KeyUniverse
from duffdp._facts import Facts
from duffdp._parameters import KEYS, LEDGER, RNG
from duffdp._pipeline import driver
from duffdp._pipeline.draw_plan import DrawPlan, KeyFinding
from duffdp._pipeline.driver import Numbers
from duffdp._pipeline.group_sums import noisy_numbers
from duffdp._pipeline.notes import Reading
from duffdp._pipeline.release import Release
from duffdp._pipeline.released_values import released_values
from duffdp._pipeline.request import ALL_RECORDS, CheckedRequest, ReleaseRequest
from duffdp._pipeline.text_values import with_keys
from duffdp._privacy import PrivacyUnit
from duffdp._rows import Row
from duffdp._sampling.entropy import SYSTEM, Entropy, entropy
from duffdp.domain import Presence, PublicSet
from duffdp.errors import Argument, DuffError, charge_note
from duffdp.ledger.charge import Charge, Result
from duffdp.statistics.program import PostProcess
from duffdp.statistics.spec import StatisticSpec

if TYPE_CHECKING:
    from duffdp.ledger.ledger import Ledger
from duffdp.version import __version__


class EdgeSource:
    """The edges of a graph, not read yet; everything that does not depend on an edge is checked."""

    close = None  # nothing to close

    def __init__(self, edges: object, domain: PublicSet) -> None:
        check_edges(edges)
        self._edges, self.domain = edges, domain

    def engine(self, randomness: Entropy) -> tuple[Engine, int]:
        """The engine that holds them, and the number of the column."""
        return EdgeEngine(self._edges), 0


class ArraySource:
    """The records of an array or a list, of which only the type is checked."""

    close = None  # nothing to close

    def __init__(self, data: object, domain_for: Callable[..., PublicSet]) -> None:
        self._records = read_array(data)
        self.has_objects = self._records.array.dtype.kind == "O"
        domain = domain_for(self._records.integer, self.has_objects)
        # The records of an array are its values, which may be missing.
        self.domain = Presence() if isinstance(domain, Presence) else domain
        # Types are checked without records.
        array_engine(self._records._replace(array=self._records.array[:0]), self.domain)

    def engine(self, randomness: Entropy) -> tuple[Engine, int]:
        """The engine that holds them, and the number of the column."""
        return array_engine(self._records, self.domain), 0


class PreparedRelease(NamedTuple):
    """A release that is ready to be charged: parameters are checked and types are known, but no row
    has been read.
    """

    plan: DrawPlan
    post_process: PostProcess | None
    facts: Facts
    data: ArraySource | SourceTable | EdgeSource | PairColumns
    entropy: Entropy
    source: Any  # the data as the caller named them
    reading: Reading
    account: driver.Account
    universe: KeyUniverse | None = None  # of which keys are found

    @classmethod
    def of(
        cls, request: ReleaseRequest, data: object, rng: object, sources: OpenSources
    ) -> PreparedRelease:
        """Check the parameters; of the data, look at the types."""
        keys = request[KEYS]
        if keys is not None and not isinstance(keys, list):
            refuse_data_as_keys(keys, data)  # no data that have groups
        return cls.of_checked(request.check(), data, rng, sources)

    @classmethod
    def of_checked(
        cls, checked: CheckedRequest, data: object, rng: object, sources: OpenSources
    ) -> PreparedRelease:
        """Prepare a checked request: look at the types of the data. Releases of one call share the
        `sources` that they open.
        """
        written = checked.selection.written
        if written and is_table(data):
            checked = with_keys(checked, data, written, sources).check()
        entropy_source = SYSTEM if rng is None else entropy(rng)
        source = _source(checked, data, sources)
        plan = checked.plan_on(source.domain)
        reading = Reading(
            default_step=checked.has_default_step,
            default_grid=checked.has_default_grid,
        )
        if isinstance(source, SourceTable):
            _check_cap(source, plan.unit)
            reading = reading._replace(
                text=source.text_rules,
                untested_engine=source.adapter.untested_engine,
                records=source.file_note,
            )
        if isinstance(source, SourceTable | ArraySource):
            reading = reading._replace(objects=source.has_objects)
        sql = data.sql if isinstance(data, Query) else None
        return cls(
            plan=plan,
            post_process=checked.post_process(plan),
            facts=checked.facts(plan, source.domain, entropy_source.secure, sql),
            data=source,
            entropy=entropy_source,
            source=data,
            reading=reading,
            account=driver.Account(plan.loss.epsilon),
            universe=checked.selection.universe,
        )

    def open(self) -> driver.ReleaseRun:
        """Begin to read: the release with the engine that holds its records."""
        if isinstance(self.data, SourceTable) and self.data.has_no_groups:
            engine, column = engine_without_records(self.plan.spec, self.data.domain), 0
        else:
            engine, column = self.data.engine(self.entropy)
        return driver.ReleaseRun(
            self.plan, self.data.domain, engine, column, self.entropy, self.account
        )


def _check_cap(table: SourceTable, unit: PrivacyUnit) -> None:
    """Refuse a table that would use other rows of a person than epsilon is divided among."""
    selection = table.selection
    used = selection.unit, selection.contributions, selection.groups_per_person
    if used != (unit.column, unit.contributions, unit.groups_per_person):
        raise AssertionError(f"{used} rows are used, and {unit!r} is paid for")


def engine_without_records(spec: StatisticSpec, domain: PublicSet) -> Engine:
    """An engine without a record, for one group."""
    if spec.of_graphs:
        return EdgeEngine(np.empty((0, 2), dtype=np.int64))
    if spec.of_pairs:
        return PairEngine([make_pairs(np.empty(0), np.empty(0))])
    records = read_array([])
    return array_engine(records._replace(array=records.array.astype(object)), domain)


def _source(
    checked: CheckedRequest, data: Any, sources: OpenSources
) -> ArraySource | SourceTable | EdgeSource | PairColumns:
    """The records' source, with their types."""
    selection, spec = checked.selection, checked.spec
    if spec.of_graphs:
        return EdgeSource(data, checked.domain)
    if spec.of_pairs and selection.pair is None:
        return PairColumns(data, checked.domain)
    if selection is ALL_RECORDS and (type(data) is np.ndarray or not is_table(data)):
        return ArraySource(data, checked.domain_for)
    return SourceTable(data, selection, checked.domain.kind, checked.domain_for, sources)


def run_options(statistic: object, data: object, options: Mapping[str, Any]) -> Release:
    """One release of its own, as a public function is called."""
    request = ReleaseRequest(statistic, options)
    ledger, rng = LEDGER.value_in(options), RNG.value_in(options)
    return run(request, data, None if ledger is None else ledger_of(ledger), rng)


def run(
    request: ReleaseRequest, data: object, ledger: Ledger | None = None, rng: object = None
) -> Release:
    """Check, charge, read and draw one release."""
    return make_releases([PreparedRelease.of(request, data, rng, OpenSources())], ledger)[0]


def make_releases(
    prepared: Sequence[PreparedRelease],
    ledger: Ledger | None,
    done: Callable[[], None] | None = None,
) -> list[Release]:
    """Pay for all or for none, then read and draw: nothing is read before all are paid."""
    finder_of = _finders(prepared)
    charges: Sequence[Charge | None] = (
        [None] * len(prepared)
        if ledger is None
        else ledger.charge_all(
            [entry.facts for entry in prepared],
            [partial(source_name, entry.source) for entry in prepared],
        )
    )
    releases: dict[int, Release] = {}
    try:
        for i, result in _results(prepared, charges, finder_of):
            entry, result = with_found_keys(prepared[i], result)
            value, columns, cells, sizes = released_values(
                entry.plan, entry.post_process, entry.facts, result, entry.data
            )
            noisy = noisy_numbers(entry.plan, entry.facts, result)
            origin = (result.time, __version__, sizes, noisy, entry.reading)
            releases[i] = Release(value, entry.facts, columns, cells, *origin)
            if done is not None:
                done()
    except BaseException as error:  # an interrupt, too
        new = [paid for paid in charges if paid and paid.earlier is None]
        if new and ledger is not None:
            cost = float(sum(paid.facts.loss.epsilon for paid in new))
            repeated = float(sum(paid.facts.loss.epsilon for paid in new if not paid.stored))
            error.add_note(charge_note(cost, ledger.dataset, ledger.call_id, repeated))
        raise
    finally:
        for entry in prepared:
            if entry.data.close is not None:
                entry.data.close()
    return list(map(releases.__getitem__, range(len(prepared))))


def _results(
    prepared: Sequence[PreparedRelease],
    charges: Sequence[Charge | None],
    finder_of: Mapping[int, int],
) -> Iterator[tuple[int, Result]]:
    """The drawn numbers of every release that is paid for, with its position: those of an earlier
    call with the same id, or new ones.
    """
    unread: list[int] = []
    found = _keys_of_earlier_calls(finder_of, charges)
    keys_of: dict[int, list[FoundKey]] = {}
    not_found: dict[tuple[int, str | None], Sequence[Row]] = {}

    def stored(i: int, numbers: Numbers) -> Result:
        paid = charges[i]
        if i in keys_of:
            numbers = [list(chain.from_iterable(keys_of[i])), *numbers]
        result = Result(numbers, dt.datetime.now(dt.UTC))
        if paid is not None and paid.store is not None:
            paid.store(result)
            paid.stored = True
        return result

    for i, paid in enumerate(charges):
        entry, universe = prepared[i], prepared[i].universe
        if paid is not None and paid.earlier is not None:
            yield i, paid.earlier
        elif universe is None:
            unread.append(i)
        else:
            finding, finder = entry.plan.finding, finder_of[i]
            if finding is not None and finder not in found:
                found[finder] = _find_keys(entry, finding)
            keys = keys_of[i] = found[finder]
            no_values = finding is not None and finding.counts_are_values
            if no_values or (not keys and entry.facts.other is None and entry.facts.by):
                yield i, stored(i, [])
            else:
                assert isinstance(entry.data, SourceTable)
                rows = finder, entry.facts.where
                if entry.data.selection.other_names and rows not in not_found:
                    not_found[rows] = _keys_not_found(entry, universe, keys)
                listed = [universe.key(key.place) for key in keys]
                entry.data.regroup(listed, not_found.get(rows, ()))
                unread.append(i)
    tables = [prepared[i].data for i in unread]
    sharing_rows = share_rows(
        [prepared[i].data for i in unread if prepared[i].plan.spec.numbers_add_up]
    )
    sharing = share_scans(
        [table for table in tables if all(table is not one for one in sharing_rows)]
    )
    for i, numbers in _draw_all({i: prepared[i] for i in unread}, sharing):
        yield i, stored(i, numbers)


class FoundKey(NamedTuple):
    """A found key: its position among the possible keys, and its noisy count."""

    place: int
    noisy_count: int


def _keys_in(result: Result) -> list[FoundKey]:
    """The keys that were found, which are the first row of the numbers of a release."""
    places_and_counts = iter(result.numbers[0])
    return [FoundKey(*pair) for pair in zip(places_and_counts, places_and_counts, strict=True)]


def _finders(prepared: Sequence[PreparedRelease]) -> dict[int, int]:
    """For each release whose keys are found, the release that finds them: itself, or the last one
    before it that looks for the same keys. A release whose keys nobody finds is refused.
    """
    finder_of: dict[int, int] = {}
    last: dict[KeyUniverse, int] = {}
    for i, entry in enumerate(prepared):
        if entry.universe is None:
            continue
        if entry.plan.finding is not None:
            last[entry.universe] = i
        elif entry.universe not in last:
            raise DuffError(
                *(
                    Argument("finding", 0),
                    " leaves no epsilon for finding keys. Pass for example ",
                ),
                *(Argument("finding", 0.25), "."),
            )
        finder_of[i] = last[entry.universe]
    return finder_of


def _keys_of_earlier_calls(
    finder_of: Mapping[int, int], charges: Sequence[Charge | None]
) -> dict[int, list[FoundKey]]:
    """The keys that were found and stored by an earlier call with the same id, by the release that
    found them. An interrupted call may have stored them with any release that uses them, and the
    rest of it must have the same keys.
    """
    found: dict[int, list[FoundKey]] = {}
    for i, finder in finder_of.items():
        paid = charges[i]
        if paid is not None and paid.earlier is not None:
            found.setdefault(finder, _keys_in(paid.earlier))
    return found


def _find_keys(entry: PreparedRelease, finding: KeyFinding) -> list[FoundKey]:
    """The keys that a release finds in its data."""
    assert isinstance(entry.data, SourceTable)
    cap = Cap(finding.unit.contributions, finding.unit.groups_per_person)
    present = isinstance(entry.data.domain, Presence) and not entry.data.domain.rows
    every_row = not (finding.counts_are_values and present)
    counts = entry.data.key_counts(cap, every_row, entry.entropy)
    keys = driver.find_keys(entry.plan, counts, entry.entropy, entry.account)
    return [FoundKey(*key) for key in keys]


def _keys_not_found(
    entry: PreparedRelease, universe: KeyUniverse, found: Sequence[FoundKey]
) -> Sequence[Row]:
    """The possible keys that occur in any row and were not found. They decide in which group of
    others a row is, by its own key alone, so whoever's rows count plays no part.
    """
    assert isinstance(entry.data, SourceTable)
    places = entry.data.key_places()
    return [universe.key(place) for place in sorted(places - {key.place for key in found})]


def with_found_keys(entry: PreparedRelease, result: Result) -> tuple[PreparedRelease, Result]:
    """A release whose keys are those that were found, and its numbers without them: noisy counts
    of keys are the values of a count, and sizes beside other values.
    """
    universe, finding = entry.universe, entry.plan.finding
    if universe is None:
        return entry, result
    assert isinstance(entry.data, SourceTable)
    keys = _keys_in(result)
    entry.data.regroup([universe.key(key.place) for key in keys])
    selection = entry.data.selection
    facts = replace(entry.facts, keys=selection.groups.keys, within=selection.within)
    numbers = result.numbers[1:]
    if finding is not None and finding.counts_are_values:
        numbers = [(key.noisy_count,) for key in keys]
    elif facts.has_found_sizes:
        numbers = [(*row, key.noisy_count) for row, key in zip(numbers, keys, strict=True)]
    return entry._replace(facts=facts), result._replace(numbers=numbers)


def _draw_all(
    unread: dict[int, PreparedRelease], sharing: Sequence[SourceTable]
) -> Iterator[tuple[int, driver.Numbers]]:
    """The numbers of releases: those that share scans together, the others one by one, so that
    records in memory are let go once their numbers are there.
    """
    together: dict[int, dict[int, driver.ReleaseRun]] = {}
    for i, release in unread.items():
        if not any(release.data is table for table in sharing):
            yield i, driver.draw_alone(release.open())
            continue
        opened = release.open()
        together.setdefault(id(opened.engine), {})[i] = opened
    for releases in together.values():
        positions = list(releases)
        for at, numbers in driver.draw_together(list(releases.values())):
            yield positions[at], numbers


def ledger_of(ledger: Any, dataset: str | None = None, call_id: str | None = None) -> Ledger:
    """The ledger that an argument or a plan names; a call that it is bound to has precedence."""
    from duffdp.ledger.ledger import Ledger  # here: a release without a ledger needs no SQLite

    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger, dataset=dataset)
    return book if call_id is None or book.call_id is not None else book.call(call_id)
