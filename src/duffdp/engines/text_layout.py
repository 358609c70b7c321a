"""How a file of text is laid out, by rules that no single record can change.

The first line names the columns and tells the delimiter. Which reader takes the records is found at the speed of memory; it
decides about speed alone, as all readers agree on every record (`tests/files_test.py`).
"""

from __future__ import annotations

import gzip
import re
from enum import Enum
from typing import IO, NamedTuple

import numpy as np

from duffdp.domain import Array, Ints
from duffdp.engines.text_records import LONGEST, decode, split_record
from duffdp.errors import UnsupportedData

BLOCK = LONGEST // 2  # a line that is too long leaves one block without a line break
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DELIMITERS = (b",", b";", b"|", b"\t")
_QUOTE, _LINE_FEED, _RETURN = b'"\n\r'


class Layout(NamedTuple):
    """What the first line says."""

    delimiter: str
    names: tuple[str, ...]


class Form(Enum):
    """Which reader takes the records of a file."""

    LINES = "each line is a record, and DuckDB splits it at delimiters"
    QUOTED = "well-formed quotation, which DuckDB reads"
    MIXED = "whatever else: read record by record"


def open_bytes(path: str) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    return gzip.open(path) if path.lower().endswith(".gz") else open(path, "rb")  # type: ignore[return-value]


def read_layout(path: str) -> Layout | None:
    """The layout of a file of text with delimiters; None if there is not even a first line."""
    with open_bytes(path) as file:
        line = file.readline(LONGEST + 1).removeprefix(BYTE_ORDER_MARK)
    if not line:
        return None
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    if len(line) > LONGEST or b"\0" in line or b"\r" in line:
        raise UnsupportedData(
            f"the first line of {path!r} names no columns: it is too long, or not text of UTF-8 with line feeds. "
            "Save the file as CSV in UTF-8."
        )
    bare = re.sub(rb'"(?:[^"]|"")*"', b"", line)
    tabs = path.lower().removesuffix(".gz").endswith(".tsv")
    delimiter = max(
        DELIMITERS[::-1] if tabs else DELIMITERS, key=bare.count
    )  # the first of those that tie
    names = tuple(map(decode, split_record(line, delimiter)))
    if not any(names):
        raise UnsupportedData(f"the first line of {path!r} is empty. It must name the columns.")
    return Layout(delimiter.decode(), names)


def survey(path: str, delimiter: str | None) -> Form:
    """Which reader can take the records; without a delimiter, quotation marks are characters like any other."""
    quoted, whole, end = False, True, b""
    with open_bytes(path) as file:
        while block := file.read(BLOCK):
            block += file.readline(BLOCK)
            end = end or (b"\r\n" if b"\r\n" in block[: block.find(b"\n") + 1] else b"\n")
            quoted = quoted or (delimiter is not None and b'"' in block)
            if not whole or not _is_text(block) or not (quoted or _ends_alike(block, end)):
                return Form.MIXED
            whole = block.endswith(b"\n")
    if not quoted:
        return Form.LINES
    return Form.QUOTED if _is_well_formed(path, str(delimiter), end) else Form.MIXED


def _is_text(block: bytes) -> bool:
    """Whether a block of whole lines is UTF-8 without NUL."""
    if b"\0" in block:
        return False
    if not block.isascii():
        try:
            block.decode()
        except UnicodeDecodeError:
            return False
    return True


def _ends_alike(block: bytes, end: bytes) -> bool:
    """Whether all lines of a block end as the first one of the file does, and none is empty."""
    if block.startswith(end) or end + end in block:
        return False
    if end == b"\n":
        return b"\r" not in block
    return block.count(b"\r") == block.count(b"\n") == block.count(end)


def _is_well_formed(path: str, delimiter: str, end: bytes) -> bool:
    """Whether all records are quoted as RFC 4180 says, end alike, and are neither empty nor too long."""
    rest = b""
    with open_bytes(path) as file:
        while True:
            block = file.read(BLOCK)
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
    """The same for a block of whole records: every quotation mark opens a field, closes one, or is doubled inside of one."""
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
