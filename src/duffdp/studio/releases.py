"""Releases that were asked for on the page: each is made once, however often it is asked for."""

from __future__ import annotations

import json
import tempfile
import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from duffdp.errors import DuffError, charge_told
from duffdp.ledger import Ledger
from duffdp.pipeline.columnar import Readable
from duffdp.pipeline.plan import Cost
from duffdp.pipeline.table import Table
from duffdp.pipeline.table_plan import TablePlan
from duffdp.printable import visible
from duffdp.report.words import odds
from duffdp.studio.folder import Folder
from duffdp.studio.form import Form
from duffdp.studio.guard import secret
from duffdp.studio.plan_text import ledger_of, plan_text, python_text, table_plan

State = Literal["asked", "waiting", "running", "made", "failed"]
MOST = 40  # releases that are kept in memory
USUAL_TITLE = "Private release"


@dataclass
class Asked:
    """One release with its plan, and what became of it."""

    number: str
    form: Form
    text: str
    python: str
    cost: Cost
    left: Fraction
    whole: Fraction
    new_ledger: bool
    state: State = "asked"
    attempts: int = 0
    finished: int = 0
    error: str = ""
    table: Readable | None = None
    files: dict[str, str] = field(default_factory=dict)

    @property
    def odds(self) -> str:
        """What it costs, in words."""
        kinds = {facts.unit.kind for facts in self.cost.releases.values()}
        return odds(float(self.cost.epsilon), kinds)

    @property
    def fits(self) -> bool:
        """Whether the budget covers it."""
        return self.cost.epsilon <= self.left


class Releases:
    """All releases of one start of the studio.

    A release has a call id from the moment it is asked for: the ledger knows it by that, and a
    repetition finds what is stored there instead of paying again.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._known: OrderedDict[str, Asked] = OrderedDict()
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(max_workers=1)  # one after the other
        self.begun = False  # whether one of them may have been charged

    def ask(self, form: Form) -> Asked:
        """Write down a release and what it would cost; nothing is charged and no row is read."""
        number = secret()[:16]
        call_id = f"studio {number}"
        source = self._folder.source(form.source)
        ledger = ledger_of(form, self._folder)
        asked = Asked(
            number,
            form,
            text=plan_text(form, self._folder, call_id),
            python=python_text(form, self._folder, self._folder.columns(form.source), call_id),
            cost=table_plan(form, self._folder).check(source),
            left=ledger.left,
            whole=ledger.whole,
            new_ledger=ledger.book is None,
        )
        with self._lock:
            if len(self._known) >= MOST:  # what was paid for is the last to go
                unpaid = (old for old, one in self._known.items() if one.state == "asked")
                finished = (old for old, one in self._known.items() if one.state == "made")
                self._known.pop(next(chain(unpaid, finished), next(iter(self._known))))
            self._known[number] = asked
        return asked

    def get(self, number: str) -> Asked:
        """One of them."""
        with self._lock:
            if number not in self._known:
                raise DuffError("there is no such release in this start of the studio.")
            return self._known[number]

    def start(self, number: str, attempt: str) -> None:
        """Make it, unless it is made or being made, or whoever asks has not seen that the attempt
        before failed: that one may have been paid for.
        """
        asked = self.get(number)
        with self._lock:
            if asked.state not in ("asked", "failed") or attempt != str(asked.attempts):
                return
            asked.attempts += 1
            self.begun = True
            asked.state, asked.error, asked.finished = "waiting", "", 0
        self._worker.submit(self._make, asked)

    def stop(self) -> None:
        """Wait for the one that is being made; those behind it are not begun."""
        self._worker.shutdown(cancel_futures=True)

    def _make(self, asked: Asked) -> None:
        asked.state = "running"
        try:
            # The file may have gone since: then nothing is charged, and no ledger is made.
            table_plan(asked.form, self._folder).check(self._folder.source(asked.form.source))
            book = ledger_of(asked.form, self._folder, create=True).book
            plan = TablePlan.from_text(asked.text, self._folder.root)

            def done() -> None:
                asked.finished += 1

            made = plan.run(done=done)
            asked.table = made.readable()
            asked.files = _files(made, asked, book, plan)
            asked.state = "made"
        except DuffError as error:
            self._failed(asked, visible(str(error)), error)
        except Exception as error:  # what it says might quote data
            told = f"something unexpected went wrong ({type(error).__name__})."
            self._failed(asked, told, error)

    @staticmethod
    def _failed(asked: Asked, told: str, error: Exception) -> None:
        cost = charge_told(error)
        asked.error = f"{told} {visible(cost[0].upper() + cost[1:])}." if cost else told
        asked.state = "failed"


def _files(made: Table, asked: Asked, book: Ledger | None, plan: TablePlan) -> dict[str, str]:
    """What is handed on, each as text."""
    from duffdp.report.hazards import sign_off
    from duffdp.report.page import write

    sources: Any = plan.plan.sources
    answers = sign_off(made, ledger=book, sources=sources)
    with tempfile.TemporaryDirectory(prefix="duffdp-") as folder:
        written = Path(folder, "plan.toml")
        written.write_text(asked.text, encoding="utf-8")
        page = write(
            made,
            Path(folder, "page.html"),
            book,
            asked.form.title or USUAL_TITLE,
            author=asked.form.author or None,
            source=asked.form.source,
            plan=written,
            sources=sources,
        ).read_text(encoding="utf-8")
    return {
        "table.csv": made.to_csv(),
        "table.json": json.dumps(made.to_dict() | {"sign_off": answers}),
        "page.html": page,
        "plan.toml": asked.text,
        "plan.py": asked.python,
    }
