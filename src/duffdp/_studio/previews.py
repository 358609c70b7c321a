"""The expected errors of a plan, computed from public facts alone."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from duffdp._parameters import COLUMN, EPSILON, MARGIN
from duffdp._pipeline.number_text import TOO_FEW
from duffdp._pipeline.request import ReleaseRequest
from duffdp._planning.previews import MAX_TOO_FEW
from duffdp._planning.release_forecast import ReleaseForecast
from duffdp._planning.synthetic import SHAPES, SyntheticRecords
from duffdp._planning.table_plan import TablePlan
from duffdp._studio import charts
from duffdp._studio.choices import FORM
from duffdp._studio.folder import ColumnType
from duffdp._studio.form import ColumnFields, FieldError, StudioForm
from duffdp.domain import Categories, Floats, Membership
from duffdp.errors import DuffError
from duffdp.report.formats import rounded

_CURVE_EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of the curve, beside that of the plan
_SIZES = (10, 100, 1_000, 10_000, 100_000)
# Where every point of a curve takes a simulation.
_SIMULATED_EPSILONS, _SIMULATED_SIZES = (0.03, 0.3, 3.0), (100, 1_000, 10_000)
_PROBABILITY = 0.95  # with which an error is not exceeded
_DRAWS = 40  # of a simulation
_CURVE_POINTS = 2**7  # of a law: a quarter of the usual ones, enough for a curve
_MAX_CACHED = 48  # releases
_SAMPLE_SHAPE = "sample"  # the shape of records that the user brings
_CATEGORIES_NOTE = "not predictable: it depends on how clear the answer is"


class NumberPreview(NamedTuple):
    """One number of the table: its key in the menu, its description, its cost and its expected
    error, as texts with units.
    """

    key: str
    title: str
    epsilon: str
    within: str | None
    width: str | None
    note: str | None


@dataclass(frozen=True, slots=True)
class PlanPreview:
    """The expected errors of all numbers, and charts of the selected one."""

    numbers: list[NumberPreview]
    look: str
    headline: str
    assumptions: list[str]
    charts: dict[str, str]
    waiting: bool  # for a simulation that is yet to be made


EMPTY_PREVIEW = PlanPreview([], "", "", [], {}, False)


class _PlannedNumber(NamedTuple):
    """One number of one release, with the forecast of that release."""

    request: ReleaseRequest
    forecast: ReleaseForecast
    output: int
    title: str
    unit: str

    @property
    def key(self) -> str:
        return f"{self.request.title}/{self.output}"

    def waits_for_draws(self, draws: int) -> bool:
        """True if its errors take draws, and none are allowed."""
        return self.forecast.needs_draws and not draws


class PreviewCache:
    """The previews of plans; forecasts of releases are cached between changes of the form."""

    def __init__(self) -> None:
        self._forecasts: OrderedDict[str, ReleaseForecast] = OrderedDict()
        self._samples: dict[str, Floats] = {}

    def add_sample(self, column: str, records: Floats) -> None:
        """Use public records as a sample for a column."""
        self._samples[column] = records
        self._forecasts.clear()

    def has_sample(self, column: str) -> bool:
        """True if the user uploaded a sample."""
        return column in self._samples

    def preview(
        self,
        form: StudioForm,
        plan: TablePlan,
        columns: Mapping[str, ColumnType],
        simulate: bool,
        remaining: float | None = None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> PlanPreview:
        """The preview of a plan, with `remaining` epsilon in its budget.

        Without `simulate`, numbers that need a simulation are left out. The work stops with an
        error once it is cancelled.
        """
        size, draws = form.group_size(), _DRAWS if simulate else 0
        rows: list[NumberPreview] = []
        numbers: dict[str, _PlannedNumber] = {}
        waiting = False
        for request in plan.plan.requests:
            if request[MARGIN] is not None:
                continue
            try:
                forecast = self._forecast(request, form, columns)
                planned = _planned_numbers(request, forecast, form)
            except DuffError as error:
                rows.append(_without_errors(request, error.worded(FORM)))
                continue
            for number in planned:
                _check(is_cancelled)
                if number.waits_for_draws(draws):
                    waiting = True
                    numbers[number.key] = number
                    note = "simulating"
                    rows.append(_without_errors(request, note, number.key, number.title))
                    continue
                try:
                    rows.append(_with_errors(number, size, draws))
                    numbers[number.key] = number
                except DuffError as error:
                    rows.append(_without_errors(request, error.worded(FORM)))
        look = _number_to_show(form.look, numbers)
        pictures: dict[str, str] = {}
        headline = ""
        if look in numbers and not numbers[look].waits_for_draws(draws):
            pictures, headline = self._charts(
                form, plan, numbers[look], size, draws, remaining, is_cancelled
            )
        return PlanPreview(rows, look, headline, _assumptions(form, size), pictures, waiting)

    def find_epsilon(
        self, form: StudioForm, plan: TablePlan, columns: Mapping[str, ColumnType]
    ) -> float:
        """The smallest epsilon of the whole table for which one of its numbers is accurate
        enough.
        """
        error, probability = form.error_goal()
        size = form.group_size()
        numbers: dict[str, _PlannedNumber] = {}
        for request in plan.plan.requests:
            if request[MARGIN] is None and form.look.startswith(f"{request.title}/"):
                forecast = self._forecast(request, form, columns)
                numbers |= {
                    planned.key: planned for planned in _planned_numbers(request, forecast, form)
                }
        if form.look not in numbers:
            raise FieldError(
                "look", "select the number that must be accurate, in the table on the right."
            )
        number = numbers[form.look]
        epsilon = number.forecast.least_epsilon(error, probability, size, number.output, _DRAWS)
        if epsilon is None:
            raise FieldError(
                "within",
                f"no epsilon keeps {number.title} within {rounded(error)} {number.unit} for "
                f"{size:,} {_people(form)}. Allow a larger error, or type a smaller step.",
            )
        return _rounded_up(epsilon * float(plan.plan.epsilon / number.request[EPSILON]))

    def _forecast(
        self, request: ReleaseRequest, form: StudioForm, columns: Mapping[str, ColumnType]
    ) -> ReleaseForecast:
        records = self._records(request, form, columns)
        bare = request.replace(epsilon=Fraction(1), by=None, keys=None, where=None, name="")
        key = repr((bare, records))
        if key not in self._forecasts:
            while len(self._forecasts) >= _MAX_CACHED:
                self._forecasts.popitem(last=False)
            self._forecasts[key] = ReleaseForecast(bare, records)
        self._forecasts.move_to_end(key)
        return self._forecasts[key]

    def _records(
        self, request: ReleaseRequest, form: StudioForm, columns: Mapping[str, ColumnType]
    ) -> SyntheticRecords:
        fields = _fields(form, request[COLUMN])
        if fields is None or isinstance(request.check().domain, Categories):
            return SyntheticRecords()
        kind = columns[fields.name].kind if fields.name in columns else "any"
        integer, untyped = kind == "whole", kind == "any"
        if fields.shape == _SAMPLE_SHAPE:
            if fields.name not in self._samples:
                raise DuffError(
                    "the public sample is missing. Load it, or choose another distribution."
                )
            sample = self._samples[fields.name]
            return SyntheticRecords(fields.name, sample=sample, integer=integer, untyped=untyped)
        if fields.shape not in SHAPES:
            raise DuffError(f"the distribution must be one of {', '.join(SHAPES)}.")
        return SyntheticRecords(
            fields.shape, _shape_range(request, fields), integer=integer, untyped=untyped
        )

    def _charts(
        self,
        form: StudioForm,
        plan: TablePlan,
        number: _PlannedNumber,
        size: int,
        draws: int,
        remaining: float | None,
        is_cancelled: Callable[[], bool],
    ) -> tuple[dict[str, str], str]:
        """The charts of one number, and what they say in one sentence."""
        request, forecast, output, title, unit = number
        share = request[EPSILON] / plan.plan.epsilon
        people = _people(form)

        def error(epsilon: Fraction, records: int) -> float:
            _check(is_cancelled)
            return forecast.within(epsilon, records, _PROBABILITY, output, draws, _CURVE_POINTS)

        expected = forecast.errors(request[EPSILON], size, draws)
        now = forecast.within(request[EPSILON], size, _PROBABILITY, output, draws)
        simulated = expected.draws > 0
        total = float(plan.plan.epsilon)
        epsilons = _SIMULATED_EPSILONS if simulated else _CURVE_EPSILONS
        by_epsilon = [(e, error(Fraction(str(e)) * share, size)) for e in epsilons]
        by_epsilon = sorted([*by_epsilon, *([(total, now)] if total not in epsilons else [])])
        sizes = _SIMULATED_SIZES if simulated else _SIZES
        by_size = [(float(records), error(request[EPSILON], records)) for records in sizes]
        by_size = sorted([*by_size, *([(float(size), now)] if size not in sizes else [])])
        sampling = forecast.sampling_error(size, output)
        sampling_by_size = [
            (records, sampling_error)
            for records, _ in by_size
            if (sampling_error := forecast.sampling_error(int(records), output)) is not None
        ]
        law = expected.errors[output]
        dots = [law.deviation((i + 0.5) / charts.DOTS) for i in range(charts.DOTS)]
        headline = (
            f"{title}: in 95 of 100 releases within {rounded(now)} {unit} of the exact answer, for "
            f"{size:,} {people}."
        )
        if sampling:
            headline += f" The sampling error alone is {rounded(sampling)} {unit}."
        if simulated:
            headline += f" This is a rough estimate from {draws} simulated releases."
        return {
            "epsilon": charts.error_by_epsilon(by_epsilon, (total, now), sampling, unit, remaining),
            "dots": charts.twenty_dots(dots, unit),
            "size": charts.error_by_size(by_size, (size, now), sampling_by_size, unit, people),
        }, headline


def _check(is_cancelled: Callable[[], bool]) -> None:
    if is_cancelled():
        raise DuffError("this preview is no longer needed.")


def _people(form: StudioForm) -> str:
    """The unit that is counted."""
    return "people" if form.person and form.contributions == "1" else "rows"


def _fields(form: StudioForm, column: str | None) -> ColumnFields | None:
    return next((fields for fields in form.columns if fields.name == column), None)


def _shape_range(request: ReleaseRequest, fields: ColumnFields) -> tuple[float, float]:
    """The public range of records of a shape: the bounds, or the ends of bins."""
    ends: list[Any] = [fields.lower, fields.upper]
    if not all(ends):
        edges = request.options.get("bins") or request.options.get("between") or ()
        ends = [edge for edge in edges if isinstance(edge, int | float) and math.isfinite(edge)]
    try:
        low, high = float(ends[0]), float(ends[-1])
    except (ValueError, IndexError, TypeError):
        raise DuffError("no preview: the bounds of this column are not numbers") from None
    return low, high


def _planned_numbers(
    request: ReleaseRequest, forecast: ReleaseForecast, form: StudioForm
) -> list[_PlannedNumber]:
    """The numbers of a release."""
    outputs = forecast.outputs
    checked = request.check()
    if isinstance(checked.domain, Categories) and outputs[0].kind == "candidate":
        raise DuffError(_CATEGORIES_NOTE)
    fields = _fields(form, request[COLUMN])
    title = checked.spec.title(checked.plan.statistic.parameters)
    of = f" of {request[COLUMN]}" if request[COLUMN] is not None else ""
    numbers = []
    for place, column in enumerate(outputs):
        if isinstance(checked.domain, Membership):
            unit = "(as a share of 1)"
        elif column.kind == "count":
            unit = _people(form)
        else:
            unit = (fields.unit if fields else "") or f"units of {request[COLUMN]}"
            unit = f"({unit})²" if checked.spec.name == "variance" else unit
        suffix = f", {column.name}" if len(outputs) > 1 else ""
        numbers.append(_PlannedNumber(request, forecast, place, f"{title}{of}{suffix}", unit))
    return numbers


def _with_errors(number: _PlannedNumber, size: int, draws: int) -> NumberPreview:
    epsilon, forecast = number.request[EPSILON], number.forecast
    within = forecast.within(epsilon, size, _PROBABILITY, number.output, draws)
    intervals = forecast.intervals(epsilon, size, draws)
    width = None
    if intervals.widths:
        is_small = intervals.too_few[number.output] > MAX_TOO_FEW
        width = TOO_FEW if is_small else f"{rounded(intervals.widths[number.output])} {number.unit}"
    note = f"simulated, {intervals.draws} draws" if intervals.draws else None
    error = f"{rounded(within)} {number.unit}"
    return NumberPreview(number.key, number.title, rounded(float(epsilon)), error, width, note)


def _without_errors(
    request: ReleaseRequest, note: str, key: str = "", title: str = ""
) -> NumberPreview:
    """A number of unknown error, and why it is unknown."""
    epsilon = rounded(float(request[EPSILON]))
    return NumberPreview(key, title or request.title, epsilon, None, None, note)


def _number_to_show(look: str, numbers: Mapping[str, _PlannedNumber]) -> str:
    """The key of the number to look at: the one that was chosen, else the first after the
    count.
    """
    if look in numbers:
        return look
    return next((key for key in list(numbers)[1:]), next(iter(numbers), ""))


def _assumptions(form: StudioForm, size: int) -> list[str]:
    """Assumptions of the preview, in words."""
    texts = [
        f"{column.name}: "
        + (
            "distributed like the PUBLIC sample that you loaded, which is not protected"
            if column.shape == _SAMPLE_SHAPE
            else f"distribution “{column.shape}” between the bounds"
        )
        for column in form.columns
        if column.statistics and not column.categories
    ]
    texts += [
        f"{column.name}: all categories equally common"
        for column in form.columns
        if column.statistics and column.categories
    ]
    return [*texts, f"groups of {size:,} {_people(form)}"]


def _rounded_up(number: float) -> float:
    """Three digits, never too small an epsilon."""
    scale = 10.0 ** (2 - math.floor(math.log10(number)))
    return float(f"{math.ceil(number * scale - 1e-9) / scale:.3g}")
