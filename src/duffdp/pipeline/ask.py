"""One release as it is asked for, and the same after all checks that need no data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from duffdp.domain import Categories, Digits, Grid, Ordered, Presence, PublicSet
from duffdp.domain.default_step import StepRule, default_grid
from duffdp.engines.keys import load_keys
from duffdp.engines.selection import Selection, select
from duffdp.errors import BoundsError, DuffError
from duffdp.pipeline.recipe import Recipe, make_recipe, recipe
from duffdp.statistics.entry import Column, Entry, Finish

EVERYTHING = Selection()
NOTHING = (None,) * 7


@dataclass(slots=True, kw_only=True)  # not frozen: each field would cost a call of a setter
class Ask:
    """One release: a statistic by name (or an object with `steps`), its parameters, and what all
    statistics take.

    Fields mean what the arguments of `duffdp.median` of the same name mean. Nothing is checked yet.
    """

    statistic: Any
    epsilon: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)
    bounds: Any = None
    step: Any = None
    categories: Iterable[Any] | None = None
    column: str | None = None
    by: Any = None
    keys: Any = None
    margin: Any = None
    where: Any = None
    unit: str | None = None
    contributions: Any = 1
    groups_per_person: Any = None
    suppress_below: Any = None
    interval: Any = None
    covers: Any = "data"
    simultaneous: Any = False
    mechanism: str = "best"
    name: str = ""

    def check(self) -> Checked:
        """All that can be checked without data."""
        given = (
            self.statistic,
            tuple([_Typed((name, _hashable(value))) for name, value in self.parameters.items()]),
            self.mechanism,
            self.epsilon,
            self.unit,
            self.contributions,
            self.interval,
            self.covers,
            self.simultaneous,
            self.groups_per_person,
            self.suppress_below,
        )
        made = _recipe(given)
        domain = self._domain(made)
        known = self.step is not None or isinstance(self.bounds, Ordered) or made.entry.of_pairs
        known = known or not isinstance(domain, Grid)
        if made.entry.check_domain is not None and (known or domain.kind in ("date", "datetime")):
            made.entry.check_domain(made.given, domain)  # else once the step is known
        pair = self._pair(made) if made.entry.of_pairs else None
        if self.by is None:
            self._refuse_without_groups()
        listed = self.keys is None or isinstance(self.keys, list)
        keys = self.keys if listed else load_keys(self.by, self.keys)
        rows = (self.column, self.by, keys, self.unit)
        if (*rows, pair, self.margin, self.where) == NOTHING:
            return Checked(self, made, EVERYTHING, domain)
        selection = select(*rows, made.unit.contributions, pair, self.margin, self.where)
        together = made.interval is not None and made.interval.simultaneous
        if together or made.unit.groups_per_person is not None:
            made = _recipe((*given, max(1, len(selection.groups.keys))))
            selection = selection._replace(groups_per_person=made.unit.groups_per_person)
        return Checked(self, made, selection, domain)

    def _refuse_without_groups(self) -> None:
        """What is about groups needs some."""
        given = {"groups_per_person": self.groups_per_person, "suppress_below": self.suppress_below}
        for name, value in given.items():
            if value is not None:
                raise DuffError(
                    f"{name}={value} needs by, the columns that form groups. Pass "
                    'for example by="region".'
                )

    def _pair(self, made: Recipe) -> tuple[str, str] | None:
        """The names of the two columns, if they are columns of a table."""
        name, x, y = made.entry.name, made.given["x"], made.given["y"]
        if self.column is not None:
            raise DuffError(f"{name} takes no column, got {self.column!r:.60}. Pass x and y.")
        if x is not None and y is not None and x != y:
            return x, y
        if x is not None or y is not None:
            raise DuffError(
                f"x and y must be two different columns, got x={x!r} and y={y!r}. Pass for example "
                'x="height" and y="weight".'
            )
        if (self.by, self.keys, self.unit, self.where) != (None,) * 4:
            raise DuffError(
                "by, keys, where and unit need a table. Pass the names of its columns as x and y, "
                "and the table as data."
            )
        return None

    def _domain(self, made: Recipe) -> PublicSet:
        """The public outputs as far as they are known before the type of the column is."""
        if made.entry.outputs == "counts":
            return Grid(0, made.parts[0][0].statistic.most, 1)
        if made.entry.own_domain is not None:
            return self._own_domain(made)
        if made.entry.outputs == "grid" and self.categories is not None:
            raise BoundsError(
                f"categories are for modes and the like, got them for {made.statistic}. Pass "
                "bounds."
            )
        if made.entry.outputs == "grid or categories" and (self.categories is None) == (
            self.bounds is None
        ):
            given = "neither" if self.bounds is None else "both"
            raise BoundsError(
                f"{made.entry.name} needs either categories or bounds, got {given}. "
                'Pass for example categories=["yes", "no"].'
            )
        if self.categories is not None:
            return as_categories(self.categories)
        return even(made.entry, bounded(self.bounds, self.step, made.step_rule))

    def _own_domain(self, made: Recipe) -> PublicSet:
        """The public outputs of a statistic that makes them of its parameters."""
        for name in ("bounds", "step", "categories"):
            listed = name == "categories" and made.entry.outputs == "own or categories"
            given = getattr(self, name)
            if given is not None and not listed and name not in made.entry.read:
                raise BoundsError(
                    f"{made.entry.name} takes no {name}, got {name}={given!r:.60}. Leave it out."
                )
        assert made.entry.own_domain is not None
        own = made.entry.own_domain(made.given)
        if made.entry.outputs == "own or categories":
            if (own is None) == (self.categories is None):
                given = "neither" if own is None else "both"
                raise BoundsError(
                    f"{made.entry.name} needs either bins or categories, got {given}. "
                    "Pass for example bins=[0, 18, 65, 120]."
                )
            own = own or as_categories(self.categories)
        assert own is not None
        # Where no column is named, rows are counted.
        return Presence(rows=self.column is None) if isinstance(own, Presence) else own

    @property
    def title(self) -> str:
        """Its name, or what it is: the statistic, of which column, by what."""
        if self.name:
            return self.name
        made = self.check()
        names = made.selection.groups.by
        by = f" by {', '.join(names)}" if names else ""
        of = f" of {self.column}" if self.column is not None else ""
        said = made.recipe.entry.title(made.recipe.statistic.parameters)
        return f"{said[0].lower()}{said[1:]}{of}{by}"


def _recipe(given: tuple[Any, ...]) -> Recipe:
    try:
        return recipe(*given)
    except TypeError:  # something unhashable among them: let the checks say what is wrong
        return make_recipe(*given)


def _hashable(value: Any) -> Any:
    """Several numbers as a tuple: recipes are kept by what was asked for."""
    if type(value) is np.ndarray and value.ndim == 1 and value.dtype in (np.float64, np.int64):
        value = value.tolist()
    return _Typed(value) if type(value) in (list, tuple) else value


class _Typed(tuple[Any, ...]):
    """A tuple that equals no other one with numbers of another type."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        alike = isinstance(other, _Typed) and list(map(type, self)) == list(map(type, other))
        return alike and tuple.__eq__(self, other)

    def __hash__(self) -> int:
        return tuple.__hash__(self)


class Checked(NamedTuple):
    """A release whose parameters are in order; no data have been looked at."""

    ask: Ask
    recipe: Recipe
    selection: Selection
    domain: PublicSet

    @property
    def finish(self) -> Finish | None:
        """What is made of the numbers that are drawn, if they are not released as they are."""
        made = self.recipe.finish
        chosen = self.ask.step is not None or isinstance(self.ask.bounds, Ordered)
        return made if made is None or not chosen else made.on_step or made

    @property
    def columns(self) -> tuple[Column, ...]:
        """What is released for every group."""
        made = self.finish
        return self.recipe.columns if made is None else made.columns(self.domain)

    def domain_for(self, integer: bool, untyped: bool) -> PublicSet:
        """The public outputs for a column of this type, or for records without one."""
        domain = self.domain
        if (
            self.ask.step is not None
            or self.recipe.entry.of_pairs  # a slope of whole numbers is none
            or not isinstance(domain, Grid)
            or isinstance(self.ask.bounds, Grid)
        ):
            return domain
        if integer or untyped:
            domain = bounded(self.ask.bounds, None, self.recipe.step_rule, integer, untyped)
        if self.recipe.entry.check_domain is not None:
            self.recipe.entry.check_domain(self.recipe.given, domain)
        return domain


def as_categories(given: Any) -> Categories:
    """Categories as they are, or made of a list."""
    return given if isinstance(given, Categories) else Categories(given)


def settled(made: Recipe, domain: PublicSet) -> Recipe:
    """The recipe for this domain: by how many candidates it has, which is public."""
    return made if made.coarse is None or domain.size > made.coarse_size else made.coarse


def even(entry: Entry, domain: Ordered) -> Ordered:
    """The candidates, if the statistic can do with the distances between them."""
    if isinstance(domain, Digits) and not entry.uneven:
        raise BoundsError(
            f"{entry.name} needs evenly spaced candidates, got {domain!r}. Pass bounds, for "
            "example bounds=(0, 1000), or ask for a median or quantiles."
        )
    return domain


def bounded(
    bounds: Any, step: Any, rule: StepRule, whole: bool = False, untyped: bool = False
) -> Ordered:
    """The candidates for a pair of bounds; without a step, by what is asked of records and whether
    their type is one of whole numbers, or none.
    """
    if isinstance(bounds, Ordered):
        if step is not None:
            what = "a grid, which has its step" if isinstance(bounds, Grid) else f"{bounds!r}"
            raise BoundsError(f"bounds are {what}, got step={step!r} as well. Leave it out.")
        return bounds
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        given = "none" if bounds is None else repr(bounds)
        digits = ", or bounds=duffdp.Digits(3) where nobody knows them" * (rule == "order")
        raise BoundsError(
            f"bounds must be a pair (lower, upper) known without the data, got {given}. "
            f"Pass for example bounds=(0, 120){digits}."
        ) from None
    try:
        return _grid(lower, upper, step, rule, whole, untyped)
    except TypeError:  # something unhashable among them: let the grid say what is wrong
        return Grid(lower, upper, step)


@lru_cache(maxsize=256, typed=True)
def _grid(lower: Any, upper: Any, step: Any, rule: StepRule, whole: bool, untyped: bool) -> Grid:
    if step is not None:
        return Grid(lower, upper, step)
    return default_grid(lower, upper, rule, whole, untyped)
