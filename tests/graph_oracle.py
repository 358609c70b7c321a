"""All graphs on a few nodes: counts and local sensitivities at every distance, from the definitions alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import lru_cache
from math import comb

Edges = tuple[tuple[int, int], ...]


@lru_cache
def pairs(nodes: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(nodes), 2))


def edges_of(code: int, nodes: int) -> list[tuple[int, int]]:
    """A graph is a bit for every pair of nodes."""
    return [pair for bit, pair in enumerate(pairs(nodes)) if code >> bit & 1]


def triangles(edges: list[tuple[int, int]], nodes: int) -> int:
    held = set(edges)
    return sum({(a, b), (a, c), (b, c)} <= held for a, b, c in itertools.combinations(range(nodes), 3))


def stars(k: int) -> Callable[[list[tuple[int, int]], int], int]:
    def count(edges: list[tuple[int, int]], nodes: int) -> int:
        return sum(comb(sum(node in edge for edge in edges), k) for node in range(nodes))

    return count


def sensitivities(count: Callable[[list[tuple[int, int]], int], int], nodes: int) -> tuple[list[int], list[list[int]]]:
    """The count of every graph, and for every graph its local sensitivity at the distances 0, 1, ..., all pairs."""
    many = len(pairs(nodes))
    counts = [count(edges_of(code, nodes), nodes) for code in range(2**many)]
    level = [max(abs(here - counts[code ^ 1 << bit]) for bit in range(many)) for code, here in enumerate(counts)]
    levels = [level]
    for _ in range(many):
        level = [max(here, *(level[code ^ 1 << bit] for bit in range(many))) for code, here in enumerate(level)]
        levels.append(level)
    return counts, [list(column) for column in zip(*levels, strict=True)]
