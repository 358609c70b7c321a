"""Every container and file that records are put into, built from text that can be printed."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import scipy.sparse
import zstandard

import collated
import duffdp
from engines import ENGINES, arrow
from nasty import TYPES, worth

COLUMNS = ("x", "g", "p")  # a value, a group, a person


def _objects(records: Sequence[tuple[str, ...]], place: int) -> Any:
    values = np.empty(len(records), dtype=object)
    for i, record in enumerate(records):
        values[i] = worth(record[place])
    return values


def _object_frame(records: Sequence[tuple[str, ...]]) -> Any:
    columns = {
        name: pd.Series(_objects(records, i), dtype=object) for i, name in enumerate(COLUMNS)
    }
    return pd.DataFrame(columns)


IN_MEMORY: dict[str, Callable[[Any], Any]] = {
    "list": lambda records: [worth(x) for x, *_ in records],
    "tuple": lambda records: tuple(worth(x) for x, *_ in records),
    "object array": lambda records: _objects(records, 0),
    "object series": lambda records: pd.Series(_objects(records, 0), dtype=object),
    "object frame": _object_frame,
}

WITHOUT_NULLS = {"pandas", "dask", "array", "array series"}  # a null would be another type there
LISTED = {
    "array",
    "masked",
    "array series",
    "polars series",
    "arrow array",
    "nullable series",
}  # one column without a name
_NULLABLE = {
    pa.int64(): pd.Int64Dtype(),
    pa.int8(): pd.Int8Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.float32(): pd.Float32Dtype(),
    pa.bool_(): pd.BooleanDtype(),
    pa.string(): pd.StringDtype(),
}


def columns_of(
    records: Sequence[tuple[str, ...]], types: Sequence[str]
) -> dict[str, tuple[Any, list[Any]]]:
    """Columns with their arrow types, as `engines.ENGINES` takes them."""
    return {
        name: (TYPES[types[i]].arrow, [worth(record[i]) for record in records])
        for i, name in enumerate(COLUMNS)
        if i < len(types)
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


def _arrow_file(columns: Any, folder: Path) -> str:
    path = str(folder / "rows.arrow")
    feather.write_feather(arrow(columns), path)
    return path


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
        pq.write_table(
            table.filter(pa.array([g == group for g in groups], pa.bool_())).drop(["g"]),
            part / "part.parquet",
        )
    return str(place)


def _spark(columns: Any, _: Path) -> Any:
    try:
        return ENGINES["spark"](columns)
    except Exception as error:  # it has errors of its own for types that it does not know
        raise TypeError("Spark does not take these columns") from error


def _queried(columns: Any, data: Any) -> duffdp.Query:
    """What needs an expression for every column, so that each record goes through one."""
    parts = (f"CASE WHEN {name} IS NOT NULL THEN {name} END AS {name}" for name in columns)
    return duffdp.Query(data, f"SELECT {', '.join(parts)} FROM data WHERE x = x OR x IS NULL")


TYPED: dict[str, Callable[[Any, Path], Any]] = {
    **{name: (lambda columns, _, make=make: make(columns)) for name, make in ENGINES.items()},
    "spark": _spark,
    "array": lambda columns, _: _array(columns),
    "masked": lambda columns, _: _masked(columns),
    "array series": lambda columns, _: pd.Series(_array(columns)),
    "polars series": lambda columns, _: pl.from_arrow(arrow(columns))["x"],
    "arrow array": lambda columns, _: arrow(columns)["x"],
    "nullable": lambda columns, _: arrow(columns).to_pandas(types_mapper=_NULLABLE.get),
    "nullable series": lambda columns, _: arrow(columns).to_pandas(types_mapper=_NULLABLE.get)["x"],
    "duckdb file": _duckdb_file,
    "parquet": _parquet,
    "arrow file": _arrow_file,
    "parquet pattern": lambda columns, folder: _parquet(columns, folder, 2),
    "hive": _hive,
    "queried table": lambda columns, _: _queried(columns, arrow(columns)),
    "queried parquet": lambda columns, folder: _queried(columns, _parquet(columns, folder)),
}


def _lines(
    ending: str, header: bytes, separator: bytes = b",", parts: int = 1
) -> Callable[[Any, Path], str]:
    def make(lines: Sequence[bytes], folder: Path) -> str:
        place = folder / "text"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        size = -(-len(lines) // parts) or 1
        for part in range(parts):
            own = (
                [header, *lines[part * size : (part + 1) * size]]
                if header
                else lines[part * size : (part + 1) * size]
            )
            text = b"".join(line.replace(b",", separator) + b"\n" for line in own)
            (place / f"part{part}{ending}").write_bytes(
                gzip.compress(text, 1)
                if ending.endswith(".gz")
                else zstandard.compress(text)
                if ending.endswith(".zst")
                else text
            )
        return str(place / (f"*{ending}" if parts > 1 else f"part0{ending}"))

    return make


TEXT: dict[str, Callable[[Any, Path], str]] = {
    "csv": _lines(".csv", b"x,g,p"),
    "csv.gz": _lines(".csv.gz", b"x,g,p"),
    "csv.zst": _lines(".csv.zst", b"x,g,p"),
    "csv with semicolons": _lines(".csv", b"x,g,p", b";"),
    "tsv": _lines(".tsv", b"x,g,p", b"\t"),
    "csv pattern": _lines(".csv", b"x,g,p", parts=2),
    "jsonl": _lines(".jsonl", b""),
    "jsonl pattern": _lines(".jsonl", b"", parts=2),
    "ndjson": _lines(".ndjson", b""),
}
JSON = {"jsonl", "jsonl pattern", "ndjson"}


def _sqlite(records: Sequence[tuple[str, ...]], folder: Path, declared: Sequence[str]) -> str:
    path = folder / "base.sqlite"
    path.unlink(missing_ok=True)
    base = sqlite3.connect(path)
    base.execute(
        "CREATE TABLE t "
        f"({', '.join(f'{n} {kind}' for n, kind in zip(COLUMNS, declared, strict=True))})"
    )
    base.executemany(
        "INSERT INTO t VALUES (?, ?, ?)", [[worth(cell) for cell in record] for record in records]
    )
    base.commit()
    base.close()
    return f"{path}::t"


def _pairs(records: Sequence[str]) -> Any:
    return np.array([worth(pair) for pair in records], dtype=np.int64).reshape(-1, 2)


def _matrix(records: Sequence[str]) -> Any:
    inside = [pair for pair in map(worth, records) if min(pair) >= 0 and max(pair) < 10]
    rows, columns = np.array(inside, dtype=np.int64).reshape(-1, 2).T
    return scipy.sparse.coo_matrix(
        (np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=(10, 10)
    )


GRAPHS: dict[str, Callable[[Any, Path], Any]] = {
    "edges list": lambda records, _: [worth(pair) for pair in records],
    "edges array": lambda records, _: _pairs(records),
    "edges pandas": lambda records, _: pd.DataFrame(_pairs(records), columns=["a", "b"]),
    "edges polars": lambda records, _: pl.DataFrame(
        _pairs(records), schema={"a": pl.Int64, "b": pl.Int64}
    ),
    "edges matrix": lambda records, _: _matrix(records),
    "edges csv": _lines(".csv", b""),
    "edges csv with header": _lines(".csv", b"source,target"),
}
COLLATED = {f"collated {name}": make for name, make in collated.TABLES.items()}
GRAPH_FILES = {"edges csv", "edges csv with header"}
PATHS = {*TEXT, *GRAPH_FILES, "sqlite", "duckdb file", "parquet", "parquet pattern", "hive"}
PATHS |= {"arrow file"}


def build(container: str, records: Sequence[Any], types: Sequence[str], folder: Path) -> Any:
    """The records in their container; files are written into the folder."""
    if container in IN_MEMORY:
        return IN_MEMORY[container](records)
    if container in TEXT:
        return TEXT[container](records, folder)
    if container in GRAPHS:
        return GRAPHS[container](records, folder)
    if container in COLLATED:
        rows = [tuple(map(worth, record)) for record in records]
        return COLLATED[container](rows, folder)
    if container == "sqlite":
        return _sqlite(records, folder, types)
    return TYPED[container](columns_of(records, types), folder)
