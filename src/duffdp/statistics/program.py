"""A release as a program of draws, in order, each with its epsilon.

A program is a generator. It yields draws that do not depend on each other, receives their numbers
for every group, and returns the columns of numbers that the release is made of. It sees no record;
the driver collects evidence, keeps the account and draws.

Promise: A program sees drawn numbers and no record, and names the epsilon of each draw.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Literal, NamedTuple

from duffdp._parameters import Choice
from duffdp.domain import PublicSet
from duffdp.statistics.statistic import (
    BaseStatistic,
    DistanceStatistic,
    Scope,
    TotalsStatistic,
)

#: Kind of a released number: a candidate of the domain, a number between candidates, a count of
#: records, a length of time, another number, or a whole distribution.
NumberKind = Literal["candidate", "average", "count", "duration", "number", "distribution"]
NOT_DRAWN = -1  # the number of a group that a draw leaves out

Columns = list[Sequence[int]]  # each has a number for every group
StatisticPerGroup = Sequence[BaseStatistic | None]


def share_of(epsilon: Fraction, share: Fraction) -> Fraction:
    """A share of epsilon; the whole of it is not multiplied, which would take longer."""
    return epsilon if share == 1 else epsilon * share


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw for every group of a program.

    `statistics` is one statistic for all groups, or one for each; None leaves a group out, which
    then pays nothing. `epsilon` is the cost per row: one number for all groups, or one for each.
    `width` is how many numbers are drawn for a group.
    """

    statistics: BaseStatistic | StatisticPerGroup
    mechanism: str
    epsilon: Fraction | Sequence[Fraction]
    width: int = 1

    def statistic_of(self, group: int) -> BaseStatistic | None:
        """The statistic of one group."""
        statistics = self.statistics
        return statistics if isinstance(statistics, BaseStatistic) else statistics[group]

    def epsilon_of(self, group: int) -> Fraction:
        """The cost per row of one group."""
        epsilon = self.epsilon
        return epsilon if isinstance(epsilon, Fraction) else epsilon[group]


#: A program that runs: the driver sends it the numbers of the draws that it yields.
ProgramRun = Generator[Sequence[Draw], list[Columns], Columns]


@dataclass(frozen=True, slots=True)
class DrawSpec:
    """The public facts about one draw of a release: the mechanism, its share of epsilon, and the
    names and the kind of its numbers.

    `statistic` is None where it depends on earlier draws of the program. `is_released` is False for
    numbers that later draws depend on and that the program does not return.
    """

    statistic: BaseStatistic | None
    mechanism: str
    columns: tuple[str, ...]
    share: Fraction = Fraction(1)
    utility: str | None = None
    kind: NumberKind = "candidate"
    is_released: bool = True

    def draw(
        self,
        epsilon: Fraction,
        statistics: BaseStatistic | StatisticPerGroup | None = None,
        unspent: Sequence[Fraction] | None = None,
    ) -> Draw:
        """The draw itself, where the whole program may cost `epsilon` per row; `unspent` is what
        each group did not use in earlier draws.
        """
        statistics = self.statistic if statistics is None else statistics
        assert statistics is not None
        cost = share_of(epsilon, self.share)
        costs = cost if unspent is None else [cost + extra for extra in unspent]
        return Draw(statistics, self.mechanism, costs, len(self.columns))


class OutputColumn(NamedTuple):
    """One number of every group of a release: its name and its kind."""

    name: str
    kind: NumberKind = "candidate"

    def with_ends(self) -> tuple[OutputColumn, ...]:
        """The column of a value and the columns of the ends of its interval."""
        return self, *(self._replace(name=f"{self.name}_{side}") for side in ("low", "high"))


@dataclass(frozen=True, slots=True)
class PostProcess:
    """Post-processing of the drawn numbers of a group: it costs no epsilon and sees no record.

    `columns` names the released values on a domain, and `values` computes them from the numbers of
    a group. `on_step` replaces it where the caller chose the step, if that makes a difference.
    `independent`: each value follows from the number in its place alone.
    """

    columns: Callable[[PublicSet], tuple[OutputColumn, ...]]
    values: Callable[[PublicSet, Sequence[int]], Sequence[object]]
    on_step: PostProcess | None = None
    independent: bool = False


#: Body of a program: starts it for some draws, groups, and the epsilon that a row may cost.
ProgramBody = Callable[[Sequence[DrawSpec], Scope, Fraction], ProgramRun]


def draw_all(draws: Sequence[DrawSpec], scope: Scope, epsilon: Fraction) -> ProgramRun:
    """Run draws that do not depend on each other."""
    columns = yield [draw.draw(epsilon) for draw in draws]
    return list(chain.from_iterable(columns))


@dataclass(frozen=True, slots=True)
class ReleaseProgram:
    """The draws of a release, the body that runs them, and their post-processing.

    Without `post_process`, numbers are released as they are drawn. `forwards_epsilon`: what a group
    does not spend on one draw may go to a later one.
    """

    draws: tuple[DrawSpec, ...]
    body: ProgramBody = draw_all
    post_process: PostProcess | None = None
    forwards_epsilon: bool = False

    @classmethod
    def by_distance(
        cls,
        statistic: DistanceStatistic,
        column: str,
        choice: Choice,
        post_process: PostProcess | None = None,
    ) -> ReleaseProgram:
        """One draw by distance: with the paper's mechanism, or the more accurate one."""
        mechanism = "exponential" if choice == "duff" else "permute-and-flip"
        draw = DrawSpec(statistic, mechanism, (column,), utility="distance")
        return cls((draw,), post_process=post_process)

    @classmethod
    def by_noise(
        cls, statistic: TotalsStatistic, columns: tuple[str, ...], post_process: PostProcess
    ) -> ReleaseProgram:
        """One draw of numbers with staircase noise."""
        draw = DrawSpec(statistic, "staircase", columns, kind="number")
        return cls((draw,), post_process=post_process)

    @property
    def columns(self) -> tuple[OutputColumn, ...]:
        """The numbers of every group that the program returns."""
        return tuple(
            OutputColumn(name, draw.kind)
            for draw in self.draws
            if draw.is_released
            for name in draw.columns
        )

    def start(self, scope: Scope, epsilon: Fraction) -> ProgramRun:
        """Start the program for some groups."""
        return self.body(self.draws, scope, epsilon)

    def scaled(self, share: Fraction) -> ReleaseProgram:
        """This program for a share of epsilon."""
        if share == 1:
            return self
        draws = tuple(replace(draw, share=draw.share * share) for draw in self.draws)

        def body(_: Sequence[DrawSpec], scope: Scope, epsilon: Fraction) -> ProgramRun:
            return self.start(scope, epsilon * share)

        return replace(self, draws=draws, body=body)

    def beside(
        self, others: Sequence[DrawSpec], post_process: PostProcess | None = None
    ) -> ReleaseProgram:
        """This program followed by draws that depend on nothing, drawn together with its first
        draws; `post_process` replaces its own.
        """
        count = len(others)

        def body(_: Sequence[DrawSpec], scope: Scope, epsilon: Fraction) -> ProgramRun:
            inner = self.start(scope, epsilon)
            draws = next(inner)
            numbers = yield [*draws, *(draw.draw(epsilon) for draw in others)]
            extra = list(chain.from_iterable(numbers[-count:]))
            numbers = numbers[:-count]
            while True:
                try:
                    draws = inner.send(numbers)
                except StopIteration as end:
                    columns: Columns = end.value
                    return columns + extra
                numbers = yield draws

        return replace(
            self,
            draws=(*self.draws, *others),
            body=body,
            post_process=post_process or self.post_process,
        )
