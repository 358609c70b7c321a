"""Statistics that one record can move to anything: what to ask for in their place."""

from __future__ import annotations

_ENDS = "one record alone decides about it. Use quantile with q = {}, which a few cannot move"
_PAIRS = "one record can move it to anything. Compare quantiles or means in groups by the other"

ALTERNATIVES = {
    "min": _ENDS.format(0.01),
    "minimum": _ENDS.format(0.01),
    "max": _ENDS.format(0.99),
    "maximum": _ENDS.format(0.99),
    "gini": "one large record can move it to anything. Use quantiles, and compare their distances",
    "pearson": _PAIRS,
    "corr": _PAIRS,
    "correlation": _PAIRS,
    "mad": "no cheap distance is known. Use quantiles with q = 0.25 and 0.75, half their distance",
    "ratio": "a small divisor moves it to anything. Use the median of a column that holds ratios",
}


def refused(name: str) -> str | None:
    """Why there is no such statistic and what to use; None if there is nothing to say."""
    return f"there is no {name}: {ALTERNATIVES[name]}." if name in ALTERNATIVES else None
