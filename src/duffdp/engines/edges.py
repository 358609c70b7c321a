"""Edge lists: pairs of node numbers from arrays, frames, sparse matrices and CSV files, as a simple undirected graph."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from duffdp.domain import Array, Ints
from duffdp.engines.selection import is_table, narwhals
from duffdp.errors import DuffError, UnsupportedData

_FIX = "Pass two columns of whole node numbers."
_INT64 = np.iinfo(np.int64)
# Two whole numbers with a comma, a semicolon or blanks between them; up to 18 digits are an int64.
_EDGE = re.compile(
    rb"^[ \t]*0*(\d{1,18})(?:[ \t]*[,;][ \t]*|[ \t]+)0*(\d{1,18})[ \t]*\r?$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Graph:
    """A simple undirected graph: `tail < head` for every edge, nodes by falling degree, some of them without edges.

    `nodes` is the public number of nodes; `degree` lists those with an edge and up to two without.
    """

    nodes: int
    tail: Ints
    head: Ints
    degree: Ints

    @property
    def size(self) -> int:
        """Number of nodes listed."""
        return len(self.degree)

    def adjacency(self) -> Any:
        """The symmetric adjacency matrix in scipy's CSR format."""
        sparse = scipy_sparse()
        ones = np.ones(2 * len(self.tail), dtype=np.int64)
        ends = np.concatenate([self.tail, self.head]), np.concatenate([self.head, self.tail])
        return sparse.csr_matrix((ones, ends), shape=(self.size, self.size))


def scipy_sparse() -> Any:
    """scipy.sparse, which is imported only for graphs."""
    try:
        import scipy.sparse  # type: ignore[import-untyped]
    except ImportError:
        raise DuffError(
            "graph statistics need scipy. Install it with: pip install 'duffdp[graph]'"
        ) from None
    return scipy.sparse


def read_edges(edges: Any, nodes: int) -> Graph:
    """The simple graph of the edges between the public nodes 0 to nodes - 1, each edge read by itself.

    Self-loops and what is no edge between such nodes are dropped; an edge that is listed twice or in both directions counts once.
    """
    pairs = _pairs(edges)
    pairs = pairs[(pairs >= 0).all(axis=1) & (pairs < nodes).all(axis=1)].astype(np.int64)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    names, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(-1, 2)
    size = min(nodes, len(names) + 2)
    tail, head = np.divmod(np.unique(ends.min(axis=1) * size + ends.max(axis=1)), size)
    degree = np.bincount(tail, minlength=size) + np.bincount(head, minlength=size)
    order = np.argsort(-degree, kind="stable")
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    tail, head = place[tail], place[head]
    return Graph(nodes, np.minimum(tail, head), np.maximum(tail, head), degree[order])


def check_edges(edges: Any) -> None:
    """Refuse what no edge could change: the kind, the shape and the types, without a look at an edge."""
    if isinstance(edges, str | os.PathLike):
        with _open_file(edges):
            return
    if isinstance(edges, np.ndarray):
        _pairs(edges[:0])
    elif not hasattr(edges, "tocoo") and is_table(edges):
        _from_frame(edges, rows=0)
    elif hasattr(edges, "tocoo"):
        _check_square(edges.shape)
    elif not isinstance(edges, Iterable):
        _from_records(edges)


def _pairs(edges: Any) -> Array:
    """Any edge list as an array of two columns of whole numbers."""
    if isinstance(edges, str | os.PathLike):
        return _from_file(edges)
    if hasattr(edges, "tocoo"):
        return _from_matrix(edges.tocoo())
    if is_table(edges):
        return _from_frame(edges)
    if not isinstance(edges, np.ndarray):
        return _from_records(edges)
    if edges.ndim != 2 or edges.shape[1] != 2:
        shape = " x ".join(["edges", *(str(width) for width in edges.shape[1:])])
        weights = " Weights are not supported." if edges.ndim == 2 and edges.shape[1] == 3 else ""
        raise UnsupportedData(
            f"edges must have two columns, got an array of {shape}.{weights} {_FIX}"
        )
    if edges.dtype == object:
        return _from_records(edges)
    _check_type(edges.dtype.kind in "iu", edges.dtype)
    return edges


def _check_type(whole: bool, dtype: Any) -> None:
    if not whole:
        raise UnsupportedData(f"edges must be whole node numbers, got dtype {dtype}. {_FIX}")


def _from_records(edges: Any) -> Array:
    """Pairs that are objects of Python have no type: each is two whole numbers, or else it is no edge."""
    if not isinstance(edges, Iterable):
        raise UnsupportedData(
            f"edges must be pairs of node numbers, got {type(edges).__name__}. {_FIX}"
        )
    listed = list(edges)
    try:
        quick = np.array(listed)
    except (ValueError, OverflowError):  # not alike: read one by one
        quick = np.empty(0)
    if quick.dtype == np.int64 and quick.ndim == 2 and quick.shape[1] == 2:
        return quick
    found = [pair for pair in map(_pair, listed) if pair is not None]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _pair(record: Any) -> tuple[int, int] | None:
    try:
        tail, head = map(operator.index, record)
    except (TypeError, ValueError):
        return None
    return (tail, head) if max(abs(tail), abs(head)) <= _INT64.max else None


def _from_frame(edges: Any, rows: int | None = None) -> Array:
    """A frame with two columns of an integer type; a missing number makes no edge."""
    nw = narwhals()
    try:
        frame = nw.from_native(edges, eager_only=True)
    except TypeError:
        raise UnsupportedData(
            f"edges must be a frame in memory, got {type(edges).__name__}. {_FIX}"
        ) from None
    if len(frame.columns) != 2:
        raise UnsupportedData(f"edges must have two columns, got {len(frame.columns)}. {_FIX}")
    columns = [frame.get_column(name)[:rows] for name in frame.columns]
    for column in columns:
        _check_type(column.dtype.is_integer(), column.dtype)
    present = ~(columns[0].is_null() | columns[1].is_null())
    return np.column_stack([_signed(column.filter(present).to_numpy()) for column in columns])


def _signed(numbers: Array) -> Ints:
    """Whole numbers as int64; larger ones are no nodes."""
    if numbers.dtype == np.uint64:
        numbers = (
            np.where(numbers > np.uint64(_INT64.max), np.uint64(0), numbers + np.uint64(1)).astype(
                np.int64
            )
            - 1
        )
    return numbers.astype(np.int64)


def _from_matrix(matrix: Any) -> Array:
    """Every entry of an adjacency matrix that is not 0 is an edge, whatever its weight."""
    _check_square(matrix.shape)
    entries = matrix.data != 0
    return np.column_stack([matrix.row[entries], matrix.col[entries]]).astype(np.int64)


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise UnsupportedData(f"an adjacency matrix must be square, got shape {shape}.")


def _from_file(path: str | os.PathLike[str]) -> Array:
    """A file of text: a line with two whole numbers is an edge, and any other line, such as a header, is not."""
    with _open_file(path) as file:
        text = file.read()
    found = _EDGE.findall(text.removeprefix(b"\xef\xbb\xbf"))
    return np.array(found, dtype="S18").reshape(-1, 2).astype(np.int64)


def _open_file(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise UnsupportedData(
            f"cannot read the edges from {os.fspath(path)!r}: {error.strerror}."
        ) from None
