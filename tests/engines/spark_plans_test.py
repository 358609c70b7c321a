"""What Spark moves between machines for a release, by the plans of its own queries: counts that
were combined where the rows lie, lists of keys, and with `unit` all rows once; what it sorts, and
what it stores.
"""

from __future__ import annotations

import re

import pytest

import duffdp
import engines
from covering import every_pair
from duffdp._engines.adapters.spark import FEWER_STORED_PARTITIONS, SparkFrame

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
        # Stored rows that have become one partition are counted where they are.
        assert sent.count(COUNTED) == 1 or (people and COUNTED not in sent)
        assert sent.count(MOVED) == len(people) // 2
        assert ROWS not in sent
        assert bool(groups) <= (LISTED in sent)
        text = "\n".join(plan)
        assert "SortMergeJoin" not in text
        sorts = SORTS.get(people.get("contributions"), 0)
        assert text.count(" Sort [") == text.count(" Window [") == sorts
        read = re.search(r"ReadSchema: struct<(.*?)>", text)[1]
        assert {field.partition(":")[0] for field in read.split(",") if field} == needed


def rows_shuffled(session):
    """What all stages have written for other tasks until now."""
    context = session.sparkContext
    quantiles = context._gateway.new_array(context._gateway.jvm.double, 0)
    stages = context._jsc.sc().statusStore().stageList(None, False, False, quantiles, None)
    return sum(stages.apply(at).shuffleWriteRecords() for at in range(stages.size()))


def stored_frames(session):
    return session.sparkContext._jsc.getPersistentRDDs().size()


def test_rows_of_people_move_once_for_all_queries_and_are_not_left_behind(table, plans):
    """A standard deviation of groups, and statistics of several columns."""
    session, setting = table.sparkSession, FEWER_STORED_PARTITIONS
    kept, before = stored_frames(session), session.conf.get(setting)
    for release in (
        lambda: duffdp.std(table, column="x", epsilon=1, bounds=(0, 200), **GROUPS, **PEOPLE),
        lambda: duffdp.table(
            table,
            {"x": ["mean", 0.5], "g": "mean"},
            epsilon=1,
            bounds={"x": (0, 200), "g": (0, 4)},
            **PEOPLE,
        ),
    ):
        plans.clear()
        moved_before = rows_shuffled(session)
        release()
        assert len(plans) > 1
        assert 20_000 <= rows_shuffled(session) - moved_before < 40_000
        assert stored_frames(session) == kept
    assert session.conf.get(setting) == before


def test_stored_rows_are_dropped_after_an_error(table, monkeypatch):
    session, real = table.sparkSession, SparkFrame.fetch
    kept, answers = stored_frames(session), []

    def fetch(self, rows):
        answers.append(real(self, rows))
        assert stored_frames(session) == kept + 1
        raise RuntimeError

    monkeypatch.setattr(SparkFrame, "fetch", fetch)
    with pytest.raises(duffdp.UnsupportedData):
        duffdp.median(table, column="x", epsilon=1, bounds=(0, 200), **PEOPLE)
    assert answers
    assert stored_frames(session) == kept


def test_a_session_that_refuses_to_store_rows_answers_all_the_same(table, monkeypatch):
    """As some hosted sessions do, which cannot run here."""
    session, setting, refused = table.sparkSession, FEWER_STORED_PARTITIONS, []
    before = session.conf.get(setting)

    def refuse(frame):
        refused.append(frame)
        raise RuntimeError

    monkeypatch.setattr(type(table), "persist", refuse)
    release = duffdp.count(table, column="x", epsilon=1e6, **PEOPLE)
    assert refused
    assert release.value > 0
    assert session.conf.get(setting) == before


def test_rows_that_move_are_noticed(table):
    """The same question without a word about people or keys."""
    keys = table.sparkSession.createDataFrame([(0,), (1,)], "g long")
    joined = table.join(keys, "g").groupBy("x").count()
    joined.collect()
    plan = joined._jdf.queryExecution().executedPlan().toString().splitlines()
    assert ROWS in moved(plan)
