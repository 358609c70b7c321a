"""Edges are read one by one: what is no edge between the public nodes is dropped, and no other edge is read differently."""

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
from duffdp.engines.edges import read_edges
from duffdp.statistics import Triangles

NODES = 6
EDGES = [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5)]


def shape(graph):
    """What statistics see of a graph."""
    return graph.nodes, graph.tail.tolist(), graph.head.tolist(), graph.degree.tolist()


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
        assert shape(read_edges(source, NODES)) == shape(read_edges(EDGES, NODES))
    assert Triangles(NODES).ladder(EDGES).count == 1


ODD_LINES = ["x,y", "0", "0,1,2", "0,-1", "0,6", "3.5,1", "", ",", "#", '"3","4"', "3,4 5", "99999999999999999999999,1",
             "0,6" + "0" * 40, "nan,1", "\xff,1", "3\r4", "0x3,4", "3,4\0"]  # fmt: skip


@pytest.mark.parametrize("odd", ODD_LINES)
@pytest.mark.parametrize("place", [0, 1, 3, 99])
def test_a_line_that_is_no_edge_is_dropped_alone(tmp_path, odd, place):
    for header in ([], ["u,v"]):
        lines = header + [f"{u},{v}" for u, v in EDGES]
        lines.insert(place, odd)
        (tmp_path / "edges.csv").write_bytes("\n".join(lines).encode("latin-1"))
        assert shape(read_edges(tmp_path / "edges.csv", NODES)) == shape(read_edges(EDGES, NODES))


ODD_RECORDS = [(0, -1), (0, NODES), (0, 2**63), (0, 2**70), (-(2**63), 1), (0, 1, 2), (0,), (), None, 5, "01", ("0", "4"),
               (0.5, 3), (float("nan"), 3), (None, 3), ((0, 4), 1), np.array([[0, 4], [3, 4]])]  # fmt: skip


@pytest.mark.parametrize("odd", ODD_RECORDS, ids=repr)
@pytest.mark.parametrize("place", [0, 2, 99])
def test_a_record_that_is_no_edge_is_dropped_alone(odd, place):
    records = list(EDGES)
    records.insert(place, odd)
    array = np.empty((len(EDGES) + 1, 2), dtype=object)
    assert shape(read_edges(records, NODES)) == shape(read_edges(EDGES, NODES))
    if isinstance(odd, tuple) and len(odd) == 2:
        for i, record in enumerate(records):
            array[i, 0], array[i, 1] = record
        assert shape(read_edges(array, NODES)) == shape(read_edges(EDGES, NODES))


@pytest.mark.parametrize("odd", [(0, -1), (0, NODES), (0, None), (None, None), (3, 2**62)])
def test_a_row_that_is_no_edge_is_dropped_alone(odd):
    for make in (
        lambda rows: pl.DataFrame(rows, schema={"u": pl.Int64, "v": pl.Int64}, orient="row"),
        lambda rows: pd.DataFrame(rows, columns=["u", "v"], dtype="Int64"),
        lambda rows: pl.DataFrame(
            rows, schema={"u": pl.Int64, "v": pl.Int64}, orient="row"
        ).to_arrow(),
    ):
        assert shape(read_edges(make([*EDGES, odd]), NODES)) == shape(read_edges(EDGES, NODES))


def test_numbers_beyond_int64_are_no_nodes():
    high = np.array([*EDGES, (2**64 - 1, 1), (2**63, 0)], dtype=np.uint64)
    for data in (high, pl.DataFrame(high, schema=["u", "v"])):
        assert shape(read_edges(data, NODES)) == shape(read_edges(EDGES, NODES))


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
        assert read_edges(empty, 5).degree.sum() == 0


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        (np.array([(0, 1, 2)]), "Weights"),
        (np.array([(0.0, 1.0)]), "whole node numbers"),
        (np.array([("a", "b")]), "whole node numbers"),
        (np.array([0, 1]), "two columns"),
        (pl.DataFrame({"u": [0.0], "v": [1.0]}), "whole node numbers"),
        (pl.DataFrame({"u": [0], "v": [1], "w": [1]}), "two columns, got 3"),
        (pl.LazyFrame({"u": [0], "v": [1]}), "whole node|in memory|pairs"),
        (scipy.sparse.csr_matrix(np.ones((2, 3))), "square"),
        (5, "pairs of node numbers"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_the_type_forbids(edges, said):
    with pytest.raises(UnsupportedData, match=said):
        read_edges(edges, 5)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DuffError, match="cannot read"):
        duffdp.triangles(tmp_path / "none.csv", epsilon=1, nodes=5)


@pytest.mark.parametrize(
    "wrong",
    [
        "none.csv",
        7,
        np.zeros((0, 3), dtype=int),
        np.zeros((0, 2)),
        pl.DataFrame({"u": [1], "v": [2], "w": [3]}),
        pl.DataFrame({"u": [1.0], "v": [2.0]}),
        pl.LazyFrame({"u": [1], "v": [2]}),
        scipy.sparse.csr_matrix(np.zeros((2, 3))),
    ],
    ids=["path", "number", "columns", "dtype", "frame", "types", "lazy", "matrix"],
)
def test_what_no_edge_could_change_is_refused_before_the_charge(tmp_path, wrong):
    ledger = duffdp.Ledger(tmp_path / "b.db", epsilon=1)
    with pytest.raises(UnsupportedData):
        duffdp.triangles(wrong, epsilon=1, nodes=NODES, ledger=ledger)
    assert ledger.spent() == 0
