"""A privacy budget that survives crashes and is shared by processes.

Promise: Nothing is charged beyond the budget, and all releases of a call are charged or none.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from duffdp._facts import Facts
from duffdp._parameters import DELTA, EPSILON
from duffdp._privacy import Loss
from duffdp._text import as_html
from duffdp.errors import (
    Argument,
    BudgetExceeded,
    DuffError,
    LedgerError,
    did_you_mean,
    quoted_names,
)
from duffdp.ledger._composition import tight_epsilon
from duffdp.ledger.charge import Charge, Result
from duffdp.ledger.journal import (
    Amount,
    Journal,
    JournalEntry,
    amount_of,
)
from duffdp.ledger.verification import Verification, verify

# What a charge holds beside facts that a retry must repeat. The loss is compared as an amount: a
# later version may know more of its mechanism.
_NOT_FACTS = frozenset({"loss", "time", "spent", "source"})


class Ledger:
    """A privacy budget in a file, charged before each draw; it refuses releases that exceed the
    budget.

    Parameters
    ----------
    path
        The file, which is created if it does not exist and `epsilon` is passed. One file can hold
        the budgets of several data sets.
    epsilon, delta
        The total budget. For an existing budget they are optional, and must agree with it if
        passed.
    dataset
        The name of the data set that is charged. It is optional if the ledger has one budget. In a
        new file it is "data" by default.
    allow_seeded
        True: accept releases with a seed, for experiments. They are not private.

    Methods
    -------
    epsilon, delta, spent, remaining, charges, total, call, verify

    Privacy
    -------
    All releases charged to one budget together are (epsilon, delta)-differentially private, even if
    later releases are chosen by earlier ones. They protect the weakest unit among them: a row, if
    any release protects rows.

    A charge is on disk before the draw, so a crash may waste budget but gives none away. Each entry
    contains a hash of all earlier ones, and a charge first checks all of them, so a damaged file is
    refused. A person who can write to the file can forge all of it. If that matters, keep the last
    hash elsewhere (`verify(head=...)`).

    Values are stored only for calls with a call id. They are private releases, stored with a hash
    of the path or address of their data.

    Runtime
    -------
    One durable SQLite transaction per charge, and a check of every entry: about 4 milliseconds per
    1,000 entries.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14;
    Rogers, Roth, Ullman and Vadhan, "Privacy odometers and filters" (NeurIPS 2016): sums hold for
    adaptive choices too.

    Examples
    --------
    >>> import duffdp, tempfile, os
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = duffdp.Ledger(os.path.join(folder.name, "budget.db"), epsilon=1.0)
    >>> release = duffdp.median([31, 35, 38], epsilon=0.4, bounds=(0, 120), step=1, ledger=ledger)
    >>> ledger.spent(), ledger.remaining()
    (0.4, 0.6)
    >>> duffdp.mean([31, 35, 38], epsilon=0.7, bounds=(0, 120), step=1,
    ...     ledger=ledger)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    duffdp.errors.BudgetExceeded: requested epsilon 0.7, remaining 0.6 of 1 for the data set ...
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        epsilon: Any = None,
        delta: Any = 0.0,
        *,
        dataset: str | None = None,
        allow_seeded: bool = False,
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise DuffError(
                f"a ledger must be the path of a file, got {type(path).__name__}. "
                'Pass for example Ledger("budget.db", epsilon=1.0).'
            )
        if dataset is not None and (not isinstance(dataset, str) or not dataset):
            raise DuffError(
                f'dataset must be a name, got {dataset!r}. Pass for example dataset="people".'
            )
        self.path = Path(path)
        self._journal = Journal(self.path)
        if "\0" in str(self.path):
            raise DuffError(
                f"the path of a ledger must not contain a null character, got {str(path)!r}. "
                "Leave it out."
            )
        self._call: str | None = None
        self.allow_seeded = bool(allow_seeded)
        budget = None if epsilon is None else Amount(EPSILON.read(epsilon), DELTA.read(delta))
        if budget is None:
            with self._journal.reading() as view:
                self.dataset = _choose_dataset(view.datasets(), dataset, self.path)
                stored, _ = view.account(self.dataset)
        else:
            with self._journal.transaction(create=True) as view:
                names = view.datasets()
                self.dataset = dataset or (names[0] if len(names) == 1 else "data")
                if self.dataset not in names:
                    now = dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")
                    view.add(self.dataset, "budget", None, budget.to_dict() | {"time": now})
                stored, _ = view.account(self.dataset)
            if stored != budget:
                raise LedgerError(
                    f"the data set {self.dataset!r} has a budget of epsilon "
                    f"{_number(stored.epsilon)} and delta {_number(stored.delta)}, got epsilon "
                    f"{_number(budget.epsilon)} and "
                    f"delta {_number(budget.delta)}. A budget cannot be changed. Leave ",
                    *(Argument("epsilon"), " out, or pass another "),
                    *(Argument("dataset"), " for other data."),
                )
        self._budget = stored

    @property
    def epsilon(self) -> float:
        """The total epsilon of the budget."""
        return float(self._budget.epsilon)

    @property
    def delta(self) -> float:
        """The total delta of the budget."""
        return float(self._budget.delta)

    def spent(self) -> float:
        """The sum of all charges so far."""
        with self._journal.reading() as view:
            return float(view.account(self.dataset)[1].epsilon)

    def remaining(self) -> float:
        """The epsilon that is left."""
        return float(self.remaining_exactly())

    def remaining_exactly(self) -> Fraction:
        """The epsilon that is left, without rounding."""
        with self._journal.reading() as view:
            return self._budget.epsilon - view.account(self.dataset)[1].epsilon

    @property
    def call_id(self) -> str | None:
        """The id that `call` bound this ledger to, if any."""
        return self._call

    def call(self, call_id: str) -> Ledger:
        """This ledger with a call id, for a call that may have to be repeated.

        A stored release with the same call id is returned at no cost. All parameters must be the
        same, and so must the file or table of the data. If a call was charged and stopped before
        its release was stored, the charge stays, and the retry pays again.
        """
        if not isinstance(call_id, str) or not call_id:
            raise DuffError(
                f"a call id must be text, got {call_id!r}. "
                'Pass for example ledger.call("2026-01 median age").'
            )
        bound = object.__new__(Ledger)
        bound.__dict__.update(self.__dict__, _call=call_id)
        return bound

    def charge(self, facts: Facts) -> Charge:
        """Pay for one release, durably."""
        return self.charge_all([facts])[0]

    def charge_all(
        self, releases: Sequence[Facts], names: Sequence[Callable[[], str | None]] = ()
    ) -> list[Charge]:
        """Pay for several releases, all or none. `names` are the names of their data, for calls
        with an id.
        """
        if not self.allow_seeded and not all(facts.secure for facts in releases):
            raise DuffError(
                "a release with a seed is not private and not charged. Leave rng out, or use "
                "Ledger(..., allow_seeded=True) to experiment."
            )
        calls = [self._call] * len(releases)
        if self._call is not None and len(releases) > 1:
            calls = [f"{self._call}/{i}" for i in range(len(releases))]
        charges = [Charge(facts) for facts in releases]
        bodies = [facts.to_dict() for facts in releases]
        with self._journal.transaction() as view:
            budget, spent = view.account(self.dataset)
            if budget != self._budget:
                raise LedgerError(
                    f"the ledger {str(self.path)!r} was replaced since it was opened: its budget "
                    "differs. Open it again."
                )
            due = Amount()
            for i, (charge, call, body) in enumerate(zip(charges, calls, bodies, strict=True)):
                if call is not None:
                    body["source"] = _name_hash(names[i]()) if names else None
                    charge.earlier = _earlier_result(view.of_call(self.dataset, call), call, body)
                if charge.earlier is None:
                    loss = charge.facts.loss
                    due = due.plus(Amount(loss.epsilon, loss.delta))
            remaining = budget.less(spent)
            if due.epsilon > remaining.epsilon or due.delta > remaining.delta:
                raise self._exceeded(due, remaining)
            now = dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")
            for charge, call, body in zip(charges, calls, bodies, strict=True):
                if charge.earlier is None:
                    loss = charge.facts.loss
                    spent = spent.plus(Amount(loss.epsilon, loss.delta))
                    body |= {"time": now, "spent": spent.to_dict()}
                    entry = view.add(self.dataset, "charge", call, body)
                    if call is not None:  # else nobody could ask for it
                        charge.store = self._result_store(entry)
        return charges

    def _exceeded(self, due: Amount, remaining: Amount) -> BudgetExceeded:
        name = "epsilon" if due.epsilon > remaining.epsilon else "delta"
        amounts = due, remaining, self._budget
        requested, available, budget = (getattr(amount, name) for amount in amounts)
        return BudgetExceeded(
            f"requested {name} {_number(requested)}, remaining {_number(available)} of "
            f"{_number(budget)} for the data set {self.dataset!r}: "
            f"{_number(requested - available)} too much. Nothing was charged or released. Use a "
            "smaller epsilon."
        )

    def _result_store(self, charge: JournalEntry) -> Callable[[Result], None]:
        """Stores what was drawn for a charge with a call id."""

        def store(result: Result) -> None:
            body = {
                "charge": charge.number,
                "numbers": list(map(list, result.numbers)),
                "time": result.time.isoformat(),
            }
            with self._journal.transaction() as view:
                view.add(self.dataset, "release", charge.call, body)

        return store

    def charges(self) -> list[dict[str, Any]]:
        """All charges in order: number, time, call id, and the facts of each release."""
        with self._journal.reading() as view:
            return [
                {"number": e.number, "call": e.call, **e.body}
                for e in view.of_kind(self.dataset, "charge")
            ]

    def total(self, delta: float) -> float:
        """The total epsilon of all charges at a given delta.

        It is at most the sum, and often far less for many releases. It is computed by the library
        dp-accounting (extra `accounting`) for the releases made so far, from the mechanism of each
        part of each charge. It holds if their number, epsilons and mechanisms were fixed
        beforehand; otherwise only the sum holds. The budget is always kept by the sum.
        """
        with self._journal.reading() as view:
            charges = view.of_kind(self.dataset, "charge")
        return tight_epsilon((Loss.from_dict(entry.body["loss"]) for entry in charges), delta)

    def verify(self, head: str | None = None) -> Verification:
        """Check the file: every hash, every sum, every budget, and a charge for each release.

        The result has the numbers of entries, and the last hash as `head`. Pass the `head` of an
        earlier check to detect entries that were replaced or cut off since.
        """
        return verify(self.path, head)

    def _repr_html_(self) -> str:
        with self._journal.reading() as view:
            spent = view.account(self.dataset)[1].epsilon
        return _gauge(self.dataset, spent, self._budget.epsilon)

    def __repr__(self) -> str:
        amounts = f"epsilon={self.epsilon:g}, delta={self.delta:g}"
        return f"Ledger({str(self.path)!r}, {amounts}, dataset={self.dataset!r})"


def _earlier_result(entries: list[JournalEntry], call: str, facts: dict[str, Any]) -> Result | None:
    """The result of an earlier call with the same id; None if there is none or its charge was
    never used.
    """
    request = json.loads(json.dumps(facts))
    amount, source = amount_of(request["loss"]), request.pop("source")
    for entry in entries:
        body = entry.body
        # Facts that are None are not written: a name that one of them lacks is a difference.
        names = (request.keys() | body.keys()) - _NOT_FACTS
        if entry.kind == "charge" and (
            amount_of(body["loss"]) != amount
            or any(body.get(name) != request.get(name) for name in names)
        ):
            raise DuffError(
                f"the call id {call!r} was used for a release with other parameters. Nothing was "
                "charged. Use a new id for each release."
            )
        if entry.kind == "charge" and body["source"] != source:
            raise DuffError(
                f"the call id {call!r} was used for a release of other data. Nothing was "
                "charged. Use a new id for each release. To get the earlier release again, pass "
                "the same data."
            )
        if entry.kind == "release":
            return Result(body["numbers"], dt.datetime.fromisoformat(body["time"]))
    return None


def _name_hash(name: str | None) -> str | None:
    """By what data is known again, without the names of folders; None if they have no name."""
    return name and hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()


def datasets(path: str | os.PathLike[str]) -> list[str]:
    """The data sets that a ledger has budgets for."""
    with Journal(Path(path)).reading() as view:
        return view.datasets()


def _choose_dataset(names: list[str], dataset: str | None, path: Path) -> str:
    budgets = f"budgets for {quoted_names(names)}" if names else "no budget"
    if dataset is not None and dataset not in names:
        raise LedgerError(
            f"the ledger {str(path)!r} has no budget for {dataset!r}."
            f"{did_you_mean(dataset, names)} It has {budgets}.",
            *((" Pass for example ", Argument("dataset", names[0]), ".") if names else ()),
        )
    if dataset is None and len(names) != 1:
        raise LedgerError(
            *(f"the ledger {str(path)!r} has {budgets}. Pass ", Argument("dataset")),
            ", the name of the one to charge.",
        )
    return dataset or names[0]


def _number(amount: Fraction) -> str:
    return f"{float(amount):.12g}"


def _gauge(dataset: str, spent: Fraction, budget: Fraction) -> str:
    """Spent part of a budget, in words and as a bar of HTML."""
    share = min(1.0, float(spent / budget))
    amounts = f"epsilon {float(spent):.6g} of {float(budget):.6g} spent"
    caption = f"{dataset}: {amounts}, {float(budget - spent):.6g} left"
    text = as_html(caption)
    return (
        f'<div role="img" aria-label="{text}"><div>{text}</div>'
        '<div style="width:20em;height:.7em;border:1px solid rgba(128,128,128,.6)">'
        f'<div style="width:{100 * share:.4g}%;height:100%;background:#3b6ea5"></div></div></div>'
    )
