"""All graphs on a few nodes: counts and local sensitivities at every distance, from the definitions
alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache
from math import comb

import numpy as np
import numpy.typing as npt

Edges = list[tuple[int, int]]
Ints = npt.NDArray[np.int64]
Count = Callable[[int], Ints]  # of a number of nodes: the count of every graph on them


@lru_cache
def pairs(nodes: int) -> Edges:
    return list(itertools.combinations(range(nodes), 2))


def edges_of(code: int, nodes: int) -> Edges:
    """A graph is a bit for every pair of nodes."""
    return [pair for bit, pair in enumerate(pairs(nodes)) if code >> bit & 1]


def neighbours(nodes: int) -> list[tuple[int, int]]:
    """All pairs of graphs that differ in one edge."""
    bits = range(len(pairs(nodes)))
    return [
        (code, code | 1 << bit)
        for code in range(2 ** len(bits))
        for bit in bits
        if not code >> bit & 1
    ]


def code_within(code: int, few: int, many: int) -> int:
    """The same graph with more nodes, which have no edges."""
    return sum(1 << pairs(many).index(pair) for pair in edges_of(code, few))


def has_edge(nodes: int) -> dict[tuple[int, int], Ints]:
    """For every pair of nodes whether each graph has that edge."""
    codes = np.arange(2 ** len(pairs(nodes)))
    return {pair: codes >> bit & 1 for bit, pair in enumerate(pairs(nodes))}


def triangles(nodes: int) -> Ints:
    edge = has_edge(nodes)
    corners = itertools.combinations(range(nodes), 3)
    return sum(edge[a, b] * edge[a, c] * edge[b, c] for a, b, c in corners)


def stars(k: int) -> Count:
    def count(nodes: int) -> Ints:
        edge, stars_at = has_edge(nodes), np.array([comb(degree, k) for degree in range(nodes)])
        return sum(stars_at[sum(edge[p] for p in edge if node in p)] for node in range(nodes))

    return count


def sensitivities(counts: Ints, levels: int) -> list[Ints]:
    """For every graph its local sensitivity at the distances 0 .. levels - 1."""
    level = np.zeros_like(counts)
    for flipped in _flips(counts):
        level = np.maximum(level, np.abs(flipped - counts))
    found = [level]
    while len(found) < levels:
        for flipped in _flips(found[-1]):
            level = np.maximum(level, flipped)
        found.append(level)
    return found


def _flips(numbers: Ints) -> list[Ints]:
    """The numbers of the graphs that differ in one edge, pair by pair."""
    bits = range(len(numbers).bit_length() - 1)
    return [numbers.reshape(-1, 2, 1 << bit)[:, ::-1].reshape(-1) for bit in bits]
