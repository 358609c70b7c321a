"""Records that are each of a type of their own: what one counts as depends on nothing but itself,
and none is an error."""

from __future__ import annotations

import array
import datetime as dt
import warnings
from collections import Counter, UserList, deque
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import duffdp
from duffdp import BoundsError, Categories, Grid, UnsupportedData
from duffdp._engines.arrays import ArrayEngine, read_array, value_counts
from duffdp._engines.arrays import records as reading
from duffdp._engines.arrays.column import ArrayColumn
from nasty_records import EAST, NOTHING, NUMBERS, RECORDS, TIMES, WEST, Chameleon

GRIDS = [
    Grid(0, 120, 1),
    Grid(-7, 50, 3),
    Grid(0, 120),
    Grid(0.0, 1.0, 0.01),
    Grid(Decimal("0.00"), Decimal(9), Decimal("0.01")),
    Grid(0, 2**61, 1),
    Grid(-(2**63), 2**63 - 1, 4),
    Grid(2**63, 2**64, 3),
    Grid(-1e308, 1e308),
    Grid(dt.date(2024, 1, 1), dt.date(2024, 1, 31)),
    Grid(dt.date.min, dt.date.max),
    Grid(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 31), 60),
    Grid(dt.datetime.min, dt.datetime.max),
    Grid(dt.datetime(2024, 1, 1, tzinfo=EAST), dt.datetime(2024, 1, 31, tzinfo=EAST)),
]
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "deque": deque,
    "user list": UserList,
    "objects": lambda records: np.fromiter(records, dtype=object),
    "masked": lambda records: np.ma.MaskedArray(np.fromiter(records, dtype=object), mask=False),
}


@pytest.fixture(autouse=True)
def no_warning():
    """Nothing is said about a record, whatever a user has set in numpy."""
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        yield


def tally(data, domain) -> Counter:
    index, count = value_counts(data, domain)
    return Counter(dict(zip(index.tolist(), count.tolist(), strict=True)))


@pytest.mark.parametrize("grid", GRIDS, ids=repr)
def test_each_record_has_one_index_whatever_stands_beside_it(grid, monkeypatch):
    alone = [tally([record], grid) for record in RECORDS]
    assert alone == [Counter({i: 1} if i >= 0 else {}) for i in map(grid.record_index, RECORDS)]
    whole = sum(alone, Counter())
    for make in CONTAINERS.values():
        assert tally(make(RECORDS), grid) == whole
    clean = ([0, 1, 2**53 + 1], [0.5, 1.5], [1, 1.5], [None, 1], [True, 2], [dt.date(2024, 1, 5)])
    for beside in clean:
        there = sum((tally([record], grid) for record in beside), Counter())
        for record, own in zip(RECORDS, alone, strict=True):
            assert tally([*beside, record], grid) == there + own
    monkeypatch.setattr(reading, "OBJECTS_AT_ONCE", 5)
    assert tally(RECORDS * 2, grid) == whole + whole


@pytest.mark.parametrize("grid", GRIDS, ids=repr)
def test_numbers_and_times_count_and_nothing_else_does(grid):
    fitting = TIMES if grid.timed else NUMBERS
    for record in RECORDS:
        index = grid.record_index(record)
        assert (0 <= index < grid.size) if any(record is x for x in fitting) else index == -1


TYPED = [
    (np.array([0, 1, 7, 127, -128]), ["i1", "i2", "i4", "i8", ">i8", "f8", ">f4", "O"]),
    (np.array([2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]), ["i8", ">i8", "O"]),
    (np.array([0, 1, 2**53 + 1, 2**63, 2**64 - 1], dtype=np.uint64), ["u8", ">u8", "O"]),
    (np.array([0.1, 0.5, 1.5, -3.0, 300.0, np.inf, -np.inf, np.nan]), ["f2", "f4", "f8", "g"]),
    (np.array([1e308, 5e-324, 2.0**53]), ["f8", ">f8", "g", "O"]),
    (np.array(["1e4000", "-1e4000", "0.1", "nan"]).astype("g"), ["g"]),
    (np.array([True, False]), ["?", "O"]),
]


@pytest.mark.parametrize("grid", [g for g in GRIDS if not g.timed], ids=repr)
def test_a_typed_array_counts_as_the_list_of_its_values(grid):
    for values, types in TYPED:
        for dtype in types:
            data = values.astype(dtype)
            one_by_one = sum((tally([record], grid) for record in data), Counter())
            assert tally(data, grid) == tally(list(data), grid) == one_by_one
            if dtype != "g":
                assert tally(data.tolist(), grid) == one_by_one


UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("grid", [g for g in GRIDS if g.timed], ids=repr)
def test_times_of_every_unit_are_clamped_and_never_wrap_around(grid, unit):
    """Far below counts as the first candidate, far above as the last; the unit decides what far
    is."""
    edge = 2**63 - 1
    ticks = [edge, -edge, edge // 1000, -edge // 1000, 2**62, -(2**62), 2**55, -(2**55), 0, -1, 1]
    data = np.array(ticks, dtype="i8").view(f"M8[{unit}]")
    ranks = grid.snap(ArrayColumn.of(read_array(data), grid).reader.keys(data))
    order = np.argsort(ticks)
    assert (np.diff(ranks[order]) >= 0).all()
    assert ranks.tolist() == [grid.record_index(moment) for moment in data]
    if unit not in ("us", "ns", "ps", "fs", "as"):
        assert ranks[ticks.index(edge)] == grid.size - 1
        assert ranks[ticks.index(-edge)] == 0
    missing = np.array(["NaT"], dtype=data.dtype)
    assert (
        tally(np.concatenate([data, missing]), grid) == tally(data, grid) == tally(list(data), grid)
    )


def test_types_that_are_refused_are_refused_without_a_look_at_records():
    times, numbers = GRIDS[-2], GRIDS[0]
    refused = [
        (np.array([], "M8[7s]"), times),
        (np.array(["NaT"], "M8"), times),
        (np.array([], "m8[s]"), times),
        (np.array([], "m8[s]"), numbers),
        (np.array([], "c16"), numbers),
        (np.array([], "U3"), numbers),
        (np.array([], "S3"), numbers),
        (np.array([], [("a", "f8")]), numbers),
        (np.array([], "M8[s]"), numbers),
        (np.array([], "f8"), times),
    ]
    for data, grid in refused:
        with pytest.raises(UnsupportedData) as empty:
            ArrayEngine(read_array(data), grid)
        more = np.zeros(3, dtype=data.dtype) if data.dtype != np.dtype("M8") else data
        with pytest.raises(UnsupportedData) as full:
            ArrayEngine(read_array(more), grid)
        assert str(empty.value) == str(full.value)


@pytest.mark.parametrize(
    "data",
    [
        (x for x in [1]),
        {1, 2},
        frozenset({1}),
        {1: 2},
        {1: 2}.keys(),
        "12",
        b"12",
        5,
        None,
        np.array(3.0),
        np.ones((2, 2)),
        np.ma.ones((2, 2)),
        np.empty((0, 2)),
        np.array([[1, None]], dtype=object),
    ],
    ids=lambda data: type(data).__name__,
)
def test_containers_that_are_no_column(data):
    with pytest.raises(UnsupportedData, match="one-dimensional"):
        read_array(data)


def test_what_has_no_type_has_none_whatever_is_in_it():
    """A step of 1 by default is for arrays of whole numbers; records decide nothing."""
    for records in ([], [1], [1, None], [1.5], ["a"], [[1, 2], [3, 4]], [np.ones(2), np.ones(2)]):
        for make in CONTAINERS.values():
            assert read_array(make(records)).integer is False
            assert read_array(make(records)).array.dtype == object
    assert read_array(array.array("q", [1])).integer is True
    assert read_array(np.ma.MaskedArray([1, 2, 3], mask=[0, 1, 0])).array.tolist() == [1, 3]
    assert read_array(range(3)).integer is False
    assert tally(range(2**63 - 2, 2**63 + 2), GRIDS[6]) == tally([2**63 - 1] * 4, GRIDS[6])


VERBS = {
    "median": lambda data, **more: duffdp.median(data, epsilon=1.0, rng=1, **more),
    "quantiles": lambda data, **more: duffdp.quantiles(
        data, [0.1, 0.5], epsilon=1.0, rng=1, **more
    ),
    "mean": lambda data, **more: duffdp.mean(data, epsilon=1.0, rng=1, **more),
    "mode": lambda data, **more: duffdp.mode(data, epsilon=1.0, rng=1, **more),
    "describe": lambda data, **more: duffdp.describe(data, epsilon=1.0, rng=1, **more),
}


def observed(call):
    """Everything that a release shows besides its value."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            release = call()
        except Exception as error:
            return type(error), str(error), [str(w.message) for w in said]
    return release.domain, release.statistic, release.unit, [str(w.message) for w in said]


@pytest.mark.parametrize("verb", VERBS)
def test_no_record_changes_what_can_be_seen(verb):
    for bounds in ((0, 120), (dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 31))):
        if verb == "describe" and isinstance(bounds[0], dt.datetime):
            continue
        for beside in ([], [1, 2, 3], [1.0, 2.5], ["a", "b"], [dt.datetime(2024, 1, 5)]):
            without = observed(lambda b=beside, at=bounds: VERBS[verb](b, bounds=at))
            assert not isinstance(without[0], type)
            for record in RECORDS:
                data = [*beside, record]
                assert observed(lambda d=data, at=bounds: VERBS[verb](d, bounds=at)) == without


def test_one_record_does_not_change_how_others_are_read():
    """The same law of the median with a seed: a record that counts as nothing leaves the release as
    it is."""
    for n in (7, 20_000):
        ages = [20 + i % 50 for i in range(n)]
        for step in (None, 1):
            call = {"epsilon": 1.0, "bounds": (0, 120), "step": step}
            value = duffdp.median(ages, **call, rng=3).value
            for record in NOTHING:
                assert duffdp.median([*ages, record], **call, rng=3).value == value


@pytest.mark.parametrize(
    "data", [[[1, 2], [3, 4]], [[1, 2], [3]], ["a", "b"], [b"1"], [None]], ids=repr
)
def test_a_list_without_a_number_is_an_empty_release(data):
    call = {"epsilon": 1.0, "bounds": (0, 120), "rng": 5}
    assert duffdp.median(data, **call).value == duffdp.median([], **call).value


CATEGORIES = Categories(
    ["a", "b", 1, 2.5, dt.date(2024, 1, 5), dt.datetime(2024, 1, 5, 12), (1, 2)]
)


def test_each_record_has_one_category_whatever_stands_beside_it():
    records = [
        *RECORDS,
        "a",
        "a",
        "b",
        1,
        1.0,
        2.5,
        (1, 2),
        np.str_("a"),
        np.int8(1),
        np.float32(2.5),
    ]
    records += [
        np.datetime64("2024-01-05T12", "ns"),
        np.datetime64("2024-01-05T12:00:00.000000001", "ns"),
    ]
    alone = [tally([record], CATEGORIES) for record in records]
    assert tally([Chameleon()], CATEGORIES) == {1: 1}  # what it says of itself, and of nobody else
    assert tally([np.datetime64("2024-01-05T12:00:00.000000001", "ns")], CATEGORIES) == {}
    for order in (records, records[::-1]):
        for make in CONTAINERS.values():
            assert tally(make(order), CATEGORIES) == sum(alone, Counter())
    for beside in (["a", "b", "b"], [1, 2.5], [True, None, "c"]):
        there = sum((tally([record], CATEGORIES) for record in beside), Counter())
        for record, own in zip(records, alone, strict=True):
            for data in ([*beside, record], [record, *beside]):
                assert tally(data, CATEGORIES) == there + own


@pytest.mark.parametrize("unit", UNITS)
def test_categories_of_times_of_every_unit(unit):
    edge = 2**63 - 1
    whole = Categories(
        [0, edge, -edge, 1, dt.date(1970, 1, 1), dt.datetime(1970, 1, 1, 12), dt.timedelta(0)]
    )
    day = Counter({4: 1})
    data = np.array([0, edge, -edge, -(2**63)], dtype="i8").view(f"M8[{unit}]")
    dates = unit in ("Y", "M", "W", "D")
    assert tally(data, whole) == (day if dates else Counter())
    assert tally(list(data), whole) == (day if dates else Counter())
    if unit not in ("Y", "M"):
        assert tally(data.view(f"m8[{unit}]")[:1], whole) == {6: 1}
    noon = (
        np.datetime64("1970-01-01T12").astype(f"M8[{unit}]")
        if unit in ("h", "us", "ns", "ps")
        else None
    )
    assert noon is None or tally(np.array([noon]), whole) == tally([noon], whole) == {5: 1}


def test_no_record_changes_what_a_mode_of_categories_shows():
    without = observed(lambda: VERBS["mode"](["a", "b"], categories=["a", "b"]))
    for record in RECORDS:
        data = ["a", "b", record]
        assert observed(lambda d=data: VERBS["mode"](d, categories=["a", "b"])) == without


def test_moments_at_the_ends_of_the_calendar_can_be_released():
    """What a grid accepts it can print, in every zone; what it cannot it refuses before anything is
    paid."""
    zones = [None, dt.UTC, EAST, WEST, ZoneInfo("America/New_York"), ZoneInfo("Pacific/Auckland")]
    made = 0
    for lower_zone in zones:
        for upper_zone in zones:
            for inset in (dt.timedelta(0), dt.timedelta(hours=13), dt.timedelta(days=2)):
                lower = (dt.datetime.min + inset).replace(tzinfo=lower_zone)
                upper = (dt.datetime.max - inset).replace(tzinfo=upper_zone)
                try:
                    grid = Grid(lower, upper)
                except BoundsError:
                    assert inset != dt.timedelta(days=2) or (lower_zone is None) != (
                        upper_zone is None
                    )
                    continue
                made += 1
                values = [grid.value(i) for i in (0, 1, grid.size // 2, grid.size - 1)]
                assert values == sorted(values)
                assert [grid.find(value) for value in values] == [
                    0,
                    1,
                    grid.size // 2,
                    grid.size - 1,
                ]
    assert made > 30
    with pytest.raises(BoundsError):
        Grid(np.datetime64(0, "s"), np.datetime64(2**62, "s"))
    with pytest.raises(BoundsError):
        Grid(np.datetime64("2000-01-01"), np.datetime64("20000-01-01"))


@pytest.mark.parametrize("size", [9, 2**15])
@pytest.mark.parametrize("dtype", [np.float64, np.dtype(">f8"), np.float32, np.float16])
def test_no_bits_of_a_double_make_numpy_speak(dtype, size):
    """Missing values that signal, infinities, the least and the largest numbers."""
    edge = np.array([5e-324, 1e308, np.inf, -np.inf, -0.0, np.nan])
    signals = np.array([0x7FF0000000000001, 0xFFF0000000000001], dtype=np.uint64).view(float)
    with np.errstate(all="ignore"):
        odd = edge.astype(dtype) if dtype != np.float64 else np.concatenate([edge, signals])
    for i in range(len(odd)):
        records = np.ones(size, dtype=dtype)
        records[3 : 3 + 1] = odd[i : i + 1]
        for release in (duffdp.median, duffdp.mean, duffdp.std):
            assert 0 <= release(records, epsilon=1, bounds=(0, 3)).value <= 3
