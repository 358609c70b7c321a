"""The page of a cross table: its height, its width, its print, its pictures and its picker."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import browser
import duffdp
from pages import read

STATES = [f"State {i}" for i in range(1, 17)]
TYPES = ["Primary", "Middle", "Upper", "Technical", "Other"]
ASKED = {
    "grade": [
        "mean",
        {"statistic": "histogram", "bins": [i / 2 for i in range(2, 14)]},
        {"statistic": "share", "between": (1, 2.5), "name": "good"},
    ],
    "age": [0.25, 0.5, 0.75],
}
GIVEN = {
    "bounds": {"grade": (1, 6), "age": (6, 20)},
    "by": ["state", "school"],
    "keys": {"state": STATES, "school": TYPES},
    "total": True,
    "names": {"count": "Pupils", "grade_mean": "Mean grade", "good": "Good"},
    "shown_in": {"good": "%"},
}


def pupils(rows=40_000):
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "state": [STATES[i] for i in rng.integers(0, 16, rows)],
            "school": [TYPES[i] for i in rng.integers(0, 5, rows)],
            "grade": rng.normal(2.5, 0.8, rows).clip(1, 6).round(1),
            "age": rng.integers(6, 20, rows),
        }
    )


@pytest.fixture(scope="module")
def table():
    return duffdp.table(pupils(), ASKED, epsilon=20, **GIVEN)


@pytest.fixture(scope="module")
def page(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    return duffdp.report.write(table, path, title="Grades", author="The office")


def test_a_cross_table_for_each_statistic(page, table):
    text, _ = read(page)
    source = page.read_text(encoding="utf-8")
    assert source.count('<table class="cross">') == 5
    assert source.count('<svg class="small"') == 2 * 17 * 6  # histograms and quartiles
    assert "Mean grade" in text
    assert "Pupils" in text
    first = table.cross("count").rounded()["Primary"][0]
    assert f"{first:,}" in text
    assert {f"s{i}" for i in range(1, 6)} <= set(re.findall(r'class="n (s\d)"', source))
    # The first screen: title, privacy, error, table. Hashes and reviewers come last.
    places = [
        source.index(mark) for mark in ("<h1>", 'class="lead"', "<table", "<details><summary>")
    ]
    assert places == sorted(places)
    assert source.index("Made with") > source.index("Before signing")


def test_reading_it_takes_at_most_ten_sentences(page):
    source = page.read_text(encoding="utf-8")
    (listed,) = re.findall(r'<ul class="read">(.*?)</ul>', source, re.DOTALL)
    sentences = re.findall(r"<li>(.*?)</li>", listed)
    assert 3 <= sum(len(re.findall(r"\.(?: |$)", one)) for one in sentences) <= 10


def test_a_step_that_nobody_chose_is_not_unanswered(table):
    answers = {answer["topic"]: answer for answer in duffdp.report.sign_off(table)}
    assert not answers["Source of step"]["open"]
    assert answers["Source of bounds"]["open"]
    chosen = duffdp.median([1], epsilon=1, bounds=(0, 9), step=1)
    answers = {answer["topic"]: answer for answer in duffdp.report.sign_off(chosen)}
    assert answers["Source of step"]["open"]


@pytest.mark.xdist_group("browser")
def test_in_a_browser(page, tmp_path):
    with browser.chromium() as chromium:
        for scheme in ("light", "dark"):
            for width in (390, 768, 1200):
                view = chromium.new_page(
                    color_scheme=scheme, viewport={"width": width, "height": 900}
                )
                view.goto(page.as_uri())
                assert browser.severe_faults(view) == []
                assert view.evaluate("document.documentElement.scrollWidth") <= width
                assert view.evaluate("document.documentElement.scrollHeight") < 9000
                view.close()
        view = chromium.new_page()
        view.goto(page.as_uri())
        view.pdf(path=tmp_path / "page.pdf", format="A4")
        pdf = (tmp_path / "page.pdf").read_bytes()
        assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) <= 4


@pytest.mark.xdist_group("browser")
def test_the_picker(page, table):
    """It shows what `compare` returns, for the groups that are chosen."""
    with browser.chromium() as chromium:
        view = chromium.new_page()
        view.goto(page.as_uri())
        view.select_option("#measure", label="Pupils")
        view.select_option("#one", label="State 3, Upper")
        view.select_option("#two", label="State 7, Other")
        found = table.compare("count", ("State 3", "Upper"), ("State 7", "Other"))
        said = view.inner_text("#difference")
        assert f"({found.low:,} to {found.high:,})" in said
        assert "95%" in said
        view.select_option("#two", label="State 3, Upper")
        assert "two different groups" in view.inner_text("#difference")
