"""From counts to numbers: each mechanism gets windows, profiles or ladders of the groups, and
never the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

from duffdp.domain import Domain
from duffdp.engines.groups import BLOCK
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.pipeline.recipe import Recipe
from duffdp.sampling.entropy import Entropy
from duffdp.statistics.entry import Part
from duffdp.steps import Batch

# Beyond this many nats (and the logarithm of the number of candidates) a window leaves candidates
# to the tail.
NEGLIGIBLE = 20.0

Numbers = list[list[int]]  # for each group, one number or several


def draw(recipe: Recipe, sources: Sequence[Any], domain: Domain, entropy: Entropy) -> Numbers:
    """The numbers of every group, in the order of the columns: indices of candidates, or counts."""
    totals: list[int] = []  # that come with profiles, so that a count needs no pass of its own
    profiled = [hasattr(part.statistic, "profiles") for part, _ in recipe.parts]
    columns: dict[int, list[Sequence[int]]] = {}
    for place in sorted(range(len(profiled)), key=profiled.__getitem__, reverse=True):
        columns[place] = _draw_part(*recipe.parts[place], sources, domain, entropy, totals)
    in_order = chain.from_iterable(map(columns.__getitem__, range(len(profiled))))
    rows = map(list, zip(*in_order, strict=True))
    return list(map(sorted, rows) if recipe.entry.sort else rows)


def _draw_part(
    part: Part,
    mechanism: Any,
    sources: Sequence[Any],
    domain: Domain,
    entropy: Entropy,
    totals: list[int],
) -> list[Sequence[int]]:
    """The columns of one part, each with a number for every group."""
    statistic = part.statistic
    if hasattr(statistic, "profiles"):
        profiles = statistic.profiles(sources, mechanism.epsilon)
        totals.extend(map(attrgetter("total"), profiles))
        return list(zip(*mechanism.release(profiles, entropy), strict=True))
    if hasattr(statistic, "count"):
        counts = totals or [statistic.count(source) for source in sources]
        return [[mechanism.release(count, entropy) for count in counts]]
    if hasattr(statistic, "ladder"):
        ladders = [statistic.ladder(edges) for edges in sources]
        if not isinstance(mechanism, Mechanism):
            return [[mechanism.release(ladder, statistic.most, entropy) for ladder in ladders]]
        levels = math.ceil(2 * (NEGLIGIBLE + math.log(domain.size)) / mechanism.epsilon)
        windows = Batch.of([ladder.window(domain, levels) for ladder in ladders])
        return [mechanism.release(windows, entropy)]
    max_distance = (NEGLIGIBLE + math.log(domain.size)) / (
        float(statistic.rate) * mechanism.epsilon
    )
    numbers: list[int] = []
    for begin in range(0, len(sources), BLOCK):
        batch = statistic.windows(sources[begin : begin + BLOCK], domain, max_distance)
        numbers += mechanism.release(batch, entropy)
    return [numbers]

