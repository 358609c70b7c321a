"""Results with made-up numbers, to test before a charge whether real ones can be written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import replace

from duffdp._engines.table import SourceTable
from duffdp._facts import Facts
from duffdp._pipeline import driver
from duffdp._pipeline.estimates import columns_per_number
from duffdp._pipeline.group_sums import noisy_numbers
from duffdp._pipeline.release import Release
from duffdp._pipeline.released_values import CellRow, released_values, withhold_small_groups
from duffdp._pipeline.run import PreparedRelease, engine_without_records
from duffdp._sampling.entropy import entropy
from duffdp.ledger.charge import Result
from duffdp.statistics.program import OutputColumn
from duffdp.version import __version__

MANY_RECORDS = 10**9  # above every threshold that somebody would choose


def rehearse(prepared: Sequence[PreparedRelease], use: Callable[[list[Release]], None]) -> None:
    """Call `use` twice with made-up releases of the prepared shape: with groups of which every
    second has few records, and with groups that all have few; of keys that are found, with none.

    They are made of public facts alone: the draws are those of no records, from a seed. What `use`
    raises is raised before anything is charged or read.
    """
    try:
        for releases in zip(*map(_made_up, prepared), strict=True):
            use(list(releases))
    except BaseException:
        for release in prepared:
            if release.data.close is not None:
                release.data.close()
        raise


def _made_up(prepared: PreparedRelease) -> tuple[Release, Release]:
    time = dt.datetime.now(dt.UTC)
    first, second = _facts_with_keys(prepared, 2), _facts_with_keys(prepared, 0)
    if prepared.plan.finding is not None and prepared.plan.finding.counts_are_values:
        threshold = prepared.plan.finding.threshold
        counts = [MANY_RECORDS, threshold][: len(first.keys)]
        return _found_counts(prepared, first, counts), _found_counts(prepared, second, [])
    release = driver.ReleaseRun(
        prepared.plan,
        first.domain,
        engine_without_records(prepared.plan.spec, first.domain),
        0,
        entropy(0),
        driver.Account(prepared.plan.loss.epsilon),
    )
    (numbers,) = driver.draw_alone(release)
    sized = first.has_sizes
    ungrouped = replace(first, by=(), keys=(), suppression=None, found=None)
    result_rows = [numbers[:-1] if first.draws_sizes else numbers]
    value, columns, (small,), _ = released_values(
        prepared.plan, prepared.post_process, ungrouped, Result(result_rows, time), None
    )
    large = _with_many_records(columns, small, first)

    def make(facts: Facts, full: Sequence[bool]) -> Release:
        sizes = tuple(MANY_RECORDS if is_large else 0 for is_large in full) if sized else None
        rows = [large if is_large else small for is_large in full]
        cells = withhold_small_groups(facts, columns, rows, sizes)
        totals = [[n + MANY_RECORDS * is_large for n in result_rows[0]] for is_large in full]
        noisy = noisy_numbers(prepared.plan, facts, Result(totals, time))
        origin = (time, __version__, sizes, noisy, prepared.reading)
        return Release(None if facts.by else value, facts, columns, cells, *origin)

    groups, fewer = (len(facts.keys) if facts.by else 1 for facts in (first, second))
    return make(first, [i % 2 == 0 for i in range(groups)]), make(second, [False] * fewer)


def _facts_with_keys(prepared: PreparedRelease, found: int) -> Facts:
    """The facts of a release as they are, or as if so many keys were found: the first ones."""
    universe, table = prepared.universe, prepared.data
    if universe is None:
        return prepared.facts
    assert isinstance(table, SourceTable)
    keys = [universe.key(place) for place in range(min(found, universe.size))]
    selection = table.selection.with_keys(keys)
    return replace(prepared.facts, keys=selection.groups.keys, within=selection.within)


def _found_counts(prepared: PreparedRelease, facts: Facts, counts: Sequence[int]) -> Release:
    """The release of counts that found their keys."""
    result = Result([[count] for count in counts], dt.datetime.now(dt.UTC))
    unsuppressed = replace(facts, suppression=None)
    _, columns, cells, _ = released_values(
        prepared.plan, prepared.post_process, unsuppressed, result, _NoFrame()
    )
    cells = withhold_small_groups(facts, columns, cells, None)
    origin = (result.time, __version__, None, None, prepared.reading)
    return Release(None, facts, columns, cells, *origin)


class _NoFrame:
    """Replacement for a frame library whose frames are not used."""

    def answers(self, columns: dict[str, list[object]]) -> None:
        return None


def _with_many_records(columns: Sequence[OutputColumn], row: CellRow, facts: Facts) -> CellRow:
    """The numbers with large counts and narrow intervals instead."""
    step = columns_per_number(facts.interval)
    return tuple(
        MANY_RECORDS if column.kind == "count" else row[i - i % step]
        for i, column in enumerate(columns)
    )
