"""Previews: the errors that mechanisms would make on public or synthetic records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duffdp._engines.addresses import printable
from duffdp._engines.arrays import read_array
from duffdp._engines.pairs import PairEngine, make_pairs, pairs_of_records
from duffdp._parameters import MECHANISM, read_number
from duffdp._pipeline.export import DisplayTable, as_html_table
from duffdp._pipeline.number_text import TOO_FEW
from duffdp._pipeline.request import CheckedRequest, ReleaseRequest, grid_from_bounds
from duffdp._pipeline.signatures import takes_aliases
from duffdp._planning.baselines import BASELINES, baseline_forecast, baselines_of, check_baseline
from duffdp._planning.forecast import DataSet, ErrorLaw, Forecast, forecast, output_columns
from duffdp._planning.outcomes import MAX_LISTED_OUTCOMES, Effort
from duffdp._planning.synthetic import SHAPES, stretched
from duffdp.domain import Grid, Presence
from duffdp.errors import Argument, BoundsError, DuffError, did_you_mean
from duffdp.research.guarantees import least_error
from duffdp.statistics.registry import REGISTRY, check_parameter_names, statistic_spec
from duffdp.statistics.spec import StatisticSpec

MAX_TOO_FEW = 0.5  # probability of an interval over the whole range, above which no width is shown
# The larger of two errors over the smaller one, from which on they are said to differ: twice what
# 500 simulated draws are good to.
MIN_ADVANTAGE = 1.1
_MIN_POINTS = 2**11  # for the law of one data set, where several share the effort

NOT_PRIVATE = (
    "NOT PRIVATE: computed from the records without noise. Share it only if the records are public."
)
SYNTHETIC = "Computed from synthetic data, which describes no real person."


@dataclass(frozen=True, slots=True)
class Preview:
    """The expected errors of some mechanisms on public or synthetic data.

    Attributes
    ----------
    statistic, epsilon, mechanisms
        The previewed statistic, epsilon and mechanisms.
    outputs
        The names of the numbers of a release: one, or one per quantile, bin or place.
    draws
        For each simulated mechanism, the number of seeded draws.
    not_private
        True if records were passed.

    Methods
    -------
    expected_error, error_within, tail, expected_width, too_few, rows, advice, notes

    Privacy
    -------
    Not private if `not_private` is True, because it was computed from records that were passed. Its
    text states this. From synthetic data it reveals nothing about people.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the output distribution as a sum
    over level sets.

    Examples
    --------
    >>> import duffdp
    >>> seen = duffdp.preview("uniform", n=100, epsilon=1.0, bounds=(0, 1), data_sets=2)
    >>> seen.not_private, seen.expected_error("duff") < 0.05
    (False, True)
    >>> shape = {"n": 1000, "bounds": (0, 1), "data_sets": 2}
    >>> seen = duffdp.preview("uniform", statistic="quantile", q=[0.1, 0.9], epsilon=1.0, **shape)
    >>> seen.outputs, seen.draws
    (('0.1', '0.9'), {'best': 500})
    """

    statistic: str
    epsilon: float
    mechanisms: tuple[str, ...]
    outputs: tuple[str, ...]
    not_private: bool
    _forecasts: dict[str, list[Forecast]] = field(repr=False)

    @property
    def draws(self) -> dict[str, int]:
        draws = {
            name: sum(forecast.draws for forecast in forecasts)
            for name, forecasts in self._forecasts.items()
        }
        return {name: count for name, count in draws.items() if count}

    def laws(self, mechanism: str, output: str | None = None) -> list[ErrorLaw]:
        """The distribution of the error of one output, for each data set."""
        if output is None and len(self.outputs) > 1:
            raise DuffError(f"several outputs: pass one of {', '.join(self.outputs)}.")
        (place,) = self._places(output)
        return [forecast.errors[place] for forecast in self._forecasts_of(mechanism)]

    def expected_error(self, mechanism: str, output: str | None = None) -> float:
        """Mean expected error over the data sets; without `output`, that of the worst output."""
        forecasts = self._forecasts_of(mechanism)
        return max(
            float(np.mean([result.errors[place].expected_error() for result in forecasts]))
            for place in self._places(output)
        )

    def tail(self, mechanism: str, t: float, output: str | None = None) -> float:
        """Probability of an error of more than t, averaged over the data sets; without `output`,
        that of the worst output.
        """
        forecasts = self._forecasts_of(mechanism)
        return max(
            float(np.mean([result.errors[place].tail(t) for result in forecasts]))
            for place in self._places(output)
        )

    def error_within(self, mechanism: str, probability: float, output: str | None = None) -> float:
        """Error that is not exceeded with this probability; without `output`, that of the worst
        output.
        """
        share = read_number("probability", probability, 0, 1, 0.95)
        return least_error(lambda t: self.tail(mechanism, t, output), 1 - share)

    def expected_width(self, mechanism: str, output: str | None = None) -> float:
        """Expected width of the interval, averaged over the data sets; without `output`, that of
        the widest interval.
        """
        return max(self._intervals(mechanism, output)[0])

    def too_few(self, mechanism: str, output: str | None = None) -> float:
        """Probability that the interval is the whole range, because there are too few records."""
        return max(self._intervals(mechanism, output)[1])

    def _intervals(self, mechanism: str, output: str | None) -> tuple[list[float], list[float]]:
        forecasts = self._forecasts_of(mechanism)
        if not forecasts[0].widths:
            raise DuffError(
                "the preview has no interval. Pass for example ",
                Argument("interval", 0.95),
                " to preview.",
            )
        widths, too_few = (
            np.mean([getattr(result, name) for result in forecasts], axis=0)
            for name in ("widths", "too_few")
        )
        places = self._places(output)
        return [float(widths[i]) for i in places], [float(too_few[i]) for i in places]

    def _forecasts_of(self, mechanism: str) -> list[Forecast]:
        if mechanism not in self._forecasts:
            raise DuffError(
                Argument("mechanism"),
                f" must be one of {', '.join(self.mechanisms)}, got {mechanism!r}.",
            )
        return self._forecasts[mechanism]

    def _places(self, output: str | None) -> Sequence[int]:
        if output is None:
            return range(len(self.outputs))
        if output not in self.outputs:
            raise DuffError(
                f"output must be one of {', '.join(self.outputs[:20])}, got {output!r:.40}."
            )
        return [self.outputs.index(output)]

    def rows(self) -> list[dict[str, str]]:
        """A row for each mechanism and output: the errors, and the width of the interval."""
        rows = []
        for name in self.mechanisms:
            for output in self.outputs:
                half, nearly_all = (self.error_within(name, share, output) for share in (0.5, 0.95))
                row = {
                    "mechanism": name,
                    **({"output": output} if len(self.outputs) > 1 else {}),
                    "mean error": f"{self.expected_error(name, output):.4g}",
                    "half within": f"{half:.4g}",
                    "95% within": f"{nearly_all:.4g}",
                }
                if self._forecasts_of(name)[0].widths:
                    width = f"{self.expected_width(name, output):.4g}"
                    too_few = self.too_few(name, output) > MAX_TOO_FEW
                    row["interval width"] = TOO_FEW if too_few else width
                rows.append(row)
        return rows

    def advice(self) -> list[str]:
        """Advice on which of "best" and "clipped" has the smaller error on this data; empty unless
        both are shown.
        """
        ways = ("best", "clipped")
        if not set(ways) <= set(self.mechanisms):
            return []
        errors = {self.expected_error(way): way for way in ways}
        smaller, greater = min(errors), max(errors)
        if smaller * MIN_ADVANTAGE > greater:
            return [f'At epsilon {self.epsilon:g} "best" and "clipped" err about the same.']
        return [
            f'At epsilon {self.epsilon:g} the mechanism "{errors[smaller]}" has the smaller error.'
        ]

    def notes(self) -> list[str]:
        """Notes on the numbers: which of them are simulated, and whether they are private."""
        draws = [f"{name} from {count} seeded draws" for name, count in self.draws.items()]
        simulated = [f"Simulated: {', '.join(draws)}."] if draws else []
        return [*simulated, NOT_PRIVATE if self.not_private else SYNTHETIC]

    def __str__(self) -> str:
        rows = self.rows()
        names = [name for name in rows[0] if name not in ("mechanism", "output")]
        labels = [" ".join(row[k] for k in ("mechanism", "output") if k in row) for row in rows]
        label_width = max(28, *(len(label) + 2 for label in labels))
        widths = [12] + [max(13, len(name) + 2) for name in names[1:]]
        lines = [f"{self.statistic}, epsilon {self.epsilon:g}"]
        head = "".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True))
        lines.append(f"{'':<{label_width}}{head}")
        for label, row in zip(labels, rows, strict=True):
            cells = (f"{row[name]:>{width}}" for name, width in zip(names, widths, strict=True))
            lines.append(f"{label:<{label_width}}{''.join(cells)}")
        return "\n".join([*lines, *self.advice(), *self.notes()])

    def _repr_html_(self) -> str:
        rows = self.rows()
        header, texts = list(rows[0]), len({"mechanism", "output"} & rows[0].keys())
        notes = " ".join([*self.advice(), *self.notes()])
        caption = f"{self.statistic}, epsilon {self.epsilon:g}. {notes}"
        cells = [list(row.values()) for row in rows]
        return as_html_table(DisplayTable(header, cells, caption, text_columns=texts))


@takes_aliases
def preview(
    data: Any,
    *,
    epsilon: Any,
    statistic: str = "median",
    bounds: Any = None,
    step: Any = None,
    categories: Iterable[Any] | None = None,
    contributions: int = 1,
    interval: Any = None,
    covers: str = "data",
    mechanisms: Sequence[str] | None = None,
    delta: float | None = None,
    n: int | None = None,
    half_between: tuple[float, float] | None = None,
    group_size: int | None = None,
    data_sets: int = 8,
    draws: int = 500,
    seed: int = 0,
    **parameters: Any,
) -> Preview:
    """Expected errors of mechanisms. The result is NOT PRIVATE if records are passed.

    Parameters
    ----------
    data
        Public or synthetic records that resemble yours; for a slope, pairs of x and y. Or, with
        `n`, the name of a distribution: "uniform", "normal", "skewed", "beta" or "ages". "normal"
        is centered in the bounds and has a twentieth of their range as standard deviation. "skewed"
        is log-normal, with half of it in the lowest tenth. "beta" has the parameters 1/2 and 1/2.
        "ages" is that of a population, for bounds of 0 and 120.
    half_between
        With a name: two numbers that enclose half of the records, from public knowledge. Without
        them the shape fills the bounds, and errors are overestimated if these are wide.
    epsilon
        The privacy loss that a release would have.
    statistic, parameters
        Any statistic but those of graphs, with its own parameters as in its function:
        `q` of a quantile (a list of them for several), `trim`, `k`, `between`, `values`, `bins`.
    bounds, step, categories
        The public domain, as in the function. For shares and histograms, which have no bounds: the
        bounds to which a named shape is stretched.
    contributions
        The maximum number of rows per person.
    interval, covers
        As in the function. The preview then includes the expected width of the interval.
    mechanisms
        Names of mechanisms as in a release; by default those of "best", "clipped" and "duff" that
        the statistic has. For medians, quantiles, means, sums and modes also the baselines
        "rank-exponential", "error-exponential", "laplace", "smooth-cauchy", "smooth-cauchy-tight",
        "smooth-pareto", "smooth-laplace" and "smooth-laplace-log-normal".
    delta
        For "smooth-laplace" and "smooth-laplace-log-normal", which need one.
    n
        With a name: the number of records.
    group_size
        For a release with groups, which all share one epsilon: the number of records in the
        smallest group that matters. This many are drawn from the records or the shape.
    data_sets, seed
        The number of data sets to average over, with a name or a group size, and their seed.
    draws
        The total number of simulated releases, if the output distribution is not known.

    Returns
    -------
    Preview
        The errors of each mechanism; it prints as a table.

    Privacy
    -------
    With records: none, and the result is marked (`not_private`). With a name: no record is read.

    Utility
    -------
    If a release is a single draw (medians, quantiles, modes, trimmed means, interquartile ranges,
    slopes, and all by "duff"), its error is an exact sum over the output distribution. So is that
    of counts and histograms, and of shares unless epsilon is small.

    Errors of sums, means, intervals and others that depend on several independent draws are
    computed from up to 16,384 representative points, to about half a percent.

    Some draws depend on earlier ones: in clipped means, variances by "best", several quantiles at
    once, and `top`. These statistics are simulated by the code that draws releases. With 500 draws
    a mean error is accurate to about 4%. `Preview.draws` lists the number of draws.

    Runtime
    -------
    For each data set and mechanism, as long as a release and, for "best", up to n integrals. A
    simulation takes as long as its draws.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the output distribution as a sum
    over level sets. Richtmyer, "The evaluation of definite integrals, and a quasi-Monte-Carlo
    method based on the properties of algebraic numbers" (Los Alamos, 1951): the points.

    Examples
    --------
    >>> import duffdp
    >>> ages = [25, 38, 40, 41, 70] * 20
    >>> names = ["duff", "smooth-pareto"]
    >>> print(duffdp.preview(ages, epsilon=0.5, bounds=(0, 120), step=1, mechanisms=names))
    median, epsilon 0.5
                                  mean error  half within   95% within
    duff                             0.02514            0            0
    smooth-pareto                      0.521        0.271        1.787
    NOT PRIVATE: computed from the records without noise. Share it only if the records are public.
    """
    sample = SampleOptions(n, group_size, data_sets, draws, seed, half_between)
    sample.check()
    names = default_mechanisms(statistic, interval)
    if mechanisms is not None:
        names = tuple(map(MECHANISM.documented_value, mechanisms))
    request = PreviewRequest(
        statistic,
        parameters,
        is_shape=isinstance(data, str),
        bounds=bounds,
        step=step,
        categories=categories,
        contributions=contributions,
        interval=interval,
        covers=covers,
        delta=delta,
    )
    for name in names:
        request.check(name, epsilon)
    sets = request.data_sets(data, sample)
    return Preview(
        request.spec.name,
        float(epsilon),
        names,
        request.outputs(sets[0]),
        not isinstance(data, str),
        {name: request.forecasts(name, epsilon, sets, sample) for name in names},
    )


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """The records of a preview: the numbers of records, in all and in the smallest group, the data
    sets and draws to average over, and the seed.
    """

    n: Any = None
    group_size: Any = None
    data_sets: Any = 8
    draws: Any = 500
    seed: Any = 0
    half_between: Any = None

    def check(self) -> None:
        """Raise an error unless all are whole numbers, and the pair is one of finite numbers."""
        for name, least in (("n", 0), ("group_size", 1), ("data_sets", 1), ("draws", 1)):
            number = getattr(self, name)
            if number is not None or name in ("data_sets", "draws"):
                _check_whole(name, number, least)
        _check_whole("seed", self.seed, 0)
        if self.half_between is not None:
            _check_half_between(self.half_between)


class PreviewRequest:
    """A release to preview, whose parameters are checked before a record is read.

    `is_shape` says that the data is a named shape: then the bounds of a statistic that takes none
    are for the shape.
    """

    def __init__(
        self,
        statistic: Any,
        parameters: Mapping[str, Any],
        *,
        is_shape: bool,
        bounds: Any,
        delta: float | None,
        contributions: Any,
        **options: Any,
    ) -> None:
        spec = plannable(statistic)
        for name in parameters:
            if spec.of_pairs or not any(
                name in other.parameter_names for other in REGISTRY.values()
            ):
                raise DuffError(f"{spec.name} takes no {name} here. Leave it out.")
        check_parameter_names(spec, () if spec.of_pairs else parameters)
        columns = {"x": "x", "y": "y"}  # of a slope
        name, parameters = spec.for_parameters(columns if spec.of_pairs else parameters)
        self.spec = statistic_spec(name)
        self._delta, self._bounds = delta, bounds
        self._request = ReleaseRequest(
            name,
            {
                **parameters,
                **options,
                "epsilon": 1,
                "bounds": None if is_shape and self.spec.makes_domain else bounds,
                "unit": None if contributions == 1 else "person",
                "contributions": contributions,
            },
        )

    def check(self, mechanism: object, epsilon: object) -> CheckedRequest:
        """The checked release; for a baseline, that of the best mechanism instead of it."""
        entry = self.spec
        if mechanism not in (*entry.choices, *baselines_of(entry)):
            names = ", ".join((*entry.choices, *baselines_of(entry)))
            ranked = " That baseline exists only for medians and quantiles." * (
                mechanism in BASELINES and entry.baselines is not None
            )
            raise DuffError(
                f"{mechanism!r} is not a mechanism of {entry.name}. Use one of {names}."
                f"{did_you_mean(mechanism, (*entry.choices, *baselines_of(entry)))}{ranked}",
            )
        is_baseline = mechanism not in entry.choices
        checked = self._checked("best" if is_baseline else mechanism, epsilon)
        if is_baseline:
            check_baseline(mechanism, checked.plan, self._delta)
        return checked

    def _checked(self, mechanism: str, epsilon: object) -> CheckedRequest:
        return self._request.replace(mechanism=mechanism, epsilon=epsilon).check()

    def data_sets(self, data: object, sample: SampleOptions) -> list[DataSet]:
        """The data sets to average over: the given one, groups out of it, or some of a shape."""
        checked = self._checked(self.spec.choices[0], 1)
        if isinstance(data, str):
            return self._synthetic(data, checked, sample)
        if sample.n is not None:
            raise DuffError(
                Argument("n"),
                ' is only for a named distribution such as "normal", got records. Leave it out, or '
                "pass group_size.",
            )
        if sample.half_between is not None:
            raise DuffError(
                Argument("half_between"),
                ' is only for a named distribution such as "normal", got records. Leave it out.',
            )
        records: Any = _pairs(data) if self.spec.of_pairs else read_array(data).array
        if sample.group_size is None:
            return [self._data_set(records, checked)]
        if sample.group_size > len(records):
            raise DuffError(
                f"group_size={sample.group_size} is more than the number of records. Pass more "
                "records, or a smaller group_size."
            )
        return [
            self._data_set(rng.choice(records, sample.group_size, replace=False), checked)
            for rng in np.random.default_rng(sample.seed).spawn(sample.data_sets)
        ]

    def _synthetic(
        self, shape: str, checked: CheckedRequest, sample: SampleOptions
    ) -> list[DataSet]:
        domain = checked.domain
        if shape not in SHAPES or self.spec.of_pairs or domain.kind == "category":
            raise DuffError(
                "data must be a list or array of public records or, for statistics of numbers, "
                "one "
                f"of {', '.join(SHAPES)}, got {printable(shape)!r} for {self.spec.name}."
            )
        size = sample.n if sample.group_size is None else sample.group_size
        _check_whole("n", size, 0)
        low, span = 0.0, 1.0
        if not isinstance(domain, Presence):
            grid = (
                domain
                if isinstance(domain, Grid)
                else grid_from_bounds(self._bounds, None, "order")
            )
            if not isinstance(grid, Grid) or grid.timed or domain.kind in ("date", "datetime"):
                raise BoundsError(
                    "a named distribution needs numbers as bounds, got dates or times. For these, "
                    "preview public records."
                )
            low, span = float(grid.lower), float(grid.upper) - float(grid.lower)
        if sample.half_between is not None:
            low, span = stretched(shape, *map(float, sample.half_between))
        return [
            self._data_set(low + span * SHAPES[shape](rng, size), checked)
            for rng in np.random.default_rng(sample.seed).spawn(sample.data_sets)
        ]

    def _data_set(self, records: Any, checked: CheckedRequest) -> DataSet:
        if not self.spec.of_pairs:
            return DataSet.of_array(checked, records)
        engine = PairEngine([make_pairs(*records.T)])
        return DataSet.of_engine(checked, records, engine, checked.domain)

    def outputs(self, data: DataSet) -> tuple[str, ...]:
        """The names of the numbers of a release, without the ends of intervals."""
        checked = self._checked(self.spec.choices[0], 1)
        return tuple(column.name for column in output_columns(checked, data.domain))

    def forecasts(
        self, mechanism: str, epsilon: object, data_sets: list[DataSet], sample: SampleOptions
    ) -> list[Forecast]:
        """The forecast on each data set; points and draws are divided among them."""
        checked = self.check(mechanism, epsilon)
        if mechanism not in self.spec.choices:
            return [
                baseline_forecast(mechanism, checked.plan, self._delta, data) for data in data_sets
            ]
        count = len(data_sets)
        points, draws = max(_MIN_POINTS, MAX_LISTED_OUTCOMES // count), -(-sample.draws // count)
        seeds = np.random.SeedSequence(sample.seed).spawn(count)
        return [
            forecast(checked, data, Effort(points, draws, seed))
            for data, seed in zip(data_sets, seeds, strict=True)
        ]


def plannable(statistic: object) -> StatisticSpec:
    """The entry of a statistic whose error can be planned."""
    spec = statistic_spec(statistic)
    if not spec.can_be_planned:
        names = ", ".join(other.name for other in REGISTRY.values() if other.can_be_planned)
        graph = "depends on the whole graph, and not on a number of records and their distribution"
        reason = graph if spec.of_graphs else "is not that of a number"
        raise DuffError(
            f"the error of {spec.name} {reason}. Release public or synthetic data with rng=1 "
            f"instead. Previews exist for {names}."
        )
    return spec


def default_mechanisms(statistic: object, interval: object) -> tuple[str, ...]:
    """The mechanisms that a preview compares by default: the best one, the clipped one and the
    paper's, if they exist and can give the interval.
    """
    spec = plannable(statistic)
    usual = tuple(name for name in ("best", "clipped", "duff") if name in spec.choices)
    with_interval = tuple(name for name in usual if spec.has_interval(name))
    return with_interval if interval is not None and with_interval else usual


def _pairs(data: Any) -> Any:
    """Pairs of numbers as an array of two columns."""
    try:
        pairs = pairs_of_records(data)
    except (TypeError, IndexError, KeyError):
        raise DuffError(
            "a slope needs pairs of records. Pass a list of (x, y), or an array with two columns."
        ) from None
    return np.stack(pairs, axis=1)


def _check_half_between(pair: Any) -> None:
    try:
        low, high = map(float, pair)
    except (TypeError, ValueError):
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise DuffError.about(
            "half_between", pair, "two finite numbers, the smaller one first", (20, 45)
        )


def _check_whole(name: str, number: object, least: int) -> None:
    if number is None:
        raise DuffError(Argument(name), " is missing. Pass for example ", Argument(name, 1000), ".")
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        example = 1000 if name == "n" else max(least, 1)
        raise DuffError.about(name, number, f"a whole number of {least} or more", example)
