"""Records of a file of text that is not well-formed: each is read as if it were alone.

A record is quoted as RFC 4180 says, over several lines if need be and if it then has the fields of the header. A line that
begins no such record is a record by itself, its quotation marks being characters like any other.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import IO

LONGEST = (
    2**20
)  # bytes of a record; what is longer is none, or one quotation mark could hold the whole file


def decode(text: bytes) -> str:
    """UTF-8; what is not, is taken for Latin-1, in which every byte is a character."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def read_records(file: IO[bytes], delimiter: bytes, width: int) -> Iterator[list[bytes]]:
    """The records of a file after its first line, `width` fields each; a missing field is empty."""
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
    """The fields of a record as RFC 4180 quotes them, or what stands between delimiters if it is quoted otherwise."""
    return _unquoted(text, delimiter) or text.split(delimiter)


def fitted(fields: list[bytes], width: int) -> list[bytes] | None:
    """Exactly `width` fields: absent ones are empty, empty ones too many are cut off; None with more than that."""
    if len(fields) > width:
        return None if any(fields[width:]) else fields[:width]
    return fields + [b""] * (width - len(fields))


class _Lines:
    """The lines of a file with their ends, some of which may be given back; one that is too long counts as empty."""

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
    """The fields of a record that goes on after this line; None, and no line is used up, if it is not well-formed."""
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
