"""Histogram: counts of records in public bins or categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duffdp._engines.requests import Engine
from duffdp._parameters import ADDS_UP, NONNEGATIVE, ZERO_BELOW, Parameter
from duffdp.domain import Bins, Categories, Fields, PublicSet
from duffdp.errors import Argument, DuffError
from duffdp.statistics.cells import cell_program, exact_cells
from duffdp.statistics.noise_interval import around_cells
from duffdp.statistics.program import OutputColumn, PostProcess, ReleaseProgram
from duffdp.statistics.spec import DrawSettings, IntervalSpec, Parameters, StatisticSpec


def _read_bins(bins: Any) -> Bins | Fields | None:
    return bins if isinstance(bins, Bins | Fields | None) else Bins(bins)


BINS: Parameter[Bins | Fields | None] = Parameter(
    name="bins",
    help="The public edges of bins in rising order: numbers, -inf, inf or ISO dates; or @FILE.",
    doc="The public edges of bins in rising order: numbers (also infinite), dates or times; or a "
    "`Bins`. Each bin includes its lower edge, and the last one also its upper edge.",
    example=[0, 18, 65, 120],
    default=None,
    convert=_read_bins,
    annotation="Iterable[Any] | None",
    kind="values",
    metavar="A,B,...",
    label="edges in rising order",
)


def projected(numbers: Sequence[int]) -> list[int]:
    """The closest whole numbers of 0 and more, by least squares, that have the same sum (0 if that
    is negative).

    All fall by the same amount and stop at 0. The rest is one for some of them, and the
    largest give it.
    """
    total = max(0, sum(numbers))
    low, high = 0, max(0, *numbers)  # the numbers add up to too much at `low`, not at `high`
    while high - low > 1:
        middle = (low + high) // 2
        too_high = sum(max(0, number - middle) for number in numbers) > total
        low, high = (middle, high) if too_high else (low, middle)
    reduced = [max(0, number - low) for number in numbers]
    over = sum(reduced) - total
    for place in sorted(range(len(reduced)), key=lambda i: -reduced[i])[:over]:
        reduced[place] -= 1
    return reduced


def labels(domain: PublicSet) -> tuple[str, ...]:
    """Labels of the cells: different texts for any values, none of them empty."""
    if isinstance(domain, Bins | Fields):
        return tuple(map(domain.label, range(domain.size)))
    assert isinstance(domain, Categories)
    texts = [str(value) for value in domain]
    if len(set(texts)) < len(texts) or "" in texts:
        texts = [repr(value) for value in domain]
    while len(set(texts)) < len(texts):
        texts = [f"{text} ({i})" for i, text in enumerate(texts, 1)]
    return tuple(texts)


def _columns(domain: PublicSet) -> tuple[OutputColumn, ...]:
    return tuple(OutputColumn(name, "count") for name in labels(domain))


class HistogramSpec(StatisticSpec):
    """The number of records in every bin or category."""

    name = "histogram"
    parameters = (BINS, NONNEGATIVE, ADDS_UP, ZERO_BELOW)
    domain_parameters = frozenset({"bins"})
    examples = ({"bins": (0, 1, 3)}, {"bins": (0, 1, 2, 3), "adds_up": True})
    choices = ("best",)
    shape = "dictionary"
    outputs = "own or categories"
    interval_choices = ("best",)
    additive = True
    row_header = "of"

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        nonnegative, adds_up = NONNEGATIVE.of(parameters), ADDS_UP.of(parameters)
        zero_below = ZERO_BELOW.of(parameters)

        def values(domain: PublicSet, numbers: Sequence[int]) -> list[int]:
            if zero_below is not None:
                return [number if number >= zero_below else 0 for number in numbers]
            if not nonnegative:
                return list(numbers)
            return projected(numbers) if adds_up else [max(0, number) for number in numbers]

        independent = not (nonnegative and adds_up)
        return cell_program(("cells",), PostProcess(_columns, values, independent=independent))

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        return around_cells(self.program(parameters, settings), interval)

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        counts: list[int] = exact_cells(engine, domain).tolist()
        return counts

    def checked(self, options: Parameters) -> dict[str, object]:
        parameters = super().checked(options)
        zero_below = ZERO_BELOW.of(parameters)
        for parameter, value in ((ADDS_UP, True), (NONNEGATIVE, False)):
            if zero_below is not None and parameters[parameter.name] is value:
                raise DuffError(
                    *(Argument(ZERO_BELOW.name, zero_below), " sets counts to 0, and "),
                    *(Argument(parameter.name, value), " keeps them. Leave one of them out."),
                )
        return parameters

    def own_domain(self, parameters: Parameters) -> PublicSet | None:
        return BINS.of(parameters)


SPECS = (HistogramSpec(),)
