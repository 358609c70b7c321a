"""Numbers as people write them, in the unit that they have."""

from __future__ import annotations

import math


def rounded(number: float) -> str:
    """About three digits: nobody plans with more.

    Examples
    --------
    >>> from duffdp.studio.numbers import rounded
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
