"""Privacy as odds: how often an attacker can be right about one person."""

from __future__ import annotations

import math


def chance(epsilon: float) -> float:
    """How often the best attacker who may guess "took part" or "did not" is right, at most.

    Whoever guesses "took part" after an event A is right with probability P(A) if the person took
    part, and wrong with probability Q(A) if not. As P(A) <= exp(epsilon) Q(A) and 1 - Q(A) <=
    exp(epsilon) (1 - P(A)), the smaller of P(A) and 1 - Q(A) is at most exp(epsilon) /
    (1 + exp(epsilon)); randomised response attains it.

    References
    ----------
    Wasserman and Zhou, "A statistical framework for differential privacy" (JASA 2010). Nanayakkara,
    Smart, Cummings, Kaptchuk and Redmiles, "What are the chances? Explaining the epsilon parameter
    in differential privacy" (USENIX Security 2023): odds that people understand.

    Examples
    --------
    >>> from duffdp.studio.odds import chance
    >>> round(chance(1.0), 3), chance(0.0)
    (0.731, 0.5)
    """
    return 1 / (1 + math.exp(-epsilon)) if epsilon < 700 else 1.0
