"""Graphs under edge privacy: triangles and stars."""

from __future__ import annotations

from typing import Any

from duffdp.pipeline.outcome import Release
from duffdp.pipeline.run import ALL_ROWS, run_one


def triangles(
    edges: Any,
    *,
    epsilon: float,
    nodes: int,
    mechanism: str = "best",
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """A private number of triangles of a graph.

    Parameters
    ----------
    edges
        Pairs of whole numbers, of any sign and size: an array or list of two columns, a
        frame with two columns, a sparse adjacency matrix of scipy or the path of a CSV
        file. What is no edge and self-loops are dropped, an edge listed twice or in both
        directions counts once.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    nodes
        The public number of nodes, those without edges included. It bounds the output and
        need not be right for the guarantee to hold.
    mechanism
        "best": piecewise Laplace noise. "duff": the ladder with the exponential mechanism, the
        lower bound of the paper's distance.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a whole number of 0 or more.

    Privacy
    -------
    Pure epsilon-differential privacy for one edge: neighbouring graphs differ in one edge,
    whichever nodes it joins. A person with all their edges is not protected.

    Utility
    -------
    Errs by about 1.2 a / epsilon, with a the most common neighbours of any two nodes; the ladder by
    2 a / epsilon.

    Runtime
    -------
    The sum of squared degrees at worst, much less where degrees vary. Needs scipy.

    References
    ----------
    Zhang et al., "Private release of graph statistics using ladder functions" (SIGMOD 2015).
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 7: the open question.
    `docs/graphs.md`.

    Examples
    --------
    >>> import duffdp
    >>> friends = [(i, j) for i in range(40) for j in range(i) if (i * j) % 5 < 2]
    >>> duffdp.triangles(friends, epsilon=1.0, nodes=40, rng=1).value
    1885
    """
    asked = {"nodes": nodes}
    return run_one(
        "triangles", asked, edges, epsilon, None, None, None, ALL_ROWS, mechanism, ledger, rng
    )


def stars(
    edges: Any,
    k: int,
    *,
    epsilon: float,
    nodes: int,
    mechanism: str = "best",
    ledger: Any = None,
    rng: object = None,
) -> Release:
    """A private number of k-stars of a graph: a node with k of its neighbours.

    Parameters
    ----------
    edges
        Pairs of whole numbers, of any sign and size: an array or list of two columns, a
        frame with two columns, a sparse adjacency matrix of scipy or the path of a CSV
        file. What is no edge and self-loops are dropped, an edge listed twice or in both
        directions counts once.
    k
        Edges of a star: 2 or more.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    nodes
        The public number of nodes, those without edges included. It bounds the output and
        need not be right for the guarantee to hold.
    mechanism
        "best": piecewise Laplace noise. "duff": the ladder with the exponential mechanism, the
        lower bound of the paper's distance.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw. It refuses what
        does not fit, and seeds.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for
        experiments, not private.

    Returns
    -------
    Release
        `value` is a whole number of 0 or more.

    Privacy
    -------
    Pure epsilon-differential privacy for one edge, whichever nodes it joins; `nodes` is public.

    Utility
    -------
    Errs by about `2.4 C(d, k-1) / epsilon` for the largest degree d.

    Runtime
    -------
    Linear in the edges. Needs scipy.

    References
    ----------
    Karwa et al., "Private analysis of graph structure" (VLDB 2011). Zhang et al. (SIGMOD 2015).
    `docs/graphs.md`.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.stars([(0, i) for i in range(1, 30)], k=2, epsilon=1.0, nodes=30, rng=1).value
    297
    """
    asked = {"nodes": nodes, "k": k}
    return run_one(
        "stars", asked, edges, epsilon, None, None, None, ALL_ROWS, mechanism, ledger, rng
    )
