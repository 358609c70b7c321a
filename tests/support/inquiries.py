"""What tests ask statistics and engines by: records of groups in an engine, and inquiries run to
their end.
"""

from __future__ import annotations

import numpy as np

from duffdp import Grid
from duffdp._engines import requests
from duffdp._engines.arrays import ArrayEngine, Records, array_engine, read_array
from duffdp._engines.requests import ColumnRequest, run_inquiry
from duffdp._pipeline.draw_plan import Terms
from duffdp.mechanisms import mechanism_class
from duffdp.statistics.statistic import Scope

DIGITS = Grid(0, 9, 1)


def engine_of(groups, domain):
    """An engine with the records of each group: one array or list for each."""
    if len(groups) == 1:
        return array_engine(read_array(groups[0]), domain)
    arrays = [np.asarray(group) for group in groups]
    sizes = np.array([len(array) for array in arrays])
    whole = np.concatenate(arrays)
    records = Records(whole, whole.dtype.kind in "iub")
    return ArrayEngine(records, domain, np.cumsum(sizes) - sizes, sizes)


def every_group(engine):
    """The numbers of all groups."""
    return np.arange(engine.groups)


def scope_of(engine, domain):
    """What a statistic knows of an engine."""
    return Scope(domain, engine.groups, engine.max_records)


def run(inquiry, engine, groups=None, column=0):
    """The result of an inquiry about some groups, or all."""
    asked = every_group(engine) if groups is None else np.asarray(groups, dtype=np.int64)
    return run_inquiry(inquiry, engine, asked, column)


def ask(engine, request, groups=None, column=0):
    """The answer to one request about some groups, or all."""
    asked = every_group(engine) if groups is None else np.asarray(groups, dtype=np.int64)
    (answer,) = engine.answer([ColumnRequest(column, asked, request)])
    return answer


def looking_further(evidence, engine, groups=None):
    """Evidence about some groups, or all, whose tails can be looked into, as the driver makes
    it.
    """
    asked = every_group(engine) if groups is None else np.asarray(groups, dtype=np.int64)

    def answer(position, inquiry):
        return run_inquiry(inquiry, engine, asked[position : position + 1])

    return evidence.answered_by(answer)


def windows(statistic, engine, domain, max_distance, groups=None):
    """The windows of some groups, or all, up to a distance, able to look into tails."""
    scope = scope_of(engine, domain)
    scope = scope if groups is None else scope._replace(groups=len(groups))
    made = run(statistic.windows(scope, max_distance), engine, groups)
    return looking_further(made, engine, groups)


def window(statistic, records, domain, max_distance):
    """The window of the records of one group."""
    return windows(statistic, engine_of([records], domain), domain, max_distance)[0]


def evidence(statistic, engine, domain, epsilon, **given):
    """What a draw of this epsilon needs to know of all groups."""
    made = run(statistic.evidence(scope_of(engine, domain), float(epsilon), **given), engine)
    return looking_further(made, engine)


def totals(statistic, engine, domain):
    """The numbers of each group that get noise."""
    return run(statistic.totals(domain), engine)


class Group:
    """One group of an engine, asked individually."""

    def __init__(self, engine, group=0, column=0):
        self.engine, self.group, self.column = engine, group, column

    def _ask(self, request):
        return ask(self.engine, request, [self.group], self.column)

    def value_counts(self):
        """Distinct indices and their counts."""
        return self._ask(requests.ValueCounts()).group(0)

    def records(self):
        """The number of records."""
        return self._ask(requests.RecordCounts())[0]

    def ranks(self, *targets, min_reach=None):
        """The values near each target (q, reach)."""
        answer = self._ask(requests.RanksNear(tuple(targets), min_reach))
        return [ranks.group(0) for ranks in answer]

    def level_sums(self, quantization):
        """Records, sum of levels and sum of squares."""
        return self._ask(requests.LevelSums(quantization))[0]

    def bin_counts(self, starts):
        """Records from each candidate to the next one."""
        return self._ask(requests.BinCounts(tuple(starts)))[0].tolist()

    def rank_at(self, index):
        """Records before a candidate and at it."""
        return self._ask(requests.RankAt(index))[0]

    def counts_of_counts(self):
        """Numbers of records, and how many candidates have each."""
        return self._ask(requests.CountsOfCounts()).group(0)

    def candidate_at(self, records, position):
        """The candidate at a position among those with so many records."""
        return self._ask(requests.CandidateAt(records, position))[0]


def groups_of(engine, column=0):
    """All groups of an engine."""
    return [Group(engine, group, column) for group in range(engine.groups)]


def plan_of(
    statistic, parameters=None, epsilon=1, *, choice="best", domain=DIGITS, groups=None, **options
):
    """The draws of a release on a domain."""
    options |= {**(parameters or {}), "mechanism": choice, "epsilon": epsilon}
    return Terms.check(statistic, options).plan(domain, groups)


def mechanism_of(plan, part):
    """The mechanism of one draw of a plan, with its share of what a row may cost."""
    return mechanism_class(part.mechanism)(plan.row_epsilon * part.share)
