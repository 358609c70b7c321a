"""Answers to every counting request by definition, for the indices of every group: slow, plain, and
the same for all engines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from fractions import Fraction

import numpy as np

from duffdp._engines.requests import (
    BinCounts,
    CandidateAt,
    ColumnRequest,
    CountsOfCounts,
    LevelSums,
    Quantization,
    RankAt,
    RanksNear,
    RecordCounts,
    ValueCounts,
)


def read_indices(records, domain):
    """The index of every record that is present, read individually."""
    index = [domain.record_index(record) for record in records]
    return [i for i in index if i >= 0]


def expected(request, index, size):
    """The answer to a request about one group, in numbers of Python; not for RanksNear, of which
    several answers are right.
    """
    counts = Counter(index)
    match request:
        case LevelSums(quantization):
            low, high, shift, squares = quantization
            half = 2**shift // 2
            levels = [(min(max(i, low), high) - low + half) // 2**shift for i in index]
            return len(index), sum(levels), sum(x * x for x in levels) if squares else 0
        case BinCounts(starts):
            bins = Counter(bisect_right(starts, i) - 1 for i in index)
            return [bins[i] for i in range(len(starts))]
        case ValueCounts():
            return sorted(counts.items())
        case RecordCounts():
            return len(index)
        case RankAt(at):
            return sum(i < at for i in index), counts[at]
        case CountsOfCounts():
            return [(0, size - len(counts)), *sorted(Counter(counts.values()).items())]
        case CandidateAt(records, position):
            if records:
                return sorted(i for i, count in counts.items() if count == records)[position]
            for i in sorted(counts):
                position += i <= position
            return position
    raise AssertionError(request)


def check_ranks(ranks, index, size, target, min_reach):
    """All values from `first` to `last` with all records at them, and the ranks that were asked
    for lie there.
    """
    (q, reach), (values, counts, below, total, first, last) = target, ranks
    ordered = sorted(index)
    assert total == len(index)
    assert 0 <= first <= last + 1 <= size
    inside = Counter(i for i in index if first <= i <= last)
    assert list(zip(values.tolist(), counts.tolist(), strict=True)) == sorted(inside.items())
    assert below == sum(i < first for i in index)
    centre = q.numerator * len(index) // q.denominator
    low, high = max(min(centre - reach, total - 1), 0), min(centre + 1 + reach, total - 1)
    if all(first <= i <= last for i in ordered[low : high + 1]):
        return
    assert min_reach is not None
    assert first == 0 or below < centre - min_reach
    assert last == size - 1 or below + sum(inside.values()) > centre + min_reach


def split_answer(request, answer, number):
    """The parts of an answer, one for each of so many groups, as `expected` has them."""
    if isinstance(request, ValueCounts | CountsOfCounts):
        assert len(answer.ends) == number
        assert all(part.dtype == np.int64 for part in answer)
        groups = [answer.group(i) for i in range(number)]
        return [list(zip(*(part.tolist() for part in own), strict=True)) for own in groups]
    assert len(answer) == number
    if isinstance(request, BinCounts):
        assert all(own.dtype == np.int64 for own in answer)
        return [own.tolist() for own in answer]
    numbers = [own if isinstance(own, tuple) else (own,) for own in answer]
    assert all(type(each) is int for own in numbers for each in own)
    return list(answer)


def check_answer(request, answer, indices, size):
    """Whether an answer is right about groups with these indices, in this order."""
    if isinstance(request, RanksNear):
        assert len(answer) == len(request.targets)
        for target, grouped in zip(request.targets, answer, strict=True):
            assert len(grouped.ends) == len(indices)
            assert all(part.dtype == np.int64 for part in grouped)
            for i, index in enumerate(indices):
                check_ranks(grouped.group(i), index, size, target, request.min_reach)
        return
    found = split_answer(request, answer, len(indices))
    for own, index in zip(found, indices, strict=True):
        assert own == expected(request, index, size), request


def check_engine(engine, indices, size, requests, groups=None, column=0):
    """Whether an engine answers requests as the oracle does; about all groups if none are named."""
    groups = range(len(indices)) if groups is None else groups
    numbers = np.array(groups, dtype=np.int64)
    answers = engine.answer([ColumnRequest(column, numbers, request) for request in requests])
    own = [indices[group] for group in groups]
    for request, answer in zip(requests, answers, strict=True):
        check_answer(request, answer, own, size)


def ordered_requests(size, reach=5):
    """Requests of every kind for an ordered domain of `size` candidates."""
    top = size - 1
    middle = (Fraction(1, 4), reach), (Fraction(1, 2), 6 * reach), (Fraction(1), 2)
    starts = sorted({0, *(size * i // 7 for i in range(1, 7))})
    return [
        RanksNear(middle, min_reach=0),
        RanksNear(middle[:2], min_reach=3),
        RanksNear(middle),
        RanksNear(((Fraction(0), 0), (Fraction(123456789, 10**17 + 3), 10**9))),
        LevelSums(Quantization(0, top)),
        LevelSums(Quantization(top // 3, top // 2)),
        LevelSums(Quantization(top // 4, top, 1)),
        LevelSums(Quantization.squared(top // 5, top)),
        BinCounts((0,)),
        BinCounts(tuple(starts)),
        ValueCounts(),
        RecordCounts(),
        RankAt(0),
        RankAt(top // 2),
        RankAt(top),
        CountsOfCounts(),
    ]


def candidate_requests(index, size):
    """Candidates of one group by their number of records: the first and the last with each."""
    classes = expected(CountsOfCounts(), index, size)
    return [
        CandidateAt(records, position)
        for records, number in classes[:2] + classes[-2:]
        for position in {0, number // 2, number - 1}
        if 0 <= position < number
    ]
