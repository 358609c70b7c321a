"""Expected errors of the larger groups of a table, and whether draws of their own are better."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from duffdp._engines.selection import Selection, in_margin
from duffdp._facts import Facts
from duffdp._pipeline.group_tree import GroupTree
from duffdp._pipeline.level_rows import expected_errors, tree_of
from duffdp._pipeline.request import CheckedRequest
from duffdp._pipeline.table import margin_name

# How many keys of a pattern are found is unknown beforehand, so errors are listed for these.
FOUND_KEYS = (10, 100, 1_000)


class MarginForecast(NamedTuple):
    """What to expect of one margin: its expected error, None if that depends on the number of
    found keys, and a note about another way to release it.
    """

    release: str
    output: str
    error: float | None
    note: str


def margin_forecasts(
    names: Sequence[str],
    margins: Sequence[tuple[str, ...]],
    releases: Mapping[str, CheckedRequest],
    group_size: int,
) -> list[MarginForecast]:
    """The forecasts of all margins of releases whose numbers add up."""
    if not names:
        return []
    selection = releases[names[0]].selection
    numbers, selections = _found_keys(selection)
    trees = [_tree(one, margins) for one in selections]
    forecasts = []
    for name in names:
        checked, own_names = releases[name], [margin_name(name, margin) for margin in margins]
        drawn = [_facts(releases.get(one)) for one in (name, *own_names)]
        half = _facts(checked.with_epsilon(checked.plan.loss.epsilon / 2))
        usual = [expected_errors(tree, drawn, group_size) for tree in trees]
        for level, margin in enumerate(own_names, 1):
            changed = [half, *drawn[1:]]
            changed[level] = half
            others = usual
            if drawn[level] is None:
                others = [expected_errors(tree, changed, group_size) for tree in trees]
            ways = [
                _Ways(one[level], one[0], other[level], other[0], drawn[level] is not None)
                for one, other in zip(usual, others, strict=True)
            ]
            own_draw = f"with half of the epsilon of {name!r} for {margin!r}"
            error = None if numbers else ways[0].margin
            note = _note_found(ways, numbers, own_draw) if numbers else ways[0].note(own_draw)
            forecasts.append(MarginForecast(margin, checked.spec.name, error, note))
    return forecasts


def _facts(checked: CheckedRequest | None) -> Facts | None:
    return None if checked is None else checked.facts(checked.plan, checked.domain, True, None)


def _found_keys(selection: Selection) -> tuple[list[int], list[Selection]]:
    """Some numbers of keys of a pattern, and the selection if so many are found, evenly among the
    possible ones; no numbers where keys are listed.
    """
    universe = selection.universe
    if universe is None:
        return [], [selection]
    size = universe.size
    numbers = [number for number in FOUND_KEYS if number < size] or [size]
    places = ([at * size // number for at in range(number)] for number in numbers)
    return numbers, [selection.with_keys(list(map(universe.key, each))) for each in places]


def _tree(selection: Selection, margins: Sequence[tuple[str, ...]]) -> GroupTree:
    groups = selection.leaves
    tree = tree_of([in_margin(groups, by) for by in (groups.by, *margins)])
    assert tree is not None
    return tree


class _Ways(NamedTuple):
    """Two ways to release a margin: the expected errors of the margin and of the smallest groups by
    the draws of the plan, and where half of the epsilon of groups goes to a draw of the margin.
    """

    margin: float
    groups: float
    own_margin: float
    own_groups: float
    has_own_draw: bool

    @property
    def own_is_better(self) -> bool:
        """True if the margin errs less by a draw of its own."""
        return self.own_margin < self.margin

    def note(self, own_draw: str) -> str:
        """The comparison of both ways."""
        if self.has_own_draw:
            return "has a draw of its own"
        verdict = "a draw of its own" if self.own_is_better else "the sum"
        return (
            f"a sum of groups; {own_draw} it would err by {self.own_margin:.3g}, and groups by "
            f"{self.own_groups:.3g} instead of {self.groups:.3g}: {verdict} is better here"
        )


def _note_found(ways: Sequence[_Ways], numbers: Sequence[int], own_draw: str) -> str:
    """The comparison of both ways for some numbers of found keys."""
    keys = f"with {_listed(f'{number:,}' for number in numbers)} found keys"
    by = _listed(f"{one.margin:.3g}" for one in ways)
    if ways[0].has_own_draw:
        return f"has a draw of its own; {keys} it errs by {by}"
    own = _listed(f"{one.own_margin:.3g}" for one in ways)
    better = [number for number, one in zip(numbers, ways, strict=True) if one.own_is_better]
    verdict = "the sum is better here"
    if len(better) == len(numbers):
        verdict = "a draw of its own is better here"
    elif better:
        verdict = f"a draw of its own is better with {better[0]:,} found keys and more"
    return f"a sum of groups; {keys} it errs by {by}, and {own_draw} by {own}: {verdict}"


def _listed(texts: Iterable[str]) -> str:
    """Texts in one sentence: "1, 2 or 3"."""
    *first, last = texts
    return f"{', '.join(first)} or {last}" if first else last
