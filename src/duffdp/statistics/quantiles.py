"""Several quantiles at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from duffdp._engines.requests import (
    Engine,
    GroupedCounts,
    GroupedRanks,
    Inquiry,
    Ranks,
    RanksNear,
    Request,
    ValueCounts,
    ask,
    ask_both,
)
from duffdp._evidence import RankProfiles
from duffdp._parameters import QS, Choice, share_text
from duffdp._rank_profile import MIN_GROUPED_COLUMNS, QuantileRanks
from duffdp.domain import Ints, Ordered, PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.statistics.count import Count
from duffdp.statistics.private_range import Ends
from duffdp.statistics.program import (
    DrawSpec,
    OutputColumn,
    PostProcess,
    ProgramRun,
    ReleaseProgram,
)
from duffdp.statistics.quantile import (
    clamped_ranks,
    end_cells,
    is_outer,
    narrowed_program,
    quantile_draw,
    quantile_program,
)
from duffdp.statistics.quantile_interval import (
    VALUE_SHARES,
    around_quantiles,
    values_inside_ends,
)
from duffdp.statistics.records import exact_quantiles
from duffdp.statistics.spec import DrawSettings, IntervalSpec, Parameters, StatisticSpec
from duffdp.statistics.statistic import BaseStatistic, Scope

NEGLIGIBLE_NATS = 24.0  # candidates beyond so many nats come out one time in 10**10
MAX_PROFILE_RANKS = 2**21  # to a side of a quantile
# One sort of so many records takes less time than a search for each of more than so many quantiles.
FEW_QUANTILES, SORTABLE_RECORDS = 32, 2**24
# Up to so many quantiles are drawn together with a size, which is a little more accurate; for more
# of them it takes too long.
MAX_QUANTILES_WITH_SIZE = 20


class Quantiles(BaseStatistic):
    """Several quantiles of one column, for the joint mechanism.

    Parameters
    ----------
    qs
        Different numbers from 0 to 1, in any order, each read as for `Quantile`.
    records
        A number of records that was drawn before: gaps are compared with shares of it. Without it,
        a number of records is drawn together with the quantiles.
    ends
        Two candidates, from a private range that was drawn before: records beyond them count as the
        nearer one.

    Privacy
    -------
    The evidence is not private: it is the input of `duffdp.mechanisms.Joint`, which documents how
    far one record moves its score.

    Runtime
    -------
    One pass over the data, which lists only the values near the ranks of the quantiles.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles" (ICML 2021);
    `docs/explanation/several-quantiles.md`.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.statistics.Quantiles([0.75, 0.25])
    Quantiles(1/4, 3/4)
    """

    def __init__(self, qs: Any, records: int | None = None, ends: Ends | None = None) -> None:
        self.qs, self.records, self.ends = QS.read(qs), records, ends

    def evidence(
        self, scope: Scope, epsilon: float, reach: int | None = None
    ) -> Inquiry[RankProfiles]:
        """The values within about `reach` ranks of every quantile, for every group.

        The distribution is the same for every reach. Values beyond the reach that is chosen for
        this epsilon are drawn about once in 10**10, if records are spread evenly.
        """
        qs, count = self.qs, len(self.qs)
        if reach is None:
            nats = count * math.log1p(scope.max_records * epsilon / count) + NEGLIGIBLE_NATS
            reach = min(math.ceil(2 * nats / epsilon) + 1, MAX_PROFILE_RANKS)
        few_groups = scope.groups < MIN_GROUPED_COLUMNS
        request: Request[GroupedCounts | list[GroupedRanks]] = RanksNear(
            tuple((q, reach) for q in qs), min_reach=0
        )
        if (4 * reach * count > scope.max_records and few_groups) or (
            count > FEW_QUANTILES and scope.max_records <= SORTABLE_RECORDS
        ):
            request = ValueCounts()
        first, size = 0, scope.domain.size
        cells: Sequence[Ints] = ()
        if self.ends is None:
            answer = yield from ask(request)
        else:
            answer, cells = yield from ask_both(request, end_cells(self.ends))
        ranks = (
            [GroupedRanks.of_counts(answer, size)] if isinstance(answer, GroupedCounts) else answer
        )
        by_group = list(zip(*(target_ranks.split() for target_ranks in ranks), strict=True))
        if self.ends is not None:
            first, size = self.ends[0], self.ends[1] - self.ends[0] + 1
            by_group = _clamped_groups(by_group, self.ends, cells)
        one_group = scope._replace(groups=1)

        def inquire(wider: int) -> Inquiry[QuantileRanks]:
            evidence = yield from self.evidence(one_group, epsilon, wider)
            return evidence.columns[0]

        return RankProfiles(
            [
                QuantileRanks(qs, self.records, size, group[0].total, reach, group, inquire, first)
                for group in by_group
            ]
        )

    def __repr__(self) -> str:
        return f"Quantiles({', '.join(map(str, self.qs))})"


def _clamped_groups(
    by_group: Sequence[tuple[Ranks, ...]], ends: Ends, counts: Sequence[Ints]
) -> list[tuple[Ranks, ...]]:
    """The ranks of clamped records near every quantile of every group; `counts` are the answer
    about the cells at both ends.
    """
    return [
        tuple(clamped_ranks(ranks, ends, int(cells[0]), int(cells[-1])) for ranks in group)
        for group, cells in zip(by_group, counts, strict=True)
    ]


def quantiles_program(qs: tuple[Fraction, ...], settings: DrawSettings) -> ReleaseProgram:
    """All quantiles in one draw, many of them after a count, or the paper's mechanism for each
    with the same share of epsilon.
    """
    names = tuple(map(share_text, qs))
    if len(qs) == 1:
        return quantile_program(qs[0], names[0], settings)
    share = Fraction(1, len(qs))
    if settings.choice == "best" and not {0, 1} & set(qs):
        return _joint_program(qs, names)
    single = settings.for_share(share)
    draws = tuple(
        replace(quantile_draw(q, name, single), share=share)
        for q, name in zip(qs, names, strict=True)
        if settings.choice == "duff" or q in (0, 1)
    )
    inner = tuple(q for q in qs if 0 < q < 1)
    if settings.choice == "duff" or not inner:
        return ReleaseProgram(draws)
    inner_share = len(inner) * share
    program = quantiles_program(inner, settings.for_share(inner_share)).scaled(inner_share)
    return _with_extremes(program, draws, qs[0] == 0)


def _joint_program(qs: tuple[Fraction, ...], names: tuple[str, ...]) -> ReleaseProgram:
    """Several quantiles in one draw, within a private range where few records lie beyond outer
    ones; many of them after a count.
    """
    if len(qs) <= MAX_QUANTILES_WITH_SIZE:
        draw = DrawSpec(Quantiles(qs), "joint-exponential", names)
        if any(map(is_outer, qs)):
            beyond = min(qs[0], 1 - qs[-1])
            return narrowed_program(draw, beyond, lambda ends: Quantiles(qs, ends=ends))
        return ReleaseProgram((draw,))
    share = Fraction(1, 3 * math.isqrt(len(qs)))

    def body(draws: Sequence[DrawSpec], scope: Scope, epsilon: Fraction) -> ProgramRun:
        """Draw a count, then all quantiles at this count, which noise may have made negative."""
        count_draw, quantile_draws = draws
        ((counts,),) = yield [count_draw.draw(epsilon)]
        quantiles = [Quantiles(qs, max(0, count)) for count in counts]
        (columns,) = yield [quantile_draws.draw(epsilon, quantiles)]
        return [counts, *columns]

    count = DrawSpec(Count(), "two-sided-geometric", ("count",), share, kind="count")
    return ReleaseProgram((count, DrawSpec(None, "joint-exponential", names, 1 - share)), body)


def _with_extremes(
    inner: ReleaseProgram, extremes: tuple[DrawSpec, ...], minimum: bool
) -> ReleaseProgram:
    """Inner quantiles and, before and after them, the minimum and the maximum."""
    program = inner.beside(extremes)
    *before, joint = inner.draws
    first, last = extremes[:minimum], extremes[minimum:]

    def body(_: Sequence[DrawSpec], scope: Scope, epsilon: Fraction) -> ProgramRun:
        columns = yield from program.start(scope, epsilon)
        numbers, outer = columns[: -len(extremes)], columns[-len(extremes) :]
        at = len(numbers) - len(joint.columns)
        return [*numbers[:at], *outer[:minimum], *numbers[at:], *outer[minimum:]]

    return ReleaseProgram((*before, *first, joint, *last), body)


class QuantilesSpec(StatisticSpec):
    """Several quantiles of one column, for one epsilon."""

    name = "quantiles"
    parameters = (QS,)
    examples = ({"qs": (0.25, 0.75)},)
    shape = "list"
    allows_uneven_grid = True
    interval_choices = ("best", "duff")
    interval_costs_epsilon = True
    covers_population = True

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        qs = QS.of(parameters)
        program = quantiles_program(qs, settings)
        extremes = {0, 1} & set(qs) and len(qs) > 1
        if settings.choice == "best" and len(qs) <= MAX_QUANTILES_WITH_SIZE and not extremes:
            return program
        # Quantiles that were drawn one by one are sorted, and a count before them is dropped.
        columns = tuple(OutputColumn(share_text(q)) for q in qs)

        def values(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
            assert isinstance(domain, Ordered)
            return [domain.value(i) for i in sorted(numbers[-len(qs) :])]

        return replace(program, post_process=PostProcess(lambda _: columns, values))

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        """Every value between two ends, which are moved to hold it."""
        qs = QS.of(parameters)
        names = tuple(map(share_text, qs))
        values = self.program_for_share(parameters, settings, VALUE_SHARES[interval.covers])
        columns = tuple(column for name in names for column in OutputColumn(name).with_ends())

        def inside_ends(domain: PublicSet, numbers: Sequence[int]) -> list[object]:
            return values_inside_ends(domain, numbers[-3 * len(qs) :])

        program = around_quantiles(values, qs, names, interval)
        return replace(program, post_process=PostProcess(lambda _: columns, inside_ends))

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        assert isinstance(domain, Ordered)
        return [domain.value(index) for index in exact_quantiles(QS.of(parameters), engine)]

    def step_rule(self, choice: Choice) -> StepRule:
        return "order"

    def title(self, parameters: Parameters) -> str:
        return f"Quantiles {', '.join(map(str, QS.of(parameters)))}"

    def label(self, column: str) -> str:
        return f"quantile({column})"


SPECS = (QuantilesSpec(),)
