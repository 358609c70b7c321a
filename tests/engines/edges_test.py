"""Edges are read one by one: what is no edge is dropped, and no other edge is read differently."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import duffdp
from duffdp import DuffError, UnsupportedData
from duffdp._engines.edges import read_edges
from duffdp.statistics import Triangles

NODES = 6
EDGES = [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5)]


def shape(graph):
    """What statistics see of a graph."""
    return graph.first.tolist(), graph.second.tolist(), graph.degree.tolist()


def test_sources_agree(tmp_path):
    messy = [*EDGES, (1, 0), (2, 2), (0, 1)]
    (tmp_path / "edges.csv").write_text("u,v\n" + "".join(f"{u},{v}\n" for u, v in messy))
    (tmp_path / "bare.csv").write_text("".join(f"{u},{v}\n" for u, v in messy))
    (tmp_path / "snap.txt").write_text("# from to\r\n" + "".join(f"{u}\t{v}\r\n" for u, v in messy))
    (tmp_path / "marked.csv").write_text("\ufeff" + "".join(f" {u} ; 0{v} \n" for u, v in messy))
    dense = np.zeros((NODES, NODES))
    dense[tuple(np.transpose(EDGES))] = 1
    frame = pd.DataFrame(messy, columns=["u", "v"])
    sources = [
        messy,
        tuple(messy),
        iter(messy),
        [list(edge) for edge in messy],
        [np.array(edge, dtype=np.int32) for edge in messy],
        np.array(messy),
        np.array(messy, dtype=np.uint64),
        np.array(messy, dtype=object),
        frame,
        frame.astype("Int64"),
        pl.DataFrame(frame),
        pa.Table.from_pandas(frame),
        tmp_path / "edges.csv",
        str(tmp_path / "bare.csv"),
        tmp_path / "snap.txt",
        tmp_path / "marked.csv",
        scipy.sparse.csr_matrix(dense),
        scipy.sparse.coo_array(dense + dense.T),
        scipy.sparse.csr_matrix(dense * 0.5),
    ]
    for source in sources:
        assert shape(read_edges(source)) == shape(read_edges(EDGES))
    assert Triangles(NODES).ladder(EDGES).count == 1


ODD_LINES = [
    *("x,y", "0", "0,1,2", "0,--1", "0,1-", "3.5,1", "", ",", "#", '"3","4"', "3,4 5", "nan,1"),
    *("\xff,1", "3\r4", "0x3,4", "3,4\0", "4,4", "-,1", "+,1", "1e3,4", "1_0,4", "- 3,4"),
    *("9" * 39 + ",1", "0,6" + "0" * 40, "0," + "0" * 5000 + "4"),
]


@pytest.mark.parametrize("odd", ODD_LINES)
@pytest.mark.parametrize("place", [0, 1, 3, 99])
def test_a_line_that_is_no_edge_is_dropped_alone(tmp_path, odd, place):
    for header in ([], ["u,v"]):
        lines = header + [f"{u},{v}" for u, v in EDGES]
        lines.insert(place, odd)
        (tmp_path / "edges.csv").write_bytes("\n".join(lines).encode("latin-1"))
        assert shape(read_edges(tmp_path / "edges.csv")) == shape(read_edges(EDGES))


ODD_RECORDS = [
    *((4, 4), (0, 10**38), (-(10**400), 1), (0, 1, 2), (0,), (), None, 5, "01", ("0", "4")),
    *((0.5, 3), (3.0, 4), (float("nan"), 3), (None, 3), ((0, 4), 1), np.array([[0, 4], [3, 4]])),
]


@pytest.mark.parametrize("odd", ODD_RECORDS, ids=repr)
@pytest.mark.parametrize("place", [0, 2, 99])
def test_a_record_that_is_no_edge_is_dropped_alone(odd, place):
    records = list(EDGES)
    records.insert(place, odd)
    array = np.empty((len(EDGES) + 1, 2), dtype=object)
    assert shape(read_edges(records)) == shape(read_edges(EDGES))
    if isinstance(odd, tuple) and len(odd) == 2:
        for i, record in enumerate(records):
            array[i, 0], array[i, 1] = record
        assert shape(read_edges(array)) == shape(read_edges(EDGES))


FRAMES = [
    lambda rows: pl.DataFrame(rows, schema={"u": pl.Int64, "v": pl.Int64}, orient="row"),
    lambda rows: pl.DataFrame(rows, schema={"u": pl.Int128, "v": pl.Int64}, orient="row"),
    lambda rows: pd.DataFrame(rows, columns=["u", "v"], dtype="Int64"),
    lambda rows: pl.DataFrame(rows, schema={"u": pl.Int64, "v": pl.Int64}, orient="row").to_arrow(),
]


@pytest.mark.parametrize("make", FRAMES)
@pytest.mark.parametrize("odd", [(0, None), (None, None), (None, 4), (4, 4)])
def test_a_row_that_is_no_edge_is_dropped_alone(odd, make):
    assert shape(read_edges(make([*EDGES, odd]))) == shape(read_edges(EDGES))


LABELS = [
    -(10**38) + 1,
    -(2**63),
    -7,
    2**53,
    2**53 + 1,
    2**62,
    2**63 - 1,
    2**64 - 1,
    2**64,
    10**38 - 1,
]


@pytest.mark.parametrize("label", LABELS)
def test_any_whole_number_is_a_node(tmp_path, label):
    """The edge (0, 4) under another name for 4; a number next to it is another node."""
    other = label - 1 if label > 0 else label + 1
    renamed, expected = (
        [*EDGES, (0, label), (1, label), (1, other)],
        [*EDGES, (0, 8), (1, 8), (1, 9)],
    )
    (tmp_path / "edges.csv").write_text("".join(f"{u},{v}\n" for u, v in renamed))
    sources = [renamed, np.array(renamed, dtype=object), tmp_path / "edges.csv"]
    if -(2**127) <= label < 2**127:
        types = {"u": pl.UInt64, "v": pl.Int128}
        sources.append(pl.DataFrame(renamed, schema=types, orient="row"))
    for kind in (np.int64, np.uint64):
        if np.iinfo(kind).min <= min(label, other) and max(label, other) <= np.iinfo(kind).max:
            columns = (
                np.array([u for u, _ in renamed]),
                np.array([v for _, v in renamed], dtype=kind),
            )
            sources.append(np.array(renamed, dtype=kind))
            sources += [
                make({"u": columns[0], "v": columns[1]})
                for make in (pl.DataFrame, pd.DataFrame, pa.table)
            ]
    for source in sources:
        ladder, same = Triangles(99).ladder(source), Triangles(99).ladder(expected)
        assert (ladder.count, ladder.sensitivity(0, 9)) == (same.count, same.sensitivity(0, 9))
        assert len(read_edges(source).degree) == 8 + 2


def test_the_number_of_labels_shows_in_nothing_but_the_count():
    """Few labels and far more than `nodes`: the same domain, no error, no warning."""
    few, many = [(0, 1)], [(3 * i, 3 * j) for i in range(30) for j in range(i)]
    for mechanism in ("best", "duff"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            releases = [
                duffdp.triangles(edges, epsilon=50, nodes=4, mechanism=mechanism, rng=1)
                for edges in (few, many)
            ]
        facts = [
            {
                name: fact
                for name, fact in release.to_dict().items()
                if name not in ("value", "time")
            }
            for release in releases
        ]
        assert facts[0] == facts[1]
        assert [release.value for release in releases] == [0, 4]


def test_entries_of_a_matrix_are_edges_whatever_their_weight():
    entries = (
        np.array([2.5, -1.0, 0.0, np.nan, 1e300]),
        (np.array([0, 1, 3, 2, 70]), np.array([1, 2, 4, 0, 1])),
    )
    for kind in (scipy.sparse.coo_matrix, scipy.sparse.coo_array):
        graph = read_edges(kind(entries, shape=(90, 90)))
        assert shape(graph) == shape(read_edges([(0, 1), (1, 2), (0, 2), (1, 70)]))


@pytest.mark.parametrize("text", ["", "u,v\n", "\n", "u,v"])
def test_a_file_without_edges_says_nothing(tmp_path, text):
    (tmp_path / "edges.csv").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert duffdp.triangles(tmp_path / "edges.csv", epsilon=1, nodes=5).domain.size == 11
    for empty in (
        [],
        np.empty((0, 2), dtype=int),
        pl.DataFrame({"u": [], "v": []}, schema={"u": int, "v": int}),
    ):
        assert read_edges(empty).degree.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        (np.array([(0, 1, 2)]), "Weights"),
        (np.array([(0.0, 1.0)]), "whole node numbers"),
        (np.array([("a", "b")]), "whole node numbers"),
        (np.array([0, 1]), "two columns"),
        (pl.DataFrame({"u": [0.0], "v": [1.0]}), "whole node numbers"),
        (pl.DataFrame({"u": [0], "v": [1], "w": [1]}), "two columns, got 3"),
        (pl.LazyFrame({"u": [0], "v": [1]}), r"whole node|in memory|pairs"),
        (scipy.sparse.csr_matrix(np.ones((2, 3))), "square"),
        (5, "pairs of node numbers"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_the_type_forbids(edges, said):
    with pytest.raises(UnsupportedData, match=said):
        read_edges(edges)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DuffError, match="cannot read"):
        duffdp.triangles(tmp_path / "none.csv", epsilon=1, nodes=5)
