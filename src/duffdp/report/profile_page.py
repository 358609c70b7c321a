"""The report about a profile: one HTML file that needs no network, or Markdown."""

from __future__ import annotations

from pathlib import Path

from duffdp._pipeline.profile import Profile
from duffdp._text import as_html, as_markdown
from duffdp.errors import DuffError

_ENDINGS = (".html", ".htm", ".md")
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em}"
    ":root{color-scheme:light dark}table{font-size:.9em}caption{text-align:left}"
)


def write_profile(
    profile: Profile, path: str | Path, title: str = "Private profile", *, author: str | None = None
) -> Path:
    """Write a report about a profile: its table, remarks, and explanations.

    Parameters
    ----------
    profile
        The profile.
    path
        The file to write: `.html` or `.md`.
    title, author
        The heading of the report and its author. They are printed unchanged.

    Returns
    -------
    Path
        The path of the report.

    Privacy
    -------
    Computed from released numbers and public facts alone.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), proposition 2.1:
    post-processing.

    Examples
    --------
    >>> import tempfile, duffdp
    >>> look = duffdp.profile("demo/adult.parquet", epsilon=5, columns=["age"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = duffdp.report.write_profile(look, folder + "/page.md").read_text()
    >>> "| age |" in page
    True
    """
    path = Path(path)
    if path.suffix.lower() not in _ENDINGS:
        raise DuffError(
            f"the file name of a report must end in {', '.join(_ENDINGS)}, got {path.name!r}. "
            "Pass for example "
            "profile.html."
        )
    by = [] if author is None else [f"By {author}."]
    seeded = [] if profile.secure else ["NOT PRIVATE: the draws were seeded."]
    meaning = [
        *seeded,
        "Shares are of all fields of a column. Statistics ignore fields that are missing or "
        "cannot be read.",
        "All numbers are noisy, and so are the remarks and the proposed bounds, which are computed "
        "from them. If you use proposed bounds, state that they were released.",
        f"The whole profile has epsilon {profile.epsilon:g} for each {profile.unit.protected}.",
    ]
    if path.suffix.lower() == ".md":
        parts = [f"# {as_markdown(title)}", *map(as_markdown, by), profile.to_markdown().rstrip()]
        remarks = [f"- {as_markdown(remark)}" for remark in profile.remarks]
        text = "\n\n".join([*parts, *(["\n".join(remarks)] if remarks else []), *meaning]) + "\n"
    else:
        remarks = [f"<li>{as_html(remark)}</li>" for remark in profile.remarks]
        paragraphs = [f"<p>{as_html(line)}</p>" for line in meaning]
        text = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{as_html(title)}</title>'
            f"<style>{_STYLE}</style><h1>{as_html(title)}</h1>"
            f"{''.join(f'<p>{as_html(line)}</p>' for line in by)}{profile.to_html()}"
            f"<ul>{''.join(remarks)}</ul>{''.join(paragraphs)}</html>\n"
        )
    path.write_text(text, encoding="utf-8")
    return path
