"""Who made a page, when, and from what."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from duffdp.errors import DuffError
from duffdp.pipeline.outcome import Release


def provenance(
    releases: Sequence[Release],
    *,
    author: str | None,
    source: str | None,
    plan: str | Path | None,
    ledger: Any,
) -> list[tuple[str, str]]:
    """What is public about how a page came to be, each under its name."""
    days = sorted({release.time.date().isoformat() for release in releases})
    versions = sorted({release.version for release in releases})
    found = [
        ("Author", author),
        ("Drawn on", days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"),
        ("Data", source),
        ("Made with", f"duffdp {', '.join(versions)}"),
        ("Plan", None if plan is None else _fingerprint(Path(plan))),
        ("Ledger's last hash", _head(ledger)),
    ]
    return [(name, str(text)) for name, text in found if text is not None]


def _fingerprint(plan: Path) -> str:
    """The name of a plan and a hash of what is in it."""
    try:
        return f"{plan.name}, SHA-256 {hashlib.sha256(plan.read_bytes()).hexdigest()}"
    except OSError as error:
        raise DuffError(
            f"the plan {str(plan)!r} cannot be read ({error.strerror}). Pass the path of its file."
        ) from None


def _head(ledger: Any) -> str | None:
    """The hash over all that a ledger holds; other things with a budget have none."""
    from duffdp.ledger import Ledger

    return ledger.verify().head if isinstance(ledger, Ledger) else None
