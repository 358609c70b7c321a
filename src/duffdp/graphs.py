"""The verbs for graphs: triangles and stars under edge privacy."""

from __future__ import annotations

import math
from typing import Any

from duffdp.domain import Grid
from duffdp.engines.selection import Selection
from duffdp.errors import DuffError
from duffdp.mechanisms import Exponential, PiecewiseLaplace
from duffdp.opened import NEGLIGIBLE, charged
from duffdp.release import Release
from duffdp.sampling.entropy import entropy
from duffdp.statistics import Stars, Triangles
from duffdp.steps import Batch


def triangles(
    edges: Any, *, epsilon: float, nodes: int, mechanism: str = "best", ledger: Any = None, rng: object = None
) -> Release:
    """A private number of triangles of a graph.

    Parameters
    ----------
    edges
        Pairs of node numbers: an array or list of two columns, a frame with two columns, a sparse adjacency matrix
        of scipy or the path of a CSV file. What is no edge between two nodes is dropped, an edge listed twice or in both
        directions counts once.
    epsilon
        The whole privacy loss of this call: a finite number above 0.
    nodes
        The public number of nodes, those without edges included. They are numbered from 0 to `nodes - 1`.
    mechanism
        "best": piecewise Laplace noise. "duff": the ladder with the exponential mechanism, the lower bound of the paper's
        distance.
    ledger
        A `Ledger` or its path: the budget that is charged before the draw.
    rng
        None: exact draws from the operating system. A seed or a numpy generator: for experiments, not private.

    Returns
    -------
    Release

    Privacy
    -------
    Pure epsilon-differential privacy for one edge: neighbouring graphs have the same public number of nodes and differ in one
    edge. Who is a node is not protected, nor is a person with all their edges.

    Utility
    -------
    Errs by about 1.2 a / epsilon, with a the most common neighbours of any two nodes; the ladder by 2 a / epsilon.

    Runtime
    -------
    The sum of squared degrees at worst, much less where degrees vary. Needs scipy.

    References
    ----------
    Zhang et al., "Private release of graph statistics using ladder functions" (SIGMOD 2015). Gillenwater and Munoz Medina,
    "Duff" (NeurIPS 2020), section 7: the open question. `docs/graphs.md`.

    Examples
    --------
    >>> import duffdp
    >>> friends = [(i, j) for i in range(40) for j in range(i) if (i * j) % 5 < 2]
    >>> duffdp.triangles(friends, epsilon=1.0, nodes=40, rng=1).value
    1887
    """
    return _released(Triangles(nodes), edges, epsilon, mechanism, ledger, rng)


def stars(
    edges: Any, *, k: int, epsilon: float, nodes: int, mechanism: str = "best", ledger: Any = None, rng: object = None
) -> Release:
    """A private number of k-stars of a graph: a node with k of its neighbours.

    Parameters
    ----------
    k
        Edges of a star: 2 or more.
    edges, epsilon, nodes, mechanism, rng
        As for `triangles`.

    Returns
    -------
    Release

    Privacy
    -------
    Pure epsilon-differential privacy for one edge; the number of nodes is public.

    Utility
    -------
    Errs by about `2.4 C(d, k-1) / epsilon` for the largest degree d.

    Runtime
    -------
    Linear in the edges. Needs scipy.

    References
    ----------
    Karwa et al., "Private analysis of graph structure" (VLDB 2011). Zhang et al. (SIGMOD 2015). `docs/graphs.md`.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.stars([(0, i) for i in range(1, 30)], k=2, epsilon=1.0, nodes=30, rng=1).value
    300
    """
    return _released(Stars(nodes, k), edges, epsilon, mechanism, ledger, rng)


def _released(statistic: Triangles | Stars, edges: Any, epsilon: Any, mechanism: str, ledger: Any, rng: object) -> Release:
    """Check all parameters, then charge, then read the edges, then draw."""
    if mechanism not in ("best", "duff"):
        raise DuffError(f'mechanism must be "best" or "duff", got {mechanism!r}.')
    chosen = PiecewiseLaplace(epsilon) if mechanism == "best" else Exponential(epsilon)
    source, domain = entropy(rng), Grid(0, statistic.most, 1)
    label = chosen.name if isinstance(chosen, PiecewiseLaplace) else f"{chosen.name}(ladder)"
    charge = None if ledger is None else charged(ledger, statistic.name, label, epsilon, domain, Selection(), source.secure)
    if charge is not None and charge.drawn is not None:
        (value,) = charge.drawn
    else:
        rungs = statistic.rungs(edges)
        if isinstance(chosen, PiecewiseLaplace):
            value = chosen.release(rungs, statistic.most, source)
        else:
            far = math.ceil(2 * (NEGLIGIBLE + math.log(domain.size)) / chosen.epsilon)
            (value,) = chosen.release(Batch.of([rungs.window(domain, far)]), source)
        if charge is not None:
            charge.keep([value])
    return Release(
        value=value,
        epsilon=chosen.epsilon,
        statistic=statistic.name,
        mechanism=label,
        domain=domain,
        unit="edge",
        secure=source.secure,
    )
