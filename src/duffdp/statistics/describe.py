"""A summary: the number of records, the quartiles, and quantiles near both ends."""

from __future__ import annotations

from fractions import Fraction

from duffdp.statistics.count import Count
from duffdp.statistics.entry import Choice, Entry, Parameters, Part
from duffdp.statistics.quantiles import Quantiles

SUMMARY = {"1%": "0.01", "25%": "0.25", "50%": "0.5", "75%": "0.75", "99%": "0.99"}
COUNT_SHARE = Fraction(1, 8)  # of epsilon: the count then errs by about 8 / epsilon, more than enough for most readers


def _parts(_: Parameters, choice: Choice) -> tuple[Part, ...]:
    qs = tuple(Fraction(q) for q in SUMMARY.values())
    return (
        Part(Count(), "two-sided-geometric", ("count",), COUNT_SHARE, on_domain=False),
        Part(Quantiles(qs), "joint-exponential", tuple(SUMMARY), 1 - COUNT_SHARE),
    )


ENTRIES = {
    "describe": Entry(
        name="describe",
        parts=_parts,
        title=lambda _: "Summary",
        shape="dictionary",
        lines="of all",
        choices=("best",),
    ),
}
