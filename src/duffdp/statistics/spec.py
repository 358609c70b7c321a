"""Specification of a statistic: everything that the other packages need to know about it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Protocol

from duffdp._engines.requests import Engine
from duffdp._parameters import Choice, Covers, Parameter
from duffdp.domain import PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.statistics.program import ReleaseProgram

#: Checked parameters of a statistic, by name.
Parameters = Mapping[str, object]
#: Form of a release without groups.
Shape = Literal["value", "list", "dictionary", "distribution"]


class DrawSettings(NamedTuple):
    """Public facts that determine the draws of a release in addition to its parameters: the choice
    of mechanism, the domain, the epsilon per row, and the rows per person.
    """

    choice: Choice
    domain: PublicSet
    epsilon: Fraction
    contributions: int = 1

    def for_share(self, share: Fraction) -> DrawSettings:
        """These settings for a share of epsilon."""
        return self._replace(epsilon=self.epsilon * share)


class NoiseBounds(Protocol):
    """Protocol of noise whose size is known, which confidence intervals follow from."""

    def largest_noise(self, sensitivity: int, confidence: Fraction, /) -> int:
        """The noise of one number that is not exceeded with this probability."""

    def largest_noise_of_sum(self, sensitivity: int, count: int, confidence: Fraction, /) -> int:
        """The noise of a sum of `count` numbers that is not exceeded with this probability."""

    def largest_tilts(self, sensitivity: int, miss: Fraction, /) -> Sequence[int]:
        """Bound on the noise of a ratio of two numbers."""

    def largest_tilts_of_sum(
        self, sensitivity: int, count: int, miss: Fraction, /
    ) -> Sequence[int]:
        """Bound on the noise of a ratio of two sums of `count` numbers."""


class IntervalSpec(NamedTuple):
    """Guarantee of the confidence intervals of one group, and the epsilon for it."""

    failure_rate: Fraction  # of each interval; of all of them together if `simultaneous`
    covers: Covers
    simultaneous: bool
    epsilon: Fraction  # that a row may cost
    noise: Callable[[str, Fraction], NoiseBounds]  # of a mechanism, by its name and its epsilon
    summands: int = 1  # groups whose drawn numbers were added up

    def failure_rate_each(self, count: int) -> Fraction:
        """Failure rate of one of so many intervals."""
        return self.failure_rate / count if self.simultaneous else self.failure_rate


class StatisticSpec(ABC):
    """A statistic that can be released, with its facts as attributes and its functions as methods.

    To add a statistic, write a subclass in a file of its own and name it in `registry.py`. Only
    `name` and `program` are required.
    """

    #: Of the function, the command and the key in a plan.
    name: str
    #: Parameters of its own, beside those that every release takes.
    parameters: tuple[Parameter[Any], ...] = ()
    #: Parameters that the public domain contains, and that a release does not repeat.
    domain_parameters: frozenset[str] = frozenset()
    #: Parameters with which the installed library is audited.
    examples: tuple[Parameters, ...] = ({},)

    #: Values that `mechanism` accepts; the first is the default.
    choices: tuple[Choice, ...] = ("best", "duff")
    #: Form of a release without groups.
    shape: Shape = "value"
    #: Public domain: a grid, a grid or categories, the counts that a graph can have, a domain that
    #: the statistic makes of its parameters, or that or categories.
    outputs: Literal["grid", "grid or categories", "counts", "own", "own or categories"] = "grid"
    #: Whether candidates may be unevenly spaced, as those of `Digits` are.
    allows_uneven_grid: bool = False
    #: Whether the statistic can count rows without naming a column.
    column_optional: bool = False
    #: Whether records are pairs of numbers, whose columns are the parameters x and y.
    of_pairs: bool = False

    #: Choices of mechanism for which a value can have a confidence interval.
    interval_choices: tuple[Choice, ...] = ()
    #: Whether the ends of an interval are drawn and cost epsilon, or follow from the noise.
    interval_costs_epsilon: bool = False
    #: Whether an interval can cover the population, too.
    covers_population: bool = False
    #: Why there is no interval, for the statistic or for some choices, and what to do instead.
    no_interval_reason: str = ""

    #: Header of the column that names the values of a list or dictionary in a report.
    row_header: str = "quantile"
    #: Whether the values of groups add up to the value of all of them together.
    additive: bool = False
    #: Whether a value is the share that one of two drawn counts has in both, which add up.
    is_ratio_of_counts: bool = False
    #: Released number that is the number of records, if one is.
    size_column: str | None = None
    #: Whether `exact` is defined, so that errors can be planned on public records.
    can_be_planned: bool = True
    #: Bound on the distance of an output that holds: "any" as it is, "one" if it is at least 1 (an
    #: empty data set is one record away from everything), "mean" with the bound of the mean.
    distance_bound: Literal["any", "one", "mean"] | None = None
    #: Local sensitivities that the baselines of planning need; None: there are no baselines.
    baselines: Literal["quantile", "mean", "sum", "mode"] | None = None

    @abstractmethod
    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        """The draws of a release and their post-processing."""

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        """The draws with confidence intervals: each value is followed by its two ends."""
        raise NotImplementedError

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        """The values of one group of records without noise: not private, for planning."""
        raise NotImplementedError

    def own_domain(self, parameters: Parameters) -> PublicSet | None:
        """The public domain that the parameters make; None if they do not make one."""
        return None

    def check_domain(self, parameters: Parameters, domain: PublicSet) -> None:  # noqa: B027
        """Refuse a public domain that does not fit the parameters."""

    def step_rule(self, choice: Choice) -> StepRule:
        """The rule by which the step is chosen if the caller passes none."""
        return "sum"

    def title(self, parameters: Parameters) -> str:
        """The statistic in a report."""
        return self.name.capitalize()

    def heading(self) -> str:
        """The statistic before its parameters are chosen, as a form lists it."""
        needs_parameters = any(parameter.required for parameter in self.parameters)
        return self.name.replace("_", " ").capitalize() if needs_parameters else self.title({})

    def label(self, column: str) -> str:
        """A released number in a table with several of them."""
        return column

    def for_parameters(self, parameters: Parameters) -> tuple[str, Parameters]:
        """The statistic that these parameters mean, and its own parameters."""
        return self.name, parameters

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of its own parameters."""
        return tuple(parameter.name for parameter in self.parameters)

    def checked(self, options: Parameters) -> dict[str, object]:
        """Its own parameters, checked; defaults for those that are left out."""
        return {parameter.name: parameter.read_from(options) for parameter in self.parameters}

    @property
    def of_graphs(self) -> bool:
        """True if records are edges of a graph."""
        return self.outputs == "counts"

    @property
    def makes_domain(self) -> bool:
        """True if the domain follows from the parameters, and not from bounds."""
        return not self.outputs.startswith("grid")

    @property
    def numbers_add_up(self) -> bool:
        """True if the exact numbers that noise is added to add up over groups."""
        return self.additive or self.is_ratio_of_counts

    def adds_up(self, choice: Choice) -> bool:
        """True if drawn numbers of groups with known noise are added up to those of larger groups;
        otherwise these have draws of their own.
        """
        return self.numbers_add_up and self.has_interval(choice)

    def has_interval(self, choice: Choice) -> bool:
        """True if a value can have a confidence interval with this choice of mechanism."""
        return choice in self.interval_choices

    def program_for_share(
        self, parameters: Parameters, settings: DrawSettings, share: Fraction
    ) -> ReleaseProgram:
        """The program for a share of the epsilon of these settings."""
        return self.program(parameters, settings.for_share(share)).scaled(share)
