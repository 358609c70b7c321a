"""Engines in memory answer every request as the oracle does: arrays whole and in groups, cells,
pairs, edges and the rows of frames.
"""

from __future__ import annotations

import datetime as dt
import math
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duffdp import Bins, Categories, Digits, Grid, UnsupportedData
from duffdp._engines.arrays import (
    ArrayEngine,
    Records,
    array_engine,
    read_array,
    threads,
    value_counts,
)
from duffdp._engines.arrays import column as columns
from duffdp._engines.arrays import engine as engines_of_arrays
from duffdp._engines.arrays.cells import CellEngine
from duffdp._engines.arrays.ranks import stable_order
from duffdp._engines.edges import EdgeEngine
from duffdp._engines.frames import MemoryRows
from duffdp._engines.pairs import PairEngine, make_pairs, pairs_by_group, pairs_of_records
from duffdp._engines.people import Cap
from duffdp._engines.requests import (
    BinCounts,
    ColumnRequest,
    EdgeRecords,
    LevelSums,
    PairRecords,
    Quantization,
    RankAt,
    RanksNear,
    RecordCounts,
    ValueCounts,
)
from duffdp._engines.selection import select
from duffdp._engines.sql.query import OpenSources
from duffdp._engines.table import SourceTable
from duffdp._sampling.entropy import entropy
from duffdp.domain import Membership, Presence
from engines import ENGINES
from request_oracle import (
    candidate_requests,
    check_engine,
    ordered_requests,
    read_indices,
)

ONE = np.zeros(1, dtype=np.int64)
MOMENT = dt.datetime(2024, 1, 1)
NUMBERS = [
    Grid(-10, 10, 1),
    Grid(-10.0, 10.0),
    Grid(-(2**40), 2**40, 1),
    Grid(0, 2**61, 3),
    Grid(0.0, 1.0, 0.1),
    Grid(Decimal("-0.3"), Decimal("1.7"), Decimal("0.1")),
    Digits(3, smallest=0.001, largest=1000),
]
TIMES = [
    Grid(MOMENT.date(), dt.date(2024, 3, 1)),
    Grid(MOMENT, dt.datetime(2024, 1, 31), 60),
]
KINDS = ["float64", "float32", "int64", "uint64", "int8", "bool", ">f8"]


def numbers(kind, rng, size):
    """Records of a type: ties, values apart, ends of the type, missing ones."""
    kind = np.dtype(kind)
    small = rng.integers(-3, 12, size)
    if kind.kind == "b":
        return small > 3
    if kind.kind == "f":
        array = np.where(rng.random(size) < 0.5, small, rng.normal(0, 5, size)).astype(kind)
        array[rng.random(size) < 0.02] = math.inf
        array[rng.random(size) < 0.02] = -math.inf
        array[rng.random(size) < 0.05] = math.nan
        array[rng.random(size) < 0.05] *= 2.0**41
        return array
    array = np.maximum(small, 0 if kind.kind == "u" else -9).astype(kind)
    limits = np.iinfo(kind)
    array[rng.random(size) < 0.02] = limits.max
    array[rng.random(size) < 0.02] = limits.min
    if kind.itemsize == 8:
        spread = rng.random(size) < 0.3
        array[spread] = rng.integers(0, 2**40, int(spread.sum())).astype(kind)
    return array


def moments(unit, rng, size):
    """Times around the bounds, and none."""
    start = np.datetime64(MOMENT).astype(f"M8[{unit}]")
    day = max(np.timedelta64(1, "D") // np.timedelta64(1, unit), 1)
    array = start + (rng.normal(20, 20, size) * day).astype(np.int64)
    array[rng.random(size) < 0.05] = np.datetime64("NaT")
    return array


def python_records(array):
    """Numpy's values as Python's, where times keep their meaning in any unit."""
    if array.dtype.kind == "M":
        array = array.astype("M8[D]" if array.dtype == "M8[D]" else "M8[us]")
    return array.tolist()


def frozen(array):
    """An array that nobody can write to: no engine may reorder the caller's records."""
    array = array.copy()
    array.flags.writeable = False
    return array


def check_whole(array, domain):
    index = read_indices(python_records(array), domain)
    engine = array_engine(read_array(frozen(array)), domain)
    assert engine.groups == 1
    assert engine.max_records >= len(index)
    assert [block.tolist() for block in engine.blocks()] == [[0]]
    requests = ordered_requests(domain.size) + candidate_requests(index, domain.size)
    check_engine(engine, [index], domain.size, requests)
    check_engine(engine, [index], domain.size, requests)  # and again, from memory


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("domain", NUMBERS, ids=repr)
@pytest.mark.parametrize("size", [0, 1, 2, 700])
def test_one_array(kind, domain, size):
    check_whole(numbers(kind, np.random.default_rng(size), size), domain)


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
@pytest.mark.parametrize("domain", TIMES, ids=repr)
def test_one_array_of_times(unit, domain):
    check_whole(moments(unit, np.random.default_rng(1), 500), domain)


LONG = {
    "spread": lambda rng, n: rng.normal(0, 4, n),
    "ties": lambda rng, n: rng.integers(-12, 12, n).astype(np.float64),
    "one value": lambda rng, n: np.full(n, 3.0),
    "nearly one value": lambda rng, n: np.where(rng.random(n) < 0.9, 3, rng.normal(0, 4, n)),
    "sorted": lambda rng, n: np.sort(rng.normal(0, 4, n)),
    "whole": lambda rng, n: rng.integers(-(2**62), 2**62, n),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(0, 4, n)),
    "none present": lambda rng, n: np.full(n, np.nan),
}


@pytest.mark.parametrize("shape", LONG)
@pytest.mark.parametrize("domain", NUMBERS[:4], ids=repr)
@pytest.mark.parametrize("cores", [1, 3])
def test_one_long_array(shape, domain, cores, monkeypatch):
    """By a bracket and one pass, on one core and on several, with values counted on the way."""
    monkeypatch.setattr(columns, "CHUNK", 2000)
    monkeypatch.setattr(columns, "MAX_PENDING", 500)
    monkeypatch.setattr(threads, "MIN_STRETCH", 5000)
    monkeypatch.setattr(threads, "cores", lambda: cores)
    check_whole(LONG[shape](np.random.default_rng(7), 17_000), domain)


def test_a_bracket_that_misses_is_widened(monkeypatch):
    """Whatever places the sample has."""
    first = lambda column: (np.repeat(column.grid.snap(column.array[:1]), 2000), 0.1)  # noqa: E731
    monkeypatch.setattr(columns.ArrayColumn, "_sample", first)
    array = np.random.default_rng(2).normal(0, 4, 20_000)
    array[0] = 9.75
    check_whole(array, Grid(-10.0, 10.0))


@pytest.mark.parametrize("domain", [*NUMBERS, *TIMES], ids=repr)
def test_objects_are_read_one_by_one(domain):
    records = [3, None, 2.5, True, "7", math.nan, Decimal("1.1"), 10**400, -(10**30), MOMENT]
    records += [dt.date(2024, 2, 3), MOMENT + dt.timedelta(minutes=90), object(), 0.1, math.inf, 3]
    index = read_indices(records, domain)
    requests = ordered_requests(domain.size)
    check_engine(array_engine(read_array(records), domain), [index], domain.size, requests)
    values, counts = value_counts(records, domain)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == Counter(index)
    # The same in groups, of which some hold nothing that is present.
    begins, sizes = np.array([10, 0, 4, 3, 5]), np.array([6, 3, 0, 1, 5])
    own = [
        read_indices(records[begin : begin + size], domain)
        for begin, size in zip(begins, sizes, strict=True)
    ]
    engine = ArrayEngine(read_array(records), domain, begins, sizes)
    check_engine(engine, own, domain.size, requests)


def grouped(array, domain, sizes, rng, mixed=True):
    """An engine with groups of these sizes, in any order in the array, with records of no group
    in between, and the indices of each group.
    """
    begins = np.empty_like(sizes)
    order = rng.permutation(len(sizes)) if mixed else np.arange(len(sizes))
    gaps = rng.integers(0, 3, len(sizes)) if mixed else np.zeros_like(sizes)
    room = sizes[order] + gaps
    begins[order] = np.cumsum(room) - room
    assert int(room.sum()) <= len(array)
    records = python_records(array)
    indices = [
        read_indices(records[begin : begin + size], domain)
        for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True)
    ]
    return ArrayEngine(Records(frozen(array), False), domain, begins, sizes), indices


def check_groups(engine, indices, size, rng):
    assert engine.groups == len(indices)
    assert engine.max_records == max(map(len, indices))
    requests = ordered_requests(size)
    check_engine(engine, indices, size, requests)
    some = rng.permutation(len(indices))[: max(len(indices) // 3, 1)].tolist()
    check_engine(engine, indices, size, requests, some)
    for group in some[:4]:
        check_engine(engine, indices, size, requests, [group])
        check_engine(engine, indices, size, candidate_requests(indices[group], size), [group])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("domain", NUMBERS, ids=repr)
@pytest.mark.parametrize("mixed", [False, True])
def test_groups_of_numbers(kind, domain, mixed):
    rng = np.random.default_rng(3)
    sizes = np.concatenate([rng.integers(0, 9, 30), [0, 40, 90, 0]])
    array = numbers(kind, rng, int(sizes.sum()) + 99)
    check_groups(*grouped(array, domain, sizes, rng, mixed), domain.size, rng)


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
@pytest.mark.parametrize("domain", TIMES, ids=repr)
def test_groups_of_times(unit, domain):
    rng = np.random.default_rng(4)
    sizes = np.concatenate([rng.integers(0, 9, 30), [60, 0]])
    array = moments(unit, rng, int(sizes.sum()) + 99)
    check_groups(*grouped(array, domain, sizes, rng), domain.size, rng)


@pytest.mark.parametrize("kind", ["float64", "int64"])
@pytest.mark.parametrize("spread", [3, 2**39])
def test_short_and_long_groups(kind, spread):
    """Sorted together, sorted individually, and selected; with the ends of int64 among them."""
    rng = np.random.default_rng(5)
    sizes = np.array([3, 0, 511, 512, 513, 700, 17_000, 1, 0])
    array = (rng.normal(size=int(sizes.sum()) + 99) * spread).astype(kind)
    array[rng.integers(0, len(array), 90)] = math.inf if kind == "float64" else 2**63 - 1
    array[rng.integers(0, len(array), 90)] = -math.inf if kind == "float64" else -(2**63)
    domain = Grid(-(2**40), 2**40, 1)
    engine, indices = grouped(array, domain, sizes, rng)
    check_engine(engine, indices, domain.size, ordered_requests(domain.size))
    check_engine(engine, indices, domain.size, ordered_requests(domain.size), [6, 1, 3])


TIED = [
    np.concatenate([apart, np.full(ties, 50.0), beyond])
    for ties in (40, 700)
    for apart in ([], [0.0], [0.0, 0.0], [0.0, 3.0, 7.0, 7.0, 8.0])
    for beyond in ([], [100.0], [51.0, 52.0, 100.0, 100.0])
] + [np.arange(40.0).repeat(30), np.random.default_rng(0).integers(0, 100, 900).astype(float)]


@pytest.mark.parametrize("min_reach", [None, 0, 4, 30])
@pytest.mark.parametrize("reach", [0, 5, 30, 2000])
def test_groups_with_many_ties(min_reach, reach):
    domain = Grid(0, 100, 1)
    sizes = np.array(list(map(len, TIED)))
    engine = ArrayEngine(read_array(np.concatenate(TIED)), domain, np.cumsum(sizes) - sizes, sizes)
    indices = [read_indices(group.tolist(), domain) for group in TIED]
    targets = tuple((Fraction(q), reach) for q in (0, Fraction(1, 3), Fraction(1, 2), 1))
    check_engine(engine, indices, domain.size, [RanksNear(targets, min_reach)])
    check_engine(engine, indices, domain.size, [RanksNear(targets[1:2], min_reach)], [5, 2])


def test_ties_are_counted_only_where_they_are(monkeypatch):
    """Of all groups and targets, those that are complete are not counted again."""
    rng = np.random.default_rng(6)
    groups = [rng.normal(0, 3, 400), np.full(400, 2.0), rng.normal(0, 3, 400)]
    engine = ArrayEngine(
        read_array(np.concatenate(groups)),
        Grid(-9.0, 9.0),
        np.array([0, 400, 800]),
        np.full(3, 400),
    )
    alone = []
    ranks = columns.ArrayColumn.ranks
    monkeypatch.setattr(
        columns.ArrayColumn, "ranks", lambda self, t: alone.append(len(t)) or ranks(self, t)
    )
    request = RanksNear(((Fraction(1, 2), 20), (Fraction(1, 4), 20)), min_reach=10)
    engine.answer([ColumnRequest(0, np.arange(3), request)])
    assert alone == [2]


@given(
    groups=st.lists(st.lists(st.integers(-2, 9), max_size=12), min_size=1, max_size=6),
    q=st.fractions(0, 1),
    reach=st.integers(0, 9),
    min_reach=st.none() | st.integers(0, 9),
    data=st.data(),
)
def test_small_groups(groups, q, reach, min_reach, data):
    domain = Grid(0, 7, 1)
    sizes = np.array(list(map(len, groups)))
    array = np.array([record for group in groups for record in group], dtype=np.float64)
    engine = ArrayEngine(read_array(array), domain, np.cumsum(sizes) - sizes, sizes)
    indices = [read_indices(group, domain) for group in groups]
    some = data.draw(st.permutations(range(len(groups))))
    requests = [*ordered_requests(domain.size), RanksNear(((q, reach), (1 - q, 1)), min_reach)]
    check_engine(engine, indices, domain.size, requests, some)
    check_engine(engine, indices, domain.size, requests, some[:1])


def test_a_share_with_many_digits_is_exact():
    """Its numerator times the number of records is beyond int64."""
    q = Fraction(0.1) + Fraction(1, 10**40)
    rng = np.random.default_rng(8)
    sizes = np.array([2000, 1, 0, 300])
    array = rng.normal(0, 4, 2400)
    engine, indices = grouped(array, Grid(-10.0, 10.0), sizes, rng)
    check_engine(engine, indices, Grid(-10.0, 10.0).size, [RanksNear(((q, 20),), 15)])


@pytest.mark.parametrize("together", [engines_of_arrays.MAX_SNAPPED, 10])
def test_groups_with_too_many_records_are_counted_individually(together, monkeypatch):
    """Sums beyond 2**63 as well."""
    monkeypatch.setattr(engines_of_arrays, "MAX_SNAPPED", together)
    monkeypatch.setattr(engines_of_arrays.ArrayEngine._block, "__defaults__", (together,))
    rng = np.random.default_rng(9)
    sizes = rng.integers(0, 30, 40)
    for domain, kind in ((Grid(-5, 5, 1), "float64"), (Grid(0, 2**62 - 2, 1), "int64")):
        array = numbers(kind, rng, int(sizes.sum()) + 99)
        engine, indices = grouped(array, domain, sizes, rng)
        check_engine(engine, indices, domain.size, ordered_requests(domain.size))


def test_groups_by_number():
    rng = np.random.default_rng(10)
    group, array = rng.integers(0, 50, 900), numbers("float64", rng, 900)
    domain = Grid(-10.0, 10.0)
    engine = ArrayEngine.by_group(read_array(frozen(array)), group, 52, domain)
    indices = [read_indices(array[group == g].tolist(), domain) for g in range(52)]
    check_groups(engine, indices, domain.size, rng)
    one = ArrayEngine.by_group(read_array(array), None, 1, domain)
    every = [read_indices(array.tolist(), domain)]
    check_engine(one, every, domain.size, ordered_requests(domain.size))


@pytest.mark.parametrize("most", [1, 2**16, 2**16 + 1, 2**32])
def test_equal_numbers_come_together_in_order(most):
    group = np.random.default_rng(2).integers(0, most, 5000) // 7 * 7
    assert (stable_order(group) == np.argsort(group, kind="stable")).all()
    assert len(stable_order(group[:0])) == 0


@pytest.mark.parametrize(
    ("groups", "records", "block"),
    [(10**5, 4, 4096), (10**4, 50, 1310), (10**4, 1000, 256), (500, 10**4, 104), (100, 10**5, 16)],
)
def test_blocks_have_about_as_many_records(groups, records, block):
    sizes = np.full(groups, records)
    array = np.broadcast_to(np.float64(1), groups * records)
    engine = ArrayEngine(read_array(array), Grid(0, 9, 1), np.cumsum(sizes) - sizes, sizes)
    blocks = engine.blocks()
    assert np.concatenate(blocks).tolist() == list(range(groups))
    assert {len(own) for own in blocks[:-1]} == {block}


def test_blocks_are_answered_by_several_threads():
    rng = np.random.default_rng(11)
    sizes, domain = rng.integers(0, 40, 3000), Grid(-10.0, 10.0)
    array = rng.normal(0, 4, int(sizes.sum()))
    array[::7] = 3
    engine = ArrayEngine(read_array(array), domain, np.cumsum(sizes) - sizes, sizes)
    requests = [
        RanksNear(((Fraction(1, 2), 5),), 4),
        LevelSums(Quantization.squared(0, domain.size - 1)),
        BinCounts((0, 10**6)),
    ]
    pieces = np.array_split(np.arange(3000), 40)

    def answers(groups):
        ranks, sums, bins = engine.answer(
            [ColumnRequest(0, groups, request) for request in requests]
        )
        return [part.tolist() for part in ranks[0]], sums, [own.tolist() for own in bins]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(answers, pieces)) == list(map(answers, pieces))


@pytest.mark.parametrize("cores", [1, 3])
def test_sums_of_all_groups_on_all_cores(cores, monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: cores)
    rng = np.random.default_rng(12)
    sizes, domain = rng.integers(0, 5, 9000), Grid(-10, 10, 1)
    engine, indices = grouped(numbers("float64", rng, 40_000), domain, sizes, rng)
    assert len(engine.blocks()) > 2
    check_engine(engine, indices, domain.size, [LevelSums(Quantization(3, 15)), RecordCounts()])


CELLS = [
    Bins([0, 2, 5, 10]),
    Bins([0.5, 2.5]),
    Categories(["a", "b", 3, 2.5]),
    Membership(Categories([3, "b"])),
    Membership(Bins([1, 4])),
    Presence(),
]
RECORDS = [3, None, 2.5, True, "b", math.nan, Decimal(3), "c", 10**400, "a", "b", -1, MOMENT]


def check_cells(engine, indices, size):
    requests = [ValueCounts(), RecordCounts()]
    check_engine(engine, indices, size, requests)
    check_engine(engine, indices, size, requests, list(range(len(indices)))[::-2])
    assert engine.max_records == max(map(len, indices))
    assert np.concatenate(engine.blocks()).tolist() == list(range(len(indices)))


@pytest.mark.parametrize("domain", CELLS, ids=repr)
def test_cells_of_objects(domain):
    index = read_indices(RECORDS, domain)
    check_cells(array_engine(read_array(RECORDS), domain), [index], domain.size)
    values, counts = value_counts(RECORDS, domain)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == Counter(index)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("domain", CELLS, ids=repr)
@pytest.mark.parametrize("size", [0, 900])
def test_cells_of_an_array(kind, domain, size):
    array = numbers(kind, np.random.default_rng(13), size)
    index = read_indices(array.tolist(), domain)
    check_cells(array_engine(read_array(frozen(array)), domain), [index], domain.size)


@pytest.mark.parametrize("groups", [1, 7, 10**5])
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_cells_by_group(groups, size):
    """By a histogram where most cells have records, by a sort where few have."""
    rng = np.random.default_rng(14)
    index, group = rng.integers(0, size, 2000), rng.integers(0, groups, 2000)
    engine = CellEngine.of_indices(index, group if groups > 1 else None, groups, size)
    named = np.unique(np.append(group, [0, groups - 1])) if groups > 1 else [0]
    indices = {g: index[group == g].tolist() if groups > 1 else index.tolist() for g in named}
    check_engine(engine, indices, size, [ValueCounts(), RecordCounts()], list(named)[::-1])
    assert engine.groups == groups
    assert sum(map(len, engine.blocks())) == groups


def test_cells_are_counted_once():
    """When the first request comes, whoever else asks at the same time."""
    counted, ready = [], threading.Barrier(4)
    array = read_array(["a", "b", "a"])
    engine = array_engine(array, Categories(["a", "b"]))
    count = engine._count
    engine._count = lambda: counted.append(1) or time.sleep(0.05) or count()

    def ask(_):
        ready.wait()
        return engine.answer([ColumnRequest(0, ONE, RecordCounts())])

    assert not counted
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [[[3]]] * 4
    assert counted == [1]


@pytest.mark.parametrize("domain", [NUMBERS[0], TIMES[0], CELLS[0], CELLS[4]], ids=repr)
def test_a_type_that_does_not_fit_is_refused_before_a_record_is_read(domain):
    wrong = np.empty(0, dtype="U3" if domain is not TIMES[0] else "f8")
    with pytest.raises(UnsupportedData, match="these bounds need"):
        array_engine(read_array(wrong), domain)


def test_pairs():
    x = np.array([1.0, math.nan, 3.0, math.inf, 5.0, 1e-200])
    y = np.array([2.0, 2.0, math.nan, -math.inf, 6.0, -0.0])
    engine = PairEngine(pairs_by_group(x, y, np.array([2, 0, 0, 2, 1, 2]), 4))
    assert (engine.groups, engine.max_records) == (4, 3)
    assert [own.tolist() for own in engine.blocks()] == [[0, 1, 2, 3]]
    groups = np.array([2, 3, 1])
    pairs, records = engine.answer(
        [ColumnRequest(0, groups, r) for r in (PairRecords(), RecordCounts())]
    )
    assert records == [3, 0, 1]
    assert [[own.x.tolist(), own.y.tolist()] for own in pairs] == [
        [[1.0, 2.0**300, 0.0], [2.0, -(2.0**300), 0.0]],
        [[], []],
        [[5.0], [6.0]],
    ]
    together = make_pairs(x, y)
    assert together.x.tolist() == [1.0, 2.0**300, 5.0, 0.0]
    listed = pairs_of_records([(1, 2), ("a", 3), (None, 2), (True, Decimal("0.5"))])
    assert (listed.x.tolist(), listed.y.tolist()) == ([1.0, 1.0], [2.0, 0.5])


def test_edges_are_passed_on():
    edges = [(1, 2), (2, 3)]
    engine = EdgeEngine(edges)
    assert engine.answer([ColumnRequest(0, ONE, EdgeRecords())])[0][0] is edges
    assert [own.tolist() for own in engine.blocks()] == [[0]]
    assert engine.groups == 1


@pytest.mark.parametrize(
    ("engine", "request_"),
    [
        (array_engine(read_array([1.0]), NUMBERS[0]), PairRecords()),
        (array_engine(read_array(["a"]), Categories(["a"])), RankAt(0)),
        (PairEngine([make_pairs(np.ones(1), np.ones(1))]), ValueCounts()),
        (EdgeEngine([]), RecordCounts()),
    ],
)
def test_a_request_that_does_not_fit_is_an_error(engine, request_):
    with pytest.raises(TypeError, match=type(request_).__name__):
        engine.answer([ColumnRequest(0, ONE, request_)])


TABLE = {
    "x": (pa.float64(), [0.5, None, 9.0, 2.0, math.nan, 7.25, -3.0, 12.0] * 5),
    "i": (pa.int64(), [3, None, 5, 7, 3, 9, -4, 200] * 5),
    "d": (pa.date32(), [dt.date(2024, 1, 3), None, *[dt.date(2024, 2, 1)] * 6] * 5),
    "s": (pa.string(), ["a", None, "b", "b", "c", "a", "d", ""] * 5),
    "g": (pa.string(), ["a", "a", "b", "b", "other", "a", None, "b"] * 5),
    "h": (pa.int64(), [1, 2, 1, 2, 1, None, 2, 1] * 5),
    "p": (pa.int64(), list(range(40))),
}
SELECTIONS = {
    "all": {},
    "groups": {"by": "g", "keys": ["b", "none", "a"]},
    "two keys": {"by": ["g", "h"], "keys": [("b", 1), ("a", 1), ("b", 2), ("x", 2)]},
    "people": {"unit": "p"},
    "both": {"by": "g", "keys": ["b", "none", "a"], "unit": "p"},
}
DOMAINS = {
    "x": [Grid(0.0, 10.0), Grid(0, 10, 1), Bins([0, 3, 10]), Membership(Bins([0, 3])), Presence()],
    "i": [Grid(0, 100, 1), Grid(0.0, 10.0), Bins([0, 3, 10]), Categories([3, 9]), Presence()],
    "d": [TIMES[0], Presence()],
    "s": [Categories(["b", "a", "z"]), Membership(Categories(["b", ""])), Presence(rows=True)],
}


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("library", ["pandas", "pandas-arrow", "polars", "pyarrow", "objects"])
def test_rows_of_frames(library, name, selection):
    where = SELECTIONS[selection]
    data = ENGINES["pandas" if library == "objects" else library](TABLE)
    if library == "objects":
        data[name] = data[name].astype(object)
        if name == "s":
            pytest.skip("text is an object in pandas already")
    by = (where["by"],) if isinstance(where.get("by"), str) else tuple(where.get("by", ()))
    rows = list(zip(TABLE[name][1], *(TABLE[key][1] for key in by), strict=True))
    keys = [key if isinstance(key, tuple) else (key,) for key in where.get("keys", [()])]
    for domain in DOMAINS[name]:
        chosen = select(name, where.get("by"), where.get("keys"), where.get("unit"))
        table = SourceTable(
            data, chosen, domain.kind, lambda *_, domain=domain: domain, OpenSources()
        )
        names = table.selection
        memory = MemoryRows(
            table.adapter, names.values[0], names.by, table.keys, names.unit, Cap(1)
        )
        engine = memory.engine(domain, table.categories, entropy(1))
        indices = [
            read_indices([record for record, *key in rows if tuple(key) == own], domain)
            for own in keys
        ]
        ordered = isinstance(domain, Grid)
        requests = ordered_requests(domain.size) if ordered else [ValueCounts(), RecordCounts()]
        check_engine(engine, indices, domain.size, requests)
        check_engine(engine, indices, domain.size, requests, list(range(len(keys)))[::-1])


def test_pairs_of_frames():
    table = {name: TABLE[name] for name in ("x", "i", "g")}
    for library in ("pandas", "polars", "pyarrow"):
        chosen = select(None, "g", ["b", "none", "a"], None, pair=("x", "i"))
        opened = SourceTable(
            ENGINES[library](table), chosen, "float", lambda *_: Grid(-10.0, 10.0), OpenSources()
        )
        memory = MemoryRows(opened.adapter, "x", ("g",), opened.keys, None, Cap(1))
        (pairs,) = memory.pair_engine("i", entropy(1)).answer(
            [ColumnRequest(0, np.array([0, 1, 2]), PairRecords())]
        )
        for own, key in zip(pairs, ["b", "none", "a"], strict=True):
            rows = zip(*(TABLE[name][1] for name in ("x", "i", "g")), strict=True)
            truth = [(x, i) for x, i, g in rows if g == key and x is not None and x == x and i]
            assert sorted(zip(own.x.tolist(), own.y.tolist(), strict=True)) == sorted(truth)
