"""`python -m benchmarks.peers`: error and time of private medians and means beside other libraries,
in one run on real ages.

Peers that are not installed are left out: pip install opendp 'scikit-learn<1.6' diffprivlib
python-dp pipeline-dp
"""

from __future__ import annotations

import csv
import importlib.metadata
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import duffdp

LOWER, UPPER = 0, 120
Call = Callable[[], float]
Maker = Callable[[list[int], float], Call]


def ages() -> list[int]:
    path = Path(__file__).parent.parent / "tests" / "data" / "adult.csv"
    with path.open(newline="") as file:
        return [int(row["age"]) for row in csv.DictReader(file)]


def ours(verb: str, mechanism: str) -> Maker:
    def make(data: list[int], epsilon: float) -> Call:
        array = np.array(data)
        step = 1 if verb == "median" else None
        return lambda: (
            getattr(duffdp, verb)(
                array, epsilon=epsilon, bounds=(LOWER, UPPER), step=step, mechanism=mechanism
            ).value
        )

    return make


def opendp_median(data: list[int], epsilon: float) -> Call:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    candidates = list(range(LOWER, UPPER + 1))
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    score = space >> dp.t.then_quantile_score_candidates(candidates, alpha=0.5)
    release = dp.binary_search_chain(
        lambda scale: score >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale, negate=True),
        d_in=1,
        d_out=epsilon,
    )
    array = np.array(data, dtype=np.int32)  # much faster than a list
    return lambda: candidates[release(array)]


def opendp_mean(data: list[int], epsilon: float) -> Call:
    """Half of epsilon for the sum and half for the count: the number of records is private too."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    clamped = space >> dp.t.then_clamp((LOWER, UPPER))
    total = dp.binary_search_chain(
        lambda s: clamped >> dp.t.then_sum() >> dp.m.then_laplace(s), d_in=1, d_out=epsilon / 2
    )
    count = dp.binary_search_chain(
        lambda s: space >> dp.t.then_count() >> dp.m.then_laplace(s), d_in=1, d_out=epsilon / 2
    )
    array = np.array(data, dtype=np.int32)
    return lambda: min(max(total(array) / max(count(array), 1), LOWER), UPPER)


def diffprivlib(verb: str) -> Maker:
    def make(data: list[int], epsilon: float) -> Call:
        from diffprivlib import tools

        array = np.array(data, dtype=float)
        return lambda: float(getattr(tools, verb)(array, epsilon=epsilon, bounds=(LOWER, UPPER)))

    return make


def pydp(name: str) -> Maker:
    def make(data: list[int], epsilon: float) -> Call:
        from pydp.algorithms import laplacian

        algorithm = getattr(laplacian, name)
        return lambda: float(
            algorithm(epsilon=epsilon, lower_bound=LOWER, upper_bound=UPPER).quick_result(data)
        )

    return make


def pipelinedp(metric: str) -> Maker:
    def make(data: list[int], epsilon: float) -> Call:
        import pipeline_dp as p

        rows = list(enumerate(data))
        wanted = p.Metrics.PERCENTILE(50) if metric == "median" else p.Metrics.MEAN
        parameters = p.AggregateParams(
            metrics=[wanted],
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            min_value=LOWER,
            max_value=UPPER,
        )
        extractors = p.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: 0,
            value_extractor=lambda row: row[1],
        )

        def call() -> float:
            budget = p.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=1e-12)
            result = p.DPEngine(budget, p.LocalBackend()).aggregate(
                rows, parameters, extractors, public_partitions=[0]
            )
            budget.compute_budgets()
            return float(next(iter(result))[1][0])

        return call

    return make


PEERS: dict[str, list[tuple[str, str, Maker]]] = {
    "median": [
        ("duffdp, best", "duffdp", ours("median", "best")),
        ("duffdp, duff", "duffdp", ours("median", "duff")),
        ("OpenDP, noisy max of candidates", "opendp", opendp_median),
        ("diffprivlib, tools.median", "diffprivlib", diffprivlib("median")),
        ("PyDP, laplacian.Median", "python-dp", pydp("Median")),
        ("PipelineDP, PERCENTILE(50)", "pipeline-dp", pipelinedp("median")),
    ],
    "mean": [
        ("duffdp, best", "duffdp", ours("mean", "best")),
        ("duffdp, clipped", "duffdp", ours("mean", "clipped")),
        ("duffdp, duff", "duffdp", ours("mean", "duff")),
        ("OpenDP, sum and count", "opendp", opendp_mean),
        ("diffprivlib, tools.mean (count public)", "diffprivlib", diffprivlib("mean")),
        ("PyDP, BoundedMean", "python-dp", pydp("BoundedMean")),
        ("PipelineDP, MEAN", "pipeline-dp", pipelinedp("mean")),
    ],
}


def main() -> None:
    warnings.simplefilter("ignore")
    everyone = ages()
    few, many = everyone[:1000], (everyone * 4)[:100_000]
    truths = {"median": sorted(few)[499], "mean": sum(few) / 1000}
    for verb, peers in PEERS.items():
        print(
            f"\n{verb} of 1,000 ages from {LOWER} to {UPPER}: mean absolute error; time of one "
            "call with 100,000 ages"
        )
        print(f"{'':52}{'epsilon 0.1':>12}{'epsilon 1':>12}{'draws':>8}{'time':>12}")
        for name, package, make in peers:
            try:
                label = f"{name} ({importlib.metadata.version(package)})"
                call = make(few, 1.0)
                call()  # what is loaded at first use does not count
                begin = time.perf_counter()
                call()
                draws = 3000 if time.perf_counter() - begin < 0.005 else 300
                errors = [
                    statistics.fmean(abs(call() - truths[verb]) for _ in range(draws))
                    for call in (make(few, 0.1), make(few, 1.0))
                ]
                large = make(many, 1.0)
                times = []
                for _ in range(3):
                    begin = time.perf_counter()
                    large()
                    times.append(time.perf_counter() - begin)
            except ImportError:
                print(f"{name:52}  not installed")
                continue
            print(
                f"{label:52}{errors[0]:12.3f}{errors[1]:12.3f}{draws:8}{min(times) * 1e3:9.2f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
