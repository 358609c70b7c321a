"""Every statistic by its name, one entry each. What an entry needs is loaded when it is used: the
command line lays out its options from here without numpy."""

from __future__ import annotations

from collections.abc import Container, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from duffdp.errors import DuffError
from duffdp.parameters import (
    Choice,
    read_trim,
    read_x,
    read_y,
)
from duffdp.statistics import no_interval
from duffdp.statistics.cell_entries import ENTRIES as CELLS
from duffdp.statistics.distribution_entry import DISTRIBUTION
from duffdp.statistics.entry import Entry, Finish, Parameters, Part, ends, exactly
from duffdp.statistics.graph_entries import ENTRIES as GRAPHS
from duffdp.statistics.quantile_entries import ENTRIES as QUANTILES
from duffdp.statistics.quantile_entries import SUMMARY_ENTRY

if TYPE_CHECKING:
    from duffdp.domain import PublicSet


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
    from duffdp.statistics.moments import variance_parts
    from duffdp.statistics.variance import Variance

    if choice == "duff":
        return (Part(Variance(), "exponential", ("deviation",), utility="distance"),)
    return variance_parts()


def _variance_finish(_: Parameters, choice: Choice) -> Finish:
    from duffdp.statistics.spread_values import variance_value

    return variance_value(choice == "duff")


def _std(
    given: Parameters, choice: Choice, epsilon: Fraction, contributions: int, few: bool
) -> tuple[tuple[Part, ...], Finish]:
    """What a variance draws, and its root."""
    from duffdp.statistics.spread_values import std_value

    return _variance(given, choice), std_value(choice == "duff", epsilon)


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
    *QUANTILES,
    Entry(
        name="mean",
        summary="A private mean of a column, overall or for each group.",
        parts=_mean,
        title=lambda _: "Mean",
        step_rule=lambda choice: "average" if choice in ("duff", "distance") else "sum",
        finish=_mean_finish,
        interval=ends("ratio_interval", "around_ratio"),
        interval_choices=("best",),
        covers_population=True,
        no_interval=no_interval.CLIPPED,
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
        interval=ends("noise_interval", "around_number"),
        adds_up=True,
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
        step_rule=lambda _: "average",
        read={"trim": read_trim},
        no_interval=no_interval.TRIMMED,
        examples=({"trim": 0.25},),
        exact=exactly("trimmed_mean"),
    ),
    Entry(
        name="variance",
        summary="A private variance of a column, overall or for each group.",
        parts=_variance,
        title=lambda _: "Variance",
        finish=_variance_finish,
        no_interval=no_interval.SPREAD,
        check_domain=_no_squares,
        exact=exactly("variance"),
    ),
    Entry(
        name="std",
        summary="A private standard deviation of a column, overall or for each group.",
        parts=_variance,
        title=lambda _: "Standard deviation",
        by_epsilon=_std,
        no_interval=no_interval.SPREAD,
        exact=exactly("std"),
    ),
    Entry(
        name="iqr",
        summary="A private interquartile range of a column, overall or for each group.",
        parts=_iqr,
        title=lambda _: "Interquartile range",
        step_rule=lambda _: "order",
        finish=lambda *_: _iqr_value(),
        interval=ends("interval", "around_range"),
        ends_are_drawn=True,
        covers_population=True,
        distance_bound="any",
        exact=exactly("iqr"),
    ),
    Entry(
        name="mode",
        summary="A private most common value of a column, overall or for each group.",
        parts=_mode,
        title=lambda _: "Mode",
        no_interval=no_interval.ORDER,
        uneven=True,
        step_rule=lambda _: "order",
        outputs="grid or categories",
        distance_bound="any",
        baselines="mode",
        exact=exactly("mode"),
    ),
    SUMMARY_ENTRY,
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
        no_interval=no_interval.SLOPE,
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
