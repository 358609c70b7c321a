"""`python -m benchmarks.peers`: error and time of private statistics beside other libraries, in one
run on real ages.

Peers that are not installed are left out: pip install opendp 'scikit-learn<1.6' diffprivlib
python-dp pipeline-dp
"""

from __future__ import annotations

import csv
import importlib.metadata
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import duffdp

LOWER, UPPER = 0, 120
BINS = [*range(0, 120, 10), 121]  # decades; the last one is closed
EPSILONS = (0.1, 1.0, 5.0)
Call = Callable[[], Any]
Maker = Callable[[list[int], float], Call]


def ages() -> list[int]:
    path = Path(__file__).parent.parent / "tests" / "data" / "adult.csv"
    with path.open(newline="") as file:
        return [int(row["age"]) for row in csv.DictReader(file)]


def ours(verb: str, mechanism: str = "best") -> Maker:
    def make(data: list[int], epsilon: float) -> Call:
        array = np.array(data)
        given: dict[str, Any] = {"epsilon": epsilon}
        if verb == "histogram":
            given |= {"bins": BINS, "nonnegative": mechanism == "best"}
        elif verb != "count":
            given |= {"bounds": (LOWER, UPPER), "step": 1 if verb == "median" else None}
            given |= {"mechanism": mechanism} if mechanism != "best" else {}
        if verb == "histogram":
            return lambda: list(duffdp.histogram(array, **given).value.values())
        return lambda: getattr(duffdp, verb)(array, **given).value

    return make


def opendp_space() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp, (dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())


def opendp_noise(data: list[int], epsilon: float, total: Callable[[Any, Any], Any]) -> Call:
    """Laplace noise, on whole numbers, for what `total` counts or adds up."""
    dp, space = opendp_space()
    counted = total(dp, space)
    release = dp.binary_search_chain(
        lambda scale: counted >> dp.m.then_laplace(scale), d_in=1, d_out=epsilon
    )
    array = np.array(data, dtype=np.int32)
    return lambda: release(array)


def opendp_count(data: list[int], epsilon: float) -> Call:
    return opendp_noise(data, epsilon, lambda dp, space: space >> dp.t.then_count())


def opendp_sum(data: list[int], epsilon: float) -> Call:
    def total(dp: Any, space: Any) -> Any:
        return space >> dp.t.then_clamp((LOWER, UPPER)) >> dp.t.then_sum()

    return opendp_noise(data, epsilon, total)


def opendp_histogram(data: list[int], epsilon: float) -> Call:
    """Of the decade of every age: its bins are categories."""

    def total(dp: Any, space: Any) -> Any:
        return space >> dp.t.then_count_by_categories(list(range(12)), null_category=False)

    return opendp_noise([min(age // 10, 11) for age in data], epsilon, total)


def opendp_std(data: list[int], epsilon: float) -> Call:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(bounds=(float(LOWER), float(UPPER))), size=len(data))
    spread = (domain, dp.symmetric_distance()) >> dp.t.then_variance()
    release = dp.binary_search_chain(
        lambda scale: spread >> dp.m.then_laplace(scale), d_in=2, d_out=epsilon
    )
    array = np.array(data, dtype=float)
    return lambda: max(release(array), 0.0) ** 0.5


def opendp_median(data: list[int], epsilon: float) -> Call:
    dp, space = opendp_space()
    candidates = list(range(LOWER, UPPER + 1))
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
    dp, space = opendp_space()
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
        if verb == "count_nonzero":
            return lambda: float(tools.count_nonzero(array >= 0, epsilon=epsilon))
        if verb == "histogram":
            return lambda: tools.histogram(
                array, bins=BINS, range=(BINS[0], BINS[-1]), epsilon=epsilon
            )[0]
        return lambda: float(getattr(tools, verb)(array, epsilon=epsilon, bounds=(LOWER, UPPER)))

    return make


def pydp(name: str) -> Maker:
    def make(data: list[int], epsilon: float) -> Call:
        from pydp.algorithms import laplacian

        algorithm = getattr(laplacian, name)
        if name == "Count":
            return lambda: float(algorithm(epsilon=epsilon, dtype="int").quick_result(data))
        return lambda: float(
            algorithm(epsilon=epsilon, lower_bound=LOWER, upper_bound=UPPER).quick_result(data)
        )

    return make


def pipelinedp(metric: str) -> Maker:
    def make(data: list[int], epsilon: float) -> Call:
        import pipeline_dp as p

        rows = list(enumerate(data))
        wanted = p.Metrics.PERCENTILE(50) if metric == "median" else getattr(p.Metrics, metric)
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
            found = float(next(iter(result))[1][0])
            return max(found, 0.0) ** 0.5 if metric == "VARIANCE" else found

        return call

    return make


PEERS: dict[str, list[tuple[str, str, Maker]]] = {
    "median": [
        ("duffdp, best", "duffdp", ours("median")),
        ("duffdp, duff", "duffdp", ours("median", "duff")),
        ("OpenDP, noisy max of candidates", "opendp", opendp_median),
        ("diffprivlib, tools.median", "diffprivlib", diffprivlib("median")),
        ("PyDP, laplacian.Median", "python-dp", pydp("Median")),
        ("PipelineDP, PERCENTILE(50)", "pipeline-dp", pipelinedp("median")),
    ],
    "mean": [
        ("duffdp, best", "duffdp", ours("mean")),
        ("duffdp, clipped", "duffdp", ours("mean", "clipped")),
        ("duffdp, duff", "duffdp", ours("mean", "duff")),
        ("OpenDP, sum and count", "opendp", opendp_mean),
        ("diffprivlib, tools.mean (count public)", "diffprivlib", diffprivlib("mean")),
        ("PyDP, BoundedMean", "python-dp", pydp("BoundedMean")),
        ("PipelineDP, MEAN", "pipeline-dp", pipelinedp("MEAN")),
    ],
    "count": [
        ("duffdp, count", "duffdp", ours("count")),
        ("OpenDP, count with Laplace noise", "opendp", opendp_count),
        ("diffprivlib, count_nonzero (count public)", "diffprivlib", diffprivlib("count_nonzero")),
        ("PyDP, Count", "python-dp", pydp("Count")),
        ("PipelineDP, COUNT", "pipeline-dp", pipelinedp("COUNT")),
    ],
    "sum": [
        ("duffdp, best", "duffdp", ours("sum")),
        ("OpenDP, sum with Laplace noise", "opendp", opendp_sum),
        ("diffprivlib, tools.sum", "diffprivlib", diffprivlib("sum")),
        ("PyDP, BoundedSum", "python-dp", pydp("BoundedSum")),
        ("PipelineDP, SUM", "pipeline-dp", pipelinedp("SUM")),
    ],
    "histogram": [
        ("duffdp, histogram", "duffdp", ours("histogram")),
        ("duffdp, histogram, as drawn", "duffdp", ours("histogram", "as drawn")),
        ("OpenDP, count by categories", "opendp", opendp_histogram),
        ("diffprivlib, tools.histogram", "diffprivlib", diffprivlib("histogram")),
    ],
    "std": [
        ("duffdp, std", "duffdp", ours("std")),
        ("OpenDP, variance (count public)", "opendp", opendp_std),
        ("diffprivlib, tools.std (count public)", "diffprivlib", diffprivlib("std")),
        ("PyDP, BoundedStandardDeviation", "python-dp", pydp("BoundedStandardDeviation")),
        ("PipelineDP, VARIANCE", "pipeline-dp", pipelinedp("VARIANCE")),
    ],
}
TRUE: dict[str, Callable[[np.ndarray], Any]] = {
    "median": lambda x: np.sort(x)[(len(x) - 1) // 2],
    "mean": np.mean,
    "count": len,
    "sum": np.sum,
    "histogram": lambda x: np.histogram(x, BINS)[0],
    "std": np.std,
}


def main() -> None:
    warnings.simplefilter("ignore")
    everyone = ages()
    few, many = everyone[:1000], (everyone * 4)[:100_000]
    for verb in sys.argv[1:] or PEERS:
        truth = TRUE[verb](np.array(few))
        print(
            f"\n{verb} of 1,000 ages from {LOWER} to {UPPER}: mean absolute error; time of one "
            "call with 100,000 ages"
        )
        print(f"{'epsilon':52}{''.join(f'{epsilon:>10g}' for epsilon in EPSILONS)}{'time':>12}")
        for name, package, make in PEERS[verb]:
            try:
                label = f"{name} ({importlib.metadata.version(package)})"
                call = make(few, 1.0)
                call()  # what is loaded at first use does not count
                begin = time.perf_counter()
                call()
                draws = 10_000 if time.perf_counter() - begin < 0.005 else 300
                errors = []
                for epsilon in EPSILONS:
                    call = make(few, epsilon)
                    drawn = np.array([call() for _ in range(draws)], dtype=float)
                    errors.append(np.abs(drawn - truth).mean())
                large = make(many, 1.0)
                times = []
                for _ in range(3):
                    begin = time.perf_counter()
                    large()
                    times.append(time.perf_counter() - begin)
            except ImportError:
                print(f"{name:52}  not installed")
                continue
            found = "".join(f"{error:10.3f}" for error in errors)
            print(f"{label:52}{found}{min(times) * 1e3:9.2f} ms", flush=True)


if __name__ == "__main__":
    main()
