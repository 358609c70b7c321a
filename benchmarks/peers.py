"""`python -m benchmarks.peers`: error and time of private statistics beside other libraries, in one
run on real records, as the tables of docs/explanation/comparison.md. `--write` puts them there, and
leaves the tables of other statistics as they are.

    python -m benchmarks.peers [--write] [median mean count sum histogram std]

All peers have to be installed, best in an environment of their own:

    pip install opendp 'scikit-learn<1.6' diffprivlib python-dp pipeline-dp
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import duffdp

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explanation" / "comparison.md"
BEGIN, END = "<!-- measured: written by benchmarks.peers -->", "<!-- end of what was measured -->"
EPSILONS = (0.1, 1.0, 5.0)
DRAWS, SLOW_DRAWS, SLOW = 2000, 200, 0.005  # draws; fewer where one takes longer than that
CLOSE = 1.05  # errors within so much of the least cannot be told from it by so many draws


class Records(NamedTuple):
    """Whole numbers between public bounds, and the edges of bins; the last bin is closed."""

    values: list[int]
    lower: int
    upper: int
    bins: list[int]

    @property
    def bounds(self) -> tuple[int, int]:
        return self.lower, self.upper

    def first(self, many: int) -> Records:
        repeated = self.values * (many // len(self.values) + 1)
        return self._replace(values=repeated[:many])


Call = Callable[[], Any]
Maker = Callable[[Records, float], Call]


def column(file: str, name: str, factor: float, upper: int, bins: int) -> Records:
    """The first 1,000 records of a column, in parts of which `factor` make a unit."""
    with (ROOT / "tests" / "data" / file).open(newline="") as lines:
        rows = [row[name] for row in csv.DictReader(lines)]
    values = [round(float(value) * factor) for value in rows if value][:1000]
    edges = [*range(0, upper, upper // bins), upper + 1]
    return Records([min(max(value, 0), upper) for value in values], 0, upper, edges)


def data_sets() -> dict[str, Records]:
    return {
        "ages": column("adult.csv", "age", 1, 120, 12),
        "fares": column("nyc_taxis.csv", "fare", 10, 2000, 20),
        "houses": column("california_housing.csv", "median_house_value", 0.001, 1000, 20),
    }


def ours(verb: str, mechanism: str = "best") -> Maker:
    def make(data: Records, epsilon: float) -> Call:
        array = np.array(data.values)
        given: dict[str, Any] = {"epsilon": epsilon}
        if verb == "histogram":
            given |= {"bins": data.bins, "nonnegative": mechanism == "best"}
        elif verb != "count":
            given |= {"bounds": data.bounds, "step": 1 if verb == "median" else None}
            given |= {"mechanism": mechanism} if mechanism != "best" else {}
        if verb == "histogram":
            return lambda: list(duffdp.histogram(array, **given).value.values())
        return lambda: getattr(duffdp, verb)(array, **given).value

    return make


def opendp_space() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp, (dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())


def opendp_noise(values: list[int], epsilon: float, total: Callable[[Any, Any], Any]) -> Call:
    """Laplace noise, on whole numbers, for what `total` counts or adds up."""
    dp, space = opendp_space()
    counted = total(dp, space)
    release = dp.binary_search_chain(
        lambda scale: counted >> dp.m.then_laplace(scale), d_in=1, d_out=epsilon
    )
    array = np.array(values, dtype=np.int32)
    return lambda: release(array)


def opendp_count(data: Records, epsilon: float) -> Call:
    return opendp_noise(data.values, epsilon, lambda dp, space: space >> dp.t.then_count())


def opendp_sum(data: Records, epsilon: float) -> Call:
    def total(dp: Any, space: Any) -> Any:
        return space >> dp.t.then_clamp(data.bounds) >> dp.t.then_sum()

    return opendp_noise(data.values, epsilon, total)


def opendp_histogram(data: Records, epsilon: float) -> Call:
    """Counts of the bins of all records: bins are categories."""
    bins = np.searchsorted(data.bins, data.values, side="right") - 1

    def total(dp: Any, space: Any) -> Any:
        return space >> dp.t.then_count_by_categories(
            list(range(len(data.bins) - 1)), null_category=False
        )

    return opendp_noise(bins.tolist(), epsilon, total)


def opendp_std(data: Records, epsilon: float) -> Call:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    bounds = float(data.lower), float(data.upper)
    domain = dp.vector_domain(dp.atom_domain(bounds=bounds), size=len(data.values))
    spread = (domain, dp.symmetric_distance()) >> dp.t.then_variance()
    release = dp.binary_search_chain(
        lambda scale: spread >> dp.m.then_laplace(scale), d_in=2, d_out=epsilon
    )
    array = np.array(data.values, dtype=float)
    return lambda: max(release(array), 0.0) ** 0.5


def opendp_median(data: Records, epsilon: float) -> Call:
    dp, space = opendp_space()
    candidates = list(range(data.lower, data.upper + 1))
    score = space >> dp.t.then_quantile_score_candidates(candidates, alpha=0.5)
    release = dp.binary_search_chain(
        lambda scale: score >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale, negate=True),
        d_in=1,
        d_out=epsilon,
    )
    array = np.array(data.values, dtype=np.int32)  # much faster than a list
    return lambda: candidates[release(array)]


def opendp_mean(data: Records, epsilon: float) -> Call:
    """Half of epsilon for the sum and half for the count: the number of records is private too."""
    dp, space = opendp_space()
    clamped = space >> dp.t.then_clamp(data.bounds)
    total = dp.binary_search_chain(
        lambda s: clamped >> dp.t.then_sum() >> dp.m.then_laplace(s), d_in=1, d_out=epsilon / 2
    )
    count = dp.binary_search_chain(
        lambda s: space >> dp.t.then_count() >> dp.m.then_laplace(s), d_in=1, d_out=epsilon / 2
    )
    array = np.array(data.values, dtype=np.int32)
    return lambda: min(max(total(array) / max(count(array), 1), data.lower), data.upper)


def diffprivlib(verb: str) -> Maker:
    def make(data: Records, epsilon: float) -> Call:
        from diffprivlib import tools

        array = np.array(data.values, dtype=float)
        if verb == "count_nonzero":
            return lambda: float(tools.count_nonzero(array >= 0, epsilon=epsilon))
        if verb == "histogram":
            return lambda: tools.histogram(
                array, bins=data.bins, range=(data.bins[0], data.bins[-1]), epsilon=epsilon
            )[0]
        return lambda: float(getattr(tools, verb)(array, epsilon=epsilon, bounds=data.bounds))

    return make


def pydp(name: str) -> Maker:
    def make(data: Records, epsilon: float) -> Call:
        from pydp.algorithms import laplacian

        algorithm = getattr(laplacian, name)
        if name == "Count":
            return lambda: float(algorithm(epsilon=epsilon, dtype="int").quick_result(data.values))
        bounds = {"lower_bound": data.lower, "upper_bound": data.upper}
        return lambda: float(algorithm(epsilon=epsilon, **bounds).quick_result(data.values))

    return make


def pipelinedp(metric: str) -> Maker:
    def make(data: Records, epsilon: float) -> Call:
        import pipeline_dp as p

        rows = list(enumerate(data.values))
        wanted = p.Metrics.PERCENTILE(50) if metric == "median" else getattr(p.Metrics, metric)
        parameters = p.AggregateParams(
            metrics=[wanted],
            max_partitions_contributed=1,
            max_contributions_per_partition=1,
            min_value=data.lower,
            max_value=data.upper,
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


class Peer(NamedTuple):
    """A way to ask for a statistic; `public` is what it takes to be public and others do not."""

    name: str
    package: str
    make: Maker
    public: str = ""


COUNT = "the number of records is public"
PEERS: dict[str, list[Peer]] = {
    "median": [
        Peer("duffdp, best", "duffdp", ours("median")),
        Peer("duffdp, duff", "duffdp", ours("median", "duff")),
        Peer("OpenDP, noisy max of candidates", "opendp", opendp_median),
        Peer("diffprivlib, tools.median", "diffprivlib", diffprivlib("median")),
        Peer("PyDP, laplacian.Median", "python-dp", pydp("Median")),
        Peer("PipelineDP, PERCENTILE(50)", "pipeline-dp", pipelinedp("median")),
    ],
    "mean": [
        Peer("duffdp, best", "duffdp", ours("mean")),
        Peer("duffdp, clipped", "duffdp", ours("mean", "clipped")),
        Peer("duffdp, duff", "duffdp", ours("mean", "duff")),
        Peer("OpenDP, sum and count", "opendp", opendp_mean),
        Peer("diffprivlib, tools.mean", "diffprivlib", diffprivlib("mean"), COUNT),
        Peer("PyDP, BoundedMean", "python-dp", pydp("BoundedMean")),
        Peer("PipelineDP, MEAN", "pipeline-dp", pipelinedp("MEAN")),
    ],
    "count": [
        Peer("duffdp, count", "duffdp", ours("count")),
        Peer("OpenDP, count with Laplace noise", "opendp", opendp_count),
        Peer("diffprivlib, count_nonzero", "diffprivlib", diffprivlib("count_nonzero"), COUNT),
        Peer("PyDP, Count", "python-dp", pydp("Count")),
        Peer("PipelineDP, COUNT", "pipeline-dp", pipelinedp("COUNT")),
    ],
    "sum": [
        Peer("duffdp, best", "duffdp", ours("sum")),
        Peer("OpenDP, sum with Laplace noise", "opendp", opendp_sum),
        Peer("diffprivlib, tools.sum", "diffprivlib", diffprivlib("sum")),
        Peer("PyDP, BoundedSum", "python-dp", pydp("BoundedSum")),
        Peer("PipelineDP, SUM", "pipeline-dp", pipelinedp("SUM")),
    ],
    "histogram": [
        Peer("duffdp, histogram", "duffdp", ours("histogram")),
        Peer("duffdp, histogram, as drawn", "duffdp", ours("histogram", "as drawn")),
        Peer("OpenDP, count by categories", "opendp", opendp_histogram),
        Peer("diffprivlib, tools.histogram", "diffprivlib", diffprivlib("histogram")),
    ],
    "std": [
        Peer("duffdp, std", "duffdp", ours("std")),
        Peer("OpenDP, variance", "opendp", opendp_std, COUNT),
        Peer("diffprivlib, tools.std", "diffprivlib", diffprivlib("std"), COUNT),
        Peer("PyDP, BoundedStandardDeviation", "python-dp", pydp("BoundedStandardDeviation")),
        Peer("PipelineDP, VARIANCE", "pipeline-dp", pipelinedp("VARIANCE")),
    ],
}
TRUE: dict[str, Callable[[Records], Any]] = {
    "median": lambda data: np.sort(data.values)[(len(data.values) - 1) // 2],
    "mean": lambda data: np.mean(data.values),
    "count": lambda data: len(data.values),
    "sum": lambda data: np.sum(data.values),
    "histogram": lambda data: np.histogram(data.values, data.bins)[0],
    "std": lambda data: np.std(data.values),
}


def error(make: Maker, verb: str, data: Records, epsilon: float) -> float:
    """The mean absolute error of many draws."""
    call, truth = make(data, epsilon), TRUE[verb](data)
    call()  # what is loaded at first use does not count
    begin = time.process_time()  # that others use the machine does not count either
    call()
    draws = DRAWS if time.process_time() - begin < SLOW else SLOW_DRAWS
    return float(np.abs(np.array([call() for _ in range(draws)], dtype=float) - truth).mean())


def duration(make: Maker, data: Records) -> float:
    """Milliseconds of one call, the quickest of three and of all that fit into half a second."""
    call, times = make(data, 1.0), []
    while len(times) < 3 or sum(times) < 0.5:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times) * 1e3


def table(verb: str) -> Iterator[str]:
    """One statistic: a line for each way to ask for it; the least error of a column is bold, and
    what cannot be told from it, among those that promise the same.
    """
    known = data_sets()
    cells = [(name, epsilon) for name in known for epsilon in EPSILONS]
    labels, errors, times = [], [], []
    for peer in PEERS[verb]:
        print(f"{verb}: {peer.name}", file=sys.stderr, flush=True)
        own = peer.package == "duffdp"
        labels.append(peer.name if own else f"{peer.name} {version(peer.package)}")
        errors.append([error(peer.make, verb, known[data], epsilon) for data, epsilon in cells])
        times.append(duration(peer.make, known["ages"].first(100_000)))
    alike = [row for peer, row in zip(PEERS[verb], errors, strict=True) if not peer.public]
    least = np.min(alike, axis=0)
    yield f"| {verb} | {' | '.join(f'{data} {epsilon:g}' for data, epsilon in cells)} | time |"
    yield f"| --- |{' --: |' * (len(cells) + 1)}"
    for peer, label, row, ms in zip(PEERS[verb], labels, errors, times, strict=True):
        told = [
            f"**{said(found)}**" if found <= CLOSE * best and not peer.public else said(found)
            for found, best in zip(row, least, strict=True)
        ]
        promise = f" ({peer.public})" if peer.public else ""
        yield f"| {label}{promise} | {' | '.join(told)} | {ms:.2f} ms |"
    yield ""


def said(error: float) -> str:
    """An error with three digits."""
    return f"{error:.3g}" if error < 1000 else f"{float(f'{error:.3g}'):,.0f}"


def written(page: str, verb: str, lines: list[str]) -> str:
    """A page with this table instead of the one that it has for the same statistic."""
    before, _, rest = page.partition(BEGIN)
    stood, _, after = rest.partition(END)
    known = {block.split()[1]: block for block in stood.strip().split("\n\n")}
    known[verb] = "\n".join(lines).strip()
    blocks = [known[verb] for verb in PEERS if verb in known]
    return "\n\n".join([f"{before}{BEGIN}", *blocks, f"{END}{after}"])


def main() -> None:
    warnings.simplefilter("ignore")
    verbs = [word for word in sys.argv[1:] if word != "--write"] or list(PEERS)
    for verb in verbs:
        lines = list(table(verb))
        print("\n".join(lines), flush=True)
        if "--write" in sys.argv:  # at once: the rest may take long
            page = PAGE.read_text(encoding="utf-8")
            PAGE.write_text(written(page, verb, lines), encoding="utf-8")


if __name__ == "__main__":
    main()
