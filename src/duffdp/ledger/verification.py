"""Check of a whole ledger file: every hash, every sum, no budget overdrawn, no release without a
charge. It reads the file and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from duffdp.errors import LedgerError
from duffdp.ledger.journal import (
    FIRST_HASH,
    Amount,
    Journal,
    JournalEntry,
    amount_of,
    order_error,
)


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of a check of a whole ledger.

    Attributes
    ----------
    entries, charges, releases
        The numbers of all entries, of charges and of stored releases.
    datasets
        The names of the data sets.
    head
        The last hash.
    """

    entries: int
    charges: int
    releases: int
    datasets: tuple[str, ...]
    head: str


def verify(path: Path, head: str | None = None) -> Verification:
    """Check a whole file, all its budgets."""
    with Journal(path).reading() as view:
        return replay(view.entries, str(path), head)


def replay(entries: list[JournalEntry], path: str, head: str | None) -> Verification:
    """Keep the books again, entry by entry; the seals were checked when the entries were read."""
    budgets: dict[str, Amount] = {}
    spent: dict[str, Amount] = {}
    unused: dict[int, tuple[str, str | None]] = {}
    counts = {"budget": 0, "charge": 0, "release": 0}
    for entry in entries:
        if (entry.kind == "budget") == (entry.dataset in budgets) or entry.kind not in counts:
            raise order_error(path, entry.number, "a budget is missing or given twice")
        counts[entry.kind] += 1
        try:
            body = entry.body
            paid_by = body["charge"] if entry.kind == "release" else None
            amount = Amount()
            if entry.kind != "release":
                amount = amount_of(body["loss"] if entry.kind == "charge" else body)
            total = body["spent"] if entry.kind == "charge" else None
        except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError) as error:
            problem = f"{type(error).__name__}, an amount cannot be read"
            raise order_error(path, entry.number, problem) from None
        if entry.kind == "budget":
            budgets[entry.dataset], spent[entry.dataset] = amount, Amount()
        elif entry.kind == "release":
            if unused.pop(paid_by, None) != (entry.dataset, entry.call):  # type: ignore[arg-type]
                raise order_error(path, entry.number, "a release has no charge of its own")
        else:
            spent[entry.dataset] = after = spent[entry.dataset].plus(amount)
            budget = budgets[entry.dataset]
            if after.to_dict() != total:
                raise order_error(path, entry.number, "the sum of the charges does not match")
            if min(amount) < 0 or after.epsilon > budget.epsilon or after.delta > budget.delta:
                raise order_error(path, entry.number, "the budget is overdrawn")
            unused[entry.number] = entry.dataset, entry.call
    if head is not None and head not in {FIRST_HASH, *(entry.hash for entry in entries)}:
        raise LedgerError(
            f"the ledger {path!r} does not match the given head: entries were removed or replaced."
        )
    last = entries[-1].hash if entries else FIRST_HASH
    return Verification(len(entries), counts["charge"], counts["release"], tuple(budgets), last)
