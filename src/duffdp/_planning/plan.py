"""Several releases under one epsilon: checked together, charged all or none, then drawn."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from duffdp._engines.keys import refuse_data_as_keys
from duffdp._engines.sql.query import OpenSources
from duffdp._facts import Facts
from duffdp._parameters import (
    EPSILON,
    KEYS,
    MECHANISM,
    RELEASE_OPTIONS,
    WEIGHT,
    documented_options,
)
from duffdp._pipeline.export import SimpleTable
from duffdp._pipeline.notes import Note, Reading, notes_about
from duffdp._pipeline.release import Release
from duffdp._pipeline.request import CheckedRequest, ReleaseRequest
from duffdp._pipeline.run import PreparedRelease, ledger_of, make_releases
from duffdp._pipeline.signatures import takes_aliases
from duffdp._pipeline.sources import read_sources
from duffdp._pipeline.text_values import with_values
from duffdp._pipeline.toml import read_toml, refuse_unknown
from duffdp.domain import Digits
from duffdp.errors import Argument, BoundsError, DuffError, SourceError, charge_note
from duffdp.statistics.registry import REGISTRY, check_parameter_names, statistic_spec


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of a plan: the facts and rows of every release, the remaining budget of its ledger, and
    notes about how values are read.
    """

    releases: dict[str, Facts]
    rows: dict[str, int]
    epsilon: Fraction
    remaining: Fraction | None
    notes: tuple[Note, ...] = ()

    @property
    def fits(self) -> bool:
        """True if the budget covers it, or if there is no ledger."""
        return self.remaining is None or self.epsilon <= self.remaining


_EXAMPLE = {"statistic": "median", "column": "age", "bounds": (0, 120)}


class Plan:
    """Several releases from one source that share one epsilon; all are charged or none.

    Parameters
    ----------
    releases
        A mapping for each release: `statistic`, `column`, and the parameters of its function, such
        as `q` (a list for several quantiles), `bounds`, `step`, `categories`, `by`, `keys`,
        `where`, `unit`, `contributions`, `groups_per_person`, `suppress_below` and `mechanism`.
        `digits` can replace `bounds` and `step`. Also `name`, and `weight`: epsilon is split in
        proportion to the weights, which are 1 by default.
    epsilon
        The privacy loss of all releases together.
    where, unit, contributions, groups_per_person, mechanism
        Defaults for releases that do not have their own.
    source, ledger, dataset, call_id
        The data and the budget, if the plan names them.
    sources
        Answers for a reviewer that the report prints: where `bounds`, `step`, `categories` and
        `keys` come from, and others as in `duffdp.report.write`.

    Methods
    -------
    from_toml, check, preview, run

    Privacy
    -------
    Pure epsilon-differential privacy for all releases together: their shares add up to epsilon.
    They protect the weakest unit among them: a row, if any release protects rows. All parameters
    are checked before anything is charged, and all releases are charged before a row is read.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14:
    shares add up.

    Examples
    --------
    >>> import duffdp
    >>> ages = {"column": "age", "bounds": (0, 120)}
    >>> tail = {"statistic": "quantile", "q": 0.9, "weight": 3}
    >>> plan = duffdp.Plan([{"statistic": "median", **ages}, {**tail, **ages}], epsilon=1.0)
    >>> [(name, str(facts.loss.epsilon)) for name, facts in plan.check().releases.items()]
    [('median of age', '1/4'), ('quantile 0.9 of age', '3/4')]
    """

    @takes_aliases
    def __init__(
        self,
        releases: Iterable[Mapping[str, Any]],
        *,
        epsilon: Any,
        where: str | None = None,
        unit: str | None = None,
        contributions: int = 1,
        groups_per_person: int | None = None,
        mechanism: str = "best",
        source: Any = None,
        ledger: Any = None,
        dataset: str | None = None,
        call_id: str | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        self.epsilon = EPSILON.read(epsilon)
        is_list = isinstance(releases, Iterable) and not isinstance(releases, Mapping | str)
        listed = list(releases) if is_list else []
        if not listed or not all(isinstance(entry, Mapping) for entry in listed):
            raise DuffError(
                "a plan must be a list of releases, each with statistic, column and bounds or "
                "categories. Pass for example ",
                Argument("releases", [_EXAMPLE]),
                ".",
            )
        shared = {
            "where": where,
            "unit": unit,
            "contributions": contributions,
            "groups_per_person": groups_per_person,
            "mechanism": mechanism,
        }
        weights = []
        for i, entry in enumerate(listed, 1):
            with self._in_place(i, entry.get("name")):
                listed[i - 1] = documented_options(entry)
                weights.append(WEIGHT.read_from(entry))
        self.releases: list[CheckedRequest] = []
        for i, (entry, weight) in enumerate(zip(listed, weights, strict=True), 1):
            with self._in_place(i, entry.get("name")):
                request = _request(shared, entry, self.epsilon * weight / sum(weights))
                refuse_data_as_keys(request[KEYS], source)
                self.releases.append(request.check())
        self.names = _names(self.releases)
        self.source, self.ledger, self.dataset, self.call_id = source, ledger, dataset, call_id
        self.sources = read_sources(sources)
        self.reads_text = False  # keys and categories mean what they are

    def with_releases(self, releases: Sequence[CheckedRequest]) -> Plan:
        """A copy of the plan with other releases, whose shares add up to its epsilon."""
        assert sum(checked.terms.epsilon for checked in releases) == self.epsilon
        plan = copy(self)
        plan.releases, plan.names = list(releases), _names(releases)
        return plan

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Plan:
        """A plan from a file: `source`, `epsilon`, and a `[[release]]` for each result.

        Paths are relative to the file's folder. `keys` is a list of values or, for several columns
        of `by`, one list for each: all combinations are answered. Keys and categories that are text
        are converted to the type of their column.
        """
        entries = read_toml(Path(path))
        plan = cls(entries.pop("release"), **entries)
        plan.reads_text = True
        return plan

    @property
    def requests(self) -> list[ReleaseRequest]:
        """The requested releases."""
        return [checked.request for checked in self.releases]

    def check(self, data: object = None, *, ledger: object = None) -> Cost:
        """The plan's cost. If data is passed, the names and types of their columns are checked
        too; no row is read.
        """
        if data is None and self.source is None:
            facts, readings = self._public_facts()
        else:
            prepared = self.prepared(data, None)
            facts = dict(zip(self.names, [entry.facts for entry in prepared], strict=True))
            readings = [entry.reading for entry in prepared]
        rows: dict[str, int] = {}
        for name, checked in zip(self.names, self.releases, strict=True):
            ends = 3 if checked.plan.interval else 1  # they stand beside values
            numbers = len(checked.columns) // ends
            rows[name] = numbers * max(len(checked.selection.groups.keys), 1)
        book = self._ledger(ledger)
        remaining = None if book is None else book.remaining_exactly()
        notes = notes_about(zip(facts.values(), readings, strict=True))
        return Cost(facts, rows, self.epsilon, remaining, tuple(notes))

    def _public_facts(self) -> tuple[dict[str, Facts], list[Reading]]:
        """The facts of every release as far as they are known without data."""
        facts, readings = {}, []
        for i, (name, checked) in enumerate(zip(self.names, self.releases, strict=True), 1):
            with self._in_place(i, checked.request.name):
                facts[name] = checked.facts(checked.plan, checked.domain, True, None)
                readings.append(Reading(None, checked.has_default_step))
        return facts, readings

    def preview(self, *, group_size: int, shape: str = "uniform", draws: int = 100) -> SimpleTable:
        """The expected errors of every release for a group of `group_size` records.

        `shape` is the assumed distribution of the records, as in `duffdp.preview`. No record is
        read. Columns without a step are treated as real numbers. A release whose error depends on
        more than this distribution has a note instead of numbers. If no formula gives the error,
        `draws` seeded releases are simulated.
        """
        from duffdp._planning.plan_preview import preview_plan  # here: a run needs no experiments

        return preview_plan(self.releases, group_size, shape, draws)

    def run(
        self,
        data: object = None,
        *,
        ledger: object = None,
        rng: object = None,
        done: Callable[[], None] | None = None,
        rehearsal: Callable[[dict[str, Release]], None] | None = None,
    ) -> dict[str, Release]:
        """Charge all releases or none, then make them; `done` is called after each.

        `rehearsal` is called before the charge, with made-up releases of the same shape, so an
        error in it costs nothing.
        """
        prepared = self.prepared(data, rng)
        if rehearsal is not None:
            self.rehearse(prepared, rehearsal)
        return self.make(prepared, ledger, done)

    def rehearse(
        self, prepared: list[PreparedRelease], rehearsal: Callable[[dict[str, Release]], None]
    ) -> None:
        """Call `rehearsal` with made-up releases of the prepared shape, by their names."""
        from duffdp._pipeline.rehearsal import rehearse

        rehearse(prepared, lambda releases: rehearsal(dict(zip(self.names, releases, strict=True))))

    def prepared(self, data: object, rng: object) -> list[PreparedRelease]:
        """All releases, after all checks that need no row."""
        source = self.source if data is None else data
        if source is None:
            raise DuffError("the plan has no source. Pass the data: plan.run(data).")
        prepared, sources = [], OpenSources()
        for i, checked in enumerate(self.releases, 1):
            with self._in_place(i, checked.request.name):
                # Before a message could quote them.
                refuse_data_as_keys(checked.request[KEYS], source)
                if self.reads_text:
                    checked = with_values(checked, source, sources).check()
                prepared.append(PreparedRelease.of_checked(checked, source, rng, sources))
        return prepared

    def make(
        self, prepared: list[PreparedRelease], ledger: object, done: Callable[[], None] | None
    ) -> dict[str, Release]:
        """Charge all prepared releases or none, then read the data and draw."""
        releases = make_releases(prepared, self._ledger(ledger), done)
        return dict(zip(self.names, releases, strict=True))

    def note_charge(self, error: BaseException, ledger: object) -> None:
        """Add a note about the charge to an error that was raised after all numbers were stored."""
        book = self._ledger(ledger)
        if book is not None:
            note = charge_note(float(self.epsilon), book.dataset, book.call_id, 0.0)
            error.add_note(note)

    def _label(self, number: int, name: object) -> str:
        """The beginning of errors about a release."""
        named = f" ({name})" if name and isinstance(name, str) else ""
        return f"release {number} of the plan{named}: "

    @contextmanager
    def _in_place(self, number: int, name: object) -> Iterator[None]:
        """The error of a check of one release says which one it was."""
        try:
            yield
        except SourceError:
            raise  # the data of all releases
        except DuffError as error:
            raise error.prefixed(self._label(number, name)) from None

    def _ledger(self, override: object) -> Any:
        ledger = self.ledger if override is None else override
        return None if ledger is None else ledger_of(ledger, self.dataset, self.call_id)

    def __repr__(self) -> str:
        return f"Plan({', '.join(map(repr, self.names))}, epsilon={float(self.epsilon):g})"


def _names(releases: Sequence[CheckedRequest]) -> list[str]:
    """The names of releases, all of them different."""
    names = [checked.title for checked in releases]
    twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
    if twice is not None:
        raise DuffError(
            f"two releases of the plan have the name {twice!r}. Give each its own name."
        )
    return names


def _request(
    shared: Mapping[str, Any], words: Mapping[str, Any], epsilon: Fraction
) -> ReleaseRequest:
    """One release of a plan, from its own words and those for all releases."""
    if "statistic" not in words:
        raise DuffError(
            "statistic is missing. Pass for example ", Argument("statistic", "median"), "."
        )
    spec = statistic_spec(words["statistic"])
    allowed = [option.name for option in ((MECHANISM,) if spec.of_graphs else RELEASE_OPTIONS)]
    if spec.of_pairs:
        allowed.remove("column")
        if not {"x", "y"} <= set(words):
            raise DuffError(
                *(f"{spec.name} needs ", Argument("x"), " and ", Argument("y")),
                ", the names of two columns.",
            )
    names = ("statistic", "weight", "name", *spec.parameter_names, *allowed)
    others = {name for other in REGISTRY.values() for name in other.parameter_names}
    refuse_unknown([word for word in words if word not in others], names, spec.name)
    check_parameter_names(spec, words)
    refuse_unknown(words, names, spec.name)
    name = words.get("name", "")
    if not isinstance(name, str):
        raise DuffError(f"name must be text, got {name!r}.")
    options = {key: value for key, value in shared.items() if key in allowed}
    if options["mechanism"] == "duff" and "duff" not in spec.choices:
        options["mechanism"] = spec.choices[0]  # what is for all releases is not for this one
    for key in (*spec.parameter_names, *allowed):
        if key in words:
            options[key] = words[key]
    if "digits" in options:
        if "bounds" in options:
            raise BoundsError(
                "got ", Argument("bounds"), " and ", Argument("digits"), ". Pass one of them."
            )
        options["bounds"] = Digits(options.pop("digits"))
    return ReleaseRequest(spec.name, {**options, "epsilon": epsilon}, name)
