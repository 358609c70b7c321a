"""Triangles of a graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import comb
from typing import Any

import numpy as np

from duffdp._count_ladder import CountLadder
from duffdp._engines.edges import Graph, read_edges
from duffdp._engines.requests import EdgeRecords, Inquiry, ask
from duffdp._evidence import Ladders
from duffdp._parameters import NODES
from duffdp._steps import StepFunction
from duffdp.domain import Grid, Ints
from duffdp.statistics.program import DrawSpec, ReleaseProgram
from duffdp.statistics.spec import DrawSettings, Parameters, StatisticSpec
from duffdp.statistics.statistic import BaseStatistic, Scope

MAX_BLOCK_PATHS = 2**23  # paths of two edges multiplied out at once: some 400 MiB at most
_ADJACENT = 2**40


class GraphCount(BaseStatistic):
    """A count of subgraphs, with the ladder of its local sensitivities.

    Methods
    -------
    steps, ladder, largest
    """

    nodes: int

    @property
    @abstractmethod
    def largest(self) -> int:
        """The count of the complete graph."""

    @abstractmethod
    def ladder(self, values: object) -> CountLadder:
        """The count, up to `largest`, and its local sensitivities: not private."""

    def steps(self, values: object, domain: Grid) -> StepFunction:
        """The distance of every candidate of the domain."""
        return self.ladder(values).steps(domain)

    def evidence(self, scope: Scope, epsilon: float) -> Inquiry[Ladders]:
        edges = yield from ask(EdgeRecords())
        return Ladders([self.ladder(graph_edges) for graph_edges in edges], scope.grid)


class Triangles(GraphCount):
    """The number of triangles, with the ladder of its local sensitivities under edge privacy.

    After t edges have been added or removed, one more edge moves the number of triangles by at most
    `LS(t) = max over pairs of nodes of a + floor((t + min(t, b)) / 2)`. Here a is the number of
    common neighbors of the pair, and b the number of nodes adjacent to exactly one of the two. Any
    whole number may be a node, so there are always nodes without edges.

    Parameters
    ----------
    nodes
        The public number of nodes, including those without edges. It bounds the output, not which
        nodes are read.

    Privacy
    -------
    Neighbors differ in one edge between any two nodes, also new ones; `nodes` is public and may be
    wrong. One edge moves the distance by at most 1, so the rate is 1/2
    (`tests/statistics/triangles_test.py`: all graphs on 5 nodes, with `nodes` above and below).

    Utility
    -------
    The error is 2 LS(0) / epsilon to 3 LS(0) / epsilon, where LS(0) is the largest number of common
    neighbors.

    Runtime
    -------
    The time grows at most with the sum of the squared degrees; pairs of nodes with too few
    neighbors to matter are skipped. Memory is bounded, because paths are counted for one block of
    nodes at a time.

    References
    ----------
    Zhang et al., "Private release of graph statistics using ladder functions" (SIGMOD 2015),
    section 4.2. Nissim, Raskhodnikova and Smith, "Smooth sensitivity and sampling in private data
    analysis" (STOC 2007), section 3.3: LS(t).

    Examples
    --------
    >>> import duffdp
    >>> grid = duffdp.Grid(0, 4, 1)
    >>> steps = duffdp.statistics.Triangles(nodes=4).steps([(0, 1), (1, 2), (0, 2)], grid)
    >>> [steps.distance_at(x) for x in range(5)]
    [1, 0, 1, 2, 3]
    """

    def __init__(self, nodes: int) -> None:
        self.nodes = NODES.read(nodes)

    @property
    def largest(self) -> int:
        """The number of triangles of the complete graph."""
        return comb(self.nodes, 3)

    def ladder(self, values: object) -> CountLadder:
        """The number of triangles, up to `largest`, and its local sensitivities: not private."""
        graph = read_edges(values)
        common, reached = maximal_pairs(graph)

        def sensitivity(begin: int, end: int) -> list[int]:
            t, top = np.arange(begin, end), np.zeros(end - begin, dtype=np.int64)
            for a, s in zip(common.tolist(), reached.tolist(), strict=True):
                np.maximum(top, np.minimum(t + a, (t + s) // 2), out=top)
            rungs: list[int] = top.tolist()
            return rungs

        # LS(t) is t // 2 or more and grows by at most 1: as slowly as a square.
        return CountLadder(count_triangles(graph), sensitivity, self.largest, order=2)

    def __repr__(self) -> str:
        return f"Triangles(nodes={self.nodes})"


def count_triangles(graph: Graph) -> int:
    """Edges point from the larger degree to the smaller; each triangle is found at its node with
    the smallest degree.
    """
    matrix = graph.adjacency()
    inward = _lower(matrix)
    count = 0
    for first, last in _blocks(inward, inward):
        part = inward[first:last]
        count += int((part @ inward).multiply(part).sum())
    return count


def _lower(matrix: Any) -> Any:
    """Row i keeps the columns below i: the neighbors of larger degree."""
    coo = matrix.tocoo()
    lower = coo.col < coo.row
    return type(matrix)((coo.data[lower], (coo.row[lower], coo.col[lower])), shape=matrix.shape)


def maximal_pairs(graph: Graph) -> tuple[Ints, Ints]:
    """Common neighbors `a`, and `s = 2 a + b`, of pairs of nodes that no other pair beats in both.

    `min(a + t, (t + s) // 2)` grows with a and s. A pair with degrees d and e has a at most min(d,
    e) and s at most d + e: what a known pair beats even so is never multiplied out.
    """
    degree, matrix = graph.degree, graph.adjacency()
    best = np.full(int(degree[1]) + 1, -1, dtype=np.int64)  # the largest s for every a
    best[0] = _largest_reached(graph)
    for first, last in _blocks(matrix, matrix):
        best_from = np.maximum.accumulate(best[::-1])[::-1]
        columns = np.flatnonzero(
            best_from[np.minimum(degree, len(best) - 1)] < degree[first] + degree
        )
        if not len(columns):
            break  # later nodes have fewer neighbours still
        part = matrix[first:last]
        right = matrix if 2 * len(columns) > graph.size else matrix[:, columns]
        marked = part * _ADJACENT if right is matrix else part[:, columns] * _ADJACENT
        paths = (part @ right + marked).tocoo()
        row, column = paths.row + first, paths.col if right is matrix else columns[paths.col]
        once = row < column
        adjacent, common = np.divmod(paths.data[once], _ADJACENT)
        np.maximum.at(best, common, degree[row[once]] + degree[column[once]] - 2 * adjacent)
    common = np.flatnonzero(best >= 0)
    best_after = np.maximum.accumulate(best[common][::-1])[::-1]
    maximal = np.append(best_after[:-1] > best_after[1:], True)
    return common[maximal], best_after[maximal]


def _largest_reached(graph: Graph) -> int:
    """The largest s over all pairs: the sum of the degrees, less 2 for an edge between them."""
    degree = graph.degree
    largest = int((degree[graph.first] + degree[graph.second]).max(initial=2)) - 2
    for i, j in strangers(graph):
        if degree[i] + degree[0 if i else 1] <= largest:
            break
        largest = max(largest, int(degree[i] + degree[j]))
    return largest


def strangers(graph: Graph) -> Iterator[tuple[int, int]]:
    """For every node, by falling degree, the node of largest degree that it has no edge with."""
    matrix = graph.adjacency()
    for i in range(graph.size):
        neighbors = np.sort(np.append(matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]], i))
        gap = np.flatnonzero(neighbors != np.arange(len(neighbors)))
        j = int(gap[0]) if len(gap) else len(neighbors)
        if j < graph.size:
            yield i, j


def _blocks(matrix: Any, factor: Any) -> Iterator[tuple[int, int]]:
    """Ranges of rows of a sparse matrix that meet about so many entries of `factor` when
    multiplied by it.
    """
    length = np.diff(factor.indptr).astype(np.int64)
    cumulative = np.concatenate([[0], np.cumsum(length[matrix.indices])])[matrix.indptr]
    first, size = 0, matrix.shape[0]
    while first < size:
        last = max(
            first + 1,
            int(np.searchsorted(cumulative, cumulative[first] + MAX_BLOCK_PATHS, side="right")) - 1,
        )
        yield first, last
        first = last


class GraphCountSpec(StatisticSpec):
    """A count of subgraphs, on the grid from 0 to that of the complete graph."""

    outputs = "counts"
    can_be_planned = False

    @abstractmethod
    def statistic(self, parameters: Parameters) -> GraphCount:
        """The statistic for checked parameters."""

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        statistic, columns = self.statistic(parameters), (self.name,)
        if settings.choice == "duff":
            return ReleaseProgram((DrawSpec(statistic, "exponential", columns, utility="ladder"),))
        return ReleaseProgram((DrawSpec(statistic, "piecewise-laplace", columns),))

    def own_domain(self, parameters: Parameters) -> Grid:
        return Grid(0, self.statistic(parameters).largest, 1)


class TrianglesSpec(GraphCountSpec):
    """The number of triangles of a graph."""

    name = "triangles"
    parameters = (NODES,)
    examples = ({"nodes": 4},)

    def statistic(self, parameters: Parameters) -> Triangles:
        return Triangles(NODES.of(parameters))


SPECS = (TrianglesSpec(),)
