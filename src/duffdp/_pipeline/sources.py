"""Sources of public values, such as bounds, as the author of a plan states them."""

from __future__ import annotations

from collections.abc import Mapping

from duffdp._pipeline.toml import refuse_unknown
from duffdp.errors import DuffError

SOURCES = ("bounds", "step", "categories", "keys", "plan", "publications", "audit")
#: What an entry of a registry asks of people.
REGISTRY_SOURCES = ("curator", "purpose", "region", "sector", "actors", "justification")


def read_sources(sources: object) -> dict[str, str]:
    """Answers that a reviewer will ask for, as text; none if nothing was given.

    `bounds`, `step`, `categories` (and bins), `keys`: where they came from. `plan`: when it was
    fixed, and by whom. `publications`: what else was published from the same data. `audit`: which
    checks were run on this installation. The others are for an entry of a registry.
    """
    if sources is None:
        return {}
    if not isinstance(sources, Mapping):
        raise DuffError(
            f"sources must be a mapping from topics to text, got {type(sources).__name__}. Pass "
            "for "
            'example sources={"bounds": "the form allows 0 to 120"}.'
        )
    refuse_unknown(sources, (*SOURCES, *REGISTRY_SOURCES), "sources")
    for name, text in sources.items():
        if not isinstance(text, str) or not text.strip():
            raise DuffError(
                f"sources: {name} must be text, got {text!r:.60}. Leave it out if it is not known."
            )
    return dict(sources)
