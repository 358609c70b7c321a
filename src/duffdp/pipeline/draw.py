"""From counts to numbers: each mechanism gets windows, profiles or ladders of the groups, and
never the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import Any

from duffdp.domain import Domain
from duffdp.engines.groups import BLOCK
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.pipeline.recipe import Recipe
from duffdp.sampling.entropy import Entropy
from duffdp.statistics.count import Count
from duffdp.statistics.entry import Part
from duffdp.steps import Batch

# Beyond this many nats (and the logarithm of the number of candidates) a window leaves candidates
# to the tail.
NEGLIGIBLE = 20.0

Numbers = list[list[int]]  # for each group, one number or several


def draw(recipe: Recipe, sources: Sequence[Any], domain: Domain, entropy: Entropy) -> Numbers:
    """The numbers of every group, in the order of the columns: indices of candidates, or counts."""
    known: list[int] = []  # numbers of records, from profiles: a count needs no pass of its own
    profiled = [hasattr(part.statistic, "profiles") for part, _ in recipe.parts]
    columns: dict[int, list[Sequence[int]]] = {}
    for place in sorted(range(len(profiled)), key=profiled.__getitem__, reverse=True):
        columns[place] = _draw_part(*recipe.parts[place], sources, domain, entropy, known, columns)
    in_order = chain.from_iterable(map(columns.__getitem__, range(len(profiled))))
    return list(map(list, zip(*in_order, strict=True)))


def _draw_part(
    part: Part,
    mechanism: Any,
    sources: Sequence[Any],
    domain: Domain,
    entropy: Entropy,
    known: list[int],
    earlier: dict[int, list[Sequence[int]]],
) -> list[Sequence[int]]:
    """The columns of one part, each with a number for every group."""
    statistic = part.statistic
    if hasattr(statistic, "given"):
        before = zip(*chain.from_iterable(earlier[i] for i in sorted(earlier)), strict=True)
        each = [
            _draw_part(replace(part, statistic=own), mechanism, [source], domain, entropy, [], {})
            for own, source in zip(map(statistic.given, before), sources, strict=True)
        ]
        return [list(chain.from_iterable(column)) for column in zip(*each, strict=True)]
    if hasattr(statistic, "profiles"):
        profiles = statistic.profiles(sources, mechanism.epsilon)
        known.extend(map(attrgetter("total"), profiles))
        return list(zip(*mechanism.release(profiles, entropy), strict=True))
    if hasattr(statistic, "totals"):
        exact = [(count,) for count in known if isinstance(statistic, Count)]
        exact = exact or [statistic.totals(source, domain) for source in sources]
        noisy = mechanism.release(exact, statistic.sensitivity(domain), entropy)
        return list(zip(*noisy, strict=True))
    if hasattr(statistic, "ladder"):
        ladders = [statistic.ladder(edges) for edges in sources]
        if not isinstance(mechanism, Mechanism):
            return [[mechanism.release(ladder, statistic.most, entropy) for ladder in ladders]]
        levels = math.ceil(2 * (NEGLIGIBLE + math.log(domain.size)) / mechanism.epsilon)
        windows = Batch.of([ladder.window(domain, levels) for ladder in ladders])
        return [mechanism.release(windows, entropy)]
    size = statistic.outputs(domain).size if hasattr(statistic, "outputs") else domain.size
    max_distance = (NEGLIGIBLE + math.log(size)) / (float(statistic.rate) * mechanism.epsilon)
    numbers: list[int] = []
    for begin in range(0, len(sources), BLOCK):
        batch = statistic.windows(sources[begin : begin + BLOCK], domain, max_distance)
        numbers += mechanism.release(batch, entropy)
    return [numbers]
