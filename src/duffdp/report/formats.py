"""Numbers as people write them."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

from duffdp.domain import Digits, Ordered, PublicSet


def rounded(number: float) -> str:
    """A number with about three digits, for planning.

    Examples
    --------
    >>> from duffdp.report.formats import rounded
    >>> rounded(1234.5), rounded(0.012345), rounded(0.0), rounded(2.0)
    ('1,230', '0.0123', '0', '2')
    """
    if not math.isfinite(number):
        return "unlimited"
    if number == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(number)))
    text = f"{round(number, digits):,.{max(0, min(digits, 12))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def candidate_text(value: object, domain: PublicSet) -> str:
    """A candidate with the digits of its grid, but no finer than a millionth of the range."""
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | Decimal)
        or not isinstance(domain, Ordered)
    ):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(domain, Digits):
        return _all_digits(float(value))
    finest = max(domain.spacing, domain.spacing * domain.size * 1e-6)
    return f"{value:,.{max(0, math.ceil(-math.log10(finest) - 1e-9))}f}"


def _all_digits(value: float) -> str:
    """A number with the digits it has, without an exponent unless that were long."""
    if value and not 1e-6 <= abs(value) < 1e15:
        return repr(value)
    return f"{Decimal(repr(value)).normalize():,f}"
