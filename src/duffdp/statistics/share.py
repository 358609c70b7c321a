"""Share of the records that are among some values, or within a range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duffdp._engines.requests import Engine
from duffdp._parameters import Parameter
from duffdp.domain import Bins, Categories, Membership, PublicSet
from duffdp.errors import Argument, BoundsError, DuffError
from duffdp.statistics.cells import cell_program, exact_cells
from duffdp.statistics.noise_interval import around_ratio
from duffdp.statistics.program import OutputColumn, PostProcess, ReleaseProgram
from duffdp.statistics.spec import DrawSettings, IntervalSpec, Parameters, StatisticSpec


def _read_values(values: Any) -> Categories | None:
    if values is None or isinstance(values, Categories):
        return values
    try:
        return Categories(values)
    except BoundsError as error:
        raise error.about_other("categories", "values") from None


def _read_between(between: object) -> Bins | None:
    if between is None:
        return None
    fix = (
        " Pass two numbers or dates, the lower first, for example ",
        *(Argument("between", (0, 18)), "."),
    )
    if not isinstance(between, list | tuple) or len(between) != 2:
        raise BoundsError(Argument("between"), f" must have two ends, got {between!r:.60}.", *fix)
    try:
        return Bins(between)
    except BoundsError:
        raise BoundsError(
            Argument("between"),
            f" must have the smaller end first, got {between!r:.60}.",
            *fix,
        ) from None


SHARE_VALUES: Parameter[Categories | None] = Parameter(
    name="values",
    help="The public values whose share is released; or @FILE with one per line.",
    doc="The public values whose share is released; instead of `between`.",
    example=["yes"],
    default=None,
    convert=_read_values,
    annotation="Iterable[Any] | None",
    kind="list",
    metavar="A,B,...",
    label="values in this list",
)
BETWEEN: Parameter[Bins | None] = Parameter(
    name="between",
    help="Release the share of values from LOWER to UPPER, both included: numbers (also -inf, inf) "
    "or ISO dates.",
    doc="Release the share of values between two public ends, both included: numbers (also "
    "infinite), dates or times; instead of `values`.",
    example=(0, 18),
    default=None,
    convert=_read_between,
    kind="pair",
    metavar="LOWER UPPER",
    label="from, to (both included)",
)


def _values(domain: PublicSet, numbers: Sequence[int]) -> list[float]:
    """U / (U + V), within 0 and 1; one half where the noise leaves no record."""
    inside, outside = numbers
    if inside + outside <= 0:
        return [0.5]
    return [min(1.0, max(0.0, inside / (inside + outside)))]


SHARE_VALUE = PostProcess(lambda _: (OutputColumn("share", "average"),), _values)


class ShareSpec(StatisticSpec):
    """The share of records inside a public set."""

    name = "share"
    parameters = (SHARE_VALUES, BETWEEN)
    domain_parameters = frozenset({"values", "between"})
    examples = ({"between": (0, 1)}, {"values": (1, 2)})
    choices = ("best",)
    outputs = "own"
    interval_choices = ("best",)
    covers_population = True
    is_ratio_of_counts = True

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        return cell_program(("inside", "outside"), SHARE_VALUE)

    def interval_program(
        self, parameters: Parameters, settings: DrawSettings, interval: IntervalSpec
    ) -> ReleaseProgram:
        return around_ratio(self.program(parameters, settings), interval)

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        """One half without records."""
        inside, outside = exact_cells(engine, domain).tolist()
        return [inside / (inside + outside) if inside + outside else 0.5]

    def own_domain(self, parameters: Parameters) -> Membership:
        values, between = SHARE_VALUES.of(parameters), BETWEEN.of(parameters)
        if (values is None) == (between is None):
            passed = "neither" if values is None else "both"
            raise DuffError(
                "share needs either ",
                Argument("values"),
                " or ",
                Argument("between"),
                f", got {passed}. Pass for example ",
                Argument("values", ["yes"]),
                " or ",
                Argument("between", (0, 18)),
                ".",
            )
        members = between if values is None else values
        assert members is not None
        return Membership(members)


SPECS = (ShareSpec(),)
