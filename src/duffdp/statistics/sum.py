"""Sum: of all records, or of records within a private range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from duffdp._engines.requests import Engine, Inquiry, LevelSums, Quantization, ask
from duffdp.domain import Grid, PublicSet
from duffdp.errors import BoundsError
from duffdp.statistics.count import Count
from duffdp.statistics.noise_interval import around_number
from duffdp.statistics.private_range import Ends, PrivateRange, range_ends
from duffdp.statistics.program import (
    NOT_DRAWN,
    DrawSpec,
    OutputColumn,
    PostProcess,
    ProgramRun,
    ReleaseProgram,
)
from duffdp.statistics.records import exact_integers
from duffdp.statistics.spec import DrawSettings, IntervalSpec, Parameters, StatisticSpec
from duffdp.statistics.statistic import Scope, TotalsStatistic

# Shares of epsilon of a clipped sum: the number of records, the range and the sum.
SUM_COUNT_SHARE, SUM_RANGE_SHARE = Fraction(1, 20), Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class Sum(TotalsStatistic):
    """The sum of the clamped records, as a whole number of units. A unit is the largest number of
    which every candidate is a multiple.

    Parameters
    ----------
    ends
        Two candidates that replace the bounds: records beyond them count as the nearer one.

    Privacy
    -------
    The sum changes by at most the larger absolute value of both bounds, or ends, when one record is
    added or removed. Not private without noise.

    References
    ----------
    Geng and Viswanath, "The optimal noise-adding mechanism in differential privacy" (IEEE
    Transactions on Information Theory 62, 2016); `docs/explanation/statistics.md`, "Sum".

    Examples
    --------
    >>> import duffdp
    >>> grid = duffdp.Grid(-1.0, 2.0, 0.5)
    >>> total = duffdp.statistics.Sum()
    >>> total.of_records([0.5, 7.0, -9.0], grid), total.sensitivity(grid)
    ((3,), 4)
    """

    ends: Ends | None = None

    def totals(self, domain: PublicSet) -> Inquiry[list[tuple[int, ...]]]:
        """The sum of every group, in units."""
        assert isinstance(domain, Grid)
        ends = self.ends or (0, domain.size - 1)
        sums = yield from ask(LevelSums(Quantization(*ends)))
        lowest, step = domain.units
        low = lowest + ends[0] * step
        return [(group.records * low + group.levels * step,) for group in sums]

    def sensitivity(self, domain: PublicSet) -> int:
        """The largest change of the sum, in units, when one record is added or removed."""
        assert isinstance(domain, Grid)
        lowest, step = domain.units
        return max(abs(lowest + end * step) for end in self.ends or (0, domain.size - 1))


def _within_private_range(draws: Sequence[DrawSpec], scope: Scope, epsilon: Fraction) -> ProgramRun:
    """Draw a count, a private range and the sum of records that are clamped to it.

    What a group does not spend on a range, it spends on its sum.
    """
    count_draw, range_draw, sum_draw = draws
    range_epsilon = epsilon * range_draw.share
    ((counts,),) = yield [count_draw.draw(epsilon)]
    ranges = [PrivateRange.after_count(count, scope.domain, range_epsilon) for count in counts]
    ((intervals,),) = yield [range_draw.draw(epsilon, ranges)]
    top = scope.domain.size - 1
    sums = [Sum(range_ends(candidate, top)) for candidate in intervals]
    unspent = [range_epsilon if candidate == NOT_DRAWN else Fraction(0) for candidate in intervals]
    (columns,) = yield [sum_draw.draw(epsilon, sums, unspent)]
    return columns


def _values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
    """A number of units as a number of the kind of the bounds."""
    assert isinstance(domain, Grid)
    return [domain.multiple(numbers[0])]


SUM_VALUE = PostProcess(lambda _: (OutputColumn("sum", "number"),), _values)
CLIPPED_SUM = ReleaseProgram(
    (
        DrawSpec(Count(), "two-sided-geometric", ("count",), SUM_COUNT_SHARE, is_released=False),
        DrawSpec(
            None, "permute-and-flip", ("interval",), SUM_RANGE_SHARE, "outside", is_released=False
        ),
        DrawSpec(
            None, "staircase", ("sum",), 1 - SUM_COUNT_SHARE - SUM_RANGE_SHARE, "clipped", "number"
        ),
    ),
    _within_private_range,
    SUM_VALUE,
    forwards_epsilon=True,
)


class SumSpec(StatisticSpec):
    """The sum."""

    name = "sum"
    choices = ("best", "clipped")
    interval_choices = ("best",)
    no_interval_reason = "the part that a clipped sum cuts off depends on the data"
    additive = True
    baselines = "sum"

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        if settings.choice == "clipped":
            return CLIPPED_SUM
        return ReleaseProgram.by_noise(Sum(), ("sum",), SUM_VALUE)

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        return around_number(self.program(parameters, settings), interval)

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        assert isinstance(domain, Grid)
        index, count = exact_integers(engine)
        low, step = domain.units
        return [domain.multiple(int(count.sum()) * low + int((index * count).sum()) * step)]

    def check_domain(self, parameters: Parameters, domain: PublicSet) -> None:
        if isinstance(domain, Grid) and domain.timed:
            raise BoundsError(
                f"dates and times have no sum, got bounds from {domain.lower} to {domain.upper}. "
                "Pass a column of numbers, such as days since a date."
            )


SPECS = (SumSpec(),)
