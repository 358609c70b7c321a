"""Triangles and stars: local sensitivities against all small graphs, and the error on three real graphs."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import duffdp
import graph_oracle
from duffdp import DuffError, Grid
from duffdp.mechanisms import Exponential, PermuteAndFlip
from duffdp.statistics import Stars, Triangles
from duffdp.statistics import triangles as module
from duffdp.testing import check_statistic

DATA = Path(__file__).parent / "data"
STATISTICS = [
    (Triangles, graph_oracle.triangles, {}),
    (Stars, graph_oracle.stars(2), {"k": 2}),
    (Stars, graph_oracle.stars(3), {"k": 3}),
]


@pytest.mark.parametrize("nodes", [4, 5])
@pytest.mark.parametrize(("statistic", "count", "more"), STATISTICS)
def test_all_small_graphs(statistic, count, more, nodes):
    counts, levels = graph_oracle.sensitivities(count, nodes)
    for code, (expected, sensitivity) in enumerate(zip(counts, levels, strict=True)):
        ladder = statistic(nodes, **more).ladder(graph_oracle.edges_of(code, nodes))
        assert ladder.count == expected
        assert ladder.sensitivity(0, len(sensitivity)) == sensitivity
        assert ladder.sensitivity(1000, 1001) == [ladder.ceiling]


def test_three_nodes():
    counts, levels = graph_oracle.sensitivities(graph_oracle.triangles, 3)
    for code in range(8):
        ladder = Triangles(3).ladder(graph_oracle.edges_of(code, 3))
        assert (ladder.count, ladder.sensitivity(0, 4)) == (counts[code], levels[code])


@pytest.mark.parametrize("nodes", [4, 5])
def test_isolated_nodes_beyond_those_listed(nodes):
    """Only two nodes without edges are kept; more of them change nothing but the ceiling."""
    _, levels = graph_oracle.sensitivities(graph_oracle.triangles, nodes)
    assert Triangles(nodes).ladder([]).sensitivity(0, len(levels[0])) == levels[0]
    assert Triangles(10**9).ladder([(5, 77)]).sensitivity(0, 6) == Triangles(9).ladder([(0, 1)]).sensitivity(0, 6)


def test_pairs_left_out_do_not_matter(monkeypatch):
    """Blocks of every size, against the maximum over all pairs of a dense graph."""
    rng = np.random.default_rng(3)
    for trial in range(60):
        n = int(rng.integers(5, 40))
        weight = rng.pareto(1.2, n) + 0.1
        dense = np.triu(rng.random((n, n)) < np.minimum(np.outer(weight, weight) * rng.random() / 4, 1), 1)
        monkeypatch.setattr(module, "PATHS", int(rng.integers(1, 200)))
        edges = np.argwhere(dense)
        both = (dense | dense.T).astype(np.int64)
        common, degree = both @ both, both.sum(axis=1)
        t = np.arange(100)
        expected = np.zeros(100, dtype=np.int64)
        for i, j in itertools.combinations(range(n), 2):
            a, s = common[i, j], degree[i] + degree[j] - 2 * both[i, j]
            np.maximum(expected, np.minimum(a + (t + np.minimum(t, s - 2 * a)) // 2, n - 2), out=expected)
        ladder = Triangles(n).ladder(edges)
        assert ladder.sensitivity(0, 100) == expected.tolist(), trial
        assert ladder.count == np.trace(common @ both) // 6


@pytest.mark.parametrize(
    ("file", "nodes", "triangles", "errors"),
    [
        ("ca_grqc", 5242, 48260, {0.1: 1928, 0.5: 276, 1: 131.5, 2: 67.1}),
        ("ca_hepth", 9877, 28339, {0.1: 1324, 1: 76.4}),
        ("facebook_ego", 4039, 1612010, {0.1: 6677, 1: 605.1}),
    ],
)
def test_expected_error_of_the_ladder_on_real_graphs(file, nodes, triangles, errors):
    ladder = Triangles(nodes).ladder(DATA / f"{file}_edges.csv")
    assert ladder.count == triangles
    steps = ladder.steps(Grid(0, 10 * triangles, 1))
    for epsilon, expected in errors.items():
        law = Exponential(epsilon).law(steps)
        assert law.expected_error(triangles) == pytest.approx(expected, rel=0.01)
        assert PermuteAndFlip(epsilon).law(steps).expected_error(triangles) <= law.expected_error(triangles)


@pytest.mark.parametrize("statistic", [Triangles(4), Stars(4, 2), Stars(4, 3)], ids=repr)
def test_all_neighbouring_graphs_on_four_nodes(statistic):
    edges = graph_oracle.pairs(4)
    assert check_statistic(statistic, Grid(0, statistic.most, 1), records=edges, most=6, repeats=False) == 6 * 2**5


def test_a_window_has_the_distances_of_the_whole_ladder():
    ladder, domain = Triangles(30).ladder([(i, j) for i in range(12) for j in range(i)]), Grid(0, 4060, 1)
    whole = ladder.steps(domain)
    for levels in (0, 1, 5, 20):
        window = ladder.window(domain, levels)
        assert [window.distance_of(i) for i in range(4061)] == [whole.distance_of(i) for i in range(4061)]
        outside = [whole.distance_of(i) for i in range(4061) if not window.tail.first <= i <= window.tail.last]
        assert len(outside) == window.tail.count
        assert min(outside) >= window.tail.floor


@pytest.mark.parametrize(
    ("change", "said"),
    [({"nodes": 2}, "nodes"), ({"nodes": 5.0}, "nodes"), ({"nodes": True}, "nodes"), ({"epsilon": 0}, "epsilon"),
     ({"mechanism": "worst"}, "mechanism"), ({"rng": "x"}, "rng")],
)  # fmt: skip
def test_bad_parameters_are_found_before_edges_are_read(change, said):
    with pytest.raises(DuffError, match=said):
        duffdp.triangles([(0, -1)], **{"epsilon": 1.0, "nodes": 5, **change})


@pytest.mark.parametrize("k", [1, True, 2.0, 9])
def test_bad_stars(k):
    with pytest.raises(DuffError, match="k"):
        duffdp.stars([(0, 1)], k=k, epsilon=1.0, nodes=5)


@pytest.mark.parametrize("mechanism", ["best", "duff"])
def test_releases(mechanism):
    release = duffdp.triangles(DATA / "ca_grqc_edges.csv", epsilon=1, nodes=5242, mechanism=mechanism)
    assert abs(release.value - 48260) < 20_000
    assert (release.secure, release.unit, release.domain.size) == (True, "edge", 5242 * 5241 * 5240 // 6 + 1)
    assert {"value", "epsilon", "unit"} <= set(release.to_dict())
    again = [duffdp.stars([(0, 1), (1, 2)], k=2, epsilon=1, nodes=5, mechanism=mechanism, rng=4).value for _ in range(2)]
    assert again[0] == again[1]


def test_without_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(DuffError, match=r"duffdp\[graph\]"):
        duffdp.triangles([(0, 1)], epsilon=1, nodes=5)


def test_importing_the_library_imports_no_scipy():
    code = "import sys, duffdp; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
