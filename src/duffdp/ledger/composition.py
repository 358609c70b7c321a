"""The privacy loss of many releases together, for a small delta."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from duffdp.errors import DuffError


def tight_epsilon(losses: Iterable[tuple[bool, Fraction, Fraction]], delta: float) -> float:
    """The least epsilon known to hold with `delta` for `(bounded_range, epsilon, delta)` together.

    Three bounds hold and the smallest is returned: the plain sum; the composition of pure epsilons;
    zero-concentrated privacy, with epsilon^2 / 8 for a bounded range (the log-ratios of outputs
    between neighbours lie within epsilon of each other, as for every exponential mechanism) and
    epsilon^2 / 2 for any other.
    """
    losses = list(losses)
    left = delta - float(sum((own for _, _, own in losses), Fraction(0)))
    if not 0 < delta < 1 or left <= 0:
        raise DuffError(
            "delta must lie between 0 and 1 and above what the releases spend of it, "
            f"got {delta!r}. Pass for example 1e-6."
        )
    try:
        from dp_accounting import dp_event, rdp
        from dp_accounting.pld import common, privacy_loss_distribution
    except ImportError:
        raise DuffError(
            "totals for a delta need dp-accounting, which is not installed. "
            "Run: pip install 'duffdp[accounting]'."
        ) from None
    total = float(sum((epsilon for _, epsilon, _ in losses), Fraction(0)))
    if not losses:
        return 0.0
    concentrated: Any = rdp.RdpAccountant()
    pure: Any = privacy_loss_distribution.identity()
    for (bounded_range, epsilon), count in Counter((b, e) for b, e, _ in losses).items():
        rho = float(epsilon) ** 2 / (8 if bounded_range else 2)
        concentrated.compose(dp_event.ZCDpEvent(rho), count)
    for epsilon, count in Counter(e for _, e, _ in losses).items():
        parameters = common.DifferentialPrivacyParameters(float(epsilon), 0.0)
        one = privacy_loss_distribution.from_privacy_parameters(parameters)
        pure = pure.compose(one.self_compose(count))
    return min(
        total, float(concentrated.get_epsilon(left)), float(pure.get_epsilon_for_delta(left))
    )
