"""dask frames: pandas frames in pieces; the rows of a person are brought into one piece."""

from __future__ import annotations

from typing import Any

import numpy as np

from duffdp._engines.adapters.query import NarwhalsQuery
from duffdp._engines.libraries import Frame, narwhals
from duffdp._engines.queries.names import PERSON
from duffdp.domain import Array

_MULTIPLY = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class DaskFrame(NarwhalsQuery):
    """A dask DataFrame."""

    nanoseconds = True
    mixes_types = True
    side_by_side = False

    def rows(self, columns: dict[str, str]) -> Frame:
        native = self.native
        selected = native[list(dict.fromkeys(columns.values()))]
        first = {name: new for new, name in reversed(columns.items())}
        renamed = selected.rename(columns=first)
        renamed = renamed.assign(
            **{new: renamed[first[name]] for new, name in columns.items() if first[name] != new}
        )
        rows = self.as_frame(renamed[list(columns)])
        texts = [new for new, name in columns.items() if self.schema[name] == self.nw.Categorical]
        return rows.with_columns(self.nw.col(*texts).cast(self.nw.String)) if texts else rows

    def literal_frame(self, rows: Frame, columns: dict[str, list[Any]]) -> Frame:
        import dask.dataframe
        import pandas

        dtypes = dict(rows.to_native().dtypes)
        literals = {
            name: pandas.Series(values, dtype=dtypes.get(name, "int64"))
            for name, values in columns.items()
        }
        return self.as_frame(dask.dataframe.from_pandas(pandas.DataFrame(literals), npartitions=1))

    def doubles(self, rows: Frame, name: str) -> Frame:
        native = rows.to_native()
        number = native[name].map_partitions(_doubles, meta=(name, "float64"))
        return self.as_frame(native.assign(**{name: number}))

    def clock(self, rows: Frame, name: str, ends: tuple[int, int]) -> tuple[Frame, str]:
        native = rows.to_native()
        dtype: Any = rows.collect_schema()[name]
        unit = "D" if dtype == self.nw.Date else dtype.time_unit
        number = native[name].map_partitions(_numbers, meta=(name, "int64"))
        if unit == "ns":
            number, unit = number // 1000, "us"
        return self.as_frame(native.assign(**{name: number})), unit

    def cap(self, rows: Frame, keys: tuple[int, ...], limit: int, *within: str) -> Frame:
        native = rows.to_native()
        by_person = native.shuffle(on=PERSON)
        capped = by_person.map_partitions(_capped, keys, limit, *within, meta=native._meta)
        return self.as_frame(capped)

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        import dask.dataframe
        import pandas

        return dask.dataframe.from_pandas(pandas.DataFrame(columns), npartitions=1)


def _numbers(moments: Any) -> Any:
    """A piece of a column of moments as whole numbers of its unit."""
    return _as_series(_array(moments).view(np.int64), moments)


def _doubles(decimals: Any) -> Any:
    """A piece of a column of decimals, none of them missing, as doubles."""
    return _as_series(_array(decimals), decimals)


def _array(piece: Any) -> Array:
    from duffdp._engines.adapters.pandas import PandasFrame

    nw = narwhals()
    frame = nw.from_native(piece.rename("x").to_frame(), eager_only=True)
    return PandasFrame(nw, frame).array("x")[0]


def _as_series(array: Array, pattern: Any) -> Any:
    import pandas

    return pandas.Series(array, index=pattern.index, name=pattern.name)


def _capped(piece: Any, keys: tuple[int, ...], limit: int, *within: str) -> Any:
    """The rows that count of the people in one piece."""
    import pandas

    names = [name for name in piece.columns if name != PERSON]
    copies = piece.groupby([PERSON, *names], sort=False, observed=True).cumcount().to_numpy()
    first, second = (np.uint64(key % 2**64) for key in keys)
    hashes = _mix(pandas.util.hash_pandas_object(piece[PERSON], index=False).to_numpy() ^ first)
    parts = [*(_bits(piece[name]) for name in names), copies.astype(np.int64)]
    for part in parts:
        hashes = _mix(hashes ^ _mix(part.view(np.uint64) + second))
    blocks = piece.groupby([PERSON, *within], sort=False, observed=True).ngroup().to_numpy()
    order = np.lexsort((*reversed(parts), hashes, blocks))
    ordered = blocks[order]
    counts = np.ones(len(order), dtype=bool)
    counts[limit:] = ordered[limit:] != ordered[:-limit]
    return piece.iloc[np.sort(order[counts])]


def _bits(column: Any) -> Array:
    """Whole numbers as they are, doubles by their bits: different ones stay different. Texts by a
    hash of 64 bits.
    """
    import pandas

    if not pandas.api.types.is_numeric_dtype(column.dtype):
        hashes: Array = pandas.util.hash_pandas_object(column, index=False).to_numpy()
        return hashes.view(np.int64)
    numbers: Array = column.to_numpy()
    return numbers.view(np.int64) if numbers.dtype == np.float64 else numbers.astype(np.int64)


def _mix(words: Array) -> Array:
    """Each bit of the result depends on all bits of a word (the finisher of SplitMix64)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * _MULTIPLY[0]
    words = (words ^ (words >> np.uint64(27))) * _MULTIPLY[1]
    hashes: Array = words ^ (words >> np.uint64(31))
    return hashes
