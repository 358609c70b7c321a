"""Results of made-up numbers, to find out before a charge whether real ones could be written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from duffdp._engines.arrays import array_engine, read_array
from duffdp._engines.edges import EdgeEngine
from duffdp._engines.pairs import PairEngine, make_pairs
from duffdp._engines.requests import Engine
from duffdp._facts import Facts
from duffdp._pipeline import driver
from duffdp._pipeline.estimates import columns_per_number
from duffdp._pipeline.group_sums import noisy_numbers
from duffdp._pipeline.release import Release
from duffdp._pipeline.released_values import CellRow, released_values, withhold_small_groups
from duffdp._pipeline.run import PreparedRelease
from duffdp._sampling.entropy import entropy
from duffdp.ledger.charge import Result
from duffdp.statistics.program import OutputColumn
from duffdp.version import __version__

MANY_RECORDS = 10**9  # above every threshold that somebody would choose


def rehearse(prepared: Sequence[PreparedRelease], use: Callable[[list[Release]], None]) -> None:
    """Call `use` with made-up releases of what was prepared, twice: with groups of which every
    second has few records, and with groups that all have few.

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
    facts, time = prepared.facts, dt.datetime.now(dt.UTC)
    release = driver.ReleaseRun(prepared.plan, facts.domain, _no_records(prepared), 0, entropy(0))
    (numbers,) = driver.draw_alone(release)
    sized = facts.suppression is not None and facts.suppression.own is None
    ungrouped = replace(facts, by=(), keys=(), suppression=None)
    result_rows = [numbers[:-1] if sized else numbers]
    value, columns, (small,), _ = released_values(
        prepared.plan, prepared.post_process, ungrouped, Result(result_rows, time), None
    )
    large = _with_many_records(columns, small, facts)
    groups = max(1, len(facts.keys))

    def make(full: Sequence[bool]) -> Release:
        sizes = tuple(MANY_RECORDS if is_large else 0 for is_large in full) if sized else None
        rows = [large if is_large else small for is_large in full]
        cells = withhold_small_groups(facts, columns, rows, sizes)
        totals = [[n + MANY_RECORDS * is_large for n in result_rows[0]] for is_large in full]
        noisy = noisy_numbers(prepared.plan, facts, Result(totals, time))
        origin = (time, __version__, sizes, noisy, prepared.reading)
        return Release(None if facts.by else value, facts, columns, cells, *origin)

    return make([i % 2 == 0 for i in range(groups)]), make([False] * groups)


def _no_records(prepared: PreparedRelease) -> Engine:
    """An engine without a record."""
    if prepared.plan.spec.of_graphs:
        return EdgeEngine(np.empty((0, 2), dtype=np.int64))
    if prepared.plan.spec.of_pairs:
        return PairEngine([make_pairs(np.empty(0), np.empty(0))])
    records = read_array([])
    return array_engine(records._replace(array=records.array.astype(object)), prepared.facts.domain)


def _with_many_records(columns: Sequence[OutputColumn], row: CellRow, facts: Facts) -> CellRow:
    """The numbers with large counts and narrow intervals instead."""
    step = columns_per_number(facts.interval)
    return tuple(
        MANY_RECORDS if column.kind == "count" else row[i - i % step]
        for i, column in enumerate(columns)
    )
