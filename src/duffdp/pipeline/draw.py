"""From counts to numbers: each mechanism gets windows, profiles or ladders of the groups, and
never the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from operator import attrgetter
from typing import Any

from duffdp.domain import PublicSet
from duffdp.engines.groups import BLOCK
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.pipeline.recipe import Recipe
from duffdp.sampling.entropy import Entropy
from duffdp.statistics.cells import Top
from duffdp.statistics.count import Count
from duffdp.statistics.entry import NOT_DRAWN, Part
from duffdp.steps import Batch

# Beyond this many nats (and the logarithm of the number of candidates) a window leaves candidates
# to the tail.
NEGLIGIBLE = 12.0

Numbers = list[list[int]]  # for each group, one number or several


def draw(recipe: Recipe, sources: Sequence[Any], domain: PublicSet, entropy: Entropy) -> Numbers:
    """The numbers of every group, in the order of the columns: indices of candidates, or counts."""
    known: list[int] = []  # numbers of records, from profiles: a count needs no pass of its own
    if len(recipe.parts) == 1:
        ((part, made),) = recipe.parts
        alone = _draw_part(part, made, sources, domain, entropy, known)
        return list(map(list, zip(*alone, strict=True)))
    profiled = [hasattr(part.statistic, "profiles") for part, _ in recipe.parts]
    columns: dict[int, list[Sequence[int]]] = {}
    unspent = [Fraction(0)] * len(sources)
    for place in sorted(range(len(profiled)), key=profiled.__getitem__, reverse=True):
        part, made = recipe.parts[place]
        if not hasattr(part.statistic, "given"):
            columns[place] = _draw_part(part, made, sources, domain, entropy, known)
            continue
        epsilon = recipe.loss.epsilon * part.share / recipe.unit.rows
        before = list(zip(*chain.from_iterable(map(columns.__getitem__, columns)), strict=True))
        columns[place] = _draw_adaptively(
            part, made, epsilon, before, unspent, sources, domain, entropy
        )
    in_order = chain.from_iterable(map(columns.__getitem__, range(len(profiled))))
    return list(map(list, zip(*in_order, strict=True)))


def _draw_adaptively(
    part: Part,
    made: Any,
    epsilon: Fraction,
    before: Sequence[Sequence[int]],
    unspent: list[Fraction],
    sources: Sequence[Any],
    domain: PublicSet,
    entropy: Entropy,
) -> list[Sequence[int]]:
    """The columns of one part that depends on what was drawn `before` for each group.

    A group that is not asked keeps the epsilon for the next part that it is asked.
    """
    alike: dict[tuple[Any, Fraction], list[int]] = {}  # groups by what they ask and have unspent
    for i, numbers in enumerate(before):
        own = part.statistic.given(numbers, domain, epsilon)
        if own is None:
            assert part.statistic.passes_on  # totals for a delta rest on it
            unspent[i] += epsilon
            continue
        alike.setdefault((own, unspent[i]), []).append(i)
        unspent[i] = Fraction(0)
        _expect(own, sources[i : i + 1], domain)
    rows = [[NOT_DRAWN] * len(part.columns) for _ in sources]
    for (own, more), groups in alike.items():
        mechanism = type(made)(epsilon + more) if more else made
        asked = [sources[i] for i in groups]
        columns = _draw_part(replace(part, statistic=own), mechanism, asked, domain, entropy, [])
        for i, numbers in zip(groups, zip(*columns, strict=True), strict=True):
            rows[i][: len(numbers)] = numbers
    return list(zip(*rows, strict=True))


def _expect(statistic: Any, sources: Sequence[Any], domain: PublicSet) -> None:
    """Say what sums will be asked for: those of all groups can be found together."""
    if hasattr(statistic, "levels"):
        for source in sources:
            source.expect(statistic.levels(domain))


def _draw_part(
    part: Part,
    mechanism: Any,
    sources: Sequence[Any],
    domain: PublicSet,
    entropy: Entropy,
    known: list[int],
) -> list[Sequence[int]]:
    """The columns of one part, each with a number for every group."""
    statistic = part.statistic
    if hasattr(statistic, "profiles"):
        near = statistic.near(sources, mechanism.epsilon)
        known.extend(map(attrgetter("total"), near))
        return list(zip(*mechanism.release(near, entropy), strict=True))
    if hasattr(statistic, "totals"):
        exact = [(count,) for count in known if isinstance(statistic, Count)]
        _expect(statistic, sources, domain)
        exact = exact or [statistic.totals(source, domain) for source in sources]
        sensitivity = statistic.sensitivity(domain)
        if isinstance(statistic, Top):
            noisy = mechanism.rank(exact, sensitivity, statistic.k, entropy)
        else:
            noisy = mechanism.release(exact, sensitivity, entropy)
        return list(zip(*noisy, strict=True))
    if hasattr(statistic, "ladder"):
        ladders = [statistic.ladder(edges) for edges in sources]
        if not isinstance(mechanism, Mechanism):
            return [[mechanism.release(ladder, statistic.most, entropy) for ladder in ladders]]
        levels = math.ceil(2 * (NEGLIGIBLE + math.log(domain.size)) / mechanism.epsilon)
        windows = Batch.of([ladder.window(domain, levels) for ladder in ladders])
        return [mechanism.release(windows, entropy)]
    max_distance = _max_distance(statistic, domain, mechanism)
    numbers: list[int] = []
    for begin in range(0, len(sources), BLOCK):
        batch = statistic.windows(sources[begin : begin + BLOCK], domain, max_distance)
        numbers += mechanism.release(batch, entropy)
    return [numbers]


def _max_distance(statistic: Any, domain: PublicSet, mechanism: Any) -> float:
    """The distance beyond which all candidates together weigh next to nothing."""
    size = statistic.outputs(domain).size if hasattr(statistic, "outputs") else domain.size
    return float((NEGLIGIBLE + math.log(size)) / (float(statistic.rate) * mechanism.epsilon))
