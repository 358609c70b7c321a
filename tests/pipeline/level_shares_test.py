"""Shares on several levels: counts inside and outside are estimated together, so a larger group's
share lies between those of its parts. Intervals against all noise of small trees, and in tables.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import duffdp
from duffdp import Pattern
from duffdp._pipeline.group_tree import GroupEstimator
from duffdp._pipeline.level_rows import relative_variances, rows_of_levels, tree_of
from duffdp.mechanisms import Geometric

CODES = ["a0"] * 40 + ["a1"] * 6 + ["b0"] * 25 + ["zz"] * 9
ANSWERS = [("yes", "no", "no", "no", None)[i % 5] for i in range(len(CODES))]
DATA = pl.DataFrame({"code": CODES, "won": ANSWERS, "p": range(len(CODES))})
YES = {"won": {"statistic": "share", "values": ["yes"], "name": "yes"}}
LISTED = {"by": "code", "keys": ["a0", "a1", "a2", "b0"], "levels": {"letter": 1}}
CHAPTERS = {"a": Pattern("a[0-9]"), "b": Pattern("b[0-9]")}
FOUND = {"by": "code", "keys": Pattern("[ab][0-9]"), "levels": {"chapter": CHAPTERS}}
OWN_DRAWS = {"listed": "letter", "found": "chapter"}


def weights(kind, own):
    return {f"yes by {OWN_DRAWS[kind]}": 2, "yes in all": 1} if own else None


def asked(kind, own=True, **changes):
    groups = LISTED if kind == "listed" else FOUND
    return {**groups, "other": "others", "epsilon": 4.0, "weights": weights(kind, own), **changes}


def exact_shares(found=("a0", "a1", "b0")):
    """The exact share of every row of a table with these codes; other codes are among others."""
    counts = {}
    for code, answer in zip(CODES, ANSWERS, strict=True):
        if answer is None:
            continue
        group = "others" if code == "zz" else code[0]
        for key in ((group, code if code in found else "others"), (group, None), (None, None)):
            inside, total = counts.get(key, (0, 0))
            counts[key] = inside + (answer == "yes"), total + 1
    return {key: inside / total for key, (inside, total) in counts.items()}


# All noise of a small tree.


def drawn_table(interval, covers="data"):
    """Two groups and their total, with draws of its own."""
    return duffdp.table(
        DATA,
        YES,
        by="code",
        keys=["a0", "a1"],
        levels={"letter": 1},
        epsilon=9,
        weights={"yes in all": 2, "yes": 4, "count": 1},
        interval=interval,
        covers=covers,
        rng=1,
    )


def noise_of_estimates(tree, facts):
    """For the first group and for all, the probabilities of the errors of an estimate, with the
    noises that make it.
    """
    estimator = GroupEstimator(tree, relative_variances(facts))
    laws = []
    for one in facts:
        if one is not None:
            noise = Geometric(one.row_epsilon)
            laws.append({x: noise.probability(0, x) for x in range(-2, 3)})
    found = {0: {}, 2: {}}
    for first, second, total in itertools.product(laws[0], laws[0], laws[1]):
        chance = laws[0][first] * laws[0][second] * laws[1][total]
        estimates = estimator.estimates([[first, second], None, [total]])
        for level in found:
            error = estimates[level][0]
            before, _ = found[level].get(error, (0.0, None))
            found[level][error] = before + chance, (first, second, total)
    return found


@pytest.mark.parametrize("interval", [0.8, 0.95])
def test_every_small_table_is_covered(interval):
    """The share of a group and that of both groups, over all likely noise of three draws of both
    counts: intervals hold, and are not much too wide.
    """
    table = drawn_table(interval)
    facts = [table.releases["yes"].facts, None, table.releases["yes in all"].facts]
    tree = tree_of(table._levels())
    laws, misses = noise_of_estimates(tree, facts), []
    for inside, outside in [((3, 1), (4, 0)), ((0, 0), (0, 3))]:
        exact = {0: (inside[0], outside[0]), 2: (sum(inside), sum(outside))}
        for level, law in laws.items():
            truth, covered = Fraction(exact[level][0], sum(exact[level]) or 1), 0.0
            for (p, a), (q, b) in itertools.product(law.values(), repeat=2):
                if p * q < 1e-5:
                    continue  # a miss
                groups = [(inside[i] + a[i], outside[i] + b[i]) for i in range(2)]
                everyone = (sum(inside) + a[2], sum(outside) + b[2])
                rows = rows_of_levels(tree, facts, [groups, None, [everyone]])
                value, low, high = rows[0 if level == 0 else -1]
                assert 0 <= low <= value <= high <= 1
                covered += p * q * (low <= truth <= high)
            assert covered >= interval
            misses.append(1 - covered)
    assert max(misses) > (1 - interval) / 8


# Tables.


@pytest.mark.parametrize("covers", ["data", "population"])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kind", ["listed", "found"])
def test_intervals_of_estimated_shares_hold(kind, own, covers):
    """Each interval misses in about 5 % of 300 tables, whether keys are listed or found. Those of
    groups without rows cover every share, for example a half.
    """
    misses, tables = {}, {"data": 100 + 200 * own, "population": 20}[covers]
    plan = duffdp.TablePlan(YES, **asked(kind, own), covers=covers)
    for seed in range(tables):
        made = plan.run(DATA, rng=seed)
        columns, keys = made.wide(), made.row_keys()
        exact = exact_shares({code for _, code in keys})
        for key, low, high in zip(keys, columns["yes_low"], columns["yes_high"], strict=True):
            missed, seen = misses.get(key, (0, 0))
            misses[key] = missed + (not low <= exact.get(key, 0.5) <= high), seen + 1
    assert len(misses) >= 7
    for missed, seen in misses.values():
        assert missed <= binom.isf(1e-10, seen, 0.05)
    if covers == "data":
        assert sum(missed for missed, _ in misses.values()) > 0.01 * tables * len(misses)


@pytest.mark.parametrize("interval", [None, 0.9])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kind", ["listed", "found"])
def test_shares_of_parts_enclose_that_of_the_whole(kind, own, interval):
    plan = duffdp.TablePlan(YES, **asked(kind, own, interval=interval, epsilon=1.0))
    for seed in range(40):
        made = plan.run(DATA, rng=seed)
        shares = dict(zip(made.row_keys(), made.wide()["yes"], strict=True))
        leaves = {key: share for key, share in shares.items() if None not in key}
        groups = {key[0]: share for key, share in shares.items() if key[1] is None and key[0]}
        assert min(groups.values()) <= shares[None, None] <= max(groups.values())
        for group, share in groups.items():
            parts = [part for (name, _), part in leaves.items() if name == group]
            assert min(parts) <= share <= max(parts)


def test_without_draws_of_larger_groups_the_smallest_stay_as_they_were_drawn():
    """Their intervals are those of a share by itself; a larger group adds up its counts."""
    made = duffdp.table(DATA, YES, **asked("listed", own=False), rng=3)
    release = made.releases["yes"]
    columns, names = made.wide(), ("yes", "yes_low", "yes_high")
    assert "yes in all" not in made.releases
    assert release.loss.epsilon == made.measures[1].release.loss.epsilon
    for i, (numbers, cells) in enumerate(zip(release.noisy, release.cells, strict=True)):
        if min(numbers) >= 0:
            assert tuple(columns[name][i] for name in names) == pytest.approx(cells)
    totals = np.array(release.noisy).clip(0).sum(axis=0)
    assert columns["yes"][-1] == pytest.approx(totals[0] / totals.sum(), abs=0.05)


def test_shares_err_less_than_separate_draws():
    """Beside three draws that split epsilon, as statistics that do not add up have them."""
    share = {"values": ["yes"], "column": "won", "rng": 0}
    asked_levels = asked("listed", own=False, interval=None, epsilon=2.0, weights={"yes": 99})
    plan = duffdp.TablePlan(YES, **asked_levels)
    exact, errors = exact_shares(), {"together": [], "separate": []}
    wanted = [("a", "a0"), ("a", None), (None, None)]
    for seed in range(200):
        made = plan.run(DATA, rng=seed)
        shares = dict(zip(made.row_keys(), made.wide()["yes"], strict=True))
        errors["together"].append([abs(shares[key] - exact[key]) for key in wanted])
        each = {**share, "epsilon": 2.0 / 3, "rng": seed}
        parts = [DATA.filter(pl.col("code") == "a0"), DATA.filter(pl.col("code") < "b"), DATA]
        separate = [duffdp.share(part, **each).value for part in parts]
        errors["separate"].append(
            [abs(value - exact[key]) for value, key in zip(separate, wanted, strict=True)]
        )
    together, separate = (np.mean(errors[name], axis=0) for name in ("together", "separate"))
    assert (together[:2] < 0.75 * separate[:2]).all()
    assert together[2] < separate[2]


@pytest.mark.parametrize("levels", [None, {"letter": 1}])
def test_the_share_of_all_rows_costs_nothing(levels):
    """With a total and with crossing margins, too."""
    total = {"total": True} if levels is None else {"levels": levels}
    plan = duffdp.TablePlan(YES, by="code", keys=["a0", "b0"], epsilon=2, **total)
    assert [name for name, _ in plan.check().releases.items()] == ["count", "yes"]
    two = DATA.with_columns(half=pl.col("p") % 2)
    given = {"by": ["code", "half"], "keys": {"code": ["a0", "b0"], "half": [0, 1]}}
    made = duffdp.table(two, YES, **given, total=True, epsilon=40, rng=1)
    assert list(made.releases) == ["count", "yes"]
    shares = dict(zip(made.row_keys(), made.wide()["yes"], strict=True))
    assert shares[None, None] == pytest.approx(0.25, abs=0.02)
    assert shares["a0", None] == pytest.approx(exact_shares()["a", "a0"], abs=0.02)
    first, second = (made.compare("yes", key, (None, None)) for key in [("a0", None), ("b0", None)])
    assert first.low <= first.difference <= first.high
    assert second.confidence == 0.95
