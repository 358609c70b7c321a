"""The plan of a release's draws: statistic, mechanism and share of epsilon of each, all public
before data is read.

Promise: Shares of epsilon are public before anything is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import groupby
from operator import add, attrgetter

from duffdp._engines.universe import KeyUniverse
from duffdp._facts import KEY_DRAW, SIZE, MechanismFact, MechanismPart, StatisticFact
from duffdp._parameters import (
    CONTRIBUTIONS,
    EPSILON,
    FINDING,
    GROUPS_PER_PERSON,
    INTERVAL_OPTIONS,
    MECHANISM,
    SUPPRESS_BELOW,
    UNIT,
    Choice,
    Interval,
    Suppression,
    read_interval,
)
from duffdp._privacy import Loss, LossFamily, LossPart, PrivacyUnit
from duffdp.domain import PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.domain.pattern import key_threshold
from duffdp.errors import Argument, DuffError
from duffdp.mechanisms import mechanism_class
from duffdp.mechanisms.geometric import Geometric
from duffdp.mechanisms.thresholded_geometric import ThresholdedGeometric
from duffdp.mechanisms.weighted_noises import Noise
from duffdp.statistics.count import Count
from duffdp.statistics.custom import CustomSpec
from duffdp.statistics.program import (
    DrawSpec,
    OutputColumn,
    PostProcess,
    ReleaseProgram,
    share_of,
)
from duffdp.statistics.registry import REGISTRY, statistic_spec
from duffdp.statistics.spec import DrawSettings, IntervalSpec, StatisticSpec

# What of epsilon goes to noisy sizes beside values: at epsilon 1, 95 % are off by at most 30.
SIZE_SHARE = Fraction(1, 10)
# What of epsilon finds keys, where values are drawn after that.
FINDING_SHARE = Fraction(1, 4)
COUNT_COLUMN = OutputColumn("count", "count")
_SIZES = DrawSpec(Count(), Geometric.name, (SIZE,), SIZE_SHARE, SIZE, "count")


@dataclass(frozen=True, slots=True)
class KeyFinding:
    """The draw that finds keys: its share of epsilon, the counted unit, the number of possible keys
    and the threshold for noisy counts.

    `counts_are_values`: the release is a count, and nothing is drawn after it.
    """

    epsilon: Fraction
    unit: PrivacyUnit
    size: int
    threshold: int
    counts_are_values: bool

    @property
    def row_epsilon(self) -> Fraction:
        """Epsilon that the draw costs one row."""
        return self.unit.epsilon_per_row(self.epsilon)


@dataclass(frozen=True, slots=True)
class DrawPlan:
    """The draws of one release on one domain."""

    spec: StatisticSpec
    program: ReleaseProgram
    statistic: StatisticFact
    mechanism: MechanismFact
    loss: Loss
    unit: PrivacyUnit
    parameters: dict[str, object]  # those of the statistic, checked
    columns: tuple[OutputColumn, ...]  # of the numbers that are drawn
    interval: Interval | None
    suppression: Suppression | None
    finding: KeyFinding | None = None

    @property
    def value_epsilon(self) -> Fraction:
        """Epsilon of the draws of values: what finding keys and sizes beside values leave."""
        parts = self.mechanism.parts
        return sum(
            (part.epsilon for part in parts if part.utility not in (KEY_DRAW, SIZE)), Fraction(0)
        )

    @property
    def row_epsilon(self) -> Fraction:
        """Epsilon that all draws after finding keys together may cost one row."""
        total, finding = self.loss.epsilon, self.finding
        return self.unit.epsilon_per_row(total if finding is None else total - finding.epsilon)


@dataclass(frozen=True, slots=True)
class Terms:
    """The checked parameters of a release that do not concern its data."""

    spec: StatisticSpec
    parameters: dict[str, object]
    choice: Choice
    epsilon: Fraction
    person: str | None
    contributions: int
    groups_per_person: int | None
    interval: Interval | None
    suppression: Suppression | None
    finding: Fraction | None = None

    @classmethod
    def check(cls, statistic: object, options: Mapping[str, object]) -> Terms:
        """Check the name of a statistic in the registry, or a caller's own statistic, and those of
        its options that are not about data or outputs.
        """
        spec = statistic_spec(statistic) if isinstance(statistic, str) else CustomSpec(statistic)
        spec, options = resolve(spec, options)
        choice = MECHANISM.read_from(options)
        if choice not in spec.choices:
            names = " or ".join(f"{name!r}" for name in spec.choices)
            raise DuffError(Argument("mechanism"), f" must be {names}, got {choice!r}.")
        parameters = spec.checked(options)
        total, person = EPSILON.read_from(options), UNIT.read_from(options)
        contributions = CONTRIBUTIONS.read_from(options)
        groups_per_person = GROUPS_PER_PERSON.read_from(options)
        for parameter, value in (
            (CONTRIBUTIONS, contributions),
            (GROUPS_PER_PERSON, groups_per_person),
        ):
            if person is None and value != parameter.default:
                fix = ", the column that identifies the person. Pass for example "
                raise DuffError(
                    *(Argument(parameter.name, value), " needs ", Argument("unit"), fix),
                    *(Argument("unit", UNIT.example), "."),
                )
        promised = read_interval(*(option.value_in(options) for option in INTERVAL_OPTIONS))
        suppression = _suppression(spec, SUPPRESS_BELOW.read_from(options))
        if promised is not None:
            _check_interval(spec, choice, promised, contributions)
        people = (person, contributions, groups_per_person)
        finding = FINDING.read_from(options)
        return cls(spec, parameters, choice, total, *people, promised, suppression, finding)

    @property
    def step_rule(self) -> StepRule:
        """By what the step is chosen if the caller gives none."""
        return self.spec.step_rule(self.choice)

    def unit(self, groups: int | None) -> PrivacyUnit:
        """The unit that the release protects, for this number of groups."""
        if self.spec.of_graphs:
            return PrivacyUnit("edge")
        if self.person is None:
            return PrivacyUnit("row")
        reachable = self.groups_per_person
        if reachable is not None and groups is not None:  # of one group it needs no saying
            reachable = None if groups == 1 else min(reachable, groups)
        return PrivacyUnit("person", self.person, self.contributions, reachable)

    def plan(
        self,
        domain: PublicSet,
        groups: int | None = None,
        universe: KeyUniverse | None = None,
        other: bool = False,
    ) -> DrawPlan:
        """The draws on a domain, for this many groups, or for keys of a universe that are found
        first; `other`: one of the groups has all other rows.
        """
        unit = self.unit(groups)
        finding = None if universe is None else self._finding(universe, other)
        if finding is not None and finding.counts_are_values:
            return self._count_by_found_keys(unit, finding)
        sizes_are_found = finding is not None and not other
        own_sizes = self.suppression is None or self.suppression.own is not None
        with_sizes = not own_sizes and not sizes_are_found
        value_epsilon = self.epsilon if finding is None else self.epsilon - finding.epsilon
        row_epsilon = unit.epsilon_per_row(value_epsilon)
        settings = DrawSettings(self.choice, domain, row_epsilon, self.contributions)
        if with_sizes:
            settings = settings.for_share(1 - SIZE_SHARE)
        values = self._values(settings, groups or 1)
        program = values.scaled(1 - SIZE_SHARE).beside([_SIZES]) if with_sizes else values
        for draw in program.draws:
            _check_share(draw.mechanism, share_of(row_epsilon, draw.share))
        parts = _mechanism_parts(program, value_epsilon)
        losses = _losses(program, value_epsilon, unit.rows)
        if finding is not None:
            mechanism = MechanismPart(ThresholdedGeometric.name, KEY_DRAW, finding.epsilon)
            parts, losses = (mechanism, *parts), (_finding_loss(finding), *losses)
        return DrawPlan(
            self.spec,
            program,
            self._statistic_fact(),
            MechanismFact(self.choice, parts),
            Loss(self.epsilon, parts=losses),
            unit,
            self.parameters,
            values.columns,
            self.interval,
            self.suppression,
            finding,
        )

    def _finding(self, universe: KeyUniverse, other: bool) -> KeyFinding | None:
        """The draw that finds keys; None if another release of the same call finds them."""
        counts = self.spec.size_column == self.spec.name
        share = self.finding
        if share is None:
            share = (Fraction(1, 2) if other else Fraction(1)) if counts else FINDING_SHARE
        if share == 0:
            return None
        counts_are_values = share == 1 and counts and not other
        if share == 1 and not counts_are_values:
            raise DuffError(
                *(Argument("finding", 1), " leaves no epsilon for the values. Pass for example "),
                *(Argument("finding", float(FINDING_SHARE)), "."),
            )
        # People are looked for, each of them once for a key, unless rows are released.
        rows = self.contributions if counts_are_values else 1
        unit = replace(self, contributions=rows).unit(universe.size)
        epsilon = self.epsilon * share
        _check_share(ThresholdedGeometric.name, unit.epsilon_per_row(epsilon))
        threshold = key_threshold(universe.size, universe.false_keys, unit.epsilon_per_row(epsilon))
        return KeyFinding(epsilon, unit, universe.size, threshold, counts_are_values)

    def _count_by_found_keys(self, unit: PrivacyUnit, finding: KeyFinding) -> DrawPlan:
        """The plan of a count whose noisy counts find the keys."""
        interval, post_process = self.interval, None
        if interval is not None:
            # Intervals that hold together hold for all keys that may be found.
            together = finding.size if interval.simultaneous else 1
            confidence = 1 - (1 - interval.confidence) / together
            post_process = around_found_counts(
                ThresholdedGeometric(finding.row_epsilon), finding.threshold, confidence
            )
        part = MechanismPart(ThresholdedGeometric.name, None, self.epsilon)
        return DrawPlan(
            self.spec,
            ReleaseProgram((), post_process=post_process),
            self._statistic_fact(),
            MechanismFact(self.choice, (part,)),
            Loss(self.epsilon, parts=(_finding_loss(finding),)),
            unit,
            self.parameters,
            (COUNT_COLUMN,),
            interval,
            self.suppression,
            finding,
        )

    def _values(self, settings: DrawSettings, groups: int) -> ReleaseProgram:
        """The draws of values, and of the ends of their intervals."""
        if self.interval is None:
            return self.spec.program(self.parameters, settings)
        simultaneous = self.interval.simultaneous
        interval = IntervalSpec(
            (1 - self.interval.confidence) / (groups if simultaneous else 1),
            self.interval.covers,
            simultaneous,
            settings.epsilon,
            known_noise,
        )
        return self.spec.interval_program(self.parameters, settings, interval)

    def _statistic_fact(self) -> StatisticFact:
        return StatisticFact(
            self.spec.name,
            {
                name: _as_written(value)
                for name, value in self.parameters.items()
                if value is not None and name not in self.spec.domain_parameters
            },
        )


def known_noise(name: str, epsilon: Fraction) -> Noise:
    """The noise of a mechanism whose errors are known, by the name of the mechanism."""
    noise = mechanism_class(name)(epsilon)
    assert isinstance(noise, Noise)
    return noise


def around_found_counts(
    mechanism: ThresholdedGeometric, threshold: int, confidence: Fraction
) -> PostProcess:
    """Noisy counts of keys that were found by them, each between the counts that are possible."""

    def values(domain: PublicSet, numbers: Sequence[int]) -> list[int]:
        (number,) = numbers
        return [number, *mechanism.possible_counts(number, threshold, confidence)]

    return PostProcess(lambda domain: COUNT_COLUMN.with_ends(), values)


def _finding_loss(finding: KeyFinding) -> LossPart:
    return LossPart(ThresholdedGeometric.loss_family, finding.epsilon, 1, finding.unit.rows)


def _check_share(mechanism: str, row_epsilon: Fraction) -> None:
    """Refuse what a mechanism would refuse once the release is charged: too small a share."""
    try:
        mechanism_class(mechanism)(row_epsilon)
    except DuffError:
        raise DuffError(
            *(Argument("epsilon"), " is divided among the draws of a release and the rows of a "),
            f"person. One draw would get {float(row_epsilon):g} for a row, which is too little for "
            f"the mechanism {mechanism!r}. Pass a larger epsilon.",
        ) from None


def resolve(
    spec: StatisticSpec, options: Mapping[str, object]
) -> tuple[StatisticSpec, Mapping[str, object]]:
    """The statistic that the options ask for: several quantiles where `q` is a list of them."""
    own_options = {name: options.get(name) for name in spec.parameter_names}
    name, parameters = spec.for_parameters(own_options)
    if parameters is own_options:
        return spec, options
    other_options = {key: value for key, value in options.items() if key not in own_options}
    return statistic_spec(name), {**other_options, **parameters}


def _suppression(spec: StatisticSpec, below: int | None) -> Suppression | None:
    """Below which size values are withheld, and whether the statistic says the size itself."""
    if below is None:
        return None
    if spec.of_graphs or spec.shape == "distribution":
        raise DuffError(
            *(Argument("suppress_below"), f" cannot be used with {spec.name}. Release "),
            "quantiles or counts instead.",
        )
    return Suppression(below, spec.size_column)


def _mechanism_parts(program: ReleaseProgram, total: Fraction) -> tuple[MechanismPart, ...]:
    """Public facts about draws; consecutive draws of one kind are one part."""
    parts = []
    for kind, draws in groupby(program.draws, key=attrgetter("mechanism", "utility")):
        shares = [draw.share for draw in draws]
        parts.append(MechanismPart(*kind, _cost(shares, total), len(shares)))
    return tuple(parts)


def _losses(program: ReleaseProgram, total: Fraction, rows: int) -> tuple[LossPart, ...]:
    """Known facts about the loss of each draw.

    Where later draws may get what earlier ones did not spend, no more is known of those that depend
    on others than their sum.
    """
    shares: dict[tuple[LossFamily, Fraction], list[Fraction]] = {}
    together = Fraction(0)
    for draw in program.draws:
        if draw.statistic is None and program.forwards_epsilon:
            together += draw.share
        else:
            family = mechanism_class(draw.mechanism).loss_family
            shares.setdefault((family, draw.share), []).append(draw.share)
    if together:
        shares.setdefault(("pure", together), []).append(together)
    return tuple(
        LossPart(family, _cost(epsilons, total), len(epsilons), rows)
        for (family, _), epsilons in shares.items()
    )


def _cost(shares: list[Fraction], total: Fraction) -> Fraction:
    """Cost of draws with these shares of epsilon."""
    return share_of(total, reduce(add, shares))


def _check_interval(
    spec: StatisticSpec, choice: str, promised: Interval, contributions: int
) -> None:
    """Refuse an interval that a statistic cannot have."""
    if not spec.interval_choices or not spec.has_interval(choice):
        names = ", ".join(other.name for other in REGISTRY.values() if other.interval_choices)
        why = spec.no_interval_reason or f"only {names} have one. Leave interval out"
        by: tuple[str | Argument, ...] = (spec.name,)
        fix: tuple[str | Argument, ...] = (".",)
        if spec.interval_choices:
            by = (f"{spec.name} with ", Argument("mechanism", choice))
            fix = (". Pass ", Argument("mechanism", spec.interval_choices[0]), ".")
        raise DuffError("no interval is available for ", *by, f": {why}", *fix)
    if promised.covers != "population":
        return
    if not spec.covers_population:
        raise DuffError(
            f"an interval for {spec.name} can only cover the data, because the noise says "
            "nothing about a population. Pass ",
            *(Argument("covers", "data"), "."),
        )
    if contributions != 1:
        raise DuffError(
            f"an interval for the population needs independent rows, got up to {contributions} per "
            "person. Pass ",
            *(Argument("contributions", 1), " or ", Argument("covers", "data"), "."),
        )


def _as_written(value: object) -> object:
    """A checked parameter as people write it: shares as numbers."""
    if isinstance(value, tuple):
        return tuple(map(_as_written, value))
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value
