"""The private median against the optimum of a linear program over all epsilon-private mechanisms.

Data sets are all multisets of a few records on a few values, and neighbors differ in one record.
The program minimizes the mean error for uniform records and equally likely sizes. Our mechanisms
may use the same knowledge: each output is replaced by the value with the least mean error. So the
ratios show the price of the output distribution. In the last column, outputs may also be joined to
one value each: the difference is the price of the step.

Run: python -m benchmarks.optimum
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from duffdp import Grid
from duffdp.mechanisms import Exponential, Lattice, PermuteAndFlip
from duffdp.statistics import Quantile

EPSILONS = (0.5, 1.0, 2.0)
CASES = ((4, 12), (5, 8), (6, 6), (8, 4))  # candidates, and the most records
WAYS: tuple[tuple[str, str, type, bool], ...] = (
    ("duff", "distance", Exponential, False),
    ("permute-and-flip", "signed", PermuteAndFlip, False),
    ("lattice", "signed", Lattice, False),
    ("lattice, fewer outputs", "signed", Lattice, True),
)


class Game:
    """All data sets, how likely each is, and the errors of each value for its quantile."""

    def __init__(self, candidates: int, most: int, q: float) -> None:
        self.candidates, self.q = candidates, q
        self.data = [
            chosen
            for n in range(most + 1)
            for chosen in itertools.combinations_with_replacement(range(candidates), n)
        ]
        place = {chosen: i for i, chosen in enumerate(self.data)}
        self.pairs = [
            (i, place[tuple(sorted((*chosen, x)))])
            for i, chosen in enumerate(self.data)
            if len(chosen) < most
            for x in range(candidates)
        ]
        self.prior = np.array([self._likely(chosen) for chosen in self.data])
        self.prior /= self.prior.sum()
        truth = [c[max(1, math.ceil(q * len(c))) - 1] if c else 0 for c in self.data]
        self.error = np.abs(np.array(truth)[:, None] - np.arange(candidates))

    def _likely(self, chosen: Sequence[int]) -> float:
        if not chosen:
            return 0.0  # no record, no quantile
        ways = math.factorial(len(chosen)) / math.prod(
            math.factorial(many) for many in Counter(chosen).values()
        )
        return float(ways / self.candidates ** len(chosen))

    def least(self, epsilon: float) -> float:
        """The least mean error of any epsilon-private mechanism."""
        size, k = len(self.data), self.candidates
        ends = np.array(self.pairs)
        both = np.concatenate([ends, ends[:, ::-1]])  # P(here) <= exp(epsilon) P(there)
        rows = np.arange(len(both) * k)
        here, there = ((both[:, [side]] * k + np.arange(k)).ravel() for side in (0, 1))
        limits = sparse.csr_array(
            (
                np.concatenate([np.ones(len(rows)), np.full(len(rows), -math.exp(epsilon))]),
                (np.concatenate([rows, rows]), np.concatenate([here, there])),
            ),
            shape=(len(rows), size * k),
        )
        sums = sparse.kron(sparse.eye_array(size), np.ones((1, k)), format="csr")
        found = linprog(
            (self.prior[:, None] * self.error).ravel(),
            A_ub=limits,
            b_ub=np.zeros(len(rows)),
            A_eq=sums,
            b_eq=np.ones(size),
            method="highs-ipm",
        )
        assert found.success, found.message
        return float(found.fun)

    def of(self, utility: str, mechanism: type, epsilon: float, fewer: bool = False) -> float:
        """The mean error of one mechanism, with the best value for each output; with `fewer`, the
        least over all ways to join neighboring values.
        """
        statistic = Quantile(self.q, utility)

        @cache
        def chances(chosen: tuple[int, ...], outputs: int) -> list[float]:
            law = mechanism(epsilon).law(statistic.steps(list(chosen), Grid(0, outputs - 1, 1)))
            return [law.probability(x) for x in range(outputs)]

        found = []
        for cuts in itertools.product((0, 1), repeat=self.candidates - 1) if fewer else [None]:
            output = (0, *itertools.accumulate(cuts)) if cuts else range(self.candidates)
            if output[-1] == 0:
                continue  # a grid has two candidates at least
            chance = np.array(
                [chances(tuple(output[x] for x in c), output[-1] + 1) for c in self.data]
            )
            cost = (self.prior[:, None] * chance).T @ self.error  # of an output, read as a value
            found.append(float(cost.min(axis=1).sum()))
        return min(found)


def main() -> None:
    print("| statistic | candidates | records | epsilon | optimum |", end="")
    print("".join(f" {name} / optimum |" for name, *_ in WAYS))
    print("| --- " * (5 + len(WAYS)) + "|")
    for q, (candidates, most) in itertools.product((0.5, 0.9), CASES):
        game = Game(candidates, most, q)
        for epsilon in EPSILONS:
            least = game.least(epsilon)
            ratios = [
                game.of(utility, mechanism, epsilon, fewer) / least
                for _, utility, mechanism, fewer in WAYS
            ]
            print(
                f"| quantile {q} | {candidates} | up to {most} | {epsilon:g} | {least:.4f} | "
                + " | ".join(f"{ratio:.2f}" for ratio in ratios)
                + " |",
                flush=True,
            )


if __name__ == "__main__":
    main()
