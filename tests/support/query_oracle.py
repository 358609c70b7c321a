"""Tables opened as engines that run queries, and an oracle in numpy that their answers are compared
with.
"""

from __future__ import annotations

import numpy as np

from duffdp._engines.requests import (
    BinCounts,
    CandidateAt,
    ColumnRequest,
    CountsOfCounts,
    LevelSums,
    RankAt,
    RanksNear,
    RecordCounts,
    ValueCounts,
)
from duffdp._engines.selection import select
from duffdp._engines.sql.query import OpenSources
from duffdp._engines.table import SourceTable
from duffdp._sampling.entropy import entropy


def open_table(data, domain, column, by=None, keys=None, unit=None, contributions=1, where=None):
    selection = select(column, by, keys, unit, contributions, where=where)
    return SourceTable(data, selection, domain.kind, lambda *_: domain, OpenSources())


def open_engine(data, domain, column, *selection, rng=None, **more):
    """The engine that a release gets from data with one column."""
    engine, number = open_table(data, domain, column, *selection, **more).engine(entropy(rng))
    assert number == 0
    return engine


def ask(engine, *requests, groups=None, column=0):
    """The answers to some requests of one round."""
    groups = np.arange(engine.groups) if groups is None else np.array(groups, dtype=np.int64)
    answers = engine.answer([ColumnRequest(column, groups, request) for request in requests])
    return answers if len(requests) > 1 else answers[0]


def check(engine, indices, size, requests, column=0, groups=None):
    """Compare the answers of one round with those of numpy; `indices` are arrays, one a group."""
    groups = list(range(engine.groups)) if groups is None else groups
    asked = [
        ColumnRequest(column, np.array(groups, dtype=np.int64), request) for request in requests
    ]
    for request, answer in zip(requests, engine.answer(asked), strict=True):
        check_answer(request, answer, [indices[g] for g in groups], size)


def check_answer(request, answer, indices, size):
    if isinstance(request, RanksNear):
        for target, ranks in zip(request.targets, answer, strict=True):
            for one, own in zip(ranks.split(), indices, strict=True):
                check_ranks(*target, one, own, size)
        return
    assert plain(answer) == plain(expected(request, indices, size))


def check_ranks(q, reach, ranks, index, size):
    """All values between two candidates, which cover the ranks."""
    inside = index[(index >= ranks.first) & (index <= ranks.last)]
    values, counts = np.unique(inside, return_counts=True)
    assert ranks.total == len(index)
    assert ranks.below == np.count_nonzero(index < ranks.first)
    assert ranks.values.tolist() == values.tolist()
    assert ranks.counts.tolist() == counts.tolist()
    assert 0 <= ranks.first <= ranks.last < size
    centre = int(q * len(index))
    assert ranks.below <= max(min(centre - reach, len(index) - 1), 0)
    assert ranks.below + len(inside) >= min(centre + 1 + reach, len(index))


def expected(request, indices, size):
    """What numpy answers, group by group."""
    return [_of_group(request, index, size) for index in indices]


def _of_group(request, index, size):
    values, counts = np.unique(index, return_counts=True)
    match request:
        case RecordCounts():
            return len(index)
        case ValueCounts():
            return values, counts
        case RankAt(at):
            return int((index < at).sum()), int((index == at).sum())
        case BinCounts(starts):
            cells = np.searchsorted(starts, index, side="right") - 1
            return np.bincount(cells, minlength=len(starts))
        case LevelSums(levels):
            level = [int(levels.of(min(max(i, levels.low), levels.high))) for i in index.tolist()]
            squares = sum(each**2 for each in level) if levels.squares else 0
            return len(level), sum(level), squares
        case CountsOfCounts():
            records, candidates = np.unique(counts, return_counts=True)
            return np.append(0, records), np.append(size - len(values), candidates)
        case CandidateAt(records, position):
            if records:
                return int(values[counts == records][position])
            return int(np.setdiff1d(np.arange(size), values)[position])
    raise NotImplementedError(request)


def plain(answer):
    """An answer as lists of numbers, one for each group."""
    if hasattr(answer, "split"):
        answer = answer.split()
    return [_plain(each) for each in answer]


def _plain(each):
    if isinstance(each, np.ndarray):
        return each.tolist()
    return [_plain(part) for part in each] if isinstance(each, tuple) else each
