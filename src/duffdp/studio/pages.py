"""The pages of the studio as HTML: all texts escaped, nothing in them acts."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2

from duffdp.printable import visible
from duffdp.studio.numbers import rounded


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("duffdp.studio", "templates"),
        autoescape=True,
        finalize=_text,  # no text can be forgotten
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["rounded"] = lambda number: rounded(float(number))
    return made


def render(name: str, **given: Any) -> str:
    """The page of a template."""
    return _environment().get_template(f"{name}.html.jinja").render(**given)


def _text(value: object) -> object:
    """Any text on a page; what is markup stays so."""
    if hasattr(value, "__html__"):
        return value
    text = str(value)
    return text if "\n" in text else visible(text)
