"""Sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duffdp._engines.requests import Engine, Inquiry, LevelSums, Quantization, ask
from duffdp.domain import Grid, PublicSet
from duffdp.errors import BoundsError
from duffdp.statistics.noise_interval import around_number
from duffdp.statistics.program import OutputColumn, PostProcess, ReleaseProgram
from duffdp.statistics.records import exact_integers
from duffdp.statistics.spec import DrawSettings, IntervalSpec, Parameters, StatisticSpec
from duffdp.statistics.statistic import TotalsStatistic


class Sum(TotalsStatistic):
    """The sum of the clamped records, as a multiple of the largest number of which every candidate
    is one.

    Privacy
    -------
    Moves by at most the larger absolute value of both bounds when one record joins or leaves. Not
    private by itself: noise goes on top.

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

    def totals(self, domain: Grid) -> Inquiry[list[tuple[int, ...]]]:
        """The sum of every group, in units."""
        sums = yield from ask(LevelSums(Quantization(0, domain.size - 1)))
        low, step = domain.units
        return [(group.records * low + group.levels * step,) for group in sums]

    def sensitivity(self, domain: Grid) -> int:
        """The most by which one record moves it, in units."""
        low, step = domain.units
        return max(abs(low), abs(low + (domain.size - 1) * step))


def _values(domain: PublicSet, numbers: Sequence[int]) -> list[Any]:
    """A number of units as a number of the kind of the bounds."""
    assert isinstance(domain, Grid)
    return [domain.multiple(numbers[0])]


SUM_VALUE = PostProcess(lambda _: (OutputColumn("sum", "number"),), _values)


class SumSpec(StatisticSpec):
    """Sum."""

    name = "sum"
    choices = ("best",)
    interval_choices = ("best",)
    additive = True
    baselines = "sum"

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        return ReleaseProgram.by_noise(Sum(), ("sum",), SUM_VALUE)

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        return around_number(self.program(parameters, settings), interval)

    def exact(self, parameters: Parameters, engine: Engine, domain: Grid) -> list[Any]:
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
