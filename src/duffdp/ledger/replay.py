"""What the entries of a ledger cost, one by one and together: the books kept again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duffdp.errors import LedgerError
from duffdp.ledger.journal import START, Amount, Entry, Journal, amount_of, out_of_order
from duffdp.privacy import Loss


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check of a whole ledger found to be in order."""

    entries: int
    charges: int
    releases: int
    datasets: tuple[str, ...]
    head: str


def loss_of(body: dict[str, Any]) -> Loss:
    """What a stored charge cost; version 0.1 wrote no separate loss."""
    return Loss.from_dict(body.get("loss", body))


def verify(path: Path, head: str | None = None) -> Verified:
    """Check a whole file, all its budgets."""
    with Journal(path).reading() as view:
        return replayed(view.entries, str(path), head)


def replayed(entries: list[Entry], path: str, head: str | None) -> Verified:
    """Keep the books again, entry by entry; the seals were checked when the entries were read."""
    budgets: dict[str, Amount] = {}
    spent: dict[str, Amount] = {}
    unused: dict[int, tuple[str, str | None]] = {}
    counts = {"budget": 0, "charge": 0, "release": 0}
    for entry in entries:
        if (entry.kind == "budget") == (entry.dataset in budgets) or entry.kind not in counts:
            raise out_of_order(path, entry.number, "a budget is missing or given twice")
        counts[entry.kind] += 1
        try:
            body = entry.body
            paid_by = body["charge"] if entry.kind == "release" else None
            amount = Amount() if entry.kind == "release" else amount_of(body)
            total = body["spent"] if entry.kind == "charge" else None
        except (AttributeError, KeyError, TypeError, ValueError, ArithmeticError) as error:
            what = f"{type(error).__name__}, an amount cannot be read"
            raise out_of_order(path, entry.number, what) from None
        if entry.kind == "budget":
            budgets[entry.dataset], spent[entry.dataset] = amount, Amount()
        elif entry.kind == "release":
            if unused.pop(paid_by, None) != (entry.dataset, entry.call):  # type: ignore[arg-type]
                raise out_of_order(path, entry.number, "a release has no charge of its own")
        else:
            spent[entry.dataset] = after = spent[entry.dataset].plus(amount)
            budget = budgets[entry.dataset]
            if after.to_dict() != total:
                raise out_of_order(path, entry.number, "the sum of the charges does not match")
            if min(amount) < 0 or after.epsilon > budget.epsilon or after.delta > budget.delta:
                raise out_of_order(path, entry.number, "the budget is overdrawn")
            unused[entry.number] = entry.dataset, entry.call
    if head is not None and head not in {START, *(entry.hash for entry in entries)}:
        raise LedgerError(
            f"the ledger {path!r} does not lead to the given head: "
            "entries were cut off or replaced."
        )
    last = entries[-1].hash if entries else START
    return Verified(len(entries), counts["charge"], counts["release"], tuple(budgets), last)
