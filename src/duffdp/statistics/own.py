"""A statistic of somebody else, in the place of one of ours."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from duffdp.domain import Domain
from duffdp.engines.source import Tally
from duffdp.errors import DuffError
from duffdp.parameters import Choice
from duffdp.statistics.entry import Entry, Parameters, Part
from duffdp.statistics.ladder import Statistic
from duffdp.statistics.registry import REGISTRY
from duffdp.statistics.slope import Slope
from duffdp.steps import Batch, StepFunction


class OwnStatistic:
    """Step functions of any object with `steps(values, domain)`, from the counts that engines
    give.
    """

    # that of the step functions counts; windows are whole, so that this one decides nothing
    rate = Fraction(1, 2)

    def __init__(self, statistic: Statistic) -> None:
        self._statistic = statistic

    def windows(self, columns: Sequence[Tally], domain: Domain, max_distance: float) -> Batch:
        """The whole step function of each group."""
        return Batch.of([self._steps(*column.tally(), domain) for column in columns])

    def _steps(self, index: Any, count: Any, domain: Domain) -> StepFunction:
        # Numbers of Python, as `check_statistic` gives them: those of numpy overflow in somebody's
        # sums.
        repeated = zip(index.tolist(), count.tolist(), strict=True)
        values = [value for i, times in repeated for value in [domain.value(i)] * times]
        steps = self._statistic.steps(values, domain)
        if not isinstance(steps, StepFunction) or steps.domain != domain or steps.tail is not None:
            raise DuffError(
                "steps(values, domain) must return a whole StepFunction on the domain that it got."
            )
        steps.check()
        return steps


def own_entry(statistic: Any) -> Entry:
    """The entry of a statistic that is not in the registry."""
    if isinstance(statistic, type) or not isinstance(statistic, Statistic):
        raise DuffError(
            "statistic must be a name or an object with steps(values, domain), got "
            f"{statistic!r:.60}. Pass for example duffdp.statistics.Median()."
        )
    if isinstance(statistic, Slope):
        raise DuffError("the records of a slope are pairs. Call duffdp.slope(x, y, ...).")
    name = str(getattr(statistic, "name", type(statistic).__name__))
    if name in REGISTRY:  # what is known of that one would be said of this one
        raise DuffError(
            f"{name!r} is the name of a statistic of the library. Give yours another one."
        )
    asked = statistic if hasattr(statistic, "windows") else OwnStatistic(statistic)

    def parts(_: Parameters, choice: Choice) -> tuple[Part, ...]:
        mechanism = "exponential" if choice == "duff" else "permute-and-flip"
        utility = getattr(statistic, "utility", None)
        return (Part(asked, mechanism, (name,), utility=utility),)

    return Entry(
        name=name,
        parts=parts,
        title=lambda _: name,
        outputs="grid or categories",
        step_rule=lambda _: "order",
        uneven=bool(getattr(statistic, "uneven", False)),
    )
