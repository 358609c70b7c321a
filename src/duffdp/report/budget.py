"""What of a budget a page has spent, for its gauge."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from duffdp.errors import DuffError

ROUNDING = 1e-9


class Budget(Protocol):
    """What a page asks of a ledger: the total that was granted, and what is left of it."""

    @property
    def epsilon(self) -> float: ...
    def remaining(self) -> float: ...


class Gauge(NamedTuple):
    """A budget in four parts of epsilon; `others` is what was spent on anything but this page."""

    total: float
    page: float
    others: float
    left: float

    @property
    def spent(self) -> float:
        """All so far."""
        return self.total - self.left

    @property
    def charged(self) -> bool:
        """Whether the ledger holds charges enough for this page."""
        return self.others > -ROUNDING

    def percent(self, amount: float) -> str:
        """A part of the whole as CSS has it."""
        return f"{100 * min(max(amount / self.total, 0.0), 1.0):.4g}%"


def gauge_of(ledger: Any, page: float) -> Gauge:
    """The gauge of a ledger, which may give numbers or things with an epsilon."""
    try:
        left = ledger.remaining() if callable(ledger.remaining) else ledger.remaining
        after, total = float(getattr(left, "epsilon", left)), float(ledger.epsilon)
    except (AttributeError, TypeError):
        raise DuffError(
            f"a ledger has epsilon and remaining(), got {type(ledger).__name__}. Pass a ledger "
            "or None."
        ) from None
    others = total - after - page
    return Gauge(total, page, 0.0 if abs(others) < ROUNDING else others, after)
