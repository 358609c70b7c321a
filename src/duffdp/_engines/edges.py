"""Edge lists: pairs of whole numbers from arrays, frames, sparse matrices and text files, as a
simple undirected graph.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from duffdp._engines.addresses import printable
from duffdp._engines.libraries import is_table, narwhals
from duffdp._engines.requests import Answer, ColumnRequest, EdgeRecords
from duffdp._engines.sql.query import Query
from duffdp.domain import Array, Ints
from duffdp.errors import DuffError, UnsupportedData

_FIX = "Pass two columns of whole node numbers."
MAX_NODE_DIGITS = 38  # a node number with more digits is none, so that no line takes long to read
# Two whole numbers with a comma, a semicolon or blanks between them.
_NUMBER = rb"([+-]?[0-9]{1,%d})" % MAX_NODE_DIGITS
_EDGE = re.compile(
    rb"^[ \t]*" + _NUMBER + rb"(?:[ \t]*[,;][ \t]*|[ \t]+)" + _NUMBER + rb"[ \t]*\r?$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Graph:
    """A simple undirected graph: `first < second` for every edge, nodes by falling degree.

    `degree` lists the nodes that have an edge and two that have none: there are always more.
    """

    first: Ints
    second: Ints
    degree: Ints

    @property
    def size(self) -> int:
        """Number of nodes listed."""
        return len(self.degree)

    def adjacency(self) -> Any:
        """The symmetric adjacency matrix in scipy's CSR format."""
        sparse = scipy_sparse()
        ones = np.ones(2 * len(self.first), dtype=np.int64)
        ends = np.concatenate([self.first, self.second]), np.concatenate([self.second, self.first])
        return sparse.csr_matrix((ones, ends), shape=(self.size, self.size))


class EdgeEngine:
    """The edges of one graph, as the caller passed them."""

    groups = 1
    max_records = 0  # not known before the edges are read; graph statistics do not need it

    def __init__(self, edges: object) -> None:
        self._edges = edges

    def blocks(self) -> list[Ints]:
        """The one graph."""
        return [np.zeros(1, dtype=np.int64)]

    def answer(self, requests: Sequence[ColumnRequest]) -> list[Answer]:
        """One answer for each request."""
        for _, _, request in requests:
            if not isinstance(request, EdgeRecords):
                raise TypeError(f"edges do not answer {type(request).__name__}.")
        return [[self._edges] for _ in requests]


def scipy_sparse() -> Any:
    """scipy.sparse, which is imported only for graphs."""
    try:
        import scipy.sparse  # type: ignore[import-untyped]
    except ImportError:
        raise DuffError("graph statistics need scipy. Run: pip install 'duffdp[graph]'.") from None
    return scipy.sparse


def read_edges(edges: object) -> Graph:
    """The simple graph of the edges, each read individually.

    Nodes are whole numbers of any sign. Self-loops and rows that are not two whole numbers are
    dropped; an edge that is listed twice or in both directions counts once.
    """
    pairs = _pairs(edges)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    labels, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(-1, 2)
    size = len(labels) + 2
    first, second = np.divmod(np.unique(ends.min(axis=1) * size + ends.max(axis=1)), size)
    degree = np.bincount(first, minlength=size) + np.bincount(second, minlength=size)
    order = np.argsort(-degree, kind="stable")
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    first, second = place[first], place[second]
    return Graph(np.minimum(first, second), np.maximum(first, second), degree[order])


def check_edges(edges: Any) -> None:
    """Refuse what no edge could change: the kind, the shape and the types, without a look at an
    edge.
    """
    if isinstance(edges, Query):
        raise UnsupportedData("edges cannot come from a query. Pass the table of edges itself.")
    if isinstance(edges, str | os.PathLike):
        with _open_file(edges):
            return
    if isinstance(edges, np.ndarray):
        _pairs(edges[:0])
    elif hasattr(edges, "tocoo"):
        _check_square(edges.shape)
    elif is_table(edges):
        _from_frame(edges, rows=0)
    elif not isinstance(edges, Iterable):
        _from_records(edges)


def _pairs(edges: object) -> Array:
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


def _check_type(is_integer: bool, dtype: object) -> None:
    if not is_integer:
        raise UnsupportedData(f"edges must be whole node numbers, got dtype {dtype}. {_FIX}")


def _from_records(edges: object) -> Array:
    """Pairs that are objects of Python have no type: each is two whole numbers, or else it is no
    edge.
    """
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
    return _whole_numbers([pair for pair in map(_pair, listed) if pair is not None])


def _pair(record: Any) -> tuple[int, int] | None:
    try:
        first, second = map(operator.index, record)
    except Exception:  # whatever a record does, it is no edge
        return None
    return (first, second) if max(abs(first), abs(second)) < 10**MAX_NODE_DIGITS else None


def _whole_numbers(pairs: list[tuple[int, int]]) -> Array:
    """int64, or numbers of Python where one of them is larger: equal numbers stay equal and
    others different.
    """
    count = 2 * len(pairs)
    try:
        return np.fromiter(chain.from_iterable(pairs), np.int64, count).reshape(-1, 2)
    except OverflowError:
        return np.fromiter(chain.from_iterable(pairs), object, count).reshape(-1, 2)


def _from_frame(edges: object, rows: int | None = None) -> Array:
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
        # By what the library declares: narwhals looks at objects to say what they are.
        _check_type(column.dtype.is_integer(), getattr(column.to_native(), "dtype", column.dtype))
    present = ~(columns[0].is_null() | columns[1].is_null())
    first, second = (_numbers(column.filter(present)) for column in columns)
    if np.result_type(first, second).kind == "f":  # int64 beside uint64: no type of numpy has both
        first, second = first.astype(object), second.astype(object)
    return np.column_stack([first, second])


def _numbers(column: Any) -> Array:
    nw = narwhals()
    if column.dtype in (nw.Int128, nw.UInt128):  # numpy has no such type
        return np.array(column.to_list(), dtype=object)
    numbers: Array = column.to_numpy()
    return numbers


def _from_matrix(matrix: Any) -> Array:
    """Every entry of an adjacency matrix that is not 0 is an edge, whatever its weight."""
    _check_square(matrix.shape)
    entries = matrix.data != 0
    return np.column_stack([matrix.row[entries], matrix.col[entries]]).astype(np.int64)


def _check_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise UnsupportedData(f"an adjacency matrix must be square, got shape {shape}.")


def _from_file(path: str | os.PathLike[str]) -> Array:
    """A file of text: a line with two whole numbers is an edge, and any other line, such as a
    header, is not.
    """
    with _open_file(path) as file:
        text = file.read()
    matches = _EDGE.findall(text.removeprefix(b"\xef\xbb\xbf"))
    return _whole_numbers([(int(first), int(second)) for first, second in matches])


def _open_file(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise UnsupportedData(
            f"cannot read the edges from {printable(os.fspath(path))!r}: {error.strerror}."
        ) from None
