"""Every container and file that the adversary puts records into, with the ordinary and the nasty records of each.

A record is text that can be printed and used again: expressions for values in memory, bytes for a line of a file.
"""

from __future__ import annotations

import datetime as dt
import functools
import gzip
import math
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse

from engines import ENGINES, arrow

COLUMNS = ("x", "g", "p")  # a value, a group, a person
NAMES = {
    "np": np, "pd": pd, "pa": pa, "dt": dt, "Decimal": Decimal, "Fraction": Fraction, "inf": math.inf, "nan": math.nan,
}  # fmt: skip


@functools.lru_cache(maxsize=4096)
def worth(expression: str) -> Any:
    """What an expression stands for."""
    return eval(expression, NAMES)


# Values of any type, as lists and columns of objects hold them.
NUMBERS = ["0", "1", "5", "17", "60", "119", "120"]
NASTY_NUMBERS = [
    "None", "nan", "inf", "-inf", "-0.0", "1.5", "1e308", "5e-324", "-3", "2**53 + 1", "2**63", "-(2**63) - 1", "2**64",
    "10**400", "'7'", "'word'", "''", "'#'", "'\\x00'", "b'x'", "True", "Decimal('1.5')", "Decimal('NaN')",
    "Decimal('sNaN')", "Decimal('Infinity')", "Decimal('1e400000')", "Fraction(1, 3)", "complex(1, 2)", "[]", "[1]", "{}",
    "(1, 2)", "np.float32(1.5)", "np.int8(3)", "np.uint64(2**64 - 1)", "np.longdouble(1) * 2**63", "np.longdouble('1e4000')",
    "np.datetime64('NaT')", "np.datetime64('2024-01-01')", "np.timedelta64(1)", "np.array([1, 2])", "np.array(3)",
    "np.ma.masked", "np.bool_(True)", "np.str_('a')", "pd.NA", "pd.NaT", "pd.Timestamp('2024-01-01')", "pd.Interval(0, 1)",
    "dt.date(2024, 1, 1)", "dt.datetime.max", "dt.timedelta(1)", "dt.time(1)", "int", "object", "range(3)", "...",
]  # fmt: skip
DATES = ["dt.date(2024, 1, 1)", "dt.date(2024, 2, 29)", "dt.date(2023, 12, 31)"]
MOMENTS = ["dt.datetime(2024, 1, 1, 12)", "dt.datetime(2024, 2, 29)", "dt.datetime(2023, 12, 31, 23, 59, 59, 999999)"]
NASTY_DATES = [
    "None", "dt.date.min", "dt.date.max", "dt.datetime.min", "dt.datetime.max", "nan", "1", "1.5", "'2024-01-01'", "''", "pd.NaT",
    "dt.datetime.max.replace(tzinfo=dt.timezone(-dt.timedelta(hours=14)))", "np.datetime64('NaT')", "b''", "10**400",
    "dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=14)))", "np.datetime64('2024-01-01')", "[]",
    "np.datetime64('2024-01-01T00', 'ns')", "np.datetime64('300000-01-01')", "pd.Timestamp('2024-01-01', tz='UTC')",
    "dt.datetime(2024, 1, 1, tzinfo=dt.UTC)", "dt.time(1)", "dt.timedelta(1)", "True", "pd.Period('2024')",
]  # fmt: skip
GROUPS = ["'a'", "'b'", "'c'"]
NASTY_GROUPS = ["None", "nan", "''", "'A'", "'a '", "1", "b'a'", "[]", "'a\\x00'", "True", "pd.NA", "'\\ud800'", "('a',)", "dt.date(2024, 1, 1)"]  # fmt: skip
PEOPLE = ["'p1'", "'p2'", "'p3'", "'p4'"]
NASTY_PEOPLE = ["None", "nan", "''", "7", "7.0", "[]", "{}", "pd.NA", "pd.NaT", "-0.0", "2**70", "b'p1'", "object()", "('p1',)", "Decimal('sNaN')"]  # fmt: skip
# kind of value: ordinary ones, nasty ones
OBJECTS = {
    "numbers": (NUMBERS, NASTY_NUMBERS),
    "fractions": (["0.5", "1.0", "33.3", "99.9"], NASTY_NUMBERS),
    "dates": (DATES, NASTY_DATES),
    "moments": (MOMENTS, NASTY_DATES),
    "words": (GROUPS, NASTY_GROUPS + NASTY_NUMBERS),
}


def _objects(records: Sequence[tuple[str, ...]], place: int) -> Any:
    values = np.empty(len(records), dtype=object)
    for i, record in enumerate(records):
        values[i] = worth(record[place])
    return values


def _object_frame(records: Sequence[tuple[str, ...]]) -> Any:
    columns = {name: pd.Series(_objects(records, i), dtype=object) for i, name in enumerate(COLUMNS)}
    return pd.DataFrame(columns)


IN_MEMORY: dict[str, Callable[[Any], Any]] = {
    "list": lambda records: [worth(x) for x, *_ in records],
    "tuple": lambda records: tuple(worth(x) for x, *_ in records),
    "object array": lambda records: _objects(records, 0),
    "object series": lambda records: pd.Series(_objects(records, 0), dtype=object),
    "object frame": _object_frame,
}

# Declared types: ordinary and nasty values that fit them. Dates and times are given as days or ticks.
_DAY = 86_400_000_000
TYPES: dict[str, tuple[Any, list[str], list[str]]] = {
    "int64": (pa.int64(), NUMBERS, ["None", "2**63 - 1", "-2**63", "2**53 + 1", "-3"]),
    "int8": (pa.int8(), NUMBERS, ["None", "127", "-128"]),
    "uint64": (pa.uint64(), NUMBERS, ["None", "2**64 - 1", "2**63"]),
    "float64": (pa.float64(), ["0.5", "1.0", "60.0"], ["None", "nan", "inf", "-inf", "-0.0", "1e308", "5e-324", "2.0**63"]),
    "float32": (pa.float32(), ["0.5", "1.0", "60.0"], ["None", "nan", "inf", "-inf", "-0.0", "3e38", "1e-45"]),
    "bool": (pa.bool_(), ["True", "False"], ["None"]),
    "decimal": (pa.decimal128(38, 2), ["Decimal('1.50')", "Decimal('60')"], ["None", "Decimal('9' * 36)", "-Decimal('9' * 36)"]),
    "decimal256": (pa.decimal256(76, 2), ["Decimal('1.50')", "Decimal('60')"], ["None", "Decimal('9' * 74)"]),
    "date": (pa.date32(), ["19723", "19782"], ["None", "2**31 - 1", "-2**31 + 1", "-2**31", "-719162", "2932896", "200000000"]),
    "moment": (pa.timestamp("us"), [f"19723 * {_DAY}", f"19782 * {_DAY} + 1"],
               ["None", "2**63 - 1", "-2**63 + 1", "-1", f"2932896 * {_DAY}", f"-719162 * {_DAY}", f"100000000 * {_DAY}"]),
    "moment ns": (pa.timestamp("ns"), [f"19723 * {_DAY} * 1000", f"19782 * {_DAY} * 1000 + 1"], ["None", "2**63 - 1", "-2**63 + 1", "-1"]),
    "moment s": (pa.timestamp("s"), [f"19723 * {_DAY} // 10**6", f"19782 * {_DAY} // 10**6"], ["None", "2**63 - 1", "-2**63 + 1", "2**50"]),
    "moment utc": (pa.timestamp("us", "UTC"), [f"19723 * {_DAY}", f"19782 * {_DAY} + 1"],
                   ["None", "2**63 - 1", "-2**63 + 1", f"2932896 * {_DAY} + {_DAY} - 1", f"-719162 * {_DAY}"]),
    "moment zoned": (pa.timestamp("us", "Pacific/Apia"), [f"19723 * {_DAY}"], ["None", f"2932896 * {_DAY} + {_DAY} - 1", f"-719162 * {_DAY}"]),
    "string": (pa.string(), GROUPS, ["None", "''", "'A'", "'a '", "'a\\x00'", "'#'", "'\"'", "'x' * 70000", "'nan'"]),
    "large string": (pa.large_string(), GROUPS, ["None", "''", "'A'"]),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), GROUPS, ["None", "'new'", "''"]),
    "person": (pa.int64(), ["1", "2", "3"], ["None", "0", "-1", "2**63 - 1", "2**53 + 1"]),
    "float person": (pa.float64(), ["1.0", "2.0", "3.0"], ["None", "nan", "-0.0", "0.0", "inf"]),
}  # fmt: skip
WITHOUT_NULLS = {"pandas", "dask", "array", "array series"}  # a null would be another type there
LISTED = {"array", "masked", "array series", "polars series", "arrow array", "nullable series"}  # one column without a name
_NULLABLE = {pa.int64(): pd.Int64Dtype(), pa.int8(): pd.Int8Dtype(), pa.uint64(): pd.UInt64Dtype(), pa.float64(): pd.Float64Dtype(),
             pa.float32(): pd.Float32Dtype(), pa.bool_(): pd.BooleanDtype(), pa.string(): pd.StringDtype()}  # fmt: skip


def columns_of(records: Sequence[tuple[str, ...]], types: Sequence[str]) -> dict[str, tuple[Any, list[Any]]]:
    """Columns with their arrow types, as `engines.ENGINES` takes them."""
    return {
        name: (TYPES[types[i]][0], [worth(record[i]) for record in records]) for i, name in enumerate(COLUMNS) if i < len(types)
    }


def _array(columns: Any) -> Any:
    return arrow(columns)["x"].to_numpy()


def _masked(columns: Any) -> Any:
    column = arrow(columns)["x"].combine_chunks()
    missing = column.is_null().to_numpy(zero_copy_only=False)
    filled = column.drop_null().to_numpy(zero_copy_only=False)
    data = np.zeros(len(column), dtype=filled.dtype)
    data[~missing] = filled
    return np.ma.array(data, mask=missing)


def _duckdb_file(columns: Any, folder: Path) -> str:
    path = folder / "base.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.register("given", arrow(columns))
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    return f"{path}::t"


def _parquet(columns: Any, folder: Path, parts: int = 1) -> str:
    table, place = arrow(columns), folder / "parquet"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    size = -(-len(table) // parts)
    for part in range(parts):
        pq.write_table(table.slice(part * size, size), place / f"part{part}.parquet")
    return str(place / "*.parquet" if parts > 1 else place / "part0.parquet")


def _hive(columns: Any, folder: Path) -> str:
    """Folders by group, the known ones always there."""
    table, place = arrow(columns), folder / "hive"
    shutil.rmtree(place, ignore_errors=True)
    groups = table["g"].to_pylist()
    for group in {"a", "b", *(g for g in groups if g and g.isalpha() and len(g) < 99)}:
        part = place / f"g={group}"
        part.mkdir(parents=True)
        pq.write_table(table.filter(pa.array([g == group for g in groups], pa.bool_())).drop(["g"]), part / "part.parquet")
    return str(place)


TYPED: dict[str, Callable[[Any, Path], Any]] = {
    **{name: (lambda columns, _, make=make: make(columns)) for name, make in ENGINES.items()},
    "array": lambda columns, _: _array(columns),
    "masked": lambda columns, _: _masked(columns),
    "array series": lambda columns, _: pd.Series(_array(columns)),
    "polars series": lambda columns, _: pl.from_arrow(arrow(columns))["x"],
    "arrow array": lambda columns, _: arrow(columns)["x"],
    "nullable": lambda columns, _: arrow(columns).to_pandas(types_mapper=_NULLABLE.get),
    "nullable series": lambda columns, _: arrow(columns).to_pandas(types_mapper=_NULLABLE.get)["x"],
    "duckdb file": _duckdb_file,
    "parquet": _parquet,
    "parquet pattern": lambda columns, folder: _parquet(columns, folder, 2),
    "hive": _hive,
}

# Lines of files. A line is a record.
LINES = {
    "numbers": [b"1,a,p1", b"5,b,p2", b"17,a,p3", b"60,c,p1", b"119,b,p4"],
    "ids": [b"1,a,10000000000000000001", b"5,b,10000000000000000002", b"17,a,10000000000000000003"],
    "codes": [b"1,1,1", b"5,2,2", b"17,1,3", b"60,02,4"],
    "fractions": [b"0.5,a,p1", b"33.25,b,p2", b"99.9,a,p3"],
    "dates": [b"2024-01-01,a,p1", b"2024-02-29,b,p2", b"2023-12-31,a,p3"],
    "words": [b"a,a,p1", b"b,b,p2", b"a,a,p3"],
}
NASTY_LINES = [
    b"", b",", b",,", b"1", b"1,a", b"1,a,p1,more", b"1,a,p1,more,and,more,fields,1,2,3", b"#", b"#1,a,p1", b"# 1,a,p1", b"//,a,p1", b'"1",a,p1',
    b'"1","a","p1"', b'"1,a,p1', b'1,"a,p1', b'1,a,"p1', b'"', b'""', b'"""",a,p1', b'1,"a""b",p1', b'1,"a,b",p1', b'1,a"b,p1', b"'1',a,p1", b"'1,a,p1",
    b"1;a;p1", b"1\ta\tp1", b"1|a|p1", b"1;2;3;4;5;6", b"x,g,p", b"word,a,p1", b"NaN,a,p1", b"nan,a,p1", b"inf,a,p1", b"-inf,a,p1", b"infinity,a,p1",
    b"1e400,a,p1", b"-0.0,a,p1", b"1.5,a,p1", b"9" * 40 + b",a,p1", b"9223372036854775808,a,p1", b"1" + b"0" * 400 + b",a,p1", b"0x10,a,p1", b"1_000,a,p1",
    b" 1 ,a,p1", b"+1,a,p1", b"1.,a,p1", b".5,a,p1", b'"1,000",a,p1', b"true,a,p1", b"NULL,a,p1", b"None,a,p1", b"NA,NA,NA", b"?,?,?", b"-,a,p1", b"2024-01-01,a,p1",
    b"2024-01-01 12:00:00,a,p1", b"2024-13-45,a,p1", b"31/12/2023,a,p1", b"12/31/2023,a,p1", b"01/02/2023,a,p1", b"20240101,a,p1", b"epoch,a,p1",
    b"9999-12-31,a,p1", b"294248-01-01,a,p1", b"0001-01-01 (BC),a,p1", b"2024-01-01T00:00:00+14:00,a,p1", b"1,a,guest", b"1,a,1", b"1,a,1.0", b"1,a,",
    b"1,,p1", b"1,A,p1", b"1, a,p1", b"1,true,p1", b"1,1.0,p1", b"1,01,p1", b"1,2024-01-01,p1", b"\x00", b"1\x00,a,p1", b"1,a\x00,p1", b"\xff\xfe,a,p1",
    b"1,\xe9,p1", b"1,a,\xff", b"\xef\xbb\xbf1,a,p1", b"1\x1a,a,p1", b"1,a,p1\r", b"1\r2,a,p1", b"\x0c", b"\x1b[31m,a,p1", b"\\,a,p1", b'\\"1,a,p1', b"1,a,p\\",
    b"x" * 100_000 + b",a,p1", b"1," + b"a" * 100_000 + b",p1", b'"' + b"x" * 100_000 + b",a,p1", b"," * 3000, b"{},a,p1", b"[1],a,p1",
]  # fmt: skip
OBJECT_LINES = {
    "numbers": [b'{"x":1,"g":"a","p":"p1"}', b'{"x":5,"g":"b","p":"p2"}', b'{"x":60,"g":"a","p":"p3"}'],
    "codes": [b'{"x":1,"g":1,"p":1}', b'{"x":5,"g":2,"p":2}', b'{"x":60,"g":1,"p":3}'],
    "fractions": [b'{"x":0.5,"g":"a","p":"p1"}', b'{"x":33.25,"g":"b","p":"p2"}'],
    "dates": [b'{"x":"2024-01-01","g":"a","p":"p1"}', b'{"x":"2024-02-29","g":"b","p":"p2"}'],
    "words": [b'{"x":"a","g":"a","p":"p1"}', b'{"x":"b","g":"b","p":"p2"}'],
}
_MEMBER = [b'"word"', b"null", b'"7"', b"7.5", b"1e400", b"-0.0", b"9" * 40, b"true", b"[]", b"[1]", b"{}", b'{"a":1}', b'""', b'"#"', b"NaN", b"9223372036854775808",
           b'"2024-01-01"', b'"2024-01-01 10:00:00"', b'"31/12/2023"', b'"infinity"', b'"\\u0000"', b'"\\ud800"', b'"' + b"x" * 100_000 + b'"', b'"\xff"', b"{", b"'"]  # fmt: skip
NASTY_OBJECT_LINES = [
    b"", b"{}", b"[]", b"null", b"1", b'"word"', b"{", b'{"x":1', b"not json", b"\x00", b"\xff", b'{"x":1}', b'{"y":1}', b'{"x":1,"x":2,"g":"a","p":"p1"}',
    b'{"X":1,"g":"a","p":"p1"}', b'{"x":1,"g":"a","p":"p1","more":{"deep":[1,2]}}', b'[{"x":1,"g":"a","p":"p1"}]', b'{"x":1,"g":"a","p":"p1"}{"x":2}', b"# x",
    *(b'{"x":' + m + b',"g":"a","p":"p1"}' for m in _MEMBER), *(b'{"x":1,"g":' + m + b',"p":"p1"}' for m in _MEMBER), *(b'{"x":1,"g":"a","p":' + m + b"}" for m in _MEMBER),
]  # fmt: skip


def _lines(ending: str, header: bytes, separator: bytes = b",", parts: int = 1) -> Callable[[Any, Path], str]:
    def make(lines: Sequence[bytes], folder: Path) -> str:
        place = folder / "text"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        size = -(-len(lines) // parts) or 1
        for part in range(parts):
            own = [header, *lines[part * size : (part + 1) * size]] if header else lines[part * size : (part + 1) * size]
            text = b"".join(line.replace(b",", separator) + b"\n" for line in own)
            (place / f"part{part}{ending}").write_bytes(gzip.compress(text, 1) if ending.endswith(".gz") else text)
        return str(place / (f"*{ending}" if parts > 1 else f"part0{ending}"))

    return make


TEXT: dict[str, Callable[[Any, Path], str]] = {
    "csv": _lines(".csv", b"x,g,p"),
    "csv.gz": _lines(".csv.gz", b"x,g,p"),
    "csv with semicolons": _lines(".csv", b"x,g,p", b";"),
    "tsv": _lines(".tsv", b"x,g,p", b"\t"),
    "csv pattern": _lines(".csv", b"x,g,p", parts=2),
    "jsonl": _lines(".jsonl", b""),
    "jsonl pattern": _lines(".jsonl", b"", parts=2),
    "ndjson": _lines(".ndjson", b""),
}
JSON = {"jsonl", "jsonl pattern", "ndjson"}


# SQLite columns hold any type, whatever is declared.
NASTY_CELLS = ["None", "1.5", "2**63 - 1", "-2**63", "1e308", "inf", "'word'", "'7'", "''", "' 7 '", "'nan'", "'1e400'", "b'x'", "b''", "'\\x00'", "'2024-01-01'", "-0.0", "'x' * 70000", "7", "'infinity'", "'9' * 40"]  # fmt: skip


def _sqlite(records: Sequence[tuple[str, ...]], folder: Path, declared: Sequence[str]) -> str:
    path = folder / "base.sqlite"
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    base.execute(f"CREATE TABLE t ({', '.join(f'{n} {kind}' for n, kind in zip(COLUMNS, declared, strict=True))})")
    base.executemany("INSERT INTO t VALUES (?, ?, ?)", [[worth(cell) for cell in record] for record in records])
    base.commit()
    base.close()
    return f"{path}::t"


# Edges: pairs of nodes in memory, or lines of a file.
EDGES = ["(0, 1)", "(1, 2)", "(0, 2)", "(2, 3)", "(3, 4)"]
NASTY_EDGES = ["(1, 1)", "(1, 0)", "(-1, 2)", "(7, 8)", "(2**62, 3)", "(0, 1)", "(9, 9)"]
NASTY_PAIRS = [*NASTY_EDGES, "(2**63, 1)", "(10**400, 1)", "(0.5, 1)", "('a', 1)", "(None, 1)", "(nan, 1)", "(1,)", "(1, 2, 3)", "()", "1", "None", "(True, 2)"]  # fmt: skip
EDGE_LINES = [b"0,1", b"1,2", b"0,2", b"2,3", b"3,4"]
NASTY_EDGE_LINES = [b"", b"#", b"# 1,2", b"1,1", b"-1,2", b"7,8", b"9999999999999999999,1", b"a,b", b"1", b"1,2,3", b"1.5,2", b"1,", b",", b'"1","2"', b'"1,2',
                    b"nan,1", b" 1 , 2 ", b"1;2", b"\xff,1", b"\x00,1", b"1,2\r", b"source,target", b"1" * 5000 + b",2", b"1e3,2", b"0x1,2", b"1 2"]  # fmt: skip


def _pairs(records: Sequence[str]) -> Any:
    return np.array([worth(pair) for pair in records], dtype=np.int64).reshape(-1, 2)


def _matrix(records: Sequence[str]) -> Any:
    inside = [pair for pair in map(worth, records) if min(pair) >= 0 and max(pair) < 10]
    rows, columns = np.array(inside, dtype=np.int64).reshape(-1, 2).T
    return scipy.sparse.coo_matrix((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=(10, 10))


GRAPHS: dict[str, Callable[[Any, Path], Any]] = {
    "edges list": lambda records, _: [worth(pair) for pair in records],
    "edges array": lambda records, _: _pairs(records),
    "edges pandas": lambda records, _: pd.DataFrame(_pairs(records), columns=["a", "b"]),
    "edges polars": lambda records, _: pl.DataFrame(_pairs(records), schema={"a": pl.Int64, "b": pl.Int64}),
    "edges matrix": lambda records, _: _matrix(records),
    "edges csv": _lines(".csv", b""),
    "edges csv with header": _lines(".csv", b"source,target"),
}
GRAPH_FILES = {"edges csv", "edges csv with header"}


def build(container: str, records: Sequence[Any], types: Sequence[str], folder: Path) -> Any:
    """The records in their container; files are written into the folder."""
    if container in IN_MEMORY:
        return IN_MEMORY[container](records)
    if container in TEXT:
        return TEXT[container](records, folder)
    if container in GRAPHS:
        return GRAPHS[container](records, folder)
    if container == "sqlite":
        return _sqlite(records, folder, types)
    return TYPED[container](columns_of(records, types), folder)
