"""Writing the page: HTML in one file, or Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from duffdp.errors import DuffError
from duffdp.pipeline.columnar import TOO_FEW
from duffdp.pipeline.outcome import Release
from duffdp.pipeline.sources import read_sources
from duffdp.pipeline.table import Table
from duffdp.printable import as_markdown, visible
from duffdp.report import words
from duffdp.report.blocks import Named, blocks
from duffdp.report.budget import Budget, gauge_of
from duffdp.report.hazards import answers
from duffdp.report.pictures import figures
from duffdp.report.provenance import provenance

_HTML, _MARKDOWN = "page.html.jinja", "page.md.jinja"
_TEMPLATES = {".html": _HTML, ".htm": _HTML, ".md": _MARKDOWN}


class Said(NamedTuple):
    """A sentence, and the releases that it is about; none if it is about all of them."""

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
) -> Path:
    """Write a page about releases: what was found, how private and how wrong it is, and what a
    reviewer has to know.

    Parameters
    ----------
    releases
        A table, one release, several, or a mapping from a heading to each: `{"Age": release}`.
        Those with the same groups stand in one table.
    path
        Where to write. The ending decides: `.html` is one file that needs no network, follows light
        and dark and prints well; `.md` is Markdown.
    ledger
        The ledger the releases were charged to, for the gauge: anything with `epsilon` and
        `remaining()`. Of a `Ledger` the page names the last hash.
    title, author, source
        The heading of the page, who made it, and what the data are called. They are printed as
        they are: give what may be public.
    plan
        The file of the plan, for its name and a hash of it.
    sources
        What a reviewer asks and no release knows, in your words: where `bounds`, `step`,
        `categories` and `keys` came from, when the `plan` was fixed, other `publications` from the
        same data, which `audit` was run. What is missing is marked.

    Returns
    -------
    Path
        Where the page is.

    Privacy
    -------
    Made of releases and public parameters alone, so the page may be published where the values may.
    It says so in large letters if a draw was seeded and is not private.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definition 6, for the error as a number of
    people; `docs/theory.md`, "How far an output can be". Near, Darais, Lefkovitz and Howarth,
    "Guidelines for evaluating differential privacy guarantees" (NIST SP 800-226, 2025).

    Examples
    --------
    >>> import tempfile, duffdp
    >>> release = duffdp.median([31, 35, 40], epsilon=1.0, bounds=(0, 120), step=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = duffdp.report.write({"Age": release}, folder + "/page.md").read_text()
    >>> "at most 14 rows would have to join or leave to make this the exact answer" in page
    True
    """
    path = Path(path)
    jinja2, template = check_page(path)
    found, named = blocks(releases)
    everything = [release for _, release in named]
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("duffdp.report", ""),
        autoescape=template == _HTML,
        finalize=_html if template == _HTML else as_markdown,  # no text can be forgotten
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = words.number
    total = math.fsum(release.epsilon for release in everything)
    kinds = {release.unit.kind for release in everything}
    gauge = None if ledger is None else gauge_of(ledger, total)
    text = environment.get_template(template).render(
        title=title,
        provenance=provenance(everything, author=author, source=source, plan=plan, ledger=ledger),
        blocks=found,
        figures=figures if template == _HTML else None,
        too_few=TOO_FEW,
        total=total,
        odds=words.odds(total, kinds, math.fsum(release.delta for release in everything)),
        whom=words.whom(kinds),
        several=len(named) > 1,
        shares=_shares(named),
        questions=_questions(named),
        gauge=gauge,
        seeded=list(dict.fromkeys(name for name, release in named if not release.secure)),
        answers=answers(named, gauge, read_sources(sources)),
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
    """jinja2 and the template for a page of this name, or an error that says what is missing."""
    template = _TEMPLATES.get(path.suffix.lower())
    if template is None:
        raise DuffError(
            f"a report ends in .html or .md, got {path.name!r}. Pass for example 'page.html'."
        )
    try:
        import jinja2
    except ImportError:
        raise DuffError(
            "reports are made with jinja2, which is not installed. Run: pip install "
            "'duffdp[report]'."
        ) from None
    return jinja2, template


def _questions(named: Named) -> list[tuple[str, list[Said]]]:
    """What a reader asks, and the answers, each of them once."""
    asked: list[tuple[str, Callable[[Release], Iterable[str]]]] = [
        ("How wrong can it be?", words.accuracy),
        ("Who is protected?", words.protected),
        ("What is counted?", lambda release: filter(None, [words.counted(release)])),
        ("How was it drawn?", words.mechanism),
        ("Assumed to be public", words.assumed_public),
    ]
    told = ((question, _once(named, sentences)) for question, sentences in asked)
    return [(question, said) for question, said in told if said]


def _once(named: Named, sentences: Callable[[Release], Iterable[str]]) -> list[Said]:
    """Every sentence with the names of the releases that it is about."""
    about: dict[str, dict[str, int]] = {}
    for name, release in named:
        for text in sentences(release):
            known = about.setdefault(text, {})
            known[name] = known.get(name, 0) + 1
    said = [
        Said([] if sum(names.values()) == len(named) else list(names), text)
        for text, names in about.items()
    ]
    # What is about some comes first: what is about all closes the answer.
    return sorted(said, key=lambda one: not one.names)


def _shares(named: Named) -> dict[str, float]:
    """What each of them cost, with its margins."""
    spent: dict[str, Fraction] = {}
    for name, release in named:
        spent[name] = spent.get(name, Fraction(0)) + release.loss.epsilon
    return {name: float(epsilon) for name, epsilon in spent.items()}


def _html(value: object) -> object:
    """Any text on a page: nothing in it acts on the reader's screen. What is markup stays so."""
    return value if hasattr(value, "__html__") else visible(str(value))
