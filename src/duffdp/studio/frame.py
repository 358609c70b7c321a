"""The first page: the frame around a plan, put together without a template engine, for it has to be
there at once.
"""

from __future__ import annotations

from pathlib import Path

from duffdp.printable import as_html

STATIC = Path(__file__).parent / "static"
TEMPLATES = Path(__file__).parent / "templates"
TITLE = "duffdp studio"


def first_page(csrf: str, source: str) -> str:
    """The page that asks for the plan of a file."""
    parts = ((TEMPLATES / f"{name}.html").read_text("utf-8") for name in ("head", "frame", "foot"))
    page = "".join(parts)
    for name, text in (("title", TITLE), ("csrf", csrf), ("source", source)):
        page = page.replace(f"{{{{ {name} }}}}", as_html(text))
    return page
