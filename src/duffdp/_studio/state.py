"""The state of the studio between requests: forms become plans, previews and releases."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from duffdp._engines.addresses import ADDRESS
from duffdp._engines.files.text_file import TextFile
from duffdp._engines.libraries import missing_column
from duffdp._pipeline.notes import Reading, about_records, notes_about
from duffdp._planning.synthetic import SHAPES
from duffdp._planning.table_plan import TablePlan
from duffdp._studio import charts
from duffdp._studio.choices import CHOICES, FORM, placeholder, sentence
from duffdp._studio.folder import TABLE_SEPARATOR, ColumnType, Folder, is_text
from duffdp._studio.form import ROWS, ColumnFields, FieldError, GroupFields, Pairs, StudioForm
from duffdp._studio.jobs import ReleaseJob, ReleaseJobs
from duffdp._studio.plan_text import form_budget, plan_text, python_text, table_plan
from duffdp._studio.previews import EMPTY_PREVIEW, PreviewCache
from duffdp.domain import Floats
from duffdp.errors import Argument, DuffError, did_you_mean
from duffdp.report.formats import rounded
from duffdp.report.sentences import attacker_accuracy, odds

_SLIDER = [
    *(f"{digits * 10.0**power:g}" for power in (-2, -1, 0) for digits in (1, 1.5, 2, 3, 5, 7)),
    "10",
]
_PLAN_FILES = ("plan.toml", "plan.py")
_SHAPE_LABELS = {
    "normal": "bell-shaped, in the middle of the bounds",
    "skewed": "many low values and few high ones, like incomes",
    "uniform": "spread evenly over the bounds",
    "ages": "like the ages of a population",
    "beta": "mostly near either bound",
}
_EXAMPLE_FIELDS = {
    "age": ColumnFields("age", "0", "120", unit="years", shape="ages", statistics=("median",)),
}
_MAX_SAMPLE = 200_000  # numbers


class BudgetView(NamedTuple):
    """The budget on a page: a chart, and its parts as texts."""

    chart: str
    spent: str
    this: str
    remaining: str
    total: str
    fits: bool
    is_new: bool


class StudioState:
    """The state that one start of the studio keeps between requests."""

    def __init__(self, folder: Folder, source: str) -> None:
        self._folder, self._source = folder, source
        self._previews = PreviewCache()
        self._lock = threading.Lock()  # of the cache
        self._columns: dict[tuple[str, str, int, int], dict[str, ColumnType]] = {}
        self.jobs = ReleaseJobs(folder)

    def plan(self, pairs: Pairs) -> dict[str, Any]:
        """The values of the page of a plan."""
        pairs = list(pairs)
        names = {name for name, _ in pairs}
        problem: dict[str, str] | None = None
        form = StudioForm(source=self._source)
        try:
            form = StudioForm.of(pairs) if "epsilon" in names else form
            form = self._with_part(form)
            form = self._for_file(form).after_button(pairs)
            if not form.columns and "remove" not in names:
                form = self._with_first_column(form)
            if "find" in names:
                form = self._with_epsilon(form)
        except DuffError as error:
            problem = _problem(error)
        try:
            columns = self._columns_of(form)
        except DuffError as error:
            problem, columns = problem or _problem(error, form, "source"), {}
            if ADDRESS.match(form.source):  # which may hold a password
                form = replace(form, source="")
        outcome = self._outcome(form, simulate=False)
        return outcome | {
            "problem": problem or outcome["problem"],
            "form": form,
            "columns": columns,
            "addable": [name for name in columns if name not in {c.name for c in form.columns}],
            "files": self._folder.files(),
            "file": form.source.partition(TABLE_SEPARATOR)[0],
            "parts": self._parts(form),
            "is_text": is_text(form.source),
            "is_server": bool(ADDRESS.match(form.source)),
            "choices": {
                column.name: [
                    choice
                    for choice in CHOICES.values()
                    if choice.fits(columns.get(column.name, ColumnType(column.name, "any")))
                ]
                for column in form.columns
            },
            "placeholder": placeholder,
            "shapes": {name: _SHAPE_LABELS.get(name, name) for name in SHAPES},
            "sampled": {c.name: self._previews.has_sample(c.name) for c in form.columns},
            "slider": _SLIDER,
        }

    def preview(self, pairs: Pairs, is_cancelled: Callable[[], bool]) -> dict[str, Any]:
        """The values of the part beside the form; the work stops once it is cancelled."""
        pairs = list(pairs)
        try:
            form = StudioForm.of(pairs)
        except DuffError as error:
            return _no_outcome(error)
        return self._outcome(form, any(name == "simulate" for name, _ in pairs), is_cancelled)

    def add_sample(self, pairs: Pairs) -> str:
        """Take public records for a column, and say how many."""
        fields = dict(pairs)
        records = read_sample(fields.get("records", ""))
        with self._lock:
            self._previews.add_sample(fields.get("column", ""), records)
        return f"{len(records):,} public numbers loaded."

    def plan_file(self, name: str, pairs: Pairs) -> str:
        """The plan as a file to download."""
        if name not in _PLAN_FILES:
            raise DuffError("there is no such file. Download plan.toml or plan.py.")
        form = StudioForm.of(pairs)
        if name == "plan.toml":
            return plan_text(form, self._folder)
        return python_text(form, self._folder, self._columns_of(form))

    def add_release(self, pairs: Pairs) -> ReleaseJob:
        """A release of a table, to be confirmed."""
        return self.jobs.add_table(StudioForm.of(pairs))

    def add_profile(self, pairs: Pairs) -> ReleaseJob:
        """A first look at the file, to be confirmed."""
        return self.jobs.add_profile(StudioForm.of(pairs))

    def _columns_of(self, form: StudioForm) -> dict[str, ColumnType]:
        """The columns of the file, read again if it changed."""
        if not form.source:
            return {}
        self._folder.source(form.source)
        times = (0, 0)
        if not ADDRESS.match(form.source):
            status = self._folder.inside(form.source.partition(TABLE_SEPARATOR)[0]).stat()
            times = (status.st_mtime_ns, status.st_size)
        reading = form.reading
        key = (form.source, repr(reading), *times)
        if key not in self._columns:
            self._columns = {key: self._folder.columns(form.source, reading)}
        return self._columns[key]

    def _with_part(self, form: StudioForm) -> StudioForm:
        """The form with the first sheet or table of a file that has several, if none is chosen."""
        parts = self._folder.parts(form.source) if form.source else []
        if not parts or TABLE_SEPARATOR in form.source:
            return form
        return replace(form, source=f"{form.source}{TABLE_SEPARATOR}{parts[0]}")

    def _parts(self, form: StudioForm) -> list[str]:
        try:
            return self._folder.parts(form.source) if form.source else []
        except DuffError:
            return []  # the columns have the same error, and it is shown

    def _for_file(self, form: StudioForm) -> StudioForm:
        """The form without the columns of a file that was chosen before."""
        names = self._columns_of(form)
        if not names:
            return form
        columns = tuple(column for column in form.columns if column.name in names)
        groups = tuple(g if g.by in names else GroupFields() for g in form.groups)
        person = form.person if form.person in names else ROWS
        return replace(form, columns=columns, groups=groups, person=person)

    def _with_first_column(self, form: StudioForm) -> StudioForm:
        """A plan to begin with: the first column of numbers."""
        columns = self._columns_of(form).values()
        first = next((column for column in columns if column.kind in ("whole", "number")), None)
        if first is None:
            return form
        plain = ColumnFields(first.name, statistics=("median",))
        fields = _EXAMPLE_FIELDS.get(first.name.lower(), plain)
        return replace(form, columns=(replace(fields, name=first.name),))

    def _with_epsilon(self, form: StudioForm) -> StudioForm:
        plan = table_plan(form, self._folder)
        with self._lock:
            epsilon = self._previews.find_epsilon(form, plan, self._columns_of(form))
        return replace(form, epsilon=f"{epsilon:g}")

    def _outcome(
        self, form: StudioForm, simulate: bool, is_cancelled: Callable[[], bool] = lambda: False
    ) -> dict[str, Any]:
        try:
            columns = self._columns_of(form)
            plan = table_plan(form, self._folder)
            for name in form.words()["statistics"]:
                if columns and name not in columns:
                    raise DuffError(
                        f"the file has no column {name!r:.60}.{did_you_mean(name, columns)} "
                        "Remove it from the table."
                    )
            where = plan.plan.releases[0].selection.where
            for name in () if where is None or not columns else where.columns:
                if name not in columns:
                    raise FieldError("where", str(missing_column(name, columns)))
            remaining = float(form_budget(form, self._folder).remaining)
            with self._lock:
                preview = self._previews.preview(
                    form, plan, columns, simulate, remaining, is_cancelled
                )
            total = float(plan.plan.epsilon)
            return {
                "problem": None,
                "preview": preview,
                "odds": _odds(form, total),
                "notes": self._notes(form, plan),
                "budget": self._budget(form, total),
                "toml": plan_text(form, self._folder),
                "python": python_text(form, self._folder, columns),
                "epsilon": rounded(total),
            }
        except DuffError as error:
            return _no_outcome(error, form)

    def _notes(self, form: StudioForm, plan: TablePlan) -> list[str]:
        """Notes about how values are read, which depend on the plan alone."""
        rules = TextFile(form.source, **form.reading).rules if is_text(form.source) else None
        records = about_records(self._folder.source(form.source)) if form.source else ""
        reading = Reading(rules, records=records)
        facts = [
            request.facts(request.plan, request.domain, True, None)
            for request in plan.plan.releases
        ]
        notes = notes_about((fact, reading) for fact in facts)
        return [note.in_table().worded(FORM) for note in notes]

    def _budget(self, form: StudioForm, cost: float) -> BudgetView:
        ledger, exact_remaining, exact_total = form_budget(form, self._folder)
        total, remaining = float(exact_total), float(exact_remaining)
        spent, after = total - remaining, remaining - cost
        fits = cost <= remaining
        description = (
            f"Budget: epsilon {rounded(total)}. Spent: {rounded(spent)}. This table: "
            f"{rounded(cost)}. "
            f"Left after it: {rounded(max(after, 0))}."
        )
        parts = [("spent", spent, "spent"), ("this" if fits else "over", cost, "this table")]
        return BudgetView(
            charts.stacked_bar(parts, max(total, spent + cost), description),
            rounded(spent),
            rounded(cost),
            rounded(after),
            rounded(total),
            fits,
            ledger is None,
        )


def read_sample(text: str) -> Floats:
    """The sorted numbers of a text, one on a line; other lines, such as a heading, are skipped."""
    numbers = []
    for line in text.split("\n"):
        try:
            number = float(line.strip().strip('"').rstrip(","))
        except ValueError:
            continue
        if math.isfinite(number):
            numbers.append(number)
        if len(numbers) > _MAX_SAMPLE:
            raise DuffError(
                f"a public sample can have at most {_MAX_SAMPLE:,} numbers. Load fewer."
            )
    if not numbers:
        raise DuffError("the file must have one number per line. Load another file.")
    return np.sort(np.array(numbers))


def _odds(form: StudioForm, epsilon: float) -> dict[str, str]:
    """An attacker's gain, as icons and in words."""
    if_present = attacker_accuracy(epsilon)
    if_absent = 1 - if_present
    subject = "you" if form.person else "one row"
    return {
        "with": charts.odds_icons(if_present, subject, True),
        "without": charts.odds_icons(if_absent, subject, False),
        "with_count": f"{round(100 * if_present)}",
        "without_count": f"{round(100 * if_absent)}",
        "who": subject,
        "words": odds(epsilon, {"person"} if form.person else {"row"}),
    }


def _no_outcome(error: DuffError, form: StudioForm | None = None) -> dict[str, Any]:
    """The values of a page that has no preview, and why."""
    return {
        "problem": _problem(error, form),
        "preview": EMPTY_PREVIEW,
        "odds": None,
        "notes": [],
        "budget": None,
        "toml": "",
        "python": "",
        "epsilon": "",
    }


def _problem(error: DuffError, form: StudioForm | None = None, field: str = "") -> dict[str, str]:
    """The message of an error, and the field that it is about."""
    if isinstance(error, FieldError):
        field = error.field
    else:
        names = [part.name for part in error.parts if isinstance(part, Argument)]
        fields = (_field(name, error, form) for name in filter(None, (error.parameter, *names)))
        field = next(filter(None, fields), field)
    return {"text": sentence(error.worded(FORM)), "field": field}


def _field(name: str, error: DuffError, form: StudioForm | None) -> str:
    """The field of a parameter; that of a column if the error names one of its numbers first."""
    if name in StudioForm.__dataclass_fields__:
        return name
    if name in ("by", "keys"):
        return f"{name}.0"
    kind = {"bounds": "lower", "step": "step", "categories": "categories"}.get(name)
    first = error.parts[0]
    if kind is None or form is None or not isinstance(first, str):
        return ""
    numbers = (i for i, one in enumerate(form.columns) if first.startswith(f"{one.name}_"))
    return next((f"{kind}.{i}" for i in numbers), "")
