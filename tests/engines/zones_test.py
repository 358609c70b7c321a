"""Time zones: the answer is in the zone of the column, bounds without a zone are times of its
clocks, dates are its days; the same in every engine.
"""

from __future__ import annotations

import base64
import datetime as dt
import random
from collections import Counter
from itertools import pairwise
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import duffdp
import engines
import postgres
from duffdp._engines.files.format import ReadRequest
from duffdp._engines.files.parquet import read_zones
from duffdp._engines.queries.expressions import clock_expression
from duffdp._facts import Facts
from duffdp.domain import Bins, Grid
from duffdp.domain.reading import DAY, EPOCH
from duffdp.domain.zones import Clock, instant, read_zone, zone_name
from duffdp.errors import BoundsError, DuffError, UnsupportedData

ZONES = ("Europe/Berlin", "America/New_York", "UTC", None)
SURE = 1e6
DAYS = (dt.date(2024, 1, 1), dt.date(2024, 12, 31))
# Around midnight, and around both changes of clocks.
MOMENTS = [
    dt.datetime(2024, month, day, hour, minute)
    for month, day, hour, minute in [
        *((1, 15, 23, 30), (1, 16, 0, 30), (3, 10, 1, 59), (3, 10, 3, 1), (3, 31, 1, 59)),
        *((3, 31, 3, 1), (3, 31, 23, 45), (7, 7, 12, 0), (7, 8, 0, 15), (10, 27, 0, 15)),
        *((10, 27, 4, 0), (11, 3, 0, 30), (11, 3, 5, 0), (12, 30, 22, 0)),
    ]
]


def duckdb_relation(table, zone):
    connection = duckdb.connect()
    connection.execute(f"SET TimeZone = '{zone or 'Asia/Tokyo'}'")
    connection.register("given", table)
    return connection.table("given")


def spark_frame(table, zone):
    """Spark has one zone for all columns, that of the session."""
    session = engines.spark()
    session.conf.set("spark.sql.session.timeZone", zone or "Asia/Tokyo")
    naive = table.cast(pa.schema([("w", pa.timestamp("us"))])) if zone else table
    listed = [(int(value),) for value in naive["w"].cast(pa.int64()).to_pylist()]
    numbers = session.createDataFrame(listed, "w bigint")
    if zone:
        return numbers.selectExpr("timestamp_micros(w) AS w")
    days = "timestampadd(MICROSECOND, w, TIMESTAMP_NTZ '1970-01-01 00:00:00') AS w"
    return numbers.selectExpr(days)


def postgres_address(table, zone):
    """PostgreSQL has one zone for all columns as well: what an address says, or a server."""
    made = postgres.table(table)
    return postgres.address(made.get_name(), options=f"-c timezone={zone or 'Asia/Tokyo'}")


ENGINES = {
    "pandas": lambda table, zone: table.to_pandas(),
    "pandas-arrow": lambda table, zone: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table, zone: pl.from_arrow(table),
    "polars-lazy": lambda table, zone: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table, zone: table,
    "duckdb": duckdb_relation,
    "postgres": postgres_address,
    "dask": lambda table, zone: engines.dask_frame({"w": (table["w"].type, table["w"])}),
    "spark": spark_frame,
}


SLOW = {"spark": slice(1, 2), "dask": slice(1, 3)}  # which see fewer cases
CASES = [
    (engine, zone)
    for engine in ENGINES
    for zone in ZONES
    if engine not in SLOW or zone in ("Europe/Berlin", None)
]


@pytest.fixture(autouse=True)
def _session_zone():
    yield
    if engines.spark.cache_info().currsize:
        engines.spark().conf.set("spark.sql.session.timeZone", "UTC")


def zoned(moment, zone):
    return moment.replace(tzinfo=None if zone is None else read_zone(zone))


def column(moments, zone):
    return pa.table({"w": pa.array(moments, pa.timestamp("us", tz=zone))})


def of(frame, bounds, **more):
    return duffdp.median(frame, column="w", epsilon=SURE, bounds=bounds, **more)


def middle(values):
    return sorted(values)[(len(values) - 1) // 2]


@pytest.mark.parametrize(("engine", "zone"), CASES)
def test_the_answer_is_in_the_zone_of_the_column(engine, zone):
    moments = [zoned(moment, zone) for moment in MOMENTS]
    for some in (moments, moments[:5], moments[3:7], moments[9:13])[SLOW.get(engine, slice(4))]:
        frame = ENGINES[engine](column(some, zone), zone)
        expected = middle(some)
        naive = (dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1))
        both = (naive, tuple(zoned(bound, zone) for bound in naive))
        for bounds in both[: 1 if engine in SLOW else 2]:
            value = of(frame, bounds, step=60).value
            assert value == expected
            assert value.utcoffset() == expected.utcoffset()
            assert value.replace(tzinfo=None) == expected.replace(tzinfo=None)
        assert of(frame, DAYS).value == middle([moment.date() for moment in some])


# Late in one day and early in the next, in winter and in summer.
NEAR_MIDNIGHT = [MOMENTS[at] for at in (0, 1, 6, 8, 9, 11)]


@pytest.mark.parametrize(("engine", "zone"), [case for case in CASES if case[1] in ZONES[:2]])
def test_days_and_bounds_are_those_of_the_zone(engine, zone):
    for moment in NEAR_MIDNIGHT[:: 3 if engine in SLOW else 1]:
        frame = ENGINES[engine](column([zoned(moment, zone)] * 3, zone), zone)
        assert of(frame, DAYS).value == moment.date()
        # What lies before the bounds clamps to the lower one, which is a time of these clocks.
        bounds = (moment + dt.timedelta(minutes=30), moment + dt.timedelta(days=9))
        value = of(frame, bounds, step=60).value
        assert value.replace(tzinfo=None) == bounds[0]
        assert value.utcoffset() == zoned(bounds[0], zone).utcoffset()


@pytest.mark.parametrize(("engine", "zone"), CASES)
def test_bins_and_shares_go_by_the_zone(engine, zone):
    frame = ENGINES[engine](column([zoned(moment, zone) for moment in MOMENTS], zone), zone)
    days = [dt.date(2024, 1, 16), dt.date(2024, 3, 31), dt.date(2024, 4, 1), dt.date(2024, 11, 3)]
    counts = duffdp.histogram(frame, column="w", epsilon=SURE, bins=days).value
    expected = [
        sum(low <= m.date() and (m.date() < high or high == m.date() == days[-1]) for m in MOMENTS)
        for low, high in pairwise(days)
    ]
    assert list(counts.values()) == expected
    edges = [dt.datetime(2024, 3, 31), dt.datetime(2024, 7, 8)]
    if engine in SLOW:
        return
    share = duffdp.share(frame, column="w", epsilon=SURE, between=edges).value
    assert share == pytest.approx(sum(edges[0] <= m <= edges[1] for m in MOMENTS) / len(MOMENTS))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_hour_that_clocks_show_twice_is_two_hours(engine):
    """Bounds and answers are instants: 02:30 in summer time is not 02:30 in winter time."""
    zone = ZoneInfo("Europe/Berlin")
    twice = [dt.datetime(2024, 10, 27, 2, 30, tzinfo=zone, fold=fold) for fold in (0, 1)]
    for expected in twice[1 if engine in SLOW else 0 :]:
        table = column([expected.astimezone(dt.UTC)] * 3, "Europe/Berlin")
        value = of(
            ENGINES[engine](table, "Europe/Berlin"),
            (dt.datetime(2024, 10, 26), dt.datetime(2024, 10, 28)),
            step=60,
        ).value
        assert value.utcoffset() == expected.utcoffset()
        assert (value.hour, value.minute) == (2, 30)


@pytest.mark.parametrize("engine", ENGINES)
def test_steps_of_days_go_by_clocks(engine):
    bounds = (dt.datetime(2024, 1, 1, 6), dt.datetime(2024, 12, 31, 6))
    zone = ZoneInfo("America/New_York")
    noons = [dt.datetime(2024, month, 8, 12, tzinfo=zone) for month in (2, 3, 4, 7, 11, 12)]
    for noon in noons[:: len(noons) if engine in SLOW else 1]:
        frame = ENGINES[engine](column([noon] * 3, "America/New_York"), "America/New_York")
        value = of(frame, bounds, step=dt.timedelta(days=1)).value
        assert value == noon.replace(hour=6)
        assert value.hour == 6


def test_groups_are_answered_in_the_zone():
    zone = ZoneInfo("America/New_York")
    noons = [dt.datetime(2024, month, 7, 12, tzinfo=zone) for month in (1, 7)]
    table = pa.table(
        {
            "w": pa.array(noons * 3, pa.timestamp("us", tz="America/New_York")),
            "g": ["winter", "summer"] * 3,
        }
    )
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'America/New_York'")
    connection.register("given", table)
    given = {
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "pyarrow": table,
        "duckdb": connection.table("given"),
    }
    for name, frame in given.items():
        release = of(
            frame,
            (dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1)),
            step=60,
            by="g",
            keys=["winter", "summer"],
        )
        assert type(release.value).__module__.lstrip("_").startswith(name)
        values = [row[-1] for row in release.rows()]
        assert (values, [value.hour for value in values]) == (noons, [12, 12]), name
        native = {"polars": lambda f: f["median"].to_list(), "pandas": lambda f: list(f["median"])}
        if name in native:
            assert [moment.hour for moment in native[name](release.value)] == [12, 12]


def test_a_file_has_instants_in_utc_whatever_the_machine_has(tmp_path, monkeypatch):
    """Tables of DuckDB, and Parquet whose writer says no more."""
    moment = dt.datetime(2024, 7, 7, 23, tzinfo=dt.UTC)
    with duckdb.connect(tmp_path / "w.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT TIMESTAMPTZ '2024-07-07 23:00:00+00' AS w")
        connection.execute(f"COPY t TO '{tmp_path / 'w.parquet'}'")
    for zone in ("Asia/Tokyo", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        for path in (tmp_path / "w.parquet", f"{tmp_path / 'w.duckdb'}::t"):
            bounds = (dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1))
            value = of(path, bounds, step=60).value
            assert (value, value.tzinfo) == (moment, dt.UTC)
            assert of(path, DAYS).value == dt.date(2024, 7, 7)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "+05:30", "UTC"])
def test_parquet_has_the_zone_that_its_writer_left_in_it(tmp_path, zone):
    """By pyarrow, pandas and polars, among other columns; and queries pass it on."""
    table = pa.table(
        {
            "é": pa.array([1.5]),
            "l": pa.array([[1]], pa.list_(pa.timestamp("ns", tz="Asia/Tokyo"))),
            "w": pa.array([zoned(NEAR_MIDNIGHT[1], zone)], pa.timestamp("us", tz=zone)),
            "n": pa.array([NEAR_MIDNIGHT[1]], pa.timestamp("us")),
        }
    )
    pq.write_table(table, tmp_path / "pyarrow.parquet")
    table.select(["é", "w", "n"]).to_pandas().to_parquet(tmp_path / "pandas.parquet")
    writers = ["pyarrow", "pandas"]
    if not zone.startswith("+"):
        pl.from_arrow(table).write_parquet(tmp_path / "polars.parquet")
        writers.append("polars")
    bounds = (dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1))
    for writer in writers:
        path = tmp_path / f"{writer}.parquet"
        for data in (path, duffdp.Query(path, "SELECT w FROM data")):
            value = of(data, bounds, step=60).value
            assert value.replace(tzinfo=None) == NEAR_MIDNIGHT[1]
            assert value == zoned(NEAR_MIDNIGHT[1], zone)
            assert of(data, DAYS).value == NEAR_MIDNIGHT[1].date()
        naive = duffdp.median(path, column="n", epsilon=SURE, bounds=bounds, step=60).value
        assert naive == NEAR_MIDNIGHT[1]


def test_files_of_several_zones_and_odd_schemas_are_in_utc(tmp_path):
    for name, zone in (("a", "Europe/Berlin"), ("b", "America/New_York")):
        made = column([dt.datetime(2024, 7, 7, 23, tzinfo=dt.UTC)], zone)
        pq.write_table(made, tmp_path / f"{name}.parquet")
    assert of(tmp_path, DAYS).value == dt.date(2024, 7, 7)
    whole = pq.read_metadata(tmp_path / "a.parquet").metadata[b"ARROW:schema"]
    assert read_zones(whole) == {"w": "Europe/Berlin"}
    for cut in range(0, len(whole), 7):
        assert set(read_zones(whole[:cut]).values()) <= {"Europe/Berlin"[:cut]} | {"Europe/Berlin"}
    bits = random.Random(3)
    raw = base64.b64decode(whole)
    for _ in range(300):
        odd = bytearray(raw)
        odd[bits.randrange(len(odd))] ^= 1 << bits.randrange(8)
        assert isinstance(read_zones(base64.b64encode(bytes(odd))), dict)


@pytest.mark.parametrize("stranger", [0, 1, 5])
def test_no_record_decides_about_the_zone(stranger):
    """Objects have a zone each, and no column of them has one: bounds say it, UTC if they do
    not.
    """
    usual = [dt.datetime(2024, 7, 7, 12, tzinfo=ZoneInfo("Europe/Berlin"))] * 6
    usual[stranger] = dt.datetime(2024, 7, 7, 12, tzinfo=ZoneInfo("America/New_York"))
    frame = pd.DataFrame({"w": pd.Series(usual, dtype=object)})
    naive = (dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1))
    assert of(frame, naive, step=60).value == dt.datetime(2024, 7, 7, 10)
    tokyo = ZoneInfo("Asia/Tokyo")
    value = of(frame, [bound.replace(tzinfo=tokyo) for bound in naive], step=60).value
    assert value.replace(tzinfo=None) == dt.datetime(2024, 7, 7, 19)
    assert value.tzinfo is tokyo


@pytest.mark.parametrize(
    "zone", ["Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Africa/Casablanca", "+05:30"]
)
def test_a_clock_shows_what_python_says(zone):
    """Every offset of a hundred years, at the second before a change and at the change; the same
    for a number, an array, and columns of engines.
    """
    known = read_zone(zone)
    low, high = (
        (dt.datetime(year, 1, 1) - EPOCH) // dt.timedelta(microseconds=1) for year in (1930, 2040)
    )
    clock = Clock.of(known, low, high)
    rng = np.random.default_rng(7)
    some = rng.integers(low, high, 400).tolist()
    near = [start + move for start in clock.starts[1:] for move in (-1_000_000, -1, 0, 1)]
    moments = np.array([low, high, *near, *some])
    expected = [
        (
            (EPOCH.replace(tzinfo=dt.UTC) + dt.timedelta(microseconds=int(moment)))
            .astimezone(known)
            .replace(tzinfo=None)
            - EPOCH
        )
        // dt.timedelta(microseconds=1)
        for moment in moments
    ]
    assert clock.of_array(moments).tolist() == expected
    assert [clock.of_number(int(moment)) for moment in moments[:20]] == expected[:20]
    import narwhals as nw

    frame = pl.DataFrame({"w": moments})
    for native in (frame, frame.lazy(), duckdb.sql("SELECT * FROM frame")):
        lazy = (
            nw.from_native(native)
            .lazy()
            .select(clock_expression(nw, nw.col("w"), clock).alias("w"))
        )
        assert sorted(lazy.collect()["w"].to_list()) == sorted(expected)
    beyond = np.array([-(2**62), low - DAY, high + DAY, 2**62])
    ends = [clock.of_number(end) for end in (low, low, high, high)]
    assert clock.of_array(beyond).tolist() == ends


def test_a_zone_is_found_by_its_name():
    for name in ("Europe/Berlin", "UTC", "+02:00", "-09:30"):
        assert zone_name(read_zone(name)) == name
        assert zone_name(read_zone(read_zone(name))) == name
    assert read_zone("UTC+02:00") == read_zone("+0200") == dt.timezone(dt.timedelta(hours=2))
    for name in ("Europe/Berlim", "../../etc/passwd", "+99:00", "tzfile('x')", ""):
        with pytest.raises(UnsupportedData, match="is not known here"):
            read_zone(name)
    berlin = read_zone("Europe/Berlin")
    wall = (dt.datetime(2024, 3, 31, 2, 30) - EPOCH) // dt.timedelta(microseconds=1)
    later = dt.datetime(2024, 3, 31, 3, 30, tzinfo=berlin)
    assert Grid(later, later + dt.timedelta(hours=1), 60).value(0) == later
    assert instant(wall, berlin) == later.timestamp() * 1_000_000


@pytest.mark.parametrize(
    "domain",
    [
        Grid(*DAYS, 1),
        Grid(dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1), 60),
        Grid(dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1), 86_400),
        Grid(dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime(2025, 1, 1, tzinfo=dt.UTC), 60),
        Bins([dt.date(2024, 1, 1), dt.date(2024, 4, 1), dt.date(2024, 12, 31)]),
        Bins([dt.datetime(2024, 1, 1), dt.datetime(2024, 4, 1)]),
    ],
    ids=repr,
)
def test_what_is_public_says_the_zone(domain):
    """A release that is read again has the same candidates, in the same zone."""
    release = duffdp.count([1], epsilon=1)
    for name in ("Europe/Berlin", "-03:30"):
        located = domain.in_zone(name)
        fields = {**release.facts.to_dict(), **_domain_fields(located)}
        again = Facts.from_dict(fields).domain
        assert fields["zone"] == name
        assert (again, hash(again)) == (located, hash(located))
        if isinstance(domain, Grid):
            for index in (0, 100, located.size - 1):
                value = located.value(index)
                assert again.value(index) == value
                assert again.value(index).isoformat() == value.isoformat()
                assert located.index(value) == index
                assert located.find(value) == index
                assert located.place(value) == index


def _domain_fields(domain):
    from duffdp._facts import _from_domain, as_json

    return as_json(_from_domain(domain))


def test_bounds_without_a_zone_count_in_that_of_the_column():
    grid = Grid(dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1), 60).in_zone("Europe/Berlin")
    noon = dt.datetime(2024, 7, 7, 12)
    assert grid.index(noon) == grid.index(noon.replace(tzinfo=ZoneInfo("Europe/Berlin")))
    assert Grid(0, 10, 1).in_zone("Europe/Berlin") == Grid(0, 10, 1)


@pytest.mark.parametrize("step", [3600, 86_400])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_no_time_is_too_far_for_a_zone(zone, step):
    """Times of numpy reach beyond those of Python: they count as the nearer bound, silently."""
    grid = Grid(dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1), step).in_zone(zone)
    late = [np.datetime64("10001-01-01"), np.datetime64("200000-01-01"), dt.datetime.max]
    early = [np.datetime64("-0005-01-01"), np.datetime64("-200000-01-01"), dt.datetime.min]
    assert {grid.record_index(record) for record in late} == {grid.size - 1}
    assert {grid.record_index(record) for record in early} == {0}


@pytest.mark.parametrize("year", [1, 9999])
def test_bounds_at_the_ends_of_the_calendar_are_refused_or_printed(year):
    """Before anything is charged, and whatever the records are."""
    near = dt.datetime(year, 1, 1) if year == 1 else dt.datetime(year, 12, 31)
    for zone in ("Asia/Tokyo", "America/New_York"):
        bounds = sorted([near, near.replace(year=5000)])
        try:
            grid = Grid(*bounds, 3600).in_zone(zone)
        except BoundsError:
            continue
        assert all(grid.value(index) is not None for index in (0, grid.size - 1))
        days = Grid(*bounds, 86_400).in_zone(zone)
        assert all(days.value(index) is not None for index in (0, days.size - 1))


def test_a_zone_that_nobody_knows_is_said_before_anything_is_charged(tmp_path):
    class Own(dt.tzinfo):
        def utcoffset(self, moment):
            return dt.timedelta(hours=1)

        def dst(self, moment):
            return dt.timedelta(0)

        def tzname(self, moment):
            return "own"

    frame = pd.DataFrame({"w": pd.Series([pd.Timestamp(2024, 7, 7)]).dt.tz_localize(Own())})
    ledger = duffdp.Ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises(DuffError, match="is not known here"):
        duffdp.median(frame, column="w", epsilon=1, bounds=DAYS, ledger=ledger)
    assert ledger.spent() == 0


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_record_moves_nothing_but_itself(unit):
    """Two tables that differ in one instant, at the ends of all that a type holds and around a
    change of clocks: no error, and counts that differ in that record alone.
    """
    grid = Grid(*DAYS, 1)
    each = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    change = int(dt.datetime(2024, 3, 31, 1, tzinfo=dt.UTC).timestamp()) * each
    usual = [change, change + 86_400 * each, change - 1]
    kind = pa.timestamp(unit, tz="America/New_York")
    makers = [lambda table: table]
    if unit != "s":  # which polars does not have
        makers += [pl.from_arrow, lambda table: pl.from_arrow(table).lazy()]
    for odd in (np.iinfo(np.int64).min + 1, np.iinfo(np.int64).max, 0, change):
        for make in makers:
            fewer, more = (
                _tally(make(pa.table({"w": pa.array(some, pa.int64()).cast(kind)})), grid)
                for some in (usual, [*usual, odd])
            )
            assert (more - fewer).total() == 1
            assert not fewer - more


def _tally(frame, grid):
    (group,) = engines.open_groups(frame, grid, "w")
    days, counts = group.value_counts()
    return Counter(dict(zip(days.tolist(), counts.tolist(), strict=True)))


# ------------------------------------------------------------------------------
# files of text


def text_file(folder, zone, fields, date_format=None):
    path = folder / "seen.csv"
    path.write_text("\n".join(["seen,ward", *(f"{field},ER" for field in fields)]) + "\n")
    return duffdp.TextFile(path, types={"seen": f"timestamp[{zone}]"}, date_format=date_format)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def test_a_file_of_text_can_say_its_zone(zone, tmp_path):
    """What clocks showed is the instant that Python takes it for; an hour that they show twice is
    the first one, and one that they never show is as much later as they were put forward.
    """
    known = ZoneInfo(zone)
    walls = [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=15 * at) for at in range(366 * 96)]
    walls += [dt.datetime(year, 7, 1, 12) for year in (1, 1700, 1893, 1945, 2199, 2300, 9998)]
    data = text_file(tmp_path, zone, [wall.isoformat() for wall in walls])
    opened = duffdp._engines.files.paths.open_path(data).columns(ReadRequest(["seen"]))
    assert opened.zones == {"seen": zone}
    sql = opened.rows().project("epoch_us(seen)")
    expected = [instant((wall - EPOCH) // dt.timedelta(microseconds=1), known) for wall in walls]
    assert sorted(row[0] for row in sql.fetchall()) == sorted(expected)


@pytest.mark.parametrize("source", ["csv", "jsonl", "xlsx", "query", "format"])
def test_answers_from_text_are_in_its_zone(source, tmp_path):
    noon = dt.datetime(2024, 7, 7, 12)
    fields = ["2024-07-07 12:00", "2024-07-07T10:00Z", " 2024-07-07 06:00:00-04:00 ", "x"]
    data = text_file(tmp_path, "Europe/Berlin", fields)
    if source == "format":
        data = text_file(tmp_path, "Europe/Berlin", ["07.07.2024 12:00"] * 3, "%d.%m.%Y %H:%M")
    elif source == "jsonl":
        (tmp_path / "seen.jsonl").write_text("".join(f'{{"seen": "{one}"}}\n' for one in fields))
        data = duffdp.TextFile(tmp_path / "seen.jsonl", types=data.types)
    elif source == "xlsx":
        frame = pd.DataFrame({"seen": [noon, *fields[1:]]})
        frame.to_excel(tmp_path / "seen.xlsx", index=False)
        data = duffdp.TextFile(tmp_path / "seen.xlsx", types=data.types)
    elif source == "query":
        data = duffdp.Query(data, "SELECT seen FROM data")
    how = {"column": "seen", "epsilon": SURE, "mechanism": "duff"}
    for q in (0, 1):
        found = duffdp.quantile(
            data, q, bounds=(dt.datetime(2024, 7, 1), dt.datetime(2024, 8, 1)), step=60, **how
        )
        assert found.value.isoformat() == "2024-07-07T12:00:00+02:00"
    kept = "seen >= '2024-07-07 12:00' AND seen < '2024-07-07 12:01'"
    assert duffdp.count(data, where=kept, epsilon=SURE).value == 3


def test_a_zone_of_text_is_checked_before_a_file_is_looked_for(tmp_path, call):
    for zone in ("Europe/Berlinn", "x'y", "Nowhere", "+02:00"):
        with pytest.raises(DuffError, match="zone"):
            duffdp.TextFile("nowhere.csv", types={"seen": f"timestamp[{zone}]"})
    for said in ("timestamp[]", "timestamp[a]b", "date[Europe/Berlin]", ["timestamp"]):
        with pytest.raises(DuffError, match="the type of 'seen' must be one of"):
            duffdp.TextFile("nowhere.csv", types={"seen": said})
    data = text_file(tmp_path, "Europe/Berlin", ["2024-07-07 12:00"] * 9)
    asked = (
        "-c",
        "seen",
        "--bounds",
        "2024-07-01T00",
        "2024-08-01T00",
        "--step",
        "3600",
        "-e",
        SURE,
    )
    types = "seen=timestamp[Europe/Berlin]"
    code, out, _ = call("median", data.path, *asked, "--types", types, "-f", "csv")
    assert code == 0
    assert "2024-07-07" in out
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'source = "seen.csv"\ntypes = { seen = "timestamp[Europe/Berlin]" }\nepsilon = 1e6\n'
        '[[release]]\nname = "most"\nstatistic = "median"\ncolumn = "seen"\nstep = 3600\n'
        "bounds = [2024-07-01T00:00:00, 2024-08-01T00:00:00]\n"
    )
    found = duffdp.Plan.from_toml(plan).run()["most"]
    assert found.value.isoformat() == "2024-07-07T12:00:00+02:00"


def test_moments_are_those_of_this_call():
    """Equal moments of different zones, and both of an hour that comes twice, are not taken for
    one another because of an earlier call."""
    berlin = ZoneInfo("Europe/Berlin")
    first = dt.datetime(2020, 10, 25, 2, 30, tzinfo=berlin)
    end, given = dt.datetime(2020, 10, 26, tzinfo=berlin), {"step": dt.timedelta(hours=1)}
    for fold in (0, 1, 0):
        begin = first.replace(fold=fold)
        found = duffdp.median([first] * 99, bounds=(begin, end), epsilon=50, **given).value
        assert found.astimezone(dt.UTC) == begin.astimezone(dt.UTC)
        assert (Bins([begin, end]) == Bins([first, end])) == (fold == 0)
        inside = duffdp.share([first] * 99, between=(begin, end), epsilon=50).value
        assert round(inside) == 1 - fold
    for zone in (dt.UTC, berlin, dt.UTC):
        ends = [moment.astimezone(zone) for moment in (first, end)]
        assert duffdp.median([], bounds=ends, epsilon=1, **given).value.tzinfo == zone
        assert repr(duffdp.histogram([], bins=ends, epsilon=1).domain) == repr(Bins(ends))
