"""The entries of the median, of quantiles and of the summary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from duffdp.parameters import Choice, read_q, read_qs, share_text
from duffdp.statistics.entry import Column, Entry, Finish, Parameters, Part, ends, exactly

if TYPE_CHECKING:
    from duffdp.domain import PublicSet

# Up to so many quantiles are drawn together with a size, which is a little more accurate; for more
# of them it takes too long.
MOST_WITH_SIZE = 20


def _quantile(q: Fraction, column: str, choice: Choice) -> tuple[Part, ...]:
    """The most accurate way, or the paper's."""
    from duffdp.statistics.quantile import Quantile

    if choice == "duff":
        return (Part(Quantile(q), "exponential", (column,), utility="distance"),)
    if q in (0, 1):
        from duffdp.statistics.extreme import ExtremeAtAnyEpsilon

        aimed = ExtremeAtAnyEpsilon(q)
        return (
            Part(
                aimed, "permute-and-flip", (column,), utility="inside", on_coarse_domain="lattice"
            ),
        )
    signed = Quantile(q, "signed")
    return (
        Part(signed, "permute-and-flip", (column,), utility="signed", on_coarse_domain="lattice"),
    )


def _quantiles(given: Parameters, choice: Choice) -> tuple[Part, ...]:
    """All in one draw, many of them after a count, or the paper's mechanism for each with the same
    share of epsilon.
    """
    from duffdp.statistics.count import Count
    from duffdp.statistics.quantile import Quantile
    from duffdp.statistics.quantiles import Quantiles, QuantilesAfterCount

    qs: tuple[Fraction, ...] = given["qs"]
    names = tuple(map(share_text, qs))
    if len(qs) == 1:
        return _quantile(qs[0], names[0], choice)
    if choice == "best" and {0, 1} & set(qs):
        return _with_extremes(qs, names)
    if choice == "best":
        if len(qs) <= MOST_WITH_SIZE:
            return (Part(Quantiles(qs), "joint-exponential", names),)
        share = Fraction(1, 3 * math.isqrt(len(qs)))
        return (
            Part(Count(), "two-sided-geometric", ("count",), share, kind="count"),
            Part(QuantilesAfterCount(qs), "joint-exponential", names, 1 - share),
        )
    share = Fraction(1, len(qs))
    return tuple(
        Part(Quantile(q), "exponential", (name,), share, "distance")
        for q, name in zip(qs, names, strict=True)
    )


def _with_extremes(qs: tuple[Fraction, ...], names: tuple[str, ...]) -> tuple[Part, ...]:
    """The least and the largest record by draws of their own, the others together; each of them has
    the same share of epsilon.
    """
    inner = tuple(q for q in qs if 0 < q < 1)
    own = [
        replace(part, share=Fraction(1, len(qs)))
        for q, name in zip(qs, names, strict=True)
        if q in (0, 1)
        for part in _quantile(q, name, "best")
    ]
    if not inner:
        return tuple(own)
    share = Fraction(len(inner), len(qs))
    *count, others = _quantiles({"qs": inner}, "best")
    shared = [replace(part, share=part.share * share) for part in (*count, others)]
    return (*shared[:-1], *own[: qs[0] == 0], shared[-1], *own[int(qs[0] == 0) :])


def _sorted_quantiles(given: Parameters, choice: Choice) -> Finish | None:
    """Quantiles that were drawn one by one are sorted, and a count that was drawn before is
    dropped.
    """
    qs: tuple[Fraction, ...] = given["qs"]
    if choice == "best" and len(qs) <= MOST_WITH_SIZE and not ({0, 1} & set(qs) and len(qs) > 1):
        return None
    columns = tuple(Column(share_text(q)) for q in qs)

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
        candidates: Any = domain
        return [candidates.value(i) for i in sorted(numbers[-len(qs) :])]

    return Finish(lambda _: columns, values)


def _describe(_: Parameters, choice: Choice) -> tuple[Part, ...]:
    from duffdp.statistics.summary import summary_parts

    return summary_parts()


def _summary_finish(_: Parameters, choice: Choice) -> Finish:
    from duffdp.statistics.summary import SUMMARY_FINISH

    return SUMMARY_FINISH


ENTRIES = (
    Entry(
        name="median",
        summary="A private median of a column, overall or for each group.",
        parts=lambda _, choice: _quantile(Fraction(1, 2), "median", choice),
        interval=ends("interval", "around_quantile"),
        ends_are_drawn=True,
        covers_population=True,
        title=lambda _: "Median",
        uneven=True,
        step_rule=lambda _: "order",
        distance_bound="one",
        baselines="quantile",
        exact=exactly("quantile"),
    ),
    Entry(
        name="quantile",
        summary="Private quantiles of a column, overall or for each group.",
        parts=lambda given, choice: _quantile(given["q"], "quantile", choice),
        interval=ends("interval", "around_quantile"),
        ends_are_drawn=True,
        covers_population=True,
        title=lambda given: f"Quantile {given['q']}",
        uneven=True,
        step_rule=lambda _: "order",
        read={"q": read_q},
        several=("quantiles", "qs"),
        examples=({"q": 0.9}, {"q": 0}),
        distance_bound="one",
        baselines="quantile",
        exact=exactly("quantile"),
    ),
    Entry(
        name="quantiles",
        parts=_quantiles,
        title=lambda given: f"Quantiles {', '.join(map(str, given['qs']))}",
        uneven=True,
        step_rule=lambda _: "order",
        read={"qs": read_qs},
        shape="list",
        label=lambda column: f"quantile({column})",
        finish=_sorted_quantiles,
        interval=ends("interval", "around_quantiles"),
        ends_are_drawn=True,
        covers_population=True,
        examples=({"qs": (0.25, 0.75)},),
        exact=exactly("quantiles"),
    ),
)
SUMMARY_ENTRY = Entry(
    name="describe",
    summary="A private summary of a column: its count, mean, quartiles, 1 % and 99 %; one epsilon "
    "for all.",
    parts=_describe,
    finish=_summary_finish,
    interval=ends("summary", "around_summary"),
    ends_are_drawn=True,
    title=lambda _: "Summary",
    uneven=True,
    step_rule=lambda _: "order",
    shape="dictionary",
    size="count",
    lines="of all",
    choices=("best",),
    exact=exactly("summary"),
)
