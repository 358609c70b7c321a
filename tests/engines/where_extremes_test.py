"""Conditions over the extremes of every Arrow type, and of the same types elsewhere: one record
more changes the count by one or none, and nothing else that can be seen.
"""

from __future__ import annotations

import decimal
import itertools
import math
import warnings
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from covering import every_pair
from duffdp import DuffError

SURE = 1e6
ENDS = [2**63 - 1, -(2**63), -(2**63) + 1]
DATES = ("'2024-07-31'", "'0001-01-01'", "'9999-12-31'")
UNITS, ZONES = ("s", "ms", "us", "ns"), (None, "UTC", "America/New_York")
TEXTS = ["", "\0", "x" * 10_000, "\U0010ffff", "nan", "NULL"]


class Case(NamedTuple):
    """A type, usual records, extreme ones, and values that they are compared with."""

    kind: pa.DataType
    usual: list[Any]
    extreme: list[Any]
    values: tuple[str, ...]


def whole(bits, signed):
    kind = getattr(pa, f"{'' if signed else 'u'}int{bits}")()
    ends = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return Case(kind, [1, 2, 3], list(ends), ("2", *map(str, ends), str(2**63), "1.5", "1e30"))


def decimals(kind, digits, places):
    with decimal.localcontext(prec=100):
        top = (Decimal(10) ** digits - 1).scaleb(-places)
    ends = [top, top.copy_negate()]
    return Case(kind(digits, places), [Decimal(0)], ends, ("0", "0.5", "1e30", "1e99"))


def cases():
    yield from (whole(bits, signed) for bits in (8, 16, 32, 64) for signed in (True, False))
    for kind, top in ((pa.float16(), 65504.0), (pa.float32(), 3.4e38), (pa.float64(), 1.79e308)):
        odd = [top, -top, math.inf, -math.inf, math.nan, -0.0]
        yield Case(kind, [1.0, 2.0], odd, ("2", "0.1", "1e300", "-1e30", "1e999"))
    if hasattr(pa, "decimal32"):
        yield decimals(pa.decimal32, 9, 2)
        yield decimals(pa.decimal64, 18, 3)
    for places in (0, 10, 38):
        yield decimals(pa.decimal128, 38, places)
        yield decimals(pa.decimal256, 76, 2 * places)
    yield Case(pa.date32(), [1, 2], [2**31 - 1, -(2**31)], DATES)
    yield Case(pa.date64(), [0, 86_400_000], [*ENDS, 1], DATES)
    yield from (Case(pa.duration(unit), [1, 2], ENDS, ("5",)) for unit in UNITS)
    yield Case(pa.time32("s"), [1, 2], [86_399], ("5", "'12:00'"))
    yield Case(pa.time64("us"), [1, 2], [86_399_999_999], ("5", "'12:00'"))
    yield Case(pa.bool_(), [True, False], [True], ("TRUE", "FALSE"))
    views = [pa.string_view()] if hasattr(pa, "string_view") else []
    for kind in (pa.string(), pa.large_string(), *views, pa.dictionary(pa.int8(), pa.string())):
        yield Case(kind, ["a", "b"], TEXTS, ("'a'", "''"))
    yield Case(pa.dictionary(pa.int8(), pa.int64()), [1, 2], [2**63 - 1], ("1",))
    yield Case(pa.null(), [None], [None], ("1", "'a'"))
    yield Case(pa.binary(), [b"a"], [b"\xff"], ("'a'",))


def array(kind, records):
    """Records of a type, also those that Python has no objects for."""
    if pa.types.is_temporal(kind):
        numbers = pa.array(records, pa.int32() if kind.bit_width == 32 else pa.int64())
        return pa.Array.from_buffers(kind, len(numbers), numbers.buffers())
    if pa.types.is_dictionary(kind):
        return pa.array(records, kind.value_type).dictionary_encode().cast(kind)
    if pa.types.is_float16(kind):
        records = [None if one is None else np.float16(one) for one in records]
    return pa.array(records, kind)


LIBRARIES = {
    "pyarrow": lambda table: table,
    "polars": pl.from_arrow,
    "polars-lazy": lambda table: pl.from_arrow(table).lazy(),
    "pandas": lambda table: table.to_pandas(),
    "pandas-arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
}


def declared(frame):
    """The types of the columns of a frame."""
    if isinstance(frame, pl.LazyFrame):
        return str(frame.collect_schema())
    return str(frame.schema) if hasattr(frame, "schema") else str(frame.dtypes)


def conditions(values):
    first, *others = values
    yield from (f"c {mark} {first}" for mark in ("<", "<=", ">", ">=", "=", "<>"))
    yield from (f"c {mark} {value}" for value in others for mark in ("<", ">="))
    yield from (f"c IN ({first}, {values[-1]})", f"c NOT BETWEEN {first} AND {values[-1]}")
    yield from ("c IS NULL", "c IS NOT NULL")


def seen(frame, where):
    """The value, and all else that is seen."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            release = duffdp.count(frame, epsilon=SURE, where=where)
        except DuffError as error:
            value, said = 0, (type(error).__name__, str(error))
        else:
            value, said = release.value, type(release.value).__name__
    return value, (said, [str(one.message) for one in warned])


def frame(library, kind, records):
    """Records as a frame; None where the library does not have the type, or such a record."""
    try:
        return LIBRARIES[library](pa.table({"c": array(kind, records)}))
    except BaseException as error:  # polars panics
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


def moments(unit, zone):
    more = () if zone is None else ("'2024-07-31T12:00+02:00'",)
    return Case(pa.timestamp(unit, zone), [1, 2], ENDS, (*DATES, *more))


@pytest.mark.parametrize(
    ("case", "library"),
    [
        *itertools.product(cases(), LIBRARIES),
        # Any two of a unit, a zone and a library.
        *((moments(*kind), each) for *kind, each in every_pair(UNITS, ZONES, LIBRARIES)),
    ],
    ids=lambda part: str(part.kind) if isinstance(part, Case) else part,
)
def test_an_extreme_record_is_kept_or_left_out_and_shows_in_nothing_else(case, library):
    without = frame(library, case.kind, case.usual * 2)
    if without is None:
        pytest.skip("the library does not have the type")
    asked = {where: seen(without, where) for where in conditions(case.values)}
    # What the engine does not have is known before a row is read.
    assert "the query failed" not in str(asked)
    for extreme in [*case.extreme, None]:
        with_it = frame(library, case.kind, [*case.usual * 2, extreme])
        if with_it is None or declared(with_it) != declared(without):
            continue
        for where, (fewer, said) in asked.items():
            more, same = seen(with_it, where)
            assert said == same, (where, extreme)
            assert more - fewer in (0, 1), (where, extreme)


def test_the_largest_numbers_compare_exactly():
    top = 2**64 - 1
    table = pa.table({"c": pa.array([0, 1, 2**63 - 1, 2**63, top - 1, top, None], pa.uint64())})
    for frame in (table, pl.from_arrow(table), table.to_pandas(types_mapper=pd.ArrowDtype)):
        for where, expected in {
            f"c >= {top}": 1,
            f"c > {top - 1}": 1,
            f"c < {top}": 5,
            f"c >= {2**63}": 3,
            f"c <= {2**63}": 4,
            f"c > {top}": 0,
            f"c <= {top}": 6,
            "c < 0.5": 1,
            "c > -1": 6,
        }.items():
            assert duffdp.count(frame, epsilon=SURE, where=where).value == expected, where


def test_a_time_that_numpy_takes_for_missing_is_missing():
    """Statistics leave it out as well."""
    numbers = pa.array([0, 1, -(2**63)], pa.int64())
    table = pa.table({"c": pa.Array.from_buffers(pa.timestamp("us"), 3, numbers.buffers())})
    for where, expected in (("c IS NULL", 1), ("c IS NOT NULL", 2), ("c < '2024-01-01'", 2)):
        assert duffdp.count(table, epsilon=SURE, where=where).value == expected
