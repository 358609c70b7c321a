"""All attacks from the outside, several at once."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import duffdp
from duffdp.audit.lower_bound import LowerBound
from duffdp.audit.releases import AuditedRelease, audited_releases

FALSE_ALARM = 1e-6  # of all attacks together, for a sound library


def attacked() -> list[AuditedRelease]:
    """Every release that is attacked, by the verbs of the package."""
    return list(audited_releases(duffdp))


def attacks(draws: int, processes: int) -> Iterator[tuple[AuditedRelease, LowerBound]]:
    """What so many draws for each of two neighbours tell of each release of epsilon 1."""
    cases = attacked()
    attack, places = partial(_attack, draws=draws), range(len(cases))
    if processes == 1:
        yield from zip(cases, map(attack, places), strict=True)
        return
    # Spawned: the threads of engines would be half-way in a fork.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        yield from zip(cases, pool.map(attack, places), strict=True)


def _attack(place: int, draws: int) -> LowerBound:
    return attacked()[place].lower_bound(1.0, draws)


def stays_below(found: LowerBound, many: int) -> bool:
    """Whether one of so many attacks shows no epsilon above 1."""
    return found.epsilon(1 - FALSE_ALARM / many) <= 1
