"""What Spark moves between machines for a release, by the plans of its own queries: counts that
were combined where the rows lie, lists of keys, and with `unit` all rows once; and what it sorts.
"""

from __future__ import annotations

import re

import pytest

import duffdp
import engines
from covering import every_pair
from duffdp._engines.adapters.spark import SparkFrame

GROUPS = {"by": "g", "keys": [0, 1, 2, 3, 4]}
PEOPLE = {"unit": "p"}
SORTS = {1: 1, 2: 2}  # of all rows, by contributions: by what is in them, and once more by a hash
COUNTED, LISTED, MOVED, ROWS = "combined counts", "keys", "rows by person", "rows"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    session = engines.spark()
    path = str(tmp_path_factory.mktemp("spark") / "rows.parquet")
    columns = "double(id % 1000) / 7 AS x", "id % 5 AS g", "id DIV 4 AS p", "id AS other"
    session.range(20_000).selectExpr(*columns).write.parquet(path)
    # As for a table that is too large to be sent around.
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    yield session.read.parquet(path)
    session.conf.unset("spark.sql.autoBroadcastJoinThreshold")


@pytest.fixture
def plans(monkeypatch):
    """The lines of the plan of each query that runs."""
    found, real = [], SparkFrame.fetch

    def fetch(self, rows):
        answer = real(self, rows)
        plan = rows.to_native()._jdf.queryExecution().executedPlan().toString()
        found.append(plan.partition("== Initial Plan ==")[0].splitlines())
        return answer

    monkeypatch.setattr(SparkFrame, "fetch", fetch)
    return found


def moved(plan):
    """What each exchange of a plan sends, from the line below it that makes it."""
    found = []
    for place, line in enumerate(plan):
        if "Exchange" not in line:
            continue
        made = next(below for below in plan[place + 1 :] if re.search(r"Aggregate|Scan", below))
        if "REPARTITION_BY_COL" in line:
            found.append(MOVED)
        elif "BroadcastExchange" in line and "ExistingRDD" in made:
            found.append(LISTED)
        else:
            found.append(COUNTED if "partial_" in made else ROWS)
    return sorted(found)


@pytest.mark.parametrize(
    ("verb", "groups", "contributions"),
    every_pair(["median", "mean", "count"], [{}, GROUPS], [None, *SORTS]),
    ids=str,
)
def test_rows_stay_where_they_are(table, plans, verb, groups, contributions):
    """Any two of a release, groups and people."""
    people = {} if contributions is None else {**PEOPLE, "contributions": contributions}
    asked = {"column": None} if verb == "count" else {"column": "x", "bounds": (0, 200)}
    getattr(duffdp, verb)(table, epsilon=1, **asked, **groups, **people)
    assert plans
    needed = set("x" * (verb != "count") + "g" * bool(groups) + "p" * bool(people))
    for plan in plans:
        sent = moved(plan)
        assert sent.count(COUNTED) == 1
        assert sent.count(MOVED) == len(people) // 2
        assert ROWS not in sent
        assert bool(groups) <= (LISTED in sent)
        text = "\n".join(plan)
        assert "SortMergeJoin" not in text
        sorts = SORTS.get(people.get("contributions"), 0)
        assert text.count(" Sort [") == text.count(" Window [") == sorts
        read = re.search(r"ReadSchema: struct<(.*?)>", text)[1]
        assert {field.partition(":")[0] for field in read.split(",") if field} == needed


def test_rows_that_move_are_noticed(table):
    """The same question without a word about people or keys."""
    keys = table.sparkSession.createDataFrame([(0,), (1,)], "g long")
    joined = table.join(keys, "g").groupBy("x").count()
    joined.collect()
    plan = joined._jdf.queryExecution().executedPlan().toString().splitlines()
    assert ROWS in moved(plan)
