"""The page about releases: what is on it, that nothing else is, and that a browser can read it."""

from __future__ import annotations

import datetime as dt
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import duffdp
import release_facts
from duffdp import Categories, DuffError, Grid
from duffdp.report.charts import bar_chart, figures
from duffdp.report.results import ReleasedNumber, result_tables
from engines import ENGINES
from pages import read

GIVEN = {"epsilon": 1.0, "bounds": (0, 120), "step": 1}


@pytest.fixture(params=["page.html", "page.md"])
def page(request, tmp_path):
    """Writes a page and returns its text."""

    def write(releases, *args, **named):
        path = duffdp.report.write(releases, tmp_path / request.param, *args, **named)
        return (
            read(path)[0]
            if request.param.endswith("html")
            else " ".join(path.read_text(encoding="utf-8").split())
        )

    return write


def test_what_is_on_it(page):
    release = duffdp.median(range(100), **GIVEN)
    text = page({"Age": release})
    for words in (
        "Age: median",
        "epsilon = 1.",
        "a factor of at most 2.72",
        "at most 73.1% sure",
        "With 95% probability, adding or removing at most 14 rows would make this the exact answer",
        "from 0 to 120 in steps of 1, 121 in all",
        "permute-and-flip",
        "One row of the table",
        "This report has no ledger",
    ):
        assert words in text
    assert str(release.value) in text
    assert "Not private".lower() not in text.lower()


def test_people_groups_and_modes(page):
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0], "g": ["a<b", "c|d", "a<b"], "p": [1, 1, 2]})
    groups = ["a<b", "c|d"]
    given = {"column": "x", "epsilon": 0.5, "bounds": (0, 9), "step": 0.5, "unit": "p"}
    people = {"by": "g", "keys": groups, "contributions": 2}
    mean = duffdp.mean(frame, **given, **people, mechanism="distance")
    mode = duffdp.mode(frame, column="g", epsilon=0.25, categories=groups, unit="p")
    text = page([mean, mode], title="Two & <three>")
    assert "All rows with the same value of “p” together" in text
    assert "At most 2 rows per person were used" in text
    assert "beyond those that the closest possible answer needs" in text
    assert re.search(r"removing at most \d+ (person|people) would make this", text)
    assert "This holds for each group individually" in text
    assert "the 2 possible answers: a" in text
    assert "cost epsilon = 0.75 for anyone" in text


def test_means_and_sums_with_noise(page):
    """What is known of the noise is said; a clipped mean is called biased."""
    records = [3.0, 4.0, 5.0] * 100
    given = {"epsilon": 1.0, "bounds": (0, 10)}
    text = page(duffdp.mean(records, **given))
    assert "at most about 9.931 divided by the number of records" in text
    assert "the values to which records are rounded: from 0 to 10" in text
    assert "biased towards the other records" in page(
        duffdp.mean(records, **given, mechanism="clipped")
    )
    text = page(duffdp.sum([3, 4, 5], epsilon=1.0, bounds=(0, 1000), step=1))
    assert "at most 2,996 away from the exact sum of the clamped and rounded records" in text
    assert "staircase noise" in text


def test_several_numbers(page):
    ages = {"x": list(range(100)), "g": ["a", "b"] * 50}
    given = {"column": "x", "epsilon": 1.0, "bounds": (0, 120), "step": 1}
    text = page(
        [duffdp.quantiles(range(100), [0.25, 0.5], **GIVEN), duffdp.describe(range(100), **GIVEN)]
    )
    assert "Quantiles 0.25, 0.5" in text
    assert "Summary" in text
    assert "staircase noise" in text
    assert "each group" not in text
    grouped = duffdp.describe(pl.DataFrame(ages), **given, by="g", keys=["a", "b"])
    text = page(grouped)
    assert "the list of groups" in text
    for keys, row in zip(grouped.keys, grouped.cells, strict=True):
        numbers = r"\W+".join(f"{value:.6g}".replace(".", r"\.") for value in row)
        assert re.search(rf"\b{keys[0]}\W+{numbers}\b", text)


def test_an_edge_is_no_person(page):
    """A page on a graph speaks of its edges: no person, no row, nothing picked at random."""
    star = [(0, i) for i in range(1, 30)]
    for release in (
        duffdp.triangles(star, epsilon=1.0, nodes=30),
        duffdp.stars(star, 2, epsilon=1.0, nodes=30, mechanism="duff"),
    ):
        text = page([release, release])
        assert "One edge of the graph" in text
        assert "anyone's odds about one edge of the graph" in text
        assert "for an edge that is in all of them" in text
        assert "the nodes of the graph, 30 in all" in text
        assert "A node with all of its edges is not protected" in text
        for word in ("picked", "row of the table", "about you", "anyone with", "bounds"):
            assert word not in text
    assert "2-stars" in text


def test_a_count_of_a_graph_has_no_picture(tmp_path):
    """The most triangles of any graph are no scale: the dot would always be at 0."""
    triangles = duffdp.triangles([(0, 1)], epsilon=1.0, nodes=3000)
    assert "<svg" not in duffdp.report.write(triangles, tmp_path / "page.html").read_text()
    median = duffdp.median([1], **GIVEN)
    assert "<svg" in duffdp.report.write(median, tmp_path / "page.html").read_text()


def test_large_numbers_are_written_alike(page):
    frame = pl.DataFrame({"x": [7] * 2000, "g": ["a"] * 2000})
    given = {"column": "x", "epsilon": 500, "bounds": (0, 24_000_000_000), "step": 1}
    text = page(duffdp.describe(frame, by="g", keys=["a"], **given))
    assert "2,000" in text
    assert "e+" not in text
    found, _ = result_tables(
        release_facts.grouped([24_000_000_000], domain=Grid(0, 24_000_000_000, 1))
    )
    (picture,) = figures(found[0])
    assert ">5,000,000,000<" in picture.svg
    assert ">15,000,000,000<" in picture.svg


def test_a_unit_may_have_any_name(page):
    """A column called row, edge or person is a column: all its rows together are protected."""
    for name in ("row", "edge", "person"):
        frame = pl.DataFrame({"v": [1, 2, 3], name: [1, 1, 2]})
        release = duffdp.median(frame, column="v", epsilon=1.0, bounds=(0, 9), unit=name)
        text = page(release)
        assert f"All rows with the same value of “{name}” together" in text
        assert "anyone's odds about you by a factor" in text
        assert "One row of the table" not in text


def test_a_statistic_of_ones_own_is_called_what_it_is(page):
    class Largest:
        def steps(self, values, domain):
            return duffdp.statistics.Quantile(1).steps(values, domain)

    release = duffdp.release(Largest(), range(9), epsilon=1.0, bounds=(0, 9), step=1)
    text = page(release)
    assert "Largest" in text
    assert "No error bound is known" in text


@pytest.mark.parametrize("name", ["mode", "quantile"])
def test_a_statistic_of_ones_own_cannot_pass_for_another(name):
    class Largest:
        utility = "distance"

        def steps(self, values, domain):
            return duffdp.statistics.Quantile(1).steps(values, domain)

    largest = Largest()
    largest.name = name
    with pytest.raises(DuffError, match="already the name of a statistic"):
        duffdp.release(largest, range(9), epsilon=1.0, bounds=(0, 9), step=1)


def test_it_works_offline_in_light_and_dark_and_on_paper(tmp_path):
    path = duffdp.report.write(duffdp.median([1], **GIVEN), tmp_path / "page.html")
    source = path.read_text()
    _, reader = read(path)
    assert reader.addresses == []
    for word in ("http", "@import", "url("):
        assert word not in source
    for media in ("prefers-color-scheme: dark", "@media print"):
        assert media in source


@pytest.mark.parametrize(
    "engine", [name for name in ENGINES if name not in ("spark", "dask", "ibis")]
)
def test_every_frame(engine, page):
    columns = {"i": (pa.int64(), [4, 4, 7, 7]), "g": (pa.string(), ["w", "w", "u", "u"])}
    keys = {"by": "g", "keys": ["w", "u", "none"]}
    frame = ENGINES[engine](columns)
    text = page(duffdp.median(frame, column="i", epsilon=500, bounds=(-5, 20), **keys))
    for key in ("w", "u", "none"):
        assert re.search(rf"\b{key}\b", text)


def test_dates_and_fine_grids(page):
    moments = [dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 2)]
    moment = duffdp.median(
        moments, epsilon=500, bounds=(dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1)), step=60
    )
    assert str(moment.value) in page(moment)
    day = duffdp.median(
        [dt.date(2020, 5, 5)] * 9, epsilon=500, bounds=(dt.date(2020, 1, 1), dt.date(2021, 1, 1))
    )
    assert "2020-05-05" in page(day)
    fine = duffdp.median([1234.5] * 99, epsilon=500, bounds=(0.0, 10_000.0))
    assert "1,234.5 " in page(fine)


def pictured(release):
    """The pictures of one release."""
    (table,), _ = result_tables(release)
    return figures(table)


def dots(release):
    """Where the dots of the picture are, from left to right."""
    return [float(x) for one in pictured(release) for x in re.findall(r'cx="([\d.]+)"', one.svg)]


def test_the_plot():
    """Places are in proportion to numbers on an axis with zero: what is close looks close."""
    thousand = Grid(0, 1000, 1)
    low, middle, high = dots(release_facts.grouped([0, 50, 100], domain=thousand))
    assert 0 < low < middle < high < 440
    assert middle == pytest.approx((low + high) / 2, abs=0.1)
    first, _, last = dots(release_facts.grouped([510, 511, 512], domain=thousand))
    assert last - first < 2
    assert len(dots(release_facts.grouped([5, 5, 5], domain=thousand))) == 3
    assert dots(release_facts.grouped(range(100), domain=thousand)) == []  # too many to read
    letters = Categories(["a", "b", "c"])
    one, other = dots(release_facts.grouped(["b", "c"], name="mode", domain=letters))
    assert one < other
    assert dots(release_facts.grouped([1e-9], domain=Grid(0.0, 1e-8)))
    below = dots(release_facts.grouped([-50, 0, 50], domain=Grid(-100, 100, 1)))
    assert below == sorted(below)
    assert len(set(below)) == 3


def test_an_axis_has_zero_or_says_that_it_has_none():
    zero = re.compile(r'class="axis"[^>]*>0<')
    for values, domain in (([510, 512], Grid(0, 1000, 1)), ([-7, -3], Grid(-9, 0, 1))):
        (picture,) = pictured(release_facts.grouped(values, domain=domain))
        assert zero.search(picture.svg)
        assert "zero" not in picture.caption
    for values, domain in (
        ([1950, 1960], Grid(1900, 2020, 1)),
        ([dt.date(2020, 1, 2)], Grid(dt.date(2020, 1, 1), dt.date(2021, 1, 1), 1)),
    ):
        (picture,) = pictured(release_facts.grouped(values, domain=domain))
        assert not zero.search(picture.svg)
        assert "zero" in picture.caption


def test_a_picture_has_its_numbers_in_words():
    (picture,) = pictured(release_facts.grouped([5, 9], domain=Grid(0, 10, 1)))
    assert 'role="img" aria-label="Median: 0 5; 1 9"' in picture.svg


class Ledger:
    epsilon = 5.0

    def remaining(self):
        return 3.5


def test_budget(page):
    text = page(
        [duffdp.median([1], **GIVEN), duffdp.median([1], **GIVEN | {"epsilon": 0.5})], Ledger()
    )
    numbers = re.findall(
        r"(this report|other releases|spent in total|left)[ |:]+(?:epsilon = )?([\d.]+)", text
    )
    assert dict(numbers) == {
        "this report": "1.5",
        "other releases": "0",
        "spent in total": "1.5",
        "left": "3.5",
    }
    assert "was not charged for all of this report" not in text
    assert "was not charged for all of this report" in page(
        duffdp.median([1], **GIVEN | {"epsilon": 2}), Ledger()
    )
    with pytest.raises(DuffError, match="ledger must have epsilon and remaining"):
        page(duffdp.median([1], **GIVEN), object())


def test_a_seeded_release_is_called_what_it_is(page):
    assert (
        "not private"
        in page([duffdp.median([1], **GIVEN), duffdp.median([1], rng=1, **GIVEN)]).lower()
    )


def test_a_large_epsilon_is_called_what_it_is(page):
    assert "no meaningful protection" in page(duffdp.median([1], **GIVEN | {"epsilon": 500}))


def test_another_mechanism_has_no_bound(page):
    nine = Grid(0, 9, 1)
    release = release_facts.release(
        3, delta="1/1000000", mechanism="laplace", utility=None, domain=nine
    )
    text = page(release)
    assert "No error bound is known" in text
    assert "Delta is 1e-06" in text


def test_nothing_private_is_on_it(tmp_path):
    """Two data sets that gave the same value give the same page, byte by byte."""
    pages = []
    for data in ([7] * 50, [7] * 51 + [0]):
        release = duffdp.median(data, **GIVEN | {"epsilon": 500})
        assert release.value == 7
        pages.append(duffdp.report.write(release, tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize("wrong", [None, 5, "x", [], {}, [1], {"a": 2}])
def test_bad_releases(wrong, tmp_path):
    with pytest.raises(DuffError, match="releases must be"):
        duffdp.report.write(wrong, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_bad_paths(tmp_path):
    release = duffdp.median([1], **GIVEN)
    for name in ("page.pdf", "page", "page.html.gz"):
        with pytest.raises(DuffError, match=r"must end in \.html or \.md"):
            duffdp.report.write(release, tmp_path / name)
    with pytest.raises(DuffError, match="cannot be written"):
        duffdp.report.write(release, tmp_path / "missing" / "page.html")


def test_without_jinja2():
    code = """
import sys
sys.modules["jinja2"] = None
import duffdp
try:
    duffdp.report.write(duffdp.median([1], epsilon=1, bounds=(0, 9)), "page.html")
except duffdp.DuffError as error:
    print(error)
"""
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert "pip install 'duffdp[report]'" in said


def test_templates_are_shipped():
    folder = Path(duffdp.report.__file__).parent
    assert {path.name for path in folder.glob("*.jinja")} == {"page.html.jinja", "page.md.jinja"}


COUNTED = pl.DataFrame({"x": [1.0, 5.0, 7.0, None], "g": ["a", "b", "b", "b"], "p": [1, 1, 2, 3]})


def widths(picture):
    return [float(x) for x in re.findall(r'<rect class="value"[^>]* width="([\d.]+)"', picture)]


WARDS = {"by": "g", "keys": ["a", "b", "none"], "epsilon": 1e5}
# Calls on three groups, of which the last has no records, and how many bars a group has.
BARS = {
    "share": (duffdp.share, {"values": [1, 2]}, 1),
    "share of nobody": (duffdp.share, {"values": [7]}, 1),
    "histogram": (duffdp.histogram, {"bins": [0, 2, 4]}, 2),
    "counts of values": (duffdp.histogram, {"categories": [1, 2, 3]}, 3),
}
PROMISES = {
    None: {},
    "each": {"interval": 0.9},
    "together": {"interval": 0.9, "simultaneous": True},
}


@pytest.mark.parametrize("below", [None, 3])
@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("name", BARS)
def test_bars_have_the_lines_that_their_caption_promises(name, promise, below, tmp_path):
    verb, given, many = BARS[name]
    frame = pl.DataFrame({"x": [1, 2, 3] * 20, "g": ["a", "a", "b"] * 20})
    given = {"column": "x", **given, **WARDS, **PROMISES[promise], "suppress_below": below}
    release = verb(frame, **given)
    page = duffdp.report.write(release, tmp_path / "page.html").read_text()
    ((caption, svg),) = re.findall(
        r"<figure><figcaption>(.*?)</figcaption>(<svg.*?</svg>)", page, re.DOTALL
    )
    told = many * release.too_few().count(False)
    assert release.too_few()[:2] == [False, False]
    assert svg.count('<rect class="value"') == svg.count('class="number"') == told
    assert svg.count(">too few to tell</text>") == many * len(WARDS["keys"]) - told
    assert svg.count('class="ends"') == (told if promise else 0)
    assert ("Lines are intervals" in caption) == bool(promise)
    if promise:
        assert f"Lines are intervals of 90% {promise}" in caption


def test_the_line_of_a_bar_ends_where_its_interval_does():
    numbers = [
        ReleasedNumber("20", "10 to 40", 20, (10, 40)),
        ReleasedNumber("40", "40 to 40", 40, (40, 40)),
    ]
    svg = bar_chart(["a", "b"], numbers, "t").svg
    zero = float(re.search(r'<rect class="value" x="([\d.]+)"', svg)[1])
    widths = [float(x) for x in re.findall(r'<rect class="value" .*?width="([\d.]+)"', svg)]
    lines = [
        [float(x) - zero for x in ends]
        for ends in re.findall(r'<path class="ends" d="M([\d.]+) .*?H([\d.]+)m', svg)
    ]
    assert widths[0] == pytest.approx(widths[1] / 2, abs=0.2)
    assert lines[0] == pytest.approx([widths[1] / 4, widths[1]], abs=0.2)
    assert lines[1] == pytest.approx([widths[1], widths[1]], abs=0.2)


def test_each_of_several_quantiles_has_the_line_of_its_own_interval():
    release = duffdp.quantiles(
        range(100), [0.25, 0.5, 0.75], interval=0.95, **GIVEN | {"epsilon": 1}, rng=7
    )
    ((_, svg),) = figures(*result_tables([release])[0])
    lines = re.findall(r'class="span" x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="([\d.]+)"', svg)
    heights = [float(begin) for _, begin, _, _ in lines]
    assert [float(end) for *_, end in lines] == heights
    assert heights == sorted(set(heights))
    assert len(heights) == 3
    lengths = [float(x2) - float(x1) for x1, _, x2, _ in lines]
    spans = [high - low for low, high in zip(release.low, release.high, strict=True)]
    for length, span in zip(lengths, spans, strict=True):
        assert length / sum(lengths) == pytest.approx(span / sum(spans), abs=0.01)


def test_counts_are_bars_from_zero():
    """Their lengths are in proportion, and so are those of negative numbers, on the other side."""
    release = duffdp.histogram(["a"] * 40 + ["b"] * 10, categories=["a", "b"], epsilon=400)
    (picture,) = pictured(release)
    long, short = widths(picture.svg)
    assert long == pytest.approx(4 * short, rel=1e-2)
    moved = bar_chart(
        ["a", "b"], [ReleasedNumber("30", value=30), ReleasedNumber("-10", value=-10)], "moved"
    ).svg
    right, left = widths(moved)
    assert right == pytest.approx(3 * left, rel=1e-2)
    begins = [float(x) for x in re.findall(r'<rect class="value" x="([\d.]+)"', moved)]
    assert begins[0] == pytest.approx(begins[1] + left, abs=0.2)  # zero
    assert widths(bar_chart(["a", "b"], [ReleasedNumber("0", value=0)] * 2, "none").svg) == [0, 0]
    assert pictured(duffdp.count([1], epsilon=1)) == []  # one number needs no picture
    assert pictured(duffdp.histogram([1], bins=range(60), epsilon=1)) == []


def test_what_counts_say(page):
    given = {"column": "x", "epsilon": 0.5}
    bins = duffdp.histogram(COUNTED, bins=[0, 5, 9], **given)
    text = page(bins)
    for words in (
        "Histogram",
        "Rows with a value.",
        "a count is off by at most 6; with 99% by at most 9.",
        "This holds for each number individually",
        "the bins; records outside of them are not counted: ",
        "two-sided geometric noise on every count",
    ):
        assert words in text
    assert "possible answers" not in text
    people = page(duffdp.count(COUNTED, unit="p", epsilon=0.5))
    assert "People: each counts once" in people
    assert "possible" not in people
    assert "possible" not in page(duffdp.count(COUNTED, epsilon=0.5))
    assert "Rows, whatever their content" in page(duffdp.count(COUNTED, epsilon=0.5))
    rows = page(duffdp.count(COUNTED, unit="p", contributions=3, epsilon=0.5))
    assert "Rows of people: at most 3 per person" in rows
    assert "off by at most 18" in rows
    share = page(duffdp.share(COUNTED, between=(0, 5), **given))
    assert (
        "inside and outside, from which the share is computed, are each off by at most 6" in share
    )
    assert "the range whose share was released: " in share
    listed = page(duffdp.share(COUNTED, column="g", values=["a", "b"], epsilon=1))
    assert "the values whose share was released: a, b" in listed
    words = page(duffdp.histogram(COUNTED, column="g", categories=["a"], epsilon=1))
    assert "the values that are counted, and no others: a" in words
    together = page(duffdp.histogram(COUNTED, bins=[0, 5], adds_up=True, **given))
    assert "No error bound is known" in together
    top = page(duffdp.top(COUNTED, 2, column="g", categories=["a", "b"], epsilon=1))
    assert "noise on the count of every possible answer" in top
    assert "the 2 possible answers: a, b" in top
    grouped = page(
        duffdp.share(COUNTED, between=(0, 5), by="g", keys=["a", "b"], column="x", epsilon=400)
    )
    assert re.search(r"a \|? ?1\.0000", grouped)
