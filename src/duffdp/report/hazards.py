"""Hazards that a reviewer must check before signing, after NIST SP 800-226."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from duffdp._pipeline.error_bounds import count_bound
from duffdp._pipeline.release import Release
from duffdp._pipeline.sources import read_sources
from duffdp._privacy import PrivacyUnit
from duffdp._text import parameter_text
from duffdp.domain import Bins, Categories, Digits, Grid, Presence
from duffdp.errors import DuffError
from duffdp.report.results import NamedReleases, result_tables

_GROUP_SIZES = (100, 1_000, 10_000)
_EPSILON_ROUNDING = 1e-9  # of sums of epsilons
_TRUST = "The person who ran this had access to the raw data and is trusted; readers need not be."
_TIMING = (
    "Not protected: the time and the memory of a query can depend on the records. Do not let "
    "outsiders measure them."
)

_DEFAULT_STEP = "The default, which depends on the bounds, the statistic and epsilon alone."


class Budget(Protocol):
    """Facts about a ledger for a report: the total epsilon, and the remaining part."""

    @property
    def epsilon(self) -> float: ...
    def remaining(self) -> float: ...


class BudgetGauge(NamedTuple):
    """Epsilon of a budget: the total, this report's part, that of other releases, and the rest."""

    total: float
    report: float
    other_releases: float
    remaining: float

    @property
    def spent(self) -> float:
        """The epsilon spent so far."""
        return self.total - self.remaining

    @property
    def charged(self) -> bool:
        """True if the charges of the ledger cover this report."""
        return self.other_releases > -_EPSILON_ROUNDING

    def percent(self, amount: float) -> str:
        """A part of the total, for CSS."""
        return f"{100 * min(max(amount / self.total, 0.0), 1.0):.4g}%"


def budget_gauge(ledger: Any, report: float) -> BudgetGauge:
    """The gauge of a ledger, whose numbers may be plain or have an epsilon."""
    try:
        remaining_loss = ledger.remaining() if callable(ledger.remaining) else ledger.remaining
        remaining, total = (
            float(getattr(remaining_loss, "epsilon", remaining_loss)),
            float(ledger.epsilon),
        )
    except (AttributeError, TypeError):
        raise DuffError(
            f"ledger must have epsilon and remaining(), got {type(ledger).__name__}. Pass a "
            "duffdp.Ledger or None."
        ) from None
    other_releases = total - remaining - report
    return BudgetGauge(
        total, report, 0.0 if abs(other_releases) < _EPSILON_ROUNDING else other_releases, remaining
    )


class HazardAnswer(NamedTuple):
    """One hazard, and the answer that follows from the releases; `open` if it is missing."""

    topic: str
    text: str
    open: bool = False


def sign_off(
    releases: object, *, ledger: object = None, sources: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Answers to the hazards of NIST SP 800-226, from the facts of releases.

    Parameters
    ----------
    releases
        As `report.write` takes them.
    ledger
        The ledger that they were charged to.
    sources
        Facts that no release contains, in your words: the sources of `bounds`, `step`, `categories`
        and `keys`, when the `plan` was fixed, other `publications` from the same data, and which
        `audit` was run.

    Returns
    -------
    list of dict
        `topic`, `text`, and `open`: True if an answer is missing.

    Privacy
    -------
    Made from public facts alone, without a released value.

    References
    ----------
    Near, Darais, Lefkovitz and Howarth, "Guidelines for evaluating differential privacy
    guarantees" (NIST SP 800-226, 2025).

    Examples
    --------
    >>> import duffdp
    >>> release = duffdp.median([31, 35, 40], epsilon=1.0, bounds=(0, 120), step=1)
    >>> sources = {"bounds": "nobody is older than 120", "plan": "fixed before the data came"}
    >>> answers = duffdp.report.sign_off(release, sources=sources)
    >>> [answer["topic"] for answer in answers if answer["open"]]
    ['Total epsilon', 'Source of step', 'Other publications', 'Audit']
    """
    _, named = result_tables(releases)
    total = math.fsum(release.epsilon for _, release in named)
    gauge = None if ledger is None else budget_gauge(ledger, total)
    return [answer._asdict() for answer in hazard_answers(named, gauge, read_sources(sources))]


def hazard_answers(
    named: NamedReleases, gauge: BudgetGauge | None, sources: Mapping[str, str]
) -> list[HazardAnswer]:
    """All answers, in the order in which a guarantee is read."""
    releases = [release for _, release in named]
    total = math.fsum(release.epsilon for release in releases)

    def from_user(topic: str, name: str, missing: str) -> HazardAnswer:
        text = sources.get(name, f"Not answered. {missing}")
        return HazardAnswer(topic, text, name not in sources)

    return [
        HazardAnswer("Unit", " ".join(_once(releases, lambda release: _unit(release.unit)))),
        HazardAnswer(
            "Neighbors",
            "Data sets that differ by one such unit, which is added or removed. Replacing a unit "
            f"counts as two changes, for which epsilon is {parameter_text(2 * total)}.",
        ),
        HazardAnswer("Epsilon of this report", parameter_text(total)),
        _in_all(gauge),
        _delta(releases),
        *(
            HazardAnswer("Source of step", _DEFAULT_STEP)
            if name == "step" and name not in sources and _has_default_steps(releases)
            else from_user(
                f"Source of {name}", name, f"Explain where {name} came from, if not from the data."
            )
            for name in _assumed(releases)
        ),
        HazardAnswer("Bias", " ".join(_bias(releases))),
        HazardAnswer("Error by group size", _by_size(named)),
        from_user("Plan fixed first", "plan", "Was the plan fixed before anyone saw the data?"),
        HazardAnswer("Trust", _TRUST),
        _draws(releases),
        HazardAnswer("Timing", _TIMING),
        from_user(
            "Other publications",
            "publications",
            "Everything else that was published from the same records adds to epsilon.",
        ),
        from_user(
            "Audit", "audit", "Run “duffdp audit” on the installation that made these releases."
        ),
    ]


def _once(releases: Sequence[Release], sentence: Callable[[Release], str]) -> list[str]:
    """The sentences about releases, each of them once."""
    return list(dict.fromkeys(filter(None, map(sentence, releases))))


def _unit(unit: PrivacyUnit) -> str:
    if unit.kind == "row":
        return "One row. Somebody with several rows is not fully protected."
    if unit.kind == "edge":
        return "One edge. A node with all of its edges is not protected."
    return (
        f"One person, identified by “{unit.column}”. Not fully protected: a person with several "
        "values of this column, and facts about several people at once, such as a household."
    )


def _in_all(gauge: BudgetGauge | None) -> HazardAnswer:
    topic = "Total epsilon"
    if gauge is None:
        return HazardAnswer(
            topic, "Not answered. There is no ledger that shows what else was spent.", open=True
        )
    if not gauge.charged:
        return HazardAnswer(
            topic, "The ledger of this report was not charged for all of it.", open=True
        )
    return HazardAnswer(
        topic,
        f"{parameter_text(gauge.spent)} of {parameter_text(gauge.total)}, according to the ledger.",
    )


def _delta(releases: Sequence[Release]) -> HazardAnswer:
    delta = math.fsum(release.delta for release in releases)
    return HazardAnswer(
        "Delta", parameter_text(delta) if delta else "0: the bound holds without exception."
    )


def _assumed(releases: Sequence[Release]) -> list[str]:
    """The parameters that were assumed to be public, whose source a reviewer asks for."""
    names: list[str] = []
    domains = [release.domain for release in releases if release.unit.kind != "edge"]
    if any(isinstance(domain, Grid) for domain in domains):
        names += ["bounds", "step"]
    if any(not isinstance(domain, Grid | Digits | Presence) for domain in domains):
        names.append("categories")
    if any(release.grouped for release in releases):
        names.append("keys")
    return names


def _has_default_steps(releases: Sequence[Release]) -> bool:
    """True if nobody chose a step."""
    return all(release.has_default_step for release in releases if isinstance(release.domain, Grid))


def _bias(releases: Sequence[Release]) -> list[str]:
    """The sentences about bias: what moves an answer before any noise."""
    if all(release.unit.kind == "edge" for release in releases):
        return ["None: every edge counts."]
    sentences = ["Missing values are dropped."]
    if any(isinstance(release.domain, Grid | Digits) for release in releases):
        sentences.append(
            "Values outside of the bounds count as the nearest bound, which biases means, sums and "
            "spreads inwards."
        )
    if any(isinstance(release.domain, Bins | Categories) for release in releases):
        sentences.append("Values that are not listed or in no bin are dropped.")
    if any(release.grouped for release in releases):
        sentences.append("Groups that are not listed are dropped.")
    caps = [
        ("1 row" if unit.contributions == 1 else f"{unit.contributions} rows")
        + ("" if unit.groups_per_person is None else f" in {unit.groups_per_person} groups each")
        for unit in sorted({r.unit for r in releases if r.unit.kind == "person"}, key=_cap)
    ]
    if caps:
        rows = " or ".join(dict.fromkeys(caps))
        sentences.append(
            f"At most {rows} per person are used, picked at random, so people with more rows have "
            "less weight than in the data."
        )
    return sentences


def _cap(unit: PrivacyUnit) -> tuple[int, int]:
    return unit.contributions, unit.groups_per_person or 0


def _by_size(named: NamedReleases) -> str:
    """Error bounds in records, as shares of groups of several sizes."""
    bounds: dict[int, dict[str, None]] = {}
    for name, release in named:
        if (bound := _record_bound(release)) is not None:
            bounds.setdefault(bound, {})[name] = None
    if not bounds:
        return "No data-independent error bound is available."
    listed = [
        f"{', '.join(names)} {bound:,} ({', '.join(_part(bound, size) for size in _GROUP_SIZES)})"
        for bound, names in sorted(bounds.items())
    ]
    sizes = f"{', '.join(f'{size:,}' for size in _GROUP_SIZES[:-1])} and {_GROUP_SIZES[-1]:,}"
    return (
        "Error in records that is not exceeded with 95% probability (and in percent of groups of "
        f"{sizes}): {'; '.join(listed)}."
    )


def _part(bound: int, size: int) -> str:
    """A bound as a share of a group, "all" if it is no smaller than the group."""
    return f"{100 * bound / size:.2g}%" if bound < size else "all"


def _record_bound(release: Release) -> int | None:
    """The number of records that an answer is off by at most, with 95% probability."""
    bound = count_bound(release.facts, 0.95)
    if bound is not None:
        return bound
    try:
        return release.distance_bound(0.95)
    except DuffError:
        return None


def _draws(releases: Sequence[Release]) -> HazardAnswer:
    if not all(release.secure for release in releases):
        return HazardAnswer("Draws", "From a seed: there is no guarantee.", open=True)
    return HazardAnswer(
        "Draws",
        "From the operating system's randomness, in exact arithmetic: rounding reveals nothing.",
    )
