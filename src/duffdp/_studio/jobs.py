"""Releases that the user starts on a page: each is made once, however often it is requested."""

from __future__ import annotations

import json
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from duffdp._pipeline.export import DisplayTable
from duffdp._pipeline.table import Table
from duffdp._planning.plan import Cost
from duffdp._planning.table_plan import TablePlan
from duffdp._studio.choices import FORM
from duffdp._studio.folder import Folder
from duffdp._studio.form import StudioForm
from duffdp._studio.guard import secret
from duffdp._studio.plan_text import form_budget, plan_text, python_text, table_plan
from duffdp._text import visible
from duffdp.errors import DuffError, charge_told
from duffdp.ledger import Ledger
from duffdp.report.sentences import odds

JobState = Literal["unconfirmed", "waiting", "running", "made", "failed"]
MAX_JOBS = 40  # in memory
_DEFAULT_TITLE = "Private release"


@dataclass
class ReleaseJob:
    """One release with its plan, its state, and its files once it is made."""

    number: str
    form: StudioForm
    text: str
    python: str
    cost: Cost
    remaining: Fraction
    total: Fraction
    new_ledger: bool
    state: JobState = "unconfirmed"
    attempts: int = 0
    finished: int = 0
    error: str = ""
    tables: Sequence[DisplayTable] = ()
    files: dict[str, str] = field(default_factory=dict)

    @property
    def odds(self) -> str:
        """The privacy loss in words."""
        kinds = {facts.unit.kind for facts in self.cost.releases.values()}
        return odds(float(self.cost.epsilon), kinds)

    @property
    def notes(self) -> list[str]:
        """How values are read, in the words of the form."""
        return [note.worded(FORM) for note in self.cost.notes]

    @property
    def fits(self) -> bool:
        """True if the budget covers it."""
        return self.cost.epsilon <= self.remaining


class ReleaseJobs:
    """All releases of one start of the studio.

    A release has a call id as soon as it is written down. The ledger stores its result under this
    id, so a repeated start returns the stored result and costs nothing.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._jobs: OrderedDict[str, ReleaseJob] = OrderedDict()
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(max_workers=1)  # one after the other
        self.started = False  # whether one of them may have been charged

    def add(self, form: StudioForm) -> ReleaseJob:
        """Write down a release and its cost; nothing is charged and no row is read."""
        number = secret()[:16]
        call_id = f"studio {number}"
        columns = self._folder.columns(form.source, form.reading)  # an error if it is gone
        budget = form_budget(form, self._folder)
        job = ReleaseJob(
            number,
            form,
            text=plan_text(form, self._folder, call_id),
            python=python_text(form, self._folder, columns, call_id),
            cost=table_plan(form, self._folder).check(),
            remaining=budget.remaining,
            total=budget.total,
            new_ledger=budget.ledger is None,
        )
        with self._lock:
            if len(self._jobs) >= MAX_JOBS:  # a job that may have been paid for goes last
                unpaid = (
                    old for old, other_job in self._jobs.items() if other_job.state == "unconfirmed"
                )
                finished = (
                    old for old, other_job in self._jobs.items() if other_job.state == "made"
                )
                self._jobs.pop(next(chain(unpaid, finished), next(iter(self._jobs))))
            self._jobs[number] = job
        return job

    def get(self, number: str) -> ReleaseJob:
        """The release of this number."""
        with self._lock:
            if number not in self._jobs:
                raise DuffError("there is no such release in this start of the studio.")
            return self._jobs[number]

    def start(self, number: str, attempt: str) -> None:
        """Make a release, unless it is made or running.

        `attempt` counts the attempts that the caller has seen. If another one failed since, nothing
        is started: that one may have been paid for.
        """
        job = self.get(number)
        with self._lock:
            if job.state not in ("unconfirmed", "failed") or attempt != str(job.attempts):
                return
            job.attempts += 1
            self.started = True
            job.state, job.error, job.finished = "waiting", "", 0
        self._worker.submit(self._run, job)

    def stop(self) -> None:
        """Wait for the running release; those behind it are not started."""
        self._worker.shutdown(cancel_futures=True)

    def _run(self, job: ReleaseJob) -> None:
        job.state = "running"
        try:
            # If the file is gone by now, nothing is charged and no ledger is created.
            self._folder.source(job.form.source)
            table_plan(job.form, self._folder).check()
            ledger = form_budget(job.form, self._folder, create=True).ledger
            plan = TablePlan.from_text(job.text, self._folder.root)

            def done() -> None:
                job.finished += 1

            def rehearsal(table: Table) -> None:
                _files(table, job, ledger, plan)

            table = plan.run(done=done, rehearsal=rehearsal)
            job.tables = table.display_tables()
            job.files = _files(table, job, ledger, plan)
            job.state = "made"
        except DuffError as error:
            self._fail(job, visible(error.worded(FORM)), error)
        except Exception as error:  # its message might quote data
            self._fail(job, f"something unexpected went wrong ({type(error).__name__}).", error)

    @staticmethod
    def _fail(job: ReleaseJob, message: str, error: Exception) -> None:
        charge = charge_told(error)
        job.error = f"{message} {visible(charge[0].upper() + charge[1:])}." if charge else message
        job.state = "failed"


def _files(table: Table, job: ReleaseJob, ledger: Ledger | None, plan: TablePlan) -> dict[str, str]:
    """The files to download, each as text."""
    from duffdp.report.hazards import sign_off
    from duffdp.report.page import write

    sources: Any = plan.plan.sources
    answers = sign_off(table, ledger=ledger, sources=sources)
    with tempfile.TemporaryDirectory(prefix="duffdp-") as folder:
        plan_file = Path(folder, "plan.toml")
        plan_file.write_text(job.text, encoding="utf-8")
        page = write(
            table,
            Path(folder, "page.html"),
            ledger,
            job.form.title or _DEFAULT_TITLE,
            author=job.form.author or None,
            source=job.form.source,
            plan=plan_file,
            sources=sources,
        ).read_text(encoding="utf-8")
    return {
        "table.csv": table.to_csv(),
        "table.json": json.dumps(table.to_dict() | {"sign_off": answers}),
        "page.html": page,
        "plan.toml": job.text,
        "plan.py": job.python,
    }
