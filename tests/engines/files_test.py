"""Files are read without a look at their records: each record as if it were alone, and no error
depends on one.
"""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import sqlite3
from collections import Counter
from math import inf, isnan

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import duffdp
from covering import every_pair
from duffdp import UnsupportedData
from duffdp._engines.files import copied, text_records
from duffdp._engines.files.csv import read_layout
from duffdp._engines.files.format import ReadRequest
from duffdp._engines.files.paths import open_path, unreadable
from duffdp._engines.files.text_records import Form, survey

SURE = 1e5


def rows(path, columns, value=None, kind="category", connection=None):
    """The records of a file, in no order."""
    opened = open_path(path, connection).columns(ReadRequest(columns, values=(value,), kind=kind))
    try:
        found = opened.rows().fetchall()
    except Exception as error:
        raise unreadable(opened.name, error) from None
    return Counter(found)


def texts(path, content, columns=("a", "b"), **how):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return rows(path, list(columns), **how)


def one_by_one(path, columns):
    """The same by the reader for files that are not well-formed."""
    layout = read_layout(str(path))
    with text_records.open_bytes(str(path)) as file:
        records = list(
            text_records.read_records(file, layout.delimiter.encode(), len(layout.names))
        )
    places = [layout.names.index(name) for name in columns]
    found = [tuple(text_records.decode(record[i]) or None for i in places) for record in records]
    return Counter(record for record in found if len(layout.names) > 1 or record[0] is not None)


# ------------------------------------------------------------------------------
# layout


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\n1,x\n2,y\n", [("1", "x"), ("2", "y")]),
        ("a;b\r\n1;x\r\n2;y", [("1", "x"), ("2", "y")]),
        ("a\tb\n1\tx, y\n", [("1", "x, y")]),
        ("b|z|a\n1|2|3\n", [("3", "1")]),
        ("\ufeffa,b\n1,x\n", [("1", "x")]),
        ('"a","b"\n1,"x"\n', [("1", "x")]),
        ('"a","b;;;"",",c,b\n1,2,3,4\n', [("1", "4")]),
        (",a,,b\n0,1,2,3\n", [("1", "3")]),  # names may be missing, as in an index
        ("a,b,c,C,c\n1,2,3,4,5\n", [("1", "2")]),  # and doubled, where nobody asks for them
        ("a,b\n# 1,x\n#,y\n", [("# 1", "x"), ("#", "y")]),  # no comments
        (
            "a,b\n'1,x'\n\\1,\\\n",
            [("'1", "x'"), ("\\1", "\\")],
        ),  # no other quotation, no other escape
        ("a,b\n 1, x\n", [(" 1", " x")]),
        ("a,b\n", []),
        ("a,b", []),
        ("a,b\n1\n2,x,\n3,x,y\n,\n\n4,z\n", [("1", None), ("2", "x"), (None, None), ("4", "z")]),
        (
            "a,b\n00012345678901234567890,NA\n",
            [("00012345678901234567890", "NA")],
        ),  # text as it stands
        ('a,b\n1,""\n"",x\n', [("1", None), (None, "x")]),
        (
            'a,b\n1,"5" pipe\n2,6" pipe\n"3",x"\n',
            [("1", '"5" pipe'), ("2", '6" pipe'), ('"3"', 'x"')],
        ),
        ('a,b\n1,"x, ""y""\nz"\r\n', [("1", 'x, "y"\nz')]),
        ('a,b\n1,"x" \n2,"y"\n', [("1", '"x" '), ("2", "y")]),
        ('a,b\n1,x""\n2,"y"\n', [("1", 'x""'), ("2", "y")]),
        (
            'a,b\n"1\n2"\n3,x\n',
            [('"1', None), ('2"', None), ("3", "x")],
        ),  # closes, but has too few fields
        ('a,b\n2,"y"\n1,"x\n', [("2", "y"), ("1", '"x')]),
        (
            "a,b\n1,x\r2,y\n3,z\n",
            [("3", "z")],
        ),  # a lone return ends no line, so that there are too many fields
        ("a,b\n1,x\ry\n", [("1", "x\ry")]),
        ("a,b\n1,x\r\n2,y\n", [("1", "x"), ("2", "y")]),
    ],
)
def test_layouts(tmp_path, content, expected):
    assert texts(tmp_path / "t.csv", content) == Counter(expected)
    assert one_by_one(tmp_path / "t.csv", ["a", "b"]) == Counter(expected)


def test_layouts_of_bytes(tmp_path):
    found = texts(tmp_path / "t.csv", "a,b\n1,é\n".encode() + b"2,\xe9\n3,x\0y\n4,\xff\xfe\n")
    assert found == Counter([("1", "é"), ("2", "é"), ("3", "x\0y"), ("4", "\xff\xfe")])


def test_one_column(tmp_path):
    for content in ("a\n1\n\n2\n", 'a\n1\n""\n2\n', "a\n1\n2", "a\n1\n2\n\n\n"):
        assert texts(tmp_path / "t.csv", content, ["a"]) == Counter([("1",), ("2",)])


@pytest.mark.parametrize(
    "content",
    [b"", b"\n1,2\n", b",,\n", b"a\0,b\n", b"a,b\r1,2\r", b"a" * 2**21, "a,b\n".encode("utf-16")],
)
def test_a_first_line_that_names_no_columns(tmp_path, content):
    with pytest.raises(UnsupportedData, match=r"first line|no column|UTF-16"):
        texts(tmp_path / "t.csv", content)


def test_columns_that_cannot_be_chosen(tmp_path):
    (tmp_path / "t.csv").write_text("age,sex,sex\n33,f,secret\n")
    with pytest.raises(UnsupportedData, match=r"no column 'ages'\. Did you mean 'age'"):
        rows(tmp_path / "t.csv", ["ages"])
    with pytest.raises(UnsupportedData, match=r"no column 'Age'\. Did you mean 'age'"):
        rows(tmp_path / "t.csv", ["Age"])
    with pytest.raises(UnsupportedData, match="'sex' more than once"):
        rows(tmp_path / "t.csv", ["sex"])


def test_column_names_with_quotation_marks(tmp_path):
    (tmp_path / "t.csv").write_text('"a ""b""",c\n5,6\n')
    assert rows(tmp_path / "t.csv", ['a "b"', "c"], 'a "b"', "int") == Counter([(5.0, "6")])
    (tmp_path / "t.jsonl").write_text('{"a \\"b\\"": 5, "x/y~z": "q", "0": 1, "": 2}\n')
    assert rows(tmp_path / "t.jsonl", ['a "b"', "x/y~z", "0", "$.a"]) == Counter(
        [("5", "q", "1", None)]
    )


# ------------------------------------------------------------------------------
# one record by itself

FIELDS = st.text(alphabet=st.sampled_from(list('ab1 ,"\n\r;#\\é')), max_size=6)
NASTY = st.binary(max_size=12).map(lambda raw: raw.replace(b"\n", b"")) | st.text(
    alphabet=st.sampled_from(list('a1,," "\r;#\0')), max_size=9
).map(str.encode)


def written(records, width, end, quoting):
    """The lines of a well-formed file, a list of them for each record."""
    lines = []
    for record in records:
        buffer = io.StringIO(newline="")
        csv.writer(buffer, lineterminator=end, quoting=quoting).writerow(record)
        text = buffer.getvalue()
        if (
            "\r" in "".join(record) and quoting == csv.QUOTE_MINIMAL
        ):  # Python leaves a lone return bare
            text = ",".join('"' + field.replace('"', '""') + '"' for field in record) + end
        lines.append(text.encode())
    return [",".join(NAMES[:width]).encode() + end.encode(), *lines]


NAMES = ["a", "b", "c"]
FILES = st.integers(1, 3).flatmap(
    lambda width: st.tuples(
        st.lists(st.lists(FIELDS, min_size=width, max_size=width), max_size=6),
        st.just(width),
        st.sampled_from(["\n", "\r\n"]),
        st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    )
)


@settings(max_examples=80, deadline=None)
@given(file=FILES)
def test_a_well_formed_file_is_read_exactly_by_every_reader(tmp_path_factory, file):
    records, width, _, _ = file
    path = tmp_path_factory.mktemp("files") / "t.csv"
    path.write_bytes(b"".join(written(*file)))
    names = NAMES[:width]
    expected = Counter(
        tuple(field or None for field in record) for record in records if width > 1 or record[0]
    )
    assert rows(path, names) == expected
    assert one_by_one(path, names) == expected
    packed = path.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert rows(packed, names) == expected


def ambiguous(field):
    """A quotation that begins with the end of a field may also be read as the end of one that began
    before.
    """
    return field.lstrip('"').startswith((",", "\n", "\r"))


@settings(max_examples=160, deadline=None)
@given(file=FILES, nasty=NASTY, place=st.integers(0, 6))
def test_a_line_that_is_not_well_formed_changes_no_other_record(
    tmp_path_factory, file, nasty, place
):
    records, width, end, quoting = file
    records = [record for record in records if not any(map(ambiguous, record))]
    path = tmp_path_factory.mktemp("files") / "t.csv"
    lines = written(records, width, end, quoting)
    names = NAMES[:width]
    path.write_bytes(b"".join(lines))
    before = rows(path, names)
    lines.insert(1 + min(place, len(records)), nasty + end.encode())
    path.write_bytes(b"".join(lines))
    after = rows(path, names)
    assert not before - after
    assert (after - before).total() <= 1
    assert after == one_by_one(path, names)


@settings(max_examples=120, deadline=None)
@given(
    lines=st.lists(NASTY, max_size=5), place=st.integers(0, 5), width=st.integers(1, 3), odd=NASTY
)
def test_lines_without_quotation_marks_are_records_by_themselves(
    tmp_path_factory, lines, place, width, odd
):
    """However many of them are odd."""
    lines, odd = [line.replace(b'"', b"'") for line in lines], odd.replace(b'"', b"'")
    path = tmp_path_factory.mktemp("files") / "t.csv"
    names = NAMES[:width]
    found = []
    for body in (lines, [*lines[:place], odd, *lines[place:]]):
        path.write_bytes(b"\n".join([",".join(names).encode(), *body]))
        found.append(rows(path, names))
        assert found[-1] == one_by_one(path, names)
    assert not found[0] - found[1]
    assert (found[1] - found[0]).total() <= 1


ODD = [
    b"",
    b",",
    b"x" * 3 * 2**20,
    b'"',
    b'"1',
    b'1"',
    b'1,"x',
    b'",",",",",',
    b"1,2,3,4,secret",
    b"\xff\xfe",
    b"\0",
    b"\r",
    b"#",
    b'a"b',
    b'"a"b',
    b'"a" ,b',
    b"'",
    b"\\",
    b"1\x1f2",
    b"\xef\xbb\xbf",
    b"1,x\r",
    b'"' * 7,
]


@pytest.mark.parametrize(
    ("quoted", "place", "end"), every_pair([False, True], [1, 2000, 4000], [b"\n", b"\r\n"])
)
def test_odd_lines_at_every_place_of_a_larger_file(tmp_path, quoted, place, end):
    """At each place with both ends of lines, and with and without quotations beside them."""
    body = [b"%d,n%d" % (i, i % 7) for i in range(4000)]
    if quoted:
        body[5::50] = [b'%d,"x, ""%d""\n\r\n y"' % (i, i) for i in range(5, 4000, 50)]
    lines = [b"a,b", *body]
    expected = texts(tmp_path / "t.csv", end.join(lines))
    assert expected.total() == 4000
    for odd in ODD:
        found = texts(tmp_path / "t.csv", end.join([*lines[:place], odd, *lines[place:]]))
        assert not expected - found
        assert (found - expected).total() <= 1
    assert survey(str(tmp_path / "t.csv"), ",") is Form.MIXED


def test_readers_agree_across_blocks(tmp_path, monkeypatch):
    """Records that lie on the borders of the blocks in which a file is looked through."""
    monkeypatch.setattr(text_records, "BLOCK_BYTES", 64)
    lines = [b'%d,"y%s""\n"' % (i, b"x" * (i % 40)) for i in range(400)]
    content = b"a,b\n" + b"\n".join(lines)
    expected = Counter((str(i), "y" + "x" * (i % 40) + '"\n') for i in range(400))
    assert texts(tmp_path / "t.csv", content) == expected
    assert survey(str(tmp_path / "t.csv"), ",") is Form.QUOTED
    for odd, form in (
        (b'9,"x', Form.MIXED),
        (b"9,\n", Form.MIXED),
        (b"9,x\r", Form.MIXED),
        (b"9,x", Form.QUOTED),
    ):
        for place in range(0, 400, 23):
            found = texts(
                tmp_path / "t.csv", b"\n".join([b"a,b", *lines[:place], odd, *lines[place:]])
            )
            assert not expected - found
            assert survey(str(tmp_path / "t.csv"), ",") is form


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_what_duckdb_does_not_split_well_on_several_cores_is_not_given_to_it(tmp_path, end):
    """At the borders between its threads it counts records twice after empty lines, and fails at
    line ends that differ.
    """
    lines = [b"a,b", b"1,x", b"2,y"]
    other = b"\r\n" if end == b"\n" else b"\n"
    for content, form in (
        (end.join(lines), Form.LINES),
        (end.join([*lines, b""]), Form.LINES),
        (end.join([*lines, b"", b""]), Form.MIXED),
        (end.join([lines[0], b"", *lines[1:]]), Form.MIXED),
        (end.join([lines[0], b"1,xx", b"", lines[2]]), Form.MIXED),
        (end.join(lines) + other, Form.MIXED),
        (end.join([*lines, b"3,\rz"]), Form.MIXED),
    ):
        (tmp_path / "t.csv").write_bytes(content)
        assert survey(str(tmp_path / "t.csv"), ",") is form


def test_records_of_any_length(tmp_path):
    """Up to a fixed length; a longer one is none, whatever is around it."""
    for longest in (text_records.LONGEST - 2, text_records.LONGEST - 1):
        for more in ("", '3,"y"\n', '3,"y\n"\n', "\n"):
            found = texts(tmp_path / "t.csv", f"a,b\n1,{'x' * longest}\n{more}2,z\n")
            assert found[("2", "z")] == 1
            assert found[("1", "x" * longest)] == (longest + 2 <= text_records.LONGEST)
            found = texts(tmp_path / "t.csv", f'a,b\n1,"{"x" * (longest - 3)}\n"\n{more}2,z\n')
            assert found[("2", "z")] == 1
            assert found[("1", "x" * (longest - 3) + "\n")] == (longest + 2 <= text_records.LONGEST)


def test_a_quotation_that_never_ends_takes_one_line(tmp_path):
    body = "".join(f"{i},x\n" for i in range(100_000))
    found = texts(tmp_path / "t.csv", f'a,b\n0,"\n{body}')
    assert found == Counter({(str(i), "x"): 1 for i in range(100_000)} | {("0", '"'): 1})


# ------------------------------------------------------------------------------
# fields


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("1", 1.0),
        ("-1.50", -1.5),
        (" 7 ", 7.0),
        ("+3", 3.0),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("007", 7.0),
        ("1_000", 1000.0),
        ("inf", inf),
        ("-Infinity", -inf),
        ("1e999", inf),
        ("9" * 400, inf),
        ("nan", None),
        ("NaN", None),
        ("0x10", None),
        ("0b1", None),
        ("1,5", None),
        ("1 2", None),
        ("12 months", None),
        ("NA", None),
        ("?", None),
        ("-", None),
        ("--1", None),
        ("", None),
        ("null", None),
        ("true", None),
        ("$5", None),
        ("5%", None),
        ("1__0", None),
        ("\uff11", None),
    ],
)
@pytest.mark.parametrize("kind", ["int", "float", "decimal"])
def test_numbers(tmp_path, field, expected, kind):
    for ending in (".csv", ".jsonl"):
        path = tmp_path / f"t{ending}"
        quoted = f'"{field}"'
        path.write_text(
            f"x,y\n{quoted},1\n" if ending == ".csv" else f'{{"x": {quoted}, "y": 1}}\n'
        )
        ((found, _),) = rows(path, ["x", "y"], "x", kind)
        assert (None if found is None or isnan(found) else found) == expected


MOMENTS = {
    "2020-02-29": dt.datetime(2020, 2, 29),
    " 2020-02-29 ": dt.datetime(2020, 2, 29),
    "2020-02-29T23:30": dt.datetime(2020, 2, 29, 23, 30),
    "2020-02-29 23:30:15.25": dt.datetime(2020, 2, 29, 23, 30, 15, 250_000),
    "2020-02-29T23:30:15.123456789Z": dt.datetime(2020, 2, 29, 23, 30, 15, 123_456),
    "2020-02-29T23:30:15-05:30": dt.datetime(2020, 3, 1, 5, 0, 15),
    "2020-03-01T01:00:00+0200": dt.datetime(2020, 2, 29, 23),
    "2020-03-01 01:00:00+02": dt.datetime(2020, 2, 29, 23),
    "0001-01-01": dt.datetime(1, 1, 1),
    "9999-12-31T23:59:59": dt.datetime(9999, 12, 31, 23, 59, 59),
}
NO_MOMENTS = [
    "2021-02-29",
    "2020-2-9",
    "20200229",
    "29.02.2020",
    "02/03/2020",
    "2020/02/29",
    "infinity",
    "-infinity",
    "epoch",
    "0044-03-15 (BC)",
    "12020-01-01",
    "2020-02-29 25:00",
    "2020-02-29 10",
    "2020-02-29T10:00:00 UTC",
    "2020-02-29T10:00:00 Europe/Berlin",
    "2020-02-29T10:00+99:00",
    "2020-02-29 x",
    "now",
    "today",
    "",
    "NaT",
    "1582934400",
    "2020-02-29\n2020-02-29",
]


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_dates_and_times(tmp_path, ending):
    for field, expected in [*MOMENTS.items(), *((field, None) for field in NO_MOMENTS)]:
        path = tmp_path / f"t{ending}"
        escaped = field.replace("\n", "\\n")
        path.write_text(
            f'd,y\n"{field}",1\n' if ending == ".csv" else f'{{"d": "{escaped}", "y": 1}}\n'
        )
        assert list(rows(path, ["d", "y"], "d", "datetime")) == [(expected, "1")], field
        assert list(rows(path, ["d", "y"], "d", "date")) == [(expected and expected.date(), "1")], (
            field
        )


def test_the_session_decides_nothing(tmp_path):
    (tmp_path / "t.csv").write_text("d\n2020-02-29T23:30:15-05:30\n2020-02-29T23:30:15\n")
    found = []
    for zone in ("UTC", "America/New_York"):
        connection = duckdb.connect()
        connection.execute(f"SET TimeZone = '{zone}'")
        found.append(rows(tmp_path / "t.csv", ["d"], "d", "datetime", connection))
    assert (
        found[0]
        == found[1]
        == Counter([(dt.datetime(2020, 3, 1, 5, 0, 15),), (dt.datetime(2020, 2, 29, 23, 30, 15),)])
    )


def test_only_the_column_of_values_has_a_type(tmp_path):
    (tmp_path / "t.csv").write_text("x,g,p\n1,1,00\n2.5,1.0,0\nfour,2020-01-01,1e5\n")
    relation = (
        open_path(tmp_path / "t.csv")
        .columns(ReadRequest(["x", "g", "p"], values=("x",), kind="int"))
        .rows()
    )
    assert list(map(str, relation.types)) == ["DOUBLE", "VARCHAR", "VARCHAR"]
    assert Counter(relation.fetchall()) == Counter(
        [(1, "1", "00"), (2.5, "1.0", "0"), (None, "2020-01-01", "1e5")]
    )
    for kind, name in (
        ("date", "DATE"),
        ("datetime", "TIMESTAMP"),
        ("category", "VARCHAR"),
        ("float", "DOUBLE"),
    ):
        (tmp_path / "t.jsonl").write_text("")
        for file in ("t.csv", "t.jsonl"):
            opened = open_path(tmp_path / file).columns(
                ReadRequest(["x"], values=("x",), kind=kind)
            )
            for relation in (opened.types, opened.rows()):
                assert [str(found) for found in relation.types] == [name]


def test_a_word_among_the_first_numbers_changes_nothing(tmp_path):
    for first in ("unknown", "1", "12.25", "2020-01-01", "#", '"'):
        (tmp_path / "t.csv").write_text(f"x\n{first}\n" + "7\n" * 50)
        release = duffdp.median(tmp_path / "t.csv", column="x", epsilon=SURE, bounds=(0, 10))
        assert (release.value, release.domain) == (7, duffdp.Grid(0, 10, 1))


def test_a_file_without_records_is_released_like_any_other(tmp_path):
    (tmp_path / "t.csv").write_text("x,g\n")
    (tmp_path / "t.jsonl").write_text("")
    for name in ("t.csv", "t.jsonl"):
        assert 0 <= duffdp.median(tmp_path / name, column="x", epsilon=1, bounds=(0, 9)).value <= 9
        assert (
            duffdp.mode(tmp_path / name, column="g", epsilon=1, categories=["f", "m"]).value in "fm"
        )


# ------------------------------------------------------------------------------
# JSON lines


def test_json_lines(tmp_path):
    lines = [
        ('{"a": 1, "b": "x"}', ("1", "x")),
        ('{"b": null, "c": 5}', (None, None)),
        ('{"a": "", "b": "é\\u00e9"}', (None, "éé")),
        ('{"a": 12345678901234567890123, "b": -0.5}', ("12345678901234567890123", "-0.5")),
        ('{"a": true, "b": {"c": [1, 2]}}', ("true", '{"c":[1,2]}')),
        ('  {"a": "1"}  ', ("1", None)),
    ]
    dropped = [
        "[1]",
        "5",
        "null",
        '"a"',
        "nope",
        "{",
        '{"a": 1} {"a": 2}',
        '{"a": "x\ty"}',
        "{'a': 1}",
    ]
    content = "\n".join([*(line for line, _ in lines), *dropped])
    assert texts(tmp_path / "t.jsonl", content) == Counter(found for _, found in lines)
    for odd in (
        "",
        "\0",
        "\x1f",
        "\ufeff",
        '"' * 3,
        "a" * 3 * 2**20,
        '{"a": "' + "x" * 2**20 + '"}',
    ):
        for place in (0, 3, 15):
            body = content.split("\n")
            body.insert(place, odd)
            assert texts(tmp_path / "t.jsonl", "\n".join(body)) == Counter(
                found for _, found in lines
            ), repr(odd)[:9]
    raw = content.encode() + b'\n{"a": "\xff"}'
    assert texts(tmp_path / "t.jsonl", raw) == Counter(
        [*(found for _, found in lines), ("\xff", None)]
    )


def test_a_misfit_in_json_is_found_neither_before_nor_after_the_charge(tmp_path):
    (tmp_path / "t.jsonl").write_text(
        '{"x": 7}\n' * 30_000 + '{"x": "a secret"}\n{"x": [7]}\nsecret\n'
    )
    ledger = duffdp.Ledger(tmp_path / "b.db", epsilon=2 * SURE)
    assert (
        duffdp.median(
            tmp_path / "t.jsonl", column="x", epsilon=SURE, bounds=(0, 9), ledger=ledger
        ).value
        == 7
    )


def test_json_that_is_not_lines(tmp_path):
    (tmp_path / "t.json").write_text('[{"x": 1}]')
    with pytest.raises(UnsupportedData, match="Save it as JSON lines"):
        rows(tmp_path / "t.json", ["x"])
    (tmp_path / "t.jsonl").write_text('{"x": 1}\n')
    with pytest.raises(UnsupportedData, match="so the column is required"):
        rows(tmp_path / "t.jsonl", [])


# ------------------------------------------------------------------------------
# patterns, folders


def test_patterns_and_folders(tmp_path):
    for folder, ending in (("csv", ".csv"), ("gz", ".csv.gz"), ("json", ".jsonl")):
        (tmp_path / folder / "deeper").mkdir(parents=True)
        for i, name in enumerate(("one", "two", "deeper/three")):
            text = f"a,b\n{i},x\n" if "csv" in ending else f'{{"a": {i}, "b": "x"}}\n'
            odd = ['"\n', "\n", ""][i]  # for each reader one
            raw = (text + odd).encode()
            (tmp_path / folder / f"{name}{ending}").write_bytes(
                gzip.compress(raw) if ending.endswith("gz") else raw
            )
        expected = Counter((str(i), "x") for i in range(3))
        for data in (
            tmp_path / folder,
            f"{tmp_path}/{folder}/**/*{ending}",
            f"{tmp_path}/{folder}/**/*",
        ):
            assert open_path(data).columns(ReadRequest(["a", "b"])).untyped
            assert rows(data, ["a", "b"]) - Counter([('"', None)]) == expected
        if ending != ".jsonl":
            raw = b"a,b,c\n1,2,3\n"
            (tmp_path / folder / f"zz{ending}").write_bytes(
                gzip.compress(raw) if ending.endswith("gz") else raw
            )
            with pytest.raises(UnsupportedData, match=r"headers of .* differ"):
                rows(tmp_path / folder, ["a", "b"])
    with pytest.raises(UnsupportedData, match="must have one format"):
        rows(tmp_path, ["a"])


def test_a_part_without_a_first_line_has_no_records(tmp_path):
    (tmp_path / "a.csv").write_text("")
    (tmp_path / "b.csv").write_text("a,b\n1,x\n")
    assert rows(tmp_path / "*.csv", ["a", "b"]) == Counter([("1", "x")])


def test_folders_that_name_a_value(tmp_path):
    for i, region in enumerate(("1", "2020-01-01", "x")):
        (tmp_path / f"region={region}").mkdir()
        duckdb.sql(f"COPY (SELECT {i} AS a) TO '{tmp_path}/region={region}/part.parquet'")
    for kept in (3, 2, 1):  # whether all of the names are numbers or dates decides nothing
        assert {
            str(t) for t in open_path(tmp_path).columns(ReadRequest(["a", "region"])).types.types
        } == {
            "INTEGER",
            "VARCHAR",
        }
        assert rows(tmp_path, ["a", "region"]).total() == kept
        last = tmp_path / f"region={('1', '2020-01-01', 'x')[kept - 1]}"
        (last / "part.parquet").unlink()


@pytest.mark.parametrize(
    "other",
    ["'1' AS a, 2 AS b", "1::BIGINT AS a, 2 AS b", "2 AS b", "1::DECIMAL(9, 3) AS a, 2 AS b"],
)
def test_parquet_files_with_different_types(tmp_path, other):
    for first in (True, False):
        for i, columns in enumerate(
            ("1::DECIMAL(9, 2) AS a, 2 AS b", other)
            if first
            else (other, "1::DECIMAL(9, 2) AS a, 2 AS b")
        ):
            duckdb.sql(f"COPY (SELECT {columns} LIMIT 0) TO '{tmp_path}/{i}.parquet'")
        with pytest.raises(UnsupportedData, match="'a' has different types in the Parquet files"):
            rows(tmp_path, ["a"])
        assert rows(tmp_path, ["b"]).total() == 0


# ------------------------------------------------------------------------------
# paths, databases

ODD_NAMES = [
    "p%41",
    "a#b",
    "a?b",
    "a*b",
    "a[1]",
    "a b",
    "é\u4e2d",
    "it's",
    'say "x"',
    "a::b",
    "a&b=c",
    "%",
    "~x",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_paths_are_taken_to_the_letter(tmp_path, name):
    """With a decoy that a careless reader would take instead."""
    for decoy in ("pA", "a", "aXb", "a1", "a%20b", "ab"):
        (tmp_path / f"{decoy}.csv").write_text("x\n0\n")
        base = sqlite3.connect(tmp_path / f"{decoy}.sqlite")
        base.executescript("CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (0)")
        base.close()
    content = {".csv": "x\n7\n", ".jsonl": '{"x": 7}\n'}
    for ending, text in content.items():
        (tmp_path / f"{name}{ending}").write_text(text)
        assert rows(tmp_path / f"{name}{ending}", ["x"], "x", "int") == Counter([(7.0,)])
    duckdb.sql("SELECT 7 AS x").write_parquet(str(tmp_path / "plain.parquet"))
    (tmp_path / "plain.parquet").rename(tmp_path / f"{name}.parquet")
    assert rows(tmp_path / f"{name}.parquet", ["x"]) == Counter([(7,)])
    if "::" in name:
        return  # a table would be named by what follows
    before = sorted(tmp_path.iterdir())
    plain = sqlite3.connect(tmp_path / "plain.sqlite")
    plain.executescript("CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (7)")
    plain.close()
    (tmp_path / "plain.sqlite").rename(tmp_path / f"{name}.sqlite")
    assert rows(f"{tmp_path}/{name}.sqlite::t", ["x"]) == Counter([(7,)])
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / f"{name}.sqlite"])


@pytest.mark.parametrize(
    "table", ["batch", "rows", "duffdp_rows", 'say "x"', "copied", "select", "a;b", "source"]
)
def test_tables_of_any_name(tmp_path, table):
    quoted = '"' + table.replace('"', '""') + '"'
    base = sqlite3.connect(tmp_path / "p.sqlite")
    base.executescript(
        f'CREATE TABLE {quoted} (x INTEGER, "y ""z""" TEXT); INSERT INTO {quoted} VALUES (7, '
        "'a'), (8, NULL)"
    )
    base.close()
    assert rows(f"{tmp_path}/p.sqlite::{table}", ["x", 'y "z"']) == Counter([(7, "a"), (8, None)])
    base = duckdb.connect(str(tmp_path / "p.duckdb"))
    base.execute(f"CREATE TABLE {quoted} AS SELECT 7 AS x")
    base.close()
    assert rows(f"{tmp_path}/p.duckdb::{table}", ["x"]) == Counter([(7,)])


def test_a_connection_with_tables_of_its_own(tmp_path):
    """Nothing of a caller's connection gets in the way, and two files may be opened in one."""
    connection = duckdb.connect()
    for name in ("batch", "held", "line", "copied", "rows"):
        connection.execute(f"CREATE TABLE {name} AS SELECT 'wrong' AS v0, 'wrong' AS x")
    base = sqlite3.connect(tmp_path / "p.sqlite")
    base.executescript("CREATE TABLE t (x TEXT); INSERT INTO t VALUES ('right')")
    base.close()
    (tmp_path / "t.csv").write_text('x\nright\n\n"\n')
    found = [
        open_path(data, connection).columns(ReadRequest(["x"])).rows()
        for data in [f"{tmp_path}/p.sqlite::t", tmp_path / "t.csv"] * 2
    ]
    for relation in found:
        assert Counter(relation.fetchall()) - Counter([('"',)]) == Counter([("right",)])


def test_fields_of_sqlite_are_read_one_by_one(tmp_path):
    """Columns there hold anything: what is not of the declared type is missing, wherever it
    stands.
    """
    odd = [None, "", "x", b"\xff", b"1", "1.5", 2**62, 1e300, float("inf"), "0x10", " 7 "]
    for first in odd:
        base = sqlite3.connect(":memory:")
        (tmp_path / "p.sqlite").unlink(missing_ok=True)
        base = sqlite3.connect(tmp_path / "p.sqlite")
        base.execute("CREATE TABLE t (i INTEGER, s TEXT)")
        base.executemany(
            "INSERT INTO t VALUES (?, ?)", [(first, first)] * 3000 + [(7, "seven")] * 5
        )
        base.execute("INSERT INTO t VALUES (7, CAST(x'ff' AS TEXT))")
        base.commit()
        base.close()
        found = rows(f"{tmp_path}/p.sqlite::t", ["i", "s"])
        assert found.total() == 3006
        assert (found[(7, "seven")], found[(7, "\xff")]) == (5, 1)


def test_no_error_quotes_a_record(tmp_path):
    """The first line names columns and is public; nothing else is ever told."""
    for name in ("not.parquet", "not.duckdb", "not.sqlite", "not.csv.gz", "not.jsonl.gz"):
        (tmp_path / name).write_bytes(b"secret\nsecret\n")
    (tmp_path / "t.sqlite").write_bytes(b"SQLite format 3\0secret")
    for data in (
        "not.parquet",
        "not.duckdb::t",
        "not.sqlite::t",
        "t.sqlite::t",
        "not.csv.gz",
        "not.jsonl.gz",
        "not.duckdb",
        "missing.csv",
        "*.no",
    ):
        with pytest.raises(UnsupportedData) as caught:
            rows(tmp_path / data, ["x"])
        assert "secret" not in str(caught.value)
        with pytest.raises(UnsupportedData) as caught:
            duffdp.median(str(tmp_path / data), column="x", epsilon=1, bounds=(0, 9))
        assert "secret" not in str(caught.value)
    packed = gzip.compress(b"x\n" + b"secret\n" * 99)
    (tmp_path / "cut.csv.gz").write_bytes(packed[:-9])  # its first line can be read
    with pytest.raises(UnsupportedData, match="its content does not match its file name"):
        duffdp.median(tmp_path / "cut.csv.gz", column="x", epsilon=1, bounds=(0, 9))
    lines = ["Smith,John,HIV,secret,5", '"secret', "secret\0", "# secret", "secret" * 2**19]
    for line in lines:
        (tmp_path / "t.csv").write_text(f"x,y\n{line}\n1,2\n")
        with pytest.raises(UnsupportedData) as caught:
            rows(tmp_path / "t.csv", ["z"])
        assert str(caught.value) == (
            "there is no column 'z'. Available columns: 'x', 'y'. The first line names them; "
            "skip_rows skips titles above it."
        )


def test_batches(tmp_path, monkeypatch):
    """Tables that are filled in several steps hold every record once."""
    monkeypatch.setattr(copied, "_BATCH_ROWS", 7)
    content = '"\na,b\n' + "".join(f"{i},\n" for i in range(50))
    found = texts(tmp_path / "t.csv", "a,b\n" + content)
    assert found == Counter([('"', None), ("a", "b"), *((str(i), None) for i in range(50))])
