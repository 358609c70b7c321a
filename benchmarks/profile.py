"""How close the first look of `duffdp.profile` comes to the quartiles of tables of many columns:
`python -m benchmarks.profile`.

Each profile is made of 15 columns of 1,000 people for one epsilon. The constants of the profile
were chosen with the first tables: fifteen shapes, and tables with one or a few shapes at fifteen
scales. Three other tables were not used for any choice: other distributions, columns of other
kinds, and columns of real data. In the last two, several quartiles are near 0, where a factor means
little, or at the edge of equal records. So a second figure also accepts a quartile that is off by
at most a quarter of the distance between the quartiles. A third figure is an ideal that no profile
reaches. It knows the true quartiles and only counts by how many records each is off, with all of
the column's epsilon for each of the three counts. Geometric noise is the best for one count (Ghosh,
Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms", 2009).

Two more tables show the bounds that are proposed for the fifteen shapes, and the quartiles of few
records. A table of dates has the errors in days. The last one has a column in which 44% of the
fields are not numbers. It counts as named if a remark names it and its share is right within five
points.
"""

from __future__ import annotations

import datetime as dt
import math
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

import duffdp
from duffdp._planning.profile import NUMBER_EDGES

ROWS, DRAWS, EPSILONS = 1_000, 40, (1.0, 2.0)
QUARTILES = (0.25, 0.5, 0.75)
FIRST = dt.date(1900, 1, 1)
DATA = Path(__file__).parents[1] / "tests" / "data"
REAL = {
    "adult": ["age", "education_num", "hours_per_week", "capital_gain"],
    "california_housing": [
        *("longitude", "latitude", "total_rooms"),
        *("population", "median_income", "median_house_value"),
    ],
    "nyc_taxis": ["distance", "fare", "tip"],
    "online_retail_invoices": ["items", "amount"],
}
Generator = np.random.Generator
SHAPES: dict[str, Callable[[Generator], np.ndarray]] = {
    "gamma": lambda rng: rng.gamma(2, 30, ROWS),
    "weibull": lambda rng: 100 * rng.weibull(0.7, ROWS),
    "pareto": lambda rng: 1_000 * (1 + rng.pareto(2.5, ROWS)),
    "poisson of 40": lambda rng: rng.poisson(40, ROWS).astype(float),
    "below zero": lambda rng: rng.normal(-50, 10, ROWS),
    "temperatures": lambda rng: rng.normal(14, 6, ROWS),
    "log-normal": lambda rng: rng.lognormal(3, 0.5, ROWS),
    "triangle": lambda rng: rng.triangular(0, 10, 100, ROWS),
    "waiting": lambda rng: rng.exponential(5_000, ROWS),
    "narrow": lambda rng: rng.uniform(500, 700, ROWS),
    "small": lambda rng: 0.01 * rng.chisquare(5, ROWS),
    "years": lambda rng: rng.integers(1930, 2010, ROWS).astype(float),
    "grades": lambda rng: rng.integers(1, 7, ROWS).astype(float),
    "two hills": lambda rng: np.concatenate(
        [rng.normal(20, 2, 2 * ROWS // 5), rng.normal(2_000, 200, ROWS - 2 * ROWS // 5)]
    ),
    "large": lambda rng: rng.lognormal(12, 1.2, ROWS),
}


FEW_SHAPES: dict[str, Callable[[Generator, int], np.ndarray]] = {
    "log-normal, sigma 0.5": lambda rng, i: rng.lognormal(i - 3, 0.5, ROWS),
    "log-normal, sigma 1": lambda rng, i: rng.lognormal(i, 1, ROWS),
    "log-normal, sigma 1.5": lambda rng, i: rng.lognormal(i - 3, 1.5, ROWS),
    "normal": lambda rng, i: rng.normal(100 * (i + 1), 15 * (i + 1), ROWS),
    "exponential": lambda rng, i: rng.exponential(10.0 ** (i - 5), ROWS),
    "uniform": lambda rng, i: rng.uniform(0, 10 * (i + 1) ** 2, ROWS),
    "Poisson": lambda rng, i: rng.poisson(3 + 2 * i, ROWS).astype(float),
    "whole numbers": lambda rng, i: rng.integers(0, 5 * (i + 2), ROWS).astype(float),
    "ages, incomes and hours": lambda rng, i: (
        rng.normal(40, 12, ROWS).clip(0, 100).round(),
        rng.lognormal(10, 0.8, ROWS),
        rng.gamma(4, 10, ROWS),
    )[i // 5],
}


def other_distributions(rng: Generator) -> dict[str, np.ndarray]:
    """Columns of distributions that no other table has."""
    return {
        "logistic": rng.logistic(200, 20, ROWS),
        "Gumbel": rng.gumbel(150, 20, ROWS),
        "beta": 100 * rng.beta(2, 5, ROWS),
        "geometric": rng.geometric(0.05, ROWS).astype(float),
        "negative binomial": rng.negative_binomial(5, 0.1, ROWS).astype(float),
        "Rayleigh": rng.rayleigh(30, ROWS),
        "Student": 100 + 10 * rng.standard_t(3, ROWS),
        "Wald": rng.wald(100, 80, ROWS),
        "power": 1_000 * rng.power(3, ROWS),
        "binomial": rng.binomial(60, 0.4, ROWS).astype(float),
        "Laplace": rng.laplace(5_000, 600, ROWS),
        "F": rng.f(10, 20, ROWS),
        "hypergeometric": rng.hypergeometric(80, 120, 50, ROWS).astype(float),
        "noncentral chi-square": rng.noncentral_chisquare(3, 40, ROWS),
        "rounded hundreds": 100 * np.round(rng.gamma(3, 8, ROWS)),
    }


def other_kinds(rng: Generator) -> dict[str, np.ndarray]:
    """Columns of kinds that the first table does not have."""
    u, donations = rng.random, [5, 10, 20, 25, 50, 100, 250, 1000]
    early, built = u(ROWS) < 0.08, u(ROWS) < 0.5
    years = np.where(built, rng.uniform(1950, 1980, ROWS), rng.uniform(1850, 2024, ROWS))
    return {
        "birth weight": np.where(early, rng.normal(1800, 500, ROWS), rng.normal(3400, 480, ROWS)),
        "days in hospital": 1.0 + rng.negative_binomial(1, 0.18, ROWS),
        "waiting minutes": np.round(40 * rng.weibull(0.7, ROWS), 1),
        "blood pressure": 2 * np.round(rng.normal(128, 18, ROWS) / 2),
        "temperature": np.round(rng.normal(36.9, 0.6, ROWS), 1),
        "winter degrees": np.round(rng.normal(4, 8, ROWS), 1),
        "balance": np.round(rng.laplace(500, 3000, ROWS), 2),
        "rent": 10 * np.round(1400 * np.exp(rng.normal(0, 0.35, ROWS)) / 10),
        "donation": rng.choice(donations, ROWS, p=[0.2, 0.25, 0.2, 0.1, 0.12, 0.08, 0.04, 0.01]),
        "particle size": 0.002 * np.exp(rng.normal(0, 1.5, ROWS)),
        "inhabitants": np.floor(50 * 4e4 ** u(ROWS)),
        "construction year": np.round(years),
        "grade": np.clip(np.round(2 * rng.normal(4.3, 0.9, ROWS)) / 2, 1, 6),
        "children": rng.poisson(1.3, ROWS),
        "revenue": np.round(1e5 * np.exp(rng.normal(0, 3, ROWS)), 2),
    }


def real_columns(rng: Generator) -> dict[str, np.ndarray]:
    """Columns of real data, of 1,000 rows each."""
    columns: dict[str, np.ndarray] = {}
    for file, names in REAL.items():
        frame = pl.read_csv(DATA / f"{file}.csv", infer_schema_length=None)
        rows = rng.choice(len(frame), ROWS, replace=False)
        columns |= {name: frame[name].to_numpy()[rows].astype(float) for name in names}
    return columns


TABLES: dict[str, Callable[[Generator], dict[str, np.ndarray]]] = {
    "fifteen shapes": lambda rng: {name: draw(rng) for name, draw in SHAPES.items()},
    **{
        f"few shapes, {title}": lambda rng, draw=draw: {
            f"column {i}": draw(rng, i) for i in range(15)
        }
        for title, draw in FEW_SHAPES.items()
    },
    "held out: other distributions": other_distributions,
    "held out: other kinds": other_kinds,
    "held out: real data": real_columns,
}
DAYS: dict[str, Callable[[Generator], np.ndarray]] = {
    "one year": lambda rng: rng.integers(0, 365, ROWS) + days_until(2025),
    "three years": lambda rng: rng.integers(0, 1096, ROWS) + days_until(2022),
    "growing": lambda rng: days_until(2025) - rng.exponential(500, ROWS).astype(int),
    "twenty years": lambda rng: rng.integers(0, 7305, ROWS) + days_until(2004),
    "births": lambda rng: rng.normal(days_until(1978), 6500, ROWS).astype(int),
}


def days_until(year: int) -> int:
    """Days from 1900 to a year."""
    return (dt.date(year, 1, 1) - FIRST).days


def is_near(value: float, truth: float) -> bool:
    """True if two numbers are equal, or have one sign and lie within a factor of 2."""
    return value == truth or (value * truth > 0 and 0.5 <= value / truth <= 2)


def misses(
    make: Callable[[Generator], dict[str, np.ndarray]], seed: int, epsilon: float
) -> Iterator[tuple[str, bool]]:
    """The columns of one profile of which a quartile is off by more than a factor of 2, and whether
    it is also off by more than a quarter of the distance between the quartiles.
    """
    data = make(np.random.default_rng(seed))
    look = duffdp.profile(pl.DataFrame(data), epsilon=epsilon, rng=seed)
    for name, values in data.items():
        found = look.columns[name].quartiles
        truths = list(map(float, np.quantile(values, QUARTILES, method="inverted_cdf")))
        reach = (truths[2] - truths[0]) / 4
        if found is None:
            yield name, True
        elif far := [pair for pair in zip(found, truths, strict=True) if not is_near(*pair)]:
            yield name, any(abs(value - truth) > reach for value, truth in far)


def few_records(rows: int, seed: int, epsilon: float) -> tuple[int, int]:
    """How many of the fifteen shapes have quartiles, and how many of these are off by more than a
    factor of 2, with so many people.
    """
    rng = np.random.default_rng(seed)
    data = {name: rng.permutation(draw(rng))[:rows] for name, draw in SHAPES.items()}
    look = duffdp.profile(pl.DataFrame(data), epsilon=epsilon, rng=seed)
    shown = wrong = 0
    for name, values in data.items():
        if (found := look.columns[name].quartiles) is not None:
            truths = map(float, np.quantile(values, QUARTILES, method="inverted_cdf"))
            shown += 1
            wrong += not all(is_near(*pair) for pair in zip(found, truths, strict=True))
    return shown, wrong


def ideal_misses(
    make: Callable[[Generator], dict[str, np.ndarray]], seed: int, epsilon: float
) -> set[str]:
    """The columns of which a quartile is off by more than a factor of 2 if only a noisy count moves
    its rank, where each count has all of the column's epsilon.
    """
    data = make(np.random.default_rng(seed))
    rng = np.random.default_rng([seed, 1])
    success = 1 - math.exp(-epsilon / len(data))
    missed = set()
    for name, values in data.items():
        ordered = np.sort(values)
        for q in QUARTILES:
            noise = rng.geometric(success) - rng.geometric(success)
            # One record changes q times all records minus those below by at most max(q, 1 - q).
            ranks = [q * ROWS + max(q, 1 - q) * noise, q * ROWS]
            value, truth = ordered[np.clip(np.ceil(ranks).astype(int) - 1, 0, ROWS - 1)]
            if not is_near(value, truth):
                missed.add(name)
    return missed


def proposed_bounds(seed: int, epsilon: float) -> Iterator[tuple[float, bool]]:
    """The share of records within the proposed bounds of each of the fifteen shapes, and whether
    the bounds are wider than the cells of the records.
    """
    rng = np.random.default_rng(seed)
    data = {name: draw(rng) for name, draw in SHAPES.items()}
    look = duffdp.profile(pl.DataFrame(data), epsilon=epsilon, rng=seed)
    for name, values in data.items():
        low, high = look.columns[name].bounds or (math.inf, -math.inf)
        cells = np.searchsorted(NUMBER_EDGES, [values.min(), values.max()], side="right")
        widest = NUMBER_EDGES[cells[0] - 1], NUMBER_EDGES[cells[1]]
        yield np.mean((low <= values) & (values <= high)), low < widest[0] or high > widest[1]


def date_errors(seed: int, epsilon: float) -> dict[str, float]:
    """The largest error of the quartiles of each column of dates, in days."""
    rng = np.random.default_rng(seed)
    data = {f"{name} {i}": draw(rng) for i in range(3) for name, draw in DAYS.items()}
    frame = pl.DataFrame(data).select((pl.lit(FIRST) + pl.duration(days=pl.all())).name.keep())
    look = duffdp.profile(frame, epsilon=epsilon, rng=seed)
    errors = {}
    for name, days in data.items():
        truths = np.quantile(days, QUARTILES, method="inverted_cdf")
        found = look.columns[name].quartiles
        pairs = zip(found or (), truths, strict=False)
        errors[name] = max(
            (abs((day - FIRST).days - truth) for day, truth in pairs), default=math.inf
        )
    return errors


def is_called_unreadable(folder: Path, seed: int, epsilon: float) -> bool:
    """True if a profile names the column in which 44% of the fields are not numbers."""
    rng = np.random.default_rng(seed)
    fines = [f"{fine:.2f}" for fine in rng.lognormal(6, 1, ROWS)]
    for at in rng.choice(ROWS, round(0.44 * ROWS), replace=False):
        fines[at] = "k.A."
    others = {name: list(map(str, draw(rng))) for name, draw in list(SHAPES.items())[:4]}
    path = folder / "fines.csv"
    pl.DataFrame({"fine": fines, **others}).write_csv(path)
    look = duffdp.profile(path, epsilon=epsilon, rng=seed)
    named = any(remark.startswith("fine:") for remark in look.remarks)
    return named and abs(look.columns["fine"].unreadable - 0.44) <= 0.05


def main(draws: int = DRAWS) -> None:
    """Print the profiles that hit all of their quartiles, and those that name the column."""
    print(f"15 columns of {ROWS:,} people, {draws} profiles")
    for title, make in TABLES.items():
        for epsilon in EPSILONS:
            missed = [dict(misses(make, seed, epsilon)) for seed in range(draws)]
            hits = sum(not names for names in missed)
            near = sum(not any(names.values()) for names in missed)
            ideal = sum(not ideal_misses(make, seed, epsilon) for seed in range(draws))
            columns = sum(map(len, missed))
            print(
                f"{title}, epsilon {epsilon:g}: all quartiles within a factor of 2 in {hits} of "
                f"{draws} (the ideal in {ideal}), or within a quarter of their distance in {near}; "
                f"columns missed {columns} of {draws * 15}"
            )
            for name in dict.fromkeys(name for names in missed for name in names):
                print(f"  {name}: {sum(name in names for names in missed)}")
    bounds = [pair for seed in range(draws) for pair in proposed_bounds(seed, 1.0)]
    within, wider = np.mean(bounds, axis=0)
    print(f"proposed bounds at epsilon 1: {within:.1%} of records within, {wider:.1%} too wide")
    for rows in (200, 300, 400, 500, 700):
        missed = [few_records(rows, seed, 1.0) for seed in range(draws)]
        columns, shown, wrong = draws * len(SHAPES), *map(sum, zip(*missed, strict=True))
        print(f"{rows} people, epsilon 1: {shown} of {columns} with quartiles, {wrong} of them off")
    for epsilon in EPSILONS:
        errors = [date_errors(seed, epsilon) for seed in range(draws)]
        for name in DAYS:
            each = sorted(err for one in errors for key, err in one.items() if key.startswith(name))
            middle, most = each[len(each) // 2], each[math.ceil(0.95 * len(each)) - 1]
            print(f"dates, {name}, epsilon {epsilon:g}: off by {middle:.0f} days, 95% {most:.0f}")
    with tempfile.TemporaryDirectory() as folder:
        called = sum(is_called_unreadable(Path(folder), seed, 1.0) for seed in range(draws))
    print(f"epsilon 1, 5 columns: 44% unreadable fields are named in {called} of {draws}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
