"""Every statistic by its name, one entry each. What an entry needs is loaded when it is used: the
command line lays out its options from here without numpy."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from duffdp.errors import DuffError
from duffdp.parameters import (
    Choice,
    Interval,
    read_q,
    read_qs,
    read_trim,
    read_x,
    read_y,
    share_text,
)
from duffdp.statistics.cell_entries import ENTRIES as CELLS
from duffdp.statistics.distribution_entry import DISTRIBUTION
from duffdp.statistics.entry import Column, Entry, Finish, Parameters, Part, exactly
from duffdp.statistics.graph_entries import ENTRIES as GRAPHS

if TYPE_CHECKING:
    from duffdp.domain import PublicSet

# The quantiles of `describe`, and what of epsilon goes to its count, which then errs by about 8 /
# epsilon: enough for most.
SUMMARY = {"1%": "0.01", "25%": "0.25", "50%": "0.5", "75%": "0.75", "99%": "0.99"}
COUNT_SHARE = Fraction(1, 8)
# What of epsilon goes to the count, the interval and the sums behind a variance.
CLAMPED_SHARES = Fraction(1, 20), Fraction(1, 4), Fraction(7, 10)
# Up to so many quantiles are drawn together with a size, which is a little more accurate; for more
# of them it takes too long.
MOST_WITH_SIZE = 20


def _quantile(q: Fraction, column: str, choice: Choice) -> tuple[Part, ...]:
    """The most accurate way, or the paper's."""
    from duffdp.statistics.quantile import Quantile

    if choice == "duff":
        return (Part(Quantile(q), "exponential", (column,), utility="distance"),)
    signed = Quantile(q, "signed")
    return (
        Part(signed, "permute-and-flip", (column,), utility="signed", on_coarse_domain="lattice"),
    )


def _quantile_interval(
    q: Fraction, column: str, choice: Choice, wanted: Interval, epsilon: Fraction
) -> tuple[tuple[Part, ...], Finish]:
    from duffdp.statistics.interval import around_quantile

    (value,) = _quantile(q, column, choice)
    return around_quantile(value, q, wanted, epsilon)


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


def _sorted_quantiles(given: Parameters, choice: Choice) -> Finish | None:
    """Quantiles that were drawn one by one are sorted, and a count that was drawn before is
    dropped.
    """
    qs: tuple[Fraction, ...] = given["qs"]
    if choice == "best" and len(qs) <= MOST_WITH_SIZE:
        return None
    columns = tuple(Column(share_text(q)) for q in qs)

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
        candidates: Any = domain
        return [candidates.value(i) for i in sorted(numbers[-len(qs) :])]

    return Finish(lambda _: columns, values)


def _mean(_: Parameters, choice: Choice) -> tuple[Part, ...]:
    if choice == "best":
        from duffdp.statistics.soft_counts import SoftCounts

        return (Part(SoftCounts(), "staircase", ("above", "below"), kind="number"),)
    if choice == "clipped":
        from duffdp.statistics.clipped_mean import clipped_parts

        return clipped_parts()
    from duffdp.statistics.mean import Mean

    mechanism = "exponential" if choice == "duff" else "permute-and-flip"
    return (Part(Mean(), mechanism, ("mean",), utility="distance"),)


def _mean_finish(_: Parameters, choice: Choice) -> Finish | None:
    from duffdp.statistics.clipped_mean import CLIPPED_FINISH
    from duffdp.statistics.soft_counts import SOFT_FINISH

    return {"best": SOFT_FINISH, "clipped": CLIPPED_FINISH}.get(choice)


def _sum(_: Parameters, choice: Choice) -> tuple[Part, ...]:
    from duffdp.statistics.sum import Sum

    return (Part(Sum(), "staircase", ("sum",), kind="number"),)


def _sum_finish(_: Parameters, choice: Choice) -> Finish:
    from duffdp.statistics.sum import SUM_FINISH

    return SUM_FINISH


def _no_squares(_: Parameters, domain: PublicSet) -> None:
    from duffdp.statistics.variance import refuse_dates

    refuse_dates(domain)


def _no_dates(_: Parameters, domain: PublicSet) -> None:
    from duffdp.statistics.sum import refuse_dates

    refuse_dates("sum", domain)


def _trimmed_mean(given: Parameters, choice: Choice) -> tuple[Part, ...]:
    from duffdp.statistics.trimmed_mean import TrimmedMean

    mechanism = "exponential" if choice == "duff" else "permute-and-flip"
    return (Part(TrimmedMean(given["trim"]), mechanism, ("trimmed_mean",), utility="distance"),)


def _variance(_: Parameters, choice: Choice) -> tuple[Part, ...]:
    """Sums of records that are clamped to a private interval, or one draw by distance."""
    from duffdp.statistics.count import Count
    from duffdp.statistics.enclosure import Enclosure
    from duffdp.statistics.moments import Moments
    from duffdp.statistics.variance import Variance

    if choice == "duff":
        return (Part(Variance(), "exponential", ("deviation",), utility="distance"),)
    count, interval, moments = CLAMPED_SHARES
    sums = ("soft_low", "soft_middle", "soft_high")
    return (
        Part(Count(), "two-sided-geometric", ("count",), count),
        Part(Enclosure(), "exponential", ("interval",), interval, "outside"),
        Part(Moments(), "two-sided-geometric", sums, moments),
    )


def _clamped(squared: bool, choice: Choice) -> Finish:
    from duffdp.statistics.spread_values import variance_value

    return variance_value(squared, choice == "duff")


def _iqr_value() -> Finish:
    from duffdp.statistics.spread_values import iqr_value

    return iqr_value()


def _iqr(_: Parameters, choice: Choice) -> tuple[Part, ...]:
    from duffdp.statistics.iqr import InterquartileRange

    mechanism = "exponential" if choice == "duff" else "permute-and-flip"
    return (Part(InterquartileRange(), mechanism, ("iqr",), utility="distance"),)


def _mode(_: Parameters, choice: Choice) -> tuple[Part, ...]:
    """All counts move in one direction, so that the full rate holds; the paper's mechanism uses
    half of it.
    """
    from duffdp.statistics.mode import Mode

    if choice == "duff":
        return (Part(Mode(Fraction(1, 2)), "exponential", ("mode",), utility="distance"),)
    return (Part(Mode(1), "permute-and-flip", ("mode",), utility="distance"),)


def _describe(_: Parameters, choice: Choice) -> tuple[Part, ...]:
    from duffdp.statistics.count import Count
    from duffdp.statistics.quantiles import Quantiles

    qs = tuple(Fraction(q) for q in SUMMARY.values())
    return (
        Part(Count(), "two-sided-geometric", ("count",), COUNT_SHARE, kind="count"),
        Part(Quantiles(qs), "joint-exponential", tuple(SUMMARY), 1 - COUNT_SHARE),
    )


def _exact_summary(_: Parameters, *records: Any) -> list[Any]:
    qs = tuple(Fraction(q) for q in SUMMARY.values())
    return [*exactly("count")({}, *records), *exactly("quantiles")({"qs": qs}, *records)]


def _slope(_: Parameters, choice: Choice) -> tuple[Part, ...]:
    """In parts of a record, or in whole ones by the paper's mechanism."""
    from duffdp.statistics.slope import Slope

    if choice == "duff":
        return (Part(Slope(), "exponential", ("slope",), utility="distance"),)
    return (Part(Slope("balance"), "permute-and-flip", ("slope",), utility="balance"),)


def _slope_outputs(_: Parameters, domain: PublicSet) -> None:
    from duffdp.statistics.slope import check_candidates

    check_candidates(domain)


ENTRIES = (
    Entry(
        name="median",
        summary="A private median of a column, overall or for each group.",
        parts=lambda _, choice: _quantile(Fraction(1, 2), "median", choice),
        interval=lambda _, *asked: _quantile_interval(Fraction(1, 2), "median", *asked),
        title=lambda _: "Median",
        distance_bound="one",
        baselines="quantile",
        exact=exactly("quantile"),
    ),
    Entry(
        name="quantile",
        summary="Private quantiles of a column, overall or for each group.",
        parts=lambda given, choice: _quantile(given["q"], "quantile", choice),
        interval=lambda given, *asked: _quantile_interval(given["q"], "quantile", *asked),
        title=lambda given: f"Quantile {given['q']}",
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
        read={"qs": read_qs},
        shape="list",
        label=lambda column: f"quantile({column})",
        finish=_sorted_quantiles,
        examples=({"qs": (0.25, 0.75)},),
        exact=exactly("quantiles"),
    ),
    Entry(
        name="mean",
        summary="A private mean of a column, overall or for each group.",
        parts=_mean,
        title=lambda _: "Mean",
        finish=_mean_finish,
        choices=("best", "clipped", "distance", "duff"),
        distance_bound="mean",
        baselines="mean",
        exact=exactly("mean"),
    ),
    Entry(
        name="sum",
        summary="A private sum of a column, overall or for each group.",
        parts=_sum,
        title=lambda _: "Sum",
        finish=_sum_finish,
        rises_with_noise=True,
        check_domain=_no_dates,
        choices=("best",),
        baselines="sum",
        exact=exactly("sum_of"),
    ),
    Entry(
        name="trimmed_mean",
        summary="A private mean of a column without its lowest and highest records.",
        parts=_trimmed_mean,
        title=lambda given: f"Mean without {given['trim']} at either end",
        read={"trim": read_trim},
        examples=({"trim": 0.25},),
        exact=exactly("trimmed_mean"),
    ),
    Entry(
        name="variance",
        summary="A private variance of a column, overall or for each group.",
        parts=_variance,
        title=lambda _: "Variance",
        finish=lambda _, choice: _clamped(True, choice),
        check_domain=_no_squares,
        exact=exactly("variance"),
    ),
    Entry(
        name="std",
        summary="A private standard deviation of a column, overall or for each group.",
        parts=_variance,
        title=lambda _: "Standard deviation",
        finish=lambda _, choice: _clamped(False, choice),
        exact=exactly("std"),
    ),
    Entry(
        name="iqr",
        summary="A private interquartile range of a column, overall or for each group.",
        parts=_iqr,
        title=lambda _: "Interquartile range",
        finish=lambda *_: _iqr_value(),
        distance_bound="any",
        exact=exactly("iqr"),
    ),
    Entry(
        name="mode",
        summary="A private most common value of a column, overall or for each group.",
        parts=_mode,
        title=lambda _: "Mode",
        outputs="grid or categories",
        distance_bound="any",
        baselines="mode",
        exact=exactly("mode"),
    ),
    Entry(
        name="describe",
        summary="A private summary of a column: its count, quartiles, 1 % and 99 %; one epsilon "
        "for "
        "all.",
        parts=_describe,
        title=lambda _: "Summary",
        shape="dictionary",
        lines="of all",
        choices=("best",),
        exact=_exact_summary,
    ),
    DISTRIBUTION,
    *CELLS,
    Entry(
        name="slope",
        summary="A private slope of one column over another: the median of the slopes of all "
        "pairs of rows.",
        parts=_slope,
        title=lambda given: f"Slope of {given['y']} over {given['x']}" if given else "Slope",
        read={"x": read_x, "y": read_y},
        optional=frozenset({"x", "y"}),
        of_pairs=True,
        check_domain=_slope_outputs,
        exact=exactly("slope"),
    ),
    *GRAPHS,
)
REGISTRY = {entry.name: entry for entry in ENTRIES}


def entry(name: object) -> Entry:
    """The entry of a statistic, or an error that lists those there are."""
    if not isinstance(name, str) or name not in REGISTRY:
        raise DuffError(f"statistic must be one of {', '.join(REGISTRY)}, got {name!r}.")
    return REGISTRY[name]


def entries() -> Iterator[Entry]:
    """All of them, in the order of pages and of the command line."""
    return iter(ENTRIES)


def check_parameter_names(known: Entry, given: Container[str]) -> None:
    """An error if a parameter is missing, or is one of other statistics."""
    owners: dict[str, list[str]] = {}
    for other in entries():
        for name in other.read:
            owners.setdefault(name, []).append(other.name)
    for name, others in owners.items():
        if (name in given) != (name in known.read) and name not in known.optional:
            raise DuffError(
                f"{name} goes with {', '.join(others)} and with no other statistic, got "
                f"{f'it for {known.name}' if name in given else f'{known.name} without it'}."
            )
