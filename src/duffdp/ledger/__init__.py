"""What was spent: budgets on disk that are charged before a draw."""

from duffdp.ledger.ledger import Ledger

__all__ = ["Ledger"]
