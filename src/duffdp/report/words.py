"""Public facts of a release in plain sentences."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

from duffdp.domain import Categories, Domain
from duffdp.errors import DuffError
from duffdp.release import Release

_FEW = 12  # so many categories are named, more are counted
_UTILITIES = {
    "distance": "how many records would have to join or leave to make it true",
    "signed": "how many records would have to join or leave to make it true, or untrue if it is true already",
}
_JOINT = "the joint exponential mechanism, by how far the numbers of records between the answers are from what they should be"
_MECHANISMS = {
    "exponential": "the exponential mechanism",
    "permute-and-flip": "permute-and-flip",
    "joint-exponential": _JOINT,
    "two-sided-geometric + joint-exponential": f"two-sided geometric noise on the count, and {_JOINT}",
}


def number(value: float) -> str:
    """A parameter as a person would write it."""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def written(value: Any, domain: Domain) -> str:
    """A candidate with as many digits as its grid has, but no more than a millionth of the range."""
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal) or isinstance(domain, Categories):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    finest = max(domain.spacing, domain.spacing * domain.size * 1e-6)
    return f"{value:,.{max(0, math.ceil(-math.log10(finest) - 1e-9))}f}"


def lasting(step: dt.timedelta) -> str:
    """A step in time as a person would say it."""
    if step.seconds or step.microseconds:
        return f"{number(step.total_seconds())} seconds" if step.total_seconds() != 1 else "1 second"
    return "1 day" if step.days == 1 else f"{step.days} days"


def statistic(release: Release) -> str:
    name, _, share = release.statistic.partition("(")
    if name == "quantiles":
        return f"Quantiles {share.rstrip(')')}"
    if name == "describe":
        return "Summary"
    return f"Quantile {share.rstrip(')')}" if share else name.capitalize()


def odds(epsilon: float) -> str:
    """What epsilon means for someone who guesses."""
    if epsilon > 20:
        return "An epsilon this large gives no protection worth the name: a guess about one person can become as good as certain."
    factor, sure = math.exp(epsilon), 1 / (1 + math.exp(-epsilon))
    return (
        f"Whatever someone knows or suspects about one person, seeing the result changes the odds by a factor of at most {factor:.3g}: "
        f"a fifty-fifty guess can become at most {100 * sure:.3g} % sure."
    )


def protected(release: Release) -> str:
    """Who the guarantee is for."""
    if release.unit == "row":
        return (
            "One row of the table, whatever is in it: the result would be about as likely without it, or with one more. "
            "This protects a person if a person has one row."
        )
    rows = "one row" if release.contributions == 1 else f"{release.contributions} rows"
    return (
        f"All rows with the same value of “{release.unit}” together. At most {rows} of each took part, "
        f"{'over all groups together, ' if release.grouped else ''}picked at random; the guarantee covers them all at once."
    )


def assumed_public(release: Release) -> list[str]:
    """What the guarantee does not protect, because it was known before."""
    domain = release.domain
    if isinstance(domain, Categories):
        named = ", ".join(map(str, domain)) if domain.size <= _FEW else "as listed in the plan of the release"
        first = f"the {domain.size} possible answers: {named}"
    else:
        step = lasting(domain.step) if isinstance(domain.step, dt.timedelta) else number(float(domain.step))
        first = (
            f"the possible answers: from {written(domain.lower, domain)} to {written(domain.upper, domain)} "
            f"in steps of {step}, {domain.size:,} in all; records outside count as the nearest of them"
        )
    grouped = ["the list of groups; a group without rows has an answer too"] if release.grouped else []
    return [first, *grouped, "the name and type of the columns, the statistic, the mechanism and epsilon"]


def mechanism(release: Release) -> str:
    kind, _, utility = release.mechanism.partition("(")
    said = _UTILITIES.get(utility.rstrip(")"))
    how = (
        f"{_MECHANISMS.get(kind, kind)}; an answer is the less likely, the larger its distance: {said}"
        if said
        else _MECHANISMS.get(release.mechanism, release.mechanism)
    )
    return f"{how}. Draws are exact, no delta." if release.delta == 0 else f"{how}. Delta is {number(release.delta)}."


def accuracy(release: Release) -> str:
    """The error in the terms of the paper."""
    try:
        likely, sure = release.distance_bound(0.95), release.distance_bound(0.99)
    except DuffError:
        return "For this mechanism no bound is known that does without the data."
    row, rows = ("person", "people") if release.contributions == 1 and release.unit != "row" else ("row", "rows")
    beyond = " beyond those that the closest possible answer needs" if release.statistic == "mean" else ""
    each = " This holds for each group by itself." if release.grouped else ""
    return (
        f"With 95 % probability at most {likely:,} {row if likely == 1 else rows}{beyond} would have to join or leave to make this "
        f"the exact answer; with 99 % at most {sure:,}.{each} This follows from what is public; the data play no part in it."
    )
