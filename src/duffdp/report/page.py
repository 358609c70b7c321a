"""Writing the page: HTML in one file, or Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from duffdp.domain import Categories, Membership, Ordered
from duffdp.errors import DuffError
from duffdp.pipeline.outcome import Release
from duffdp.printable import as_markdown, visible
from duffdp.report import words
from duffdp.report.bars import bars
from duffdp.report.plot import plot
from duffdp.report.steps import pictures
from duffdp.report.values import Values, values

_HTML, _MARKDOWN = "page.html.jinja", "page.md.jinja"
_TEMPLATES = {".html": _HTML, ".htm": _HTML, ".md": _MARKDOWN}


class Budget(Protocol):
    """What a page asks of a ledger: the total that was granted, and what is left of it."""

    @property
    def epsilon(self) -> float: ...
    def remaining(self) -> float: ...


def write(
    releases: Release | Sequence[Release] | Mapping[str, Release],
    path: str | Path,
    ledger: Budget | None = None,
    title: str = "Private release",
) -> Path:
    """Write a page about releases: what, for whom the guarantee holds, how private and how wrong.

    Parameters
    ----------
    releases
        One release, several, or a mapping from a heading to each: `{"Age": release}`.
    path
        Where to write. The ending decides: `.html` is one file that needs no network, follows light
        and dark and prints well; `.md` is Markdown.
    ledger
        The ledger the releases were charged to, for the budget before and after: anything with
        `epsilon` and `remaining()`.
    title
        The heading of the page.

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
    people; `docs/theory.md`, "How far an output can be".

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
    named = _named(releases)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("duffdp.report", ""),
        autoescape=template == _HTML,
        finalize=_html if template == _HTML else as_markdown,  # no text can be forgotten
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = words.number
    total = math.fsum(release.epsilon for _, release in named)
    text = environment.get_template(template).render(
        title=title,
        sections=[_section(heading, release) for heading, release in named],
        total=total,
        odds=words.odds(total, {release.unit.kind for _, release in named}),
        whom=words.whom({release.unit.kind for _, release in named}),
        budget=None if ledger is None else _budget(ledger, total),
        secure=all(release.secure for _, release in named),
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


def _named(releases: Any) -> list[tuple[str, Release]]:
    """Headings and releases; without headings, the statistics and their order."""
    if isinstance(releases, Mapping):
        named = [(str(heading), release) for heading, release in releases.items()]
    elif isinstance(releases, Release):
        named = [("", releases)]
    elif isinstance(releases, Sequence) and not isinstance(releases, str):
        named = [("", release) for release in releases]
    else:
        named = [("", None)]
    if not named or not all(isinstance(release, Release) for _, release in named):
        raise DuffError(
            "releases must be a Release, a list of them or a mapping from headings to them. "
            "Pass what median() returned."
        )
    return named


def _section(heading: str, release: Release) -> dict[str, Any]:
    found = values(release)
    name = release.title
    if not heading:
        heading = name
    elif name.lower() in heading.lower():
        heading = f"{heading[0].upper()}{heading[1:]}"
    else:
        heading = f"{heading}: {name.lower()}"
    return {
        "heading": heading,
        "epsilon": release.epsilon,
        "odds": words.odds(release.epsilon, {release.unit.kind}),
        "protected": words.protected(release),
        "public": words.assumed_public(release),
        "mechanism": words.mechanism(release),
        "accuracy": words.accuracy(release),
        "secure": release.secure,
        "columns": found.columns,
        "rows": [[*keys, text] for keys, text in zip(found.keys, found.texts, strict=True)],
        "counted": words.counted(release),
        "plot": _picture(release, found),
    }


def _picture(release: Release, found: Values) -> str:
    domain = release.domain
    if release.unit.kind == "edge":
        return ""  # the most triangles that a graph could have say nothing about how many it has
    if release.columns[0].kind == "distribution":
        keys = [", ".join(map(str, key)) for key in release.keys] or [""]
        return pictures(list(zip(keys, (row[0] for row in release.cells), strict=True)))
    if all(column.kind == "count" for column in release.columns):
        return bars(found)
    if isinstance(domain, Membership):
        return bars(found, most=1)
    return plot(found, domain) if isinstance(domain, Ordered | Categories) else ""


def _budget(ledger: Any, spent: float) -> dict[str, float]:
    """Total, before and after; a ledger may give numbers or things with an epsilon."""
    try:
        left = ledger.remaining() if callable(ledger.remaining) else ledger.remaining
        after, total = float(getattr(left, "epsilon", left)), float(ledger.epsilon)
    except (AttributeError, TypeError):
        raise DuffError(
            f"a ledger has epsilon and remaining(), got {type(ledger).__name__}. Pass a ledger "
            "or None."
        ) from None
    return {"total": total, "before": after + spent, "after": after}


def _html(value: object) -> object:
    """Any text on a page: nothing in it acts on the reader's screen. What is markup stays so."""
    return value if hasattr(value, "__html__") else visible(str(value))
