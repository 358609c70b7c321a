"""What stands behind the pages: forms become plans, previews and releases."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from duffdp.errors import DuffError
from duffdp.planning.shapes import SHAPES
from duffdp.report.words import odds
from duffdp.studio import pictures
from duffdp.studio.choices import CHOICES
from duffdp.studio.expectations import Expectations, Expected
from duffdp.studio.folder import ColumnType, Folder
from duffdp.studio.form import ROWS, ColumnFields, FieldError, Form, GroupFields, Pairs
from duffdp.studio.numbers import rounded
from duffdp.studio.odds import chance
from duffdp.studio.plan_text import ledger_of, plan_text, python_text, table_plan
from duffdp.studio.releases import Asked, Releases
from duffdp.studio.samples import read_sample

EPSILONS = [f"{mantissa}e{power}" for power in (-2, -1, 0) for mantissa in (1, 1.5, 2, 3, 5, 7)]
SLIDER = [f"{float(text):g}" for text in [*EPSILONS, "10"]]
FILES = ("plan.toml", "plan.py")
SHAPE_NAMES = {
    "normal": "a bell in the middle of the bounds",
    "skewed": "many low, few high, as incomes are",
    "uniform": "evenly over the bounds",
    "ages": "ages of a population",
    "beta": "most near either bound",
}
EXAMPLES = {
    "age": ColumnFields("age", "0", "120", unit="years", shape="ages", statistics=("median",)),
}


class Budget(NamedTuple):
    """The budget as the page has it: a bar, and what its parts are."""

    picture: str
    spent: str
    this: str
    left: str
    whole: str
    fits: bool
    is_new: bool


class Workshop:
    """Everything of one start that is kept between requests."""

    def __init__(self, folder: Folder, source: str) -> None:
        self._folder, self._source = folder, source
        self._expectations = Expectations()
        self._lock = threading.Lock()  # of what is remembered
        self._columns: dict[tuple[str, int, int], dict[str, ColumnType]] = {}
        self.releases = Releases(folder)

    def plan(self, pairs: Pairs) -> dict[str, Any]:
        """All that the page of a plan holds."""
        pairs = list(pairs)
        names = {name for name, _ in pairs}
        problem: dict[str, str] | None = None
        form = Form(source=self._source)
        try:
            form = Form.of(pairs) if "epsilon" in names else form
            form = self._of_this_file(form).after_button(pairs)
            if not form.columns and "remove" not in names:
                form = self._started(form)
            if "find" in names:
                form = self._with_epsilon(form)
        except DuffError as error:
            problem = _problem(error)
        try:
            columns = self._columns_of(form)
        except DuffError as error:
            problem, columns = problem or _problem(error, "source"), {}
        outcome = self._outcome(form, simulate=False)
        return outcome | {
            "problem": problem or outcome["problem"],
            "form": form,
            "columns": columns,
            "addable": [name for name in columns if name not in {c.name for c in form.columns}],
            "files": self._folder.files(),
            "choices": {
                column.name: [
                    choice
                    for choice in CHOICES.values()
                    if choice.fits(columns.get(column.name, ColumnType(column.name, "any")))
                ]
                for column in form.columns
            },
            "shapes": {name: SHAPE_NAMES.get(name, name) for name in SHAPES},
            "sampled": {c.name: self._expectations.has_sample(c.name) for c in form.columns},
            "slider": SLIDER,
        }

    def preview(self, pairs: Pairs, gone: Callable[[], bool]) -> dict[str, Any]:
        """What stands beside the form; given up when whoever asked has gone."""
        pairs = list(pairs)
        try:
            form = Form.of(pairs)
        except DuffError as error:
            return _empty() | {"problem": _problem(error)}
        return self._outcome(form, any(name == "simulate" for name, _ in pairs), gone)

    def add_sample(self, pairs: Pairs) -> str:
        """Take public records for a column, and say so."""
        given = dict(pairs)
        records = read_sample(given.get("records", ""))
        with self._lock:
            self._expectations.add_sample(given.get("column", ""), records)
        return f"{len(records):,} public numbers loaded."

    def plan_file(self, name: str, pairs: Pairs) -> str:
        """The plan to take away."""
        if name not in FILES:
            raise DuffError("there is no such file.")
        form = Form.of(pairs)
        if name == "plan.toml":
            return plan_text(form, self._folder)
        return python_text(form, self._folder, self._columns_of(form))

    def ask(self, pairs: Pairs) -> Asked:
        """A release to be confirmed."""
        return self.releases.ask(Form.of(pairs))

    def _columns_of(self, form: Form) -> dict[str, ColumnType]:
        """The columns of the file, read again if it changed."""
        if not form.source:
            return {}
        seen = self._folder.inside(form.source.partition("::")[0])
        self._folder.source(form.source)
        told = seen.stat()
        key = (form.source, told.st_mtime_ns, told.st_size)
        if key not in self._columns:
            self._columns = {key: self._folder.columns(form.source)}
        return self._columns[key]

    def _of_this_file(self, form: Form) -> Form:
        """Without the columns of a file that was chosen before."""
        columns = self._columns_of(form)
        if not columns:
            return form
        kept = tuple(column for column in form.columns if column.name in columns)
        groups = tuple(g if g.by in columns else GroupFields() for g in form.groups)
        person = form.person if form.person in columns else ROWS
        return replace(form, columns=kept, groups=groups, person=person)

    def _started(self, form: Form) -> Form:
        """A plan to begin with: the first column of numbers."""
        columns = self._columns_of(form)
        first = next((c for c in columns.values() if c.kind in ("whole", "number")), None)
        if first is None:
            return form
        fields = EXAMPLES.get(first.name.lower(), ColumnFields(first.name, statistics=("median",)))
        return replace(form, columns=(replace(fields, name=first.name),))

    def _with_epsilon(self, form: Form) -> Form:
        plan = table_plan(form, self._folder)
        with self._lock:
            found = self._expectations.find_epsilon(form, plan, self._columns_of(form))
        return replace(form, epsilon=f"{found:g}")

    def _outcome(
        self, form: Form, simulate: bool, gone: Callable[[], bool] = lambda: False
    ) -> dict[str, Any]:
        try:
            columns = self._columns_of(form)
            plan = table_plan(form, self._folder)
            for name in form.words()["statistics"]:
                if columns and name not in columns:
                    raise DuffError(f"the file has no column {name!r:.60}.")
            left = float(ledger_of(form, self._folder).left)
            with self._lock:
                expected = self._expectations.of(form, plan, columns, simulate, left, gone)
            total = float(plan.plan.epsilon)
            return {
                "problem": None,
                "expected": expected,
                "odds": _odds(form, total),
                "budget": self._budget(form, total),
                "toml": plan_text(form, self._folder),
                "python": python_text(form, self._folder, columns),
                "epsilon": rounded(total),
            }
        except DuffError as error:
            return _empty() | {"problem": _problem(error)}

    def _budget(self, form: Form, total: float) -> Budget:
        book = ledger_of(form, self._folder)
        whole, left = float(book.whole), float(book.left)
        spent, after = whole - left, left - total
        fits = total <= left
        said = (
            f"Of a budget of epsilon {rounded(whole)}, {rounded(spent)} is spent, this table costs "
            f"{rounded(total)}, {rounded(max(after, 0))} would be left."
        )
        parts = [("spent", spent, "spent"), ("this" if fits else "over", total, "this table")]
        return Budget(
            pictures.bar(parts, max(whole, spent + total), said),
            rounded(spent),
            rounded(total),
            rounded(after),
            rounded(whole),
            fits,
            book.book is None,
        )


def _odds(form: Form, total: float) -> dict[str, str]:
    """What an attacker learns, as icons and in words."""
    with_you, without = chance(total), 1 - chance(total)
    who = "you" if form.person else "one row"
    return {
        "with": pictures.odds_icons(with_you, who, True),
        "without": pictures.odds_icons(without, who, False),
        "with_count": f"{round(100 * with_you)}",
        "without_count": f"{round(100 * without)}",
        "who": who,
        "words": odds(total, {"person"} if form.person else {"row"}),
    }


def _empty() -> dict[str, Any]:
    """The outcome where there is none."""
    nothing = Expected([], "", "", [], {}, False)
    return {
        "expected": nothing,
        "odds": None,
        "budget": None,
        "toml": "",
        "python": "",
        "epsilon": "",
    }


def _problem(error: DuffError, field: str = "") -> dict[str, str]:
    return {"text": str(error), "field": error.field if isinstance(error, FieldError) else field}
