"""The candidates that quantiles have when the caller gives no step: exact errors by several rules.

On the real columns of `benchmarks.quantile_peers`, beside the default and beside peers, and on
records that are not round numbers, from shapes in narrow and wide bounds.

Run: python -m benchmarks.steps
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from benchmarks.quantile_peers import (
    EXACT,
    PEERS,
    Error,
    best,
    compared,
    errors,
    quantile,
    row,
)
from duffdp import Grid
from duffdp._steps import StepFunction
from duffdp.domain.default_step import power_of_ten
from duffdp.statistics import Quantile

SHAPES: dict[str, tuple[float, float, Callable[[np.random.Generator, int], np.ndarray]]] = {
    "N(0, 1) in +-10": (-10.0, 10.0, lambda rng, n: rng.normal(size=n)),
    "N(0, 1) in +-1000": (-1000.0, 1000.0, lambda rng, n: rng.normal(size=n)),
    "U(0, 1)": (0.0, 1.0, lambda rng, n: rng.random(n)),
    "lognormal in 0 to 10,000": (0.0, 1e4, lambda rng, n: rng.lognormal(4, 1, n)),
    "exponential in 0 to 50": (0.0, 50.0, lambda rng, n: rng.exponential(1, n)),
}
SIZES, QS, EPSILONS = (100, 1000, 10_000), (0.1, 0.5, 0.75), (0.1, 0.5, 1.0, 2.0, 5.0)
DOCUMENTED = ("gaps", "101 listed")


class Candidates(NamedTuple):
    """The places of the candidates, and the weight of each relative to one of the coarsest."""

    places: np.ndarray
    weights: np.ndarray


Rule = Callable[[float, float], Candidates]


def step_of(low: float, high: float, least: int) -> Fraction:
    """A power of ten, at most 1, with at least so many steps."""
    return min(power_of_ten(Fraction(high - low) / least), Fraction(1))


def even(low: float, high: float, least: int) -> Candidates:
    grid = Grid(low, high, step_of(low, high, least))
    return Candidates(grid.values(range(grid.size)), np.ones(grid.size))


def digits(low: float, high: float, many: int, least: int) -> Candidates:
    """Between the bounds, the numbers with so many significant digits, none closer together than
    with so many even steps.
    """
    finest, edge = step_of(low, high, least), Fraction(10) ** 12
    found: list[np.ndarray] = [np.zeros(1)]
    while edge > finest * 10**many:
        found.append(np.arange(10 ** (many - 1), 10**many) * float(edge / 10**many))
        edge /= 10
    found.append(np.arange(1, int(edge / finest)) * float(finest))
    above = np.concatenate(found)
    every = np.unique(np.round(np.concatenate([-above, above, [low, high]]), 12))
    inside = every[(every >= low) & (every <= high)]
    return Candidates(inside, np.ones(len(inside)))


def round_numbers(low: float, high: float, coarse: int, fine: int) -> Candidates:
    """Even steps of several powers of ten at once, each with an equal share of all weight."""
    places, finest = even(low, high, fine).places, step_of(low, high, fine)
    index = np.round(places / float(finest)).astype(np.int64)
    level, multiple = np.zeros(len(places), dtype=np.int64), 10
    while Fraction(high - low) / (finest * multiple) >= coarse:
        level[index % multiple == 0] += 1
        multiple *= 10
    many = np.bincount(level)
    return Candidates(places, many[-1] / many[level])


RULES: dict[str, Rule] = {
    **{
        f"at least {least:,} steps": partial(even, least=least)
        for least in (2000, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000)
    },
    "3 significant digits": partial(digits, many=3, least=10**5),
    "4 significant digits": partial(digits, many=4, least=10**5),
    "round numbers first: 1,000, 10,000 and 100,000 steps": partial(
        round_numbers, coarse=10**3, fine=10**5
    ),
    "round numbers first: 10,000 and 100,000 steps": partial(
        round_numbers, coarse=10**4, fine=10**5
    ),
}
DEFAULT = "at least 100,000 steps"


def error_by(rule: Rule) -> Error:
    """The mean error of a quantile on the candidates of a rule; weights are public, so that they
    may lower a score: by an even number of records, for the lattice.
    """
    made = cache(rule)

    def found(values: np.ndarray, q: float, epsilon: float, low: float, high: float) -> float:
        places, weights = made(low, high)
        grid = Grid(0, len(places) - 1, 1)
        index = np.searchsorted((places[1:] + places[:-1]) / 2, values)
        steps = Quantile(q, "signed").steps(index, grid)
        if (weights != 1).any():
            offset = 2 * np.round(np.log(weights.max() / weights) / epsilon).astype(np.int64)
            each = np.arange(grid.size), np.ones(grid.size, dtype=np.int64)
            steps = StepFunction(grid, *each, np.repeat(steps.distance, steps.count) + offset)
        first, many, chances = best(epsilon, grid.size).law(steps).runs()
        upto = np.concatenate([[0], np.cumsum(abs(places - quantile(values, q)))])
        return float(chances @ ((upto[first + many] - upto[first]) / many))

    return found


def continuous(find: Error) -> np.ndarray:
    """Mean errors on all shapes and sizes."""
    found = []
    for low, high, draw in SHAPES.values():
        for n in SIZES:
            values = np.clip(draw(np.random.default_rng(n), n), low, high)
            found += [
                find(values, q, epsilon, low, high) + EXACT / 10 * (high - low)
                for q in QS
                for epsilon in EPSILONS
            ]
    return np.array(found)


def main() -> None:
    peers = {name: errors(find) for name, find in PEERS.items()}
    documented = {cell: min(peers[name][cell] for name in DOCUMENTED) for cell in peers["gaps"]}
    today = errors(error_by(RULES[DEFAULT])), continuous(error_by(RULES[DEFAULT]))
    row(
        "candidates",
        "real columns: mean",
        "largest",
        *(f"beside {name}" for name in (*peers, "the better of " + " and ".join(DOCUMENTED))),
        "continuous: mean",
        "largest",
    )
    print("| --- " + "| --: " * (5 + len(peers)) + "|")
    for name, rule in RULES.items():
        find = error_by(rule)
        real, ratios = errors(find), continuous(find) / today[1]
        _, mean, largest = compared(real, today[0])
        within = [str(compared(real, peer)[0]) for peer in (*peers.values(), documented)]
        row(
            name,
            f"{mean:.2f}",
            f"{largest:.1f}",
            *within,
            f"{np.exp(np.log(ratios).mean()):.2f}",
            f"{ratios.max():.3g}",
        )


if __name__ == "__main__":
    main()
