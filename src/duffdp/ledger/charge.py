"""The proof that a release was paid for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from duffdp.facts import Facts


@dataclass(slots=True)
class Charge:
    """A paid release. `numbers` are those of a release that was stored under the same call id before."""

    facts: Facts
    numbers: list[list[int]] | None = None
    store: Callable[[list[list[int]]], None] | None = None

    def keep(self, numbers: list[list[int]]) -> None:
        """Store what came out, before anybody sees it, if a retry may ask for it."""
        if self.store is not None:
            self.store(numbers)
