"""Public facts of a release in sentences."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence, Set

from duffdp._facts import KEY_DRAW, SIZE, MechanismPart
from duffdp._parameters import ZERO_BELOW
from duffdp._pipeline.error_bounds import count_bound
from duffdp._pipeline.estimates import INTERVAL_COLUMNS, whole_range
from duffdp._pipeline.notes import rows_of_people
from duffdp._pipeline.release import Release
from duffdp._privacy import UnitKind
from duffdp._text import duration_text, parameter_text
from duffdp.domain import Bins, Categories, Digits, Grid, Membership, Presence
from duffdp.domain.zones import zone_name
from duffdp.errors import DuffError
from duffdp.mechanisms.geometric import Geometric
from duffdp.mechanisms.staircase import Staircase
from duffdp.report.formats import candidate_text
from duffdp.report.results import ResultTable
from duffdp.statistics.registry import REGISTRY, statistic_spec
from duffdp.statistics.sum import Sum

_MAX_LISTED = 12  # so many categories are named, more are counted
_UTILITIES = {
    "distance": "the number of records to add or remove until it is exact",
    "signed": "the number of records to add or remove until it is exact, or no longer exact if it "
    "is already",
    "inside": "the number of records to add or remove until a public number of records lies beyond "
    "it, so an answer beyond all records is rare",
    "rank": "the number of records between it and the requested rank",
    "end": "the number of records between it and the rank at which this end of the interval aims",
    "width": "the number of records by which the interval exceeds a public margin before it misses",
    "outside": "the number of records outside of it",
    "balance": "the number of records to add until as many pairs have a slope above it as below, "
    "in sixteenths of a record",
    "ladder": "a lower bound of the number of edges to add or remove until it is exact",
}
_UNITS: dict[UnitKind, str] = {
    "row": "row of the table",
    "person": "person",
    "edge": "edge of the graph",
}
_MECHANISMS = {
    "exponential": "the exponential mechanism",
    "permute-and-flip": "permute-and-flip",
    "lattice": "permute-and-flip on a lattice, with steps as large as the change that one record "
    "can make",
    "joint-exponential": "the joint exponential mechanism, which compares the numbers of records "
    "between the answers with the numbers that the quantiles require",
    "two-sided-geometric": "two-sided geometric noise on every count or sum",
    "noisy-ranking": "two-sided geometric noise on the count of every possible answer, and a "
    "ranking of the noisy counts",
    "staircase": "staircase noise on sums over the records",
    "thresholded-geometric": "two-sided geometric noise on the count of every possible key; only "
    "counts that reach a public threshold are published",
    "piecewise-laplace": "piecewise Laplace noise, scaled to the change that one more edge can "
    "make",
}


def attacker_accuracy(epsilon: float) -> float:
    """Largest probability that an attacker who guesses "took part" or "did not" is right.

    Let an attacker guess "took part" after an event A. If the person took part, the guess is right
    with probability P(A); if not, it is wrong with probability Q(A). Because P(A) <= exp(epsilon)
    Q(A) and 1 - Q(A) <= exp(epsilon) (1 - P(A)), the smaller of P(A) and 1 - Q(A) is at most
    exp(epsilon) / (1 + exp(epsilon)). Randomized response attains it.

    References
    ----------
    Wasserman and Zhou, "A statistical framework for differential privacy" (JASA 2010). Nanayakkara,
    Smart, Cummings, Kaptchuk and Redmiles, "What are the chances? Explaining the epsilon parameter
    in differential privacy" (USENIX Security 2023): odds that people understand.

    Examples
    --------
    >>> from duffdp.report.sentences import attacker_accuracy
    >>> round(attacker_accuracy(1.0), 3), attacker_accuracy(0.0)
    (0.731, 0.5)
    """
    return 1 / (1 + math.exp(-epsilon)) if epsilon < 700 else 1.0


def odds(epsilon: float, kinds: Set[UnitKind], delta: float = 0.0) -> str:
    """The meaning of epsilon for someone who guesses about one of these units."""
    unit_text = " or ".join(f"one {_UNITS[kind]}" for kind in sorted(kinds))
    you = "you" if kinds == {"person"} else unit_text
    if epsilon > 20:
        return (
            "An epsilon this large gives no meaningful protection: "
            f"a guess about {you} can become as good as certain."
        )
    factor, sure = math.exp(epsilon), attacker_accuracy(epsilon)
    delta_note = (
        f" With probability delta, {parameter_text(delta)}, it can change them more."
        if delta
        else ""
    )
    return (
        f"Seeing this report changes anyone's odds about {you} by a factor of at most "
        f"{factor:.3g}: a fifty-fifty guess can become at most {100 * sure:.3g}% sure.{delta_note}"
    )


def error_in_short(releases: Sequence[Release]) -> str:
    """One sentence on the error of a report: its intervals, or the first bound that is known."""
    intervals = {
        (one.facts.interval.covers, one.facts.interval.simultaneous): one.facts.interval.confidence
        for one in releases
        if one.facts.interval is not None
    }
    if not intervals:
        return next(iter(accuracy(releases[0])), "No group was found, so no number has an error.")
    confidence = min(intervals.values())
    population = any(covers == "population" for covers, _ in intervals)
    people = any(release.unit.kind == "person" for release in releases)
    target = "the exact answer for the rows that were used" if people else "the exact answer"
    if population:
        target = "the answer for the population"
    has_several = (
        len(releases) > 1 or releases[0].grouped or len(releases[0].columns) > INTERVAL_COLUMNS
    )
    together = all(simultaneous for _, simultaneous in intervals)
    probability = f"with at least {float(100 * confidence):.6g}% probability"
    if not has_several:
        return f"The number has noise. The interval beside it contains {target} {probability}."
    scope = "All intervals" if together else "Each interval"
    verb = "contain" if together else "contains"
    end = " at once" if together else ""
    return f"Every number has noise. {scope} {verb} {target}{end} {probability}."


def how_to_read(releases: Sequence[Release], tables: Sequence[ResultTable]) -> list[str]:
    """At most ten sentences for readers, about all releases of a report."""
    grouped = any(release.grouped for release in releases)
    crossed = any(table.crossed for table in tables)
    with_ends = any(release.confidence is not None for release in releases)
    domains = [release.domain for release in releases if release.unit.kind != "edge"]
    bounds = dict.fromkeys(
        bound
        for release in releases
        if (bound := count_bound(release.facts, 0.95)) is not None
        and isinstance(release.domain, Presence)
    )
    sentences = [
        "Random noise of known size protects the people in the data."
        if any(release.unit.kind != "edge" for release in releases)
        else "Random noise of known size protects the edges of the graph.",
        "Numbers are rounded to two digits of their error, and counts to whole numbers."
        if with_ends
        else "",
        "The ends of intervals are rounded outward." if with_ends else "",
        _used_rows(releases),
        f"The count of a group is off by at most {' or '.join(f'{b:,}' for b in bounds)} in 95 of "
        "100 such tables."
        if bounds and grouped
        else "",
        "Cells with more color have larger numbers." if crossed else "",
        "Small bars compare the counts of one group; point at a bar to see its number."
        if any(
            column.kind == "count"
            for table in tables
            for result in table.pictures
            for column in result.columns
        )
        else "",
        "Intervals of two groups may overlap although the groups differ." if grouped else "",
        "Every listed group has an answer, even a group without records." if grouped else "",
        "Values outside of the public bounds count as the nearest bound."
        if any(isinstance(domain, Grid | Digits) for domain in domains)
        else "",
    ]
    return list(filter(None, sentences))


def _used_rows(releases: Sequence[Release]) -> str:
    """The rows of people that the numbers are about; empty if all rows are used."""
    units = [release.unit for release in releases if release.unit.kind == "person"]
    if not units:
        return ""
    partial = any(
        release.grouped and release.unit.groups_per_person is None and counted(release)
        for release in releases
    )
    sentence = (
        f"Numbers are about the rows that were used, {rows_of_people(units)}, picked at random"
    )
    return (
        f"{sentence}, so a group may show fewer people than it has." if partial else f"{sentence}."
    )


def whom(kinds: Set[UnitKind]) -> str:
    """The unit that the sum of several losses protects."""
    return "an edge that is" if kinds == {"edge"} else "anyone with rows"


def protected(release: Release) -> list[str]:
    """The units that the guarantee protects."""
    unit = release.unit
    if unit.kind == "row":
        return [
            "One row of the table, whatever its content: the result would be about as likely "
            "without it, or with one more row.",
            "This protects a person fully only if the person has one row.",
        ]
    if unit.kind == "edge":
        return [
            "One edge of the graph: the result would be about as likely without it, or with "
            "one more edge.",
            "The nodes are assumed to be known. A node with all of its edges is not protected.",
        ]
    rows = "one row" if unit.contributions == 1 else f"{unit.contributions} rows"
    where = "over all groups together, " if release.grouped else ""
    if unit.groups_per_person is not None:
        where = f"in each of at most {unit.groups_per_person} groups, "
    return [
        f"All rows with the same value of “{unit.column}” together: the guarantee covers them all "
        "at once.",
        f"At most {rows} per person {'was' if unit.contributions == 1 else 'were'} used, "
        f"{where}picked at random.",
    ]


def assumed_public(release: Release) -> list[str]:
    """Facts that the guarantee does not protect, because they were known before."""
    domain, outside = release.domain, "records outside of this range count as its nearest end"
    if release.unit.kind == "edge":
        nodes = release.statistic.parameters.get("nodes")
        return [
            f"the nodes of the graph, {nodes:,} in all",
            "the statistic, the mechanism and epsilon",
        ]
    if isinstance(domain, Digits):
        first = [
            f"the possible answers: 0 and the numbers of either sign with {domain.digits} "
            f"significant digits from {domain.smallest:g} to {domain.largest:g}, "
            f"{domain.size:,} in all; records are rounded to the nearest of them"
        ]
    elif not isinstance(domain, Grid):
        first = list(filter(None, [_cells(release)]))
    else:
        step = (
            duration_text(domain.step)
            if isinstance(domain.step, dt.timedelta)
            else parameter_text(float(domain.step))
        )
        answers = any(column.kind == "candidate" for column in release.columns)
        label = "the possible answers" if answers else "the values to which records are rounded"
        name = release.statistic.name
        pairs = name in REGISTRY and statistic_spec(name).of_pairs
        first = [
            f"{label}: from {candidate_text(domain.lower, domain)} to "
            f"{candidate_text(domain.upper, domain)} "
            f"in steps of {step}, {domain.size:,} in all",
            *([] if pairs else [outside]),
        ]
    grouped = (
        ["the list of groups; a group without rows has an answer too"] if release.grouped else []
    )
    if release.facts.within is not None:
        names = ", ".join(release.facts.within.by)
        grouped.append(f"the listed groups by {names}, some or all of which are combined")
    if release.where is not None:
        grouped.append(f"the condition for rows that are used, {release.where}")
    if release.facts.sql is not None:
        grouped.append(f"the query that made the rows, {release.facts.sql}")
    if isinstance(domain, Grid) and domain.zone is not None:
        grouped.append(f"the time zone of days and times, {zone_name(domain.zone)}")
    return [
        *first,
        *grouped,
        "the name and type of the columns, the statistic, the mechanism and epsilon",
    ]


def _cells(release: Release) -> str:
    """A public set that is no grid; nothing if all rows count."""
    domain = release.domain
    if isinstance(domain, Presence):
        return ""
    if isinstance(domain, Membership):
        if isinstance(domain.members, Categories):
            return f"the values whose share was released: {_named(domain.members)}"
        return f"the range whose share was released: {domain.members.label(0)}"
    if isinstance(domain, Categories):
        if all(column.kind == "candidate" for column in release.columns):
            return f"the {domain.size} possible answers: {_named(domain)}"
        return f"the values that are counted, and no others: {_named(domain)}"
    assert isinstance(domain, Bins)
    listed = [domain.label(i) for i in range(domain.size)]
    return f"the bins; records outside of them are not counted: {_listed(listed)}"


def _named(categories: Categories) -> str:
    return _listed(list(map(str, categories)))


def _listed(texts: list[str]) -> str:
    return ", ".join(texts) if len(texts) <= _MAX_LISTED else "as listed in the plan of the release"


def counted(release: Release) -> str:
    """The unit of a count; empty for releases without one."""
    if release.unit.kind == "edge" or "count" not in {column.kind for column in release.columns}:
        return ""
    if release.unit.kind == "row":
        counts_all_rows = isinstance(release.domain, Presence) and release.domain.rows
        if counts_all_rows and release.where is not None:
            return f"Rows where {release.where}."
        return "Rows, whatever their content." if counts_all_rows else "Rows with a value."
    groups = release.unit.groups_per_person
    where = "" if groups is None else f" in each of at most {groups} groups"
    if release.contributions == 1:
        once = "once" if groups is None else f"once{where}"
        return f"People: each counts {once}, by one of their rows, picked at random."
    return f"Rows of people: at most {release.contributions} per person{where}."


def mechanism(release: Release) -> list[str]:
    """The draws of a release, a sentence for each part."""
    how = [f"By {_part(part)}." for part in release.mechanism.parts]
    return how if release.delta == 0 else [*how, f"Delta is {parameter_text(release.delta)}."]


def _part(part: MechanismPart) -> str:
    description = _MECHANISMS.get(part.name, part.name)
    if part.utility == "narrowing":
        return f"{description} in {part.draws} stages, each of which decides where to count next"
    if part.draws > 1:
        description = f"{part.draws} draws of {description}, each with the same share of epsilon"
    if part.utility is None:
        return description
    if part.utility == SIZE:
        return f"{description}, for the number of records of each group"
    if part.utility == KEY_DRAW:
        return f"{description}, to find the groups"
    if part.utility == "clipped":
        return f"{description}, each clamped to the interval"
    return (
        f"{description}. Answers with a larger distance are less likely; the distance of an answer "
        f"is {_UTILITIES.get(part.utility, part.utility)}"
    )


def _noise(release: Release, public: str) -> list[str]:
    """The error of sums, means and spreads that got noise."""
    domain, spent = release.domain, release.facts.row_epsilon
    assert isinstance(domain, Grid)
    if release.mechanism.of_values[-1].utility == "clipped":
        name = release.statistic.name
        is_biased = name in ("mean", "sum")
        bias = f"the {name} is biased towards the other records"
        bias = bias if is_biased else "the result is too small"
        return [
            "Records outside of a private range count as its nearest end. If the data has a "
            f"heavy tail, {bias}. No error bound is known that does not depend on the data."
        ]
    if release.statistic.name == "sum":
        moved = Sum().sensitivity(domain)
        likely, sure = (
            domain.multiple(Staircase(spent).largest_noise(moved, confidence))
            for confidence in (0.95, 0.99)
        )
        sentence = (
            f"With 95% probability it is at most {likely:,.4g} away from the exact sum of the "
            f"clamped and rounded records; with 99% at most {sure:,.4g}."
        )
        return [sentence, public]
    steps = Staircase(spent).expected_error(domain.size - 1, numbers=2)
    return [
        f"The mean error is at most about {parameter_text(steps * domain.spacing)} divided by the "
        "number of records, if there are many. The number of records is private."
    ]


def _interval(release: Release) -> list[str]:
    """The promise of a release's interval."""
    interval = release.facts.interval
    if interval is None:
        return []
    rows_used = "rows chosen at random" if release.unit.kind == "person" else "records"
    target = {
        "data": f"the exact answer for the {rows_used}",
        "population": "the answer for the population, from which the records were sampled "
        "independently and which may have any distribution,",
    }[interval.covers]
    has_several = len(release.columns) > INTERVAL_COLUMNS
    scope = ""
    if interval.simultaneous and (release.grouped or has_several):
        scope = f", for all {'groups' if release.grouped else 'numbers'} at once"
    elif release.grouped:
        scope = ", for each group individually"
    elif has_several:
        scope = ", for each number individually"
    promise = (
        f"With at least {float(100 * interval.confidence):.6g}% probability {target} is in the "
        f"interval{scope}."
    )
    if whole_range(release.columns[-1], release.domain) is None:
        return [promise]
    too_few = "If there are too few records, the interval is the whole range of possible answers."
    return [promise, too_few]


def accuracy(release: Release) -> list[str]:
    """The error in the units of the data, if there is an interval, and what follows from what is
    public; a sentence each.
    """
    return [*_interval(release), *_from_what_is_public(release), *_sizes(release)]


def _sizes(release: Release) -> list[str]:
    """The rule that withholds numbers of small groups."""
    if release.suppress_below is None:
        return []
    rule = (
        f"Numbers of groups with a noisy size below {release.suppress_below:,} are withheld, "
        "because they would be inaccurate. The privacy guarantee does not need this rule."
    )
    if release.sizes is None:
        return [rule]
    noise = Geometric(release.facts.size_epsilon).largest_noise(1, 0.95)
    return [rule, f"With 95% probability the noisy size of a group is off by at most {noise:,}."]


def _set_to_zero(release: Release) -> list[str]:
    """The threshold below which counts are reported as 0."""
    least = release.statistic.parameters.get(ZERO_BELOW.name)
    return [] if least is None else [f"Noisy counts below {least:,} are reported as 0."]


def _from_what_is_public(release: Release) -> list[str]:
    """The error in the terms of the paper; of counts and sums, what noise adds to them."""
    scope = ["This holds for each group individually."] if release.grouped else []
    public = "This follows from public facts alone and holds for all data."
    if release.has_distributions and not release.cells:  # no key was found
        return []
    if release.has_distributions:
        return [
            f"With at least {100 * release.cells[0][0].confidence:.6g}% probability the band "
            "contains the exact share of records up to every value, and every exact quantile is "
            "between the ends beside it, all at once"
            f"{', for each group individually' if release.grouped else ''}. This holds for all "
            "data."
        ]
    if release.mechanism.of_values[-1].name == Staircase.name:
        return _noise(release, public)
    if (bound := count_bound(release.facts, 0.95)) is not None:
        sure = count_bound(release.facts, 0.99)
        if not release.grouped and len(release.cells[0]) > 1:
            scope = ["This holds for each number individually."]
        subject = (
            "the counts of records inside and outside, from which the share is computed, are each"
            if isinstance(release.domain, Membership)
            else "a count is"
        )
        likely_text = f"With 95% probability {subject} off by at most {bound:,}"
        sentence = f"{likely_text}; with 99% by at most {sure:,}."
        return [sentence, *_set_to_zero(release), *scope]
    try:
        likely, sure = release.distance_bound(0.95), release.distance_bound(0.99)
    except DuffError:
        return ["No error bound is known for this mechanism that does not depend on the data."]
    person = release.unit.kind == "person" and release.contributions == 1
    row, rows = ("person", "people") if person else ("row", "rows")
    mean = statistic_spec(release.statistic.name).distance_bound == "mean"
    extra = " beyond those that the closest possible answer needs" if mean else ""
    return [
        f"With 95% probability, adding or removing at most {likely:,} "
        f"{row if likely == 1 else rows}{extra} would make this the exact answer; with 99%, at "
        f"most {sure:,}.",
        *scope,
        public,
    ]
