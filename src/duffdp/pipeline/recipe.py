"""From a statistic, a choice of mechanism and an epsilon to mechanisms that each got their
share.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from typing import Any

from duffdp.domain.default_step import StepRule
from duffdp.errors import DuffError
from duffdp.facts import SIZE, MechanismFact, MechanismPart, StatisticFact
from duffdp.loss_family import LossFamily
from duffdp.mechanisms.geometric import Geometric
from duffdp.mechanisms.registry import COARSE, LEAST_EPSILON, mechanism
from duffdp.parameters import (
    Choice,
    Interval,
    Suppression,
    read_contributions,
    read_epsilon,
    read_groups_per_person,
    read_interval,
    read_suppress_below,
)
from duffdp.privacy import Loss, LossPart, PrivacyUnit
from duffdp.statistics.count import Count
from duffdp.statistics.entry import Column, Entry, Finish, Part, Promise, WithEnds
from duffdp.statistics.own import own_entry
from duffdp.statistics.registry import entries, entry

# What of epsilon goes to noisy sizes beside values: at epsilon 1, 95 % are off by at most 30.
SIZE_SHARE = Fraction(1, 10)
_SIZES = Part(Count(), Geometric.name, (SIZE,), SIZE_SHARE, SIZE, "count")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What is drawn: for each part a mechanism that holds its share of epsilon, divided by the
    rows of a person.
    """

    entry: Entry
    parts: tuple[tuple[Part, Any], ...]
    statistic: StatisticFact
    mechanism: MechanismFact
    loss: Loss
    unit: PrivacyUnit
    given: dict[str, Any]  # the checked parameters
    columns: tuple[Column, ...]  # of what is drawn
    finish: Finish | None  # None: numbers are released as they were drawn
    interval: Interval | None
    suppression: Suppression | None
    step_rule: StepRule  # if the caller gives no step
    coarse: Recipe | None = None  # the same for a domain with few candidates, if that differs
    coarse_size: int = COARSE  # so many are few


def make_recipe(
    statistic: Any,
    parameters: tuple[tuple[str, Any], ...],
    choice: Any,
    epsilon: Any,
    person: str | None = None,
    contributions: Any = 1,
    interval: Any = None,
    covers: Any = "data",
    simultaneous: Any = False,
    groups_per_person: Any = None,
    suppress_below: Any = None,
    groups: int | None = None,
) -> Recipe:
    """The recipe for the name of a statistic in the registry, or for a statistic of the caller's
    own.

    `person` is the column that names whom the release is for, and `contributions` how many of their
    rows count: in all, or in each of `groups_per_person` groups. `interval` is a confidence,
    `covers` what the interval is for, and `simultaneous` whether the intervals of all `groups` hold
    together. With `suppress_below`, the size of each group is drawn as well.
    """
    known = entry(statistic) if isinstance(statistic, str) else own_entry(statistic)
    if choice not in known.choices:
        raise DuffError(
            f"mechanism must be {' or '.join(f'{name!r}' for name in known.choices)}, got "
            f"{choice!r}."
        )
    checked = known.checked(dict(parameters))
    total = read_epsilon(epsilon)
    contributions = read_contributions(contributions)
    if person is None and contributions != 1:
        raise DuffError(
            f"contributions={contributions} needs unit, the column that names the person. "
            'Pass for example unit="person_id".'
        )
    each_in = read_groups_per_person(groups_per_person)
    if person is None and each_in is not None:
        raise DuffError(
            f"groups_per_person={each_in} needs unit, the column that names the person. "
            'Pass for example unit="person_id".'
        )
    wanted = read_interval(interval, covers, simultaneous)
    unit = PrivacyUnit("row")
    if known.of_graphs:
        unit = PrivacyUnit("edge")
    elif person is not None:
        unit = PrivacyUnit("person", person, contributions, _reachable(each_in, groups))
    # A person with m rows moves a distance by up to m: the same as one row at epsilon / m.
    suppression = _suppression(known, suppress_below)
    apart = suppression is not None and suppression.own is None
    left = 1 - SIZE_SHARE if apart else Fraction(1)
    each = total * left / unit.rows  # what the values of a row may cost
    if wanted is None and known.by_epsilon is not None:
        many, few = (
            _with_parts(
                known,
                *known.by_epsilon(checked, choice, each, contributions, candidates_are_few),
                choice,
                total,
                unit,
                checked,
                None,
                suppression,
            )
            for candidates_are_few in (False, True)
        )
        return replace(many, coarse=few, coarse_size=known.few)
    if wanted is not None:
        with_ends = _checked_interval(known, choice, wanted, contributions)
    parts, finish = known.parts(checked, choice), known.finish(checked, choice)
    if wanted is not None:
        promise = _promise(wanted, each, groups or 1)
        parts, finish = with_ends(parts, finish, checked, promise)
    parts = tuple(_at(part, each * part.share) for part in parts)
    rest = (finish, choice, total, unit, checked, wanted, suppression)
    made = _with_parts(known, parts, *rest)
    coarse = tuple(_on_coarse_domain(part, each * part.share) for part in parts)
    if coarse == parts:
        return made
    few = _with_parts(known, coarse, *rest)
    return replace(made, coarse=few)


def _suppression(known: Entry, suppress_below: Any) -> Suppression | None:
    """Below which size values are withheld, and whether the statistic says the size itself."""
    below = read_suppress_below(suppress_below)
    if below is None:
        return None
    if known.of_graphs or known.shape == "distribution":
        raise DuffError(
            f"suppress_below withholds the numbers of groups, and {known.name} has none. Ask for "
            "quantiles or for counts."
        )
    return Suppression(below, known.size)


def _reachable(wanted: int | None, groups: int | None) -> int | None:
    """In how many groups a person can count, of so many: of one it needs no saying."""
    if wanted is None or groups is None:
        return wanted
    return None if groups == 1 else min(wanted, groups)


def _at(part: Part, epsilon: Fraction) -> Part:
    """The part with a statistic that knows what its draw may cost, if that makes a difference."""
    statistic = part.statistic
    return replace(part, statistic=statistic.at(epsilon)) if hasattr(statistic, "at") else part


def _on_coarse_domain(part: Part, epsilon: Fraction) -> Part:
    """What draws where candidates are few."""
    if part.on_coarse_domain is None or epsilon < LEAST_EPSILON:
        return part
    return replace(part, mechanism=part.on_coarse_domain)


def _with_parts(
    known: Entry,
    parts: tuple[Part, ...],
    finish: Finish | None,
    choice: Choice,
    total: Fraction,
    unit: PrivacyUnit,
    checked: dict[str, Any],
    wanted: Interval | None,
    suppression: Suppression | None,
) -> Recipe:
    columns = tuple(Column(name, part.kind) for part in parts for name in part.columns)
    if suppression is not None and suppression.own is None:
        parts = (*(replace(part, share=part.share * (1 - SIZE_SHARE)) for part in parts), _SIZES)
    drawing = tuple(
        (part, mechanism(part.mechanism)(total * part.share / unit.rows)) for part in parts
    )
    facts = tuple(
        MechanismPart(name, utility, sum((p.share for p in same), Fraction(0)) * total, len(same))
        for (name, utility), same in (
            (kind, list(group))
            for kind, group in groupby(parts, key=lambda part: (part.mechanism, part.utility))
        )
    )
    said = StatisticFact(
        known.name,
        {
            name: _said(value)
            for name, value in checked.items()
            if value is not None and name not in known.said_by_domain
        },
    )
    loss = Loss(total, parts=_losses(drawing, total, unit.rows))
    chosen = MechanismFact(choice, facts)
    rule = known.step_rule(choice)
    rest = (unit, checked, columns, finish, wanted, suppression, rule)
    return Recipe(known, drawing, said, chosen, loss, *rest)


def _losses(
    drawing: tuple[tuple[Part, Any], ...], total: Fraction, rows: int
) -> tuple[LossPart, ...]:
    """What is known of the loss of each draw."""
    passed_on = any(getattr(part.statistic, "passes_on", False) for part, _ in drawing)
    draws: Counter[tuple[LossFamily, Fraction]] = Counter()
    together = Fraction(0)  # one draw may get all of it: no more is known than the sum
    for part, made in drawing:
        if passed_on and hasattr(part.statistic, "given"):
            together += part.share
        else:
            draws[made.loss_family, part.share] += 1
    if together:
        draws["pure", together] += 1
    return tuple(
        LossPart(family, share * many * total, many, rows)
        for (family, share), many in draws.items()
    )


#: The same, made once; for what has a hash.
recipe = lru_cache(maxsize=256, typed=True)(make_recipe)


def _checked_interval(known: Entry, choice: str, wanted: Interval, contributions: int) -> WithEnds:
    """What makes the interval of a statistic, if it has one."""
    if known.interval is None or not known.has_interval(choice):
        have = ", ".join(other.name for other in entries() if other.interval is not None)
        why = known.no_interval or f"it is there for {have}. Pass interval=None"
        raise DuffError(f"no interval can be promised for {_by(known, choice)}: {why}.")
    if wanted.covers == "population":
        _check_population(known, contributions)
    return known.interval


def _promise(wanted: Interval, epsilon: Fraction, groups: int) -> Promise:
    """What the intervals of one group have to hold; a row may cost `epsilon`."""
    together = wanted.simultaneous
    miss = (1 - wanted.confidence) / (groups if together else 1)
    return Promise(miss, wanted.covers, together, epsilon, lambda name, paid: mechanism(name)(paid))


def _by(known: Entry, choice: str) -> str:
    return known.name if known.interval is None else f"{known.name} with mechanism={choice!r}"


def _check_population(known: Entry, contributions: int) -> None:
    if not known.covers_population:
        raise DuffError(
            f"an interval for {known.name} covers the records at hand: what is known of the "
            'noise tells nothing of a population. Pass covers="data".'
        )
    if contributions != 1:
        raise DuffError(
            f"an interval for a population needs independent rows, got up to {contributions} of a "
            'person. Pass contributions=1 or covers="data".'
        )


def _said(value: Any) -> Any:
    """A checked parameter as people write it: shares as numbers."""
    if isinstance(value, tuple):
        return tuple(map(_said, value))
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value
