"""SQL for databases that no test can reach: every kind of request is compiled for them, without a
server, and the text is kept.

`python tests/engines/dialects_test.py` writes the files anew; read the difference before you keep
them. Whether a database answers them exactly is for `duffdp check-engine` to say.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import sqlglot

from duffdp._engines.adapters import ibis as ibis_adapters
from duffdp._engines.adapters.ibis import BACKENDS, IbisTable
from duffdp._engines.adapters.query import NarwhalsQuery
from duffdp._engines.requests import ColumnRequest
from duffdp._sampling.entropy import entropy
from duffdp.audit.engine_check import DOMAINS, _open, _requests, poisonous_records

FOLDER = Path(__file__).parent / "dialects"
# The class of ibis that writes the SQL of each database, by the name of its backend.
COMPILERS = {
    "bigquery": "BigQueryCompiler",
    "snowflake": "SnowflakeCompiler",
    "trino": "TrinoCompiler",
    "clickhouse": "ClickHouseCompiler",
    "mssql": "MSSQLCompiler",
    "oracle": "OracleCompiler",
}
QUESTIONS = {
    "real": ("real", {}),
    "day": ("day", {}),
    "real by region": ("real", {"by": "region", "keys": [0, 1]}),
    "small of people": ("small", {"unit": "person_id", "contributions": 2}),
    "small where real > 0.25": ("small", {"where": "real > 0.25"}),
}


def queries(backend, monkeypatch):
    """The expressions of every question, as an adapter of a backend writes them. DuckDB answers
    them, so that later queries depend on earlier answers.
    """
    import ibis

    server = ibis.duckdb.connect()
    records = poisonous_records()
    server.create_table("people", schema=ibis.schema(records.schema))
    server.insert("people", records)
    fetch, sent = NarwhalsQuery.fetch, []

    def fetched(self, rows):
        sent.append(rows.to_native())
        return fetch(self, rows)

    adapter = BACKENDS.get(backend, IbisTable)
    monkeypatch.setattr(NarwhalsQuery, "fetch", fetched)
    monkeypatch.setattr(ibis_adapters, "BACKENDS", {"duckdb": adapter})
    monkeypatch.setattr(adapter, "without_rows", lambda self: None)
    for title, (column, options) in QUESTIONS.items():
        domain = DOMAINS[column]()
        engine, place = _open(server.table("people"), column, domain, options).engine(entropy(7))
        for name, request in _requests(domain):
            sent.clear()
            engine.answer([ColumnRequest(place, np.arange(engine.groups), request)])
            yield f"{title}: {name}", list(sent)


def compiled(backend, monkeypatch):
    """The text of all queries in the dialect of a backend; what it lacks is named."""
    from ibis.backends.sql import compilers

    compiler = getattr(compilers, COMPILERS[backend])()
    lines = []
    for title, expressions in queries(backend, monkeypatch):
        lines.append(f"-- {title}")
        for expression in expressions:
            try:
                sql = compiler.to_sqlglot(expression.unbind()).sql(compiler.dialect, pretty=True)
            except Exception as error:
                lines.append(f"-- refused before the charge: {type(error).__name__}")
                continue
            lines.append(f"{unnumbered(sql)};")
    return "\n".join(lines) + "\n"


def unnumbered(sql):
    """SQL whose names do not depend on how many tables the process has made."""
    numbers = {}
    return re.sub(
        r"(ibis_\w*?_memtable_|duffdp_\w*_)([a-z0-9]{6,})",
        lambda name: name[1] + str(numbers.setdefault(name[2], len(numbers))),
        sql,
    )


def normalized(text, dialect):
    """SQL as the installed version of sqlglot writes it."""
    return [
        statement.sql(dialect) if statement is not None else ""
        for statement in sqlglot.parse(text, dialect=dialect)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("backend", COMPILERS)
def test_sql_of_every_dialect(backend, monkeypatch):
    text = compiled(backend, monkeypatch)
    kept = (FOLDER / f"{backend}.sql").read_text()
    dialect = {"mssql": "tsql"}.get(backend, backend)
    assert [line for line in text.splitlines() if line.startswith("--")] == [
        line for line in kept.splitlines() if line.startswith("--")
    ]
    assert normalized(text, dialect) == normalized(kept, dialect)


def test_only_times_of_oracle_are_refused():
    refused = {
        path.stem: {
            title
            for title, line in pairwise(lines)
            if line.startswith("-- refused") and title.startswith("-- ")
        }
        for path in FOLDER.glob("*.sql")
        for lines in [path.read_text().splitlines()]
    }
    assert {stem for stem, titles in refused.items() if titles} == {"oracle"}
    assert all(title.startswith("-- day") for title in refused["oracle"])


if __name__ == "__main__":
    for name in COMPILERS:
        with pytest.MonkeyPatch.context() as patch:
            (FOLDER / f"{name}.sql").write_text(compiled(name, patch))
