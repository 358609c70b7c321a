"""The worst that a mechanism can do, family by family: how well its output tells neighbours
apart.
"""

from __future__ import annotations

import numpy as np

from duffdp.domain import Floats
from duffdp.loss_family import LossFamily


def deltas(family: LossFamily, epsilon: float, contributions: int, at: Floats) -> Floats:
    """The largest P(A) - exp(x) Q(A) over events A and neighbours, for every x in `at`: no
    mechanism of the family exceeds it, and a pair of laws attains it for all x together.

    Those laws are noise at 0 and at epsilon: logistic for a bounded range, Laplace, or two-sided
    geometric on `contributions` steps from the one to the other. On one step that is randomised
    response, the worst that a pure epsilon allows.
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
