"""The page about a table: one table for all, words where there is nothing to tell, each sentence
once.
"""

from __future__ import annotations

import hashlib
import html
import math
import re
import shutil
import subprocess

import numpy as np
import polars as pl
import pytest

import duffdp
from duffdp import DuffError, Ledger, Table
from pages import read

WARDS = ["Cardiology", "Surgery", "Geriatrics", "Paediatrics", "Palliative"]
ASKED = {"age": ["median", "mean"], "cost": "describe", "stay": [0.5, 0.9]}
GIVEN = {
    "bounds": {"age": (0, 120), "cost": (0, 20_000), "stay": (0, 60)},
    "by": "ward",
    "keys": WARDS,
    "unit": "patient",
    "contributions": 2,
}


def visits(rows=4000):
    """Visits of patients to all wards but the last, which has none."""
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "patient": rng.integers(0, rows, rows),
            "ward": [WARDS[i] for i in rng.integers(0, 4, rows)],
            "age": rng.integers(0, 99, rows),
            "cost": rng.integers(100, 9000, rows),
            "stay": rng.integers(0, 30, rows),
        }
    )


@pytest.fixture(scope="module")
def table():
    return duffdp.table(visits(), ASKED, epsilon=20, **GIVEN)


def line(page, group):
    """The line of a group in the table of a page, as text."""
    found = re.search(rf'<tr[^>]*><th scope="row">{group}</th>(.*?)</tr>', page, re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", found[1]))


def test_all_numbers_of_a_group_stand_in_one_line(table, tmp_path):
    page = duffdp.report.write(table, tmp_path / "page.html").read_text()
    assert page.count("<table") == 1
    for group, row in zip(WARDS[:4], table.display_tables()[0].rows, strict=False):
        numbers = [re.sub(r"[(),]", "", text).split()[0] for text in row[1:]]
        shown = line(page, group).replace(",", "").split()
        assert len(numbers) == 12
        for number in numbers:
            assert any(float(number) == float(one) for one in shown if one != "to")
    age = table.releases["age_median"]
    assert "{} to {}".format(*age.cells[0][1:]) in line(page, WARDS[0])


def test_a_group_that_is_too_small_has_a_word_and_no_number(table, tmp_path):
    """Its noise is neither in the table nor in a picture nor in the words for one."""
    page = duffdp.report.write(table, tmp_path / "page.html").read_text()
    assert table.too_small() == [False] * 4 + [True]
    assert line(page, "Palliative").split() == ["too", "few", "to", "tell"]
    assert f"the noisy count is below {table.smallest}" in page
    described = re.findall(r'aria-label="([^"]*Palliative[^"]*)"', page)
    assert len(described) == 5  # a picture for each release
    for words in described:
        assert re.search(r"Palliative too few to tell(, too few to tell)*$", words)
    for picture in re.findall(r"<svg.*?</svg>", page):
        assert picture.count("too few to tell</text>") == 1
        assert picture.count("<circle") in (4, 8)  # the others have a dot, or two quantiles
    markdown = duffdp.report.write(table, tmp_path / "page.md").read_text()
    assert re.search(r"^\| Palliative \| too few to tell \|[ |]*$", markdown, re.MULTILINE)


def test_the_same_in_a_list_of_releases(tmp_path):
    """Releases with the same groups stand in one table; one empty interval marks the group."""
    frame = visits()
    given = {"by": "ward", "keys": WARDS, "epsilon": 10, "bounds": (0, 120), "step": 1}
    releases = {
        "Age": duffdp.median(frame, column="age", interval=0.9, **given),
        "Stay": duffdp.mean(frame, column="stay", **given),
        "Both": duffdp.median(frame, column="stay", epsilon=1, bounds=(0, 60), step=1),
    }
    page = duffdp.report.write(releases, tmp_path / "page.html").read_text()
    assert page.count("<table") == 1
    assert line(page, "Palliative").split() == ["too", "few", "to", "tell"]
    assert "By ward" in page
    assert '<p class="answer">' in page
    other = releases | {"Other": duffdp.median(frame, column="age", **given | {"keys": ["x"]})}
    assert duffdp.report.write(other, tmp_path / "page.html").read_text().count("<table") == 2


def test_nothing_is_said_twice(table, tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=30)
    page = duffdp.report.write(table, tmp_path / "page.html", ledger).read_text()
    body = re.sub(r'<span class="about">.*?</span>', "", page.partition("<body>")[2])
    paragraphs = [
        re.sub(r"<[^>]+>", "", text)
        for _, text in re.findall(r"<(p|dd)\b[^>]*>(?!<p>)(.*?)</\1>", body)
    ]
    long = [text for text in paragraphs if len(text) > 40]
    assert len(long) > 20
    assert len(set(long)) == len(long)
    sentences = [one for text in long for one in re.split(r"(?<=[.:]) ", text) if len(one) > 40]
    assert len(set(sentences)) == len(sentences)


def test_the_sentence_to_repeat_and_the_gauge(tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=8)
    frame = visits()
    duffdp.count(frame, epsilon=1, unit="patient", ledger=ledger)
    table = duffdp.table(frame, ASKED, epsilon=2, ledger=ledger, **GIVEN)
    path = duffdp.report.write(table, tmp_path / "page.html", ledger)
    text, _ = read(path)
    assert (
        f"Seeing this report changes anyone's odds about you by a factor of at most {math.e**2:.3g}"
        in text
    )
    page = path.read_text()
    assert 'aria-label="Of epsilon = 8, 2 was spent on this report, 3 in total; 5 is left."' in page
    assert re.findall(r'<i class="(\w+)" style="width:([\d.]+)%">', page) == [
        ("other", "12.5"),
        ("this", "25"),
    ]
    for words in (
        "this report: epsilon = 2",
        "other releases: 1",
        "spent in total: 3 of 8",
        "left: 5",
    ):
        assert words in text
    assert page.index('class="lead"') < page.index("<table") < page.index("<svg")
    assert page.index("<svg") < page.index("<details") < page.index('class="gauge"')


def test_who_made_it_when_and_from_what(table, tmp_path):
    ledger, plan = Ledger(tmp_path / "budget.db", epsilon=30), tmp_path / "visits.toml"
    plan.write_text("epsilon = 20\n")
    given = {"title": "Visits", "author": "The office", "source": "visits 2025", "plan": plan}
    text, _ = read(duffdp.report.write(table, tmp_path / "page.html", ledger, **given))
    for words in (
        "Visits",
        "Author: The office",
        f"Drawn on: {table.measures[0].release.time.date()}",
        "Data: visits 2025",
        f"Made with: duffdp {duffdp.__version__}",
        f"Plan: visits.toml, SHA-256 {hashlib.sha256(plan.read_bytes()).hexdigest()}",
        f"Ledger's last hash: {ledger.verify().head}",
    ):
        assert words in text
    assert str(tmp_path) not in text
    calm, _ = read(duffdp.report.write(table, tmp_path / "page.html"))
    for words in ("Author", "Data:", "Plan:", "hash"):
        assert words not in calm
    with pytest.raises(DuffError, match="cannot be read"):
        duffdp.report.write(table, tmp_path / "other.html", plan=tmp_path / "none.toml")
    assert not (tmp_path / "other.html").exists()


@pytest.mark.parametrize("name", ["page.html", "page.md"])
def test_a_page_is_made_of_what_is_public(table, tmp_path, name):
    """What went through JSON has nothing left of the data, and gives the same page."""
    again = Table.from_dict(table.to_dict())
    first = duffdp.report.write(table, tmp_path / name).read_bytes()
    assert duffdp.report.write(again, tmp_path / name).read_bytes() == first


def test_margins(tmp_path):
    """Sums agree and are said to be sums; a release and its margins have one name."""
    given = {"by": "ward", "keys": WARDS[:2], "bounds": {"age": (0, 120)}, "total": True}
    table = duffdp.table(visits(), {"age": "median"}, epsilon=20, **given)
    path = duffdp.report.write(table, tmp_path / "page.html")
    text, _ = read(path)
    assert "counts and sums are added up from the groups" in text
    assert f"{sum(table.wide()['count'][:2]):,}" in line(path.read_text(), "all")
    assert "in all: " not in text
    assert re.search(r"cost epsilon = 20 [^:]*: count 2\.222, age_median 17\.78\.", text)


def test_a_table_without_groups_and_one_that_is_too_wide(tmp_path):
    table = duffdp.table(visits(), {"age": "median"}, epsilon=9, bounds={"age": (0, 120)})
    text, _ = read(duffdp.report.write(table, tmp_path / "page.html"))
    assert re.search(r"count [\d,]+ [\d,]+ to [\d,]+ age_median ", text)
    wide = duffdp.histogram(
        visits(), column="age", bins=range(0, 101, 5), by="ward", keys=WARDS, epsilon=1
    )
    page = duffdp.report.write(wide, tmp_path / "page.html").read_text()
    assert page.count("<tr>") == 2 * (1 + len(WARDS))  # pictures, and all numbers folded
    assert page.count('<svg class="small"') == len(WARDS)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="prints with Chromium")
def test_it_prints_on_two_pages(table, tmp_path):
    ledger = Ledger(tmp_path / "budget.db", epsilon=30)
    page = duffdp.report.write(table, tmp_path / "page.html", ledger, author="The office")
    pdf = tmp_path / "page.pdf"
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer")
    subprocess.run(
        ["chromium", *options, f"--print-to-pdf={pdf}", page.as_uri()],
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf.read_bytes())) <= 2
