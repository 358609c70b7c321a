"""Privacy budgets on disk that are charged before a draw."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duffdp.ledger.ledger import Ledger

__all__ = ["Ledger"]


def __getattr__(name: str) -> Any:
    if name != "Ledger":
        raise AttributeError(f"module 'duffdp.ledger' has no attribute {name!r}")
    from duffdp.ledger.ledger import Ledger  # here: a release without a ledger needs no SQLite

    return Ledger
