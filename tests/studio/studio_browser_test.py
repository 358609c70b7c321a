"""The studio in a real browser, as people use it: planned, released, refused, reloaded, attacked,
by keyboard alone; every state is drawn, and checked for people who cannot see it.

With STUDIO_PICTURES the pictures of all states are kept in that folder.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Error

from browser import chromium, severe_faults
from duffdp import Ledger
from studio import running, with_data

pytestmark = pytest.mark.xdist_group("browser")
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
FOREIGN = "evil.example"


@pytest.fixture(scope="module")
def driver():
    with chromium(f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1") as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return with_data(tmp_path_factory.mktemp("studio"))


@pytest.fixture(scope="module")
def address(folder):
    with running(folder, "adult.parquet") as found:
        yield found


@pytest.fixture
def context(driver, address):
    """A browser of its own for every test; nothing it loads comes from elsewhere, and nothing it
    runs complains.
    """
    made = driver.new_context(viewport=WIDE, accept_downloads=True)
    made.set_default_timeout(60_000)
    host, wrong = urlsplit(address).netloc, []
    made.on("request", lambda request: wrong.append(request.url) if host not in request.url else 0)
    made.on("weberror", lambda error: wrong.append(str(error.error)))
    made.on("console", lambda told: wrong.append(told.text) if told.type == "error" else 0)
    made.wrong = wrong
    yield made
    made.close()


@pytest.fixture
def page(context, address):
    opened = context.new_page()
    planned(opened, address)
    yield opened
    assert context.wrong == []


def planned(page, address):
    page.goto(address)
    page.wait_for_selector("#outcome .headline")


def headline(page):
    return page.inner_text("#outcome .headline")


def change(page, selector, value):
    """Type into a field, and wait until what is beside it follows."""
    before = headline(page)
    page.fill(selector, value)
    page.wait_for_function(
        "before => document.querySelector('#outcome .headline')?.innerText !== before",
        arg=before,
    )


def picture(page, name):
    """The page as it is, for whoever wants to look; and no serious fault in it."""
    if folder := os.environ.get("STUDIO_PICTURES"):
        Path(folder).mkdir(exist_ok=True)
        page.screenshot(path=Path(folder, f"{name}.png"), full_page=True)
    assert severe_faults(page) == []


def use_budget(page, name):
    """A ledger of the test's own."""
    page.fill("#ledger", name)
    page.wait_for_function(
        "name => document.querySelector('#toml')?.textContent.includes(name)", arg=name
    )


def release(page):
    page.click("#release")
    page.click("#start")
    page.wait_for_selector("text=was charged to")


def test_a_newcomer_goes_from_a_file_to_a_page(page, folder, tmp_path):
    assert "token" not in page.url
    assert "Median of age" in headline(page)
    picture(page, "plan")
    use_budget(page, "newcomer.db")
    before = headline(page)
    page.select_option("#by\\.0", "sex")
    page.wait_for_selector("#keys\\.0")
    page.fill("#keys\\.0", "Female\nMale")
    page.wait_for_function("() => document.querySelector('#toml')?.textContent.includes('Female')")
    assert headline(page) == before  # groups are disjoint: they cost nothing
    page.click("#release")
    page.wait_for_selector("text=Release this table?")
    picture(page, "confirm")
    assert not (folder / "newcomer.db").exists()
    page.click("#start")
    page.wait_for_selector("text=was charged to")
    picture(page, "released")
    assert "Female" in page.inner_text("table")
    assert Ledger(folder / "newcomer.db").spent() == 1
    with page.expect_download() as download:
        page.click("text=Download the report")
    download.value.save_as(tmp_path / "page.html")
    assert "For the reviewer" in (tmp_path / "page.html").read_text()
    for name in ("CSV", "JSON"):
        with page.expect_download() as download:
            page.click(f"text={name}")
        assert download.value.suggested_filename == f"table.{name.lower()}"
    with page.context.expect_page() as shown:
        page.click("text=Open the report")
    shown.value.wait_for_selector("text=How to read it")
    shown.value.wait_for_selector("#difference")  # the picker runs under the studio's policy


def test_every_input_moves_what_comes_out(page):
    change(page, "#epsilon", "0.5")
    change(page, "#size", "2000")
    change(page, "#upper\\.0", "99")
    change(page, "#unit\\.0", "months")
    assert "months" in headline(page)
    page.locator("#slider").press("ArrowRight")
    page.wait_for_function(
        "() => document.querySelector('#toml')?.textContent.includes('epsilon = 0.7')"
    )
    assert page.input_value("#epsilon") == "0.7"
    page.check("#statistic\\.0\\.mean")
    page.wait_for_selector("text=Mean of age")
    page.check("#look-3")
    page.wait_for_function(
        "() => document.querySelector('#outcome .headline').innerText.startsWith('Mean of age')"
    )
    assert page.evaluate("document.activeElement.id") == "look-3"


def test_epsilon_is_found_from_the_accuracy_that_is_needed(page):
    page.fill("#within", "1.5")
    page.click("text=Find epsilon")
    page.wait_for_function("() => document.querySelector('#epsilon').value !== '1'")
    assert float(page.input_value("#epsilon")) < 1
    assert "within 1 years" in headline(page)
    assert page.input_value("#within") == "1.5"


def test_a_simulation_follows(page):
    page.uncheck("#statistic\\.0\\.median")
    page.check("#statistic\\.0\\.std")
    page.wait_for_selector("text=This is a rough estimate")
    assert page.locator("#outcome svg").count() >= 4


def test_more_than_the_budget_has_is_refused(page, folder):
    use_budget(page, "little.db")
    change(page, "#epsilon", "5")
    page.wait_for_selector("text=The budget is too small for this table")
    assert page.is_disabled("#release")
    picture(page, "refused")
    assert not (folder / "little.db").exists()


def test_a_mistake_is_told_beside_its_field(page, context):
    page.fill("#upper\\.0", "many")
    page.wait_for_selector("#outcome [role=alert]")
    assert page.get_attribute("#upper\\.0", "aria-invalid") == "true"
    picture(page, "mistake")
    page.fill("#upper\\.0", "120")
    page.wait_for_selector("#outcome .headline")
    assert page.get_attribute("#upper\\.0", "aria-invalid") is None


def test_reloading_in_the_middle_pays_once(page, folder):
    use_budget(page, "reload.db")
    page.click("#release")
    page.wait_for_selector("#start")
    page.reload()
    page.dblclick("#start")
    for _ in range(3):
        with suppress(Error):  # the page may be reloading itself
            page.reload()
    start, paid = page.locator("#start"), page.get_by_text("was charged to")
    start.or_(paid).wait_for()
    if start.is_visible():  # the reload came before the press had left the browser
        start.click()
    paid.wait_for()
    text = page.inner_text("table")
    page.reload()
    assert page.inner_text("table") == text
    page.go_back()
    assert Ledger(folder / "reload.db").spent() == 1


def test_a_reload_keeps_the_plan(page):
    change(page, "#epsilon", "0.2")
    page.reload()
    page.wait_for_selector("#outcome .headline")
    assert page.input_value("#epsilon") == "0.2"


def test_a_wrong_token_opens_nothing(driver, address):
    context = driver.new_context()
    page = context.new_page()
    for wrong in (address[:-4] + "0000", address.partition("?")[0]):
        answer = page.goto(wrong)
        assert answer.status == 403
        assert page.locator("form").count() == 0
    context.close()


def test_another_name_for_this_machine_opens_nothing(driver, address):
    """DNS rebinding: the browser believes that it visits somebody else."""
    context = driver.new_context()
    page = context.new_page()
    answer = page.goto(address.replace("127.0.0.1", FOREIGN))
    assert answer.status == 421
    assert page.locator("form").count() == 0
    assert context.cookies() == []
    context.close()


class Attack(BaseHTTPRequestHandler):
    """Another server of this machine, whose page sends forms to the studio."""

    def __init__(self, target, *given):
        self.target = target
        super().__init__(*given)

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        form = f'<form method="post" action="{self.target}/release"><button>x</button></form>'
        self.wfile.write(f"<!DOCTYPE html><title>x</title>{form}".encode())

    def log_message(self, *_):
        pass


def test_a_page_of_another_origin_is_refused_with_the_cookie(context, address):
    """The cookie goes with it, for ports do not make a site: the origin gives it away."""
    target = f"http://{urlsplit(address).netloc}"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Attack, target))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page = context.new_page()
        planned(page, address)
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        reading = f"() => fetch('{target}/').then(() => 'read', () => 'blocked')"
        assert page.evaluate(reading) == "blocked"
        with page.expect_response(f"{target}/release") as answer:
            page.click("button")
        assert answer.value.status == 403
        assert "cookie" in answer.value.request.all_headers()
    finally:
        server.shutdown()
        server.server_close()


def test_two_tabs_have_a_plan_each_and_one_budget(context, page, address, folder):
    other = context.new_page()
    planned(other, address)
    for tab in (page, other):
        use_budget(tab, "tabs.db")
        change(tab, "#epsilon", "2")
        tab.click("#release")
        tab.wait_for_selector("#start")
    for tab in (page, other):
        tab.click("#start")
    page.wait_for_selector("text=was charged to")
    other.wait_for_selector("text=Nothing was charged or released")
    picture(other, "not_released")
    assert Ledger(folder / "tabs.db").spent() == 2


def test_a_file_that_disappears_is_told_and_costs_nothing(page, folder):
    use_budget(page, "gone.db")
    page.click("#release")
    page.wait_for_selector("#start")
    (folder / "adult.parquet").rename(folder / "away")
    try:
        page.click("#start")
        page.wait_for_selector("text=there is no file")
        assert not (folder / "gone.db").exists()
    finally:
        (folder / "away").rename(folder / "adult.parquet")
    page.click("text=Try again")
    page.wait_for_selector("text=was charged to")


def tab_to(page, wanted):
    """Press Tab until an element has the focus."""
    for _ in range(120):
        if page.evaluate("document.activeElement.id") == wanted:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} cannot be reached by the keyboard")


def test_the_keyboard_is_enough(page, folder):
    use_budget(page, "keys.db")
    tab_to(page, "epsilon")
    page.keyboard.press("Control+A")
    page.keyboard.type("0.25")
    page.wait_for_function(
        "() => document.querySelector('#toml')?.textContent.includes('epsilon = 0.25')"
    )
    assert page.evaluate("document.activeElement.id") == "epsilon"
    tab_to(page, "release")
    page.keyboard.press("Enter")
    page.wait_for_selector("#start")
    tab_to(page, "start")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=was charged to")
    assert Ledger(folder / "keys.db").spent() == 0.25


def test_a_code_book_and_a_public_sample_are_loaded_from_files(page, tmp_path):
    (tmp_path / "codes.csv").write_text("HS-grad,High school\nMasters,Master's\n")
    page.select_option("#by\\.0", "education")
    page.set_input_files("[data-codes='keys.0']", tmp_path / "codes.csv")
    page.wait_for_function("() => document.querySelector('#toml')?.textContent.includes('Masters')")
    assert page.input_value("#keys\\.0") == "HS-grad\nMasters"
    (tmp_path / "ages.csv").write_text("age\n" + "\n".join(map(str, range(18, 80))))
    page.set_input_files("#sample\\.0", tmp_path / "ages.csv")
    page.wait_for_selector("text=the PUBLIC sample that you loaded")
    assert page.input_value("#shape\\.0") == "sample"


@pytest.mark.parametrize(
    ("name", "size", "colours", "medium"),
    [
        ("dark", WIDE, "dark", "screen"),
        ("narrow", NARROW, "light", "screen"),
        ("narrow_dark", NARROW, "dark", "screen"),
        ("print", {"width": 794, "height": 1123}, "light", "print"),
    ],
)
def test_it_reads_well_everywhere(page, name, size, colours, medium):
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=colours, media=medium)
    across = page.evaluate("document.documentElement.scrollWidth")
    assert across <= size["width"]
    if medium == "print":
        assert not page.is_visible("#release")
    picture(page, f"plan_{name}")


def test_without_scripts_a_plan_can_be_made_too(driver, address):
    context = driver.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.click("text=Open the plan")
    page.fill("#epsilon", "0.5")
    page.locator("#epsilon").press("Enter")
    assert "Median of age" in page.inner_text("#outcome .headline")
    assert page.input_value("#epsilon") == "0.5"
    context.close()
