"""The plan of a form as a TOML file and as Python, with the budget that it is charged to."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from duffdp._engines.files.text_file import TextFile
from duffdp._parameters import EPSILON
from duffdp._pipeline.text_values import typed_values
from duffdp._pipeline.toml import FIELDS
from duffdp._planning.profile import ProfilePlan
from duffdp._planning.table_plan import TablePlan
from duffdp._studio.choices import FORM
from duffdp._studio.folder import ColumnType, Folder
from duffdp._studio.form import FieldError, StudioForm, number_in
from duffdp.errors import DuffError
from duffdp.ledger import Ledger

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LINE_WIDTH = 88  # of Python


class FormBudget(NamedTuple):
    """The budget of a form: what remains of the total, and its ledger if the file exists."""

    ledger: Ledger | None
    remaining: Fraction
    total: Fraction


def form_budget(form: StudioForm, folder: Folder, create: bool = False) -> FormBudget:
    """The budget that a form names; `create` makes a missing ledger."""
    try:
        path = folder.inside(_ledger_name(form))
    except FieldError:
        raise
    except DuffError:
        raise FieldError(
            "ledger",
            "the budget file cannot be found in the folder where the studio was started. Type a "
            "name in that folder, such as budget.db.",
        ) from None
    dataset = form.dataset or None
    if path.exists():
        try:
            ledger = Ledger(path, dataset=dataset)
        except DuffError as error:
            raise FieldError("ledger", error.worded(FORM)) from None
        return FormBudget(ledger, ledger.remaining_exactly(), EPSILON.read(ledger.epsilon))
    typed = number_in("budget", form.budget, "the total budget")
    try:
        total = EPSILON.read(typed)
    except DuffError as error:
        rule = error.rule or EPSILON.rule
        raise FieldError(
            "budget", f"the total budget must be {rule}, got {form.budget}. Type for example 3."
        ) from None
    if not path.parent.is_dir():
        raise FieldError(
            "ledger", "the folder of the budget file does not exist. Type for example budget.db."
        )
    new = Ledger(path, epsilon=typed, dataset=dataset) if create else None
    return FormBudget(new, total, total)


def table_plan(form: StudioForm, folder: Folder) -> TablePlan:
    """The plan of a form without its ledger."""
    words = form.words() | {"source": folder.relative(form.source)}
    return TablePlan.from_text(as_toml(words), folder.root)


def profile_plan(form: StudioForm, folder: Folder) -> ProfilePlan:
    """The first look that a form asks for, at the file as its text is read."""
    source, reading = folder.source(form.source), form.reading
    return ProfilePlan(TextFile(source, **reading) if reading else source, **form.profile_words())


def plan_text(form: StudioForm, folder: Folder, call_id: str | None = None) -> str:
    """The plan of a form as TOML."""
    return as_toml(_plan_words(form, folder, call_id))


def python_text(
    form: StudioForm, folder: Folder, columns: Mapping[str, ColumnType], call_id: str | None = None
) -> str:
    """The plan of a form as Python, in which keys and categories are values of their columns."""
    words = _plan_words(form, folder, call_id)

    def typed(column: str, texts: list[str]) -> list[Any]:
        return typed_values(column, columns[column].dtype if column in columns else None, texts)

    if "keys" in words:
        words["keys"] = list(map(typed, words["by"], words["keys"]))
    if "categories" in words:
        words["categories"] = {
            name: typed(name, texts) for name, texts in words["categories"].items()
        }
    report = {"title": form.title, "author": form.author, "source": form.source}
    return _python_script(words, {name: text for name, text in report.items() if text})


def _plan_words(form: StudioForm, folder: Folder, call_id: str | None) -> dict[str, Any]:
    """The words of the table and its ledger; paths count from the folder."""
    words = form.words()
    words["source"] = folder.relative(form.source)
    ledger: dict[str, Any] = {"ledger": folder.relative(_ledger_name(form))}
    if form.dataset:
        ledger["dataset"] = form.dataset
    if call_id is not None:
        ledger["call_id"] = call_id
    return {"source": words.pop("source"), "epsilon": words.pop("epsilon"), **ledger, **words}


def _ledger_name(form: StudioForm) -> str:
    if not form.ledger:
        raise FieldError("ledger", "the budget file is missing. Type for example budget.db.")
    return form.ledger


# TOML.


def as_toml(words: Mapping[str, Any]) -> str:
    """The words of a table as a file that `duffdp table` runs."""
    lines = [
        f"{_toml_key(name)} = {_toml(value)}"
        for name, value in words.items()
        if not isinstance(value, Mapping)
    ]
    for name, value in words.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{_toml_key(name)}]"]
            lines += [f"{_toml_key(key)} = {_toml(entry)}" for key, entry in value.items()]
    return "\n".join([*lines, ""])


def _toml_key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _toml(name)


def _toml(value: object) -> str:
    """A value of TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        parts = (f"{_toml_key(name)} = {_toml(entry)}" for name, entry in value.items())
        return f"{{{', '.join(parts)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(value)


# Python.


def _python_script(words: Mapping[str, Any], report: Mapping[str, str]) -> str:
    """The words of a table as calls; `report` are arguments of the report about it."""
    arguments = dict(words)
    statistics = arguments.pop("statistics")
    if arguments.get("interval") is False:
        arguments["interval"] = None
    if "bounds" in arguments:
        arguments["bounds"] = {name: tuple(ends) for name, ends in arguments["bounds"].items()}
    lines = [f"    {_python(statistics)},"]
    reading = {name: arguments.pop(name) for name in FIELDS if name in arguments}
    for name, value in arguments.items():
        text = _python_keys(value) if name == "keys" else _python(value)
        if name == "source" and reading:
            options = ", ".join(f"{key}={_python(part)}" for key, part in reading.items())
            text = f"duffdp.TextFile({text}, {options})"
        lines.append(f"    {name}={text},")
    ledger = [_python(arguments["ledger"])]
    if "dataset" in arguments:
        ledger.append(f"dataset={_python(arguments['dataset'])}")
    call_arguments = [f"ledger=duffdp.Ledger({', '.join(ledger)})"]
    call_arguments += [f"{name}={_python(text)}" for name, text in report.items()]
    imports = ["import datetime", "", "import duffdp"] if "datetime." in "".join(lines) else []
    return "\n".join(
        [
            *(imports or ["import duffdp"]),
            "",
            "plan = duffdp.TablePlan(",
            *lines,
            ")",
            "table = plan.run()",
            'table.to_csv("table.csv")',
            f'duffdp.report.write(table, "page.html", {", ".join(call_arguments)})',
            "",
        ]
    )


def _python_keys(keys: list[list[Any]]) -> str:
    if len(keys) == 1:
        return _python(keys[0])
    return f"[{', '.join(f'duffdp.Categories({_python(part)})' for part in keys)}]"


def _python(value: object, indent: int = 4) -> str:
    """A value of Python, with double quotation marks, on several lines if it is long."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and math.isinf(value):
        return f'float("{value}")'
    if not isinstance(value, Mapping | list | tuple):
        return repr(value)
    inner = indent + 4
    if isinstance(value, Mapping):
        brackets = "{}"
        parts = [f"{_python(name)}: {_python(entry, inner)}" for name, entry in value.items()]
    else:
        brackets = "()" if isinstance(value, tuple) else "[]"
        parts = [_python(entry, inner) for entry in value]
    line = f"{brackets[0]}{', '.join(parts)}{brackets[1]}"
    if len(line) + indent <= _LINE_WIDTH and "\n" not in line:
        return line
    lines = "".join(f"\n{' ' * inner}{part}," for part in parts)
    return f"{brackets[0]}{lines}\n{' ' * indent}{brackets[1]}"
