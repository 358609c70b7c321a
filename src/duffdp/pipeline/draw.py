"""From counts to numbers: each mechanism gets windows, profiles or ladders of the groups, and
never the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar

from duffdp.domain import PublicSet
from duffdp.engines.arrays.threads import side_by_side
from duffdp.engines.groups import BLOCK, SideBySide
from duffdp.engines.tables.passes import PassColumn, Passes
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.pipeline.recipe import Recipe
from duffdp.rows import MANY, RowsOfColumns
from duffdp.sampling.entropy import Entropy
from duffdp.statistics.cells import Top
from duffdp.statistics.count import Count
from duffdp.statistics.entry import NOT_DRAWN, Part
from duffdp.steps import Batch

# Beyond this many nats (and the logarithm of the number of candidates) a window leaves candidates
# to the tail.
NEGLIGIBLE = 12.0

Numbers = Sequence[Sequence[int]]  # for each group, one number or several
Steps = Generator[Passes, None, Numbers]
T = TypeVar("T")


def draw(recipe: Recipe, sources: Sequence[Any], domain: PublicSet, entropy: Entropy) -> Numbers:
    """The numbers of every group of one release, on its own."""
    steps = draw_in_steps(recipe, sources, domain, entropy)
    while True:
        try:
            next(steps).answer()
        except StopIteration as end:
            numbers: Numbers = end.value
            return numbers


def draw_in_steps(
    recipe: Recipe, sources: Sequence[Any], domain: PublicSet, entropy: Entropy
) -> Steps:
    """The numbers of every group, in the order of the columns: indices of candidates, or counts.

    As long as something is missing that several releases wait for, it yields who answers it.
    """
    shared = isinstance(sources[0], PassColumn)  # others answer each for itself
    fixed = [p for p in recipe.parts if not hasattr(p[0].statistic, "given")] if shared else []
    while fixed and (
        waiting := [
            answers
            for part, made in fixed
            if (answers := _waits_for(part.statistic, made, sources, domain)) is not None
        ]
    ):
        yield waiting[0]
    if len(recipe.parts) == 1:
        ((part, made),) = recipe.parts
        columns = _draw_part(part, made, sources, domain, entropy, [])
    else:
        columns = yield from _draw_parts(recipe, sources, domain, entropy)
    many = len(sources) >= MANY
    return RowsOfColumns(columns) if many else list(zip(*columns, strict=True))


def _draw_parts(
    recipe: Recipe, sources: Sequence[Any], domain: PublicSet, entropy: Entropy
) -> Generator[Passes, None, list[Sequence[int]]]:
    """The columns of several parts, in order."""
    known: list[int] = []  # numbers of records, from profiles: a count needs no pass of its own
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
        columns[place] = yield from _draw_adaptively(
            part, made, epsilon, before, unspent, sources, domain, entropy
        )
    return list(chain.from_iterable(map(columns.__getitem__, range(len(profiled)))))


def _draw_adaptively(
    part: Part,
    made: Any,
    epsilon: Fraction,
    before: Sequence[Sequence[int]],
    unspent: list[Fraction],
    sources: Sequence[Any],
    domain: PublicSet,
    entropy: Entropy,
) -> Generator[Passes, None, list[Sequence[int]]]:
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
    for (own, more), groups in alike.items():
        mechanism, asked = _paid(made, epsilon, more), [sources[i] for i in groups]
        while (answers := _waits_for(own, mechanism, asked, domain)) is not None:
            yield answers
    rows = [[NOT_DRAWN] * len(part.columns) for _ in sources]
    for (own, more), groups in alike.items():
        mechanism, asked = _paid(made, epsilon, more), [sources[i] for i in groups]
        columns = _draw_part(replace(part, statistic=own), mechanism, asked, domain, entropy, [])
        for i, numbers in zip(groups, zip(*columns, strict=True), strict=True):
            rows[i][: len(numbers)] = numbers
    return list(zip(*rows, strict=True))


def _paid(made: Any, epsilon: Fraction, more: Fraction) -> Any:
    """The mechanism with what was left for it."""
    return type(made)(epsilon + more) if more else made


def _waits_for(
    statistic: Any, mechanism: Any, sources: Sequence[Any], domain: PublicSet
) -> Passes | None:
    """Who has to answer before the numbers of a statistic are there; None if nobody has, or if
    sources answer each for itself.
    """
    first = sources[0]
    if not isinstance(first, PassColumn):
        return None
    if hasattr(statistic, "profiles"):
        return first.waits_for(lambda: statistic.near(sources[:1], mechanism.epsilon))
    if hasattr(statistic, "totals"):
        _expect(statistic, sources, domain)
        return first.waits_for(lambda: statistic.totals(first, domain))
    max_distance = _max_distance(statistic, domain, mechanism)
    return first.waits_for(lambda: statistic.windows(sources[:1], domain, max_distance))


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

        def drawn_near(some: Sequence[Any], source: Entropy) -> tuple[list[int], list[Any]]:
            near = statistic.near(some, mechanism.epsilon)
            return list(map(attrgetter("total"), near)), mechanism.release(near, source)

        if isinstance(sources, SideBySide):
            blocks = _by_block(drawn_near, sources, entropy)
        else:  # what is asked for depends on how many groups there are: the same for all of a table
            blocks = [drawn_near(sources, entropy)]
        counts, rows = zip(*blocks, strict=True)
        known.extend(chain.from_iterable(counts))
        return list(zip(*chain.from_iterable(rows), strict=True))
    if hasattr(statistic, "totals"):
        exact = [(count,) for count in known if isinstance(statistic, Count)]
        if isinstance(sources, SideBySide) and hasattr(statistic, "levels"):
            sources = sources.level_sums(statistic.levels(domain))
        else:
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

    def raced(some: Sequence[Any], source: Entropy) -> list[int]:
        batch = statistic.windows(some, domain, max_distance)
        found: list[int] = mechanism.release(batch, source)
        return found if batch.candidates_of is None else batch.candidates_of(found)

    return [list(chain.from_iterable(_by_block(raced, sources, entropy)))]


def _by_block(
    work: Callable[[Sequence[Any], Entropy], T], sources: Sequence[Any], entropy: Entropy
) -> list[T]:
    """What is found for some groups after the others. Those of one array are answered on all cores,
    a block with bits of its own: what a seed gives does not depend on the number of cores.
    """
    if len(sources) == 1:
        return [work(sources, entropy)]
    together = isinstance(sources, SideBySide)
    many = sources.block if isinstance(sources, SideBySide) else BLOCK
    blocks = [sources[at : at + many] for at in range(0, len(sources), many)]
    if len(blocks) == 1 or not together:
        return [work(block, entropy) for block in blocks]
    return side_by_side(work, blocks, [entropy.split() for _ in blocks])


def _max_distance(statistic: Any, domain: PublicSet, mechanism: Any) -> float:
    """The distance beyond which all candidates together weigh next to nothing."""
    size = statistic.outputs(domain).size if hasattr(statistic, "outputs") else domain.size
    return float((NEGLIGIBLE + math.log(size)) / (float(statistic.rate) * mechanism.epsilon))
