"""The driver of all draws: it runs programs, collects their requests, keeps the account of epsilon,
and draws.

Programs and statistics see no entropy and no engine; mechanisms see evidence and never an engine.

Promise: No group pays more than its epsilon; every draw is paid before it takes a random bit, and
uses the epsilon that was paid.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeVar

import numpy as np

from duffdp._engines.arrays.threads import parallel_map
from duffdp._engines.requests import (
    Answer,
    ColumnRequest,
    Engine,
    Inquiry,
    LevelSums,
    Request,
    run_inquiry,
)
from duffdp._evidence import Evidence, KeyCounts
from duffdp._pipeline.draw_plan import DrawPlan
from duffdp._privacy import PrivacyUnit
from duffdp._rows import MIN_COLUMNAR_ROWS, RowsOfColumns
from duffdp._sampling.entropy import Entropy
from duffdp.domain import Ints, PublicSet
from duffdp.errors import DuffError
from duffdp.mechanisms import mechanism_class
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.mechanisms.thresholded_geometric import ThresholdedGeometric
from duffdp.statistics.count import Count
from duffdp.statistics.program import NOT_DRAWN, Columns, Draw
from duffdp.statistics.statistic import BaseStatistic, Scope

Numbers = Sequence[Sequence[int]]  # for each group, one number or several
Requests = tuple[Request[Answer], ...]
#: Runs a release for some groups: yields requests, receives answers, returns columns of numbers.
Run = Generator[list[ColumnRequest], list[Answer], Columns]
T = TypeVar("T")
ZERO = Fraction(0)  # written once: to make it takes longer than to add it


class Overspent(DuffError):
    """Error of a program that would cost a group more than its epsilon; it is stopped before the
    draw.
    """


class Account:
    """Account of every group of a program: the spent part of its epsilon, exactly.

    The account of a release has one group and the epsilon of a unit. `for_groups` opens the account
    of a program of values, where draws cost epsilon per row: once for each group.
    """

    def __init__(self, budget: Fraction, groups: int = 1) -> None:
        self._budget, self._groups = budget, groups
        self._for_all = ZERO
        self._for_each: list[Fraction] | None = None  # beside that, where groups differ
        self._opened: list[tuple[int, int]] = []  # the first and the last group of each account

    def pay(self, draws: Sequence[Draw]) -> None:
        """Charge draws to the groups that take part, all or none."""
        for_all, for_each = self._for_all, self._for_each
        for draw in draws:
            uniform = isinstance(draw.statistics, BaseStatistic)
            if uniform and isinstance(draw.epsilon, Fraction):
                for_all += draw.epsilon
                continue
            before = for_each or [ZERO] * self._groups
            for_each = [
                spent if statistic is None else spent + cost
                for spent, statistic, cost in zip(before, *self._by_group(draw), strict=True)
            ]
        largest = for_all + max(for_each) if for_each else for_all
        # All that was left when groups were opened is theirs.
        budget = ZERO if self._opened else self._budget
        if largest > budget or any(_lowest(draw).numerator <= 0 for draw in draws):
            raise Overspent(
                f"a program asked for epsilon {largest} and has {budget}. Nothing was drawn."
            )
        self._for_all, self._for_each = for_all, for_each

    def for_groups(self, groups: Ints, unit: PrivacyUnit) -> Account:
        """Account of a stretch of groups, with the remaining epsilon: that which one row of a unit
        may cost. Each group has one account: the program of a release runs once.
        """
        if len(groups):
            first, last = int(groups.min()), int(groups.max())
            if any(first <= end and begin <= last for begin, end in self._opened):
                raise Overspent("a release would be drawn twice. Nothing was drawn.")
            self._opened.append((first, last))
        return Account(unit.epsilon_per_row(self._budget - self._for_all), len(groups))

    def _by_group(self, draw: Draw) -> tuple[Sequence[BaseStatistic | None], Sequence[Fraction]]:
        """The statistic and the cost of each group."""
        statistics, epsilon = draw.statistics, draw.epsilon
        if isinstance(statistics, BaseStatistic):
            statistics = [statistics] * self._groups
        if isinstance(epsilon, Fraction):
            epsilon = [epsilon] * self._groups
        return statistics, epsilon


def _lowest(draw: Draw) -> Fraction:
    """The least that some group pays for a draw."""
    return draw.epsilon if isinstance(draw.epsilon, Fraction) else min(draw.epsilon)


class _Share(NamedTuple):
    """The groups of a program, by position, that make the same request in one draw and pay the same
    for it.
    """

    draw: int
    statistic: BaseStatistic
    paid: Fraction
    mechanism: Mechanism
    positions: Ints


class MechanismCall(NamedTuple):
    """One call of a mechanism: the only place where it gets evidence and random bits.

    `stage` counts the yields of the program and `draw` the draws of one yield; `groups` are those
    of the engine; `requests` are what the statistic asked before it knew any answer. `paid` is the
    epsilon that the account was charged for each group.
    """

    plan: DrawPlan
    stage: int
    draw: int
    statistic: BaseStatistic
    paid: Fraction
    mechanism: Mechanism
    groups: Ints
    requests: Requests
    evidence: Evidence

    def numbers(self, entropy: Entropy, /) -> Columns:
        """Draw: a column for each number, with an entry for every group."""
        columns: Columns = self.mechanism.numbers(self.evidence, entropy)
        return columns


class KeyCall(NamedTuple):
    """The call of the mechanism that finds keys, whose number of results is random.

    `paid` is the epsilon that the account was charged for all rows of a unit that count.
    """

    plan: DrawPlan
    paid: Fraction
    mechanism: ThresholdedGeometric
    evidence: KeyCounts

    def numbers(self, entropy: Entropy, /) -> Columns:
        """Draw: the places of the keys that are found, in order, and their noisy counts."""
        return self.mechanism.numbers(self.evidence, entropy)


def find_keys(
    plan: DrawPlan, counts: Mapping[int, int], entropy: Entropy, account: Account
) -> Numbers:
    """The places of the keys that are found, in order, each with its noisy count: the first draw
    of a release, which its account pays before its groups are known.
    """
    finding = plan.finding
    assert finding is not None
    mechanism = ThresholdedGeometric(finding.row_epsilon)
    cost = finding.row_epsilon * finding.unit.rows
    account.pay([Draw(Count(), mechanism.name, cost)])
    evidence = KeyCounts(counts, finding.size, finding.threshold)
    return list(zip(*entropy.draw(KeyCall(plan, cost, mechanism, evidence)), strict=True))


@dataclass(frozen=True, slots=True)
class ReleaseRun:
    """The draws of one release, its account, and the engine and the column with its records."""

    plan: DrawPlan
    domain: PublicSet
    engine: Engine
    column: int
    entropy: Entropy
    account: Account

    def run(self, groups: Ints, entropy: Entropy) -> Run:
        """Run the program for some groups."""
        plan, count = self.plan, len(groups)
        account = self.account.for_groups(groups, plan.unit)
        program = plan.program.start(Scope(self.domain, count), plan.row_epsilon)
        draws = next(program)
        stage = 0
        while True:
            account.pay(draws)
            shares = list(_shares(draws, count))
            answers = yield from self._collect(shares, groups)
            columns = _by_draw(draws, count)
            for share, (requests, evidence) in zip(shares, answers, strict=True):
                draw, statistic, paid, mechanism, positions = share
                payment = (draw, statistic, paid, mechanism, groups[positions])
                numbers = entropy.draw(MechanismCall(plan, stage, *payment, requests, evidence))
                _place(columns[draw], positions, numbers, count)
            try:
                draws = program.send([list(column) for column in columns])
            except StopIteration as end:
                released: Columns = end.value
                return released
            stage += 1

    def _collect(
        self, shares: list[_Share], groups: Ints
    ) -> Generator[list[ColumnRequest], list[Answer], list[tuple[Requests, Evidence]]]:
        """The evidence of several statistics with their first requests; what they ask is asked
        together.
        """
        inquiries = {i: self._ask(share, groups[share.positions]) for i, share in enumerate(shares)}
        replies: dict[int, list[Answer] | None] = dict.fromkeys(inquiries)
        collected: dict[int, tuple[Requests, Evidence]] = {}
        while True:
            column_requests: list[ColumnRequest] = []
            spans: dict[int, slice] = {}
            for i, reply in replies.items():
                try:
                    requests = inquiries[i].send(reply)  # type: ignore[arg-type]  # None at first
                except StopIteration as end:
                    collected[i] = end.value
                    continue
                spans[i] = slice(len(column_requests), len(column_requests) + len(requests))
                column_requests += requests
            if not spans:
                return [collected[i] for i in range(len(shares))]
            answers = yield column_requests
            replies = {i: answers[span] for i, span in spans.items()}

    def _ask(
        self, share: _Share, groups: Ints
    ) -> Generator[list[ColumnRequest], list[Answer], tuple[Requests, Evidence]]:
        """The evidence of one statistic about some groups, with its first requests."""
        scope = Scope(self.domain, len(groups), self.engine.max_records)
        inquiry = share.statistic.evidence(scope, share.mechanism.epsilon)
        first: Requests = ()
        try:
            requests = first = next(inquiry)
            while True:
                answers = yield [
                    ColumnRequest(self.column, groups, request) for request in requests
                ]
                requests = inquiry.send(tuple(answers))
        except StopIteration as end:
            return first, self._with_further_answers(end.value, groups)

    def _with_further_answers(self, evidence: Evidence, groups: Ints) -> Evidence:
        """Evidence whose tails can be looked into while a draw is made."""

        def answer(position: int, inquiry: Inquiry[T]) -> T:
            single = groups[position : position + 1]
            return run_inquiry(inquiry, self.engine, single, self.column)

        return evidence.answered_by(answer)


def _shares(draws: Sequence[Draw], count: int) -> Generator[_Share, None, None]:
    """The groups of each draw that are asked the same and pay the same."""
    for i, draw in enumerate(draws):
        make = mechanism_class(draw.mechanism)
        if isinstance(draw.statistics, BaseStatistic) and isinstance(draw.epsilon, Fraction):
            paid = draw.epsilon
            yield _Share(i, draw.statistics, paid, make(paid), np.arange(count))
            continue
        by_share: dict[tuple[BaseStatistic, Fraction], list[int]] = {}
        for position in range(count):
            statistic = draw.statistic_of(position)
            if statistic is not None:
                by_share.setdefault((statistic, draw.epsilon_of(position)), []).append(position)
        for (statistic, epsilon), positions in by_share.items():
            places = np.array(positions, dtype=np.int64)
            yield _Share(i, statistic, epsilon, make(epsilon), places)


def _by_draw(draws: Sequence[Draw], count: int) -> list[list[Sequence[int]]]:
    """Columns to be filled for each draw: none yet where all groups are asked the same."""
    return [
        []
        if isinstance(draw.statistics, BaseStatistic)
        else [[NOT_DRAWN] * count for _ in range(draw.width)]
        for draw in draws
    ]


def _place(columns: list[Sequence[int]], positions: Ints, numbers: Columns, count: int) -> None:
    """Put the numbers of some groups into their places."""
    if not columns and len(positions) == count:
        columns.extend(numbers)
        return
    if not columns:
        columns.extend([NOT_DRAWN] * count for _ in numbers)
    places = positions.tolist()
    # A statistic may have fewer numbers than the widest of its draw: the rest stay NOT_DRAWN.
    for column, draw_numbers in zip(columns, numbers, strict=False):
        assert isinstance(column, list)
        for place, number in zip(places, draw_numbers, strict=True):
            column[place] = number


def draw_alone(release: ReleaseRun) -> Numbers:
    """The numbers of every group of a release that shares no pass with others.

    Groups in memory are drawn for block by block on all cores, each block with bits of its own:
    what a seed gives does not depend on the number of cores.
    """
    blocks = release.engine.blocks()

    def draw_block(groups: Ints, entropy: Entropy) -> Columns:
        run = release.run(groups, entropy)
        try:
            requests = next(run)
            while True:
                requests = run.send(release.engine.answer(requests))
        except StopIteration as end:
            columns: Columns = end.value
            return columns

    if len(blocks) == 1:
        return as_rows(draw_block(blocks[0], release.entropy))
    pieces = parallel_map(draw_block, blocks, [release.entropy.split() for _ in blocks])
    joined = (itertools.chain.from_iterable(column) for column in zip(*pieces, strict=True))
    return as_rows(list(map(list, joined)))


def draw_together(releases: Sequence[ReleaseRun]) -> Generator[tuple[int, Numbers], None, None]:
    """The numbers of releases over one engine, by passes that they share; each as soon as it is
    drawn, with its position.
    """
    engine = releases[0].engine
    running = {
        i: _PendingRun(release.run(release.engine.blocks()[0], release.entropy))
        for i, release in enumerate(releases)
    }
    while running:
        for i, pending in list(running.items()):
            columns = pending.advance()
            if columns is not None:
                del running[i]
                yield i, as_rows(columns)
        unanswered = [(pending, at) for pending in running.values() for at in pending.unanswered]
        # Sums wait until nothing else is asked for: what follows from ranks may be more sums.
        urgent = [
            (pending, at)
            for pending, at in unanswered
            if not isinstance(pending.requests[at].request, LevelSums)
        ]
        batch = urgent or unanswered
        answers = engine.answer([pending.requests[at] for pending, at in batch])
        for (pending, at), answer in zip(batch, answers, strict=True):
            pending.answers[at] = answer


class _PendingRun:
    """A run of a release with its open requests, and their answers so far, by position."""

    def __init__(self, run: Run) -> None:
        self._run, self._begun = run, False
        self.requests: list[ColumnRequest] = []
        self.answers: dict[int, Answer] = {}

    @property
    def unanswered(self) -> list[int]:
        """The positions of requests without an answer."""
        return [at for at in range(len(self.requests)) if at not in self.answers]

    def advance(self) -> Columns | None:
        """Go on once all is answered; the columns of numbers at the end."""
        if self.unanswered:
            return None
        answers = [self.answers[at] for at in range(len(self.requests))]
        try:
            self.requests = self._run.send(answers if self._begun else None)  # type: ignore[arg-type]
        except StopIteration as end:
            columns: Columns = end.value
            return columns
        self._begun, self.answers = True, {}
        return None


def as_rows(columns: Columns) -> Numbers:
    """A row of numbers for every group; a million groups stay columns."""
    if len(columns[0]) >= MIN_COLUMNAR_ROWS:
        return RowsOfColumns(columns)
    return list(zip(*columns, strict=True))
