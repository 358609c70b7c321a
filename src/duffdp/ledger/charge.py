"""What a release asks of a budget, and the proof that it was paid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from duffdp.errors import DuffError


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A release before it is drawn: what it costs, and its public parameters."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    statistic: str
    mechanism: str
    parameters: dict[str, Any] = field(default_factory=dict)
    secure: bool = True

    def body(self) -> dict[str, Any]:
        """As it is written down; the parameters must hold JSON types alone."""
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "statistic": self.statistic,
            "mechanism": self.mechanism,
            "parameters": self.parameters,
            "secure": self.secure,
        }


@dataclass(slots=True)
class Charge:
    """A paid request. `drawn` holds the candidates of a release that was drawn and stored under the same call id before."""

    request: Request
    drawn: list[Any] | None = None
    store: Callable[[list[Any]], None] | None = None

    def keep(self, drawn: list[Any]) -> None:
        """Store what was drawn, before anybody sees it, if a retry may ask for it."""
        if self.store is not None:
            self.store(drawn)


class Purse(Protocol):
    """Whatever a release can be charged to."""

    def charge(self, request: Request) -> Charge:
        """Pay for a request, or raise an error."""


class Rehearsed(Exception):
    """Carries the request of a release that stopped where it would have been charged."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self.request = request


class Rehearsal:
    """A purse for finding out what a release would cost: all its checks have passed when it raises `Rehearsed`."""

    def charge(self, request: Request) -> Charge:
        raise Rehearsed(request)


class Paid:
    """A purse that holds one charge, good for one release with just these parameters."""

    def __init__(self, charge: Charge) -> None:
        self._charge: Charge | None = charge

    def charge(self, request: Request) -> Charge:
        charge, self._charge = self._charge, None
        if charge is None or charge.request != request:
            raise DuffError("this charge was made for another release or is used up. Charge the ledger again.")
        return charge


def purse(ledger: Any) -> Purse:
    """What the `ledger` argument of a release stands for."""
    if hasattr(ledger, "charge"):
        return ledger  # type: ignore[no-any-return]
    from duffdp.ledger.ledger import Ledger  # here: what is paid already needs no SQLite

    return Ledger(ledger)
