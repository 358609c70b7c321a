"""From counts to numbers: each mechanism gets windows, profiles or ladders of the groups, and
never the data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from duffdp.domain import Domain
from duffdp.engines.groups import BLOCK
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.pipeline.recipe import Recipe
from duffdp.sampling.entropy import Entropy
from duffdp.statistics.count import Count
from duffdp.statistics.entry import Part
from duffdp.steps import Batch

if TYPE_CHECKING:
    from duffdp.engines.source import Source
    from duffdp.mechanisms.joint import Joint
    from duffdp.rank_profile import RankProfile
    from duffdp.statistics.quantiles import Quantiles

# Beyond this many nats (and the logarithm of the number of candidates) a window leaves candidates
# to the tail.
NEGLIGIBLE = 20.0

Numbers = list[list[int]]  # for each group, one number or several


def draw(recipe: Recipe, sources: Sequence[Any], domain: Domain, entropy: Entropy) -> Numbers:
    """The numbers of every group, in the order of the columns: indices of candidates, or counts."""
    known: list[int] = []  # numbers of records, from profiles: a count needs no pass of its own
    profiled = [hasattr(part.statistic, "profile") for part, _ in recipe.parts]
    columns: dict[int, list[Sequence[int]]] = {}
    for place in sorted(range(len(profiled)), key=profiled.__getitem__, reverse=True):
        columns[place] = _draw_part(*recipe.parts[place], sources, domain, entropy, known, columns)
    in_order = chain.from_iterable(map(columns.__getitem__, range(len(profiled))))
    rows = map(list, zip(*in_order, strict=True))
    return list(map(sorted, rows) if recipe.entry.sort else rows)


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
        owns = list(map(statistic.given, before))
        return _draw_each(owns, mechanism, sources, domain, entropy)
    if hasattr(statistic, "profile"):
        found = []
        for source in sources:
            profile = wide_profile(mechanism, statistic, source)
            known.append(profile.total)
            found.append(mechanism.release(profile, entropy))
        return list(zip(*found, strict=True))
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
    max_distance = _max_distance(statistic, domain, mechanism)
    numbers: list[int] = []
    for begin in range(0, len(sources), BLOCK):
        batch = statistic.windows(sources[begin : begin + BLOCK], domain, max_distance)
        numbers += mechanism.release(batch, entropy)
    return [numbers]


def _draw_each(
    owns: Sequence[Any],
    mechanism: Any,
    sources: Sequence[Any],
    domain: Domain,
    entropy: Entropy,
) -> list[Sequence[int]]:
    """The columns of a part whose statistic each group has for itself."""
    if hasattr(owns[0], "totals"):
        for own, source in zip(owns, sources, strict=True):
            own.expect(source, domain)
        noisy = []
        for own, source in zip(owns, sources, strict=True):
            exact = [own.totals(source, domain)]
            noisy += mechanism.release(exact, own.sensitivity(domain), entropy)
        return list(zip(*noisy, strict=True))
    max_distance = _max_distance(owns[0], domain, mechanism)
    numbers: list[int] = []
    for begin in range(0, len(sources), BLOCK):
        each = zip(owns[begin : begin + BLOCK], sources[begin : begin + BLOCK], strict=True)
        windows = (own.windows([source], domain, max_distance)[0] for own, source in each)
        batch = Batch.of(list(windows))
        numbers += mechanism.release(batch, entropy)
    return [numbers]


def _max_distance(statistic: Any, domain: Domain, mechanism: Any) -> float:
    """The distance beyond which all candidates together weigh next to nothing."""
    size = statistic.outputs(domain).size if hasattr(statistic, "outputs") else domain.size
    return float((NEGLIGIBLE + math.log(size)) / (float(statistic.rate) * mechanism.epsilon))


def wide_profile(joint: Joint, quantiles: Quantiles, column: Source) -> RankProfile:
    """The ranks of a column around every quantile, as far as the mechanism wants them: one pass,
    seldom two.
    """
    profile = quantiles.profile(column, joint.first_reach(len(quantiles.qs), column.length))
    while (wider := joint.wider_reach(profile)) is not None:
        profile = quantiles.profile(column, wider)
    return profile
