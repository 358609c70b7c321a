"""Total privacy loss of many releases at a small delta, by dp-accounting.

Each mechanism is accounted by a dominating pair: two distributions that are at least as easy to
tell apart as its outputs on any two neighbors.

Promise: A total for a delta is no smaller than the truth, for a number of releases and epsilons
that were fixed beforehand.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from duffdp._optional import load
from duffdp._privacy import Loss, LossFamily
from duffdp.domain import Floats
from duffdp.errors import DuffError

FamilyDraw = tuple[
    LossFamily, Fraction, int
]  # family, epsilon, and the rows of a unit if they matter
MAX_COMPOSED_EPSILON = 30  # composition saves nothing on an epsilon beyond: it is added as it is
# Of the grid of losses for the root of the sum of the squares of all epsilons.
LOSS_GRID_POINTS = 4096


def deltas(family: LossFamily, epsilon: float, contributions: int, at: Floats) -> Floats:
    """The largest P(A) - exp(x) Q(A) over events A and neighbors, for every x in `at`: no mechanism
    of the family exceeds it, and a pair of distributions attains it for all x together.

    These distributions are noise at 0 and at epsilon: logistic for a bounded range, Laplace, or
    two-sided geometric on `contributions` steps from the one to the other. On one step that is
    randomized response, the worst that a pure epsilon allows.
    """
    if family == "bounded-range":
        inside = np.expm1((at - epsilon) / 2) ** 2 / -np.expm1(-epsilon)
    elif family == "laplace":
        inside = -np.expm1((at - epsilon) / 2)
    else:
        steps = contributions if family == "geometric" else 1
        inside = _geometric(epsilon, steps, at)
    outside = np.where(at < 0, -np.expm1(np.minimum(at, 0)), 0.0)
    return np.where(np.abs(at) < epsilon, np.clip(inside, 0, 1), outside)


def _geometric(epsilon: float, steps: int, at: Floats) -> Floats:
    """The best event is that the output is at least k, the first place whose loss exceeds x."""
    step = epsilon / steps
    k = np.clip(np.floor((at / step + steps) / 2) + 1, 1, steps)
    missed = -np.expm1((k - 1) * step - epsilon)
    wrong = -np.exp(-step) * np.expm1(np.minimum(at, epsilon) - (k - 1) * step)
    inside: Floats = (missed + wrong) / (1 + np.exp(-step))
    return inside


def tight_epsilon(losses: Iterable[Loss], delta: float) -> float:
    """The least epsilon known to hold with `delta` for all losses together, also if what a release
    computes was chosen by the outputs of those before it. How many releases there are, and their
    epsilons and mechanisms, must not depend on outputs.

    Three bounds hold, and the smallest is returned: the plain sum, the composition of the
    dominating pairs of all draws, and Renyi privacy. A part has the Renyi privacy of Laplace noise
    if that dominates it; otherwise epsilon^2 / 8 for a bounded range, and epsilon^2 / 2 for others.
    """
    losses = list(losses)
    remaining_delta = delta - float(sum((loss.delta for loss in losses), Fraction(0)))
    if not 0 < delta < 1 or remaining_delta <= 0:
        raise DuffError(
            "delta must be between 0 and 1 and above the delta that the releases spend, got "
            f"{delta!r}. Pass for example 1e-6."
        )
    load("dp_accounting", "accounting")
    draws: Counter[FamilyDraw] = Counter()
    for loss, times in Counter(losses).items():
        for draw, count in _draws(loss):
            draws[draw] += times * count
    large_epsilon = sum(
        (draw[1] * count for draw, count in draws.items() if draw[1] > MAX_COMPOSED_EPSILON),
        Fraction(0),
    )
    composed = {draw: count for draw, count in draws.items() if draw[1] <= MAX_COMPOSED_EPSILON}
    if not composed:
        return float(large_epsilon)
    total = sum((draw[1] * count for draw, count in composed.items()), Fraction(0))
    composed_epsilon = min(
        _epsilon_by_dominating_pairs(composed, remaining_delta),
        _epsilon_by_renyi(composed, remaining_delta),
    )
    return min(float(large_epsilon + total), float(large_epsilon) + composed_epsilon)


def _draws(loss: Loss) -> Iterable[tuple[FamilyDraw, int]]:
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


def _epsilon_by_dominating_pairs(draws: dict[FamilyDraw, int], delta: float) -> float:
    """Compose the privacy loss distributions, on one grid that is fine for all of them together."""
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    squares = sum(count * float(epsilon) ** 2 for (_, epsilon, _), count in draws.items())
    largest = max(float(epsilon) for _, epsilon, _ in draws)
    # a whole number of gaps: where all draws are alike, no loss has to be rounded
    gap = largest / math.ceil(largest * LOSS_GRID_POINTS / math.sqrt(squares))
    composed: Any = None
    for (family, exact, contributions), count in draws.items():
        epsilon = float(exact)
        places = math.ceil(epsilon / gap)
        at: Floats = np.arange(-places, places + 1, dtype=np.float64) * gap
        pmf = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(
            gap, -places, places, deltas(family, epsilon, contributions, at)
        )
        distribution: Any = privacy_loss_distribution.PrivacyLossDistribution(pmf)
        repeated = distribution.self_compose(count)
        composed = repeated if composed is None else composed.compose(repeated)
    return float(composed.get_epsilon_for_delta(delta))


def _epsilon_by_renyi(draws: dict[FamilyDraw, int], delta: float) -> float:
    from dp_accounting import dp_event, rdp

    accountant: Any = rdp.RdpAccountant()
    for (family, exact, _), count in draws.items():
        epsilon = float(exact)
        event: Any
        if family == "laplace":
            event = dp_event.LaplaceDpEvent(1 / epsilon)
        else:
            event = dp_event.ZCDpEvent(epsilon**2 / (8 if family == "bounded-range" else 2))
        accountant.compose(event, count)
    return float(accountant.get_epsilon(delta))
