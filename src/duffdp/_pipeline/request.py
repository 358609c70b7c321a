"""One requested release, and the same release after all checks that need no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from duffdp._engines.keys import load_keys
from duffdp._engines.selection import Selection, select
from duffdp._engines.where import read_condition
from duffdp._facts import Facts
from duffdp._parameters import (
    BOUNDS,
    BY,
    CATEGORIES,
    COLUMN,
    FINDING,
    GROUPS_PER_PERSON,
    KEYS,
    LEVELS,
    MARGIN,
    MARGIN_SUMS,
    OTHER,
    STEP,
    SUPPRESS_BELOW,
    UNIT,
    WHERE,
    FoundKeys,
    Parameter,
    X,
    Y,
)
from duffdp._pipeline.draw_plan import DrawPlan, Terms
from duffdp.domain import Categories, Digits, Grid, Ordered, Pattern, Presence, PublicSet
from duffdp.domain.default_step import StepRule, default_grid
from duffdp.errors import UNSET, Argument, BoundsError, DuffError
from duffdp.statistics.program import OutputColumn, PostProcess
from duffdp.statistics.spec import StatisticSpec

ALL_RECORDS = Selection()
NO_SELECTION = (None,) * 7
MAX_PATTERN_CATEGORIES = 2**16  # of a pattern whose values are listed: a second or so


@dataclass(frozen=True, slots=True)
class ReleaseRequest:
    """One requested release: a statistic, by name or as an object with `steps`, and its options by
    their names. Nothing is checked yet.
    """

    statistic: Any
    options: Mapping[str, Any]
    name: str = ""

    def __getitem__(self, parameter: Parameter[Any]) -> Any:
        """The value of an option as it was passed, or its default."""
        value = self.options.get(parameter.name, parameter.default)
        return None if value is UNSET else value

    def replace(self, name: str | None = None, **options: Any) -> ReleaseRequest:
        """A copy of the request with other values for some options, and another name."""
        changed = {**self.options, **options}
        return ReleaseRequest(self.statistic, changed, self.name if name is None else name)

    def check(self) -> CheckedRequest:
        """All that can be checked without data."""
        terms = Terms.check(self.statistic, self.options)
        if not isinstance(self[WHERE], str | None):
            read_condition(self[WHERE])  # says what to pass: a mask cannot be compared with None
        spec = terms.spec
        domain = self._domain(terms)
        bounds = self[BOUNDS]
        final = self[STEP] is not None or isinstance(bounds, Ordered) or spec.of_pairs
        final = final or not isinstance(domain, Grid)
        if final or domain.kind in ("date", "datetime"):
            spec.check_domain(terms.parameters, domain)  # else once the step is known
        pair = self._pair(terms) if spec.of_pairs else None
        by, keys = self[BY], self[KEYS]
        if by is None:
            self._refuse_without_groups()
        if keys is not None and not isinstance(keys, list):
            keys = load_keys(by, keys)
        rows = (self[COLUMN], by, keys, self[UNIT])
        margin, where = self[MARGIN], self[WHERE]
        if (*rows, pair, margin, where) == NO_SELECTION:
            return CheckedRequest(self, terms, ALL_RECORDS, domain, terms.plan(domain))
        other, levels = OTHER.read(self[OTHER]), self[LEVELS]
        selection = select(*rows, terms.contributions, pair, margin, where, other, levels)
        selection = selection._replace(sums_leaves=self[MARGIN_SUMS])
        self._check_finding(terms, selection)
        plan = _plan_for(terms, domain, selection)
        selection = selection._replace(groups_per_person=plan.unit.groups_per_person)
        return CheckedRequest(self, terms, selection, domain, plan)

    def _check_finding(self, terms: Terms, selection: Selection) -> None:
        """Refuse what goes with keys that are found, or not with them."""
        if selection.universe is None:
            if terms.finding is not None:
                raise DuffError(
                    *(Argument("finding", float(terms.finding)), " is for keys of a pattern. "),
                    *("Leave it out, or pass for example ", Argument("keys"), " as a Pattern."),
                )
        elif terms.interval is not None and terms.interval.simultaneous:
            raise DuffError(
                *(
                    Argument("simultaneous", True),
                    " needs a known number of groups, and keys of a ",
                ),
                *("pattern are found. List the keys, or leave ", Argument("simultaneous")),
                " out.",
            )

    @property
    def title(self) -> str:
        """Its name, or what it is."""
        return self.check().title

    def _refuse_without_groups(self) -> None:
        """Refuse options about groups if there are none."""
        for parameter in (GROUPS_PER_PERSON, SUPPRESS_BELOW, OTHER, FINDING, LEVELS):
            value = self[parameter]
            if value is not None:
                fix = ", the columns that form groups. Pass for example "
                raise DuffError(
                    *(Argument(parameter.name, value), " needs ", Argument("by"), fix),
                    *(Argument("by", "region"), "."),
                )

    def _pair(self, terms: Terms) -> tuple[str, str] | None:
        """The names of the two columns, if they are columns of a table."""
        name, x, y = terms.spec.name, X.of(terms.parameters), Y.of(terms.parameters)
        if self[COLUMN] is not None:
            raise DuffError(
                *(f"{name} takes no ", Argument("column"), f", got {self[COLUMN]!r:.60}. Pass "),
                *(Argument("x"), " and ", Argument("y"), "."),
            )
        if x is not None and y is not None and x != y:
            return x, y
        if x is not None or y is not None:
            raise DuffError(
                *(Argument("x"), " and ", Argument("y"), " must be two different columns, got "),
                f"{x!r} and {y!r}. Pass for example ",
                *(Argument("x", "height"), " and ", Argument("y", "weight"), "."),
            )
        if (self[BY], self[KEYS], self[UNIT], self[WHERE]) != (None,) * 4:
            raise DuffError(
                "by, keys, where and unit need a table. Pass the names of its columns as x and y, "
                "and the table as data."
            )
        return None

    def _domain(self, terms: Terms) -> PublicSet:
        """The public outputs as far as they are known before the type of the column is."""
        spec = terms.spec
        if spec.makes_domain:
            return self._own_domain(terms)
        bounds, step, categories = self[BOUNDS], self[STEP], self[CATEGORIES]
        if spec.outputs == "grid" and categories is not None:
            raise BoundsError(
                *(
                    Argument("categories"),
                    f" cannot be used with {spec.name}.",
                ),
                *(" Pass ", Argument("bounds"), "."),
            )
        if spec.outputs == "grid or categories" and (categories is None) == (bounds is None):
            either = "neither" if bounds is None else "both"
            raise BoundsError(
                *(f"{spec.name} needs either ", Argument("categories"), " or "),
                *(Argument("bounds"), f", got {either}. Pass for example "),
                *(Argument("categories", CATEGORIES.example), "."),
            )
        if categories is not None:
            if step is not None:
                raise BoundsError(
                    *(Argument("step"), " can only be used with ", Argument("bounds"), ", got "),
                    *(Argument("categories"), " and ", Argument("step", step)),
                    ". Leave one of them out.",
                )
            return as_categories(categories)
        return require_even_spacing(spec, grid_from_bounds(bounds, step, terms.step_rule))

    def _own_domain(self, terms: Terms) -> PublicSet:
        """The public outputs of a statistic that makes them of its parameters."""
        spec = terms.spec
        categories = self[CATEGORIES]
        for parameter in (BOUNDS, STEP, CATEGORIES):
            name, value = parameter.name, self[parameter]
            listed = parameter is CATEGORIES and spec.outputs == "own or categories"
            if value is not None and not listed and name not in spec.parameter_names:
                raise BoundsError(
                    *(f"{spec.name} takes no ", Argument(name), ", got ", Argument(name, value)),
                    ". Leave it out.",
                )
        assert spec.makes_domain
        domain = spec.own_domain(terms.parameters)
        if spec.outputs == "own or categories":
            if (domain is None) == (categories is None):
                either = "neither" if domain is None else "both"
                raise BoundsError(
                    *(f"{spec.name} needs either ", Argument("bins"), " or "),
                    *(Argument("categories"), f", got {either}. Pass for example "),
                    *(Argument("bins", [0, 18, 65, 120]), "."),
                )
            domain = domain or as_categories(categories)
        assert domain is not None
        # Where no column is named, rows are counted.
        return Presence(rows=self[COLUMN] is None) if isinstance(domain, Presence) else domain


class CheckedRequest(NamedTuple):
    """A release whose parameters passed all checks; no data has been read.

    `domain` is the public set as far as it is known before the type of the column is, and `plan`
    what would be drawn on it.
    """

    request: ReleaseRequest
    terms: Terms
    selection: Selection
    domain: PublicSet
    plan: DrawPlan

    @property
    def spec(self) -> StatisticSpec:
        """Specification of the statistic."""
        return self.terms.spec

    @property
    def title(self) -> str:
        """Its name, or what it is: the statistic, of which column, by what."""
        request, names = self.request, self.selection.groups.by
        if request.name:
            return request.name
        by = f" by {', '.join(names)}" if names else ""
        of = f" of {request[COLUMN]}" if request[COLUMN] is not None else ""
        title = self.spec.title(self.plan.statistic.parameters)
        return f"{title[0].lower()}{title[1:]}{of}{by}"

    def with_epsilon(self, epsilon: Fraction) -> CheckedRequest:
        """A copy of the release for another epsilon."""
        terms = replace(self.terms, epsilon=epsilon)
        changed = self._replace(request=self.request.replace(epsilon=epsilon), terms=terms)
        return changed._replace(plan=_plan_for(terms, self.domain, self.selection))

    def post_process(self, plan: DrawPlan) -> PostProcess | None:
        """Post-processing of the numbers of a plan, if they are not released as they are drawn."""
        post_process = plan.program.post_process
        if post_process is None or self.has_default_grid:
            return post_process
        return post_process.on_step or post_process

    @property
    def columns(self) -> tuple[OutputColumn, ...]:
        """The columns that are released for every group."""
        post_process = self.post_process(self.plan)
        return self.plan.columns if post_process is None else post_process.columns(self.domain)

    @property
    def has_default_grid(self) -> bool:
        """True if nobody chose the step, of answers or of what records count as."""
        return self.request[STEP] is None and not isinstance(self.request[BOUNDS], Ordered)

    @property
    def has_default_step(self) -> bool:
        """True if answers are candidates whose step nobody chose."""
        return self.has_default_grid and any(column.kind == "candidate" for column in self.columns)

    def plan_on(self, domain: PublicSet) -> DrawPlan:
        """The draws on the domain of a column whose type is known."""
        if domain is self.domain:
            return self.plan
        return _plan_for(self.terms, domain, self.selection)

    def facts(self, plan: DrawPlan, domain: PublicSet, secure: bool, sql: str | None) -> Facts:
        """Public facts about the release."""
        selection = self.selection
        return Facts(
            statistic=plan.statistic,
            mechanism=plan.mechanism,
            loss=plan.loss,
            unit=plan.unit,
            domain=domain,
            column=selection.column,
            by=selection.groups.by,
            keys=selection.groups.keys,
            secure=secure,
            interval=plan.interval,
            within=selection.within,
            where=None if selection.where is None else selection.where.text,
            sql=sql,
            suppression=plan.suppression,
            found=self._found(plan),
            other=selection.other,
            level=selection.level,
        )

    def _found(self, plan: DrawPlan) -> FoundKeys | None:
        """The way in which keys are found; None if they are listed."""
        universe, finding = self.selection.universe, plan.finding
        if universe is None:
            return None
        if finding is None:  # by another release of the call
            return FoundKeys(universe.parts, universe.size, 0, Fraction(0), False)
        is_margin = self.selection.groups.by != self.selection.names
        has_sizes = self.spec.size_column is not None or self.selection.other is not None
        beside_values = not has_sizes and not is_margin
        cost = (finding.threshold, finding.row_epsilon)
        return FoundKeys(universe.parts, universe.size, *cost, beside_values)

    def domain_for(self, integer: bool, untyped: bool, scale: int | None = None) -> PublicSet:
        """The public outputs for a column of this type, or for records without one; `scale` is
        the number of decimals that the type declares.
        """
        domain, bounds, spec = self.domain, self.request[BOUNDS], self.spec
        if (
            self.request[STEP] is not None
            or spec.of_pairs  # a slope of whole numbers is none
            or not isinstance(domain, Grid)
            or isinstance(bounds, Grid)
        ):
            return domain
        if integer or untyped or scale is not None:
            domain = grid_from_bounds(bounds, None, self.terms.step_rule, integer, untyped, scale)
        spec.check_domain(self.terms.parameters, domain)
        return domain


def _plan_for(terms: Terms, domain: PublicSet, selection: Selection) -> DrawPlan:
    """The draws for the groups of a selection."""
    if selection is ALL_RECORDS:
        return terms.plan(domain)
    universe, other = selection.universe, selection.other is not None
    groups = len(selection.groups.keys)
    if selection.sums_leaves:
        groups = selection.most_leaves
    elif universe is not None:
        groups = selection.most_leaves if selection.groups.by else 1
    return terms.plan(domain, max(1, groups), universe, other)


def as_categories(values: Any) -> Categories:
    """Categories as they are, or made of a list or of the keys of a small pattern."""
    if isinstance(values, Pattern):
        if values.size > MAX_PATTERN_CATEGORIES:
            raise BoundsError(
                *(
                    Argument("categories"),
                    f" can be at most {MAX_PATTERN_CATEGORIES:,} values, and ",
                ),
                f"{values!r:.80} has more. Count by this column instead, with ",
                *(Argument("keys"), " that are found."),
            )
        values = map(values.value, range(values.size))
    return values if isinstance(values, Categories) else Categories(values)


def require_even_spacing(entry: StatisticSpec, domain: Ordered) -> Ordered:
    """The candidates, if the statistic can do with the distances between them."""
    if isinstance(domain, Digits) and not entry.allows_uneven_grid:
        raise BoundsError(
            f"{entry.name} needs evenly spaced possible answers, got {domain!r}. Pass for example ",
            *(Argument("bounds", (0, 1000)), ", or ask for a median or quantiles."),
        )
    return domain


def grid_from_bounds(
    bounds: Any,
    step: Any,
    rule: StepRule,
    integer: bool = False,
    untyped: bool = False,
    scale: int | None = None,
) -> Ordered:
    """The candidates for a pair of bounds; without a step, by the kind of records and whether
    their type is one of whole numbers, or none.
    """
    if isinstance(bounds, Ordered):
        if step is not None:
            if isinstance(bounds, Digits):
                raise BoundsError(
                    *(Argument("digits", bounds.digits), " has no step, got "),
                    *(Argument("step", step), ". Leave it out."),
                )
            raise BoundsError(
                *(Argument("bounds"), " are a grid, which has its step, got "),
                *(Argument("step", step), " as well. Leave it out."),
            )
        return bounds
    if isinstance(bounds, Categories):
        raise BoundsError(
            *(Argument("bounds"), " must be a pair (lower, upper), got categories. Modes, shares "),
            *("and histograms take them as ", Argument("categories"), "."),
        )
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        digits: tuple[str | Argument, ...] = (".",)
        if rule == "order":
            digits = (", or ", Argument("digits", 3), " if nobody knows bounds.")
        problem: tuple[str | Argument, ...] = (
            *("the public ", Argument("bounds")),
            " are missing: the smallest and the largest plausible value, known without the data",
        )
        if bounds is not None:
            problem = (
                *(Argument("bounds"), " must be a pair (lower, upper) known without the data, "),
                f"got {bounds!r:.60}",
            )
        raise BoundsError(
            *(*problem, ". Pass for example ", Argument("bounds", BOUNDS.example), *digits)
        ) from None
    if step is not None:
        return Grid(lower, upper, step)
    return default_grid(lower, upper, rule, integer, untyped, scale)
