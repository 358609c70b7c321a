"""The joint law of several quantiles on a small domain, by listing all sizes and all sorted
places.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction


def parts(records: int) -> int:
    """1 part for up to three records at a value, 2 from the fourth, 4 from the eighth, and so
    on.
    """
    return 1 if records < 4 else 2 ** (records.bit_length() - 2)


def before(records: int, place: Fraction) -> Fraction:
    """Records at a value that lie before a place in [0, 1): the e-th is spread over the parts that
    e records make.
    """
    return sum(
        (
            Fraction(2 * math.floor(place * parts(e)) + 1, 2 * parts(e))
            for e in range(1, records + 1)
        ),
        Fraction(0),
    )


def places(data: tuple[int, ...], size: int) -> list[tuple[int, Fraction, Fraction]]:
    """Value, volume and rank of every part of every value, in order."""
    counts = Counter(data)
    found = []
    for x in range(size):
        below = sum(y < x for y in data)
        many = parts(counts[x])
        found += [
            (x, Fraction(1, many), below + before(counts[x], Fraction(i, many)))
            for i in range(many)
        ]
    return found


def score(
    ranks: tuple[Fraction, ...], total: int, qs: tuple[Fraction, ...], size: Fraction
) -> Fraction:
    gaps = [b - a for a, b in itertools.pairwise((Fraction(0), *ranks, Fraction(total)))]
    shares = [b - a for a, b in itertools.pairwise((Fraction(0), *qs, Fraction(1)))]
    return sum(
        (abs(gap - size * share) for gap, share in zip(gaps, shares, strict=True)), Fraction(0)
    )


def law(
    data: tuple[int, ...],
    size: int,
    qs: tuple[Fraction, ...],
    epsilon: Fraction,
    spacing: int = 16,
    records: Fraction | None = None,
) -> dict[tuple[int, ...], float]:
    """Probability of every sorted tuple of values, with a free size or with this one."""
    options = places(data, size)
    most = math.ceil((len(data) * epsilon / 2 + 60) / (spacing / 2))
    sizes = [s * spacing / epsilon for s in range(1, most + 1)] if records is None else [records]
    weight: dict[tuple[int, ...], float] = Counter()
    for chosen in itertools.combinations_with_replacement(range(len(options)), len(qs)):
        volume = 1.0
        for option, many in Counter(chosen).items():
            volume *= float(options[option][1]) ** many / math.factorial(many)
        values, ranks = tuple(options[i][0] for i in chosen), tuple(options[i][2] for i in chosen)
        for s in sizes:
            each = volume * math.exp(-float(epsilon / 2 * score(ranks, len(data), qs, s)))
            weight[values] += each
    total = sum(weight.values())
    return {values: each / total for values, each in weight.items()}
