"""Groups on several levels, and joint estimates of all their numbers in exact fractions.

Promise: Estimates are computed from drawn numbers and public facts alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

#: For each level, the lowest first, a number for each group; None where nothing was drawn.
Drawn = Sequence[Sequence[int] | None]
#: How often which weight stands before the draws of which level, in the error of an estimate.
ErrorWeights = Mapping[tuple[int, Fraction], int]


@dataclass(frozen=True)
class GroupTree:
    """Groups on several levels, the lowest first: for each level but the last, `parents` has the
    position of the group above each group. The last level has one group.
    """

    parents: tuple[tuple[int, ...], ...]

    @classmethod
    def of_places(cls, places: Sequence[Sequence[int]]) -> GroupTree:
        """The tree of the groups of the lowest level, where `places` has for each higher level the
        place of the group that each of them belongs to.
        """
        levels = [range(len(places[0])), *places]
        parents = []
        for below, above in pairwise(levels):
            parent_of = dict(zip(below, above, strict=True))
            parents.append(tuple(parent_of[at] for at in range(len(parent_of))))
        return cls(tuple(parents))

    @property
    def sizes(self) -> list[int]:
        """Number of groups of each level."""
        return [*map(len, self.parents), 1]

    @property
    def leaf_counts(self) -> list[list[int]]:
        """For each level, the number of groups of the lowest one in each group."""
        counts = [[1] * self.sizes[0]]
        for groups in self.children:
            counts.append([sum(counts[-1][child] for child in children) for children in groups])
        return counts

    @cached_property
    def children(self) -> list[list[list[int]]]:
        """For each level but the lowest, the groups below each group."""
        children = []
        for parents, size in zip(self.parents, self.sizes[1:], strict=True):
            below: list[list[int]] = [[] for _ in range(size)]
            for child, parent in enumerate(parents):
                below[parent].append(child)
            children.append(below)
        return children


class _Shape(NamedTuple):
    """A group with all groups below it, as far as variances depend on it: its parts by shape, the
    variances of its estimate from below and from its own draw, and the weight of that draw.
    """

    level: int
    below: tuple[tuple[int, int], ...]  # shapes and how often
    variance: Fraction
    own_weight: Fraction


class GroupEstimator:
    """Estimates of all numbers of a tree by weighted least squares, which add up.

    Parameters
    ----------
    tree
        The groups.
    variances
        For each level the variance of its draws, in any unit; None where nothing was drawn.
        The lowest level is always drawn.

    Notes
    -----
    Each group is estimated from its own draw and from the sum of the groups below, weighted by the
    inverse variances, from the lowest level up. Then what the group above has more than its parts
    is divided among them in proportion to their variances, from the top down. That is the solution
    of the normal equations of a tree (Hay, Rastogi, Miklau and Suciu, "Boosting the accuracy of
    differentially private histograms through consistency", VLDB 2010, section 4, for any
    variances).
    """

    def __init__(self, tree: GroupTree, variances: Sequence[Fraction | None]) -> None:
        self.tree, self._variances = tree, variances
        self._weights_of_path: dict[tuple[int, ...], ErrorWeights] = {}
        assert variances[0] is not None
        leaf = _Shape(0, (), variances[0], Fraction(1))
        self._shapes = [leaf]
        self._shape_of = [[0] * tree.sizes[0]]  # for each level and group
        places: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        for level, groups in enumerate(tree.children, 1):
            shape_of = []
            for children in groups:
                counts = Counter(self._shape_of[-1][child] for child in children)
                below = tuple(sorted(counts.items()))
                place = places.setdefault((level, below), len(self._shapes))
                if place == len(self._shapes):
                    self._shapes.append(self._shape(level, below))
                shape_of.append(place)
            self._shape_of.append(shape_of)

    def _shape(self, level: int, below: tuple[tuple[int, int], ...]) -> _Shape:
        sum_variance = sum((count * self._shapes[at].variance for at, count in below), Fraction(0))
        noise_variance = self._variances[level]
        weight = (
            Fraction(0)
            if noise_variance is None
            else sum_variance / (sum_variance + noise_variance)
        )
        return _Shape(level, below, (1 - weight) * sum_variance, weight)

    def variance(self, level: int, group: int) -> Fraction:
        """The variance of the estimate of a group from its own draw and those below it."""
        return self._shapes[self._shape_of[level][group]].variance

    def estimates(self, drawn: Drawn) -> list[list[Fraction]]:
        """For each level the estimates of its groups: those of the parts add up to the whole."""
        lowest = drawn[0]
        assert lowest is not None
        upward = [list(map(Fraction, lowest))]
        for level, groups in enumerate(self.tree.children, 1):
            numbers, values = drawn[level], []
            for group, children in enumerate(groups):
                total = sum((upward[-1][child] for child in children), Fraction(0))
                if numbers is not None:
                    weight = self._shapes[self._shape_of[level][group]].own_weight
                    total += weight * (numbers[group] - total)
                values.append(total)
            upward.append(values)
        estimates = [upward[-1]]
        for level in reversed(range(len(self.tree.parents))):
            values = upward[level]
            for children, whole in zip(self.tree.children[level], estimates[0], strict=True):
                excess = whole - sum((values[child] for child in children), Fraction(0))
                variances = [self.variance(level, child) for child in children]
                total = sum(variances, Fraction(0))
                for child, variance in zip(children, variances, strict=True):
                    values[child] += excess * variance / total
            estimates.insert(0, values)
        return estimates

    def whole(self, estimates: Sequence[Sequence[Fraction]], least: int | None) -> list[list[int]]:
        """Whole numbers close to the estimates that add up as well, none of them below `least`.

        From the top down: the parts of a group are the closest numbers, by weighted least squares,
        that add up to it, rounded by the largest remainders.
        """
        (top,) = estimates[-1]
        values = [[_bounded(_nearest(top), least)]]
        for level in reversed(range(len(self.tree.parents))):
            parts = [0] * len(estimates[level])
            for children, whole in zip(self.tree.children[level], values[0], strict=True):
                targets = [estimates[level][child] for child in children]
                variances = [self.variance(level, child) for child in children]
                for child, part in zip(
                    children, divided(whole, targets, variances, least), strict=True
                ):
                    parts[child] = part
            values.insert(0, parts)
        return values

    def error_weights(self, level: int, group: int) -> ErrorWeights:
        """The error of an estimate as a weighted sum of the noises of all draws."""
        path = [self._shape_of[level][group]]
        for parents, shape_of in zip(
            self.tree.parents[level:], self._shape_of[level + 1 :], strict=True
        ):
            group = parents[group]
            path.append(shape_of[group])
        return self._error_weights(tuple(path))

    def _error_weights(self, path: tuple[int, ...]) -> ErrorWeights:
        """The weights for a group of this shape, below groups of these shapes."""
        if path in self._weights_of_path:
            return self._weights_of_path[path]
        # The estimate is a sum over the path: of each group its estimate from below, and of its
        # siblings theirs, with a factor that shrinks from step to step.
        factors, own_weights, sibling_weights = [Fraction(1)], list[Fraction](), list[Fraction]()
        for at, above in pairwise(path):
            whole = sum(
                (n * self._shapes[part].variance for part, n in self._shapes[above].below),
                Fraction(0),
            )
            share = self._shapes[at].variance / whole
            own_weights.append(factors[-1] * (1 - share))
            sibling_weights.append(-factors[-1] * share)
            factors.append(factors[-1] * share)
        own_weights.append(factors[-1])
        weights: Counter[tuple[int, Fraction]] = Counter()
        inherited = Fraction(0)  # what the estimate from below of the group above hands down
        for step in reversed(range(len(path))):
            shape = self._shapes[path[step]]
            total = own_weights[step] + inherited
            if step == 0:
                self._add(weights, path[0], total, 1)
                break
            weights[shape.level, total * shape.own_weight] += 1
            inherited = total * (1 - shape.own_weight)
            for part, count in shape.below:
                siblings = count - (part == path[step - 1])
                self._add(weights, part, inherited + sibling_weights[step - 1], siblings)
        path_weights = {key: count for key, count in weights.items() if key[1] and count}
        self._weights_of_path[path] = path_weights
        return path_weights

    def _add(
        self, weights: Counter[tuple[int, Fraction]], shape: int, factor: Fraction, count: int
    ) -> None:
        """Add the draws below some groups of one shape, times a factor."""
        if not factor or not count:
            return
        _, below, _, own_weight = self._shapes[shape]
        weights[self._shapes[shape].level, factor * own_weight] += count
        for part, times in below:
            self._add(weights, part, factor * (1 - own_weight), count * times)


def divided(
    whole: int, targets: Sequence[Fraction], variances: Sequence[Fraction], least: int | None
) -> list[int]:
    """Whole numbers that add up to `whole`: those closest to the targets by least squares weighted
    with the inverse variances, none of them below `least`, rounded by the largest remainders.
    """
    if not targets:
        return []
    shift = 0 if least is None else least
    reduced = [target - shift for target in targets]
    spare = Fraction(whole - shift * len(targets))
    # All rise by the same multiple of their variance; those that would be too small stop there.
    order = sorted(range(len(targets)), key=lambda i: -reduced[i] / variances[i])
    rise, total, variance = Fraction(0), Fraction(0), Fraction(0)
    for place, i in enumerate(order):
        total, variance = total + reduced[i], variance + variances[i]
        rise = (spare - total) / variance
        after = order[place + 1 : place + 2]
        if least is not None and all(rise <= -reduced[j] / variances[j] for j in after):
            break
    parts = [value + rise * each for value, each in zip(reduced, variances, strict=True)]
    parts = parts if least is None else [max(Fraction(0), part) for part in parts]
    floors = list(map(math.floor, parts))
    missing = int(spare) - sum(floors)
    remainders = sorted(range(len(parts)), key=lambda i: floors[i] - parts[i])
    for i in remainders[:missing]:
        floors[i] += 1
    return [part + shift for part in floors]


def _nearest(number: Fraction) -> int:
    return math.floor(number + Fraction(1, 2))


def _bounded(number: int, least: int | None) -> int:
    return number if least is None else max(least, number)
