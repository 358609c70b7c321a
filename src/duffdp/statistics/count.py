"""Count of records."""

from __future__ import annotations

from collections.abc import Sequence

from duffdp._engines.requests import Engine, Inquiry, RecordCounts, ask
from duffdp.domain import Presence, PublicSet
from duffdp.statistics.cells import cell_program
from duffdp.statistics.noise_interval import around_number
from duffdp.statistics.program import ReleaseProgram
from duffdp.statistics.records import exact_counts
from duffdp.statistics.spec import DrawSettings, IntervalSpec, Parameters, StatisticSpec
from duffdp.statistics.statistic import TotalsStatistic


class Count(TotalsStatistic):
    """Number of records that are not missing.

    Privacy
    -------
    The number changes by 1 when one record is added or removed. Not private without noise.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms" (STOC
    2009).

    Examples
    --------
    >>> import duffdp
    >>> duffdp.statistics.Count().of_records([1.0, None, 3.0], duffdp.Grid(0, 9, 1))
    (2,)
    """

    def totals(self, domain: PublicSet) -> Inquiry[list[tuple[int, ...]]]:
        """The number of records of every group."""
        counts = yield from ask(RecordCounts())
        return [(count,) for count in counts]

    def sensitivity(self, domain: PublicSet) -> int:
        """The largest change of the number when one record is added or removed."""
        return 1


class CountSpec(StatisticSpec):
    """The number of rows, or of values that are not missing."""

    name = "count"
    choices = ("best",)
    outputs = "own"
    column_optional = True
    interval_choices = ("best",)
    additive = True
    size_column = "count"

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        return cell_program(("count",))

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        return around_number(self.program(parameters, settings), interval)

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        return [int(exact_counts(engine)[1].sum())]

    def own_domain(self, parameters: Parameters) -> Presence:
        return Presence(rows=True)


SPECS = (CountSpec(),)
