"""What a plan would give, for the page: numbers from exact laws and public facts alone."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from duffdp.domain import Categories, Membership
from duffdp.errors import DuffError
from duffdp.pipeline.ask import Ask
from duffdp.pipeline.columnar import TOO_FEW
from duffdp.pipeline.table_plan import TablePlan
from duffdp.planning.accuracy import MOST
from duffdp.planning.outcomes import NoLaw
from duffdp.planning.outlook import Likeness, Outlook
from duffdp.planning.shapes import SHAPES
from duffdp.studio import pictures
from duffdp.studio.folder import ColumnType
from duffdp.studio.form import ColumnFields, FieldError, Form
from duffdp.studio.numbers import rounded

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of the curve, whatever the plan's own is
FEW_EPSILONS = (0.03, 0.3, 3.0)  # where every point takes a simulation
SIZES, FEW_SIZES = (10, 100, 1_000, 10_000, 100_000), (100, 1_000, 10_000)
OFTEN = 0.95
DRAWS = 40  # of a simulation
CURVE_POINTS = 2**7  # of a law, where nobody reads more than a picture tells
KEPT = 48  # releases whose laws are remembered
SAMPLE = "sample"  # the shape of records that the user brings
CATEGORIES_NOTE = "how often it is right depends on how clear the answer is"


class Line(NamedTuple):
    """One number of the table: its place in the menu, what it is, what it costs and how it errs;
    texts with their units, None for what is not known.
    """

    key: str
    title: str
    epsilon: str
    within: str | None
    width: str | None
    note: str | None


@dataclass(frozen=True, slots=True)
class Expected:
    """All that the page says of a plan."""

    lines: list[Line]
    look: str
    headline: str
    used: list[str]
    pictures: dict[str, str]
    waiting: bool  # for a simulation that is not made yet


class Measure(NamedTuple):
    """One number of one release, with all that is known of it."""

    ask: Ask
    outlook: Outlook
    output: int
    title: str
    unit: str


class Expectations:
    """The outlooks of releases, remembered from one change of the form to the next."""

    def __init__(self) -> None:
        self._outlooks: OrderedDict[str, Outlook] = OrderedDict()
        self._samples: dict[str, Any] = {}

    def add_sample(self, column: str, records: Any) -> None:
        """Public records that stand for those of a column."""
        self._samples[column] = records
        self._outlooks.clear()

    def has_sample(self, column: str) -> bool:
        """Whether the user brought one."""
        return column in self._samples

    def of(
        self,
        form: Form,
        plan: TablePlan,
        columns: Mapping[str, ColumnType],
        simulate: bool,
        left: float | None = None,
        gone: Callable[[], bool] = lambda: False,
    ) -> Expected:
        """What to say of a plan, and of what is left of a budget; what has to be simulated is left
        out unless it may be. Given up when whoever asked has gone.
        """
        size, draws = form.group_size(), DRAWS if simulate else 0
        lines: list[Line] = []
        measures: dict[str, Measure] = {}
        waiting = False
        for ask in plan.plan.asks:
            if ask.margin is not None:
                continue
            try:
                outlook = self._outlook(ask, form, columns)
                found = _measures(ask, outlook, form)
            except DuffError as error:
                lines.append(_without(ask, str(error)))
                continue
            for one in found:
                _check(gone)
                key = f"{ask.title}/{one.output}"
                try:
                    lines.append(_line(key, one, size, draws))
                    measures[key] = one
                except NoLaw:
                    waiting = True
                    measures[key] = one
                    lines.append(_without(ask, "is being simulated", key, one.title))
                except DuffError as error:
                    lines.append(_without(ask, str(error)))
        look = _chosen(form.look, measures)
        made: dict[str, str] = {}
        said = ""
        if look in measures:
            try:
                one = measures[look]
                made, said = self._pictures(form, plan, one, size, draws, left, gone)
            except NoLaw:
                waiting = True
        return Expected(lines, look, said, self._used(form, size), made, waiting)

    def find_epsilon(self, form: Form, plan: TablePlan, columns: Mapping[str, ColumnType]) -> float:
        """The least epsilon of the whole table for which one of its numbers is accurate enough."""
        error, often = form.wanted()
        size = form.group_size()
        measures: dict[str, Measure] = {}
        for ask in plan.plan.asks:
            if ask.margin is None and form.look.startswith(f"{ask.title}/"):
                outlook = self._outlook(ask, form, columns)
                measures |= {f"{ask.title}/{m.output}": m for m in _measures(ask, outlook, form)}
        if form.look not in measures:
            raise FieldError("look", "choose the number that has to be accurate.")
        one = measures[form.look]
        found = one.outlook.least_epsilon(error, often, size, one.output, DRAWS)
        if found is None:
            raise FieldError(
                "within",
                f"no epsilon keeps {one.title} within {rounded(error)} {one.unit} for {size:,} "
                f"{_people(form)}. Allow a larger error, or a smaller step.",
            )
        total = found * float(plan.plan.epsilon / one.ask.epsilon)
        return _rounded_up(total)

    def _outlook(self, ask: Ask, form: Form, columns: Mapping[str, ColumnType]) -> Outlook:
        like = self._likeness(ask, form, columns)
        bare = replace(ask, epsilon=Fraction(1), by=None, keys=None, where=None, name="")
        key = repr((bare, like))
        if key not in self._outlooks:
            while len(self._outlooks) >= KEPT:
                self._outlooks.popitem(last=False)
            self._outlooks[key] = Outlook(bare, like)
        self._outlooks.move_to_end(key)
        return self._outlooks[key]

    def _likeness(self, ask: Ask, form: Form, columns: Mapping[str, ColumnType]) -> Likeness:
        fields = _fields(form, ask.column)
        if fields is None or isinstance(ask.check().domain, Categories):
            return Likeness()
        kind = columns[fields.name].kind if fields.name in columns else "any"
        integer, untyped = kind == "whole", kind == "any"
        if fields.shape == SAMPLE:
            if fields.name not in self._samples:
                raise DuffError("load the public sample, or choose a shape.")
            sample = self._samples[fields.name]
            return Likeness(fields.name, sample=sample, integer=integer, untyped=untyped)
        if fields.shape not in SHAPES:
            raise DuffError(f"a shape is one of {', '.join(SHAPES)}.")
        return Likeness(fields.shape, _ends(ask, fields), integer=integer, untyped=untyped)

    def _pictures(
        self,
        form: Form,
        plan: TablePlan,
        one: Measure,
        size: int,
        draws: int,
        left: float | None,
        gone: Callable[[], bool],
    ) -> tuple[dict[str, str], str]:
        share = one.ask.epsilon / plan.plan.epsilon
        people = _people(form)

        def error(epsilon: Fraction, many: int) -> float:
            _check(gone)
            return one.outlook.within(epsilon, many, OFTEN, one.output, draws, CURVE_POINTS)

        law = one.outlook.errors(one.ask.epsilon, size, draws)
        now = one.outlook.within(one.ask.epsilon, size, OFTEN, one.output, draws)
        simulated = law.draws > 0
        total = float(plan.plan.epsilon)
        epsilons = FEW_EPSILONS if simulated else EPSILONS
        by_epsilon = [(e, error(Fraction(str(e)) * share, size)) for e in epsilons]
        by_epsilon = sorted([*by_epsilon, *([(total, now)] if total not in epsilons else [])])
        sizes = FEW_SIZES if simulated else SIZES
        by_size = [(float(many), error(one.ask.epsilon, many)) for many in sizes]
        by_size = sorted([*by_size, *([(float(size), now)] if size not in sizes else [])])
        sampling = one.outlook.sampling_error(size, one.output)
        around = [
            (many, said)
            for many, _ in by_size
            if (said := one.outlook.sampling_error(int(many), one.output)) is not None
        ]
        errors = law.errors[one.output]
        dots = [errors.deviation((i + 0.5) / pictures.DOTS) for i in range(pictures.DOTS)]
        headline = (
            f"{one.title}: in 95 of 100 releases within {rounded(now)} {one.unit} of the exact "
            f"answer, for {size:,} {people}."
        )
        if sampling:
            headline += f" Sampling alone is off by {rounded(sampling)} {one.unit}."
        if simulated:
            headline += f" Simulated with {draws} draws; rough."
        return {
            "epsilon": pictures.error_by_epsilon(
                by_epsilon, (total, now), sampling, one.unit, left
            ),
            "dots": pictures.twenty_dots(dots, one.unit),
            "size": pictures.error_by_size(by_size, (size, now), around, one.unit, people),
        }, headline

    def _used(self, form: Form, size: int) -> list[str]:
        """What the numbers were made of, in words."""
        said = [
            f"{column.name}: "
            + (
                "the PUBLIC sample that you loaded, which is not protected"
                if column.shape == SAMPLE
                else f"shape “{column.shape}” between the bounds"
            )
            for column in form.columns
            if column.statistics and not column.categories
        ]
        said += [
            f"{column.name}: all categories taken to be equally common"
            for column in form.columns
            if column.statistics and column.categories
        ]
        return [*said, f"groups of {size:,} {_people(form)}"]


def _check(gone: Callable[[], bool]) -> None:
    if gone():
        raise DuffError("nobody waits for this answer.")


def _people(form: Form) -> str:
    """What is counted."""
    return "people" if form.person and form.contributions == "1" else "rows"


def _fields(form: Form, column: str | None) -> ColumnFields | None:
    return next((one for one in form.columns if one.name == column), None)


def _ends(ask: Ask, fields: ColumnFields) -> tuple[float, float]:
    """Between which public numbers the records of a shape lie: the bounds, or what stands in
    their place.
    """
    given: list[Any] = [fields.lower, fields.upper]
    if not all(given):
        edges = ask.parameters.get("bins") or ask.parameters.get("between") or ()
        given = [edge for edge in edges if isinstance(edge, int | float) and math.isfinite(edge)]
    try:
        low, high = float(given[0]), float(given[-1])
    except (ValueError, IndexError, TypeError):
        raise DuffError("no shape stands for this column without bounds that are numbers") from None
    return low, high


def _measures(ask: Ask, outlook: Outlook, form: Form) -> list[Measure]:
    """The numbers of a release."""
    outputs = outlook.outputs
    checked = ask.check()
    if isinstance(checked.domain, Categories) and outputs[0].kind == "candidate":
        raise DuffError(CATEGORIES_NOTE)
    fields = _fields(form, ask.column)
    title = checked.recipe.entry.title(checked.recipe.statistic.parameters)
    of = f" of {ask.column}" if ask.column is not None else ""
    found = []
    for place, column in enumerate(outputs):
        if isinstance(checked.domain, Membership):
            unit = "(as a share of 1)"
        elif column.kind == "count":
            unit = _people(form)
        else:
            unit = (fields.unit if fields else "") or f"units of {ask.column}"
            unit = f"({unit})²" if checked.recipe.entry.name == "variance" else unit
        several = f", {column.name}" if len(outputs) > 1 else ""
        found.append(Measure(ask, outlook, place, f"{title}{of}{several}", unit))
    return found


def _line(key: str, one: Measure, size: int, draws: int) -> Line:
    within = one.outlook.within(one.ask.epsilon, size, OFTEN, one.output, draws)
    known = one.outlook.intervals(one.ask.epsilon, size, draws)
    width = None
    if known.widths:
        few = known.too_few[one.output] > MOST
        width = TOO_FEW if few else f"{rounded(known.widths[one.output])} {one.unit}"
    note = f"simulated, {known.draws} draws" if known.draws else None
    cost = rounded(float(one.ask.epsilon))
    return Line(key, one.title, cost, f"{rounded(within)} {one.unit}", width, note)


def _without(ask: Ask, note: str, key: str = "", title: str = "") -> Line:
    """A line without numbers, and why."""
    return Line(key, title or ask.title, rounded(float(ask.epsilon)), None, None, note)


def _chosen(look: str, measures: Mapping[str, Measure]) -> str:
    """The number that is looked at: the one that was chosen, else the first after the count."""
    if look in measures:
        return look
    return next((key for key in list(measures)[1:]), next(iter(measures), ""))


def _rounded_up(number: float) -> float:
    """Three digits, never too few epsilon."""
    scale = 10.0 ** (2 - math.floor(math.log10(number)))
    return float(f"{math.ceil(number * scale - 1e-9) / scale:.3g}")
