"""The privacy loss of many releases together, for a small delta."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from duffdp.errors import DuffError


def tight_epsilon(charges: Iterable[tuple[str, Fraction, Fraction]], delta: float) -> float:
    """The least epsilon known to hold with `delta` for all charges `(mechanism, epsilon, delta)` together.

    Three bounds hold and the smallest is returned: the plain sum; the composition of pure epsilons; zero-concentrated privacy,
    with epsilon^2 / 8 for the exponential mechanism (its range is bounded by epsilon) and epsilon^2 / 2 for any other.
    """
    charges = list(charges)
    left = delta - float(sum((own for _, _, own in charges), Fraction(0)))
    if not 0 < delta < 1 or left <= 0:
        raise DuffError(
            f"delta must lie between 0 and 1 and above what the releases spend of it, got {delta!r}. Pass for example 1e-6."
        )
    try:
        from dp_accounting import dp_event, rdp
        from dp_accounting.pld import common, privacy_loss_distribution
    except ImportError:
        raise DuffError(
            "totals for a delta need dp-accounting, which is not installed. Run: pip install 'duffdp[accounting]'."
        ) from None
    total = float(sum((epsilon for _, epsilon, _ in charges), Fraction(0)))
    if not charges:
        return 0.0
    accountant: Any = rdp.RdpAccountant()
    for (mechanism, epsilon), count in Counter((m.startswith("exponential"), e) for m, e, _ in charges).items():
        rho = float(epsilon) ** 2 / (8 if mechanism else 2)
        accountant.compose(dp_event.ZCDpEvent(rho), count)
    losses: Any = privacy_loss_distribution.identity()
    for epsilon, count in Counter(e for _, e, _ in charges).items():
        pure = privacy_loss_distribution.from_privacy_parameters(common.DifferentialPrivacyParameters(float(epsilon), 0.0))
        losses = losses.compose(pure.self_compose(count))
    return min(total, float(accountant.get_epsilon(left)), float(losses.get_epsilon_for_delta(left)))
