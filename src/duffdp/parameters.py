"""Every check of a number that a caller passes, in one place: what was given, the rule, the fix."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from duffdp.errors import DuffError

# Of mechanism: the most accurate one, the paper's, or another one that a statistic has by name.
Choice = str

# What an interval holds: the exact statistic of the records, or that of what they were drawn from.
Covers = Literal["data", "population"]

# no answer to speak of below, no protection above, and doubles bear it
LEAST_EPSILON, MOST_EPSILON = 1e-12, 1e9
LARGEST_DENOMINATOR = 10**6  # of a share q: keeps m * n in int64 up to 9 * 10**12 records


def plain_number(value: Any) -> int | float | Decimal | Fraction | None:
    """A number of Python or numpy as one of Python; None for anything else, truth values too."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item() if getattr(value, "ndim", 0) == 0 else None
    return (
        value
        if isinstance(value, int | float | Decimal | Fraction) and not isinstance(value, bool)
        else None
    )


def exact(number: float | Decimal | Fraction) -> Fraction:
    """A number as the decimal that was written: 0.1 is 1/10."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def read_epsilon(epsilon: Any) -> Fraction:
    """A number above 0 that doubles can work with."""
    number = plain_number(epsilon)
    try:
        fits = number is not None and LEAST_EPSILON <= float(number) <= MOST_EPSILON
    except (OverflowError, ValueError):
        fits = False
    if number is None or not fits:
        raise DuffError(
            f"epsilon must be a finite number above 0 ({LEAST_EPSILON:g} to {MOST_EPSILON:g}), got "
            f"{epsilon!r:.40}. Pass for example epsilon=1.0."
        )
    return exact(number)


def read_q(q: Any) -> Fraction:
    """A share from 0 to 1 as the decimal that was written: 0.1 is 1/10, and 1/3 is one third."""
    number = plain_number(q)
    if number is None or not 0 <= number <= 1:
        raise DuffError(f"q must be a number from 0 to 1, got {q!r:.40}. Pass for example q=0.25.")
    return exact(number).limit_denominator(LARGEST_DENOMINATOR)


def read_qs(qs: Any) -> tuple[Fraction, ...]:
    """Shares from 0 to 1, sorted; at least one, all different."""
    fix = "Pass for example qs=[0.25, 0.5, 0.75]."
    if isinstance(qs, str | bytes) or not isinstance(qs, Iterable):
        raise DuffError(f"qs must be a list of numbers from 0 to 1, got {qs!r:.40}. {fix}")
    shares = sorted(read_q(q) for q in qs)
    if not shares:
        raise DuffError(f"qs must hold at least one number from 0 to 1, got none. {fix}")
    for a, b in pairwise(shares):
        if a == b:
            raise DuffError(
                f"qs must differ from each other, got {share_text(a)} twice. Ask for it once."
            )
    return tuple(shares)


def share_text(q: Fraction) -> str:
    """A share as short as it can be without being taken for another one."""
    short = f"{float(q):g}"
    return short if Fraction(short) == q else repr(float(q))


def read_trim(trim: Any) -> Fraction:
    """The share that a trimmed mean cuts off at either end: above 0 and below 1/2."""
    number = plain_number(trim)
    if number is None or not 0 < number < 0.5:
        raise DuffError(
            f"trim must be a number above 0 and below 0.5, got {trim!r:.40}. Pass for example "
            "trim=0.1."
        )
    return exact(number).limit_denominator(LARGEST_DENOMINATOR)


def read_nodes(nodes: Any) -> int:
    """The public number of nodes of a graph: a whole number of 3 or more."""
    return _whole("nodes", nodes, 3, "known without the edges. Pass for example nodes=1000")


def read_k(k: Any) -> int:
    """Edges of a star: a whole number of 2 or more."""
    return _whole("k", k, 2, "the edges of a star. Pass for example k=2")


def read_places(k: Any) -> int:
    """How many of the most common values: a whole number of 1 or more."""
    return _whole("k", k, 1, "how many values. Pass for example k=5")


def read_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise DuffError(f"{name} must be True or False, got {value!r:.40}.")
    return value


def read_x(x: Any) -> str | None:
    """The column of x; None where x is an array."""
    return _column("x", x)


def read_y(y: Any) -> str | None:
    """The column of y; None where y is an array."""
    return _column("y", y)


def _column(name: str, column: Any) -> str | None:
    if column is not None and not isinstance(column, str):
        raise DuffError(
            f"{name} must be the name of a column, got {column!r:.40}. Pass for example "
            f'{name}="age".'
        )
    return column


def read_contributions(contributions: Any) -> int:
    """How many rows of a person count: a whole number of 1 or more."""
    return _whole(
        "contributions",
        contributions,
        1,
        "the rows of a person that count. Pass for example contributions=1",
    )


def read_groups_per_person(groups: Any) -> int | None:
    """In how many groups a person counts: a whole number of 1 or more; None for a cap over all."""
    if groups is None:
        return None
    fix = "the groups of a person that count. Pass for example groups_per_person=2"
    return _whole("groups_per_person", groups, 1, fix)


def _whole(name: str, value: Any, least: int, fix: str) -> int:
    number = plain_number(value)
    if not isinstance(number, int) or number < least:
        raise DuffError(
            f"{name} must be a whole number of {least} or more, got {value!r:.40}: {fix}."
        )
    return number


def read_suppress_below(below: Any) -> int | None:
    """The noisy size below which values are withheld: a whole number of 1 or more; None for no
    size.
    """
    if below is None:
        return None
    fix = "a noisy number of records. Pass for example suppress_below=20"
    return _whole("suppress_below", below, 1, fix)


def read_smallest(smallest: Any) -> int:
    """The noisy count below which a group is too small: a whole number of 0 or more."""
    return _whole("smallest", smallest, 0, "a noisy count. Pass for example smallest=20")


def read_group_size(size: Any) -> int:
    """How many records a group has: a whole number of 1 or more."""
    return _whole("group_size", size, 1, "the records of a group. Pass for example group_size=200")


def read_confidence(confidence: Any) -> Decimal:
    """A probability strictly between 0 and 1, as the decimal that was written."""
    number = plain_number(confidence)
    if number is None or not 0 < number < 1:
        raise DuffError(
            f"confidence must lie between 0 and 1, got {confidence!r:.40}. Pass for example "
            "confidence=0.95."
        )
    share = exact(number)
    return Decimal(share.numerator) / Decimal(share.denominator)


class Groups(NamedTuple):
    """Groups of rows: the columns that form them, and their public keys."""

    by: tuple[str, ...]
    keys: Sequence[tuple[Any, ...]]


class Suppression(NamedTuple):
    """Values of groups with a smaller noisy size are withheld. The size is `own`, a number of the
    statistic itself, or is drawn beside it.
    """

    below: int
    own: str | None = None


class Interval(NamedTuple):
    """How often an interval holds what it covers, at least, what that is, and whether that is
    promised of all intervals of a release together or of each by itself.
    """

    confidence: Fraction
    covers: Covers
    simultaneous: bool = False


def read_interval(interval: Any, covers: Any, simultaneous: Any = False) -> Interval | None:
    """A probability strictly between 0 and 1 and what an interval covers; None for no interval."""
    if covers not in ("data", "population"):
        raise DuffError(
            f'covers must be "data" (the records at hand) or "population" (what they were drawn '
            f"from), got {covers!r:.40}."
        )
    together = read_flag("simultaneous", simultaneous)
    if interval is None:
        if together:
            raise DuffError(
                "simultaneous=True says how intervals hold, got no interval. Pass for example "
                "interval=0.95."
            )
        if covers == "population":
            raise DuffError(
                'covers="population" says what an interval holds, got no interval. Pass for '
                "example interval=0.95."
            )
        return None
    number = plain_number(interval)
    if number is None or not 0 < number < 1:
        raise DuffError(
            f"interval must be a confidence between 0 and 1, got {interval!r:.40}. Pass for "
            "example interval=0.95."
        )
    return Interval(exact(number), covers, together)


def read_number(name: str, value: Any, low: float, high: float, fix: float) -> float:
    """A number strictly between two others."""
    number = plain_number(value)
    if number is None or not low < number < high:
        rule = (
            f"a finite number above {low:g}"
            if math.isinf(high)
            else f"a number between {low:g} and {high:g}"
        )
        raise DuffError(f"{name} must be {rule}, got {value!r}. Pass for example {name}={fix:g}.")
    return float(number)


def read_delta(delta: Any) -> Fraction:
    """A delta from 0 to below 1."""
    number = plain_number(delta)
    if number is None or not 0 <= number < 1:
        raise DuffError(
            f"delta must be a number from 0 to below 1, got {delta!r:.40}. Pass for "
            "example delta=0."
        )
    return exact(number)


def read_weight(weight: Any) -> Fraction:
    """A finite weight above 0."""
    number = plain_number(weight)
    if number is None or not 0 < number < math.inf:
        raise DuffError(
            f"weight must be a finite number above 0, got {weight!r:.40}. Pass for "
            "example weight=1."
        )
    return exact(number)
