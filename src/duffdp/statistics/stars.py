"""k-stars of a graph."""

from __future__ import annotations

from math import comb

import numpy as np

from duffdp._count_ladder import CountLadder
from duffdp._engines.edges import Graph, read_edges
from duffdp._parameters import NODES, STAR_EDGES
from duffdp.errors import DuffError
from duffdp.statistics.spec import Parameters
from duffdp.statistics.triangles import GraphCount, GraphCountSpec, strangers


class Stars(GraphCount):
    """The number of k-stars (a node with k of its neighbors), with the ladder of its local
    sensitivities.

    The edge between two nodes with d and e other neighbors is part of `C(d, k-1) + C(e, k-1)`
    stars. Binomials are convex, so t more edges add most if all go to the larger of the two:
    `LS(t) = max over pairs of nodes of C(max(d, e) + t, k-1) + C(min(d, e), k-1)`.

    Parameters
    ----------
    nodes
        The public number of nodes, including those without edges. It bounds the output, not which
        nodes are read.
    k
        Edges of a star: 2 or more.

    Privacy
    -------
    Neighbors differ in one edge between any two nodes, also new ones; `nodes` is public and may be
    wrong. One edge moves the distance by at most 1, so the rate is 1/2
    (`tests/statistics/triangles_test.py`: all graphs on 5 nodes, with `nodes` above and below).

    Utility
    -------
    The error is about 2 LS(0) / epsilon. LS(0) is about `2 C(d, k-1)` for the largest degree d.

    Runtime
    -------
    Linear in the edges.

    References
    ----------
    Karwa, Raskhodnikova, Smith and Yaroslavtsev, "Private analysis of graph structure" (VLDB 2011),
    section 3. Zhang et al. (SIGMOD 2015), section 4.3.

    Examples
    --------
    >>> import duffdp
    >>> steps = duffdp.statistics.Stars(nodes=4, k=2).steps([(0, 1), (1, 2)], duffdp.Grid(0, 12, 1))
    >>> [steps.distance_at(x) for x in range(13)]
    [1, 0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4]
    """

    def __init__(self, nodes: int, k: int) -> None:
        self.nodes = NODES.read(nodes)
        self.k = STAR_EDGES.read(k)
        if not 0 < self.largest < 2**62:
            raise DuffError(
                f"{nodes} nodes must allow between 1 and 2**62 stars with k={k} edges. Pass a "
                "smaller k."
            )

    @property
    def largest(self) -> int:
        """The number of k-stars of the complete graph."""
        return self.nodes * comb(self.nodes - 1, self.k)

    def ladder(self, values: object) -> CountLadder:
        """The number of k-stars, up to `largest`, and its local sensitivities: not private."""
        graph = read_edges(values)
        degrees, frequency = np.unique(graph.degree, return_counts=True)
        count = sum(
            comb(d, self.k) * times
            for d, times in zip(degrees.tolist(), frequency.tolist(), strict=True)
        )
        pairs, order = _largest_pairs(graph), self.k - 1

        def sensitivity(begin: int, end: int) -> list[int]:
            rungs: list[int] = []
            for t in range(begin, end):
                rung = max(comb(d + t, order) + comb(e, order) for d, e in pairs)
                if rung >= self.largest:  # so are all that follow: spare us their digits
                    return rungs + [self.largest] * (end - t)
                rungs.append(rung)
            return rungs

        return CountLadder(count, sensitivity, self.largest, order)

    def __repr__(self) -> str:
        return f"Stars(nodes={self.nodes}, k={self.k})"


def _largest_pairs(graph: Graph) -> list[tuple[int, int]]:
    """Degrees of two nodes, without an edge between them, that no other pair beats in both."""
    degree = graph.degree
    pairs = set(
        zip((degree[graph.first] - 1).tolist(), (degree[graph.second] - 1).tolist(), strict=True)
    )
    least = max((min(pair) for pair in pairs), default=-1)
    for i, j in strangers(graph):
        d, e = int(degree[i]), int(degree[j])
        if d <= least:
            break  # some pair has more on both sides, here and for all later nodes
        pairs.add((max(d, e), min(d, e)))
        least = max(least, min(d, e))
    maximal: list[tuple[int, int]] = []
    for d, e in sorted(pairs, reverse=True):
        if not maximal or e > maximal[-1][1]:
            maximal.append((d, e))
    return maximal


class StarsSpec(GraphCountSpec):
    """The number of k-stars of a graph."""

    name = "stars"
    parameters = (STAR_EDGES, NODES)
    examples = ({"nodes": 4, "k": 2},)

    def statistic(self, parameters: Parameters) -> Stars:
        return Stars(NODES.of(parameters), STAR_EDGES.of(parameters))

    def title(self, parameters: Parameters) -> str:
        return f"{parameters['k']}-stars"


SPECS = (StarsSpec(),)
