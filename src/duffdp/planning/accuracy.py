"""The errors that mechanisms would make."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from duffdp.errors import DuffError
from duffdp.parameters import read_number
from duffdp.pipeline.columnar import TOO_FEW, Readable, as_html_table
from duffdp.planning.errors import Errors
from duffdp.planning.forecast import Forecast
from duffdp.planning.question import (
    NOT_PRIVATE,
    SYNTHETIC,
    Question,
    Sample,
    default_mechanisms,
)
from duffdp.research.guarantees.exact import least_error

MOST = 0.5  # intervals that are the whole range: beyond, there are too few records to tell


@dataclass(frozen=True, slots=True)
class Preview:
    """The errors of some mechanisms on some data, without noise.

    Attributes
    ----------
    statistic, epsilon, mechanisms
        What was asked.
    outputs
        What the numbers of a release are called: one, or one for each quantile, bin or place.
    draws
        For each mechanism whose law is not known, from how many seeded draws its errors are.
    not_private
        Whether records were given.

    Privacy
    -------
    Not private if `not_private` is True: it was computed from records that were given. Its text
    says so. From synthetic data it says nothing about anyone.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level
    sets.

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
        found = {name: sum(one.draws for one in each) for name, each in self._forecasts.items()}
        return {name: many for name, many in found.items() if many}

    def laws(self, mechanism: str, output: str | None = None) -> list[Errors]:
        """The law of the error on each of the data sets, of one of several outputs."""
        if output is None and len(self.outputs) > 1:
            raise DuffError(f"pass one of the outputs {', '.join(self.outputs)}.")
        (place,) = self._places(output)
        return [one.errors[place] for one in self._known(mechanism)]

    def expected_error(self, mechanism: str, output: str | None = None) -> float:
        """Expected error, the mean over the data sets; of several outputs the largest, unless one
        is named.
        """
        known = self._known(mechanism)
        return max(
            float(np.mean([one.errors[place].expected_error() for one in known]))
            for place in self._places(output)
        )

    def tail(self, mechanism: str, t: float, output: str | None = None) -> float:
        """Probability of an error of more than t, the mean over the data sets; of several outputs
        the largest, unless one is named.
        """
        known = self._known(mechanism)
        return max(
            float(np.mean([one.errors[place].tail(t) for one in known]))
            for place in self._places(output)
        )

    def error_within(self, mechanism: str, probability: float, output: str | None = None) -> float:
        """The error that is not exceeded with this probability, by any output or by one."""
        share = read_number("probability", probability, 0, 1, 0.95)
        return least_error(lambda t: self.tail(mechanism, t, output), 1 - share)

    def expected_width(self, mechanism: str, output: str | None = None) -> float:
        """Expected width of the interval, the mean over the data sets; of the widest of several,
        or of that of one output.
        """
        return max(self._intervals(mechanism, output)[0])

    def too_few(self, mechanism: str, output: str | None = None) -> float:
        """Probability that the interval is the whole range: too few records to tell more."""
        return max(self._intervals(mechanism, output)[1])

    def _intervals(self, mechanism: str, output: str | None) -> tuple[list[float], list[float]]:
        known = self._known(mechanism)
        if not known[0].widths:
            raise DuffError("there is no interval. Pass for example interval=0.95 to preview.")
        widths, few = (
            np.mean([getattr(one, name) for one in known], axis=0) for name in ("widths", "too_few")
        )
        places = self._places(output)
        return [float(widths[i]) for i in places], [float(few[i]) for i in places]

    def _known(self, mechanism: str) -> list[Forecast]:
        if mechanism not in self._forecasts:
            raise DuffError(
                f"mechanism must be one of {', '.join(self.mechanisms)}, got {mechanism!r}."
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
        """A line for each mechanism and output: the errors, and the width of an interval."""
        found = []
        for name in self.mechanisms:
            for output in self.outputs:
                half, most = (self.error_within(name, share, output) for share in (0.5, 0.95))
                row = {
                    "mechanism": name,
                    **({"output": output} if len(self.outputs) > 1 else {}),
                    "mean error": f"{self.expected_error(name, output):.4g}",
                    "half within": f"{half:.4g}",
                    "95 % within": f"{most:.4g}",
                }
                if self._known(name)[0].widths:
                    wide = f"{self.expected_width(name, output):.4g}"
                    row["interval width"] = TOO_FEW if self.too_few(name, output) > MOST else wide
                found.append(row)
        return found

    def notes(self) -> list[str]:
        """What has to be known of the numbers: which are from draws, and whether they are
        private.
        """
        drawn = [f"{name} from {many} seeded draws" for name, many in self.draws.items()]
        said = [f"Simulated: {', '.join(drawn)}."] if drawn else []
        return [*said, NOT_PRIVATE if self.not_private else SYNTHETIC]

    def __str__(self) -> str:
        rows = self.rows()
        names = [name for name in rows[0] if name not in ("mechanism", "output")]
        labels = [" ".join(row[k] for k in ("mechanism", "output") if k in row) for row in rows]
        wide = max(28, *(len(label) + 2 for label in labels))
        widths = [12] + [max(13, len(name) + 2) for name in names[1:]]
        lines = [f"{self.statistic}, epsilon {self.epsilon:g}"]
        head = "".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True))
        lines.append(f"{'':<{wide}}{head}")
        for label, row in zip(labels, rows, strict=True):
            cells = (f"{row[name]:>{width}}" for name, width in zip(names, widths, strict=True))
            lines.append(f"{label:<{wide}}{''.join(cells)}")
        return "\n".join([*lines, *self.notes()])

    def _repr_html_(self) -> str:
        rows = self.rows()
        header, texts = list(rows[0]), len({"mechanism", "output"} & rows[0].keys())
        told = f"{self.statistic}, epsilon {self.epsilon:g}. {' '.join(self.notes())}"
        cells = [list(row.values()) for row in rows]
        return as_html_table(Readable(header, cells, told, text_columns=texts))


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
    group_size: int | None = None,
    data_sets: int = 8,
    draws: int = 500,
    seed: int = 0,
    **parameters: Any,
) -> Preview:
    """The errors that mechanisms would make. NOT PRIVATE if records are given.

    Parameters
    ----------
    data
        Records shaped like yours (public or synthetic ones, so that nothing leaks; for a slope
        pairs of x and y), or a name with `n`: "normal" (centred in the bounds, a twentieth of
        their range its standard deviation), "uniform", "skewed" (log-normal, half of it in the
        lowest tenth), "ages" (of a population, for bounds of 0 and 120), "beta" (1/2, 1/2).
    epsilon
        The privacy loss that a release would have.
    statistic, parameters
        Any statistic that is no number of a graph, with its own parameters as its verb takes them:
        `q` of a quantile (a list of them for several), `trim`, `k`, `between`, `values`, `bins`.
    bounds, step, categories
        The public domain, as the verb takes it. For shares and histograms, which have no bounds,
        those that a named shape is stretched to.
    contributions
        How many rows of a person would count at most.
    interval, covers
        As the verb takes them: what is then expected of the width of the interval.
    mechanisms
        Names: "best", "duff" and others as in a release (the first two, as far as there are, if
        none are given); for medians, quantiles, means, sums and modes the baselines
        "rank-exponential", "error-exponential", "laplace", "smooth-cauchy", "smooth-cauchy-tight",
        "smooth-pareto", "smooth-laplace" and "smooth-laplace-log-normal".
    delta
        For the last two.
    n
        With a name: how many records.
    group_size
        With groups, one epsilon covers all of them: how many records the smallest one has that
        matters. As many are drawn from the records, or of the shape.
    data_sets, seed
        How many data sets to average over, with a name or a size of groups, and their seed.
    draws
        How many releases are simulated, in all, where the law is not known.

    Returns
    -------
    Preview
        The errors of each mechanism; it prints as a table.

    Privacy
    -------
    With records: none, and the result says so (`not_private`). With a name: it touches no record.

    Utility
    -------
    Errors of one draw (medians, quantiles, modes, trimmed means, interquartile ranges, slopes, and
    all by "duff") are sums over the law, and so are those of counts and histograms, and of shares
    unless epsilon is small. For sums, means, intervals and what else depends on several
    independent draws they are means over up to 16,384 points that stand for the law, good to about
    half a percent. What depends on earlier draws (clipped means, the best variance, several
    quantiles at once, places of `top`) is simulated by the code that draws releases; with 500
    draws a mean error is good to about 4 %, and `Preview.draws` says so.

    Runtime
    -------
    For each data set and mechanism that of a release and, for "best", up to n integrals; a
    simulation takes as long as its draws.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 5: the law as a sum over level
    sets. Richtmyer, "The evaluation of definite integrals, and a quasi-Monte-Carlo method based on
    the properties of algebraic numbers" (Los Alamos, 1951): the points.

    Examples
    --------
    >>> import duffdp
    >>> ages = [25, 38, 40, 41, 70] * 20
    >>> names = ["duff", "smooth-pareto"]
    >>> print(duffdp.preview(ages, epsilon=0.5, bounds=(0, 120), step=1, mechanisms=names))
    median, epsilon 0.5
                                  mean error  half within  95 % within
    duff                             0.02514            0            0
    smooth-pareto                      0.521        0.271        1.787
    NOT PRIVATE: computed from the records without noise. Share it only if the records are public.
    """
    sample = Sample(n, group_size, data_sets, draws, seed)
    sample.check()
    names = default_mechanisms(statistic, interval) if mechanisms is None else tuple(mechanisms)
    question = Question(
        statistic,
        parameters,
        bounds,
        step,
        categories,
        contributions,
        interval,
        covers,
        delta,
        isinstance(data, str),
    )
    for name in names:
        question.check(name, epsilon)
    sets = question.data_sets(data, sample)
    found = {name: question.forecasts(name, epsilon, sets, sample) for name in names}
    asked = question.entry.name
    outputs = question.outputs(sets[0])
    return Preview(asked, float(epsilon), names, outputs, not isinstance(data, str), found)
