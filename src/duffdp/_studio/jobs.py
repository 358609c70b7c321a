"""Releases that the user starts on a page: each is made once, however often it is requested."""

from __future__ import annotations

import json
import tempfile
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal

from duffdp._pipeline.export import DisplayTable
from duffdp._pipeline.profile import Profile
from duffdp._pipeline.rehearsal import rehearse
from duffdp._pipeline.release import Release
from duffdp._pipeline.table import Table
from duffdp._planning.plan import Cost
from duffdp._planning.table_plan import TablePlan
from duffdp._studio.choices import FORM, sentence
from duffdp._studio.folder import Folder
from duffdp._studio.form import StudioForm
from duffdp._studio.guard import secret
from duffdp._studio.plan_text import form_budget, plan_text, profile_plan, python_text, table_plan
from duffdp._text import visible
from duffdp.errors import DuffError, charge_told
from duffdp.ledger import Ledger
from duffdp.report.sentences import odds

JobState = Literal["unconfirmed", "waiting", "running", "made", "failed"]
MAX_JOBS = 40  # in memory
_DEFAULT_TITLE = "Private release"
_PROFILE_TITLE = "Private profile"


@dataclass(kw_only=True)
class ReleaseJob(ABC):
    """One release with its cost, its state, and its files once it is made."""

    kind: ClassVar[str]
    number: str
    form: StudioForm
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
        """Notes about how values are read, in the words of the form."""
        return [note.worded(FORM) for note in self.cost.notes]

    @property
    def fits(self) -> bool:
        """True if the budget covers it."""
        return self.cost.epsilon <= self.remaining

    @property
    def call_id(self) -> str:
        """The key under which the ledger stores the result."""
        return _call_id(self.number)

    @abstractmethod
    def release(self, folder: Folder) -> None:
        """Charge the ledger, and make the result with its files. A file that is gone by now costs
        nothing, and no ledger is created for it.
        """


@dataclass(kw_only=True)
class TableJob(ReleaseJob):
    """The job that releases a table."""

    kind = "table"
    text: str
    python: str

    def release(self, folder: Folder) -> None:
        """Run the plan."""
        folder.source(self.form.source)
        table_plan(self.form, folder).check()
        ledger = form_budget(self.form, folder, create=True).ledger
        plan = TablePlan.from_text(self.text, folder.root)

        def done() -> None:
            self.finished += 1

        def rehearsal(table: Table) -> None:
            _files(table, self, ledger, plan)

        table = plan.run(done=done, rehearsal=rehearsal)
        self.tables = table.display_tables()
        self.files = _files(table, self, ledger, plan)


@dataclass(kw_only=True)
class ProfileJob(ReleaseJob):
    """The job that releases a first look at the file."""

    kind = "profile"
    remarks: Sequence[str] = ()
    #: The plan with the proposed bounds, as pairs that a browser sends.
    with_bounds: Sequence[tuple[str, str]] = ()

    def release(self, folder: Folder) -> None:
        """Make the profile."""
        folder.source(self.form.source)
        plan = profile_plan(self.form, folder)
        prepared = plan.prepared()
        names = list(prepared)

        def rehearsal(releases: list[Release]) -> None:
            _profile_files(plan.profile(dict(zip(names, releases, strict=True))), self.form)

        rehearse(list(prepared.values()), rehearsal)
        ledger = form_budget(self.form, folder, create=True).ledger
        assert ledger is not None
        profile = plan.make(prepared, ledger.call(self.call_id))
        self.tables, self.remarks = profile.display_tables(), profile.worded_remarks(FORM)
        source = f"proposed by a profile that was released for epsilon {profile.epsilon:g}"
        self.with_bounds = self.form.with_bounds(profile.bounds, source).fields()
        self.files = _profile_files(profile, self.form)


def _call_id(number: str) -> str:
    return f"studio {number}"


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

    def add_table(self, form: StudioForm) -> ReleaseJob:
        """Write down a table and its cost; nothing is charged and no row is read."""
        number = secret()[:16]
        columns = self._folder.columns(form.source, form.reading)  # an error if it is gone
        budget = form_budget(form, self._folder)
        return self._added(
            TableJob(
                number=number,
                form=form,
                text=plan_text(form, self._folder, _call_id(number)),
                python=python_text(form, self._folder, columns, _call_id(number)),
                cost=table_plan(form, self._folder).check(),
                remaining=budget.remaining,
                total=budget.total,
                new_ledger=budget.ledger is None,
            )
        )

    def add_profile(self, form: StudioForm) -> ReleaseJob:
        """Write down a first look and its cost; nothing is charged and no row is read."""
        plan = profile_plan(form, self._folder)
        facts = {name: entry.facts for name, entry in plan.prepared().items()}
        budget = form_budget(form, self._folder)
        return self._added(
            ProfileJob(
                number=secret()[:16],
                form=form,
                cost=Cost(facts, {}, plan.epsilon, budget.remaining, tuple(plan.notes)),
                remaining=budget.remaining,
                total=budget.total,
                new_ledger=budget.ledger is None,
            )
        )

    def _added(self, job: ReleaseJob) -> ReleaseJob:
        with self._lock:
            if len(self._jobs) >= MAX_JOBS:  # a job that may have been paid for goes last
                unpaid = (
                    old for old, other_job in self._jobs.items() if other_job.state == "unconfirmed"
                )
                finished = (
                    old for old, other_job in self._jobs.items() if other_job.state == "made"
                )
                self._jobs.pop(next(chain(unpaid, finished), next(iter(self._jobs))))
            self._jobs[job.number] = job
        return job

    def get(self, number: str) -> ReleaseJob:
        """The release of this number."""
        with self._lock:
            if number not in self._jobs:
                raise DuffError(
                    "there is no such release. The studio may have been restarted: go back to "
                    "the plan."
                )
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
            job.release(self._folder)
            job.state = "made"
        except DuffError as error:
            self._fail(job, visible(sentence(error.worded(FORM))), error)
        except Exception as error:  # its message might quote data
            self._fail(job, f"Something unexpected went wrong ({type(error).__name__}).", error)

    @staticmethod
    def _fail(job: ReleaseJob, message: str, error: Exception) -> None:
        charge = charge_told(error)
        job.error = f"{message} {visible(charge[0].upper() + charge[1:])}." if charge else message
        job.state = "failed"


def _files(table: Table, job: TableJob, ledger: Ledger | None, plan: TablePlan) -> dict[str, str]:
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


def _profile_files(profile: Profile, form: StudioForm) -> dict[str, str]:
    """The files of a first look, each as text."""
    from duffdp.report.profile_page import write_profile

    with tempfile.TemporaryDirectory(prefix="duffdp-") as folder:
        title, author = form.title or _PROFILE_TITLE, form.author or None
        page = write_profile(profile, Path(folder, "page.html"), title, author=author)
        return {
            "profile.html": page.read_text(encoding="utf-8"),
            "profile.csv": profile.to_csv(),
            "profile.json": json.dumps(profile.to_dict()),
        }
