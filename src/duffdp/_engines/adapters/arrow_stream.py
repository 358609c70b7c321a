"""Reader of number columns that an engine in this process passes on in batches, by the C stream
interface of Apache Arrow.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from duffdp.domain import Array

FULL = 10**6  # rows of every batch of DuckDB but the last one


class _Batch(ctypes.Structure):
    """`struct ArrowArray`."""


class _Stream(ctypes.Structure):
    """`struct ArrowArrayStream`."""


_Batch._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Batch))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Batch))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    (
        "get_next",
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Batch)),
    ),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def batches(capsule: Any, dtypes: Sequence[Any], count: Callable[[], int]) -> Iterator[list[Array]]:
    """The columns of a stream as arrays of these types, without the rows in which one of them is
    missing. An array is gone when the next batch is asked for. `count` returns the number of
    rows, if that needs a query.
    """
    stream = ctypes.cast(_pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    last = rows = 0
    while True:
        batch = _Batch()
        if stream.contents.get_next(stream, batch):
            raise _stopped()
        if not batch.release:
            break
        last = batch.length
        rows += last
        try:
            yield _columns(batch, dtypes)
        finally:
            batch.release(batch)
    # Another query in the same connection ends a stream before its next batch without an error.
    if last % FULL == 0 and count() != rows:
        raise _stopped()


def _stopped() -> RuntimeError:
    return RuntimeError("the engine stopped before all rows were read")


def _columns(batch: _Batch, dtypes: Sequence[Any]) -> list[Array]:
    columns, present = [], None
    for at, dtype in enumerate(dtypes):
        column = batch.children[at].contents
        begin, end = column.offset, column.offset + batch.length
        columns.append(
            _bytes(column.buffers[1], end * np.dtype(dtype).itemsize).view(dtype)[begin:]
        )
        if column.null_count and column.buffers[0]:
            bits = np.unpackbits(_bytes(column.buffers[0], -(-end // 8)), bitorder="little")
            valid = bits[begin:end].view(bool)
            present = valid if present is None else present & valid
    return columns if present is None else [column[present] for column in columns]


def _bytes(address: int | None, size: int) -> Array:
    """The memory at an address; where nothing is, there may be none."""
    if not size:
        return np.empty(0, dtype=np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address or 0))
