"""Several quantiles at once: errors beside the published mechanism and separate releases,
sensitivities by enumeration, time.

Run: python -m benchmarks.several_quantiles
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
import polars as pl

import duffdp
from duffdp import Grid
from duffdp._engines.arrays import array_engine, read_array
from duffdp._engines.requests import Engine, run_inquiry
from duffdp._rank_profile import QuantileRanks
from duffdp._sampling.entropy import entropy
from duffdp._sampling.integer_noise import two_sided_geometrics
from duffdp.mechanisms import Joint, joint
from duffdp.statistics import Quantiles
from duffdp.statistics.statistic import Scope

Floats = npt.NDArray[np.float64]
DECILES = [i / 10 for i in range(1, 10)]
N = 1000


class Published:
    """JointExp as published: the size is the true n, c = epsilon / (4 (1 - smallest share));
    records at a boundary all before it (side=1) or half before it (side=0.5). Dense matrices and
    doubles: for this comparison only."""

    def __init__(
        self, index: npt.NDArray[np.int64], size: int, epsilon: float, side: float
    ) -> None:
        value, count = np.unique(index, return_counts=True)
        start = np.concatenate([[0], np.stack([value, value + 1], axis=1).ravel()])
        self.cells = np.diff(np.append(start, size)).astype(float)
        before = np.cumsum(count) - count
        rank = np.concatenate(
            [np.stack([before, before + side * count], axis=1).ravel(), [len(index)]]
        )
        kept = self.cells > 0
        self.start, self.cells, self.rank = start[kept], self.cells[kept], rank[kept]
        self.c, self.n = epsilon / (4 * 0.9), len(index)
        volume = self.cells / self.cells.max()
        away = self.rank[:, None] - self.rank[None, :] - self.n / 10
        self.kernel = np.tril(np.exp(-self.c * np.abs(away)), -1)
        entries: list[Floats] = []
        self.terms: list[list[Floats]] = []
        self.totals: list[Floats] = []
        for j in range(9):
            entries.append(
                np.exp(-self.c * np.abs(self.rank - self.n / 10))
                if j == 0
                else self.kernel @ self.totals[-1]
            )
            self.terms.append(
                [
                    entries[j + 1 - r]
                    * volume**r
                    / math.factorial(r)
                    * math.exp(-self.c * self.n / 10 * (r - 1))
                    for r in range(1, j + 2)
                ]
            )
            self.totals.append(np.sum(self.terms[-1], axis=0))

    def draw(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        weight, j, found = (
            self.totals[8] * np.exp(-self.c * np.abs(self.n - self.rank - self.n / 10)),
            8,
            [],
        )
        while j >= 0:
            k = rng.choice(len(weight), p=weight / weight.sum())
            chances = np.array([term[k] for term in self.terms[j]])
            many = 1 + rng.choice(len(chances), p=chances / chances.sum())
            found += [
                int(self.start[k]) + int(rng.integers(int(self.cells[k]))) for _ in range(many)
            ]
            j -= many
            weight = self.totals[j] * self.kernel[k] if j >= 0 else weight
        return np.sort(found)


def near_ranks(
    quantiles: Quantiles, engine: Engine, grid: Grid, epsilon: float
) -> list[QuantileRanks]:
    """The ranks of one group that a joint draw of this epsilon needs; it can ask for more."""
    one = np.zeros(1, dtype=np.int64)
    scope = Scope(grid, 1, engine.max_records)
    evidence = run_inquiry(quantiles.evidence(scope, epsilon), engine, one)
    return list(evidence.answered_by(lambda _, inquiry: run_inquiry(inquiry, engine, one)).columns)


def errors(
    name: str,
    make: Callable[[np.random.Generator], Floats],
    grid: Grid,
    epsilons: tuple[float, ...],
    sets: int,
) -> None:
    shares = Quantiles(DECILES)
    for epsilon in epsilons:
        rng, source = np.random.default_rng(7), entropy(7)
        found: dict[str, list[float]] = {
            key: [] for key in ("joint", "half", "one side", "separate")
        }
        for _ in range(sets):
            data = make(rng)
            index = np.sort(grid.snap(data))
            truth = index[[N * i // 10 - 1 for i in range(1, 10)]]

            def error(drawn: Any, truth: npt.NDArray[np.int64] = truth) -> float:
                return float(np.abs(np.asarray(drawn) - truth).mean() * grid.spacing)

            joint = Joint(epsilon)
            columns = near_ranks(shares, array_engine(read_array(data), grid), grid, epsilon)
            found["joint"] += map(error, joint.release(columns * 10, source))
            for key, side in (("half", 0.5), ("one side", 1.0)):
                published = Published(index, grid.size, epsilon, side)
                found[key] += [error(published.draw(rng)) for _ in range(10)]
            each = [
                duffdp.quantile(data, q, epsilon=epsilon / 9, bounds=grid, rng=rng).value
                for q in DECILES
            ]
            found["separate"].append(error([grid.index(value) for value in each]))
        cells = " | ".join(f"{np.mean(values):.4f}" for values in found.values())
        print(f"| {name} | {epsilon:g} | {cells} |", flush=True)


def sensitivities() -> None:
    """The largest rise and fall of the score when one record joins any gap, over all ways to put up
    to 12 records into gaps.
    """
    for qs in (
        (Fraction(1, 2),),
        (Fraction(1, 4), Fraction(3, 4)),
        (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
    ):
        shares = [b - a for a, b in itertools.pairwise((Fraction(0), *qs, Fraction(1)))]
        moves: dict[str, list[Fraction]] = {"true": [], "free": []}
        for n in range(13):
            for inner in itertools.product(range(n + 1), repeat=len(qs)):
                if sum(inner) <= n:
                    gaps = [*inner, n - sum(inner)]
                    for i in range(len(gaps)):
                        more = [g + (i == j) for j, g in enumerate(gaps)]
                        for key, before, after in (("true", n, n + 1), ("free", 6, 6)):
                            a, b = (
                                sum(abs(g - s * w) for g, w in zip(gg, shares, strict=True))
                                for gg, s in ((gaps, before), (more, after))
                            )
                            moves[key].append(Fraction(b - a))
        shown = ", ".join(f"{float(q):g}" for q in qs)
        for key, label in (("true", "size = n, as published"), ("free", "any fixed size")):
            print(
                f"| {shown} | {label} | {float(max(moves[key])):g} | {float(-min(moves[key])):g} |"
            )
        print(
            f"| {shown} | 2 (1 - smallest share) | {float(2 * (1 - min(shares))):g} | "
            f"{float(2 * (1 - min(shares))):g} |"
        )


def speed() -> None:
    rng = np.random.default_rng(1)
    for name, data, bounds in (
        ("N(0,1)", rng.normal(size=10**7), (-10.0, 10.0)),
        ("U(0,1)", rng.random(10**7), (0.0, 1.0)),
    ):
        for epsilon in (1.0, 0.1):
            times: dict[str, list[float]] = {"median": [], "deciles": []}
            for _ in range(5):
                begin = time.perf_counter()
                np.median(data)
                middle = time.perf_counter()
                duffdp.quantiles(data, DECILES, epsilon=epsilon, bounds=bounds)
                times["median"].append(middle - begin)
                times["deciles"].append(time.perf_counter() - middle)
            one, nine = (sorted(times[key])[2] for key in ("median", "deciles"))
            print(
                f"| {name} | {epsilon:g} | {one:.3f} s | {nine:.3f} s | {nine / one:.1f} |",
                flush=True,
            )


def many() -> None:
    """Processor time, and mean error in ranks, of m quantiles: the best and the middle of a few
    runs."""
    rng = np.random.default_rng(1)
    for m in (3, 9, 19, 99, 999):
        shares = [i / (m + 1) for i in range(1, m + 1)]
        for n in (1000, 10**6):
            data = rng.random(n)
            truth = np.quantile(data, shares, method="inverted_cdf")
            times, off = [], []
            for _ in range(3 if m > 99 else 9):
                begin = time.process_time()
                release = duffdp.quantiles(data, shares, epsilon=1.0, bounds=(0.0, 1.0))
                times.append(time.process_time() - begin)
                off.append(n * np.abs(np.array(release.value) - truth).mean())
            middle = sorted(times)[len(times) // 2]
            print(
                f"| {m} | {n:,} | {min(times):.2f} s | {middle:.2f} s | {np.mean(off):.1f} |",
                flush=True,
            )


def sizes() -> None:
    """Mean error in ranks of m quantiles, with a free size and after a count."""
    for m in (9, 19, 39):
        rng, source, shares = (
            np.random.default_rng(5),
            entropy(5),
            [i / (m + 1) for i in range(1, m + 1)],
        )
        found: dict[str, list[float]] = {"free": [], "count": []}
        part = Fraction(1, 3 * math.isqrt(m))
        for _ in range(60 if m < 30 else 20):
            data, grid = rng.random(N), Grid(0.0, 1.0)
            engine = array_engine(read_array(data), grid)
            truth = np.quantile(data, shares, method="inverted_cdf")
            records = N + two_sided_geometrics(part, 1, source)[0]
            for key, epsilon, size in (("free", Fraction(1), None), ("count", 1 - part, records)):
                columns = near_ranks(Quantiles(shares, size), engine, grid, float(epsilon))
                for each in Joint(epsilon).release(columns * 2, source):
                    values = np.array([grid.value(i) for i in each])
                    found[key].append(float(N * np.abs(values - truth).mean()))
        cells = " | ".join(f"{np.mean(values):.2f}" for values in found.values())
        print(f"| {m} | {cells} |", flush=True)


def few() -> None:
    """Mean error of quartiles of 100 records, with a free size, and with the true one, which costs
    a third of epsilon (`sensitivities`).
    """
    kinds: tuple[tuple[str, Callable[[np.random.Generator], Floats], Grid], ...] = (
        ("N(0,1) on [-10, 10]", lambda rng: rng.normal(size=100), Grid(-10, 10, 0.0001)),
        ("U(0,1) on [0, 1]", lambda rng: rng.random(100), Grid(0, 1, 0.00001)),
        ("Exp(1) on [0, 20]", lambda rng: rng.exponential(size=100), Grid(0, 20, 0.0001)),
    )
    quartiles = (0.25, 0.5, 0.75)
    for name, make, grid in kinds:
        for epsilon in (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(2, 5)):
            rng, source = np.random.default_rng(5), entropy(5)
            found: dict[str, list[float]] = {"free": [], "true": []}
            for _ in range(30):
                data = make(rng)
                truth = np.quantile(data, quartiles, method="inverted_cdf")
                for key, paid, size in (("free", epsilon, None), ("true", epsilon / 3 * 2, 100)):
                    asked = Quantiles(quartiles, size)
                    columns = near_ranks(
                        asked, array_engine(read_array(data), grid), grid, float(paid)
                    )
                    for each in Joint(paid).release(columns * 10, source):
                        values = np.array([grid.value(i) for i in each])
                        found[key].append(float(np.abs(values - truth).mean()))
            cells = " | ".join(f"{np.mean(values):.3f}" for values in found.values())
            print(f"| {name} | {float(epsilon):g} | {cells} |", flush=True)


def ties() -> None:
    """A summary of 4 million records, all different, half or all of them equal."""
    rng = np.random.default_rng(1)
    apart = rng.random(4 * 10**6)
    for name, data in (
        ("all different", apart),
        ("half at 0", np.where(apart < 0.5, 0, apart)),
        ("all at 0", 0 * apart),
    ):
        for epsilon in (1.0, 100.0):
            times = []
            for _ in range(5):
                begin = time.perf_counter()
                duffdp.describe(data, epsilon=epsilon, bounds=(0.0, 1.0))
                times.append(time.perf_counter() - begin)
            print(f"| {name} | {epsilon:g} | {sorted(times)[2]:.3f} s |", flush=True)


def groups() -> None:
    """Processor time of quantiles of many groups of 100 records, drawn together and one by one."""
    rng = np.random.default_rng(1)
    duffdp.quantiles([1.0, 2.0], DECILES, epsilon=1, bounds=(0, 100))  # loads what is needed
    for number, qs in itertools.product((300, 3000), ([0.25, 0.5, 0.75], DECILES)):
        column = rng.normal(50, 10, 100 * number)
        data = pl.DataFrame({"x": column, "group": np.repeat(np.arange(number), 100)})
        taken = []
        for can_group in (joint.can_group, lambda columns: False):
            with mock.patch.object(joint, "can_group", can_group):
                begin = time.process_time()
                duffdp.quantiles(
                    data, qs, column="x", by="group", keys=range(number), epsilon=1, bounds=(0, 100)
                )
                taken.append(time.process_time() - begin)
        together, single = taken
        print(
            f"| {number:,} | {len(qs)} | {together:.2f} s | {single:.2f} s | "
            f"{single / together:.0f} |"
        )


def main() -> None:
    print("Mean error of nine deciles, n = 1000\n")
    print(
        "| data | epsilon | joint, free size | published, ties halved | "
        "published, ties one-sided | "
        "nine releases at epsilon/9 |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    errors("N(0,1) on [-10, 10]", lambda rng: rng.normal(size=N), Grid(-10.0, 10.0), (1.0,), 30)
    errors("U(0,1) on [0, 1]", lambda rng: rng.random(N), Grid(0.0, 1.0), (1.0,), 30)
    ages = lambda rng: np.rint(rng.normal(40, 12, N)).clip(0, 120)  # noqa: E731
    errors("ages, N(40, 12) rounded, 0..120", ages, Grid(0, 120, 1), (0.5, 1.0, 2.0), 60)
    print("\nMean error of quartiles, n = 100\n")
    print("| data | epsilon | free size | size = n, as published |")
    print("| --- | --- | --- | --- |")
    few()
    print("\nHow far one record moves the score\n")
    print("| quantiles | score | up | down |")
    print("| --- | --- | --- | --- |")
    sensitivities()
    print("\nTime for nine deciles of 10^7 doubles, median of 5\n")
    print("| data | epsilon | np.median | nine deciles | ratio |")
    print("| --- | --- | --- | --- | --- |")
    speed()
    print("\nProcessor time and mean error, in ranks, of m quantiles of U(0,1), epsilon 1\n")
    print("| m | n | best | middle | ranks |")
    print("| --- | --- | --- | --- | --- |")
    many()
    print("\nMean error, in ranks, of m quantiles of 1000 records of U(0,1), epsilon 1\n")
    print("| m | free size | after a count |")
    print("| --- | --- | --- |")
    sizes()
    print("\nTime for a summary of 4 million records, median of 5\n")
    print("| records | epsilon | time |")
    print("| --- | --- | --- |")
    ties()
    print("\nProcessor time for quantiles of groups of 100 records\n")
    print("| groups | m | together | one by one | ratio |")
    print("| --- | --- | --- | --- | --- |")
    groups()


if __name__ == "__main__":
    main()
