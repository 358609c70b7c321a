"""Packed files: plain, gzip and zstandard, by the ending of their name."""

from __future__ import annotations

import gzip
import io
import os
from typing import IO, Any

from duffdp._optional import load

_SKIPPED, _REPEATED = 0x184D2A5, 1  # a frame that holds no data; a block of one byte, many times
_LONGEST_HEADER = 18


def packed_endings(*endings: str) -> tuple[str, ...]:
    """Endings of file names, plain and packed."""
    return tuple(ending + packed for ending in endings for packed in ("", ".gz", ".zst"))


def open_bytes(path: str) -> IO[bytes]:
    """The bytes of a file, unpacked."""
    if path.lower().endswith(".zst"):
        return _open_zstandard(path)
    packed = path.lower().endswith(".gz")
    return gzip.open(path) if packed else open(path, "rb")  # type: ignore[return-value]


def unpacked_name(path: str) -> str:
    """The name of a file without what says how it is packed."""
    return path.lower().removesuffix(".gz").removesuffix(".zst")


def _open_zstandard(path: str) -> IO[bytes]:
    """The unpacked bytes of a zstandard file; an error if its end is missing, which the reader of
    frames takes for the end of the data.
    """
    zstandard = load("zstandard", "files")
    file = open(path, "rb")  # noqa: SIM115 (closed with what reads it)
    try:
        _check_ends(zstandard, file)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    unpacked = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    return io.BufferedReader(unpacked)


def _check_ends(zstandard: Any, file: IO[bytes]) -> None:
    """Walk from block to block, by RFC 8878, section 3.1."""
    size, at, last = os.fstat(file.fileno()).st_size, 0, 1
    while last and at < size:
        file.seek(at)
        head = file.read(_LONGEST_HEADER)
        if int.from_bytes(head[:4], "little") >> 4 == _SKIPPED:
            at += 8 + int.from_bytes(head[4:8], "little")
            continue
        at += zstandard.frame_header_size(head)
        last = 0
        while not last and at < size:
            file.seek(at)
            block = int.from_bytes(file.read(3), "little")
            last, kind, long = block & 1, block >> 1 & 3, block >> 3
            at += 3 + (1 if kind == _REPEATED else long)
        at += 4 * zstandard.get_frame_parameters(head).has_checksum
    if at > size or not last:
        raise EOFError("the end of the file is missing")
