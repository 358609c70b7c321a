"""The plan of a form as text, with the budget that it is charged to."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from duffdp.errors import DuffError
from duffdp.ledger import Ledger
from duffdp.parameters import read_epsilon
from duffdp.pipeline.table_plan import TablePlan
from duffdp.pipeline.text_values import typed_values
from duffdp.studio.folder import ColumnType, Folder
from duffdp.studio.form import FieldError, Form, number_in
from duffdp.studio.written_plan import as_python, as_toml


class Book(NamedTuple):
    """The budget of a form: what is left of the whole, and its ledger if there is a file yet."""

    book: Ledger | None
    left: Fraction
    whole: Fraction


def plan_words(form: Form, folder: Folder, call_id: str | None = None) -> dict[str, Any]:
    """The words of the table, with its budget; paths are those of the folder."""
    words = form.words()
    words["source"] = folder.relative(form.source)
    ledger: dict[str, Any] = {"ledger": folder.relative(_named(form))}
    if form.dataset:
        ledger["dataset"] = form.dataset
    if call_id is not None:
        ledger["call_id"] = call_id
    return {"source": words.pop("source"), "epsilon": words.pop("epsilon"), **ledger, **words}


def table_plan(form: Form, folder: Folder) -> TablePlan:
    """The plan by itself, charged to nothing."""
    words = form.words() | {"source": folder.relative(form.source)}
    return TablePlan.from_text(as_toml(words), folder.root)


def plan_text(form: Form, folder: Folder, call_id: str | None = None) -> str:
    """The plan as TOML."""
    return as_toml(plan_words(form, folder, call_id))


def python_text(
    form: Form, folder: Folder, columns: Mapping[str, ColumnType], call_id: str | None = None
) -> str:
    """The plan as Python, in which keys and categories are values of their columns."""
    words = plan_words(form, folder, call_id)

    def typed(column: str, listed: list[str]) -> list[Any]:
        return typed_values(column, columns[column].dtype if column in columns else None, listed)

    if "keys" in words:
        words["keys"] = list(map(typed, words["by"], words["keys"]))
    if "categories" in words:
        words["categories"] = {
            name: typed(name, said) for name, said in words["categories"].items()
        }
    page = {"title": form.title, "author": form.author, "source": form.source}
    return as_python(words, {name: text for name, text in page.items() if text})


def ledger_of(form: Form, folder: Folder, create: bool = False) -> Book:
    """The ledger that a form names; made if there is none and it may be."""
    path = folder.inside(_named(form))
    name = form.dataset or None
    if path.exists():
        book = Ledger(path, dataset=name)
        return Book(book, book.remaining_exactly(), read_epsilon(book.epsilon))
    whole = number_in("budget", form.budget, "the whole budget")
    try:
        exact = read_epsilon(whole)
    except DuffError as error:
        raise FieldError("budget", str(error)) from None
    if not path.parent.is_dir():
        raise FieldError("ledger", "there is no such folder for the budget file.")
    made = Ledger(path, epsilon=whole, dataset=name) if create else None
    return Book(made, exact, exact)


def _named(form: Form) -> str:
    if not form.ledger:
        raise FieldError("ledger", "name the file of the budget, for example budget.db.")
    return form.ledger
