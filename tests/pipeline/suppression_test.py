"""Noisy sizes beside groups, and values that are withheld where they are small."""

from __future__ import annotations

import datetime as dt
import json
import re
from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import duffdp
from command_line import duff, rows
from duffdp import Bins, Categories, DuffError, Grid, Release
from duffdp._pipeline.draw_plan import SIZE_SHARE
from duffdp.domain import Membership
from engines import ENGINES
from inquiries import plan_of
from release_draws import recorded

SURE = 1e5  # an epsilon at which the answer is as good as certain
KEYS = {"by": "g", "keys": ["few", "many", "none"]}
SIZES = {"few": 9, "many": 30, "none": 0}
VALUES = [i % 10 for i in range(39)]
GROUP = ["few"] * 9 + ["many"] * 30
PEOPLE = pl.DataFrame(
    {
        "x": VALUES,
        "g": GROUP,
        "day": [dt.date(2024, 1, 1 + x) for x in VALUES],
        "s": ["yes", "no", "no"] * 13,
    }
)
GRID = {"bounds": (0, 9), "step": 1}
CALLS = {
    "median": (duffdp.median, {"column": "x", **GRID}),
    "median-interval": (duffdp.median, {"column": "x", "interval": 0.9, **GRID}),
    "quantiles": (lambda d, **k: duffdp.quantiles(d, [0.2, 0.8], **k), {"column": "x", **GRID}),
    "mean": (duffdp.mean, {"column": "x", **GRID}),
    "mean-clipped": (duffdp.mean, {"column": "x", "mechanism": "clipped", **GRID}),
    "mean-interval": (duffdp.mean, {"column": "x", "interval": 0.9, **GRID}),
    "sum": (duffdp.sum, {"column": "x", **GRID}),
    "std": (duffdp.std, {"column": "x", **GRID}),
    "days": (duffdp.std, {"column": "day", "bounds": (dt.date(2024, 1, 1), dt.date(2024, 2, 1))}),
    "mode": (duffdp.mode, {"column": "s", "categories": ["yes", "no"]}),
    "top": (lambda d, **k: duffdp.top(d, 2, **k), {"column": "s", "categories": ["yes", "no"]}),
    "histogram": (duffdp.histogram, {"column": "x", "bins": [0, 5, 10]}),
    "share": (duffdp.share, {"column": "x", "values": [1, 2], "interval": 0.9}),
    "slope": (lambda d, **k: duffdp.slope("x", "y", data=d, **k), {"bounds": (-2.0, 2.0)}),
    "own": (
        lambda d, **k: duffdp.release(duffdp.statistics.Median(), d, **k),
        {"column": "x", **GRID},
    ),
}


def called(name, data=None, **more):
    verb, given = CALLS[name]
    frame = PEOPLE.with_columns(y=pl.col("x") * 1.0) if data is None else data
    return verb(frame, **{"epsilon": SURE, **KEYS, **given, **more})


@pytest.mark.parametrize("name", CALLS)
def test_values_of_small_groups_are_withheld_and_sizes_stand_beside(name):
    release = called(name, suppress_below=20)
    usual = called(name)
    assert release.sizes == tuple(SIZES.values())
    assert release.suppress_below == 20
    few, many, none = release.cells
    assert set(few) == set(none) == {None}
    assert None not in many
    if name != "quantiles":  # of which several are as good
        assert many == usual.cells[1]
    assert release.too_few() == [True, False, True]
    columns = release.wide()
    assert columns["count"] == [9, 30, 0]
    assert columns["too_small"] == [True, False, True]
    assert list(columns) == ["g", "count", *list(usual.wide())[1:], "too_small"]
    assert release.value.columns == list(columns)
    assert Release.from_dict(json.loads(release.to_json())) == release
    assert Release.from_dict(release.to_dict()).cells == release.cells


@pytest.mark.parametrize("name", CALLS)
def test_a_tenth_pays_for_sizes_and_the_rest_for_values(name):
    """What mechanisms receive, in order, is that of a release with nine tenths, and the sizes: at
    the end, or before what depends on other draws."""
    keys, groups = {"keys": ["few", "many"]}, 2
    with recorded() as usual:
        called(name, epsilon=Fraction(9, 10), **keys)
    with recorded() as draws:
        release = called(name, epsilon=1, suppress_below=20, **keys)
    assert Fraction(1, 10) == SIZE_SHARE
    dependent = name in ("mean-clipped", "std", "days", "median-interval")
    at = groups if dependent else len(usual)
    sizes = draws[at : at + groups]
    assert [d.epsilon for d in sizes] == pytest.approx([0.1] * groups)
    assert {d.mechanism.name for d in sizes} == {"two-sided-geometric"}
    values = draws[:at] + draws[at + groups :]
    assert [d.epsilon for d in values] == pytest.approx([d.epsilon for d in usual])
    assert release.loss.epsilon == 1 == sum(part.epsilon for part in release.loss.parts)
    assert release.mechanism.parts[-1].epsilon == Fraction(1, 10)
    assert sum(part.epsilon for part in release.mechanism.of_values) == Fraction(9, 10)


@pytest.mark.parametrize("name", ["median", "histogram", "mean", "share", "quantiles"])
def test_ends_of_intervals_know_what_is_left_of_epsilon(name):
    """What is promised follows from nine tenths: the same statistics are asked, and the same ends
    follow from the same numbers."""
    own = {
        "histogram": {"bins": (0, 5, 10)},
        "share": {"values": (1, 2)},
        "quantiles": {"qs": (0.2,)},
    }
    public = {"histogram": Bins([0, 5, 10]), "share": Membership(Categories([1, 2]))}
    domain = public.get(name, Grid(0, 9, 1))
    with_ends = name in ("median", "quantiles")
    asked = {"domain": domain, "interval": 0.9, "covers": "population" if with_ends else "data"}
    usual = plan_of(name, own.get(name), Fraction(9, 10), **asked)
    sized = plan_of(name, own.get(name), 1, **asked, suppress_below=5)
    known = [[part.statistic for part in made.program.draws] for made in (usual, sized)]
    told = [
        [(s.epsilon, s.failure_rate) for s in each if hasattr(s, "failure_rate")] for each in known
    ]
    assert told[0] == told[1]
    assert bool(told[0]) is with_ends
    many = 2 if name in public else len(usual.columns)
    numbers = [4, 3, 5, 7][:many]
    assert usual.program.post_process.values(domain, numbers) == sized.program.post_process.values(
        domain, numbers
    )


def test_the_threshold_itself_is_enough():
    for below, hidden in ((9, False), (10, True)):
        assert called("median", suppress_below=below).too_few()[0] is hidden


def test_what_counts_records_itself_needs_no_other_number():
    for epsilon in (1, SURE):
        with recorded() as draws:
            duffdp.count(PEOPLE, epsilon=epsilon, suppress_below=20, **KEYS)
        assert len(draws) == 3
    count = duffdp.count(PEOPLE, epsilon=SURE, suppress_below=20, **KEYS)
    assert count.cells == ((None,), (30,), (None,))
    assert count.sizes is None
    assert list(count.wide()) == ["g", "count", "too_small"]
    given = {"column": "x", "epsilon": SURE, "suppress_below": 20, **KEYS, **GRID}
    summary = duffdp.describe(PEOPLE, **given)
    assert summary.cells[0] == (9, *[None] * 6)
    assert None not in summary.cells[1]
    ends = duffdp.describe(PEOPLE, interval=0.9, **given)
    assert ends.cells[0][:3] == (9, 9, 9)
    assert set(ends.cells[0][3:]) == {None}
    for release in (count, summary, ends):
        assert release.too_few() == [True, False, True]
        assert Release.from_dict(release.to_dict()) == release


def test_sizes_are_of_the_rows_that_count(engine):
    """Missing values and other groups are left out, and people are capped."""
    group = ["a"] * 6 + ["b"] * 4
    data = ENGINES[engine](
        {
            "x": (pa.int64(), [1, 2, 3, 4, None, 6, 7, 8, 9, 9]),
            "g": (pa.string(), group),
            "p": (pa.int64(), [1, 1, 1, 2, 2, 3, 4, 4, 4, 4]),
        }
    )
    given = {"column": "x", "epsilon": SURE, "by": "g", "keys": ["b", "a"], "suppress_below": 5}
    release = duffdp.median(data, **given, **GRID)
    assert release.sizes == (4, 5)
    assert release.too_few() == [True, False]
    people = duffdp.histogram(data, **given, bins=[0, 5, 10], unit="p", contributions=2)
    assert people.sizes == (2, 4)


def test_the_mark_is_made_of_noisy_numbers():
    """Whether a group is withheld varies with the noise, which follows its share of epsilon."""
    marks = [
        duffdp.median(
            PEOPLE, column="x", epsilon=1, suppress_below=30, rng=seed, **KEYS, **GRID
        ).too_few()[1]
        for seed in range(300)
    ]
    # P(noise >= 0) = 1 / (1 + exp(-1/10)) = 0.525 of groups with exactly 30 records are told.
    assert 0.35 < np.mean(marks) < 0.6


def test_text_says_too_few_to_tell(tmp_path):
    release = called("median-interval", suppress_below=20)
    markdown = release.to_markdown().splitlines()
    assert markdown[0] == "| g | count | median |"
    assert markdown[2] == "| few | 9 | too few to tell |"
    assert release.to_csv().splitlines()[1] == "few,9,,,,True"
    page = duffdp.report.write(release, tmp_path / "page.md").read_text()
    assert "| few | too few to tell | |" in page.replace("  ", " ")
    assert "the noisy count is below 20" in page
    assert "withheld" in page
    html = duffdp.report.write(release, tmp_path / "page.html").read_text()
    assert "too few to tell" in html
    axes = release.plot()
    assert len(axes.lines) == 2  # one point and its interval


@pytest.mark.parametrize("name", CALLS)
def test_every_statistic_with_withheld_values_can_be_written(name, tmp_path):
    """As a page, a file, a text and a picture; a group that is too small has words in the place of
    its numbers, and no bar and no dot.
    """
    release = called(name, suppress_below=20)
    html = duffdp.report.write(release, tmp_path / "page.html").read_text()
    markdown = duffdp.report.write(release, tmp_path / "page.md").read_text()
    assert markdown.count("too few to tell") >= 2
    for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        words = re.search(r'aria-label="(.*?)"', svg)[1].partition(": ")[2].split("; ")
        assert all(
            ("too few to tell" in part) == part.startswith(("few", "none")) for part in words
        )
        shown = len([part for part in words if part.startswith("many")])
        assert len(re.findall('<rect class="value"', svg)) in (0, shown)
        assert svg.count(">too few to tell</text>") == len(words) - shown
    for text in (release.to_csv(), release.to_markdown(), release.to_latex(), release.to_html()):
        assert "few" in text
    release.to_parquet(tmp_path / "x.parquet")
    release.to_excel(tmp_path / "x.xlsx")
    json.loads(release.to_json())
    release.plot()


@pytest.mark.parametrize("name", CALLS)
def test_a_table_of_pages_with_withheld_values(name, tmp_path):
    """Beside a release without a threshold, which is not shown for these groups either."""
    releases = {"all": called(name), "some": called(name, suppress_below=20)}
    html = duffdp.report.write(releases, tmp_path / "page.html").read_text()
    for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        assert re.search(r'aria-label="[^"]*few[^;"]* too few to tell', svg)


def test_noisy_sizes_below_zero_are_zero():
    """Of noise around 0, half is below; at an epsilon of 0.001 for sizes it is far below."""
    for name in CALLS:
        drawn = [called(name, epsilon=0.01, suppress_below=1, rng=seed).sizes for seed in range(4)]
        assert min(map(min, drawn)) >= 0
    frame = PEOPLE.head(0)
    given = {"column": "x", "epsilon": 0.01, "suppress_below": 1, **KEYS, **GRID}
    sizes = [duffdp.median(frame, **given, rng=seed).sizes for seed in range(20)]
    assert {0} < {size for row in sizes for size in row}
    assert min(map(min, sizes)) == 0


@pytest.mark.parametrize("word", ["smallest", "suppress_below"])
def test_the_threshold_of_a_table_is_enough(word):
    """A group with exactly so many records is not too small; with one less it is."""
    for threshold, small in ((9, False), (10, True)):
        table = duffdp.table(PEOPLE, {"x": "median"}, **TABLE, **{word: threshold})
        assert table.wide()["count"][0] == 9
        assert table.too_small()[0] is small


def test_a_report_says_how_far_sizes_and_values_are_off(tmp_path):
    release = called("histogram", suppress_below=20, epsilon=1)
    page = duffdp.report.write(release, tmp_path / "page.md").read_text()
    noise = duffdp.mechanisms.Geometric
    assert f"a count is off by at most {noise(Fraction(9, 10)).largest_noise(1, 0.95)}" in page
    size = noise(Fraction(1, 10)).largest_noise(1, 0.95)
    assert f"the noisy size of a group is off by at most {size}" in page


def test_the_command_line(tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    command = ["median", tmp_path / "people.csv", "-c", "x", "-e", "100000", "--bounds", "0", "9"]
    command += ["--step", "1", "--by", "g", "--keys", "few,many", "--suppress-below", "20"]
    found = rows(duff(*command, "-f", "csv").stdout)
    known = {"statistic": "median", "too_small": "True", "count": "9"}
    assert found[0] == {"g": "few", "value": "", **known}
    assert (found[1]["count"], found[1]["too_small"]) == ("30", "False")
    assert found[1]["value"] in ("4", "5")
    text = duff(*command).stdout
    assert "too few to tell" in text.splitlines()[1]
    duff(*command, "--out", tmp_path / "x.parquet")
    assert pl.read_parquet(tmp_path / "x.parquet")["value"].to_list()[0] is None


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"suppress_below": 0, **KEYS}, "suppress_below must be a whole number of 1 or more"),
        ({"suppress_below": 2.5, **KEYS}, "suppress_below must be a whole number of 1 or more"),
        ({"suppress_below": True, **KEYS}, "suppress_below must be a whole number of 1 or more"),
        ({"suppress_below": 20}, "suppress_below=20 needs by"),
    ],
)
def test_what_is_no_threshold(given, rule):
    with pytest.raises(DuffError, match=rule):
        duffdp.median(PEOPLE, column="x", epsilon=1, **GRID, **given)


def test_plans_have_the_word_and_distributions_have_no_numbers():
    words = {"column": "x", "bounds": (0, 9), **KEYS, "suppress_below": 20}
    (release,) = duffdp.Plan([{"statistic": "mean", **words}], epsilon=SURE).run(PEOPLE).values()
    assert release.sizes == (9, 30, 0)
    with pytest.raises(DuffError, match="1 of the plan: suppress_below cannot be used"):
        duffdp.Plan([{"statistic": "distribution", **words}], epsilon=1)


def test_a_key_column_called_count_keeps_its_name():
    frame = PEOPLE.rename({"g": "count"})
    given = {"column": "x", "epsilon": SURE, "by": "count", "keys": ["many"], **GRID}
    release = duffdp.median(frame, suppress_below=5, **given)
    assert list(release.wide()) == ["count", "count_value", "median", "too_small"]
    assert Release.from_dict(release.to_dict()) == release


TABLE = {"epsilon": SURE, "bounds": {"x": (0, 9)}, **KEYS}


def test_tables_withhold_all_but_the_count():
    asked = {"x": ["median", "sum"]}
    usual = duffdp.table(PEOPLE, asked, **TABLE, total=True, rng=1)
    table = duffdp.table(PEOPLE, asked, **TABLE, total=True, suppress_below=20, rng=1)
    assert (table.smallest, table.suppressed) == (20, True)
    columns, complete = table.wide(), usual.wide()
    assert columns["count"] == complete["count"] == [9, 30, 0, 39]
    assert columns["too_small"] == [True, False, True, False]
    for name in ("x_median", "x_median_low", "x_sum"):
        assert columns[name][0] is columns[name][2] is None
        assert columns[name][1::2] == complete[name][1::2]
    assert columns["x_sum"][3] == complete["x_sum"][3] == sum(VALUES)
    assert table.tidy().wide()["value"].count(None) == 4
    assert "too few to tell" in table.to_markdown().splitlines()[2]
    assert duffdp.Table.from_dict(json.loads(table.to_json())) == table
    assert duffdp.Table.from_dict(table.to_dict()).wide() == columns


def test_a_table_has_one_threshold():
    with pytest.raises(DuffError, match="got smallest=5 as well"):
        duffdp.TablePlan({"x": "median"}, **TABLE, smallest=5, suppress_below=20)
    with pytest.raises(DuffError, match="suppress_below must be a whole number"):
        duffdp.TablePlan({"x": "median"}, **TABLE, suppress_below=0)
