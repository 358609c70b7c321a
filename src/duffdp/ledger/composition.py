"""The privacy loss of many releases together, for a small delta."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp.domain import Floats
from duffdp.errors import DuffError
from duffdp.ledger.dominating_pairs import deltas
from duffdp.loss_family import LossFamily
from duffdp.optional import load
from duffdp.privacy import Loss

Draw = tuple[LossFamily, Fraction, int]  # family, epsilon, and the rows of a unit if they matter

LARGE = 30  # composition saves nothing on an epsilon beyond: it is added as it is
POINTS = 4096  # of the grid of losses for the root of the sum of the squares of all epsilons


def tight_epsilon(losses: Iterable[Loss], delta: float) -> float:
    """The least epsilon known to hold with `delta` for all losses together, also if each release
    was chosen by the outputs of those before it.

    Three bounds hold and the smallest is returned: the plain sum; the composition of the dominating
    pairs of all draws; Renyi privacy, which is that of Laplace noise where it dominates,
    epsilon^2 / 8 for a bounded range and epsilon^2 / 2 for any other.
    """
    losses = list(losses)
    left = delta - float(sum((loss.delta for loss in losses), Fraction(0)))
    if not 0 < delta < 1 or left <= 0:
        raise DuffError(
            "delta must lie between 0 and 1 and above what the releases spend of it, "
            f"got {delta!r}. Pass for example 1e-6."
        )
    load("dp_accounting", "accounting")
    draws: Counter[Draw] = Counter()
    for loss, times in Counter(losses).items():
        for draw, many in _draws(loss):
            draws[draw] += times * many
    alone = sum((draw[1] * many for draw, many in draws.items() if draw[1] > LARGE), Fraction(0))
    others = {draw: many for draw, many in draws.items() if draw[1] <= LARGE}
    if not others:
        return float(alone)
    total = sum((draw[1] * many for draw, many in others.items()), Fraction(0))
    together = min(_by_dominating_pairs(others, left), _by_renyi(others, left))
    return min(float(alone + total), float(alone) + together)


def _draws(loss: Loss) -> Iterable[tuple[Draw, int]]:
    """The draws of a release and how many there are of each; of one with a delta nothing else is
    known.
    """
    if loss.delta:
        return [(("pure", loss.epsilon, 1), 1)]
    return [
        (
            (
                part.family,
                part.epsilon / part.draws,
                part.contributions if part.family == "geometric" else 1,
            ),
            part.draws,
        )
        for part in loss.parts
    ]


def _by_dominating_pairs(draws: dict[Draw, int], delta: float) -> float:
    """Compose the privacy loss distributions, on one grid that is fine for all of them together."""
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    squares = sum(many * float(epsilon) ** 2 for (_, epsilon, _), many in draws.items())
    largest = max(float(epsilon) for _, epsilon, _ in draws)
    # a whole number of gaps: where all draws are alike, no loss has to be rounded
    gap = largest / math.ceil(largest * POINTS / math.sqrt(squares))
    composed: Any = None
    for (family, exact, contributions), many in draws.items():
        epsilon = float(exact)
        places = math.ceil(epsilon / gap)
        at: Floats = np.arange(-places, places + 1, dtype=np.float64) * gap
        pmf = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(
            gap, -places, places, deltas(family, epsilon, contributions, at)
        )
        one: Any = privacy_loss_distribution.PrivacyLossDistribution(pmf)
        same = one.self_compose(many)
        composed = same if composed is None else composed.compose(same)
    return float(composed.get_epsilon_for_delta(delta))


def _by_renyi(draws: dict[Draw, int], delta: float) -> float:
    from dp_accounting import dp_event, rdp

    accountant: Any = rdp.RdpAccountant()
    for (family, exact, _), many in draws.items():
        epsilon = float(exact)
        event: Any
        if family == "laplace":
            event = dp_event.LaplaceDpEvent(1 / epsilon)
        else:
            event = dp_event.ZCDpEvent(epsilon**2 / (8 if family == "bounded-range" else 2))
        accountant.compose(event, many)
    return float(accountant.get_epsilon(delta))
