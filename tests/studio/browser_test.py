"""The browser of the tests runs, and its check of pages finds what is wrong."""

from __future__ import annotations

import pytest

import browser

GOOD = """<!DOCTYPE html><html lang="en"><head><title>A page</title></head><body><main>
<h1>A page</h1><label for="age">Age</label> <input id="age"></main></body></html>"""


@pytest.mark.xdist_group("browser")
def test_a_page_without_labels_is_found_out():
    with browser.chromium() as chromium:
        page = chromium.new_page()
        page.set_content(GOOD)
        assert browser.severe_faults(page) == []
        page.set_content(GOOD.replace("label", "span"))
        (fault,) = browser.severe_faults(page)
        assert fault.startswith("label at")
