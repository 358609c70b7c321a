"""The plan of the studio: what stands in the fields is what TOML and Python say, what is released,
and what the numbers beside it are of; and nothing there depends on a record.
"""

from __future__ import annotations

import re
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import duffdp
from duffdp import DuffError, TablePlan
from duffdp._studio.choices import CHOICES
from duffdp._studio.folder import Folder
from duffdp._studio.form import FieldError, StudioForm
from duffdp._studio.plan_text import as_toml, plan_text, python_text, table_plan
from duffdp._studio.previews import PreviewCache
from duffdp._studio.state import read_sample
from duffdp.report.sentences import attacker_accuracy
from studio import AGES, changed, visit, with_data

EVERYTHING = [
    *AGES,
    ("statistic.0", "mean"),
    ("statistic.0", "quantile"),
    ("quantile.q.0", "0.1, 0.9"),
    ("statistic.0", "trimmed_mean"),
    ("trimmed_mean.trim.0", "0.1"),
    ("statistic.0", "share"),
    ("share.between.0", "18, 30"),
    ("statistic.0", "histogram"),
    ("histogram.bins.0", "0, 18, 65, 120"),
    ("column.1", "education"),
    ("statistic.1", "mode"),
    ("statistic.1", "top"),
    ("top.k.1", "2"),
    ("categories.1", "HS-grad\nBachelors\nMasters"),
    ("by.1", "hours_per_week"),
    ("keys.1", "40\n50"),
    ("where", "age >= 18"),
    ("person", "occupation"),
    ("contributions", "2"),
    ("interval", "0.9"),
    ("title", 'A "title"\\'),
    ("source.bounds", "the questionnaire"),
]


@pytest.fixture
def folder(tmp_path):
    return Folder(with_data(tmp_path))


def facts(plan, source=None):
    return {name: fact.to_dict() for name, fact in plan.check(source).releases.items()}


@pytest.mark.parametrize(
    "fields", [changed(AGES, total="yes"), EVERYTHING], ids=["one", "everything"]
)
def test_toml_and_python_are_the_same_release(folder, fields, monkeypatch):
    form = StudioForm.of(fields)
    (folder.root / "plan.toml").write_text(plan_text(form, folder))
    duffdp.Ledger(folder.root / "budget.db", epsilon=3)
    written = TablePlan.from_toml(folder.root / "plan.toml")
    calls, _, _ = python_text(form, folder, folder.columns("adult.parquet")).partition(
        "table = plan.run()"
    )
    monkeypatch.chdir(folder.root)
    names: dict = {}
    exec(calls, names)
    assert (
        facts(written)
        == facts(names["plan"])
        == facts(table_plan(form, folder), folder.source("adult.parquet"))
    )
    assert sum(fact.loss.epsilon for fact in written.check().releases.values()) == 1
    assert written.plan.ledger is not None
    compile(python_text(form, folder, folder.columns("adult.parquet")), "plan.py", "exec")


def test_a_form_is_what_it_was_after_a_round(folder):
    form = StudioForm.of(EVERYTHING)
    assert StudioForm.of(form.fields()) == form


@given(
    st.dictionaries(
        st.text(min_size=1),
        st.one_of(
            st.text(),
            st.booleans(),
            st.integers(-(2**60), 2**60),
            st.dates(),
            st.floats(allow_nan=False),
            st.lists(st.text()),
            st.dictionaries(st.text(), st.one_of(st.text(), st.lists(st.floats(0, 9)))),
        ),
    )
)
@settings(deadline=None)
def test_toml_is_read_as_it_was_written(words):
    import tomllib

    assert tomllib.loads(as_toml(words)) == words


def test_every_statistic_of_one_column_can_be_ticked():
    assert set(CHOICES) == {
        *("median", "quantile", "mean", "sum", "trimmed_mean", "variance", "std", "iqr", "mode"),
        *("describe", "share", "histogram", "top"),
    }


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"source": ""}, "source", "Choose a file"),
        ({"epsilon": ""}, "epsilon", "missing"),
        ({"epsilon": "much"}, "epsilon", "must be a number"),
        ({"size": "0"}, "size", "whole number from 1"),
        ({"size": "1.5"}, "size", "whole number from 1"),
        ({"lower__0": ""}, "lower.0", "both bounds"),
        ({"upper__0": "many"}, "upper.0", "must be a number or a date"),
        ({"keys__0": " \n"}, "keys.0", "must not come from the data"),
        ({"ledger": ""}, "ledger", "budget.db"),
        ({"budget": "-1"}, "budget", "above 0"),
    ],
    ids=str,
)
def test_a_field_that_cannot_be_read_is_named(folder, changes, field, said):
    with visit(folder.root) as visitor:
        answer = visitor.post("/preview", changed(AGES, **changes)).text
        assert f'data-field="{field}"' in answer
        assert said in answer
        page = visitor.post("/plan", changed(AGES, **changes)).text
        assert page.count('aria-invalid="true"') >= (field not in ("lower.0", "size"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"epsilon": "-1"}, "“Epsilon” must be a finite number above 0"),
        ({"statistic__0": "nothing"}, "has no statistics yet"),
        ({"column__0": "agee"}, "no column &#39;agee&#39;"),
        ({"source": "gone.csv"}, "There is no file"),
        ({"where": "age >"}, "where"),
    ],
    ids=str,
)
def test_a_plan_that_cannot_be_is_explained(folder, changes, said):
    with visit(folder.root) as visitor:
        answer = visitor.post("/preview", changed(AGES, **changes))
        assert answer.status_code == 200
        assert said in answer.text
        assert 'role="alert"' in answer.text
        assert "<svg" not in answer.text


def headline(text):
    return re.search(r'class="headline"[^>]*>([^<]*)<', text)[1]


def test_numbers_move_with_every_input(folder):
    with visit(folder.root) as visitor:
        seen = [
            headline(visitor.post("/preview", changed(AGES, **{"epsilon": "0.2", **given})).text)
            for given in (
                {},
                {"epsilon": "0.7"},
                {"size": "5000"},
                {"shape__0": "uniform"},
                {"upper__0": "99"},
                {"interval": "none"},
                {"person": "occupation", "contributions": "3"},
            )
        ]
        assert len(set(seen)) == len(seen)
        assert all("years" in said for said in seen)


def test_the_error_is_that_of_the_plans_own_preview(folder):
    """The number on the page against `TablePlan.preview`, by other records of the same shape."""
    form = StudioForm.of(changed(AGES, step__0="1", shape__0="uniform", size="400", epsilon="0.5"))
    plan = table_plan(form, folder)
    columns = folder.columns("adult.parquet")
    lines = PreviewCache().preview(form, plan, columns, simulate=False).numbers
    other = duffdp.TablePlan.from_text(as_toml(form.words()), folder.root)
    wide = other.preview(group_size=400, shape="uniform").wide()
    for line, within, width, epsilon in zip(
        lines, wide["95% within"], wide["interval width"], wide["epsilon"], strict=True
    ):
        assert float(line.within.split()[0]) == pytest.approx(within, rel=0.25, abs=1)
        # Evenly spread records have no gaps, which make the intervals of others wider.
        assert float(line.width.split()[0]) == pytest.approx(width, rel=0.3)
        assert float(line.epsilon) == pytest.approx(epsilon, rel=0.01)


def test_found_epsilon_is_enough_and_little_less_is_not(folder):
    form = StudioForm.of([*AGES, ("within", "2"), ("look", "age_median/0"), ("size", "400")])
    columns, seen = folder.columns("adult.parquet"), PreviewCache()
    found = seen.find_epsilon(form, table_plan(form, folder), columns)
    share = table_plan(form, folder).check().releases["age_median"].loss.epsilon

    def error(total):
        release = next(iter(seen._forecasts.values()))
        return release.within(Fraction(total) * share, 400, 0.95)

    assert error(found) <= 2 + 1e-9 < error(found * 0.97)
    with visit(folder.root) as visitor:
        page = visitor.post("/plan", [*form.fields(), ("find", "yes")]).text
        assert f'name="epsilon" value="{found:g}"' in page
        page = visitor.post("/plan", [*changed(form.fields(), within="x"), ("find", "yes")]).text
        assert "must be a number" in page


@pytest.mark.parametrize("within", ["nan", "inf", "-1", "9" * 400])
def test_an_error_that_is_no_number_finds_no_epsilon(folder, within):
    fields = changed(AGES, within=within, look="age_median/0", find="yes")
    with visit(folder.root) as visitor:
        page = visitor.post("/plan", fields).text
    assert 'data-field="within"><p>The largest error must be a finite number of 0 or more.' in page
    assert 'name="epsilon" value="1"' in page


def test_what_is_simulated_is_told_after_the_rest(folder):
    with visit(folder.root) as visitor:
        fields = changed(AGES, statistic__0="std", size="100")
        first = visitor.post("/preview", fields).text
        assert "data-simulate" in first
        assert "simulating" in first
        then = visitor.post("/preview", [*fields, ("simulate", "yes")]).text
        assert "data-simulate" not in then
        assert "a rough estimate from 40 simulated releases" in then
        assert "<svg" in then


def test_a_public_sample_stands_for_the_records_and_is_marked(folder):
    with visit(folder.root) as visitor:
        fields = changed(AGES, shape__0="sample")
        assert "the public sample is missing" in visitor.post("/preview", fields).text
        lines = "age\n" + "\n".join(map(str, range(20, 60)))
        answer = visitor.post("/sample", [("column", "age"), ("records", lines)])
        assert answer.text == "40 public numbers loaded."
        text = visitor.post("/preview", fields).text
        assert "the PUBLIC sample that you loaded, which is not protected" in text
        assert "within" in headline(text)
        assert visitor.post("/sample", [("column", "age"), ("records", "x")]).status_code == 400


def test_samples_are_numbers_and_bounded():
    assert read_sample('"3"\nx\n1,\ninf\n2').tolist() == [1, 2, 3]
    with pytest.raises(DuffError, match="at most"):
        read_sample("1\n" * 200_001)


def test_columns_come_and_go(folder):
    with visit(folder.root) as visitor:
        page = visitor.post("/plan", [*AGES, ("add", "hours_per_week")]).text
        assert 'name="column.1" value="hours_per_week"' in page
        page = visitor.post("/plan", [*AGES, ("remove", "age")]).text
        assert 'name="column.0"' not in page
        page = visitor.post("/plan", [*changed(AGES, epsilon="0.6"), ("add", "age")]).text
        assert "already" in page
        assert 'name="epsilon" value="0.6"' in page  # nothing that was typed is lost
        first = visitor.post("/plan", [("source", "adult.parquet")]).text
        assert 'name="column.0" value="age"' in first


def test_names_of_columns_and_keys_are_text(tmp_path):
    """Markup in what a file or a user calls things does nothing on the page."""
    evil = '<img src=x onerror="alert(1)">'
    frame = duckdb.sql(f"""SELECT 1 AS "{evil.replace('"', '""')}", 2 AS age""")
    frame.write_parquet(str(tmp_path / "adult.parquet"))
    fields = changed(AGES, column__0=evil, by__0=evil, keys__0=evil, unit__0=evil, title=evil)
    with visit(tmp_path) as visitor:
        for path in ("/plan", "/preview"):
            text = visitor.post(path, fields).text
            assert "<img" not in text
            assert "&lt;img" in text


def test_nothing_on_the_plan_depends_on_a_record(tmp_path):
    """Two tables that differ in a record, in every way that a record can differ: all answers of the
    planning server are the same, byte by byte.
    """
    rows = "SELECT * FROM (VALUES (31, 'Female', 'x'), (45, 'Male', 'y')) t(age, sex, o)"
    other = f"{rows} UNION ALL SELECT 9999, 'Q', 'z'"
    answers = []
    for name, query in (("one", rows), ("two", other), ("none", f"{rows} WHERE false")):
        folder = tmp_path / name
        folder.mkdir()
        duckdb.sql(query).write_parquet(str(folder / "adult.parquet"))
        duckdb.sql(query).write_csv(str(folder / "people.csv"))
        with visit(folder) as visitor:
            seen = []
            for source in ("adult.parquet", "people.csv"):
                fields = changed(AGES, source=source)
                for path in ("/preview", "/plan", "/download/plan.toml", "/download/plan.py"):
                    answer = visitor.post(path, fields)
                    text = answer.text.replace(visitor.studio.guard.csrf, "")
                    seen.append((path, answer.status_code, text))
                number = visitor.asked(fields)
                page = visitor.get(f"/release/{number}").text
                for secret in (visitor.studio.guard.csrf, number):
                    page = page.replace(secret, "")
                seen.append(page)
            answers.append(seen)
    assert answers[0] == answers[1] == answers[2]
    assert all("9999" not in str(part) for part in answers[1])


def test_the_plan_reads_types_and_no_rows(folder, monkeypatch):
    """Rows cannot be read while it is planned: what reads them is broken."""
    from duffdp._engines.table import SourceTable

    def broken(*_):
        raise AssertionError("a row was read")

    monkeypatch.setattr(SourceTable, "engine", broken)
    with visit(folder.root) as visitor:
        for path in ("/plan", "/preview", "/download/plan.py"):
            assert visitor.post(path, EVERYTHING).status_code == 200
        visitor.asked(changed(AGES))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_icons_are_what_the_best_attacker_attains(epsilon):
    """By search over all tests of randomised response and of a two-sided geometric count."""
    import math

    best = attacker_accuracy(epsilon)
    p = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert min(p, 1 - (1 - p)) == pytest.approx(best)  # randomised response attains it
    noise = [math.exp(-epsilon * abs(k)) * math.tanh(epsilon / 2) for k in range(-400, 401)]
    for cut in range(350, 450):
        right_with = sum(noise[max(0, cut - 1) :])  # one more person: moved by one
        right_without = sum(noise[:cut])
        assert min(right_with, right_without) <= best + 1e-9


def test_a_field_error_is_an_error_of_the_library():
    assert issubclass(FieldError, DuffError)


def test_work_that_nobody_waits_for_is_given_up(folder):
    form = StudioForm.of(changed(AGES, statistic__0="std", size="100"))
    plan, columns = table_plan(form, folder), folder.columns("adult.parquet")
    asked = []

    def gone():
        asked.append(1)
        return len(asked) > 3

    with pytest.raises(DuffError, match="no longer needed"):
        PreviewCache().preview(form, plan, columns, True, is_cancelled=gone)
    assert len(asked) == 4


def test_tables_in_databases_and_json_lines(tmp_path):
    with duckdb.connect(str(tmp_path / "people.duckdb")) as base:
        base.sql("CREATE TABLE people AS SELECT 31 AS age, 'Female' AS sex")
    (tmp_path / "people.jsonl").write_text('{"age": 31, "sex": "Female"}\n')
    with visit(tmp_path) as visitor:
        for source in ("people.duckdb::people", "people.jsonl"):
            fields = changed(AGES, source=source)
            assert "Median of age" in headline(visitor.post("/preview", fields).text)
            assert 'name="column.0" value="age"' in visitor.post("/plan", fields).text
            visitor.asked(fields)
