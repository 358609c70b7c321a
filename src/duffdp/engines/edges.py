"""Edge lists: pairs of node numbers from arrays, frames, sparse matrices and CSV files, as a simple undirected graph."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from duffdp.domain import Ints
from duffdp.errors import DuffError, UnsupportedData

_FIX = "Pass two columns of whole node numbers."


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
        raise DuffError("graph statistics need scipy. Install it with: pip install 'duffdp[graph]'") from None
    return scipy.sparse


def read_edges(edges: Any, nodes: int) -> Graph:
    """Self-loops are dropped; an edge that is listed twice or in both directions counts once."""
    pairs = _pairs(edges)
    if pairs.size and pairs.min() < 0:
        raise UnsupportedData("node numbers must be 0 or more, got negative ones. Number the nodes anew.")
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    names, ends = np.unique(pairs, return_inverse=True)
    if len(names) > nodes:
        raise UnsupportedData(f"the edges name more nodes than nodes={nodes}. Pass the public number of nodes.")
    ends = ends.reshape(-1, 2)
    size = min(nodes, len(names) + 2)
    tail, head = np.divmod(np.unique(ends.min(axis=1) * size + ends.max(axis=1)), size)
    degree = np.bincount(tail, minlength=size) + np.bincount(head, minlength=size)
    order = np.argsort(-degree, kind="stable")
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    tail, head = place[tail], place[head]
    return Graph(nodes, np.minimum(tail, head), np.maximum(tail, head), degree[order])


def _pairs(edges: Any) -> Ints:
    """Any edge list as an array of two int64 columns."""
    if isinstance(edges, str | os.PathLike):
        return _from_file(edges)
    if hasattr(edges, "tocoo"):
        return _from_matrix(edges.tocoo())
    if isinstance(edges, list | tuple) and not edges:
        return np.empty((0, 2), dtype=np.int64)
    array: npt.NDArray[Any]
    try:
        array = np.asarray(edges.to_numpy() if hasattr(edges, "to_numpy") else edges)
    except ValueError:
        raise UnsupportedData(f"edges must be pairs of equal length. {_FIX}") from None
    if array.ndim != 2 or array.shape[1] != 2:
        shape = " x ".join(["edges", *(str(width) for width in array.shape[1:])])
        weights = " Weights are not supported." if array.ndim == 2 and array.shape[1] == 3 else ""
        raise UnsupportedData(f"edges must have two columns, got an array of {shape}.{weights} {_FIX}")
    if array.dtype.kind not in "iu":
        raise UnsupportedData(f"edges must be whole node numbers, got dtype {array.dtype}. {_FIX}")
    if array.dtype == np.uint64:
        array = np.minimum(array, np.uint64(np.iinfo(np.int64).max))
    return array.astype(np.int64, copy=False)


def _from_matrix(matrix: Any) -> Ints:
    if matrix.shape[0] != matrix.shape[1]:
        raise UnsupportedData(f"an adjacency matrix must be square, got shape {matrix.shape}.")
    if matrix.dtype.kind not in "iub" and not (matrix.data == 1).all():
        raise UnsupportedData("an adjacency matrix must hold 0 and 1, got weights. Pass for example (matrix != 0).")
    held = matrix.data != 0
    return np.column_stack([matrix.row[held], matrix.col[held]]).astype(np.int64)


def _from_file(path: str | os.PathLike[str]) -> Ints:
    """A CSV file of two columns, with or without a header line."""
    try:
        with open(path, encoding="utf-8") as file:
            first = file.readline()
    except OSError as error:
        raise DuffError(f"cannot read the edges from {os.fspath(path)!r}: {error.strerror}.") from None
    header = not all(part.strip().isdigit() for part in first.split(","))
    try:
        pairs: Ints = np.loadtxt(path, dtype=np.int64, delimiter=",", skiprows=int(header), ndmin=2)
    except ValueError:
        raise UnsupportedData(f"cannot read {os.fspath(path)!r} as two columns of whole numbers. {_FIX}") from None
    if pairs.size and pairs.shape[1] != 2:
        raise UnsupportedData(f"edges must have two columns, got {pairs.shape[1]}. {_FIX}")
    return pairs.reshape(-1, 2)
