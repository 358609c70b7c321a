"""ReleaseJobs of the studio: charged first, all or nothing, once; and what is handed on."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import pytest

import duffdp
from duffdp import Ledger, Table, TablePlan
from studio import AGES, changed, visit, with_data


@pytest.fixture
def folder(tmp_path):
    return with_data(tmp_path)


def spent(folder):
    return Ledger(folder / "budget.db").spent()


def released(visitor, fields=AGES):
    number = visitor.asked(fields)
    assert visitor.start(number).status_code == 303
    visitor.wait_for(number, "made")
    return number


def test_from_a_plan_to_a_page(folder):
    with visit(folder) as visitor:
        number = visitor.asked(changed(AGES, title="Ages", author="Office"))
        page = visitor.get(f"/release/{number}").text
        assert "Spend epsilon 1 and release" in page
        assert "created with a total budget of 3" in page
        assert not (folder / "budget.db").exists()
        assert visitor.get(f"/release/{number}/table.csv").status_code == 400
        visitor.start(number)
        asked = visitor.wait_for(number, "made")
        assert spent(folder) == 1
        page = visitor.get(f"/release/{number}").text
        assert "Epsilon 1 was charged to budget.db" in page
        assert "Female" in page
        csv = visitor.get(f"/release/{number}/table.csv")
        assert csv.headers["content-disposition"] == 'attachment; filename="table.csv"'
        header, *rows = csv.text.splitlines()
        assert header.startswith("sex,count,count_low,count_high,age_median")
        assert len(rows) == 2
        table = json.loads(visitor.get(f"/release/{number}/table.json").text)
        assert Table.from_dict(table).epsilon == 1
        assert "sign_off" in table
        html = visitor.get(f"/release/{number}/page.html")
        assert "attachment" in html.headers["content-disposition"]
        assert "<h1>Ages</h1>" in html.text
        assert "plan.toml" in html.text
        seen = visitor.get(f"/release/{number}/page.html?show")
        assert seen.text == html.text
        policy = seen.headers["content-security-policy"]
        assert policy.endswith("; sandbox allow-scripts")
        # The script of the page runs, by its hash, and no other one.
        (script,) = re.findall(r"<script>(.*?)</script>", html.text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert policy.count("script-src") == 1
        assert f"script-src 'sha256-{digest}';" in policy
        assert asked.finished == len(asked.cost.releases)


def test_the_plan_that_is_handed_on_gives_the_same_table_for_nothing(folder):
    with visit(folder) as visitor:
        number = released(visitor)
        (folder / "plan.toml").write_text(visitor.get(f"/release/{number}/plan.toml").text)
        csv = visitor.get(f"/release/{number}/table.csv").text
    assert TablePlan.from_toml(folder / "plan.toml").run().to_csv() == csv
    assert spent(folder) == 1


def test_asking_again_and_again_pays_once(folder, monkeypatch):
    from duffdp._studio.jobs import ReleaseJobs

    made, make = [], ReleaseJobs._run
    monkeypatch.setattr(ReleaseJobs, "_run", lambda *given: made.append(1) or make(*given))
    with visit(folder) as visitor:
        number = visitor.asked(AGES)
        with ThreadPoolExecutor(8) as pool:
            codes = list(pool.map(lambda _: visitor.start(number).status_code, range(8)))
        assert set(codes) == {303}
        visitor.wait_for(number, "made")
        first = visitor.get(f"/release/{number}/table.csv").text
        visitor.start(number)
        assert visitor.get(f"/release/{number}/table.csv").text == first
        assert spent(folder) == 1
        assert len(made) == 1


def test_a_reload_in_the_middle_shows_where_it_is(folder, monkeypatch):
    from duffdp._pipeline.run import PreparedRelease

    goes_on, begun, open_release = threading.Event(), threading.Event(), PreparedRelease.open

    def slow(prepared):
        begun.set()
        assert goes_on.wait(30)
        return open_release(prepared)

    monkeypatch.setattr(PreparedRelease, "open", slow)
    with visit(folder) as visitor:
        number = visitor.asked(AGES)
        visitor.start(number)
        assert begun.wait(30)
        assert spent(folder) == 1  # charged before anything is drawn
        for _ in range(2):
            page = visitor.get(f"/release/{number}").text
            assert "Releasing" in page
            assert "0 of 2 numbers are drawn" in page
            visitor.start(number)
        goes_on.set()
        visitor.wait_for(number, "made")
        assert spent(folder) == 1


def test_progress_is_told_as_it_goes(folder):
    with visit(folder) as visitor:
        number = released(visitor)
        events = visitor.get(f"/release/{number}/events")
        assert events.headers["content-type"].startswith("text/event-stream")
        told = [json.loads(line[6:]) for line in events.text.splitlines() if line]
        assert told[-1] == {"state": "made"}
        assert told[0] == {"state": "made", "finished": 2, "of": 2}


def test_what_the_budget_does_not_cover_is_refused(folder):
    Ledger(folder / "budget.db", epsilon=0.5)
    with visit(folder) as visitor:
        assert "is too small for this table" in visitor.post("/preview", AGES).text
        number = visitor.asked(AGES)
        page = visitor.get(f"/release/{number}").text
        assert "Nothing was charged" in page
        assert "Spend epsilon" not in page
        visitor.start(number)  # by hand
        asked = visitor.wait_for(number, "failed")
        assert "0.5 too much" in asked.error
        assert "Nothing was charged or released" in visitor.get(f"/release/{number}").text
        assert spent(folder) == 0


def test_two_tabs_share_one_budget(folder):
    """Each fits by itself; the second is refused, and nothing is charged for it."""
    with visit(folder) as visitor:
        first, second = (visitor.asked(changed(AGES, epsilon="2")) for _ in range(2))
        for number in (first, second):
            assert "Spend epsilon 2" in visitor.get(f"/release/{number}").text
            visitor.start(number)
        visitor.wait_for(first, "made")
        visitor.wait_for(second, "failed")
        assert spent(folder) == 2


def test_a_file_that_disappears_costs_nothing_and_can_come_back(folder):
    with visit(folder) as visitor:
        number = visitor.asked(AGES)
        (folder / "adult.parquet").rename(folder / "away")
        visitor.start(number)
        assert "There is no file" in visitor.wait_for(number, "failed").error
        assert not (folder / "budget.db").exists()
        assert "There is no file" in visitor.post("/preview", AGES).text
        (folder / "away").rename(folder / "adult.parquet")
        visitor.start(number, attempt=1)
        visitor.wait_for(number, "made")
        assert spent(folder) == 1


def test_a_page_that_cannot_be_drawn_costs_nothing(folder, monkeypatch):
    """It is drawn with made-up numbers first."""
    from duffdp.report import page

    def breaks(_):
        raise TypeError("a record: 4711")

    with visit(folder) as visitor:
        number = visitor.asked(AGES)
        with monkeypatch.context() as patched:
            patched.setattr(page, "figures", breaks)
            visitor.start(number)
            error = visitor.wait_for(number, "failed").error
        assert error == "Something unexpected went wrong (TypeError)."
        assert spent(folder) == 0
        visitor.start(number, attempt=1)
        visitor.wait_for(number, "made")
        assert spent(folder) == 1


def test_a_second_try_does_not_pay_for_what_was_drawn(folder, monkeypatch):
    """The second of two draws fails after both were charged: a retry pays for that one again."""
    from duffdp._pipeline import driver
    from duffdp._pipeline.run import PreparedRelease

    class Broken(driver.ReleaseRun):
        def run(self, groups, entropy):
            yield from driver.ReleaseRun.run(self, groups, entropy)
            raise RuntimeError("a record: 4711")

    open_release, many = PreparedRelease.open, []

    def breaks(prepared):
        many.append(1)
        opened = open_release(prepared)
        if len(many) != 2:
            return opened
        return Broken(*(getattr(opened, each.name) for each in fields(opened)))

    monkeypatch.setattr(PreparedRelease, "open", breaks)
    with visit(folder) as visitor:
        number = visitor.asked(AGES)
        visitor.start(number)
        error = visitor.wait_for(number, "failed").error
        assert error.startswith("Something unexpected went wrong (RuntimeError). Epsilon 1 was ")
        assert re.search(
            r"and stays charged; .* call id 'studio \w+' costs epsilon 0\.88\d*\.$", error
        )
        assert "stays charged" in visitor.get(f"/release/{number}").text
        assert spent(folder) == 1
        visitor.start(number)  # another tab, or the second of two clicks: it has seen no failure
        visitor.post(f"/release/{number}/start", [])
        assert visitor.get(f"/release/{number}").text.count('name="attempt" value="1"') == 1
        assert (spent(folder), len(many)) == (1, 2)
        visitor.start(number, attempt=1)
        visitor.wait_for(number, "made")
        assert spent(folder) == pytest.approx(1 + 8 / 9)
        assert len(many) == 3


def test_a_release_that_was_begun_may_have_been_charged(folder):
    with visit(folder) as visitor:
        number = visitor.asked(AGES)
        assert not visitor.studio.may_have_charged
        visitor.start(number)
        assert visitor.studio.may_have_charged


def test_what_was_paid_for_outlives_what_was_only_asked(folder, monkeypatch):
    from duffdp._studio import jobs

    monkeypatch.setattr(jobs, "MAX_JOBS", 3)
    with visit(folder) as visitor:
        paid = released(visitor)
        asked = [visitor.asked(AGES) for _ in range(4)]
        assert visitor.get(f"/release/{paid}/table.csv").status_code == 200
        found = [visitor.get(f"/release/{number}").status_code for number in asked]
        assert found == [400, 400, 200, 200]


def test_a_file_that_is_no_ledger_is_left_alone(folder):
    (folder / "notes.db").write_text("not a ledger")
    with visit(folder) as visitor:
        fields = changed(AGES, ledger="notes.db")
        assert 'role="alert"' in visitor.post("/preview", fields).text
        assert visitor.post("/release", fields).status_code == 400
    assert (folder / "notes.db").read_text() == "not a ledger"


def test_unknown_releases_and_files(folder):
    with visit(folder) as visitor:
        for path in ("/release/0123", "/release/0123/table.csv", "/release/0123/events"):
            answer = visitor.get(path)
            assert answer.status_code == 400
            assert "no such release" in answer.text
        number = released(visitor)
        assert visitor.get(f"/release/{number}/../../etc/passwd").status_code == 404
        assert visitor.get(f"/release/{number}/notes.txt").status_code == 400


def test_releases_are_the_librarys_own(folder):
    """Through the page as through Python: the same facts of the same file are charged."""
    with visit(folder) as visitor:
        released(visitor)
    given = {"bounds": {"age": (0, 120)}, "by": "sex", "keys": ["Female", "Male"]}
    own = Ledger(folder / "own.db", epsilon=3)
    data, retry = str(folder / "adult.parquet"), own.call("again")
    duffdp.table(data, {"age": "median"}, epsilon=1, **given, ledger=retry)
    left = ("number", "call", "time")
    charged, expected = (
        [{k: v for k, v in charge.items() if k not in left} for charge in ledger.charges()]
        for ledger in (Ledger(folder / "budget.db"), own)
    )
    assert charged == expected
