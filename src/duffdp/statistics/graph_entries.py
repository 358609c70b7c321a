"""The entries of statistics of graphs."""

from __future__ import annotations

from duffdp.parameters import Choice, read_k, read_nodes
from duffdp.statistics.entry import Entry, Parameters, Part

_MECHANISMS = {"best": ("piecewise-laplace", None), "duff": ("exponential", "ladder")}


def _triangles(given: Parameters, choice: Choice) -> tuple[Part, ...]:
    from duffdp.statistics.triangles import Triangles

    mechanism, utility = _MECHANISMS[choice]
    return (Part(Triangles(given["nodes"]), mechanism, ("triangles",), utility=utility),)


def _stars(given: Parameters, choice: Choice) -> tuple[Part, ...]:
    from duffdp.statistics.stars import Stars

    mechanism, utility = _MECHANISMS[choice]
    return (Part(Stars(given["nodes"], given["k"]), mechanism, ("stars",), utility=utility),)


ENTRIES = (
    Entry(
        name="triangles",
        summary="A private number of triangles of a graph; the guarantee is for one edge.",
        parts=_triangles,
        title=lambda _: "Triangles",
        read={"nodes": read_nodes},
        outputs="counts",
        examples=({"nodes": 4},),
    ),
    Entry(
        name="stars",
        summary="A private number of k-stars of a graph; the guarantee is for one edge.",
        parts=_stars,
        title=lambda given: f"{given['k']}-stars",
        read={"nodes": read_nodes, "k": read_k},
        outputs="counts",
        examples=({"nodes": 4, "k": 2},),
    ),
)
