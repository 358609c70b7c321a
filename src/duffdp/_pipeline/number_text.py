"""Text of released numbers, by one rule for every output.

A column is rounded to two digits of its typical error, which is half of the median width of its
intervals. Ends are rounded outward, so that a printed interval holds what the exact one holds.
Counts keep all their digits, so that they add up.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext
from statistics import median_low
from typing import Any, NamedTuple

from duffdp._facts import as_json
from duffdp._pipeline.estimates import Estimate
from duffdp._text import duration_text
from duffdp.domain import Digits, Grid, Membership, PublicSet
from duffdp.statistics.program import NumberKind

TOO_FEW = "too few to tell"  # instead of an interval that is the whole range
PERCENT = "%"
ENGLISH_MARKS = (",", ".")  # between thousands, before decimals
_ERROR_DIGITS = 2  # of the typical error
_FINE, _COARSE = 1e-6, 1e-3  # shares of the range
_SHARE_DECIMALS = 4  # of a share without an interval
_LEAST_ERROR = 1e-6  # as a part of the number
_MAX_DECIMALS = 15  # more than doubles have


class NumberFormat(NamedTuple):
    """Format of the numbers of one column: decimals (below 0: tens, hundreds), a unit behind them,
    and the marks between thousands and before decimals. Without decimals, numbers are written as
    they are.
    """

    decimals: int | None = None
    unit: str = ""
    rounding: str = ROUND_HALF_EVEN
    marks: tuple[str, str] = ENGLISH_MARKS

    def with_ends(self) -> tuple[NumberFormat, NumberFormat, NumberFormat]:
        """The formats of a value and of both ends of its interval."""
        return (
            self,
            self._replace(rounding=ROUND_FLOOR),
            self._replace(rounding=ROUND_CEILING),
        )

    def number(self, value: Any) -> Any:
        """The rounded value for outputs with numbers; a percentage is still a share of 1."""
        if self.decimals is None or not _is_number(value) or not math.isfinite(value):
            return value
        shift = 2 if self.unit == PERCENT else 0
        rounded = self._rounded(value, self.rounding).scaleb(-shift) + 0
        if isinstance(value, int) or (self.decimals <= 0 and not shift):
            return int(rounded)
        return rounded if isinstance(value, Decimal) else float(rounded)

    def text(self, value: Any, rounding: str | None = None) -> str:
        """The value as text, without its unit."""
        if self.decimals is None or not _is_number(value) or not math.isfinite(value):
            text = as_text(value)
        else:
            text = f"{self._rounded(value, rounding or self.rounding) + 0:,f}"
        if self.marks == ENGLISH_MARKS or not _is_number(value):
            return text
        thousands, decimal = self.marks
        return text.translate({ord(","): thousands, ord("."): decimal})

    @property
    def excel(self) -> str:
        """The format of a spreadsheet cell."""
        if self.decimals is None:
            pattern = "General" if not self.unit else "0.######"
        else:
            pattern = f"#,##0.{'0' * self.decimals}" if self.decimals > 0 else "#,##0"
        if self.unit == PERCENT:
            return f"{pattern}%"
        quoted = self.unit.replace('"', "")
        return f'{pattern}" {quoted}"' if quoted else pattern

    def with_unit(self, value: object) -> str:
        """The value as text, with its unit behind it."""
        text = self.text(value)
        if not self.unit or not _is_number(value):
            return text
        return f"{text}%" if self.unit == PERCENT else f"{text} {self.unit}"

    def low(self, value: object) -> str:
        """The lower end of an interval, rounded down."""
        return self.text(value, ROUND_FLOOR)

    def high(self, value: object) -> str:
        """The upper end of an interval, rounded up."""
        return self.text(value, ROUND_CEILING)

    def ends(self, estimate: Estimate, to: str = "to") -> str:
        """The interval, without brackets; empty if there is none."""
        if estimate.low is None:
            return ""
        return f"{self.low(estimate.low)} {to} {self.high(estimate.high)}"

    def _rounded(self, value: object, rounding: str) -> Decimal:
        assert self.decimals is not None
        number = value if isinstance(value, Decimal) else Decimal(repr(value))
        with localcontext(prec=400):
            if self.unit == PERCENT:
                number *= 100
            return number.quantize(Decimal(1).scaleb(-self.decimals), rounding)


def number_format(
    estimates: Iterable[Estimate],
    kind: NumberKind,
    domain: PublicSet,
    unit: str = "",
    default_step: bool = False,
) -> NumberFormat:
    """The format of a column: two digits of its typical error, no finer than what can come out.

    Candidates without an error have the digits of their grid, but no finer than a millionth of the
    range, or a thousandth if nobody chose the step.
    """
    shown_estimates = [one for one in estimates if _is_number(one.value) and not one.too_few]
    if kind == "count":
        return NumberFormat(0, unit)
    if not shown_estimates:
        return NumberFormat(None, unit)
    scale = 100 if unit == PERCENT else 1
    finest = _finest(shown_estimates, kind, domain, _COARSE if default_step else _FINE)
    if finest is not None and unit == PERCENT:
        finest -= 2
    errors = [float(one.high - one.low) / 2 for one in shown_estimates if one.low is not None]
    error = scale * median_low(errors) if errors else 0.0
    if error > 0:  # a tiny error leaves more digits than anybody reads
        error = max(
            error, _LEAST_ERROR * scale * median_low(abs(float(o.value)) for o in shown_estimates)
        )
    if error > 0 and math.isfinite(error):
        decimals = decimals_for(error)
        return NumberFormat(decimals if finest is None else min(decimals, finest), unit)
    if finest is None and isinstance(domain, Membership):
        finest = _SHARE_DECIMALS - (2 if unit == PERCENT else 0)
    return NumberFormat(finest, unit)


def decimals_for(error: float) -> int:
    """The decimals that show two digits of an error; below 0 for tens, hundreds and so on.

    Examples
    --------
    >>> from duffdp._pipeline.number_text import decimals_for
    >>> decimals_for(0.0123), decimals_for(1.5), decimals_for(47), decimals_for(3600)
    (3, 1, 0, -2)
    """
    place = math.floor(math.log10(error) + 1e-9)
    return min(_ERROR_DIGITS - 1 - place, _MAX_DECIMALS)


def _finest(
    known: Sequence[Estimate], kind: NumberKind, domain: PublicSet, share: float
) -> int | None:
    """The decimals that a column can have: those of its grid, none for whole numbers."""
    if all(isinstance(one.value, int) for one in known):
        return 0
    if kind != "candidate" or not isinstance(domain, Grid) or isinstance(domain, Digits):
        return None
    finest = max(domain.spacing, domain.spacing * domain.size * share)
    return max(0, math.ceil(-math.log10(finest) - 1e-9))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def as_text(value: object) -> str:
    """A value as a person would write it; empty for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, dt.timedelta):
        return duration_text(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(as_json(value))


def estimate_text(
    estimate: Estimate, form: NumberFormat, to: str = "to", withheld_text: str = TOO_FEW
) -> str:
    """A value with its interval, if it has one."""
    if estimate.value is None:
        return withheld_text if estimate.too_few else ""
    value = form.with_unit(estimate.value)
    if estimate.low is None:
        return withheld_text if estimate.too_few else value
    return f"{value} ({withheld_text if estimate.too_few else form.ends(estimate, to)})"


def spark_text(values: Sequence[float]) -> str:
    """Bars of text, for a histogram in one cell.

    Examples
    --------
    >>> from duffdp._pipeline.number_text import spark_text
    >>> spark_text([0, 1, 4, 8])
    '▁▂▅█'
    """
    bars, highest = "▁▂▃▄▅▆▇█", max(values, default=0)
    return "".join(
        bars[round((len(bars) - 1) * max(0.0, value) / highest)] if highest > 0 else bars[0]
        for value in values
    )
