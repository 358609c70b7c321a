"""What a reviewer has to know before signing: the hazards of NIST SP 800-226, one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from duffdp.domain import Digits, Grid, Presence
from duffdp.errors import DuffError
from duffdp.pipeline.accuracy import count_bound
from duffdp.pipeline.outcome import Release
from duffdp.pipeline.sources import read_sources
from duffdp.privacy import PrivacyUnit
from duffdp.report.blocks import Named, blocks
from duffdp.report.budget import Gauge, gauge_of
from duffdp.report.words import number

SIZES = (100, 1_000, 10_000)
CENTRAL = (
    "Whoever ran this saw the records and is trusted with them; readers of this page need not be."
)
TIMING = (
    "Not hidden: how long a query takes and how much memory it needs can depend on the records. "
    "Let nobody outside measure it."
)


class Answer(NamedTuple):
    """One hazard, and what the releases say about it; `open` where nobody has answered."""

    topic: str
    text: str
    open: bool = False


def sign_off(
    releases: Any, *, ledger: Any = None, sources: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Answers to the hazards of NIST SP 800-226, from the facts of releases.

    Parameters
    ----------
    releases
        As `report.write` takes them.
    ledger
        The ledger that they were charged to.
    sources
        What no release can know, in your words: where `bounds`, `step`, `categories` and `keys`
        came from, when the `plan` was fixed, other `publications` from the same data, and which
        `audit` was run.

    Returns
    -------
    list of dict
        `topic`, `text`, and `open`: True where an answer is missing.

    Privacy
    -------
    Made of public facts alone; not one released value is in it.

    References
    ----------
    Near, Darais, Lefkovitz and Howarth, "Guidelines for evaluating differential privacy
    guarantees" (NIST SP 800-226, 2025).

    Examples
    --------
    >>> import duffdp
    >>> release = duffdp.median([31, 35, 40], epsilon=1.0, bounds=(0, 120), step=1)
    >>> told = {"bounds": "nobody is older than 120", "plan": "fixed before the data came"}
    >>> answers = duffdp.report.sign_off(release, sources=told)
    >>> [answer["topic"] for answer in answers if answer["open"]]
    ['Epsilon in all', 'Source of step', 'Other publications', 'Audit']
    """
    _, named = blocks(releases)
    total = math.fsum(release.epsilon for _, release in named)
    gauge = None if ledger is None else gauge_of(ledger, total)
    return [answer._asdict() for answer in answers(named, gauge, read_sources(sources))]


def answers(named: Named, gauge: Gauge | None, sources: Mapping[str, str]) -> list[Answer]:
    """All answers, in the order in which a guarantee is read."""
    releases = [release for _, release in named]
    total = math.fsum(release.epsilon for release in releases)

    def told(topic: str, name: str, missing: str) -> Answer:
        return Answer(topic, sources.get(name, f"Not answered. {missing}"), name not in sources)

    return [
        Answer("Unit", " ".join(_once(releases, lambda release: _unit(release.unit)))),
        Answer(
            "Neighbours",
            "Data sets that differ by one such unit, which joins or leaves. If one is replaced by "
            f"another, that is two steps, and this page costs {number(2 * total)} instead.",
        ),
        Answer("Epsilon of this page", number(total)),
        _in_all(gauge),
        _delta(releases),
        *(
            told(f"Source of {name}", name, f"Whoever chose {name} must not have seen the records.")
            for name in _assumed(releases)
        ),
        Answer("Bias", " ".join(_bias(releases))),
        Answer("Error by group size", _by_size(named)),
        told("Fixed before data were seen", "plan", "Was the plan fixed before anyone saw data?"),
        Answer("Trust", CENTRAL),
        _draws(releases),
        Answer("Timing", TIMING),
        told(
            "Other publications",
            "publications",
            "What else was published from the same records adds to epsilon.",
        ),
        told("Audit", "audit", "Run “duffdp audit” on the installation that drew this."),
    ]


def _once(releases: Sequence[Release], words: Callable[[Release], str]) -> list[str]:
    """What is said of each, every sentence once."""
    return list(dict.fromkeys(filter(None, map(words, releases))))


def _unit(unit: PrivacyUnit) -> str:
    if unit.kind == "row":
        return "One row. Somebody with several rows is not protected for all of them together."
    if unit.kind == "edge":
        return "One edge. A node with all of its edges is not protected."
    return (
        f"One person, by “{unit.column}”. Not protected: somebody who stands under several of its "
        "values, and what is true of many people at once, such as a household."
    )


def _in_all(gauge: Gauge | None) -> Answer:
    topic = "Epsilon in all"
    if gauge is None:
        return Answer(topic, "Not answered. No ledger says what else was spent.", open=True)
    if not gauge.charged:
        return Answer(topic, "This page was not charged to the ledger it came with.", open=True)
    return Answer(topic, f"{number(gauge.spent)} of {number(gauge.total)}, by the ledger.")


def _delta(releases: Sequence[Release]) -> Answer:
    delta = math.fsum(release.delta for release in releases)
    return Answer("Delta", number(delta) if delta else "0: there is no event that lifts the bound.")


def _assumed(releases: Sequence[Release]) -> list[str]:
    """What was given as public, and has to come from somewhere."""
    found: list[str] = []
    domains = [release.domain for release in releases if release.unit.kind != "edge"]
    if any(isinstance(domain, Grid) for domain in domains):
        found += ["bounds", "step"]
    if any(not isinstance(domain, Grid | Digits | Presence) for domain in domains):
        found.append("categories")
    if any(release.grouped for release in releases):
        found.append("keys")
    return found


def _bias(releases: Sequence[Release]) -> list[str]:
    """What moves an answer before any noise does."""
    if all(release.unit.kind == "edge" for release in releases):
        return ["None: every edge counts."]
    said = ["Missing values are left out."]
    if any(isinstance(release.domain, Grid | Digits) for release in releases):
        said.append(
            "Values beyond the bounds count as the nearest bound, which pulls means, sums and "
            "spreads inwards."
        )
    if "categories" in _assumed(releases):
        said.append("Values that are not listed are left out.")
    if any(release.grouped for release in releases):
        said.append("Groups that are not listed are left out.")
    caps = [
        ("1 row" if unit.contributions == 1 else f"{unit.contributions} rows")
        + ("" if unit.groups_per_person is None else f" in {unit.groups_per_person} groups each")
        for unit in sorted({r.unit for r in releases if r.unit.kind == "person"}, key=_cap)
    ]
    if caps:
        rows = " or ".join(dict.fromkeys(caps))
        said.append(
            f"Of a person at most {rows} count, picked at random: people with more weigh less than "
            "in the records."
        )
    return said


def _cap(unit: PrivacyUnit) -> tuple[int, int]:
    return unit.contributions, unit.groups_per_person or 0


def _by_size(named: Named) -> str:
    """What a bound of so many records is for groups of several sizes."""
    bounds: dict[int, dict[str, None]] = {}
    for name, release in named:
        if (bound := _records(release)) is not None:
            bounds.setdefault(bound, {})[name] = None
    if not bounds:
        return "No bound is known that does without the records."
    told = [
        f"{', '.join(names)} {bound:,} ({', '.join(_part(bound, size) for size in SIZES)})"
        for bound, names in sorted(bounds.items())
    ]
    sizes = f"{', '.join(f'{size:,}' for size in SIZES[:-1])} and {SIZES[-1]:,}"
    return (
        "Off by at most so many records, with 95 % probability, and what that is of groups of "
        f"{sizes}: {'; '.join(told)}."
    )


def _part(bound: int, size: int) -> str:
    """A share of a group; more than all of it says nothing."""
    return f"{100 * bound / size:.2g} %" if bound < size else "all"


def _records(release: Release) -> int | None:
    bound = count_bound(release.facts, 0.95)
    if bound is not None:
        return bound
    try:
        return release.distance_bound(0.95)
    except DuffError:
        return None


def _draws(releases: Sequence[Release]) -> Answer:
    if not all(release.secure for release in releases):
        return Answer("Draws", "From a seed: there is no guarantee at all.", open=True)
    return Answer(
        "Draws",
        "From the operating system's randomness, decided in exact arithmetic: no rounding gives "
        "anything away.",
    )
