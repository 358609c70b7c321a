"""Shares of epsilon for wanted errors: what each release needs in a group of a given size, from
public facts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from duffdp.errors import DuffError
from duffdp.parameters import plain_number, read_group_size
from duffdp.pipeline.ask import Ask
from duffdp.pipeline.table_plan import TablePlan
from duffdp.pipeline.toml import refuse_unknown
from duffdp.planning.epsilon import SIMULATED_CLOSE, least_epsilon
from duffdp.planning.previews import preview_of

FINEST = 10**6  # parts of 1 that a needed epsilon is rounded up to


def weights_for(
    plan: TablePlan, errors: Any, group_size: Any, shape: str, draws: int
) -> dict[str, Fraction]:
    """The epsilon that each release gets so that none errs more than is wanted, on average, in a
    group of so many records; the others share the rest as before.
    """
    size = read_group_size(group_size)
    asks = {ask.name: ask for ask in plan.plan.asks if ask.margin is None}
    if not isinstance(errors, Mapping) or not errors:
        raise DuffError(
            f"within says how far releases may be off on average, got {errors!r:.60}. Pass for "
            f"example {{{list(asks)[-1]!r}: 1}}."
        )
    refuse_unknown(errors, asks, "within")
    limits = {name: _read_error(name, given) for name, given in errors.items()}
    needed = {
        name: _needed(asks[name], limit, size, shape, draws) * plan.copies[name]
        for name, limit in limits.items()
    }
    others = {n: ask.epsilon * plan.copies[n] for n, ask in asks.items() if n not in needed}
    spent, whole = sum(needed.values()), plan.plan.epsilon
    if spent > whole or (others and spent == whole):
        each = ", ".join(f"{name} needs {float(e):.4g}" for name, e in needed.items())
        rest = f" and leaves nothing for {', '.join(others)}" if others else ""
        raise DuffError(
            f"epsilon={float(whole):g} is not enough for these errors in groups of {size} "
            f"records: {each}, which is {float(spent):.4g} in all{rest}. Pass a larger epsilon, "
            "larger errors or a larger group_size."
        )
    left = (whole - spent) / sum(others.values()) if others else Fraction(0)
    return needed | {name: share * left for name, share in others.items()}


def _needed(ask: Ask, limit: float, size: int, shape: str, draws: int) -> Fraction:
    """The least epsilon for which no number of a release errs more, on average."""

    def misses(epsilon: float) -> bool:
        seen = preview_of(replace(ask, epsilon=epsilon), size, shape, draws)
        return any(seen.expected_error(ask.mechanism, out) > limit for out in seen.outputs)

    try:
        found = least_epsilon(misses, SIMULATED_CLOSE)
    except DuffError as error:
        raise DuffError(f"{ask.name}: {error}") from None
    if found is None:
        raise DuffError(
            f"{ask.name}: no epsilon up to a million brings its mean error to {limit:g}. Pass a "
            "larger error, a larger group_size or a smaller step."
        )
    return Fraction(math.ceil(found * FINEST), FINEST)


def _read_error(name: str, given: Any) -> float:
    number = plain_number(given)
    if number is None or not 0 < number < math.inf:
        raise DuffError(
            f"within of {name} must be a finite number above 0, got {given!r:.40}: how far it may "
            "be off on average, in the unit of its column."
        )
    return float(number)
