"""Attacks every statistic from the outside and writes the bounds into reviewers.md.

    python docs/audit.py [--draws 5000] [--processes 2]

The attacks are those of `duffdp audit --lower-bound`. Then the same functions are attacked
while they spend a multiple of the epsilon that they claim, until an attack notices.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from duffdp._engines.arrays.threads import cores
from duffdp.audit.cases import attack_cases, attacks, stays_below
from duffdp.version import __version__

PAGE = Path(__file__).parent / "review" / "reviewers.md"
BEGIN, END = "<!-- attacks: written by audit.py -->", "<!-- end of attacks -->"
MULTIPLES = (2, 4, 8, 16, 32, 64)
HEAD = "| release of epsilon 1 | a row | a row of a group | a person | an edge | found out at |"


def found_out_at(place: int, draws: int) -> int | None:
    """The least multiple of epsilon that the attack notices when it is spent."""
    cases = attack_cases()
    for times in MULTIPLES:
        if not stays_below(cases[place].lower_bound(times, draws), len(cases)):
            return times
    return None


def rows(draws: int, processes: int) -> Iterator[str]:
    """A line for each release: the bound for each kind of neighbor, and the noticed multiple."""
    found: dict[str, dict[str, str]] = {}
    for case, bound in attacks(draws, processes):
        assert stays_below(bound, len(attack_cases())), f"{case}: at least {bound.epsilon()}"
        found.setdefault(case.title, {})[case.family] = f"{max(bound.epsilon(), 0.0):.2f}"
    copies = {c.title: i for i, c in enumerate(attack_cases()) if c.family in ("group", "edge")}
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn) as pool:
        times = pool.map(partial(found_out_at, draws=draws), copies.values())
        multiples = dict(zip(copies, times, strict=True))
    for title, bounds in found.items():
        cells = [bounds.get(family, "") for family in ("row", "group", "person", "edge")]
        multiple = multiples[title]
        caught = f"{multiple} times" if multiple else f"not at {MULTIPLES[-1]} times"
        yield f"| `{title}` | {' | '.join(cells)} | {caught} |"


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--draws", type=int, default=5_000)
    read.add_argument("--processes", type=int, default=cores())
    given = read.parse_args()
    lines = list(rows(given.draws, given.processes))
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    minutes = sum(one.ru_utime + one.ru_stime for one in used) / 60
    said = (
        f"Version {__version__}, {given.draws:,} releases of each data set, "
        f"{len(attack_cases())} attacks and their mutated copies in {minutes:.0f} minutes of one "
        "core."
    )
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    table = "\n".join([HEAD, "| --- | ---: | ---: | ---: | ---: | --- |", *lines])
    PAGE.write_text(f"{before}{BEGIN}\n\n{said}\n\n{table}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
