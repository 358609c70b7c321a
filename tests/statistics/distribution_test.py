"""Distributions: what follows from cells and counts against brute force, cells that narrow, the
same from every engine, and bad input."""

from __future__ import annotations

import datetime as dt
import json
import math
import random
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import polars as pl
import pytest

import duffdp
from command_line import duff
from duffdp import BoundsError, Distribution, DuffError, Grid, Ledger
from duffdp._engines.requests import BinCounts
from duffdp._pipeline.distribution import TABLE_QUANTILES
from duffdp.statistics.distribution import (
    LAST_SHARE,
    MAX_COUNTED_CANDIDATES,
    MAX_FINAL_CELLS,
    STAGES,
    CountsBetween,
    cells_of,
)
from duffdp.statistics.statistic import Scope
from engines import open_engine
from inquiries import ask, groups_of, plan_of
from release_draws import recorded

GRID = Grid(0, 29, 1)
WHERE = {"epsilon": 1.0, "bounds": (0.0, 1000.0)}


def any_distribution(seed):
    """Cells of any width, and counts that noise may have taken below 0."""
    rng = random.Random(seed)
    inner = sorted(rng.sample(range(29), rng.randrange(0, 12)))
    ends = [*inner, 29]
    most = rng.choice([0, 3, 60])
    counts = [rng.randint(-4, most) for _ in ends]
    return Distribution(GRID, ends, counts, Fraction(1), Fraction("0.9"))


def masses(found):
    """The share of every candidate: evenly within a cell, between shares that rise."""
    sums = np.cumsum(found.counts)
    if sums[-1] <= 0:
        return [Fraction(1, 30)] * 30
    within = [min(max(int(each), 0), int(sums[-1])) for each in sums]
    ups = [max(within[: i + 1]) for i in range(len(within))]
    downs = [min(within[i:]) for i in range(len(within))]
    shares = [Fraction(a + b, 2 * within[-1]) for a, b in zip(ups, downs, strict=True)]
    each, first, before = [], 0, Fraction(0)
    for end, share in zip(found.ends, shares, strict=True):
        each += [(share - before) / (end - first + 1)] * (end - first + 1)
        first, before = end + 1, share
    return each


@pytest.mark.parametrize("seed", range(60))
def test_shares_and_quantiles_by_brute_force(seed):
    found = any_distribution(seed)
    mass = masses(found)
    shares = [sum(mass[: i + 1], Fraction(0)) for i in range(30)]
    assert [found.cdf(i) for i in range(30)] == [float(share) for share in shares]
    assert found.cdf(-1) == 0
    assert found.cdf(31) == found.cdf(29) == 1
    assert found.cdf(7.5) == found.cdf(7)
    for q in (Fraction(0), *TABLE_QUANTILES, Fraction(1, 3), Fraction(1)):
        least = next(i for i, share in enumerate(shares) if share >= q and share > 0)
        assert found.quantile(q) == least
    assert found.median == found.quantile(0.5)
    assert found.iqr == found.quantile(0.75) - found.quantile(0.25)


@pytest.mark.parametrize("seed", range(30))
def test_a_quantile_is_the_inverse_of_the_shares(seed):
    found = any_distribution(seed)
    for x in range(30):
        share = found._share(x)
        assert share == 0 or found.domain.index(found.quantile(share)) <= x
    for q in TABLE_QUANTILES:
        place = found.quantile(q)
        assert found._share(place) >= q
        assert place == 0 or found._share(place - 1) < q


@pytest.mark.parametrize("seed", range(30))
def test_histograms_and_means_by_brute_force(seed):
    found = any_distribution(seed)
    mass = masses(found)
    bins = found.histogram([0, 5, 6, 17, 29])
    parts = [sum(mass[a:b]) for a, b in ((0, 5), (5, 6), (6, 17), (17, 30))]
    assert list(bins.values()) == pytest.approx([float(p * found.count) for p in parts])
    assert sum(found.histogram([-math.inf, 3.5, math.inf]).values()) == pytest.approx(found.count)
    assert list(bins) == ["[0, 5)", "[5, 6)", "[6, 17)", "[17, 29]"]
    mean = sum(i * p for i, p in enumerate(mass))
    assert found.mean == pytest.approx(float(mean))
    low, high = found.mean_bounds
    assert low <= found.mean <= high


@pytest.mark.parametrize("seed", range(20))
def test_the_mean_of_any_records_with_these_shares_lies_within_its_bounds(seed):
    found, rng = any_distribution(seed), random.Random(seed)
    low, high = found.mean_bounds
    shares = [found.cdf(end) for end in found.ends]
    firsts = [0, *(end + 1 for end in found.ends[:-1])]
    steps = np.diff([0, *shares])
    cells = list(zip(firsts, found.ends, steps, strict=True))
    for _ in range(20):
        mean = sum(step * rng.randint(first, end) for first, end, step in cells)
        assert low - 1e-9 <= mean <= high + 1e-9
    assert sum(step * first for first, _, step in cells) == pytest.approx(low)
    assert sum(step * end for _, end, step in cells) == pytest.approx(high)


@pytest.mark.parametrize("seed", range(40))
def test_what_rises_errs_by_no_more_than_the_noisy_sums(seed):
    """The middle of what rises above and below errs by at most the largest error of a sum."""
    rng = np.random.default_rng(seed)
    exact = rng.integers(0, 5, 12)
    noisy = exact + rng.integers(-6, 7, 12)
    grid = Grid(0, 11, 1)
    found = Distribution(grid, range(12), noisy.tolist(), Fraction(1), Fraction("0.9"))
    total = int(noisy.sum())
    if total <= 0:
        return
    sums = np.minimum(np.cumsum(exact), total)
    raw = np.abs(np.clip(np.cumsum(noisy), 0, total) - sums).max()
    assert np.abs(np.array([found.cdf(i) for i in range(12)]) * total - sums).max() <= raw + 1e-9


@pytest.mark.parametrize("covers", ["data", "population"])
@pytest.mark.parametrize("seed", range(20))
def test_bands_rise_and_hold_the_shares(seed, covers):
    found = any_distribution(seed)
    bands = [found.band(x, covers) for x in range(30)]
    for (low, high), x in zip(bands, range(30), strict=True):
        assert 0 <= low <= found.cdf(x) <= high <= 1
    lows, highs = zip(*bands, strict=True)
    assert list(lows) == sorted(lows)
    assert list(highs) == sorted(highs)
    assert found.band(-1, covers) == (0, 0)
    assert found.band(29, covers) == (1, 1) == found.band(1000, covers)
    for q in (0, *TABLE_QUANTILES, 1):
        low, high = found.quantile_interval(q, covers)
        assert low <= found.quantile(q) <= high
        # A share of q can be reached from `low` on, and is reached at `high` for certain.
        assert low == 0 or found.band(low - 1, covers)[1] <= float(q)
        assert found.band(high, covers)[0] >= float(q)


def test_the_band_holds_wherever_in_a_cell_the_records_are():
    found = Distribution(GRID, [9, 29], [5000, 5000], Fraction(1), Fraction("0.9"))
    low, high = found.band(4)
    assert low == 0
    assert high == found.band(9)[1]
    assert 0.49 < found.band(9)[0] < found.band(9)[1] < 0.51
    assert found.band(10) == (found.band(9)[0], 1)


# Cells that narrow.


def counts_of_stage(place, numbers, size, epsilon=Fraction(1)):
    """What the program asks a group for at a stage, after the numbers of those before."""
    grid = Grid(0, size - 1, 1)
    program = plan_of("distribution", epsilon=epsilon, domain=grid).program.start(
        Scope(grid), epsilon
    )
    (draw,) = next(program)
    for stage in range(place):
        begin = sum(each.cells for each in STAGES[:stage])
        own = numbers[begin : begin + STAGES[stage].cells]
        (draw,) = program.send([[[number] for number in own]])
    return draw.statistic_of(0)


def numbers_without_noise(data, size, epsilon):
    """The numbers of all stages if there were no noise."""
    numbers: list[int] = []
    for place, stage in enumerate(STAGES):
        cells = counts_of_stage(place, numbers, size, epsilon)
        found = list(cells.of_records(np.array(data), Grid(0, size - 1, 1)))
        numbers += found + [-1] * (stage.cells - len(found))
    return numbers


@pytest.mark.parametrize("size", [514, 10**6, 2**40])
@pytest.mark.parametrize("seed", range(5))
def test_cells_lie_side_by_side_whatever_the_noise(size, seed):
    rng = random.Random(seed)
    numbers = [rng.choice([-1000, -1, 0, 3, 10**6]) for _ in range(64 + 256 + 256)]
    for starts, most in zip(
        cells_of(numbers, Fraction(1), size), (64, 256, 256, MAX_FINAL_CELLS), strict=True
    ):
        assert starts[0] == 0
        assert list(starts) == sorted(set(starts))
        assert starts[-1] < size
        assert len(starts) <= most
        assert most == 64 or {1, size - 1} <= set(starts)  # bounds are cells of their own


def test_cells_narrow_where_records_are():
    """All records at one of 2**40 candidates: its cell becomes 2**21 times as narrow and more."""
    size, place = 2**40, 123_456_789_012
    numbers = numbers_without_noise([place] * 5000, size, Fraction(1))
    widths = []
    for starts in cells_of(numbers, Fraction(1), size):
        after = [*starts, size]
        cell = np.searchsorted(starts, place, side="right") - 1
        assert after[cell] <= place < after[cell + 1]
        widths.append(after[cell + 1] - after[cell])
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] <= 2**40 / 2**27


def test_the_more_records_the_more_cells():
    found = [
        len(list(cells_of([n // 64] * 576, Fraction(1), 2**40))[-1]) for n in (0, 6400, 6400000)
    ]
    assert found[:2] == [64, 185]
    assert (
        MAX_FINAL_CELLS - 10 < found[2] <= MAX_FINAL_CELLS
    )  # a cell with one candidate is not divided


@pytest.mark.parametrize("seed", range(10))
def test_one_record_moves_one_count_of_each_stage_by_one(seed):
    """Whatever the numbers of earlier stages were."""
    rng = random.Random(seed)
    size = rng.choice([514, 5000, 2**40])
    data = [rng.randrange(size) for _ in range(30)]
    numbers = [rng.choice([-3, 0, 1, 100]) for _ in range(64 + 256 + 256)]
    grid, more = Grid(0, size - 1, 1), rng.randrange(size)
    for place, starts in enumerate(cells_of(numbers, Fraction(1), size)):
        cells = counts_of_stage(place, numbers, size)
        assert cells == CountsBetween(starts)
        here, there = (cells.of_records(np.array(each), grid) for each in (data, [*data, more]))
        assert sorted(b - a for a, b in zip(here, there, strict=True))[-2:] == [0, 1]
        assert sum(there) == 31  # none is lost, none counts twice
        assert cells.sensitivity(grid) == 1
    assert sum(stage.share for stage in STAGES) + LAST_SHARE == 1


@pytest.mark.parametrize(
    ("largest", "shares"), [(63, [1 / 8, 7 / 8]), (64, [1 / 8, 1 / 16, 1 / 16, 3 / 4])]
)
def test_first_cells_without_a_count_that_stands_out_are_counted_again(largest, shares):
    """With the epsilon of the stages that are left out: 64 is 8 times the scale of the noise."""
    grid, epsilon = Grid(0, 9999, 1), Fraction(1)
    plan = plan_of("distribution", epsilon=epsilon, domain=grid)
    program = plan.program.start(Scope(grid), epsilon)
    (draw,) = next(program)
    numbers, paid = [0] * 63 + [largest], [draw.epsilon_of(0)]
    sent = numbers
    while True:
        try:
            (draw,) = program.send([[[number] for number in sent]])
        except StopIteration:
            break
        sent = [-1] * draw.width
        if draw.statistic_of(0) is not None:
            paid.append(draw.epsilon_of(0))
            last = draw.statistic_of(0)
    assert [float(cost) for cost in paid] == shares
    assert sum(paid) == epsilon
    if len(shares) == 2:
        assert last == CountsBetween(next(cells_of(numbers, epsilon, 10_000)))


def test_a_distribution_of_few_records_pays_all_of_epsilon():
    with recorded() as draws:
        found = duffdp.distribution([3, 4], epsilon=2.0, bounds=(0, 9999), step=1)
    assert [draw.epsilon for draw in draws] == pytest.approx([0.25, 1.75])
    assert found.value.noise_epsilon == Fraction(7, 4)
    assert len(found.value.ends) == 64


def test_groups_of_few_and_of_many_records():
    """Each takes its own branch, and pays its epsilon."""
    frame = pl.DataFrame({"x": [1.0] * 5000 + [2.0] * 3, "g": ["a"] * 5000 + ["b"] * 3})
    given = {"epsilon": 1.0, "bounds": (0.0, 1e6), "column": "x", "rng": 1}
    found = duffdp.distribution(frame, by="g", keys=["a", "b"], **given)
    assert [each.noise_epsilon for each in found.value.values()] == [LAST_SHARE, Fraction(7, 8)]


# Engines.

ROWS = {
    "x": [0.5, 3.25, 3.25, 900.0, 1e9, -5.0, None, math.nan, 47.0, 47.5] * 3,
    "g": list("aabbaabbab") * 3,
    "p": list(range(10)) * 3,
}


@pytest.mark.parametrize("where", [{}, {"by": "g", "keys": ["b", "z", "a"]}], ids=["all", "groups"])
@pytest.mark.parametrize("bounds", [(0, 1000), Grid(0, 50, 1)], ids=["fine", "few"])
def test_every_engine_gives_the_same_distribution(bounds, where):
    frame = pl.DataFrame(ROWS)
    given = {"epsilon": 1.0, "bounds": bounds, "column": "x", "rng": 3, **where}
    relation = duckdb.from_arrow(frame.to_arrow())
    one, *others = (
        duffdp.distribution(data, **given)
        for data in (frame, frame.lazy(), frame.to_pandas(), relation)
    )
    for other in others:
        assert other.value == one.value
    if where:
        assert list(one.value) == ["b", "z", "a"]


def test_counts_between_candidates_in_lazy_tables():
    frame, starts = pl.DataFrame(ROWS), (0, 4, 5, 48)
    for together in (True, False):
        engine = open_engine(frame.lazy(), Grid(0, 1000, 1), "x", by="g", keys=["a", "b"])
        all_counts = ask(engine, BinCounts(starts))
        for key, group, counts in zip("ab", groups_of(engine), all_counts, strict=True):
            rows = [x for x, g in zip(ROWS["x"], ROWS["g"], strict=True) if g == key]
            places = [min(max(round(x), 0), 1000) for x in rows if x is not None and x == x]
            brute = [sum(np.searchsorted(starts, places, side="right") == i + 1) for i in range(4)]
            assert (counts.tolist() if together else group.bin_counts(starts)) == brute


# Through the verb.


def test_few_candidates_are_counted_one_by_one():
    for size, parts in ((MAX_COUNTED_CANDIDATES, 1), (MAX_COUNTED_CANDIDATES + 1, 4)):
        given = {"epsilon": 1.0, "bounds": (0, size - 1), "step": 1}
        found = duffdp.distribution([3] * 5000, **given, rng=1)
        assert sum(part.draws for part in found.mechanism.parts) == parts
        assert (len(found.value.ends) == size) == (parts == 1)
        assert found.value.noise_epsilon == (1 if parts == 1 else LAST_SHARE)


def test_people_and_the_noise_of_their_rows():
    frame = pl.DataFrame(ROWS)
    given = {"epsilon": 1.0, "bounds": (0, 50), "step": 1, "column": "x", "unit": "p"}
    found = duffdp.distribution(frame, **given, contributions=3).value
    assert found.noise_epsilon == Fraction(1, 3)
    assert found.band(20)[0] <= found.cdf(20)
    with pytest.raises(DuffError, match="independent rows, got up to 3"):
        found.band(20, "population")
    one = duffdp.distribution(frame, **given).value
    assert one.band(20, "population")[0] <= one.cdf(20)


@pytest.mark.parametrize(
    ("data", "bounds"),
    [
        ([dt.date(2020, 1, 5)] * 40, (dt.date(2020, 1, 1), dt.date(2024, 1, 1))),
        ([dt.datetime(2020, 1, 5, 7)] * 40, (dt.datetime(2020, 1, 1), dt.datetime(2020, 2, 1))),
        ([Decimal("3.10")] * 40, (Decimal("0.00"), Decimal("9.00"))),
        ([7] * 40, (0, 10**9)),
        ([], (0.0, 1.0)),
        ([None, math.nan], (0.0, 1.0)),
    ],
    ids=["date", "datetime", "decimal", "int", "empty", "missing"],
)
def test_kinds_of_values(data, bounds):
    release = duffdp.distribution(data, epsilon=1.0, bounds=bounds)
    found = release.value
    for value in (found.median, *found.mean_bounds, found.mean, found.quantile(0.1)):
        assert bounds[0] <= value <= bounds[1]
    assert 0 <= found.cdf(bounds[0]) <= found.cdf(bounds[1]) == 1
    assert duffdp.Release.from_dict(json.loads(release.to_json())) == release
    assert abs(sum(found.histogram(bounds).values()) - found.count) < 1e-6
    assert "<table" in found._repr_html_()


def test_a_release_with_groups_comes_back_whole():
    given = {"epsilon": 1.0, "bounds": (0, 1000), "column": "x"}
    release = duffdp.distribution(pl.DataFrame(ROWS), **given, by=["g", "p"], keys=[("a", 1)])
    assert list(release.value) == [("a", 1)]
    back = duffdp.Release.from_dict(json.loads(release.to_json()))
    assert back == release
    assert back.value == release.value
    assert [label for _, label, _ in release.rows()][3] == "quantile(0.5)"
    assert len(release.rows()) == len(TABLE_QUANTILES)


def test_a_second_call_for_the_same_id_gives_the_same_distribution(tmp_path):
    book = Ledger(tmp_path / "budget.db", epsilon=1.0)
    one, two = (
        duffdp.distribution([1.0, 2.0], **WHERE, ledger=book.call("once")).value for _ in range(2)
    )
    assert one == two
    assert book.remaining() == 0


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, math.nan, "high", 0.9999, True])
def test_confidence_out_of_range(confidence):
    with pytest.raises(DuffError, match="confidence"):
        duffdp.distribution([1.0], **WHERE, confidence=confidence)


def test_bad_input_is_refused():
    with pytest.raises(BoundsError, match="step must not be larger"):
        duffdp.distribution([1.0], epsilon=1.0, bounds=(0, 1), step=2)
    with pytest.raises(DuffError, match="mechanism must be 'best'"):
        duffdp.distribution([1.0], **WHERE, mechanism="duff")
    found = duffdp.distribution([1.0], **WHERE).value
    with pytest.raises(DuffError, match="covers must be"):
        found.band(1.0, "everything")
    with pytest.raises(DuffError, match="q must be a number from 0 to 1"):
        found.quantile(50)
    with pytest.raises(BoundsError, match="kind of the bounds"):
        found.cdf("a")
    with pytest.raises(BoundsError, match="bins must have the type"):
        found.histogram([dt.date(2020, 1, 1), dt.date(2021, 1, 1)])
    with pytest.raises(DuffError, match="the same length"):
        Distribution(GRID, [3, 29], [1], Fraction(1), Fraction("0.9"))
    with pytest.raises(DuffError, match=r"no interval is available for distribution.*confidence"):
        duffdp.Plan(
            [{"statistic": "distribution", "bounds": (0, 1), "interval": 0.9}], epsilon=1
        ).check()


def test_plots_have_steps_and_a_band():
    pytest.importorskip("matplotlib").use("Agg")
    axes = duffdp.distribution(range(1000), epsilon=1.0, bounds=(0, 1000)).value.plot()
    (line,) = axes.lines
    heights = line.get_ydata()
    assert list(heights) == sorted(heights)
    assert len(axes.collections) == 1
    assert axes.get_ylim() == (0, 1)


def test_the_page_has_a_picture_and_quantiles(tmp_path):
    release = duffdp.distribution(np.arange(5000) / 5, **WHERE)
    page = duffdp.report.write(release, tmp_path / "page.html").read_text()
    assert 'class="band"' in page
    assert 'class="steps"' in page
    assert "the band contains the exact share" in page
    assert page.count("<tr>") >= len(TABLE_QUANTILES)


def test_the_command_prints_quantiles_and_all_steps_as_json(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age\n" + "\n".join(str(20 + i % 50) for i in range(3000)) + "\n")
    given = ["distribution", str(path), "--column", "age", "--bounds", "0", "120", "--epsilon", "1"]
    text = duff(*given).stdout
    assert text.splitlines()[0].split() == ["statistic", "value", "low", "high"]
    assert len(text.splitlines()) == len(TABLE_QUANTILES) + 2
    told = json.loads(duff(*given, "--format", "json", "--confidence", "0.9").stdout)
    assert len(told["value"]["cdf"]) == len(told["value"]["high"]) == 121
    assert told["value"]["confidence"] == 0.9
    refused = duff(*given, "--confidence", "95")
    assert refused.returncode == 2
    assert "--confidence must be a probability above 0" in refused.stderr


def test_values_beyond_all_candidates():
    found = duffdp.distribution([1.0, 2.0], epsilon=1.0, bounds=(0.0, 1e-3)).value
    assert (found.cdf(-1e308), found.cdf(1e308)) == (0.0, 1.0)
    assert (found.band(-1e308), found.band(1e308)) == ((0.0, 0.0), (1.0, 1.0))
    assert sum(found.histogram([-1e308, 1e308]).values()) == found.count
