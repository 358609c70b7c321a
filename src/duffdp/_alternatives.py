"""Hints for names that people try and that do not exist."""

from __future__ import annotations

from collections.abc import Iterable

from duffdp.errors import did_you_mean

_ENDS = (
    "it depends on a single record. Use quantile with q = {}, which a few records cannot change "
    "much"
)
_PAIRS = "one record can move it to anything. Compare quantiles or means in groups by the other"

# One record can move these to anything.
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


_PLANS = "Plans are run by duffdp release and duffdp table, or by Plan and TablePlan in Python"
COMMAND_ADVICE = {"plan": _PLANS, "run": _PLANS}
SYNONYMS = {
    "avg": "mean",
    "average": "mean",
    "percentile": "quantile",
    "percentiles": "quantiles",
    "stddev": "std",
    "stdev": "std",
    "var": "variance",
    "proportion": "share",
    "fraction": "share",
    "hist": "histogram",
    "summary": "describe",
    "size": "count",
}


# Names of parameters in other libraries.
PARAMETER_SYNONYMS = {
    "eps": "epsilon",
    "lower": "bounds",
    "upper": "bounds",
    "range": "bounds",
    "groupby": "by",
    "group_by": "by",
    "groups": "keys",
    "partitions": "keys",
    "public_partitions": "keys",
    "privacy_id": "unit",
    "user_id": "unit",
    "person": "unit",
    "max_contributions": "contributions",
    "max_rows": "contributions",
    "confidence": "interval",
    "confidence_interval": "interval",
    "query": "where",
    "filter": "where",
    "condition": "where",
    "budget": "ledger",
    "accountant": "ledger",
    "seed": "rng",
    "random_state": "rng",
}


def parameter_hint(name: str, names: Iterable[str]) -> str:
    """The parameters that may be meant by an unknown one, or all of them, after a space."""
    listed = list(names)
    hint = did_you_mean(PARAMETER_SYNONYMS.get(name, name), listed)
    return hint or f" Its parameters are {', '.join(listed)}."


def use_instead(name: str, names: Iterable[str]) -> str:
    """Why there is no such name among some, and what to use, after a space; empty if there is
    nothing to say.
    """
    for reason in (ALTERNATIVES.get(name), COMMAND_ADVICE.get(name)):
        if reason is not None:
            return f" {reason[0].upper()}{reason[1:]}."
    return did_you_mean(SYNONYMS.get(name, name), names)
