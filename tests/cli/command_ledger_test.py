"""Budgets on the command line: what is charged, refused, repeated for nothing and listed."""

from __future__ import annotations

import json

from command_line import ADULT, AGES, EDGES
from duffdp import Ledger


def test_the_budget_refuses(call, tmp_path):
    book = tmp_path / "b.db"
    assert call("ledger", "init", book, "--epsilon", "1", "--dataset", "adult")[0] == 0
    given = ("median", ADULT, *AGES, "--epsilon", "0.6", "--ledger", book)
    assert call(*given)[0] == 0
    code, out, err = call(*given)
    assert (code, out) == (3, "")
    told = "requested epsilon 0.6, remaining 0.4 of 1 for the data set 'adult': 0.2 too much"
    assert told in err
    found = json.loads(call("ledger", "show", book, "--format", "json", "--delta", "1e-6")[1])
    assert found["remaining"] == 0.4
    assert found["total"]["epsilon"] <= 0.6001
    assert (found["charges"][0]["column"], found["charges"][0]["unit"]["kind"]) == ("age", "row")
    code, out, _ = call("ledger", "verify", book)
    assert (code, "in order: 2 entries, 1 charges" in out) == (0, True)
    head = out.split()[-1]
    assert call("ledger", "verify", book, "--head", head)[0] == 0
    assert call("ledger", "verify", book, "--head", "0" * 63 + "1")[0] == 3


def test_a_ledger_tells_the_facts_of_its_charges(call, tmp_path):
    book = tmp_path / "b.db"
    Ledger(book, epsilon=9)
    whose = ("--unit", "sex", "--contributions", "2", "--by", "income", "--keys", "a,b,c")
    assert call("median", ADULT, *AGES, "-e", "1", "--ledger", book, *whose)[0] == 0
    three = ("--nodes", "5242", "--ledger", book)
    assert call("triangles", EDGES, "-e", "2", *three)[0] == 0
    code, out, _ = call("ledger", "show", book)
    header, first, second, total = out.splitlines()
    assert code == 0
    assert {"statistic", "column", "mechanism", "protects", "groups"} <= set(header.split())
    assert "person (sex, up to 2)" in first
    assert first[header.index("groups") :].split()[:2] == ["3", "1"]
    assert " edge " in second
    assert "piecewise-laplace" in second
    assert total == "data: spent 3 of 9, 6 left"


def test_a_retry_is_free(call, tmp_path):
    book = tmp_path / "b.db"
    Ledger(book, epsilon=1)
    fine = ("-c", "age", "--bounds", "0", "120", "--step", "0.001", "-q", ".1", "-q", ".5")
    given = (
        "quantile",
        ADULT,
        *fine,
        "-e",
        "0.01",
        "-f",
        "csv",
        "--ledger",
        book,
        "--call-id",
        "may",
    )
    first, second = call(*given), call(*given)
    assert first == second
    assert Ledger(book).spent() == 0.01
    assert call(*given[:-1], "june")[1] != first[1]


def test_a_refused_output_costs_nothing(call, tmp_path):
    book = tmp_path / "b.db"
    Ledger(book, epsilon=1)
    wrong = [
        (("--out", tmp_path), "cannot write"),
        (("--out", "/none/x.csv"), "cannot write"),
        (("--report", "/none/x.html"), "cannot write"),
        (("--report", tmp_path / "page.pdf"), ".html or .md"),
    ]
    for given, told in wrong:
        code, out, err = call("median", ADULT, *AGES, "-e", "1", "--ledger", book, *given)
        assert (code, out) == (2, "")
        assert told in err
    code, _, err = call("triangles", "none.csv", "-e", "1", "--nodes", "9", "--ledger", book)
    assert (code, "none.csv" in err) == (4, True)
    assert Ledger(book).spent() == 0
