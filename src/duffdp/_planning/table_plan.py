"""A requested table as a plan of releases of the same groups, with names and shares."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Self

from duffdp._engines.keys import CodeBook, load_keys
from duffdp._engines.table import SourceTable
from duffdp._engines.universe import read_universe
from duffdp._parameters import (
    CALL_ID,
    COVERS,
    DATASET,
    DEFAULT_CONFIDENCE,
    GROUP_SIZE,
    LEDGER,
    QS,
    SMALLEST,
    SUPPRESS_BELOW,
    TABLE_OPTIONS,
    TOTAL,
    WEIGHT,
    Covers,
    Groups,
    Interval,
    Q,
    documented_options,
    plain_number,
    read_interval,
    share_text,
)
from duffdp._pipeline.error_bounds import count_bound
from duffdp._pipeline.estimates import columns_per_number
from duffdp._pipeline.export import SimpleTable
from duffdp._pipeline.number_text import PERCENT
from duffdp._pipeline.release import Release
from duffdp._pipeline.released_values import TOO_SMALL, unique_column_names
from duffdp._pipeline.request import CheckedRequest
from duffdp._pipeline.signatures import takes_aliases
from duffdp._pipeline.table import Measure, Table, margin_name, margins_of
from duffdp._pipeline.toml import read_table_text, read_table_toml, refuse_unknown
from duffdp._pipeline.wording import (
    Wording,
    check_wording,
    read_wording,
    refuse_percent,
    with_code_books,
)
from duffdp._planning.margin_forecast import MarginForecast, margin_forecasts
from duffdp._planning.plan import Cost, Plan
from duffdp.domain import Ordered
from duffdp.errors import Argument, BoundsError, DuffError, did_you_mean, quoted_names
from duffdp.ledger import Ledger
from duffdp.statistics.program import OutputColumn
from duffdp.statistics.registry import REGISTRY, statistic_spec
from duffdp.statistics.spec import StatisticSpec

# What of epsilon goes to a release, beside others: what is made of noisy counts errs least at the
# same epsilon, and several draws one after the other share it (`benchmarks/table_shares.py`).
COUNTS, ONE_DRAW, SEVERAL_DRAWS = 1, 4, 8
KEYS_AND_COUNTS = 4  # a count that finds keys
COUNTED_AGAIN = Fraction(1, 2)  # what of the count's part finds keys, if it counts again
MOST_WITH_MARGINS = 2  # columns of groups: for more of them a margin of each set costs too much

FOR_ALL = (
    *(
        "column",
        "by",
        "keys",
        "other",
        "finding",
        "margin",
        "unit",
        "contributions",
        "groups_per_person",
        "weight",
    ),
    *("simultaneous", "suppress_below"),
)
SHARE = "share"  # the statistic that can be shown as percent
COUNT_STATISTIC = "count"  # of people or rows, beside every other statistic
_SETTINGS = frozenset(one.name for one in (*TABLE_OPTIONS, LEDGER, DATASET, CALL_ID))
_EXAMPLES: dict[str, Any] = {"bounds": (0, 120), "step": 1, "categories": ["yes", "no"]}


class TablePlan:
    """A plan for a table that can be checked, previewed and run.

    Parameters
    ----------
    statistics, epsilon, bounds, step, categories, by, keys, other, levels, total, where, unit
        As for `duffdp.table`.
    contributions, groups_per_person, interval, covers, simultaneous, smallest, suppress_below
        As for `duffdp.table`.
    weights, mechanism, names, labels, shown_in
        As for `duffdp.table`.
    source, ledger, dataset, call_id, sources
        The data, the budget and the answers for a reviewer, as for `duffdp.Plan`.

    Methods
    -------
    from_toml, check, preview, within, run

    Privacy
    -------
    As for `duffdp.Plan`: the shares of all releases add up to epsilon. All parameters are checked
    before anything is charged, and all releases are charged before a row is read.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14:
    shares add up.

    Examples
    --------
    >>> import duffdp
    >>> asked = {"age": ["median", "mean"]}
    >>> plan = duffdp.TablePlan(asked, epsilon=1.3, bounds={"age": (0, 120)})
    >>> [(name, str(facts.loss.epsilon)) for name, facts in plan.check().releases.items()]
    [('count', '1/10'), ('age_median', '4/5'), ('age_mean', '2/5')]
    """

    @takes_aliases
    def __init__(
        self,
        statistics: Mapping[str, Any],
        *,
        epsilon: Any,
        bounds: Mapping[str, Any] | None = None,
        step: Mapping[str, Any] | None = None,
        categories: Mapping[str, Any] | None = None,
        by: Any = None,
        keys: Any = None,
        other: str | None = None,
        levels: Any = None,
        total: bool = False,
        where: str | None = None,
        unit: str | None = None,
        contributions: int = 1,
        groups_per_person: int | None = None,
        interval: float | None = DEFAULT_CONFIDENCE,
        covers: Covers = "data",
        simultaneous: bool = False,
        smallest: int | None = None,
        suppress_below: int | None = None,
        weights: Mapping[str, Any] | None = None,
        mechanism: str = "best",
        names: Mapping[str, str] | None = None,
        labels: Mapping[str, Any] | None = None,
        shown_in: Mapping[str, str] | None = None,
        source: Any = None,
        ledger: Any = None,
        dataset: str | None = None,
        call_id: str | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        self.interval = read_interval(interval, covers, simultaneous)
        columns = _by_column({"bounds": bounds, "step": step, "categories": categories})
        defaults = _Defaults(interval, COVERS.read(covers), mechanism)
        drawn = _drawn_releases(statistics, columns, defaults)
        keys, labels = with_code_books(by, keys, labels)
        wording = read_wording(names, labels, shown_in)
        if TOTAL.read(total) and levels is not None:
            raise DuffError(
                *(Argument("levels"), " adds a row for all groups together, got "),
                *(Argument("total", True), " as well. Leave it out."),
            )
        groups = {"by": by, "keys": keys, "other": other, "levels": levels}
        words = [one.words | group for one, group in _with_groups(drawn, groups, total)]
        self.plan: Plan = _TableReleases(
            words,
            epsilon=epsilon,
            where=where,
            unit=unit,
            contributions=contributions,
            groups_per_person=groups_per_person,
            mechanism=mechanism,
            source=source,
            ledger=ledger,
            dataset=dataset,
            call_id=call_id,
            sources=sources,
        )
        self.smallest = SMALLEST.read(smallest)
        self.suppress_below = SUPPRESS_BELOW.read(suppress_below)
        if self.suppress_below is not None and self.smallest is not None:
            raise DuffError(
                *(Argument("suppress_below", suppress_below), " already sets the smallest count, "),
                *("got ", Argument("smallest", smallest), " as well. Leave one of them out."),
            )
        self._checked = dict(zip((one.name for one in drawn), self.plan.releases, strict=True))
        columns_of_groups = self.plan.releases[0].selection.names
        self.has_levels = levels is not None
        self.margins: tuple[tuple[str, ...], ...] = ()
        if self.has_levels:
            sizes = reversed(range(len(columns_of_groups)))
            self.margins = tuple(columns_of_groups[:size] for size in sizes)
        elif total:
            self.margins = _margins(columns_of_groups)
        self._outputs = _named_outputs(drawn, self.plan.releases)
        self.wording = self._checked_wording(wording, labels)
        self._repeated_margins = {
            name: () if checked.spec.adds_up(checked.terms.choice) else self.margins
            for name, checked in self._checked.items()
        }
        self._summed_margins = {
            margin_name(name, margin): (name, margin)
            for name, repeated_margins in self._repeated_margins.items()
            for margin in self.margins
            if not repeated_margins and (self.has_levels or len(self.margins) == 1)
        }
        if self.interval is not None and self.interval.simultaneous:
            self._checked = _simultaneous(self._checked, self.interval, len(self.margins))
        self.plan = self._with_shares(weights)

    def _checked_wording(self, wording: Wording, labels: Any) -> Wording:
        """The words of the table, if they are for columns and keys that it has."""
        columns = {
            column: self._checked[one.release].selection.column or ""
            for one in self._outputs
            for column in one.columns
        }
        selection = self.plan.releases[0].selection
        books = [name for name, part in (labels or {}).items() if isinstance(part, CodeBook)]
        names = [name for one in self._outputs for name in (one.name, one.release)]
        checked_words = check_wording(
            wording, selection.names, selection.leaves.keys, columns, names, books
        )
        for one in self._outputs:
            if self._checked[one.release].spec.name != SHARE:
                for column in one.columns:
                    if checked_words.shown_in.get(column) == PERCENT:
                        raise refuse_percent(column)
        return checked_words

    def _with_shares(self, weights: Mapping[str, Any] | None) -> Plan:
        """The plan with the shares of epsilon. Margins that are released once more get equal parts
        of one; those that are sums have a draw of their own if they have a weight.
        """
        self._refuse_joint(weights, "weights")
        shares = _weights(self._checked, list(self._summed_margins), weights)
        total = sum(shares.values())
        releases: list[CheckedRequest] = []
        for name, checked in self._checked.items():
            repeated_margins = self._repeated_margins[name]
            share = self.plan.epsilon * shares[name] / total / (1 + len(repeated_margins))
            releases.append(checked.with_epsilon(share))
            for margin in repeated_margins:
                options = {"margin": margin, "epsilon": share}
                releases.append(
                    checked.request.replace(margin_name(name, margin), **options).check()
                )
        for margin_release, (name, margin) in self._summed_margins.items():
            if margin_release in shares:
                share = self.plan.epsilon * shares[margin_release] / total
                options = {"margin": margin, "margin_sums": True, "epsilon": share}
                if self._checked[name].selection.universe is not None:
                    options["finding"] = 0  # keys are found by the count
                request = self._checked[name].request.replace(margin_release, **options)
                releases.append(request.check())
        return self.plan.with_releases(releases)

    def _refuse_joint(self, by_release: Any, word: str) -> None:
        """Refuse the name of a statistic that is drawn together with others, under their name."""
        for one in self._outputs:
            if one.name not in self._checked and one.name in (by_release or ()):
                raise DuffError(
                    *(Argument(word), f" names {one.name!r}, but all quantiles of its column "),
                    f"are drawn together as {one.release!r}. Pass {one.release!r}.",
                )

    def with_weights(self, weights: Mapping[str, Any]) -> Self:
        """A copy of the plan with other weights for some releases, as in `duffdp.table`."""
        table = copy(self)
        table.plan = self._with_shares(weights)
        return table

    @property
    def _copies(self) -> dict[str, int]:
        """Number of draws of each release: for groups, and for each total that needs a draw."""
        return {
            name: 1 + len(repeated_margins)
            for name, repeated_margins in self._repeated_margins.items()
        }

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Self:
        """A plan from a TOML file with `source` and the parameters of `duffdp.table`.

        The file may also have `within` and `group_size`, which the method `within` takes. Paths are
        relative to the file's folder. Keys and categories that are text are converted to the type
        of their column, as in `duffdp.Plan.from_toml`.
        """
        return cls._written(read_table_toml(Path(path)))

    @classmethod
    def from_text(cls, text: str, folder: str | os.PathLike[str]) -> Self:
        """A plan from TOML text, with paths relative to this folder."""
        return cls._written(read_table_text(text, Path(folder)))

    @classmethod
    def _written(cls, entries: dict[str, Any]) -> Self:
        """A table as it is written; `within` and `group_size` are those of the method."""
        errors = {
            new: entries.pop(name)
            for name, new in (("within", "errors"), ("group_size", "group_size"))
            if name in entries
        }
        if len(errors) == 1:
            raise DuffError(
                "within and group_size go together: the mean errors that you accept, and the "
                "number "
                "of records in a group for which they must hold. Pass both or none."
            )
        plan = cls(entries.pop("statistics"), **entries)
        plan.plan.reads_text = True
        return plan.within(**errors) if errors else plan

    def preview(self, *, group_size: int, shape: str = "uniform", draws: int = 100) -> SimpleTable:
        """The expected errors of every number in a group of `group_size` records, as in
        `duffdp.Plan.preview`.

        With `levels`, each number that adds up (counts, sums, shares, histograms) also has a row
        for every total. It has the expected error of the largest total, and a note on whether a
        draw of its own with half of the release's epsilon would have a smaller error. If keys are
        found, their number is not known yet, so the row has the errors for 10, 100 and 1,000 keys.
        """
        preview = self.plan.preview(group_size=group_size, shape=shape, draws=draws)
        columns = preview.wide()
        for forecast in self._margin_forecasts(GROUP_SIZE.read(group_size)):
            row = dict.fromkeys(columns) | {
                "release": forecast.release,
                "output": forecast.output,
                "mean error": forecast.error,
                "note": forecast.note,
            }
            for column, values in columns.items():
                values.append(row[column])
        return SimpleTable(columns, preview.display_tables()[0].caption)

    def _margin_forecasts(self, group_size: int) -> list[MarginForecast]:
        """The forecasts of all margins of levels that are estimated together with their groups."""
        if not self.has_levels:
            return []
        releases = {one.request.name: one for one in self.plan.releases}
        names = [name for name, repeated in self._repeated_margins.items() if not repeated]
        return margin_forecasts(names, self.margins, releases, group_size)

    def within(
        self,
        errors: Mapping[str, float],
        *,
        group_size: int,
        shape: str = "uniform",
        draws: int = 100,
    ) -> Self:
        """A copy of the plan whose split of epsilon keeps mean errors within limits.

        `errors` has the limits for some releases, in a group of `group_size` records:
        `{"age_median": 1, "count": 20}`. The other releases share the rest of epsilon by their
        weights. If all releases are named, each gets more in proportion. If epsilon is too small,
        an error states the required one. `shape` and `draws` are those of `preview`: no record is
        read.
        """
        # Imported here, because a run needs no previews.
        from duffdp._planning.plan_preview import weights_for_errors

        self._refuse_joint(errors, "within")
        releases, total = self.plan.releases, self.plan.epsilon
        shares = weights_for_errors(releases, self._copies, total, errors, group_size, shape, draws)
        return self.with_weights(shares)

    def check(self, data: object = None, *, ledger: object = None) -> Cost:
        """The table's cost. If data is passed, the names and types of their columns are checked
        too; no row is read.
        """
        cost = self.plan.check(data, ledger=ledger)
        return replace(cost, notes=tuple(note.in_table() for note in cost.notes))

    def run(
        self,
        data: object = None,
        *,
        ledger: object = None,
        rng: object = None,
        done: Callable[[], None] | None = None,
        rehearsal: Callable[[Table], None] | None = None,
    ) -> Table:
        """Charge all releases or none, then make the table; `done` is called after each release.

        `rehearsal` is called before the charge, with made-up tables of the same shape, so an error
        in it costs nothing.
        """
        prepared = self.plan.prepared(data, rng)
        if rehearsal is not None:
            self.plan.rehearse(prepared, lambda releases: rehearsal(self._table(releases)))
        releases = self.plan.make(prepared, ledger, done)
        try:
            table = self._table(releases)
            table = replace(
                table, call_id=self._call_id(self.plan.ledger if ledger is None else ledger)
            )
            source = prepared[0].data
            assert isinstance(source, SourceTable)
            return replace(table, frame=source.frame(table.wide()))
        except BaseException as error:  # an interrupt, too: intervals of many groups take a while
            self.plan.note_charge(error, ledger)
            raise

    def _call_id(self, ledger: object) -> str | None:
        """The call id of a run that was charged to this ledger."""
        bound = ledger.call_id if isinstance(ledger, Ledger) else None
        return bound if bound is not None or ledger is None else self.plan.call_id

    def _table(self, releases: Mapping[str, Release]) -> Table:
        """The table of all releases, without a frame."""
        measures = tuple(
            Measure(
                one.name,
                one.columns,
                releases[one.release],
                margins_of(one.release, self.margins, releases),
                one.release,
                one.parts,
            )
            for one in self._outputs
        )
        facts = measures[0].release.facts
        smallest = self.smallest if self.suppress_below is None else self.suppress_below
        if smallest is None:
            confidence = (
                DEFAULT_CONFIDENCE if self.interval is None else float(self.interval.confidence)
            )
            noise = count_bound(facts, confidence)
            assert noise is not None
            smallest = noise + 1
        hides, groups = self.suppress_below is not None, Groups(facts.by, facts.keys)
        return Table(
            *(measures, groups, self.margins, smallest, None, hides, self.interval, self.wording)
        )

    def __repr__(self) -> str:
        names = ", ".join(map(repr, self._repeated_margins))
        return f"TablePlan({names}, epsilon={float(self.plan.epsilon):g})"


class _TableReleases(Plan):
    """The releases of a table; errors name the cell of the table. Everything about the count is
    about the whole table.
    """

    def _label(self, number: int, name: object) -> str:
        return "" if name == COUNT_STATISTIC else f"{name}: "


def _with_groups(
    drawn: list[_DrawnRelease], groups: dict[str, Any], total: object
) -> list[tuple[_DrawnRelease, dict[str, Any]]]:
    """Each release with the words about its groups. Keys of a pattern are found by the count, and
    those that it finds are the keys of all releases. Where groups are added up it counts again:
    counts that found their keys are too large on average.
    """
    if all(word is None for word in groups.values()):
        return [(one, {}) for one in drawn]
    by = groups["by"]
    groups = groups | {"keys": load_keys(by, groups["keys"])}
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else ()
    if not names or read_universe(names, groups["keys"]) is None:
        return [(one, groups) for one in drawn]
    first = {"finding": COUNTED_AGAIN} if total or groups["levels"] is not None else {}
    others = [(one, groups | {"finding": 0}) for one in drawn[1:]]
    return [(drawn[0], groups | first), *others]


def _margins(by: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """All sets of columns that groups can be taken together by, but for all columns themselves."""
    if not 0 < len(by) <= MOST_WITH_MARGINS:
        raise DuffError(
            *(
                Argument("total"),
                " needs one or two columns in ",
                Argument("by"),
                f", got {len(by)}. ",
            ),
            *("Pass ", Argument("total", False), "."),
        )
    sizes = reversed(range(len(by)))
    return tuple(margin for size in sizes for margin in combinations(by, size))


def _weights(
    cells: Mapping[str, CheckedRequest], sums: list[str], weights: Mapping[str, Any] | None
) -> dict[str, Fraction]:
    """The weights that the caller chose, and the usual ones for the rest; margins that are sums
    have none unless they are named.
    """
    if weights is not None and not isinstance(weights, Mapping):
        raise DuffError(
            *(
                Argument("weights"),
                f" must be a mapping from releases to numbers, got {weights!r:.60}. Pass for ",
            ),
            *("example ", Argument("weights", {list(cells)[-1]: 2}), "."),
        )
    explicit = dict(weights or {})
    refuse_unknown(explicit, [*cells, *sums], "weights")
    usual = {name: _usual_weight(checked) for name, checked in cells.items()}
    shares = {}
    for name, weight in (usual | explicit).items():
        try:
            shares[name] = WEIGHT.read(weight)
        except DuffError as error:
            raise DuffError(
                *(Argument("weights"), f" of {name!r} must be {error.rule}, got {weight!r:.40}. "),
                *("Pass for example ", Argument("weights", {name: 2}), "."),
            ) from None
    return shares


def _usual_weight(checked: CheckedRequest) -> int:
    """The weight by what is drawn, which is public; rows of a person cost the error of so many
    people.
    """
    parts = checked.plan.program.draws
    weight = ONE_DRAW if len(parts) == 1 else SEVERAL_DRAWS
    if checked.plan.finding is not None:
        return KEYS_AND_COUNTS
    if all(part.kind == "count" for part in parts):
        weight = COUNTS
    return weight * checked.plan.unit.contributions


class _Output(NamedTuple):
    """The columns of one statistic, the release that has its numbers, and which of them."""

    name: str
    columns: tuple[str, ...]
    release: str
    parts: tuple[int, ...]


def _named_outputs(
    drawn: list[_DrawnRelease], releases: list[CheckedRequest]
) -> tuple[_Output, ...]:
    """The columns of each statistic in the order of asking, all of them different, regardless of
    case.
    """
    outputs: dict[_Cell, _Output] = {}
    for one, checked in zip(drawn, releases, strict=True):
        step = columns_per_number(checked.plan.interval)
        texts = [column.name for column in checked.columns]
        for cell in one.cells:
            qs = sorted(_shares_of(one.cells))
            parts = tuple(map(qs.index, cell.qs)) if qs else tuple(range(len(texts) // step))
            names = [
                f"{cell.stem}_{text}"
                for part in parts
                for text in texts[part * step : (part + 1) * step]
            ]
            if cell.spec.shape == "value":
                names = [f"{cell.name}{end}" for end in ("", "_low", "_high")][:step]
            outputs[cell] = _Output(cell.name, tuple(names), one.name, parts)
    ordered = [outputs[cell] for cell in sorted(outputs, key=lambda cell: cell.place)]
    owners: dict[str, str] = {TOO_SMALL: "the table itself"}
    for output in ordered:
        for name in output.columns:
            if name.casefold() in owners:
                raise DuffError(
                    f"{output.name} and {owners[name.casefold()]} would both be the column "
                    f"{name!r}. "
                    'List it once, or pass a mapping with "statistic" and another "name".'
                )
            owners[name.casefold()] = output.name
    by = releases[0].selection.names
    if TOO_SMALL in map(str.casefold, by):
        raise DuffError(
            Argument("by"),
            f" must not name a column {TOO_SMALL!r}, because the table "
            "has its own column of this name. Rename yours.",
        )
    columns = [OutputColumn(name) for output in ordered for name in output.columns]
    renamed = iter(unique_column_names(tuple(columns), by))
    return tuple(
        output._replace(columns=tuple(next(renamed) for _ in output.columns)) for output in ordered
    )


class _Defaults(NamedTuple):
    """Options of a table for releases that do not have their own."""

    interval: Any
    covers: Covers
    mechanism: str


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """One statistic that a column is asked for: its place in the order of asking, its name, the
    prefix of its columns if there are several, and its notation in a plan.
    """

    place: int
    name: str
    stem: str
    words: dict[str, Any]
    qs: tuple[Fraction, ...] = ()  # of quantiles
    is_number: bool = False

    @property
    def spec(self) -> StatisticSpec:
        """The statistic that its words ask for."""
        return _resolved(self.words)


class _DrawnRelease(NamedTuple):
    """One release of a table: its name, its notation in a plan, and the statistics that it is."""

    name: str
    words: dict[str, Any]
    cells: tuple[_Cell, ...]


def _by_column(options: dict[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Bounds, steps and categories, each by the column that they are for."""
    for name, columns in options.items():
        if columns is not None and not isinstance(columns, Mapping):
            raise BoundsError(
                *(
                    Argument(name),
                    f" of a table must be a mapping from columns, got {columns!r:.60}. ",
                ),
                *("Pass for example ", Argument(name, {"age": _EXAMPLES[name]}), "."),
            )
    return {name: columns or {} for name, columns in options.items()}


def _drawn_releases(
    statistics: object, columns: Mapping[str, Mapping[str, Any]], defaults: _Defaults
) -> list[_DrawnRelease]:
    """The count, and what each column is asked for."""
    if not isinstance(statistics, Mapping):
        raise DuffError(
            "statistics must be a mapping from columns to statistics, got "
            f"{statistics!r:.60}. Pass for example ",
            *(Argument("statistics", {"age": ["median", "mean"]}), ", or none for counts alone."),
        )
    cells_of: dict[str, list[_Cell]] = {}
    place = 1  # the count is first
    for column, requested in statistics.items():
        cells_of[column] = _cells_of_column(column, requested, place)
        place += len(cells_of[column])
    for name, values in columns.items():
        _refuse_other_columns(name, values, statistics)
    count = {
        "statistic": COUNT_STATISTIC,
        "name": COUNT_STATISTIC,
        "interval": defaults.interval,
        "contributions": 1,  # people are counted, each of them once
    }
    cell = _Cell(0, COUNT_STATISTIC, COUNT_STATISTIC, count)
    drawn = [_DrawnRelease(COUNT_STATISTIC, count, (cell,))]
    for column, requested_cells in cells_of.items():
        cells = []
        for cell in requested_cells:
            spec = statistic_spec(cell.words["statistic"])
            if spec.of_pairs or spec.of_graphs:
                raise DuffError(
                    f"{cell.name}: {spec.name} is not a statistic of one column. Release it "
                    "separately."
                )
            if spec.shape == "distribution":
                raise DuffError(
                    f"{cell.name}: a distribution does not fit into a table. Pass quantiles, or "
                    "release the distribution separately."
                )
            public_values = {
                name: columns[name][column] for name in columns if column in columns[name]
            }
            words = _public_set(cell, spec, column, public_values) | cell.words
            cells.append(replace(cell, words=words | {"column": column, "name": cell.name}))
        drawn += _drawn_together(column, cells, defaults)
    return drawn


def _refuse_other_columns(name: str, values: Mapping[str, Any], statistics: Any) -> None:
    """Refuse bounds, steps or categories of a column that has no statistic. Either name may be the
    misspelled one.
    """
    for column in values:
        if column in _SETTINGS and column not in statistics:
            raise DuffError(
                *(Argument(name), f" has an entry {column!r}, which is a setting of the whole "),
                "table. In a TOML file, write it above the first [section].",
            )
        if column not in statistics:
            raise DuffError(
                *(
                    Argument(name),
                    f" has the column {column!r}, but statistics has no such column: ",
                ),
                f"its columns are {quoted_names(statistics) or 'none'}. Use the same name in both.",
            )


@dataclass
class _JointQuantiles:
    """Cells of one column that are quantiles with the same options, or one other cell."""

    cells: list[_Cell]
    options: dict[str, Any] | None  # without the interval; None: no quantiles
    interval: Any  # `_ANY_INTERVAL`: none has an interval of its own

    def takes(self, other: _JointQuantiles) -> bool:
        """True if these are quantiles with the same options, and agree about intervals."""
        intervals = (self.interval, other.interval)
        agree = _ANY_INTERVAL in intervals or self.interval == other.interval
        return agree and self.options is not None and self.options == other.options


_ANY_INTERVAL = object()


def _drawn_together(
    column: str, cells: Sequence[_Cell], defaults: _Defaults
) -> list[_DrawnRelease]:
    """The releases of one column. Quantiles with the same options are one release, so they are in
    order; numbers and lists have intervals if the other quantiles have some.
    """
    parts: list[_JointQuantiles] = []
    for cell in cells:
        single = _JointQuantiles([cell], None, None)
        if cell.qs:
            filled = {"mechanism": defaults.mechanism, "covers": defaults.covers}
            filled |= _options_of(cell)
            takes_any = cell.is_number or cell.spec.shape != "value"
            usual = _ANY_INTERVAL if takes_any else defaults.interval
            single = _JointQuantiles([cell], filled, cell.words.get("interval", usual))
        same = next((part for part in parts if part.takes(single)), None)
        if same is None:
            parts.append(single)
            continue
        same.cells.append(cell)
        if same.interval is _ANY_INTERVAL:
            same.interval = single.interval
    names = {cell.name for cell in cells}
    return [_drawn_release(column, part, names, defaults) for part in parts]


def _drawn_release(
    column: str, part: _JointQuantiles, names: set[str], defaults: _Defaults
) -> _DrawnRelease:
    """One release for some cells; `names` are those that others have."""
    if len(part.cells) == 1:
        (cell,) = part.cells
        return _DrawnRelease(cell.name, _with_interval(cell.words, defaults), (cell,))
    others = names - {cell.name for cell in part.cells}
    name = unused = f"{column}_quantiles"
    number = 2
    while name in others:
        name, number = f"{unused}_{number}", number + 1
    names.add(name)
    words = _options_of(part.cells[0])
    words |= {"statistic": "quantiles", "name": name, "qs": sorted(_shares_of(part.cells))}
    if part.interval is not _ANY_INTERVAL:
        words["interval"] = part.interval
    return _DrawnRelease(name, _with_interval(words, defaults), tuple(part.cells))


def _options_of(cell: _Cell) -> dict[str, Any]:
    """The options of quantiles, without which ones they are, their name and their interval."""
    own = {
        "statistic",
        "name",
        "interval",
        *statistic_spec(cell.words["statistic"]).parameter_names,
    }
    return {word: value for word, value in cell.words.items() if word not in own}


def _shares_of(cells: Iterable[_Cell]) -> set[Fraction]:
    """The different quantiles of some cells."""
    return {q for cell in cells for q in cell.qs}


def _with_interval(words: dict[str, Any], defaults: _Defaults) -> dict[str, Any]:
    """The words of a release with the interval of the table, unless they have their own."""
    spec = _resolved(words)
    usual = defaults.mechanism if defaults.mechanism in spec.choices else spec.choices[0]
    if spec.has_interval(words.get("mechanism", usual)):
        if _cheap_ends(spec):
            words = {"interval": defaults.interval} | words
        if defaults.covers != COVERS.default and spec.covers_population and words.get("interval"):
            words = {"covers": defaults.covers} | words
    return words


def _resolved(words: Mapping[str, Any]) -> StatisticSpec:
    """The statistic that these words ask for."""
    spec = statistic_spec(words["statistic"])
    parameters = {name: words.get(name) for name in spec.parameter_names}
    return statistic_spec(spec.for_parameters(parameters)[0])


def _simultaneous(
    cells: Mapping[str, CheckedRequest],
    interval: Interval,
    margins: int,
) -> dict[str, CheckedRequest]:
    """Releases with intervals that hold all together: by the union bound each release may miss an
    equal part of what the table may, and each of its margins counts as another release.
    """
    with_ends = [name for name, checked in cells.items() if checked.plan.interval is not None]
    confidence = 1 - (1 - interval.confidence) / ((1 + margins) * len(with_ends))
    return {
        name: checked.request.replace(interval=confidence, simultaneous=True).check()
        if name in with_ends
        else checked
        for name, checked in cells.items()
    }


def _cheap_ends(spec: StatisticSpec) -> bool:
    """True if numbers get intervals without being asked for: ends of their own for several numbers
    would leave little of epsilon for each.
    """
    return spec.shape == "value" or not spec.interval_costs_epsilon


def _cells_of_column(column: object, requested: object, first: int) -> list[_Cell]:
    """The cells of one column: numbers are quantiles, and those side by side one statistic."""
    if not isinstance(column, str):
        raise DuffError(f"the name of a column must be text, got {column!r:.60}.")
    listed: list[Any] = []
    for item in requested if isinstance(requested, list | tuple) else [requested]:
        listed += item if isinstance(item, list | tuple) else [item]
    numbers = [i for i, item in enumerate(listed) if plain_number(item) is not None]
    if len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1:
        listed[numbers[0] : numbers[-1] + 1] = [[listed[i] for i in numbers]]
    cells = [_cell(column, item, first + i) for i, item in enumerate(listed)]
    if not cells:
        raise DuffError(
            f"the column {column!r} of the table has no statistic. Pass for example ",
            *(Argument("statistics", {column: "median"}), "."),
        )
    return cells


def _cell(column: str, item: object, place: int) -> _Cell:
    """One cell: a number or a list of them, the name of a statistic, or its words."""
    is_number = not isinstance(item, str | Mapping) and item is not None
    if is_number and (isinstance(item, list) or plain_number(item) is not None):
        try:
            qs = tuple(map(Q.read, item if isinstance(item, list) else [item]))
        except DuffError:
            raise DuffError(
                f"the column {column!r} of the table: a number is a quantile and must be from 0 to "
                f"1, got {item!r:.40}. Pass for example ",
                *(Argument("statistics", {column: 0.25}), "."),
            ) from None
        name = share_text(qs[0]) if len(qs) == 1 else "quantiles"
        words: dict[str, Any] = {"statistic": "quantile", "q": list(qs)}
        return _Cell(place, f"{column}_{name}", column, words, qs, is_number=True)
    words = dict(documented_options(item)) if isinstance(item, Mapping) else {"statistic": item}
    if "statistic" not in words:
        hint = next((did_you_mean("statistic", [word]) for word in words if word != "name"), "")
        raise DuffError(
            f"the column {column!r} of the table has a mapping without 'statistic'."
            f"{hint.replace('Did you mean', 'Rename').replace('?', '.')} Pass for example ",
            *(Argument("statistics", {column: {"statistic": "quantile", "q": 0.25}}), "."),
        )
    for word in words:
        if word in FOR_ALL:
            raise DuffError(
                f"the column {column!r} of the table has {word!r}, which can only be set for the "
                "whole table. Move it there."
            )
    try:
        spec = statistic_spec(words.get("statistic"))
    except DuffError as error:
        if column in REGISTRY:  # exchanged
            raise DuffError(
                f"statistics must be a mapping from columns to statistics, got the statistic "
                f"{column!r} first. Pass for example ",
                *(Argument("statistics", {str(words["statistic"])[:40]: column}), "."),
            ) from None
        raise error.prefixed(f"the column {column!r} of the table: ") from None
    missing = [one for one in spec.parameters if one.required and one.name not in words]
    if missing and not spec.of_pairs and not spec.of_graphs:
        example = {"statistic": spec.name, **{one.name: one.example for one in missing}}
        raise DuffError(
            f"the column {column!r} of the table: {spec.name} needs {missing[0].name}. Pass for "
            "example ",
            *(Argument("statistics", {column: example}), "."),
        )
    named = words.pop("name", None)
    if named is not None and (not isinstance(named, str) or not named):
        raise DuffError(f"name must be text, got {named!r:.60}.")
    name = named or f"{column}_{spec.name}"
    try:
        return _Cell(place, name, named or column, words, _quantiles(spec, words))
    except DuffError as error:
        raise error.prefixed(f"{name}: ") from None


def _quantiles(spec: StatisticSpec, words: Mapping[str, Any]) -> tuple[Fraction, ...]:
    """The quantiles that a release is asked for, in order of asking; none for other statistics."""
    if spec.name == "median":
        return (Fraction(1, 2),)
    for parameter in (Q, QS):
        shares = words.get(parameter.name)
        if parameter in spec.parameters and shares is not None:
            return tuple(map(Q.read, shares if isinstance(shares, list | tuple) else [shares]))
    return ()


def _public_set(
    cell: _Cell, spec: StatisticSpec, column: str, public_values: dict[str, Any]
) -> dict[str, Any]:
    """The bounds, step or categories of a column that a statistic takes."""
    listed = {"categories": public_values["categories"]} if "categories" in public_values else {}
    # A step is for what comes out as a candidate: means and sums are not rounded to it.
    unused = (
        ("categories",) if spec.step_rule(spec.choices[0]) == "order" else ("categories", "step")
    )
    bounded = {name: value for name, value in public_values.items() if name not in unused}
    pair = public_values.get("bounds")
    if pair is not None and not isinstance(pair, Ordered | list | tuple):
        raise BoundsError(
            *(Argument("bounds"), f" of the column {column!r} must be a pair (lower, upper), got "),
            *(f"{pair!r:.60}. Pass for example ", Argument("bounds", {column: (0, 120)}), "."),
        )
    need: tuple[str, ...] = ()
    counted = False
    if spec.outputs == "grid":
        chosen_set, need = bounded, ("bounds",)
    elif spec.outputs == "grid or categories":
        chosen_set, need = listed or bounded, ("categories", "bounds")
    else:
        counted = spec.outputs == "own or categories" and "bins" not in cell.words
        chosen_set = listed if counted else {}
    own = [one for one in spec.parameters if one.name in ("values", "between", "bins")]
    if own and not chosen_set and not {"categories", *(one.name for one in own)} & set(cell.words):
        names = " or ".join([*(one.name for one in own), *(["categories"] if counted else [])])
        example = {"statistic": spec.name, own[0].name: own[0].example}
        raise DuffError(
            f"{cell.name}: {spec.name} needs {names}. Pass for example ",
            *(Argument("statistics", {column: example}), "."),
        )
    if need and not any(name in chosen_set or name in cell.words for name in need):
        raise BoundsError(
            f"{cell.name}: {' or '.join(need)} of the column {column!r} are missing. They "
            "must not come from the data. Pass for example ",
            *(Argument(need[0], {column: _EXAMPLES[need[0]]}), "."),
        )
    return chosen_set
