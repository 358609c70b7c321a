"""The proof that a release was paid for.

Promise: A charge records what was paid, and whether numbers of an earlier call were returned.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from duffdp._facts import Facts


class Result(NamedTuple):
    """Result of a release: the numbers of each group, and the time."""

    numbers: Sequence[Sequence[int]]
    time: dt.datetime


@dataclass(slots=True)
class Charge:
    """A paid release.

    `earlier` is the result that was stored under the same call id before. `store` keeps what came
    out, before anybody sees it, if a retry may ask for it; `stored` says that it did.
    """

    facts: Facts
    earlier: Result | None = None
    store: Callable[[Result], None] | None = None
    stored: bool = False
