"""Replay: the same call on two neighboring data sets, with every draw of the second run replaced by
that of the first.

What still differs between the two runs depends on records that no draw has hidden.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from duffdp._engines.people import SEED_WORDS
from duffdp._parameters import EPSILON
from duffdp._pipeline.draw_plan import DrawPlan
from duffdp._pipeline.driver import KeyCall, MechanismCall
from duffdp._pipeline.release import Release
from duffdp._pipeline.table import Table
from duffdp._privacy import LossFamily
from duffdp._sampling.entropy import DrawCall, SeededEntropy, Words, seeded_generator
from duffdp.audit.movement import (
    GroupEvidence,
    PromiseBroken,
    View,
    key_movement,
    look,
    loss_of_movement,
    movement,
    points_to_compare,
    public_facts,
    same_value,
)
from duffdp.domain import Ints
from duffdp.statistics.program import Columns

if TYPE_CHECKING:
    from duffdp.ledger.ledger import Ledger

DrawKey = tuple[int, int]  # the stage of a program, and the draw
# Of one draw: what is known of its loss, epsilon, and the rows of a unit.
DrawCost = tuple[LossFamily, Fraction, int]


class ReplayRow(NamedTuple):
    """One draw of a replayed call, for all groups together.

    `moved` is the largest movement of the evidence of a group, 1 for as much as one record may;
    this draw reveals at most `loss` of the difference between the two data sets.
    """

    release: str
    draw: str
    statistic: str
    mechanism: str
    epsilon: float
    groups: int
    moved: float
    loss: float


@dataclass(frozen=True, slots=True)
class Replay:
    """Result of a replay: every draw with its privacy loss, and the findings.

    Attributes
    ----------
    rows
        A row for every draw: its release, statistic and mechanism, its epsilon, and two maxima over
        the groups. The first, the movement, is the difference between the mechanism's inputs (the
        evidence) in the two runs. The second is the privacy loss.
    findings
        A sentence for every check of `replay` that failed.
    epsilon
        The total epsilon of the call.

    Methods
    -------
    ok, loss

    Privacy
    -------
    Not private: it is about the records. Show it only to people who may see the data.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14: the
    losses of draws that follow each other add up.

    Examples
    --------
    >>> import duffdp
    >>> from functools import partial
    >>> median = partial(duffdp.median, epsilon=1.0, bounds=(0, 9), step=1)
    >>> result = duffdp.audit.replay(median, [1, 2, 3], [1, 2, 3, 9])
    >>> result.ok, result.rows[0].mechanism, result.loss <= result.epsilon
    (True, 'lattice', True)
    """

    rows: tuple[ReplayRow, ...]
    findings: tuple[str, ...]
    epsilon: float

    @property
    def ok(self) -> bool:
        """True if there are no findings."""
        return not self.findings

    @property
    def loss(self) -> float:
        """The losses of all draws together."""
        return sum(row.loss for row in self.rows)

    def __str__(self) -> str:
        header = ReplayRow._fields
        lines = [header] + [tuple(_shown(cell) for cell in row) for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        text.append(f"loss {self.loss:.4g} of epsilon {self.epsilon:.4g}")
        return "\n".join([*text, *(self.findings or ["no promise was broken"])])


def replay(
    call: Callable[..., Any],
    data: object,
    neighbor: object,
    *,
    epsilon: object = None,
    seed: int = 0,
    ledger: Ledger | None = None,
) -> Replay:
    """Run a call on two neighboring data sets with the same draws, and check what the guarantee
    rests on.

    The second run receives the numbers that the first one drew. The input of each mechanism, its
    evidence, must move by at most the declared sensitivity. The losses of all draws must add up to
    at most epsilon. Mechanisms, statistics, kinds of requests, errors, warnings and the whole
    result must be the same. With a ledger, each run must be charged what its releases declare
    before it takes random bits, and a run that fails must be charged nothing.

    Parameters
    ----------
    call
        A function of the data and `rng`, such as `functools.partial(duffdp.median, epsilon=1,
        bounds=(0, 120))`, `plan.run`, or a function of your own that passes `rng` on.
    data, neighbor
        Two data sets that differ in one record, or in all records of one person.
    epsilon
        The total that the call may cost; by default the sum that its releases declare.
    seed
        The seed of the first run's draws and of the choice of rows.
    ledger
        A ledger for experiments, `Ledger(..., allow_seeded=True)`. The call receives it as `ledger`
        and charges every run to it. Some statistics need a third run.

    Returns
    -------
    Replay
        Every draw with its movement and its privacy loss, and the findings.

    Privacy
    -------
    The result is not private. A ledger refuses such a call, unless it accepts seeds.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), definition 2.4.

    Examples
    --------
    >>> import duffdp
    >>> from functools import partial
    >>> total = partial(duffdp.sum, epsilon=1.0, bounds=(0, 9), step=1)
    >>> duffdp.audit.replay(total, [1, 2, 3], [1, 2, 3, 9]).ok
    True
    """
    first = Recorder(seed, ledger=ledger)
    before = _run(call, data, first)
    second = Recorder(seed, first, ledger=ledger)
    after = _run(call, neighbor, second)
    complete = not second.findings
    findings = [*first.findings, *second.findings, *_different_outcomes(before, after, complete)]
    if not findings and len(first.releases) != len(second.releases):
        findings.append("the runs make a different number of releases")
    if any(record.points for record in second.releases):
        # Tails are looked into while a run goes on: the first one goes on once more.
        recorder = Recorder(seed, first, second, ledger)
        _run(call, data, recorder)
        for record, views in zip(second.releases, recorder.releases, strict=False):
            record.earlier_views = views.views
            findings += views.findings
    rows, declared = [], Fraction(0)
    pairs = zip(first.releases, second.releases, strict=False)
    for number, (one, other) in enumerate(pairs, 1):
        plan = one.plan
        if plan is None:
            continue
        compared = _Comparison(f"{number} {plan.statistic}", plan)
        compared.run(one, other)
        rows += compared.rows
        findings += [*other.findings, *compared.findings]
        declared += plan.loss.epsilon
    budget = declared if epsilon is None else EPSILON.read(epsilon)
    if declared > budget:
        findings.append(
            f"the releases declare epsilon {float(declared):g}, above {float(budget):g}"
        )
    return Replay(tuple(rows), tuple(dict.fromkeys(findings)), float(budget))


class Diverged(Exception):
    """Error of a second run that requests a draw that the first one did not make."""


@dataclass
class ReleaseRecord:
    """All mechanism calls of one release, with their numbers; `key_call` found its keys.

    `points` and `views` are, for a draw and a group, the candidates that were compared and what the
    evidence said of them.
    """

    calls: dict[DrawKey, list[MechanismCall]] = field(default_factory=dict)
    numbers: dict[DrawKey, list[Columns]] = field(default_factory=dict)
    points: dict[tuple[DrawKey, int], Ints] = field(default_factory=dict)
    views: dict[tuple[DrawKey, int], View] = field(default_factory=dict)
    earlier_views: dict[tuple[DrawKey, int], View] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    key_call: KeyCall | None = None
    key_numbers: Columns = field(default_factory=list)

    @property
    def plan(self) -> DrawPlan | None:
        """The plan of the release; None if nothing was drawn."""
        calls = [self.key_call, *chain.from_iterable(self.calls.values())]
        return next((call.plan for call in calls if call is not None), None)

    def add(self, call: MechanismCall, columns: Columns) -> None:
        """Keep a call."""
        key = call.stage, call.draw
        self.calls.setdefault(key, []).append(call)
        self.numbers.setdefault(key, []).append(columns)

    def places(self, key: DrawKey) -> dict[int, tuple[int, int]]:
        """For every group of a draw the number of its call and its position there."""
        return {
            group: (number, position)
            for number, call in enumerate(self.calls.get(key, ()))
            for position, group in enumerate(call.groups.tolist())
        }

    def see(self, call: MechanismCall, position: int, points: Ints) -> None:
        """Keep what the evidence of a group says of some candidates."""
        at = (call.stage, call.draw), int(call.groups[position])
        self.points[at] = points
        try:
            self.views[at] = look(_group_evidence(call, position), points)
        except PromiseBroken as broken:
            self.findings.append(f"{call.statistic!r}: {broken}")


def _group_evidence(call: MechanismCall, position: int) -> GroupEvidence:
    return GroupEvidence(call.statistic, call.evidence, position, call.mechanism, call.paid)


class Recorder(SeededEntropy):
    """Source of seeded bits that records every mechanism call; with an earlier recorder it repeats
    that one's numbers, and with a later one it looks at that one's points.
    """

    def __init__(
        self,
        seed: int,
        earlier: Recorder | None = None,
        compared: Recorder | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        super().__init__(seeded_generator(seed))
        self.releases: list[ReleaseRecord] = []
        self.findings: list[str] = []
        self.ledger = ledger
        self._seed, self._earlier, self._compared = seed, earlier, compared
        self._left = Fraction(0) if ledger is None else ledger.remaining_exactly()

    @property
    def charged(self) -> Fraction:
        """Amount that the ledger was charged since this run began."""
        return Fraction(0) if self.ledger is None else self._left - self.ledger.remaining_exactly()

    def check_charges(self, failed: bool) -> None:
        """Check what a run was charged, once it has ended."""
        if self.ledger is None:
            return
        plans = [record.plan for record in self.releases]
        declared = sum((plan.loss.epsilon for plan in plans if plan), Fraction(0))
        if failed and self.charged:
            self.findings.append("a run fails after it was charged")
        elif not failed and self.charged < declared:
            self.findings.append(
                f"a run is charged {float(self.charged):g}, and its draws cost {float(declared):g}"
            )

    def split(self) -> _ReleaseRecorder:
        """The recorder of the next release: its bits depend on its place in the call alone."""
        number = len(self.releases)
        frozen, compared = (
            None if other is None else other.releases[number : number + 1] or None
            for other in (self._earlier, self._compared)
        )
        if self._earlier is not None and frozen is None:
            self.findings.append("the second run makes more releases")
            raise Diverged
        self.releases.append(ReleaseRecord())
        return _ReleaseRecorder(
            seeded_generator(self._seed, number),
            self.releases[number],
            frozen[0] if frozen else None,
            compared[0] if compared else None,
            self,
        )


class _ReleaseRecorder(SeededEntropy):
    """The part of a recorder for one release."""

    def __init__(
        self,
        generator: Any,
        record: ReleaseRecord,
        frozen: ReleaseRecord | None,
        compared: ReleaseRecord | None,
        whole: Recorder,
    ) -> None:
        super().__init__(generator)
        self._record, self._frozen, self._compared = record, frozen, compared
        self._whole, self._findings, self._lock = whole, whole.findings, threading.Lock()

    def split(self) -> _ReleaseRecorder:
        generator = seeded_generator(*self.words(SEED_WORDS).tolist())
        records = (self._record, self._frozen, self._compared)
        part = _ReleaseRecorder(generator, *records, self._whole)
        part._lock = self._lock
        return part

    def words(self, size: int) -> Words:
        if self._whole.ledger is not None and not self._whole.charged:
            self._findings.append("random bits are taken before the charge")
        return super().words(size)

    def draw(self, call: DrawCall) -> Columns:
        # Bits of its own, so that the rows that count are chosen alike, whether it is repeated or
        # not.
        words = self.words(SEED_WORDS).tolist()
        if isinstance(call, KeyCall):
            frozen = self._frozen
            columns = self._drawn(call, words) if frozen is None else frozen.key_numbers
            self._record.key_call, self._record.key_numbers = call, columns
            return columns
        assert isinstance(call, MechanismCall)
        columns = self._drawn(call, words) if self._frozen is None else self._repeated(call)
        with self._lock:
            self._record.add(call, columns)
        return columns

    def _drawn(self, call: MechanismCall | KeyCall, words: list[int]) -> Columns:
        """The numbers of a call: what its mechanism makes of these bits in one draw."""
        columns = call.numbers(SeededEntropy(seeded_generator(*words)))
        mechanism: Any = call.mechanism
        once = mechanism.numbers(call.evidence, SeededEntropy(seeded_generator(*words)))
        if list(map(list, columns)) != list(map(list, once)):
            self._findings.append(f"{call.mechanism!r} does not draw once")
        return columns

    def _repeated(self, call: MechanismCall) -> Columns:
        """The numbers that the first run drew for these groups; what differs is looked at."""
        assert self._frozen is not None
        key = call.stage, call.draw
        with self._lock:
            places, numbers = self._frozen.places(key), self._frozen.numbers.get(key, [])
            rows = []
            for position, group in enumerate(call.groups.tolist()):
                if group not in places:
                    self._findings.append(
                        f"a draw of {call.statistic!r} is made for one data set alone"
                    )
                    raise Diverged
                at, earlier_position = places[group]
                rows.append([column[earlier_position] for column in numbers[at]])
                if self._compared is None:
                    earlier = _group_evidence(self._frozen.calls[key][at], earlier_position)
                    points = points_to_compare(earlier, _group_evidence(call, position))
                else:
                    points = self._compared.points.get((key, group))
                if points is not None:
                    self._record.see(call, position, points)
        return list(map(list, zip(*rows, strict=True)))


class _Outcome(NamedTuple):
    """Everything that a caller can see of a run."""

    result: Any
    error: str | None
    warnings: tuple[str, ...]


def _run(call: Callable[..., Any], data: object, recorder: Recorder) -> _Outcome:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            paid = {} if recorder.ledger is None else {"ledger": recorder.ledger}
            result, error = _visible(call(data, rng=recorder, **paid)), None
        except Exception as failure:  # whatever a caller would see
            result, error = None, f"{type(failure).__name__}: {failure}"
    recorder.check_charges(error is not None)
    warning_texts = tuple(f"{item.category.__name__}: {item.message}" for item in caught)
    return _Outcome(result, error, warning_texts)


def _visible(result: object) -> Any:
    """A result as values that can be compared, without the time at which it was made."""
    if isinstance(result, Release | Table):
        return _without_time(result.to_dict())
    if isinstance(result, dict):
        return {name: _visible(item) for name, item in result.items()}
    if isinstance(result, list | tuple):
        return [_visible(item) for item in result]
    return repr(result)


def _without_time(item: object) -> Any:
    if isinstance(item, dict):
        return {name: _without_time(part) for name, part in item.items() if name != "time"}
    return [_without_time(part) for part in item] if isinstance(item, list) else repr(item)


def _different_outcomes(before: _Outcome, after: _Outcome, complete: bool) -> list[str]:
    """Findings about errors, warnings and results; a run that diverged has no result."""
    findings = []
    if before.warnings != after.warnings:
        findings.append("the runs warn differently")
    if complete and before.error != after.error:
        findings.append(f"the runs end differently: {before.error} and {after.error}")
    if complete and before.error is None and after.error is None and before.result != after.result:
        findings.append("the results differ though all draws are the same")
    if before.error is not None and before.error == after.error:
        findings.append(f"both runs fail, so nothing was checked: {before.error}")
    return findings


class _Comparison:
    """Comparison of the two runs of one release."""

    def __init__(self, name: str, plan: DrawPlan) -> None:
        self._name, self._plan, self._unit_rows = name, plan, plan.unit.rows
        self.rows: list[ReplayRow] = []
        self.findings: list[str] = []

    def run(self, before: ReleaseRecord, after: ReleaseRecord) -> None:
        """Compare all draws; then their losses and costs."""
        if before.calls.keys() != after.calls.keys():
            self._find("the runs make different draws")
        keys, total = list[DrawCost](), Fraction(0)
        if before.key_call is not None and after.key_call is not None:
            assert self._plan.finding is not None
            family, rows = before.key_call.mechanism.loss_family, self._plan.finding.unit.rows
            keys = [(family, before.key_call.paid, rows)]
            total = self._compare_keys(before.key_call, after.key_call)
        elif before.key_call is not after.key_call:
            self._find("keys are found in one data set alone")
        costs: dict[int, list[DrawCost]] = {-1: keys}  # of a unit in each group
        for key in sorted(before.calls.keys() & after.calls.keys()):
            for call in before.calls[key]:
                if call.mechanism.epsilon != float(call.paid):
                    self._find(f"the mechanism of {call.statistic!r} has more than was paid")
                rows = self._unit_rows
                cost = call.mechanism.loss_family, call.paid * rows, rows
                for group in call.groups.tolist():
                    costs.setdefault(group, [*keys]).append(cost)
            total += self._compare_draw(key, before, after)
        loss = self._plan.loss
        if any(sum(cost for _, cost, _ in each) > loss.epsilon for each in costs.values()):
            self._find("mechanisms received more epsilon than the release has")
        named = sum(part.epsilon for part in self._plan.mechanism.parts)
        groups = {tuple(each) for each in costs.values()}
        if named != loss.epsilon or not all(map(self._declares, groups)):
            self._find("the release declares other losses than those of its draws")
        if total > loss.epsilon:
            self._find("the losses add up to more than epsilon")

    def _declares(self, costs: Sequence[DrawCost]) -> bool:
        """True if the parts of the declared loss hold the draws of one group: of a draw in no part
        of its family nothing is known but epsilon.
        """
        declared = self._plan.loss.parts
        parts = [
            (part.family, part.epsilon / part.draws, part.contributions)
            for part in declared
            for _ in range(part.draws if part.family != "pure" else 0)
        ]
        unnamed = Fraction(0)
        for family, cost, rows in sorted(costs, key=itemgetter(1), reverse=True):
            fitting = [
                part for part in parts if part[0] == family and part[1] >= cost and part[2] <= rows
            ]
            if fitting:
                parts.remove(max(fitting, key=itemgetter(1)))
            else:
                unnamed += cost
        return unnamed <= sum(part.epsilon for part in declared if part.family == "pure")

    def _compare_keys(self, before: KeyCall, after: KeyCall) -> Fraction:
        """Compare the draws that find keys; the loss."""
        finding, mechanism = self._plan.finding, before.mechanism
        assert finding is not None
        facts = [(c.evidence.size, c.evidence.threshold, c.paid) for c in (before, after)]
        if facts[0] != facts[1]:
            self._find("the possible keys, the threshold or the epsilon of finding keys differ")
        rows = finding.unit.rows
        moved = key_movement(before.evidence, after.evidence)
        if moved > rows:
            self._find(f"counts of keys move by {moved} records, where {rows} are promised")
        if mechanism.epsilon != float(before.paid / rows):
            self._find("the mechanism that finds keys has more than was paid")
        loss = moved * before.paid / rows
        call = (self._name, "keys", "keys", mechanism.name, mechanism.epsilon, 1)
        self.rows.append(ReplayRow(*call, float(moved), float(loss)))
        return loss

    def _find(self, text: str) -> None:
        self.findings.append(f"{self._name}: {text}")

    def _compare_draw(self, key: DrawKey, before: ReleaseRecord, after: ReleaseRecord) -> Fraction:
        """Compare the calls of one draw, group by group; the loss of all groups together."""
        places = before.places(key)
        largest, loss = Fraction(0), Fraction(0)
        compared: set[tuple[int, int]] = set()
        groups = 0
        for number, call in enumerate(after.calls[key]):
            for position, group in enumerate(call.groups.tolist()):
                at, earlier_position = places.pop(group, (-1, 0))
                if at < 0:
                    continue
                earlier = before.calls[key][at]
                groups += 1
                if (at, number) not in compared:
                    compared.add((at, number))
                    self._compare_facts(earlier, call)
                at_group = key, group
                views = None
                if at_group in after.views and at_group in after.earlier_views:
                    views = after.earlier_views[at_group], after.views[at_group]
                groups_evidence = (
                    _group_evidence(earlier, earlier_position),
                    _group_evidence(call, position),
                )
                moved = self._movement(*groups_evidence, views)
                largest = max(largest, moved)
                loss += loss_of_movement(moved, call.mechanism) * call.paid
        if places:
            self._find("some groups are drawn for on one data set alone")
        first = before.calls[key][0]
        if largest > self._unit_rows:
            self._find(
                f"the evidence of {first.statistic!r} moves by {float(largest):.3g} times its "
                f"sensitivity, where {self._unit_rows} are promised"
            )
        self.rows.append(
            ReplayRow(
                self._name,
                f"{key[0] + 1}.{key[1] + 1}",
                repr(first.statistic),
                first.mechanism.name,
                first.mechanism.epsilon,
                groups,
                float(largest),
                float(loss),
            )
        )
        return loss

    def _compare_facts(self, before: MechanismCall, after: MechanismCall) -> None:
        """All that must be the same in both runs, whatever the records."""
        statistic = repr(before.statistic)
        if not same_value(before.statistic, after.statistic):
            self._find(f"the statistic of a draw differs: {statistic} and {after.statistic!r}")
        kinds = [(type(call.mechanism), call.mechanism.epsilon) for call in (before, after)]
        if kinds[0] != kinds[1]:
            self._find(f"the mechanism of {statistic} or its epsilon differs")
        if public_facts(before.evidence) != public_facts(after.evidence):
            self._find(f"the sensitivity or the candidates of {statistic} differ")
        if list(map(type, before.requests)) != list(map(type, after.requests)):
            self._find(f"the requests of {statistic} differ")

    def _movement(
        self, before: GroupEvidence, after: GroupEvidence, views: tuple[View, View] | None
    ) -> Fraction:
        """The movement of one group; 0 where another promise is broken, which is found."""
        try:
            return movement(before, after, views)
        except PromiseBroken as broken:
            self._find(f"{before.statistic!r}: {broken}")
            return Fraction(0)


def _shown(cell: object) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
