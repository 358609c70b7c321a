"""The report: one HTML file, or Markdown."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from duffdp._pipeline.release import Release
from duffdp._pipeline.sources import read_sources
from duffdp._pipeline.table import Table
from duffdp._text import as_markdown, parameter_text, visible
from duffdp.errors import DuffError
from duffdp.report import sentences
from duffdp.report.charts import figures, small_picture
from duffdp.report.hazards import Budget, budget_gauge, hazard_answers
from duffdp.report.picker import picker_data, picker_script
from duffdp.report.results import NamedReleases, result_tables

_HTML, _MARKDOWN = "page.html.jinja", "page.md.jinja"
_TEMPLATES = {".html": _HTML, ".htm": _HTML, ".md": _MARKDOWN}


class Checked(Protocol):
    """The result of an engine check for a report, in one line."""

    @property
    def summary(self) -> str: ...


class Sentence(NamedTuple):
    """A sentence, and the names of the releases that it is about (none if it is about all)."""

    names: list[str]
    text: str


def write(
    releases: Table | Release | Sequence[Release] | Mapping[str, Release],
    path: str | Path,
    ledger: Budget | None = None,
    title: str = "Private release",
    *,
    author: str | None = None,
    source: str | None = None,
    plan: str | Path | None = None,
    sources: Mapping[str, str] | None = None,
    engine_check: Checked | None = None,
) -> Path:
    """Write a report about releases: their values, privacy and error, and the answers that a
    reviewer needs.

    Parameters
    ----------
    releases
        A table, one release, several, or a mapping from a heading to each: `{"Age": release}`.
        Those with the same groups are shown in one table.
    path
        The file to write. `.html` is one file that needs no network, follows the reader's light or
        dark setting and prints well; `.md` is Markdown.
    ledger
        The ledger that the releases were charged to: anything with `epsilon` and `remaining()`. For
        a `Ledger` the report shows the last hash.
    title, author, source
        The heading of the report, its author, and the name of the data. They are printed unchanged,
        so they must be public.
    plan
        The file of the plan, for its name and a hash of it.
    sources
        Facts that a reviewer needs and no release contains, in your words: the sources of `bounds`,
        `step`, `categories` and `keys`, when the `plan` was fixed, other `publications` from the
        same data, which `audit` was run. Missing answers are marked.
    engine_check
        The result of `duffdp.audit.check_engine` for the engine that holds the data, or a stored
        one by `EngineCheck.from_file(path)`. The report shows a summary of it.

    Returns
    -------
    Path
        The path of the report.

    Privacy
    -------
    Made from releases and public parameters alone, so the report may be published wherever the
    values may. If a draw was seeded and is not private, the report begins with a warning.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definition 6, for the error as a number of
    people; `docs/explanation/mechanisms.md`, "How far an output can be". Near, Darais, Lefkovitz
    and Howarth, "Guidelines for evaluating differential privacy guarantees" (NIST SP 800-226,
    2025).

    Examples
    --------
    >>> import tempfile, duffdp
    >>> release = duffdp.median([31, 35, 40], epsilon=1.0, bounds=(0, 120), step=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = duffdp.report.write({"Age": release}, folder + "/page.md").read_text()
    >>> "adding or removing at most 14 rows would make this the exact answer" in page
    True
    """
    path = Path(path)
    jinja2, template = check_page(path)
    tables, named = result_tables(releases)
    all_releases = [release for _, release in named]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("duffdp.report", ""),
        autoescape=template == _HTML,
        finalize=_visible if template == _HTML else as_markdown,  # so no text can be forgotten
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = parameter_text
    total = math.fsum(release.epsilon for release in all_releases)
    kinds = {release.unit.kind for release in all_releases}
    gauge = None if ledger is None else budget_gauge(ledger, total)
    text = environment.get_template(template).render(
        title=title,
        provenance=_provenance(all_releases, author, source, plan, ledger, engine_check),
        tables=tables,
        figures=figures if template == _HTML else None,
        small_picture=small_picture,
        picker=picker_data(releases) if isinstance(releases, Table) else None,
        script=picker_script() if template == _HTML else "",
        error=sentences.error_in_short(all_releases),
        reading=sentences.how_to_read(all_releases, tables),
        total=total,
        odds=sentences.odds(total, kinds, math.fsum(release.delta for release in all_releases)),
        whom=sentences.whom(kinds),
        several=len(named) > 1,
        shares=_shares(named),
        questions=_questions(named),
        gauge=gauge,
        seeded=list(dict.fromkeys(name for name, release in named if not release.secure)),
        answers=hazard_answers(named, gauge, read_sources(sources)),
    )
    part = path.with_name(path.name + ".part")  # a page is whole or not there
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise DuffError(
            f"the report cannot be written to {str(path)!r} ({error.strerror}). Pass a path in "
            "a folder that exists."
        ) from None
    return path


def check_page(path: Path) -> tuple[Any, str]:
    """jinja2 and the template for a report with this file name."""
    template = _TEMPLATES.get(path.suffix.lower())
    if template is None:
        raise DuffError(
            f"the file name of a report must end in .html or .md, got {path.name!r}. Pass for "
            "example 'report.html'."
        )
    try:
        import jinja2
    except ImportError:
        raise DuffError(
            "reports need jinja2, which is not installed. Run: pip install 'duffdp[report]'."
        ) from None
    return jinja2, template


def _provenance(
    releases: Sequence[Release],
    author: str | None,
    source: str | None,
    plan: str | Path | None,
    ledger: object,
    engine_check: Checked | None,
) -> list[tuple[str, str]]:
    """The public facts about how a report was made, each under its name."""
    days = sorted({release.time.date().isoformat() for release in releases})
    versions = sorted({release.version for release in releases})
    facts = [
        ("Author", author),
        ("Drawn on", days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"),
        ("Data", source),
        ("Made with", f"duffdp {', '.join(versions)}"),
        ("Plan", None if plan is None else _fingerprint(Path(plan))),
        ("Ledger's last hash", _last_hash(ledger)),
        ("Engine check", None if engine_check is None else engine_check.summary),
    ]
    return [(name, str(text)) for name, text in facts if text is not None]


def _fingerprint(plan: Path) -> str:
    """The name of a plan's file and the hash of its content."""
    try:
        return f"{plan.name}, SHA-256 {hashlib.sha256(plan.read_bytes()).hexdigest()}"
    except OSError as error:
        raise DuffError(
            f"the plan {str(plan)!r} cannot be read ({error.strerror}). Pass the path of its file."
        ) from None


def _last_hash(ledger: object) -> str | None:
    """The last hash of a ledger's chain; None for another object with a budget."""
    from duffdp.ledger import Ledger

    return ledger.verify().head if isinstance(ledger, Ledger) else None


def _questions(named: NamedReleases) -> list[tuple[str, list[Sentence]]]:
    """The questions of a reader with their answers, each sentence once."""
    questions: list[tuple[str, Callable[[Release], Iterable[str]]]] = [
        ("How wrong can it be?", sentences.accuracy),
        ("Who is protected?", sentences.protected),
        ("What is counted?", lambda release: filter(None, [sentences.counted(release)])),
        ("How was it drawn?", sentences.mechanism),
        ("Assumed to be public", sentences.assumed_public),
    ]
    answers = ((question, _once(named, answer)) for question, answer in questions)
    return [(question, answer) for question, answer in answers if answer]


def _once(named: NamedReleases, answer: Callable[[Release], Iterable[str]]) -> list[Sentence]:
    """Every sentence with the names of the releases that it is about."""
    names_by_text: dict[str, dict[str, int]] = {}
    for name, release in named:
        for text in answer(release):
            counts = names_by_text.setdefault(text, {})
            counts[name] = counts.get(name, 0) + 1
    texts = [
        Sentence([] if sum(names.values()) == len(named) else list(names), text)
        for text, names in names_by_text.items()
    ]
    # Sentences about some releases come first, those about all of them last.
    return sorted(texts, key=lambda sentence: not sentence.names)


def _shares(named: NamedReleases) -> dict[str, float]:
    """The epsilon of each release, with its margins."""
    spent: dict[str, Fraction] = {}
    for name, release in named:
        spent[name] = spent.get(name, Fraction(0)) + release.loss.epsilon
    return {name: float(epsilon) for name, epsilon in spent.items()}


def _visible(value: object) -> object:
    """A text without control characters; markup as it is."""
    return value if hasattr(value, "__html__") else visible(str(value))
