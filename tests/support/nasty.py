"""Ordinary and nasty records: what the adversary puts into every container.

A record is text that can be printed and used again: expressions for values in memory, bytes for a
line of a file.
"""

from __future__ import annotations

import datetime as dt
import functools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from duffdp import Digits

_NAMES = {"np": np, "pd": pd, "dt": dt, "Decimal": Decimal, "Fraction": Fraction}
_NAMES |= {"inf": math.inf, "nan": math.nan, "Digits": Digits}


@functools.lru_cache(maxsize=4096)
def worth(expression: str) -> Any:
    """What an expression stands for."""
    return eval(expression, _NAMES)


class Pool(NamedTuple):
    """Records of one kind to choose from."""

    ordinary: list[Any]
    nasty: list[Any]


def _each(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split(";")]


def _lines(text: str) -> list[bytes]:
    """The lines between the first and the last; a sign of the text is a byte."""
    return [line.encode("latin-1") for line in text.split("\n")[1:-1]]


# Values of any type, as lists and columns of objects hold them.
_NUMBERS = _each("0; 1; 5; 17; 60; 119; 120")
_NASTY_NUMBERS = _each(r"""
    None; nan; inf; -inf; -0.0; 1.5; 1e308; 5e-324; -3; 2**53 + 1; 2**63; -(2**63) - 1; 2**64;
    10**400; '7'; 'word'; ''; '#'; '\x00'; b'x'; True; Decimal('1.5'); Decimal('NaN');
    Decimal('sNaN'); Decimal('Infinity'); Decimal('1e400000'); Fraction(1, 3); complex(1, 2); [];
    [1]; {}; (1, 2); np.float32(1.5); np.int8(3); np.uint64(2**64 - 1); np.longdouble(1) * 2**63;
    np.longdouble('1e4000'); np.datetime64('NaT'); np.datetime64('2024-01-01'); np.timedelta64(1);
    np.array([1, 2]); np.array(3); np.ma.masked; np.bool_(True); np.str_('a'); pd.NA; pd.NaT;
    pd.Timestamp('2024-01-01'); pd.Interval(0, 1); dt.date(2024, 1, 1); dt.datetime.max;
    dt.timedelta(1); dt.time(1); int; object; range(3); ...
""")
_DATES = _each("dt.date(2024, 1, 1); dt.date(2024, 2, 29); dt.date(2023, 12, 31)")
_MOMENTS = _each("""
    dt.datetime(2024, 1, 1, 12); dt.datetime(2024, 2, 29); dt.datetime(2023, 12, 31, 23, 59, 59,
    999999)
""")
_NASTY_DATES = _each("""
    None; dt.date.min; dt.date.max; dt.datetime.min; dt.datetime.max; nan; 1; 1.5; '2024-01-01';
    ''; pd.NaT; dt.datetime.max.replace(tzinfo=dt.timezone(-dt.timedelta(hours=14)));
    np.datetime64('NaT'); b''; 10**400;
    dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=14)));
    np.datetime64('2024-01-01'); []; np.datetime64('2024-01-01T00', 'ns');
    np.datetime64('300000-01-01'); pd.Timestamp('2024-01-01', tz='UTC'); dt.datetime(2024, 1, 1,
    tzinfo=dt.UTC); dt.time(1); dt.timedelta(1); True; pd.Period('2024')
""")
_GROUPS = _each("'a'; 'b'; 'c'")
_NASTY_GROUPS = _each(r"""
    None; nan; ''; 'A'; 'a '; 1; b'a'; []; 'a\x00'; True; pd.NA; '\ud800'; ('a',); dt.date(2024,
    1, 1)
""")
_PEOPLE = _each("'p1'; 'p2'; 'p3'; 'p4'")
_NASTY_PEOPLE = _each("""
    None; nan; ''; 7; 7.0; []; {}; pd.NA; pd.NaT; -0.0; 2**70; b'p1'; object(); ('p1',);
    Decimal('sNaN')
""")
GROUPS = Pool(_GROUPS, _NASTY_GROUPS)
PEOPLE = Pool(_PEOPLE, _NASTY_PEOPLE)
OBJECTS = {
    "numbers": Pool(_NUMBERS, _NASTY_NUMBERS),
    "fractions": Pool(_each("0.5; 1.0; 33.3; 99.9"), _NASTY_NUMBERS),
    "large numbers": Pool(_each("2**53 + 1; 2**53 + 3; 2**53 + 60"), _NASTY_NUMBERS),
    "dates": Pool(_DATES, _NASTY_DATES),
    "moments": Pool(_MOMENTS, _NASTY_DATES),
    "words": Pool(_GROUPS, _NASTY_GROUPS + _NASTY_NUMBERS),
}


class Declared(NamedTuple):
    """A type of a column, and values that fit it; dates and times as days or ticks."""

    arrow: Any
    kind: str
    ordinary: list[str]
    nasty: list[str]


def _declared(arrow: Any, kind: str, ordinary: str, nasty: str) -> Declared:
    return Declared(arrow, kind, _each(ordinary), _each(nasty))


_DAY = 86_400_000_000
_TICKS = f"19723 * {_DAY}; 19782 * {_DAY} + 1"
_ENDS = f"None; 2**63 - 1; -2**63 + 1; -1; 2932896 * {_DAY}; -719162 * {_DAY}; 100000000 * {_DAY}"
_FLOATS = "0.5; 1.0; 60.0"
_COUNTS = "0; 1; 5; 17; 60; 119; 120"
_LETTERS = "'a'; 'b'; 'c'"
TYPES = {
    "int64": _declared(pa.int64(), "numbers", _COUNTS, "None; 2**63 - 1; -2**63; 2**53 + 1; -3"),
    "int8": _declared(pa.int8(), "numbers", _COUNTS, "None; 127; -128"),
    "uint64": _declared(pa.uint64(), "numbers", _COUNTS, "None; 2**64 - 1; 2**63"),
    "float64": _declared(
        pa.float64(), "numbers", _FLOATS, "None; nan; inf; -inf; -0.0; 1e308; 5e-324; 2.0**63"
    ),
    "float32": _declared(
        pa.float32(), "numbers", _FLOATS, "None; nan; inf; -inf; -0.0; 3e38; 1e-45"
    ),
    "bool": _declared(pa.bool_(), "numbers", "True; False", "None"),
    "decimal": _declared(
        pa.decimal128(38, 2),
        "numbers",
        "Decimal('1.50'); Decimal('60')",
        "None; Decimal('9' * 36); -Decimal('9' * 36)",
    ),
    "decimal256": _declared(
        pa.decimal256(76, 2),
        "numbers",
        "Decimal('1.50'); Decimal('60')",
        "None; Decimal('9' * 74)",
    ),
    "date": _declared(
        pa.date32(),
        "dates",
        "19723; 19782",
        "None; 2**31 - 1; -2**31 + 1; -2**31; -719162; 2932896; 200000000",
    ),
    "moment": _declared(pa.timestamp("us"), "moments", _TICKS, _ENDS),
    "moment ns": _declared(
        pa.timestamp("ns"),
        "moments",
        f"19723 * {_DAY} * 1000; 19782 * {_DAY} * 1000 + 1",
        "None; 2**63 - 1; -2**63 + 1; -1",
    ),
    "moment s": _declared(
        pa.timestamp("s"),
        "moments",
        f"19723 * {_DAY} // 10**6; 19782 * {_DAY} // 10**6",
        "None; 2**63 - 1; -2**63 + 1; 2**50",
    ),
    "moment utc": _declared(pa.timestamp("us", "UTC"), "zoned moments", _TICKS, _ENDS),
    "moment zoned": _declared(pa.timestamp("us", "Pacific/Apia"), "zoned moments", _TICKS, _ENDS),
    "string": _declared(
        pa.string(),
        "words",
        _LETTERS,
        r"""None; ''; 'A'; 'a '; 'a\x00'; '#'; '"'; 'x' * 70000; 'nan'""",
    ),
    "large string": _declared(pa.large_string(), "words", _LETTERS, "None; ''; 'A'"),
    "dictionary": _declared(
        pa.dictionary(pa.int32(), pa.string()), "words", _LETTERS, "None; 'new'; ''"
    ),
    "person": _declared(pa.int64(), "people", "1; 2; 3", "None; 0; -1; 2**63 - 1; 2**53 + 1"),
    "float person": _declared(pa.float64(), "people", "1.0; 2.0; 3.0", "None; nan; -0.0; 0.0; inf"),
}
# SQLite columns hold any type, whatever is declared.
NASTY_CELLS = _each(r"""
    None; 1.5; 2**63 - 1; -2**63; 1e308; inf; 'word'; '7'; ''; ' 7 '; 'nan'; '1e400'; b'x'; b'';
    '\x00'; '2024-01-01'; -0.0; 'x' * 70000; 7; 'infinity'; '9' * 40
""")

# Lines of files of text. A line is a record.
LINES = {
    "numbers": [b"1,a,p1", b"5,b,p2", b"17,a,p3", b"60,c,p1", b"119,b,p4"],
    "ids": [b"1,a,10000000000000000001", b"5,b,10000000000000000002", b"17,a,10000000000000000003"],
    "codes": [b"1,1,1", b"5,2,2", b"17,1,3", b"60,02,4"],
    "fractions": [b"0.5,a,p1", b"33.25,b,p2", b"99.9,a,p3"],
    "dates": [b"2024-01-01,a,p1", b"2024-02-29,b,p2", b"2023-12-31,a,p3"],
    "large numbers": [b"9007199254740993,a,p1", b"9007199254740995,b,p2"],
    "words": [b"a,a,p1", b"b,b,p2", b"a,a,p3"],
}
NASTY_LINES = _lines("""

,
,,
1
1,a
1,a,p1,more
1,a,p1,more,and,more,fields,1,2,3
#
#1,a,p1
# 1,a,p1
//,a,p1
"1",a,p1
"1","a","p1"
"1,a,p1
1,"a,p1
1,a,"p1
"
""
\"\"\"\",a,p1
1,"a""b",p1
1,"a,b",p1
1,a"b,p1
'1',a,p1
'1,a,p1
1;a;p1
1\x09a\x09p1
1|a|p1
1;2;3;4;5;6
x,g,p
word,a,p1
NaN,a,p1
nan,a,p1
inf,a,p1
-inf,a,p1
infinity,a,p1
1e400,a,p1
-0.0,a,p1
1.5,a,p1
9999999999999999999999999999999999999999,a,p1
9223372036854775808,a,p1
0x10,a,p1
1_000,a,p1
 1 ,a,p1
+1,a,p1
1.,a,p1
.5,a,p1
"1,000",a,p1
true,a,p1
NULL,a,p1
None,a,p1
NA,NA,NA
?,?,?
-,a,p1
2024-01-01,a,p1
2024-01-01 12:00:00,a,p1
2024-13-45,a,p1
31/12/2023,a,p1
12/31/2023,a,p1
01/02/2023,a,p1
20240101,a,p1
epoch,a,p1
9999-12-31,a,p1
294248-01-01,a,p1
0001-01-01 (BC),a,p1
2024-01-01T00:00:00+14:00,a,p1
1,a,guest
1,a,1
1,a,1.0
1,a,
1,,p1
1,A,p1
1, a,p1
1,true,p1
1,1.0,p1
1,01,p1
1,2024-01-01,p1
\x00
1\x00,a,p1
1,a\x00,p1
\xff\xfe,a,p1
1,\xe9,p1
1,a,\xff
\xef\xbb\xbf1,a,p1
1\x1a,a,p1
1,a,p1\x0d
1\x0d2,a,p1
\x0c
\x1b[31m,a,p1
\\,a,p1
\\"1,a,p1
1,a,p\\
{},a,p1
[1],a,p1
""")
_LONG = 100_000
NASTY_LINES += [
    b"1" + b"0" * 400 + b",a,p1",
    b"x" * _LONG + b",a,p1",
    b"1," + b"a" * _LONG + b",p1",
    b'"' + b"x" * _LONG + b",a,p1",
    b"," * 3000,
]
OBJECT_LINES = {
    "numbers": [
        b'{"x":1,"g":"a","p":"p1"}',
        b'{"x":5,"g":"b","p":"p2"}',
        b'{"x":60,"g":"a","p":"p3"}',
    ],
    "codes": [b'{"x":1,"g":1,"p":1}', b'{"x":5,"g":2,"p":2}', b'{"x":60,"g":1,"p":3}'],
    "fractions": [b'{"x":0.5,"g":"a","p":"p1"}', b'{"x":33.25,"g":"b","p":"p2"}'],
    "dates": [b'{"x":"2024-01-01","g":"a","p":"p1"}', b'{"x":"2024-02-29","g":"b","p":"p2"}'],
    "words": [b'{"x":"a","g":"a","p":"p1"}', b'{"x":"b","g":"b","p":"p2"}'],
}
NASTY_OBJECT_LINES = _lines("""

{}
[]
null
1
"word"
{
{"x":1
not json
\x00
\xff
{"x":1}
{"y":1}
{"x":1,"x":2,"g":"a","p":"p1"}
{"X":1,"g":"a","p":"p1"}
{"x":1,"g":"a","p":"p1","more":{"deep":[1,2]}}
[{"x":1,"g":"a","p":"p1"}]
{"x":1,"g":"a","p":"p1"}{"x":2}
# x
""")
_NASTY_MEMBERS = _lines("""
"word"
null
"7"
7.5
1e400
-0.0
9999999999999999999999999999999999999999
true
[]
[1]
{}
{"a":1}
""
"#"
NaN
9223372036854775808
"2024-01-01"
"2024-01-01 10:00:00"
"31/12/2023"
"infinity"
"\\u0000"
"\\ud800"
"\xff"
{
'
""")
_NASTY_MEMBERS.append(b'"' + b"x" * _LONG + b'"')
for _member in _NASTY_MEMBERS:
    NASTY_OBJECT_LINES += [
        b'{"x":' + _member + b',"g":"a","p":"p1"}',
        b'{"x":1,"g":' + _member + b',"p":"p1"}',
        b'{"x":1,"g":"a","p":' + _member + b"}",
    ]
# Edges: lines of a file, or pairs in memory, of which an array takes whole numbers alone.
EDGE_LINES = [b"0,1", b"1,2", b"0,2", b"2,3", b"3,4"]
NASTY_EDGE_LINES = _lines("""

#
# 1,2
1,1
-1,2
7,8
9999999999999999999,1
a,b
1
1,2,3
1.5,2
1,
,
"1","2"
"1,2
nan,1
 1 , 2\x20
1;2
\xff,1
\x00,1
1,2\x0d
source,target
1e3,2
0x1,2
1 2
""")
NASTY_EDGE_LINES.append(b"1" * 5000 + b",2")
EDGES = _each("(0, 1); (1, 2); (0, 2); (2, 3); (3, 4)")
NASTY_EDGES = _each("(1, 1); (1, 0); (-1, 2); (7, 8); (2**62, 3); (0, 1); (9, 9)")
NASTY_PAIRS = _each("""
    (1, 1); (1, 0); (-1, 2); (7, 8); (2**62, 3); (0, 1); (9, 9); (2**63, 1); (10**400, 1); (0.5,
    1); ('a', 1); (None, 1); (nan, 1); (1,); (1, 2, 3); (); 1; None; (True, 2)
""")
