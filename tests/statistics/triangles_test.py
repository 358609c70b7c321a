"""Triangles and stars: local sensitivities against all small graphs, and the error on three real
graphs.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise
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

DATA = Path(__file__).parents[1] / "data"
COUNTS = [
    pytest.param(lambda nodes: Triangles(nodes), graph_oracle.triangles, id="triangles"),
    pytest.param(lambda nodes: Stars(nodes, 2), graph_oracle.stars(2), id="2-stars"),
    pytest.param(lambda nodes: Stars(nodes, 3), graph_oracle.stars(3), id="3-stars"),
]
# With nodes=3 and nodes=4 graphs on five nodes have more nodes, and counts, than was said.
CLAIMS = [
    Triangles(3),
    Triangles(4),
    Triangles(5),
    Stars(3, 2),
    Stars(4, 2),
    Stars(5, 2),
    Stars(4, 3),
    Stars(5, 3),
]


@pytest.mark.parametrize(("statistic", "count"), COUNTS)
def test_sensitivities_are_exact_where_any_number_may_be_a_node(statistic, count):
    """t changes and one more reach at most t + 1 nodes without edges that matter: a search over
    seven nodes is enough.
    """
    many = 7
    counts = count(many)
    searched = graph_oracle.sensitivities(counts, 5)
    for few in (2, 3, 4, 5):
        levels = many - few
        for code in range(2 ** len(graph_oracle.pairs(few))):
            ladder = statistic(100).ladder(graph_oracle.edges_of(code, few))
            same = graph_oracle.code_within(code, few, many)
            assert ladder.count == counts[same]
            assert ladder.sensitivity(0, levels) == [searched[t][same] for t in range(levels)]


@pytest.mark.parametrize("statistic", CLAIMS, ids=repr)
def test_what_a_ladder_needs_holds_however_many_nodes_there_are(statistic):
    """One edge moves the count by at most I(0) and every rung to at most the next, for all graphs
    on five nodes.
    """
    ladders = [statistic.ladder(graph_oracle.edges_of(code, 5)) for code in range(2**10)]
    rungs = [ladder.sensitivity(0, 30) for ladder in ladders]
    assert all(0 <= ladder.count <= statistic.largest for ladder in ladders)
    assert {ladder.count for ladder in ladders} >= {0, statistic.largest}
    for pair in graph_oracle.neighbours(5):
        for here, there in (pair, pair[::-1]):
            assert abs(ladders[here].count - ladders[there].count) <= rungs[here][0]
            assert all(a <= b for a, b in zip(rungs[here], rungs[there][1:], strict=False))


@pytest.mark.parametrize("statistic", [*CLAIMS, Stars(9, 5), Stars(60, 4)], ids=repr)
def test_rungs_grow_no_faster_than_their_order(statistic):
    for code in range(2**6):
        ladder = statistic.ladder(graph_oracle.edges_of(code, 4))
        rungs = ladder.sensitivity(0, 200)
        assert rungs == sorted(rungs)
        for t in range(ladder.order, 199):
            assert rungs[t + 1] * (t + 1 - ladder.order) <= rungs[t] * (t + 1)
        for growth in (Fraction(11, 10), Fraction(3, 2), Fraction(3)):
            assert all(b <= growth * a for a, b in pairwise(rungs[ladder.slow_from(growth) :]))


def test_rungs_come_in_parts():
    for ladder in (Triangles(30).ladder([(0, 1), (1, 2)]), Stars(9, 3).ladder([(0, 1), (1, 2)])):
        whole = ladder.sensitivity(0, 50)
        assert [ladder.sensitivity(t, t + 1) for t in range(50)] == [[rung] for rung in whole]
        assert ladder.sensitivity(7, 33) == whole[7:33]


def test_the_number_of_nodes_bounds_the_output_alone():
    edges = [(i, j) for i in range(12) for j in range(i)]
    few, many = Triangles(5).ladder(edges), Triangles(10**9).ladder(edges)
    assert (few.count, many.count) == (10, 220)
    assert few.sensitivity(0, 30) == [10] * 30
    assert many.sensitivity(0, 5) == [10, 10, 11, 11, 12]
    assert Triangles(12).ladder(edges).sensitivity(0, 300) == many.sensitivity(0, 300)


def test_pairs_left_out_do_not_matter(monkeypatch):
    """Blocks of every size, against the maximum over all pairs of a dense graph."""
    rng = np.random.default_rng(3)
    for trial in range(60):
        n = int(rng.integers(5, 40))
        weight = rng.pareto(1.2, n) + 0.1
        dense = np.triu(
            rng.random((n, n)) < np.minimum(np.outer(weight, weight) * rng.random() / 4, 1), 1
        )
        monkeypatch.setattr(module, "MAX_BLOCK_PATHS", int(rng.integers(1, 200)))
        edges = np.argwhere(dense)
        both = (dense | dense.T).astype(np.int64)
        common, degree = both @ both, both.sum(axis=1)
        t = np.arange(100)
        expected = np.zeros(100, dtype=np.int64)
        for i, j in itertools.combinations(range(n), 2):
            a, s = common[i, j], degree[i] + degree[j] - 2 * both[i, j]
            np.maximum(expected, a + (t + np.minimum(t, s - 2 * a)) // 2, out=expected)
        np.maximum(expected, (t + np.minimum(t, degree.max())) // 2, out=expected)  # and a new node
        ladder = Triangles(100).ladder(edges)
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
        assert PermuteAndFlip(epsilon).law(steps).expected_error(triangles) <= law.expected_error(
            triangles
        )


@pytest.mark.parametrize("statistic", [Triangles(4), Stars(4, 2), Stars(4, 3)], ids=repr)
def test_all_neighbouring_graphs_on_four_nodes(statistic):
    edges = graph_oracle.pairs(4)
    assert (
        check_statistic(
            statistic, Grid(0, statistic.largest, 1), records=edges, most=6, repeats=False
        )
        == 6 * 2**5
    )


@pytest.mark.parametrize(
    "statistic", [Triangles(3), Triangles(4), Stars(3, 2), Stars(4, 3)], ids=repr
)
@pytest.mark.parametrize("larger", [0, 20], ids=["its own domain", "a larger domain"])
def test_all_neighbouring_graphs_with_more_nodes_than_was_said(statistic, larger):
    """Labels of either sign and any size; also for those who ask for candidates that `nodes` rules
    out.
    """
    labels = [-(10**30), -1, 0, 7, 2**64]
    edges = [(labels[i], labels[j]) for i, j in graph_oracle.pairs(5)]
    domain = Grid(0, statistic.largest + larger, 1)
    assert check_statistic(statistic, domain, records=edges, most=10, repeats=False) == 10 * 2**9


def test_a_window_has_the_distances_of_the_whole_ladder():
    ladder, domain = (
        Triangles(30).ladder([(i, j) for i in range(12) for j in range(i)]),
        Grid(0, 4060, 1),
    )
    whole = ladder.steps(domain)
    for levels in (0, 1, 5, 20):
        window = ladder.window(domain, levels)
        assert [window.distance_of(i) for i in range(4061)] == [
            whole.distance_of(i) for i in range(4061)
        ]
        outside = [
            whole.distance_of(i)
            for i in range(4061)
            if not window.tail.first <= i <= window.tail.last
        ]
        assert len(outside) == window.tail.count
        assert min(outside) >= window.tail.floor


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nodes": 2}, "nodes"),
        ({"nodes": 5.0}, "nodes"),
        ({"nodes": True}, "nodes"),
        ({"epsilon": 0}, "epsilon"),
        ({"mechanism": "worst"}, "mechanism"),
        ({"rng": "x"}, "rng"),
    ],
)
def test_bad_parameters_are_found_before_edges_are_read(change, said):
    with pytest.raises(DuffError, match=said):
        duffdp.triangles(5, **{"epsilon": 1.0, "nodes": 5, **change})


@pytest.mark.parametrize("k", [1, True, 2.0, 9])
def test_bad_stars(k):
    with pytest.raises(DuffError, match="k"):
        duffdp.stars([(0, 1)], k=k, epsilon=1.0, nodes=5)


@pytest.mark.parametrize("mechanism", ["best", "duff"])
def test_releases(mechanism):
    release = duffdp.triangles(
        DATA / "ca_grqc_edges.csv", epsilon=1, nodes=5242, mechanism=mechanism
    )
    assert abs(release.value - 48260) < 20_000
    assert (release.secure, release.unit, release.domain.size) == (
        True,
        "edge",
        5242 * 5241 * 5240 // 6 + 1,
    )
    assert {"value", "epsilon", "unit"} <= set(release.to_dict())
    again = [
        duffdp.stars([(0, 1), (1, 2)], k=2, epsilon=1, nodes=5, mechanism=mechanism, rng=4).value
        for _ in range(2)
    ]
    assert again[0] == again[1]


def test_without_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(DuffError, match=r"duffdp\[graph\]"):
        duffdp.triangles([(0, 1)], epsilon=1, nodes=5)


def test_importing_the_library_imports_no_scipy():
    code = "import sys, duffdp; sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
