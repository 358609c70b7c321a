"""Facts with types: what a release says about itself comes back from JSON, and no text is ever
read.
"""

from __future__ import annotations

import ast
import datetime as dt
import json
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import duffdp
from duffdp import DuffError, Loss, PrivacyUnit, Release
from duffdp._facts import as_json
from duffdp._privacy import LossPart

DAY = dt.date(2024, 1, 1)
NOON = dt.datetime(2024, 1, 1, 12)
ZONED = NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))
PEOPLE = pl.DataFrame(
    {"x": [1.0, 2, 3, 4], "g": ["a", "a", "b", "b"], "row": [1, 1, 2, 3], "d": [DAY] * 4}
)
GIVEN = {"epsilon": 1.0, "bounds": (0, 9)}

RELEASES = {
    "median": lambda: duffdp.median([1, 2], **GIVEN),
    "duff": lambda: duffdp.median([1, 2], **GIVEN, mechanism="duff"),
    "quantile": lambda: duffdp.quantile([1, 2], 0.123456, **GIVEN),
    "third": lambda: duffdp.quantile([1, 2], Fraction(1, 3), **GIVEN),
    "decimal": lambda: duffdp.median(
        [1, 2],
        epsilon=Decimal("0.3"),
        bounds=(Decimal("0.10"), Decimal("2.50")),
        step=Decimal("0.05"),
    ),
    "fraction": lambda: duffdp.median([1, 2], epsilon=1, bounds=(Fraction(1, 3), 2)),
    "integers": lambda: duffdp.median([1, 2], epsilon=1, bounds=(0, 9), step=1),
    "digits": lambda: duffdp.median([1, 2], epsilon=1, bounds=duffdp.Digits(3, 0.01, 1e5)),
    "dates": lambda: duffdp.median([DAY], epsilon=1, bounds=(DAY, dt.date(2025, 1, 1))),
    "times by days": lambda: duffdp.median(
        [NOON], epsilon=1, bounds=(NOON, NOON.replace(year=2025)), step=dt.timedelta(days=1)
    ),
    "times": lambda: duffdp.median(
        [NOON], epsilon=1, bounds=(NOON, NOON.replace(year=2025)), step=0.5
    ),
    "zoned": lambda: duffdp.median(
        [ZONED], epsilon=1, bounds=(ZONED, ZONED.replace(year=2025)), step=60
    ),
    "quantiles": lambda: duffdp.quantiles([1, 2], [0.123456, 0.1234564], **GIVEN),
    "describe": lambda: duffdp.describe([1, 2], **GIVEN),
    "describe dates": lambda: duffdp.describe([DAY], epsilon=1, bounds=(DAY, dt.date(2025, 1, 1))),
    "mode": lambda: duffdp.mode(["a"], epsilon=1, categories=["a", "b"]),
    "mode of dates": lambda: duffdp.mode([DAY], epsilon=1, categories=[DAY, dt.date(2025, 1, 1)]),
    "mode of moments": lambda: duffdp.mode(
        [pd.Timestamp(NOON)], epsilon=1, categories=[pd.Timestamp(NOON)]
    ),
    "mode of paths": lambda: duffdp.mode([Path("x")], epsilon=1, categories=[Path("x"), Path("y")]),
    "people": lambda: duffdp.median(PEOPLE, column="x", unit="row", contributions=2, **GIVEN),
    "groups": lambda: duffdp.median(PEOPLE, column="x", by="g", keys=["a", "b"], **GIVEN),
    "two groups": lambda: duffdp.quantiles(
        PEOPLE, [0.5, 0.75], column="x", by=["g", "d"], keys=[("a", DAY), ("b", DAY)], **GIVEN
    ),
    "summaries": lambda: duffdp.describe(PEOPLE, column="x", by="g", keys=["a", "b"], **GIVEN),
    "triangles": lambda: duffdp.triangles([(0, 1)], epsilon=1, nodes=4),
    "stars": lambda: duffdp.stars([(0, 1)], 2, epsilon=1, nodes=4),
    "own": lambda: duffdp.release(duffdp.statistics.Quantile(0.75, "rank"), [1, 2], **GIVEN),
}


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_comes_back_from_json(name):
    release = RELEASES[name]()
    back = Release.from_dict(json.loads(release.to_json()))
    assert back == release
    assert hash(back) == hash(release)
    assert back.to_dict() == release.to_dict()
    assert back.domain.size == release.domain.size
    assert back.unit == release.unit
    assert back.loss == release.loss
    if release.domain.kind != "category" and not release.by:
        assert back.value == release.value
        assert back.rows() == release.rows()
    assert [label for _, label, _ in back.rows()] == [label for _, label, _ in release.rows()]
    assert "\n" not in repr(release)


def test_what_is_no_release_is_refused():
    whole = RELEASES["median"]().to_dict()
    for wrong in (
        {},
        {"value": 3},
        whole | {"unit": "row"},
        whole | {"loss": {}},
        whole | {"time": 3},
    ):
        with pytest.raises(DuffError, match="not a dictionary from to_dict"):
            Release.from_dict(wrong)


def test_every_paid_quantile_has_a_column_of_its_own():
    release = RELEASES["quantiles"]()
    assert len({column.name for column in release.columns}) == 2
    assert release.statistic.parameters["qs"] == (0.123456, pytest.approx(0.1234564, abs=1e-9))
    grouped = duffdp.quantiles(
        PEOPLE, [0.123456, 0.1234564], column="x", by="g", keys=["a"], **GIVEN
    )
    assert len(grouped.value.columns) == 3


def test_a_column_called_like_a_unit():
    """A person column named `row` is a person, and an edge is an edge."""
    people, edges = RELEASES["people"](), RELEASES["triangles"]()
    assert (people.unit.kind, people.unit.column, people.contributions) == ("person", "row", 2)
    assert (edges.unit.kind, edges.unit.column) == ("edge", None)
    assert "picked at random" in " ".join(duffdp.report.sentences.protected(people))
    said = " ".join(duffdp.report.sentences.protected(edges))
    assert "edge" in said
    assert "picked at random" not in said
    assert "A node with all of its edges is not protected" in said


def test_a_group_column_called_like_the_value():
    frame = pl.DataFrame({"x": [1.0], "median": ["a"], "median_value": ["b"]})
    given = {"column": "x", "by": ["median", "median_value"], "keys": [("a", "b")]}
    release = duffdp.median(frame, **given, **GIVEN)
    assert release.value.columns == ["median", "median_value", "median_value_value"]
    assert Release.from_dict(release.to_dict()) == release


def test_the_parts_of_a_mechanism_add_up():
    for make in RELEASES.values():
        release = make()
        assert sum(part.epsilon for part in release.mechanism.parts) == release.loss.epsilon


def test_units_and_losses_are_checked():
    for wrong in (
        ("people", None, 1),
        ("person", None, 1),
        ("row", "x", 1),
        ("edge", None, 2),
        ("person", "x", 0),
    ):
        with pytest.raises(DuffError):
            PrivacyUnit(*wrong)


def test_losses_are_checked_and_come_back():
    third = Fraction(1, 3)
    parts = (LossPart("geometric", third / 4, 1, 3), LossPart("bounded-range", third * 3 / 4, 9))
    loss = Loss(third, Fraction(1, 7), parts)
    assert Loss.from_dict(json.loads(json.dumps(as_json(asdict(loss))))) == loss
    assert Loss(third).parts == (LossPart("pure", third),)
    for wrong in (
        (LossPart("pure", third / 2),),
        (LossPart("gaussian", third),),
        (LossPart("pure", third, 0),),
        (LossPart("geometric", third, 1, 0),),
    ):
        with pytest.raises(DuffError, match="loss"):
            Loss(third, Fraction(0), wrong)


def test_no_name_is_parsed():
    """What a release is about is never found by cutting up a text, in any module that makes, pays
    for or tells about releases.
    """
    cutting = {"partition", "rpartition", "startswith", "removeprefix"}
    for room in (
        "_facts.py",
        "_privacy.py",
        "_pipeline",
        "ledger",
        "report",
        "_planning",
        "statistics",
        "audit",
    ):
        place = Path(duffdp.__file__).parent / room
        modules = [place] if place.suffix else sorted(place.rglob("*.py"))
        assert modules, room
        for path in modules:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Attribute) and node.attr in cutting:
                    spelled = ast.unparse(node)
                    assert not any(
                        word in spelled for word in ("statistic", "mechanism", "unit", "name")
                    ), (path, spelled)
