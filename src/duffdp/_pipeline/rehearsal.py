"""Results of made-up numbers, to find out before a charge whether real ones could be written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import replace

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
    if prepared.universe is not None:  # the first possible keys stand for those that are found
        places = range(min(2, prepared.universe.size))
        facts = replace(facts, keys=tuple(map(prepared.universe.key, places)))
        if prepared.plan.finding is not None and prepared.plan.finding.counts_are_values:
            return _made_up_counts(prepared, facts, time)
    release = driver.ReleaseRun(
        prepared.plan,
        facts.domain,
        engine_without_records(prepared.plan.spec, facts.domain),
        0,
        entropy(0),
    )
    (numbers,) = driver.draw_alone(release)
    sized = facts.has_sizes
    ungrouped = replace(facts, by=(), keys=(), suppression=None, found=None)
    result_rows = [numbers[:-1] if facts.draws_sizes else numbers]
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


def _made_up_counts(
    prepared: PreparedRelease, facts: Facts, time: dt.datetime
) -> tuple[Release, Release]:
    """Releases of counts that find their keys: the smallest that there can be, and large ones."""
    assert prepared.plan.finding is not None
    threshold = prepared.plan.finding.threshold

    def make(counts: Sequence[int]) -> Release:
        result = Result([[count] for count in counts], time)
        ungrouped = replace(facts, suppression=None)
        _, columns, cells, _ = released_values(
            prepared.plan, prepared.post_process, ungrouped, result, _NoFrame()
        )
        cells = withhold_small_groups(facts, columns, cells, None)
        noisy = noisy_numbers(prepared.plan, facts, result)
        return Release(
            None, facts, columns, cells, time, __version__, None, noisy, prepared.reading
        )

    size = len(facts.keys)
    large = [MANY_RECORDS if i % 2 == 0 else threshold for i in range(size)]
    return make(large), make([threshold] * size)


class _NoFrame:
    """Stands for a library whose frames nobody looks at."""

    def answers(self, columns: dict[str, list[object]]) -> None:
        return None


def _with_many_records(columns: Sequence[OutputColumn], row: CellRow, facts: Facts) -> CellRow:
    """The numbers with large counts and narrow intervals instead."""
    step = columns_per_number(facts.interval)
    return tuple(
        MANY_RECORDS if column.kind == "count" else row[i - i % step]
        for i, column in enumerate(columns)
    )
