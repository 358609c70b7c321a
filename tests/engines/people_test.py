"""Which rows of a person count: the cap, and the distribution of what is kept, for each person and
between people.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import duffdp
from duffdp import Categories, Grid
from duffdp._engines.people import choose_rows, with_largest_words
from duffdp._engines.requests import ColumnRequest, Quantization, RankAt
from duffdp._sampling.entropy import entropy
from engines import ENGINES, SLOW, on_engines, open_groups

FALSE_ALARM = 1e-9
LAZY = [
    "polars-lazy",
    "duckdb",
    "parquet",
    "ibis",
    "postgres",
    "dask",
    "spark",
]
PEOPLE = 10_000
NUMBERS = Grid(0, 9, 1)
WIDE_APART = [1, 1000]  # numbers of people: side by side, which is quicker, or not


def counts(data, domain, **where):
    """How many rows count at each candidate, for every group."""
    found = np.zeros((len(where.get("keys") or [0]), domain.size), dtype=np.int64)
    for row, group in zip(found, open_groups(data, domain, unit="p", **where), strict=True):
        index, count = group.value_counts()
        row[index] += count
    return found


def table(values, people, text=False, **more):
    """Rows in a random order, so that no engine can rely on it."""
    order = np.random.default_rng(7).permutation(len(values))
    ids = (
        (pa.string(), [f"person {p}" for p in np.array(people)[order]])
        if text
        else (pa.int64(), np.array(people)[order].tolist())
    )
    columns = {"x": (pa.int64(), np.array(values)[order].tolist()), "p": ids}
    return columns | {
        name: (pa.string(), np.array(column)[order].tolist()) for name, column in more.items()
    }


def binomial(count, n, share, alarms=1):
    assert stats.binomtest(int(count), n, share).pvalue > FALSE_ALARM / alarms


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "names"])
def test_one_of_two_rows(engine, text):
    """10,000 people with a 1 and a 9: how many keep the 1 is binomial, and over several releases it
    varies like one.
    """
    frame = ENGINES[engine](table([1] * PEOPLE + [9] * PEOPLE, [*range(PEOPLE)] * 2, text))
    releases = 2 if text and engine in SLOW else 6
    ones = np.empty(releases)
    for i in range(releases):
        (found,) = counts(frame, NUMBERS, column="x")
        assert found.sum() == PEOPLE
        assert found[1] + found[9] == PEOPLE
        binomial(found[1], PEOPLE, 0.5, releases)
        ones[i] = found[1]
    squares = ((ones - PEOPLE / 2) ** 2).sum() / (PEOPLE / 4)
    low, high = stats.chi2.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], releases)
    assert low < squares < high


def test_rows_alike_count_as_often_as_there_are(engine):
    """Three rows of 1 and one of 9: the 1 is kept with 3/4; nine rows of 9 in one group against one
    of 9 in another: 9/10.
    """
    frame = ENGINES[engine](table(([1] * 3 + [9]) * PEOPLE, np.repeat(np.arange(PEOPLE), 4)))
    binomial(counts(frame, NUMBERS, column="x")[0, 1], PEOPLE, 0.75)
    people = PEOPLE // 5
    frame = ENGINES[engine](
        table([9] * 10 * people, np.repeat(np.arange(people), 10), g=(["a"] * 9 + ["b"]) * people)
    )
    found = counts(frame, NUMBERS, column="x", by="g", keys=["b", "a"])
    assert found.sum() == people
    binomial(found[1, 9], people, 0.9)


def test_groups(engine):
    """One row in each of four groups: each group gets a quarter of the people, with the cap over
    all groups together.
    """
    frame = ENGINES[engine](
        table([5] * 4 * PEOPLE, np.repeat(np.arange(PEOPLE), 4), g=list("abcd") * PEOPLE)
    )
    found = counts(frame, NUMBERS, column="x", by="g", keys=["d", "a", "c", "b"])
    assert found.sum() == PEOPLE
    assert stats.chisquare(found[:, 5]).pvalue > FALSE_ALARM
    # Rows of groups that are not asked for take nobody's place.
    assert counts(frame, NUMBERS, column="x", by="g", keys=["d"])[0, 5] == PEOPLE


def in_groups(engine, people, rows, groups, **cap):
    """For each person and group how many rows count, of people who have so many rows in each group;
    and the groups of each person as one number.
    """
    person = np.repeat(np.arange(people), rows * groups)
    group = np.tile(np.repeat(list("abcd")[:groups], rows), people)
    frame = ENGINES[engine](table(person, person, g=group))
    found = counts(
        frame, Grid(0, people - 1, 1), column="x", by="g", keys=list("abcd")[:groups], **cap
    )
    return found.T, (found.T > 0) @ (2 ** np.arange(groups))


def test_every_set_of_groups_is_as_likely(engine):
    """Two of four groups: each of the six pairs for a sixth of the people, and with another key
    others.
    """
    people = 3000
    sets = []
    for _ in range(2):
        found, of_person = in_groups(engine, people, 1, 4, groups_per_person=2)
        assert set(found.ravel().tolist()) == {0, 1}
        assert (found.sum(axis=1) == 2).all()
        _, pairs = np.unique(of_person, return_counts=True)
        assert len(pairs) == 6
        assert stats.chisquare(pairs).pvalue > FALSE_ALARM
        sets.append(of_person)
    binomial((sets[0] == sets[1]).sum(), people, 1 / 6)
    binomial((sets[0][1:] == sets[0][:-1]).sum(), people - 1, 1 / 6)


@pytest.mark.parametrize(
    ("engine", "groups", "rows", "kept"),
    on_engines([(1, 2, 2), (2, 2, 4), (3, 5, 9), (9, 1, 3)], few=[(2, 2, 4), (9, 1, 3)]),
)
def test_rows_are_capped_in_each_group_and_groups_for_each_person(engine, groups, rows, kept):
    """Three groups with three rows in each."""
    cap = {"groups_per_person": groups, "contributions": rows}
    found, _ = in_groups(engine, 50, 3, 3, **cap)
    assert (found.sum(axis=1) == kept).all()
    assert found.max() == min(rows, 3)
    assert ((found > 0).sum(axis=1) == min(groups, 3)).all()


def test_how_many_rows_a_group_has_does_not_decide_whether_it_counts(engine):
    """Nine rows in one group and one in another: each group for half of the people."""
    people = 2000
    data = table(
        [9] * 10 * people, np.repeat(np.arange(people), 10), g=(["a"] * 9 + ["b"]) * people
    )
    where = {"column": "x", "by": "g", "keys": ["b", "a"], "groups_per_person": 1}
    found = counts(ENGINES[engine](data), NUMBERS, contributions=1, **where)
    assert found.sum() == people
    binomial(found[1, 9], people, 0.5)


def test_categories(engine):
    frame = ENGINES[engine](
        table([5] * 2 * PEOPLE, np.repeat(np.arange(PEOPLE), 2), s=["yes", "no"] * PEOPLE)
    )
    found = counts(frame, Categories(["yes", "no"]), column="s")
    assert found.sum() == PEOPLE
    binomial(found[0, 0], PEOPLE, 0.5)


def kept_first(engine_or_frame, people):
    """For each person, who has the rows 2p and 2p + 1, whether the first is kept."""
    (found,) = counts(engine_or_frame, Grid(0, 2 * people - 1, 1), column="x")
    pairs = found.reshape(people, 2)
    assert (pairs.sum(axis=1) == 1).all()
    return pairs[:, 0] == 1


def test_people_are_independent_of_each_other_and_of_other_releases(engine):
    """A key that turned the orders of many people alike would make releases agree too much or too
    little.
    """
    people, releases = 4000, 4
    frame = ENGINES[engine](table(range(2 * people), np.repeat(np.arange(people), 2)))
    kept = [kept_first(frame, people) for _ in range(releases)]
    alarms = 2 * releases + releases**2
    for i, bits in enumerate(kept):
        binomial(bits.sum(), people, 0.5, alarms)
        binomial((bits[1:] == bits[:-1]).sum(), people - 1, 0.5, alarms)
        for other in kept[:i]:
            binomial((bits == other).sum(), people, 0.5, alarms)


def test_every_set_of_rows_is_as_likely(engine):
    """Two of four rows: each of the six pairs for a sixth of the people."""
    people = 3000
    frame = ENGINES[engine](table(range(4 * people), np.repeat(np.arange(people), 4)))
    (found,) = counts(frame, Grid(0, 4 * people - 1, 1), column="x", contributions=2)
    rows = found.reshape(people, 4)
    assert (rows.sum(axis=1) == 2).all()
    _, pairs = np.unique(rows @ [1, 2, 4, 8], return_counts=True)
    assert len(pairs) == 6
    assert stats.chisquare(pairs).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("engine", "groups", "rows"),
    [
        case
        for case in on_engines([(None, 1), (None, 2), (2, 2)], few=[(None, 1), (2, 2)])
        if case[0] in LAZY
    ],
)
def test_another_persons_rows_do_not_decide(engine, groups, rows):
    """With the same key, a person who leaves takes their rows along and no other."""
    rng = np.random.default_rng(3)
    values, people = rng.integers(0, 1000, 400), rng.integers(0, 25, 400)
    group = rng.choice(list("abc"), 400)
    where = {"by": "g", "keys": list("abc"), "groups_per_person": groups} if groups else {}
    both = [
        counts(
            ENGINES[engine](table(values[keep], people[keep], g=group[keep])),
            Grid(0, 999, 1),
            column="x",
            contributions=rows,
            rng=5,
            **where,
        )
        for keep in (people >= 0, people != 7)
    ]
    change = both[0] - both[1]
    assert change.min() >= 0
    assert change.sum() == rows * (groups or 1)
    assert (change.sum(axis=1) > 0).sum() == (groups or 1)


@pytest.mark.parametrize(
    ("engine", "by", "rng"),
    on_engines(product([None, "g"], [None, 3]), few=[(None, None), ("g", 3)]),
)
def test_every_query_sees_the_same_rows(engine, by, rng):
    """Counts by value, ranks and sums, which are queries of their own, agree; a seed gives the same
    rows again.
    """
    rng_values = np.random.default_rng(1)
    n = 3000
    data = table(
        rng_values.integers(0, 10**6, n), rng_values.integers(0, 300, n), g=list("ab") * (n // 2)
    )
    where = {"by": "g", "keys": ["a", "b"]} if by else {}
    grid = Grid(0, 10**6, 1)
    frame = ENGINES[engine](data)
    groups = open_groups(frame, grid, "x", unit="p", contributions=3, rng=rng, **where)
    for group in groups:
        # All values last: once these are counted, an engine has no need for further queries.
        total = group.level_sums(Quantization(0, grid.size - 1)).levels
        places = [int(value) for value in data["x"][1][:5]]
        asked = [ColumnRequest(0, np.array([group.group]), RankAt(place)) for place in places]
        ranks = [answer[0] for answer in group.engine.answer(asked)]
        index, count = group.value_counts()
        assert total == int((index * count).sum())
        assert ranks == [(count[index < i].sum(), count[index == i].sum()) for i in places]
    if rng is not None:
        again = open_groups(frame, grid, "x", unit="p", contributions=3, rng=rng, **where)
        for here, there in zip(groups, again, strict=True):
            assert [a.tolist() for a in here.value_counts()] == [
                a.tolist() for a in there.value_counts()
            ]


@pytest.mark.parametrize(
    "people",
    [
        pd.DataFrame({"x": [1.0, 2, 3], "p": [float("nan"), float("nan"), 5.0]}),
        pd.DataFrame({"x": [1.0, 2, 3], "p": pd.array([None, None, 5], dtype="Int64")}),
        pd.DataFrame({"x": [1.0, 2, 3], "p": pd.to_datetime([None, None, "2020-01-01"])}),
        pd.DataFrame({"x": [1.0, 2, 3], "p": pd.Series([None, float("nan"), 5], dtype=object)}),
        pd.DataFrame({"x": [1.0, 2, 3], "p": pd.Series([pd.NA, pd.NaT, "a"], dtype=object)}),
        pd.DataFrame({"x": [1.0, 2, 3], "p": pd.Series([[1], {}, "a"], dtype=object)}),
        pd.DataFrame({"x": [1.0, 2, 3], "p": pd.Series([None, None, "a"], dtype="str")}),
        pd.DataFrame({"x": [1.0, 2, 3], "p": pd.Series([None, None, "a"], dtype="category")}),
        pl.DataFrame({"x": [1.0, 2, 3], "p": [float("nan"), None, 5.0]}),
        pl.DataFrame({"x": [1.0, 2, 3], "p": [None, None, "a"]}),
    ],
    ids=lambda frame: (
        f"{type(frame).__module__.split('.')[0]}-"
        f"{dict(zip(frame.columns, frame.dtypes, strict=True))['p']}"
    ),
)
def test_rows_without_a_person_do_not_count(people):
    assert counts(people, NUMBERS, column="x")[0].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_nan_is_nobody(engine):
    nothing = float("nan")
    data = {"x": (pa.int64(), [1, 2, 3, 4]), "p": (pa.float64(), [nothing, nothing, None, 7.0])}
    assert counts(ENGINES[engine](data), NUMBERS, column="x")[0].tolist() == [
        0,
        0,
        0,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
    ]


def test_both_zeros_are_one_person(engine):
    data = {"x": (pa.int64(), [1, 2]), "p": (pa.float64(), [0.0, -0.0])}
    assert counts(ENGINES[engine](data), NUMBERS, column="x").sum() == 1


@pytest.mark.parametrize("apart", WIDE_APART)
def test_choosing_is_quick_and_keeps_the_cap(apart):
    """A million people with four rows: a few passes or sorts, not a loop."""
    people = np.random.default_rng(1).permutation(np.repeat(np.arange(10**6), 4))
    for most in (1, 3, 4, 5):
        rows = choose_rows(people * apart, most, entropy(1))
        assert np.bincount(rows).max() == 1
        assert (np.bincount(people[rows], minlength=10**6) == min(most, 4)).all()


@pytest.mark.parametrize("apart", WIDE_APART)
@pytest.mark.parametrize(
    ("people", "size", "most"), [(30_000, 3, 1), (30_000, 4, 2), (10_000, 6, 5), (1, 5, 3)]
)
def test_every_set_of_rows_is_chosen_alike(people, size, most, apart):
    """Many people at once, and one person at a time: the law of the sets that are chosen, of a
    person beside that of the next, and of a choice beside the next.
    """
    numbers, source = np.repeat(np.arange(1, people + 1), size) * apart, entropy(1)
    sets = {chosen: at for at, chosen in enumerate(combinations(range(size), most))}
    found = []
    for _ in range(2 if people > 1 else 3000):
        rows = np.sort(choose_rows(numbers, most, source)).reshape(people, most)
        assert (rows // size == np.arange(people)[:, None]).all()
        found.extend(sets[tuple(chosen)] for chosen in (rows % size).tolist())
    law = np.bincount(found, minlength=len(sets))
    assert stats.chisquare(law).pvalue > FALSE_ALARM
    for later in {1, people}:
        pairs = np.array(found[later:]) * len(sets) + found[:-later]
        assert stats.chisquare(np.bincount(pairs, minlength=len(sets) ** 2)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("most", [1, 2])
def test_largest_words_are_exactly_fair(most):
    """All words of two people with three and two rows: without ties, each set of rows of one stands
    as often beside each set of the other.
    """
    people = np.array([1, 0, 1, 1, 0])
    sets: dict[tuple[int, ...], int] = {}
    for words in product(range(1, 5), repeat=len(people)):
        rows = with_largest_words(people, most, np.array(words, dtype=np.uint32))
        each = [sorted(w for w, p in zip(words, people, strict=True) if p == own) for own in (0, 1)]
        tied = any(len(set(own[-most - 1 :])) < len(own[-most - 1 :]) for own in each)
        assert (rows is None) == tied
        if rows is not None:
            chosen = tuple(sorted(rows.tolist()))
            sets[chosen] = sets.get(chosen, 0) + 1
    assert len(sets) == 3 * (2 if most == 1 else 1)
    assert len(set(sets.values())) == 1


@pytest.mark.parametrize("kind", [pl.Int8, pl.UInt8, pl.Int64, pl.UInt64])
def test_people_named_by_numbers_of_any_type(kind):
    """The least and the largest number of a type are two people, and each has one row."""
    ends = [kind.min(), kind.max()]
    names = pl.select(pl.concat_list(*ends, *ends)).to_series().explode().cast(kind)
    frame = pl.DataFrame({"x": [1, 1, 1, 1], "p": names})
    assert counts(frame, NUMBERS, column="x").sum() == 2
    missing = pl.DataFrame({"x": [1, 2], "p": pl.Series([None, 3], dtype=kind)})
    assert counts(missing, NUMBERS, column="x").sum() == 1


def test_the_mean_over_people_is_in_the_middle(engine):
    """What a user sees: neither 1 nor 9."""
    frame = ENGINES[engine](table([1] * 2000 + [9] * 2000, [*range(2000)] * 2))
    release = duffdp.mean(frame, column="x", epsilon=100, bounds=(0, 10), step=0.01, unit="p")
    assert 4 < release.value < 6
