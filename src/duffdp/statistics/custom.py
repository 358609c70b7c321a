"""Statistics of a caller: objects with `steps(values, domain)`."""

from __future__ import annotations

from fractions import Fraction

from duffdp._engines.requests import Inquiry, ValueCounts, ask
from duffdp._parameters import Choice
from duffdp._steps import StepFunction, Windows
from duffdp.domain import Domain, Ints
from duffdp.domain.default_step import StepRule
from duffdp.errors import DuffError
from duffdp.statistics.ladder import Statistic
from duffdp.statistics.program import DrawSpec, ReleaseProgram
from duffdp.statistics.registry import REGISTRY
from duffdp.statistics.slope import Slope
from duffdp.statistics.spec import DrawSettings, Parameters, StatisticSpec
from duffdp.statistics.statistic import BaseStatistic, DistanceStatistic, Scope


class CustomStatistic(DistanceStatistic):
    """Step functions of a caller's object with `steps(values, domain)`, from the counts of an
    engine.
    """

    # that of the step functions counts; windows are whole, so that this one decides nothing
    rate = Fraction(1, 2)
    unit = Fraction(1)

    def __init__(self, statistic: Statistic) -> None:
        self._statistic = statistic

    def windows(self, scope: Scope, max_distance: float) -> Inquiry[Windows]:
        """The whole step function of each group."""
        counts = yield from ask(ValueCounts())
        return Windows.of([self._steps(*group, scope.candidates) for group in counts.split()])

    def _steps(self, index: Ints, count: Ints, domain: Domain) -> StepFunction:
        # Numbers of Python, as `check_statistic` gives them: those of numpy overflow in somebody's
        # sums.
        repeated = zip(index.tolist(), count.tolist(), strict=True)
        values = [value for i, times in repeated for value in [domain.value(i)] * times]
        steps = self._statistic.steps(values, domain)
        if not isinstance(steps, StepFunction) or steps.domain != domain or steps.tail is not None:
            raise DuffError(
                "steps(values, domain) must return a StepFunction for the whole domain that it "
                "received."
            )
        steps.check()
        return steps


class CustomSpec(StatisticSpec):
    """The specification of a statistic outside of the registry."""

    outputs = "grid or categories"
    can_be_planned = False

    def __init__(self, statistic: object) -> None:
        if isinstance(statistic, type) or not isinstance(statistic, Statistic):
            raise DuffError(
                "statistic must be a name or an object with steps(values, domain), got "
                f"{statistic!r:.60}. Pass for example duffdp.statistics.Median()."
            )
        if isinstance(statistic, Slope):
            raise DuffError("a slope needs pairs of records. Call duffdp.slope(x, y, ...).")
        self.name = str(getattr(statistic, "name", type(statistic).__name__))
        if self.name in REGISTRY:  # its facts would be told of this one
            raise DuffError(
                f"{self.name!r} is already the name of a statistic. Give yours another name."
            )
        self.allows_uneven_grid = bool(getattr(statistic, "uneven", False))
        self._utility = getattr(statistic, "utility", None)
        self._statistic = (
            statistic if isinstance(statistic, BaseStatistic) else CustomStatistic(statistic)
        )

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        mechanism = "exponential" if settings.choice == "duff" else "permute-and-flip"
        return ReleaseProgram(
            (DrawSpec(self._statistic, mechanism, (self.name,), utility=self._utility),)
        )

    def step_rule(self, choice: Choice) -> StepRule:
        return "order"

    def title(self, parameters: Parameters) -> str:
        return self.name
