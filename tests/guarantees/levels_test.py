"""Levels above keys, through the public door: shares add up, one unit moves all draws of all levels
by epsilon at most, and the group of a row follows from its own key.
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import DuffError, Ledger, Pattern, UnsupportedData
from duffdp.audit.neighbours import log_ratio
from release_draws import laws, recorded

CODES = Pattern("[ab][01]", false_keys=1)
CHAPTERS = {"A": Pattern("a[01]"), "B": Pattern("b[0-9]")}
GIVEN = {"by": "code", "keys": CODES, "other": "rest", "levels": {"chapter": CHAPTERS}}
LISTED = GIVEN | {"keys": ["a0", "b1"], "levels": {"chapter": {"A": ["a0"], "B": ["b1"]}}}
WEIGHTS = {"count": 2, "count by chapter": 1, "count in all": 1, "x_sum by chapter": 3}
SUMS = {"x": "sum"}
ROWS = {
    "x": [1, 2, 2, 5, 7, 7, 8, 9],
    "code": ["a0", "a0", "b1", "a1", "a0", "zz", None, "b1"],
    "p": [1, 2, 3, 4, 5, 6, 7, 8],
}
FOUND = {0: 50}  # places and noisy counts: a0 alone is found


def frame(rows=ROWS):
    return pl.DataFrame(rows, schema={"x": pl.Int64, "code": pl.String, "p": pl.Int64})


def with_rows(*added):
    rows = {name: list(values) for name, values in ROWS.items()}
    for code, person in added:
        for name, value in zip(("x", "code", "p"), (9, code, person), strict=True):
            rows[name].append(value)
    return frame(rows)


def table(data, statistics=SUMS, **changes):
    given = {**GIVEN, "bounds": {"x": (0, 9)}, "interval": None, "weights": WEIGHTS, **changes}
    return duffdp.table(data, statistics, **given)


def loss(here, there):
    """The largest log-ratio of all draws together."""
    return log_ratio(here, there)


@pytest.mark.parametrize("given", [GIVEN, LISTED], ids=["found", "listed"])
@pytest.mark.parametrize(
    "people", [{}, {"unit": "p"}, {"unit": "p", "contributions": 3, "groups_per_person": 2}]
)
def test_shares_of_all_levels_add_up(given, people, tmp_path):
    ledger, asked = Ledger(tmp_path / "budget.db", epsilon=10), Fraction(7, 10)
    with recorded(path=(FOUND,) if given is GIVEN else ()) as draws:
        made = table(frame(), epsilon=asked, ledger=ledger, **given, **people)
    releases = made.releases
    assert sum(release.loss.epsilon for release in releases.values()) == asked
    assert ledger.spent() == pytest.approx(float(asked))
    assert {"count by chapter", "count in all", "x_sum by chapter"} < set(releases)
    assert "x_sum in all" not in releases
    # A draw is made for every group of a level, by one mechanism.
    mechanisms = {id(draw.mechanism): draw for draw in draws}.values()
    groups = people.get("groups_per_person", 1)
    rows = [groups if draw.mechanism.name != "staircase" else groups * 3 for draw in mechanisms]
    rows = rows if people.get("contributions") else [1] * len(rows)
    spent = sum(draw.epsilon * count for draw, count in zip(mechanisms, rows, strict=True))
    assert spent == pytest.approx(float(asked), rel=1e-9)


@pytest.mark.parametrize("code", ["a0", "a1", "b0", "b9", "zz", None], ids=str)
def test_one_row_costs_epsilon_on_all_levels(code):
    """A row with a found key, with a key that was not found, with one that nobody else has, with an
    impossible key of a chapter, with one of no chapter, and without a key.
    """
    here, there = (
        laws(lambda d=d: table(d, epsilon=1.0), path=(FOUND,))
        for d in (frame(), with_rows((code, 9)))
    )
    assert len(here) == len(there)
    assert loss(here, there) <= 1 + 1e-9
    if code == "a0":
        assert loss(here, there) == pytest.approx(1)


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("contributions", [1, 2])
def test_one_person_with_many_keys_costs_epsilon(limit, contributions):
    """A person with all keys, a new one and several rows in each."""
    rows = [(code, 99) for code in ("a0", "a1", "b0", "b1", "zz") for _ in range(3)]
    given = {"unit": "p", "groups_per_person": limit, "contributions": contributions}
    here, there = (
        laws(lambda d=d: table(d, epsilon=1.0, **given), path=(FOUND,))
        for d in (frame(), with_rows(*rows))
    )
    assert len(here) == len(there)
    assert loss(here, there) <= 1 + 1e-9


SHARE = {"x": {"statistic": "share", "between": (0, 9), "name": "low"}}
SHARE_WEIGHTS = {"count": 2, "low by chapter": 3, "low in all": 1}


@pytest.mark.parametrize("given", [GIVEN, LISTED], ids=["found", "listed"])
@pytest.mark.parametrize("code", ["a0", "a1", "b0", "zz", None], ids=str)
def test_shares_of_all_levels_cost_epsilon(code, given):
    """A row is inside or outside on every level, never both."""
    path = (FOUND,) if given is GIVEN else ()
    asked = {"statistics": SHARE, "bounds": None, "weights": SHARE_WEIGHTS, **given}
    here, there = (
        laws(lambda d=d: table(d, epsilon=1.0, **asked), path=path)
        for d in (frame(), with_rows((code, 9)))
    )
    assert len(here) == len(there)
    assert loss(here, there) <= 1 + 1e-9
    if code == "a0":
        assert loss(here, there) == pytest.approx(1)


@pytest.mark.parametrize("limit", [1, 2])
def test_shares_of_all_levels_cost_a_person_epsilon(limit):
    rows = [(code, 99) for code in ("a0", "a1", "b0", "zz", None) for _ in range(3)]
    asked = {"statistics": SHARE, "bounds": None, "weights": SHARE_WEIGHTS, "unit": "p"}
    asked |= {"groups_per_person": limit, "contributions": 2}
    here, there = (
        laws(lambda d=d: table(d, epsilon=1.0, **asked), path=(FOUND,))
        for d in (frame(), with_rows(*rows))
    )
    assert loss(here, there) <= 1 + 1e-9


def test_medians_of_all_levels_cost_epsilon():
    given = {"statistics": {"x": "median"}, "step": {"x": 1}, "weights": None}
    for code in ("a0", "b0", "zz"):
        here, there = (
            laws(lambda d=d: table(d, epsilon=1.0, **given), path=(FOUND,))
            for d in (frame(), with_rows((code, 9)))
        )
        assert loss(here, there) <= 1 + 1e-9


def noisy_by_level(made, name):
    """The numbers as drawn in the groups of all levels, as sums of those of the lowest one, and as
    drawn."""
    lowest = made.releases[name]
    pairs = []
    for margin in (("chapter",), ()):
        release = made.releases.get(f"{name} by chapter" if margin else f"{name} in all")
        if release is None:
            continue
        sums = {}
        for key, (number,) in zip(lowest.keys, lowest.noisy, strict=True):
            sums[key[:1] if margin else ()] = sums.get(key[:1] if margin else (), 0) + number
        keys = list(release.keys) or [()]
        pairs += [(sums[key], drawn) for key, (drawn,) in zip(keys, release.noisy, strict=True)]
    return pairs


@pytest.mark.parametrize("given", [GIVEN, LISTED], ids=["found", "listed"])
@pytest.mark.parametrize(
    "people",
    [
        {"unit": "p"},
        {"unit": "p", "contributions": 2},
        {"unit": "p", "groups_per_person": 2},
        {"unit": "p", "groups_per_person": 1, "contributions": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("library", ["memory", "lazy"])
def test_the_same_rows_of_a_person_count_on_every_level(library, given, people):
    """With next to no noise the draws of larger groups are the sums of the smaller ones, whichever
    rows of a person were chosen.
    """
    codes = ["a0", "a1", "b0", "b1", "zz", None]
    rows = [(code, person) for person in range(30) for code in codes]
    data = frame({"x": [2] * len(rows), "code": [c for c, _ in rows], "p": [p for _, p in rows]})
    data = data.lazy() if library == "lazy" else data
    seen = set()
    for seed in range(3):
        made = table(data, epsilon=2e3, rng=seed, **given, **people)
        for name in ("count", "x_sum"):
            pairs = noisy_by_level(made, name)
            assert pairs
            assert all(summed == drawn for summed, drawn in pairs)
        seen.add(str(made.releases["count"].noisy))
    assert len(seen) > 1


@pytest.mark.parametrize("library", ["memory", "lazy"])
def test_the_group_of_a_row_follows_from_its_key(library):
    """Keys that are not found are looked for in all rows: whose rows count decides nothing. Person
    1 has two keys of two chapters, of which one row counts: it is in none of the rest.
    """
    data = frame({"x": [1, 1], "code": ["a1", "b1"], "p": [1, 1]})
    data = data.lazy() if library == "lazy" else data
    places = set()
    for seed in range(12):
        made = table(data, {"x": "sum"}, epsilon=2e3, rng=seed, unit="p", weights=None)
        counts = dict(zip(made.releases["count"].keys, made.releases["count"].noisy, strict=True))
        assert counts["rest", "rest"] == (0,)
        places.add(next(key for key, (number,) in counts.items() if number))
    assert {chapter for chapter, _ in places} == {"A", "B"}


@pytest.mark.parametrize(
    "change",
    [
        {"levels": {"chapter": CHAPTERS}, "other": None},
        {"levels": {"chapter": CHAPTERS}, "other": "A"},
        {"other": "a1"},
        {"other": "b1", "levels": None},
        {"keys": ["a0", "b0"], "levels": {"letter": 1}, "other": "a"},
        {"keys": [("x", "a0")], "by": ["p", "code"], "levels": True, "other": "x"},
        {"levels": {"code": CHAPTERS}},
        {"levels": {"chapter": CHAPTERS, "block": 1}},
        {"levels": {"chapter": {}}},
        {"levels": {"chapter": {"A": []}}},
        {"levels": {"chapter": {"A": "a0"}}},
        {"levels": {"chapter": {"": ["a0"]}}},
        {"levels": {"chapter": 0}},
        {"levels": {"chapter": True}},
        {"levels": True},
        {"levels": False},
        {"levels": "chapter"},
        {"levels": {"chapter": CHAPTERS}, "total": True},
        {"levels": {"letter": 1}, "keys": Pattern(numbers=(1, 9))},
        {"levels": {"letter": 5}, "keys": Pattern("[a-z]{9}")},
        {"keys": ["a0", "c0"], "other": None},
        {"by": ["code", "p"], "keys": {"code": CODES, "p": [1]}},
        {"by": None, "keys": None, "other": None},
        {"weights": {"count by code": 1}},
        {"weights": {"count by chapter": 0}},
    ],
    ids=str,
)
def test_what_is_refused_costs_nothing(change, tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=1)
    with pytest.raises((DuffError, UnsupportedData)):
        table(frame(), epsilon=1, ledger=ledger, **{"weights": None, **change})
    assert ledger.spent() == 0


def test_a_retry_has_the_same_levels(tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=100)
    first = table(frame(), epsilon=5, ledger=ledger.call("one"))
    assert table(frame(), epsilon=5, ledger=ledger.call("one")) == first
    assert ledger.spent() == pytest.approx(5)
    other = {"levels": {"chapter": CHAPTERS | {"A": Pattern("a[0-5]")}}}
    with pytest.raises(DuffError, match="other parameters"):
        table(frame(), epsilon=5, ledger=ledger.call("one"), **other)


@pytest.mark.parametrize("library", ["memory", "lazy"])
def test_a_retry_after_an_interrupt_has_the_keys_that_were_stored(library, tmp_path):
    """Whichever releases were stored. Each of the keys is found with a chance of a half."""
    codes = Pattern("[ab][0-9]")
    given = GIVEN | {"keys": codes, "bounds": {"x": (0, 9)}, "interval": None}
    plan = duffdp.TablePlan(
        {"x": ["sum", "median"]}, epsilon=3, weights={"x_sum by chapter": 1}, **given
    )
    enough = codes.threshold(plan.check().releases["count"].loss.epsilon / 2)
    everyone = [codes.value(i) for i in range(codes.size)] * enough
    rows = len(everyone)
    data = frame({"x": [1] * rows, "code": everyone, "p": list(range(rows))})
    data = data.lazy() if library == "lazy" else data
    ledger = Ledger(tmp_path / "budget.db", epsilon=1000)
    for stop in range(1, len(plan.check().releases)):
        stored = itertools.count(1)

        def interrupt(stored=stored, stop=stop):
            if next(stored) == stop:
                raise KeyboardInterrupt

        call = ledger.call(str(stop))
        with pytest.raises(KeyboardInterrupt):
            plan.run(data, ledger=call, done=interrupt)
        made = plan.run(data, ledger=call)
        releases = made.releases.items()
        keys = {tuple(release.keys) for name, release in releases if " by " not in name}
        assert len(keys - {()}) == 1
        assert plan.run(data, ledger=call) == made


def test_what_can_be_seen_does_not_depend_on_a_record():
    """Tables that differ in one person: the same groups of others, columns and notes."""
    shapes = set()
    for extra in ((), (("b0", 99),), (("b9", 99), ("zz", 99)), ((None, 99),)):
        with recorded(path=(FOUND,)):
            made = table(with_rows(*extra), {"x": ["sum", "median"]}, epsilon=2.0, unit="p")
        shapes.add((tuple(made.wide()), tuple(made.row_keys()), tuple(made.notes), len(made)))
    assert len(shapes) == 1


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("given", [GIVEN, LISTED, GIVEN | {"levels": {"letter": 1}}], ids=str)
def test_every_printed_level_adds_up(given, weights):
    if "letter" in given["levels"] and weights:
        weights = {name.replace("chapter", "letter"): weight for name, weight in weights.items()}
    statistics = {"x": ["sum", {"statistic": "histogram", "bins": [0, 3, 6, 10]}]}
    generator = np.random.default_rng(1)
    codes = generator.choice(["a0", "a0", "a1", "b0", "b1", "zz"], size=200).tolist()
    values = generator.integers(0, 10, 200).tolist()
    data = frame({"x": values, "code": codes, "p": list(range(200))})
    for seed, interval in itertools.product(range(2), (None, 0.9)):
        made = table(
            data, statistics, epsilon=1.5, rng=seed, interval=interval, **given, weights=weights
        )
        columns = made.wide()
        names = [name for measure in made.measures for name in measure.columns[:: measure.step]]
        keys = made.row_keys()
        for name in names:
            values = dict(zip(keys, columns[name], strict=True))
            assert min(values.values()) >= 0
            leaves = {key: value for key, value in values.items() if None not in key}
            assert values[None, None] == sum(leaves.values())
            for group, last in values:
                if group is not None and last is None:
                    parts = [value for key, value in leaves.items() if key[0] == group]
                    assert values[group, None] == sum(parts)
            if interval:
                lows, highs = columns[f"{name}_low"], columns[f"{name}_high"]
                for low, value, high in zip(lows, columns[name], highs, strict=True):
                    assert low <= value <= high
        assert duffdp.Table.from_dict(json.loads(made.to_json())) == made
        made._repr_html_()
        made.to_markdown()
        made.tidy().to_polars()


def test_intervals_of_estimates_hold():
    """Three levels with draws of their own: each interval misses in about 5 % of 300 tables."""
    given = {
        "by": "code",
        "keys": ["a0", "a1", "a2", "b0"],
        "levels": {"letter": 1},
        "bounds": {"x": (-5, 9)},
        "step": {"x": 1},
        "weights": {"count by letter": 1, "count in all": 1, "x_sum by letter": 4},
    }
    codes = ["a0"] * 30 + ["a1"] * 3 + ["b0"] * 12
    values = [(7 * i) % 15 - 5 for i in range(len(codes))]
    data = frame({"x": values, "code": codes, "p": list(range(len(codes)))})
    exact = {}
    for code, value in zip(codes, values, strict=True):
        for key in ((code[0], code), (code[0], None), (None, None)):
            count, total = exact.get(key, (0, 0))
            exact[key] = count + 1, total + value
    misses = dict.fromkeys(itertools.product(range(7), range(2)), 0)
    for seed in range(300):
        columns = duffdp.table(data, SUMS, epsilon=2.0, rng=seed, **given).wide()
        for i, key in enumerate(zip(columns["letter"], columns["code"], strict=True)):
            for part, name in enumerate(("count", "x_sum")):
                truth = exact.get(key, (0, 0))[part]
                low, high = columns[f"{name}_low"][i], columns[f"{name}_high"][i]
                misses[i, part] += not low <= truth <= high
    # Binomial(300, .05) exceeds 45 with a probability of 1.2e-10, in 14 of them below 2e-9.
    assert max(misses.values()) <= 45
    assert sum(misses.values()) / len(misses) > 3  # and intervals are not much too wide


@pytest.mark.parametrize("own", [None, {"count by letter": 1}])
def test_intervals_of_all_levels_hold_together(own):
    """Each of three levels may miss a third of .24, and each group of a level an equal part of
    that.
    """
    given = {"by": "code", "keys": ["a0", "a1", "b0", "b1"], "levels": {"letter": 1}}
    given |= {"bounds": {}, "epsilon": 1, "weights": own, "rng": 1}
    together = duffdp.table(frame(), {}, **given, interval=0.76, simultaneous=True)
    assert len(together.row_keys()) == 7
    for confidence, missing in ((0.98, 0), (0.96, 1), (0.92, 2)):  # of 4, 2 and 1 groups
        each = duffdp.table(frame(), {}, **given, interval=confidence)
        for i, key in enumerate(each.row_keys()):
            if key.count(None) == missing:
                for name in ("count", "count_low", "count_high"):
                    assert together.wide()[name][i] == each.wide()[name][i]


@pytest.mark.parametrize("weights", [None, {"count in all": 1, "yes in all": 2}])
@pytest.mark.parametrize("other", [None, "rest"])
def test_a_table_of_no_found_key_is_a_table(other, weights):
    """Whether a key is found depends on a record, so it decides no error."""
    yes = {"statistic": "share", "values": [1], "name": "yes"}
    given = {"levels": {"letter": 1}, "other": other, "weights": weights, "interval": 0.9}
    with recorded(path=({},)):
        made = table(frame(), {"x": ["sum", "median", 0.25, yes]}, epsilon=1.0, **given)
    others = [] if other is None else [(name, "rest") for name in ("a", "b", "rest")]
    assert list(made.releases["yes"].keys) == others
    shares = dict(zip(made.row_keys(), made.wide()["yes"], strict=True))
    assert 0 <= shares[None, None] <= 1
    assert duffdp.Table.from_dict(json.loads(made.to_json())) == made
    made._repr_html_()


def test_draws_of_their_own_make_larger_groups_more_exact():
    """With 40 groups, the total errs less with half of the count's epsilon than as a sum."""
    codes = [f"{a}{b}" for a in "ab" for b in range(20)]
    data = frame({"x": [1] * 400, "code": codes * 10, "p": list(range(400))})
    given = {"by": "code", "keys": codes, "levels": {"letter": 1}, "epsilon": 0.5, "bounds": {}}
    errors = {}
    for weights in (None, {"count in all": 1}):
        totals = []
        for seed in range(100):
            made = duffdp.table(data, {}, **given, weights=weights, rng=seed, interval=None)
            totals.append(made.wide()["count"][-1])
        errors[weights is None] = np.abs(np.array(totals) - 400).mean()
    assert errors[False] < errors[True] / 2


def test_previews_say_what_a_draw_of_its_own_would_change():
    """Beside the errors of 200 tables, and for groups with many and with few parts."""
    codes = [f"{a}{b}" for a in "ab" for b in range(30)]
    data = frame({"x": [1] * 60 * 20, "code": codes * 20, "p": list(range(60 * 20))})
    given = {"by": "code", "keys": codes, "levels": {"letter": 1}, "epsilon": 0.5}
    for weights in (None, {"count in all": 1}):
        plan = duffdp.TablePlan({}, **given, interval=None, weights=weights)
        columns = plan.preview(group_size=20).wide()
        expected = dict(zip(columns["release"], columns["mean error"], strict=True))
        notes = dict(zip(columns["release"], columns["note"], strict=True))
        made = [plan.run(data, rng=seed).wide()["count"] for seed in range(200)]
        total = np.abs(np.array([counts[-1] for counts in made]) - 1200).mean()
        assert expected["count in all"] == pytest.approx(total, rel=0.35)
        assert "a draw of its own" in notes["count in all"]
    few = duffdp.TablePlan({}, **given | {"keys": ["a1", "b1"]}, interval=None)
    assert "the sum is better" in few.preview(group_size=20).wide()["note"][-1]


def previewed(plan, group_size=30):
    """The expected errors of margins, and the notes about them."""
    columns = plan.preview(group_size=group_size, draws=10).wide()
    errors = dict(zip(columns["release"], columns["mean error"], strict=True))
    notes = dict(zip(columns["release"], columns["note"], strict=True))
    return errors, notes


ADDED = {
    "x": ["sum", {"statistic": "histogram", "bins": [0, 5, 10], "name": "bins"}],
    "won": {"statistic": "share", "values": ["yes"], "name": "yes"},
}


@pytest.mark.parametrize("own", [{}, {"yes in all": 3, "x_sum in all": 2}])
def test_previews_of_all_that_adds_up(own):
    """Sums, shares and histograms beside the errors of 100 tables, in the units of the release;
    shares are close to 0, where they err most.
    """
    codes = [f"a{b}" for b in range(20)]
    rows = len(codes) * 30
    data = frame({"x": [4] * rows, "code": codes * 30, "p": list(range(rows))})
    data = data.with_columns(won=pl.Series(["no"] * rows))
    given = {"by": "code", "keys": codes, "levels": {"letter": 1}, "bounds": {"x": (0, 9)}}
    plan = duffdp.TablePlan(ADDED, epsilon=2, interval=None, weights=own or None, **given)
    errors, notes = previewed(plan)
    made = [plan.run(data, rng=seed).wide() for seed in range(100)]
    exact = {"x_sum in all": 4 * rows, "bins in all": rows, "yes in all": 0.0}
    columns = {"x_sum in all": "x_sum", "bins in all": "bins_[0, 5)", "yes in all": "yes"}
    for name, truth in exact.items():
        seen = np.abs(np.array([float(one[columns[name]][-1]) for one in made]) - truth).mean()
        one_sided = 0.5 if name == "yes in all" else 1.0  # a share below 0 is released as 0
        assert errors[name] * one_sided == pytest.approx(seen, rel=0.4)
        assert notes[name].startswith("has a draw" if name in own else "a sum of groups; with half")


def test_previews_of_levels_whose_keys_are_found():
    """The number of found keys is unknown, so errors are those of some numbers of them."""
    codes = Pattern("[A-Z][0-9]{2}")
    given = {"by": "code", "keys": codes, "levels": {"letter": 1}, "other": "rest"}
    plan = duffdp.TablePlan(SUMS, epsilon=2, bounds={"x": (0, 9)}, interval=None, **given)
    own = plan.with_weights({"x_sum in all": 2})
    errors, notes = previewed(plan)
    assert errors["count in all"] is errors["x_sum by letter"] is None
    assert "with 10, 100 or 1,000 found keys it errs by" in notes["x_sum by letter"]
    assert "is better with 100 found keys and more" in notes["count by letter"]
    assert "a draw of its own is better here" in notes["x_sum in all"]
    assert previewed(own)[1]["x_sum in all"].startswith("has a draw of its own; with 10, 100 or")
    few = duffdp.TablePlan({}, epsilon=2, **{**given, "keys": Pattern("[ab]")})
    assert "with 2 found keys it errs by" in previewed(few)[1]["count by letter"]
    # As for listed keys: with 26 groups of others and the rest, ten found ones are 37 groups.
    listed = [codes.value(i) for i in range(37)]
    usual = plan.check().releases["x_sum"].loss.epsilon
    asked = {"by": "code", "keys": listed, "levels": {"letter": 1}, "bounds": {"x": (0, 9)}}
    same = duffdp.TablePlan(SUMS, epsilon=2 * usual, weights={"count": 1, "x_sum": 1}, **asked)
    assert previewed(same)[0]["x_sum in all"] == pytest.approx(
        float(notes["x_sum in all"].split("errs by ")[1].split(",")[0]), rel=0.02
    )


@pytest.mark.parametrize("added", [[("b0", 99)], [("a0", 99), ("b1", 99)], [("zz", 99)]], ids=str)
def test_a_replay_of_a_person_breaks_no_promise(added):
    def call(data, rng):
        given = {"unit": "p", "groups_per_person": 2, "epsilon": 3.0}
        return table(data, {"x": ["sum", "median"]}, rng=rng, **given)

    result = duffdp.audit.replay(call, frame(), with_rows(*added))
    assert result.ok, str(result)
