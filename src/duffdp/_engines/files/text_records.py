"""The records of a text file: the choice of a reader, and the reader for files that are not
well-formed.

The choice is made at the speed of memory and decides about speed alone, as all readers agree on
every record (`tests/engines/files_test.py`). A record is read as if it were alone. It is quoted as
RFC 4180 says, over several lines if need be and if it then has the fields of the header. A line
that begins no such record is a record by itself, its quotation marks being characters like any
other.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache
from typing import IO

import numpy as np

from duffdp._engines.files.packing import open_bytes
from duffdp._parameters import DEFAULT_ENCODING, character_table
from duffdp.domain import Array, Ints

# Bytes of a record; what is longer is none, or one quotation mark could hold the whole file.
LONGEST = 2**20
BLOCK_BYTES = LONGEST // 2  # a line that is too long leaves one block without a line break
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FALLBACK_ENCODING = "windows-1252"  # as browsers read pages that are not UTF-8
_QUOTE, _LINE_FEED, _RETURN = b'"\n\r'
_LINES = "quote = '', escape = '', null_padding = true, ignore_errors = true"
_QUOTED = """quote = '"', escape = '"', parallel = false"""


class Form(Enum):
    """The reader that can take the records of a file."""

    LINES = "each line is a record, and DuckDB splits it at delimiters"
    QUOTED = "well-formed quotation, which DuckDB reads"
    MIXED = "whatever else: read record by record"


def decode(text: bytes, encoding: str = DEFAULT_ENCODING) -> str:
    """The text of one field. In UTF-8, a field that is not valid is read as windows-1252."""
    if encoding == DEFAULT_ENCODING:
        try:
            return text.decode()
        except UnicodeDecodeError:
            encoding = FALLBACK_ENCODING
    return codecs.charmap_decode(text, "strict", character_table(encoding))[0]


def survey(path: str, delimiter: str | None, encoding: str = DEFAULT_ENCODING) -> Form:
    """The reader that can take the records; without a delimiter, quotation marks are ordinary
    characters.
    """
    quoted, whole, end = False, True, b""
    with open_bytes(path) as file:
        while block := file.read(BLOCK_BYTES):
            block += file.readline(BLOCK_BYTES)
            end = end or (b"\r\n" if b"\r\n" in block[: block.find(b"\n") + 1] else b"\n")
            quoted = quoted or (delimiter is not None and b'"' in block)
            if (
                not whole
                or not _is_text(block, encoding)
                or not (quoted or _ends_alike(block, end))
            ):
                return Form.MIXED
            whole = block.endswith(b"\n")
    if not quoted:
        return Form.LINES
    return Form.QUOTED if _is_well_formed(path, str(delimiter), end) else Form.MIXED


def _is_text(block: bytes, encoding: str) -> bool:
    """True if DuckDB can read a block of whole lines: UTF-8 without NUL, or ASCII if the encoding
    is another one.
    """
    if b"\0" in block:
        return False
    if not block.isascii():
        if encoding != DEFAULT_ENCODING:
            return False
        try:
            block.decode()
        except UnicodeDecodeError:
            return False
    return True


def _ends_alike(block: bytes, end: bytes) -> bool:
    """True if all lines of a block end as the file's first line does, and none is empty."""
    if block.startswith(end) or _has_pair(block, b"\n" + end[:1]):
        return False
    if end == b"\n":
        return b"\r" not in block
    return block.count(b"\r") == block.count(b"\n") == block.count(end)


def _has_pair(block: bytes, pair: bytes) -> bool:
    """True if two bytes are adjacent: `in` takes ten times as long where one of them is common."""
    sought = np.frombuffer(pair, dtype=np.uint16)
    halves = (np.frombuffer(block, np.uint16, (len(block) - at) // 2, at) for at in (0, 1))
    return any(bool((half == sought).any()) for half in halves)


def _is_well_formed(path: str, delimiter: str, end: bytes) -> bool:
    """True if all records are quoted by RFC 4180, have the same line end, and are neither empty nor
    too long.
    """
    rest = b""
    with open_bytes(path) as file:
        while True:
            block = file.read(BLOCK_BYTES)
            text = rest + block if rest else block.removeprefix(BYTE_ORDER_MARK)
            data = np.frombuffer(text, dtype=np.uint8)
            quotes = np.flatnonzero(data == _QUOTE)
            ends = _outside(np.flatnonzero(data == _LINE_FEED), quotes)
            stop = len(data) if not block else int(ends[-1]) + 1 if len(ends) else 0
            quotes = quotes[: np.searchsorted(quotes, stop)]
            if not _records_are_well_formed(
                data[:stop], quotes, ends, ord(delimiter), end == b"\r\n"
            ):
                return False
            rest = text[stop:]
            if not block or len(rest) > LONGEST:
                return not block


def _records_are_well_formed(
    data: Array, quotes: Ints, ends: Ints, delimiter: int, returns: bool
) -> bool:
    """True if every quotation mark in a block of whole records opens a field, closes one, or is
    doubled inside of one.
    """
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    framed = np.concatenate([[_LINE_FEED], data, [_LINE_FEED]])
    before, after = framed[opening], framed[closing + 2]
    alone = _outside(np.flatnonzero(data == _RETURN), quotes)
    lengths = np.diff(ends, prepend=-1) - 1 - returns
    return bool(
        np.isin(before, [delimiter, _LINE_FEED, _QUOTE]).all()
        and np.isin(after, [delimiter, _LINE_FEED, _QUOTE, _RETURN]).all()
        and len(alone) == (len(ends) if returns else 0)
        and (framed[alone + 2] == _LINE_FEED).all()
        and (lengths > 0).all()
        and (lengths <= LONGEST).all()
    )


def _outside(places: Ints, quotes: Ints) -> Ints:
    """Those of the places that lie in no quotation."""
    outside: Ints = places[np.searchsorted(quotes, places) % 2 == 0]
    return outside


def read_csv(
    files: Iterable[str],
    delimiter: str,
    fields: list[str],
    *,
    header: bool,
    quoted: bool,
    skip_rows: int = 0,
) -> str:
    """DuckDB's reader for text files, in which nothing is found by looking: no types, no
    comments, no layout.

    `files` are texts in SQL. Without quotation each line is a record. With it a record may go on
    over several lines, which DuckDB's parallel reader is not safe with, and one that is not
    well-formed is an error.
    """
    assert not (quoted and skip_rows)  # a quotation mark in a title could hold the header
    # Fields are named by this library and delimiters are of a known few: neither holds a quotation
    # mark.
    columns = ", ".join(f"'{field}': 'VARCHAR'" for field in fields)
    return (
        f"read_csv([{', '.join(files)}], columns = {{{columns}}}, header = {header}, skip = "
        f"{skip_rows}, delim = '{delimiter}', "
        f"{_QUOTED if quoted else _LINES}, comment = '', strict_mode = true, auto_detect = false, "
        "hive_partitioning = false)"
    )


def skip_lines(file: IO[bytes], number: int) -> None:
    """Read so many lines, of any length."""
    for _ in range(number):
        while (part := file.readline(LONGEST)) and not part.endswith(b"\n"):
            pass


def read_records(
    file: IO[bytes], delimiter: bytes, width: int, skip_rows: int = 0
) -> Iterator[list[bytes]]:
    """The records of a file after its header, `width` fields each; a missing field is empty."""
    skip_lines(file, skip_rows)
    lines = _Lines(file)
    lines.take()
    while (line := lines.take()) is not None:
        fields = None
        if line.count(b'"') % 2:
            fields = _over_lines(line, lines, delimiter, width)
        if fields is None:
            fields = fitted(split_record(line_text(line), delimiter), width)
        if fields is not None and line_text(line):
            yield fields


def read_lines(file: IO[bytes]) -> Iterator[list[bytes]]:
    """Every line that is not empty, as a record of one field."""
    lines = _Lines(file)
    while (line := lines.take()) is not None:
        if text := line_text(line):
            yield [text]


def line_text(line: bytes) -> bytes:
    """A line without its end. A carriage return anywhere else is a character like any other."""
    return line.removesuffix(b"\n").removesuffix(b"\r")


def split_record(text: bytes, delimiter: bytes) -> list[bytes]:
    """The fields of a record by the quoting of RFC 4180, or the parts between delimiters if it is
    quoted differently.
    """
    return _unquoted(text, delimiter) or text.split(delimiter)


def split_names(line: bytes, delimiter: bytes, encoding: str) -> tuple[str, ...]:
    """The names of columns in a header."""
    return tuple(decode(name, encoding) for name in split_record(line, delimiter))


def fitted(fields: list[bytes], width: int) -> list[bytes] | None:
    """Exactly `width` fields: absent ones are empty, empty ones too many are cut off; None with
    more than that.
    """
    if len(fields) > width:
        return None if any(fields[width:]) else fields[:width]
    return fields + [b""] * (width - len(fields))


class _Lines:
    """The lines of a file with their line ends; lines can be pushed back, and overlong lines count
    as empty.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._waiting = deque[bytes]()

    def take(self) -> bytes | None:
        """The next line, or None."""
        if self._waiting:
            return self._waiting.popleft()
        line = part = self._file.readline(LONGEST + 2)
        while len(part) == LONGEST + 2 and not part.endswith(b"\n"):
            part = self._file.readline(LONGEST + 2)
            line = b""
        if not line and not part:
            return None
        return line if len(line_text(line)) <= LONGEST else b""

    def give_back(self, lines: list[bytes]) -> None:
        """Let these lines be taken again."""
        self._waiting.extendleft(reversed(lines))


def _over_lines(line: bytes, lines: _Lines, delimiter: bytes, width: int) -> list[bytes] | None:
    """The fields of a record that goes on after this line; None, and no line is used up, if it
    is not well-formed.
    """
    taken, size = [], len(line)
    while size <= LONGEST + 2 and (more := lines.take()) is not None:
        taken.append(more)
        size += len(more)
        if not more:
            break
        if more.count(b'"') % 2:  # outside of quotation again
            text = line_text(b"".join([line, *taken]))
            fields = _unquoted(text, delimiter) if len(text) <= LONGEST else None
            if fields is not None and len(fields) >= width and not any(fields[width:]):
                return fields[:width]
            break
    lines.give_back(taken)
    return None


def _unquoted(text: bytes, delimiter: bytes) -> list[bytes] | None:
    """The fields of a well-formed record; None of another."""
    if b'"' not in text:
        return text.split(delimiter)
    record, field = _patterns(delimiter)
    if not record.fullmatch(text):
        return None
    return [
        part[1:-1].replace(b'""', b'"') if part.startswith(b'"') else part
        for part in field.findall(delimiter + text)
    ]


@lru_cache(maxsize=8)
def _patterns(delimiter: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """A well-formed record, and one field of it with the delimiter before it."""
    mark = re.escape(delimiter)
    field = rb'(?:"[^"]*+(?:""[^"]*+)*+"|[^"\n' + mark + rb"]*+)"
    return re.compile(field + rb"(?:" + mark + field + rb")*+"), re.compile(
        mark + rb"(" + field + rb")"
    )
