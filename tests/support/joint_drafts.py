"""Drafts of several quantiles followed through every choice that they make, and draws compared
with a law.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from duffdp._rank_profile import PART_BITS

CLASSES = 8  # of the finest parts of a candidate: no tie of these tests has more parts
LEAST = 2.0**-44  # what is less likely is left out


class Explorer:
    """Follows a draft through every choice that it makes, and tells how likely each way is."""

    secure = False

    def ways(self, draft: Callable[[], Any]) -> Iterator[tuple[float, Any]]:
        """Every draft with its probability."""
        scripts: list[list[int]] = [[]]
        while scripts:
            self.script, self.at, self.chance = scripts.pop(), 0, 1.0
            self.open: list[list[int]] = []
            try:
                made = draft()
                yield self.chance, made
            except OverflowError:  # too unlikely
                pass
            scripts += self.open

    def choose(self, chances):
        """One of several options: the first that can be, and the others later."""
        if self.at == len(self.script):
            options = [i for i, chance in enumerate(chances) if chance > 0]
            self.open += [[*self.script, other] for other in options[1:]]
            self.script.append(options[0])
        pick = self.script[self.at]
        self.at += 1
        self.chance *= chances[pick]
        if self.chance < LEAST:
            raise OverflowError
        return pick

    def below(self, bound):
        if bound == 1 << PART_BITS:
            return self.choose([1 / CLASSES] * CLASSES) << PART_BITS - 3
        return self.choose([1 / bound] * bound)


def accepted(ways):
    """The law of the drafts that are accepted, how many are, and the largest chance of one."""
    mass: Counter[tuple[int, ...]] = Counter()
    most = 0.0
    for chance, draft in ways:
        if draft.ratio:
            accept = float(draft.ratio) * math.exp(-float(draft.exponent))
            most = max(most, accept)
            mass[tuple(draft.candidates)] += chance * accept
    total = sum(mass.values())
    return {key: each / total for key, each in mass.items()}, total, most


def check(explored, made, law, least):
    found, total, most = accepted(explored(made))
    assert most <= 1
    assert total > least
    assert set(found) == {key for key in law if law[key] > 1e-9} | set(found)
    for key, expected in law.items():
        assert found.get(key, 0.0) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def chi_squared(drawn, expected):
    """The statistic, with cells of less than 5 expected joined into one, and its limit at a
    false-alarm rate of 1e-9.
    """
    rare = expected < 5
    seen, wanted = (
        np.append(drawn[~rare], drawn[rare].sum()),
        np.append(expected[~rare], expected[rare].sum()),
    )
    freedom = len(seen) - 1
    return ((seen - wanted) ** 2 / np.maximum(wanted, 1e-9)).sum(), freedom + 9 * math.sqrt(
        2 * freedom
    ) + 20
