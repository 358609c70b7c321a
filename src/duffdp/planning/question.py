"""What is asked: a statistic with its parameters, mechanisms by name, and records to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from duffdp.domain import Grid, Presence
from duffdp.engines.addresses import printable
from duffdp.engines.arrays import read
from duffdp.engines.pairs import Pairs
from duffdp.errors import BoundsError, DuffError
from duffdp.pipeline.ask import Ask, Checked, bounded
from duffdp.pipeline.run import Array
from duffdp.pipeline.span import ENDS
from duffdp.planning.baselines import BASELINES, baseline_forecast, baselines_of, check_baseline
from duffdp.planning.forecast import DataSet, Forecast, forecast
from duffdp.planning.noise import LISTED
from duffdp.planning.outcomes import Effort
from duffdp.planning.shapes import SHAPES
from duffdp.sampling.entropy import SYSTEM
from duffdp.statistics.entry import Entry
from duffdp.statistics.registry import check_parameter_names, entries, entry

LEAST_POINTS = 2**11  # of a law, where several data sets share the effort

NOT_PRIVATE = (
    "NOT PRIVATE: computed from the records without noise. Share it only if the records are public."
)
SYNTHETIC = "From synthetic data: it says nothing about any person."


@dataclass(frozen=True, slots=True)
class Sample:
    """Which records to look at: how many of a named shape, how many the smallest group has, how
    many data sets and draws to average over, and the seed of all of them.
    """

    n: Any = None
    group_size: Any = None
    data_sets: Any = 8
    draws: Any = 500
    seed: Any = 0

    def check(self) -> None:
        """Whole numbers, all of them."""
        for name, least in (("n", 0), ("group_size", 1), ("data_sets", 1), ("draws", 1)):
            number = getattr(self, name)
            if number is not None or name in ("data_sets", "draws"):
                _check_whole(name, number, least)
        _check_whole("seed", self.seed, 0)


class Question:
    """A statistic, its parameters and its public set, all checked before a record is looked at."""

    def __init__(
        self,
        statistic: Any,
        parameters: Mapping[str, Any],
        bounds: Any,
        step: Any,
        categories: Any,
        contributions: Any,
        interval: Any,
        covers: Any,
        delta: float | None,
        shape: bool,
    ) -> None:
        known = plannable(statistic)
        for name in parameters:
            if known.of_pairs or not any(name in other.read for other in entries()):
                raise DuffError(f"{known.name} takes no {name} here. Leave it out.")
        check_parameter_names(known, () if known.of_pairs else parameters)
        # The columns that a slope would be asked of.
        given = {"x": "x", "y": "y"} if known.of_pairs else parameters
        name, given = known.for_parameters(given)
        self.entry = entry(name)
        self._delta, self._bounds = delta, bounds
        stretched = shape and self.entry.own_domain is not None  # bounds are for the shape alone
        self._ask = Ask(
            statistic=name,
            epsilon=1,
            parameters=given,
            bounds=None if stretched else bounds,
            step=step,
            categories=categories,
            unit=None if contributions == 1 else "person",
            contributions=contributions,
            interval=interval,
            covers=covers,
        )

    def check(self, mechanism: Any, epsilon: Any) -> Checked:
        """What a release would be, or for a baseline a release in its place."""
        known = self.entry
        if mechanism not in (*known.choices, *baselines_of(known)):
            names = ", ".join((*known.choices, *baselines_of(known)))
            ranked = " The rank of a value is for medians and quantiles." * (
                mechanism in BASELINES and known.baselines is not None
            )
            raise DuffError(f"mechanism must be one of {names}, got {mechanism!r}.{ranked}")
        baseline = mechanism not in known.choices
        checked = self._asked("best" if baseline else mechanism, epsilon)
        if baseline:
            check_baseline(mechanism, checked.recipe, self._delta)
        return checked

    def _asked(self, choice: str, epsilon: Any) -> Checked:
        return replace(self._ask, mechanism=choice, epsilon=epsilon).check()

    def data_sets(self, data: Any, sample: Sample) -> list[DataSet]:
        """Those to look at: the one that was given, some groups out of it, or some of a named
        shape.
        """
        checked = self._asked(self.entry.choices[0], 1)
        if isinstance(data, str):
            return self._synthetic(data, checked, sample)
        if sample.n is not None:
            raise DuffError(
                'n goes with the name of a shape such as "normal", got records and n. Leave n out, '
                "or pass group_size."
            )
        records: Any = _pairs(data) if self.entry.of_pairs else read(data).array
        if sample.group_size is None:
            return [self._data_set(records, checked)]
        if sample.group_size > len(records):
            raise DuffError(
                f"group_size={sample.group_size} is more than there are records. Pass more "
                "records, or a smaller one."
            )
        return [
            self._data_set(rng.choice(records, sample.group_size, replace=False), checked)
            for rng in np.random.default_rng(sample.seed).spawn(sample.data_sets)
        ]

    def _synthetic(self, shape: str, checked: Checked, sample: Sample) -> list[DataSet]:
        domain = checked.domain
        if shape not in SHAPES or self.entry.of_pairs or domain.kind == "category":
            raise DuffError(
                f"data must be records or, for numbers, one of {', '.join(SHAPES)}, got "
                f"{printable(shape)!r} for {self.entry.name}. Pass public or made-up records."
            )
        size = sample.n if sample.group_size is None else sample.group_size
        _check_whole("n", size, 0)
        low, span = 0.0, 1.0
        if not isinstance(domain, Presence):
            grid = domain if isinstance(domain, Grid) else bounded(self._bounds, None, "order")
            if not isinstance(grid, Grid) or grid.timed or domain.kind in ("date", "datetime"):
                raise BoundsError(
                    f"a named shape needs bounds that are numbers, got {self._bounds!r}. Pass "
                    "records instead."
                )
            low, span = float(grid.lower), float(grid.upper) - float(grid.lower)
        return [
            self._data_set(low + span * SHAPES[shape](rng, size), checked)
            for rng in np.random.default_rng(sample.seed).spawn(sample.data_sets)
        ]

    def _data_set(self, records: Any, checked: Checked) -> DataSet:
        if self.entry.of_pairs:
            domain, source = checked.domain, Pairs.of(*records.T)
        else:
            array = Array(records, checked.domain_for)
            domain, (source,) = array.domain, array.sources(SYSTEM)
        assert self.entry.exact is not None
        truth = self.entry.exact(checked.recipe.given, source, domain)
        return DataSet(records, source, domain, tuple(truth))

    def outputs(self, data: DataSet) -> tuple[str, ...]:
        """What the numbers of a release are called, without the ends of intervals."""
        checked = self._asked(self.entry.choices[0], 1)
        made = checked.finish
        columns = checked.recipe.columns if made is None else made.columns(data.domain)
        ends = 1 if checked.recipe.interval is None else ENDS
        return tuple(column.name for column in columns[::ends])

    def forecasts(
        self, mechanism: str, epsilon: Any, data_sets: list[DataSet], sample: Sample
    ) -> list[Forecast]:
        """What to expect on each data set; draws are divided among them."""
        checked = self.check(mechanism, epsilon)
        if mechanism not in self.entry.choices:
            return [
                baseline_forecast(mechanism, checked.recipe, self._delta, data)
                for data in data_sets
            ]
        many = len(data_sets)
        points, draws = max(LEAST_POINTS, LISTED // many), -(-sample.draws // many)
        seeds = np.random.SeedSequence(sample.seed).spawn(many)
        return [
            forecast(checked, data, Effort(points, draws, seed))
            for data, seed in zip(data_sets, seeds, strict=True)
        ]


def plannable(statistic: Any) -> Entry:
    """The entry of a statistic that can be planned."""
    known = entry(statistic)
    if known.exact is None:
        names = ", ".join(other.name for other in entries() if other.exact is not None)
        graph = "depends on a whole graph, for which no number of records and no shape stands"
        what = graph if known.of_graphs else "is not that of a number"
        raise DuffError(
            f"the error of {known.name} {what}. Make releases of public or synthetic data with "
            f"rng=1 instead; what can be planned is {names}."
        )
    return known


def default_mechanisms(statistic: Any, interval: Any) -> tuple[str, ...]:
    """What a preview compares if nothing is said: the best one, and the paper's if there is one,
    and if it has an interval where one is asked for.
    """
    known = plannable(statistic)
    usual = tuple(name for name in ("best", "duff") if name in known.choices)
    with_ends = tuple(name for name in usual if known.has_interval(name))
    return with_ends if interval is not None and with_ends else usual


def _pairs(data: Any) -> Any:
    """Pairs of numbers as an array of two columns."""
    try:
        pairs = Pairs.of_records(data)
    except (TypeError, IndexError, KeyError):
        raise DuffError(
            "the records of a slope are pairs. Pass a list of (x, y), or an array of two columns."
        ) from None
    return np.stack(pairs, axis=1)


def _check_whole(name: str, number: Any, least: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        raise DuffError(f"{name} must be a whole number, at least {least}, got {number!r:.40}.")
