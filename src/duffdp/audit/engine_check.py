"""Check of an engine before anything is charged: it compares the engine's answers about known
public records with those from memory.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import duffdp
from duffdp._engines.requests import (
    BinCounts,
    CandidateAt,
    ColumnRequest,
    CountsOfCounts,
    Engine,
    GroupedCounts,
    GroupedRanks,
    LevelSums,
    Quantization,
    RankAt,
    RanksNear,
    RecordCounts,
    Request,
    ValueCounts,
    ask,
    run_inquiry,
)
from duffdp._engines.selection import select
from duffdp._engines.sql.query import OpenSources
from duffdp._engines.table import SourceTable
from duffdp._optional import load
from duffdp._pipeline.release import Release
from duffdp._sampling.entropy import entropy
from duffdp.audit.engine_tables import EngineTable, open_tables
from duffdp.domain import Categories, Grid, PublicSet
from duffdp.errors import DuffError
from duffdp.ledger import Ledger
from duffdp.statistics.registry import REGISTRY
from duffdp.statistics.spec import StatisticSpec
from duffdp.version import __version__

Verdict = Literal["exact", "refused", "wrong"]
SURE_EPSILON = 1e6  # noise and choices are gone
ALL_ROWS = 1000  # contributions per person that keep every row


class EngineCheckRow(NamedTuple):
    """One question about the public records, and the result for the engine.

    Attributes
    ----------
    question
        The question.
    verdict
        "exact", "refused" (before anything would be charged) or "wrong".
    reason
        The reason if the verdict is not "exact".
    """

    question: str
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """Result of `check_engine`: a verdict on every question. It prints as a summary, and a
    line for each question that is not exact.

    Attributes
    ----------
    engine, version
        The engine and its version.
    date
        The day of the check.
    rows
        An `EngineCheckRow` for every question.
    duffdp_version
        The version of duffdp.

    Methods
    -------
    ok, count, summary, to_dict, from_dict, from_file

    Examples
    --------
    >>> import duffdp, polars
    >>> check = duffdp.audit.check_engine(polars.DataFrame())
    >>> check.ok, check.engine
    (True, 'polars')
    """

    engine: str
    version: str
    date: str
    rows: tuple[EngineCheckRow, ...]
    duffdp_version: str = field(default=__version__)

    @property
    def ok(self) -> bool:
        """True if no answer was wrong: all are exact or were refused before a charge."""
        return all(row.verdict != "wrong" for row in self.rows)

    def count(self, verdict: Verdict) -> int:
        """Number of questions with a verdict."""
        return sum(row.verdict == verdict for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data, for JSON."""
        return {
            "engine": self.engine,
            "version": self.version,
            "date": self.date,
            "duffdp": self.duffdp_version,
            "ok": self.ok,
            "rows": [row._asdict() for row in self.rows],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EngineCheck:
        """The result that `to_dict` wrote."""
        try:
            rows = tuple(EngineCheckRow(**row) for row in data["rows"])
            engine, version, date = (str(data[name]) for name in ("engine", "version", "date"))
            return cls(engine, version, date, rows, str(data["duffdp"]))
        except (KeyError, TypeError):
            raise DuffError(
                "this is not a result of check_engine. Pass a dictionary from "
                "EngineCheck.to_dict()."
            ) from None

    @classmethod
    def from_file(cls, path: str | Path) -> EngineCheck:
        """The result that `duffdp check-engine --out` wrote."""
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            raise DuffError(
                f"{str(path)!r} is not a result of check_engine. Make one with: duffdp "
                "check-engine ADDRESS --out check.json"
            ) from None

    @property
    def summary(self) -> str:
        """One line: the engine, its version, the date, and the number of answers of each kind."""
        counts = ", ".join(
            f"{self.count(verdict)} {verdict}" for verdict in ("exact", "refused", "wrong")
        )
        return (
            f"{self.engine} {self.version}, {self.date}: "
            f"{'ok' if self.ok else 'NOT SAFE'} ({len(self.rows)} questions: {counts})"
        )

    def __str__(self) -> str:
        """The summary, and a line for each question that is not exact."""
        lines = [self.summary]
        width = max((len(row.question) for row in self.rows), default=0)
        lines += [
            f"{row.verdict:8} {row.question:{width}} {row.reason}".rstrip()
            for row in self.rows
            if row.verdict != "exact"
        ]
        return "\n".join(lines)


def check_engine(engine: object) -> EngineCheck:
    """Check whether an engine counts exactly, on public records in a temporary table.

    Parameters
    ----------
    engine
        A connection or a session (ibis, DuckDB, Spark), a frame or table of the engine, whose own
        rows are not read, or an address: `postgresql://user@host/database`, `sc://host:port` for
        Spark Connect, or any address that `ibis.connect` takes.

    Returns
    -------
    EngineCheck
        `.ok` is True if no answer was wrong. It can be stored with `.to_dict()`.

    Raises
    ------
    DuffError
        If the engine is of an unknown kind, cannot be reached, or cannot hold a table.

    Privacy
    -------
    The records are public and made here, and no other table is read, so this costs no epsilon.

    References
    ----------
    `docs/reference/data-sources.md`, "Check an engine".

    Examples
    --------
    >>> import duckdb, duffdp
    >>> print(duffdp.audit.check_engine(duckdb.connect()))  # doctest: +ELLIPSIS
    duckdb ...: ok (... questions: ... exact, 0 refused, 0 wrong)
    """
    tables = open_tables(engine)
    rows: list[EngineCheckRow] = []
    with tables.create(poisonous_records(), mild_columns()) as table:
        rows += [
            EngineCheckRow(f"{name}: stored", "refused", reason)
            for name, reason in table.missing.items()
        ]
        for check in _checks(table):
            rows += check()
    today = dt.datetime.now(dt.UTC).date().isoformat()
    return EngineCheck(tables.name, tables.version, today, tuple(rows))


# Records.

CHECK_NAMES = (
    *("ANN", "ann", "Ann ", "ann ", " ann", "\u00e4nn", "a\u0308nn", "", "stra\u00dfe", "strasse"),
    *("I", "i", "\u0131", "\u0130", "a'b", 'a"b', "a\\b", "a%", "a_", "NULL", "nan", "0", "00"),
)
INTEGERS = (
    *(0, -1, 1, 2**31, -(2**31), 2**53, 2**53 + 1, -(2**53) - 1),
    *(2**62, -(2**62), 2**63 - 1, -(2**63)),
)
REALS = (-0.0, 0.0, 0.5, -0.5, 0.1 + 0.2, 0.3, 5e-324, -5e-324, 1.7e308, -1.7e308, 99.5, 1e16)
NON_FINITE = (float("nan"), float("inf"), float("-inf"))
AMOUNTS = ("0.00", "-0.01", "0.01", "0.10", "1.25", "12345678.90", "-99999999.99", "99999999.99")
DAYS = (
    *("1970-01-01", "1969-12-31", "2000-02-29", "2024-12-31"),
    *("1600-01-01", "0001-01-01", "9999-12-31"),
)
MOMENTS = (
    *("1970-01-01T00:00:00", "1969-12-31T23:59:59.999999", "2024-03-31T02:30:00"),
    *("2024-10-27T02:30:00.000001", "1600-01-01T00:00:00", "9999-12-31T23:59:59.999999"),
)
REGION_ROWS, REGION_BLOCK = 35, 7  # of each region, and side by side
CHECK_RECORDS = 4 * REGION_ROWS
# Scores of a region. No quantile lies between two of them and no count occurs twice, so that every
# statistic has one true value.
SCORES = (5,) * 4 + (12,) * 8 + (20,) * 9 + (31,) * 12 + (38,) * 2
# Absolute; minimum and maximum of `describe` may lie beside a record.
MAX_ERRORS = {"describe": 6.0}
MAX_ERROR = 0.5


def poisonous_records() -> Any:
    """The public records, as an Arrow table: values that engines are known to merge, to round, to
    drop or to fail on.
    """
    pa = load("pyarrow", "cli")
    places = range(CHECK_RECORDS)

    def cycle(values: Sequence[Any], every: int = 1) -> list[Any]:
        """The values again and again, with a missing one after them."""
        listed = [*values, None]
        return [listed[i // every % len(listed)] for i in places]

    def score(i: int) -> int:
        """A score of the region of a record, one higher in each."""
        block, place = divmod(i, REGION_BLOCK)
        return SCORES[11 * (block // 4 * REGION_BLOCK + place) % REGION_ROWS] + block % 4

    utc = [None if text is None else dt.datetime.fromisoformat(text) for text in cycle(MOMENTS)]
    days = [None if text is None else dt.date.fromisoformat(text) for text in cycle(DAYS)]
    amounts = [None if text is None else Decimal(text) for text in cycle(AMOUNTS)]
    moment = pa.timestamp("us")
    return pa.table(
        {
            "small": pa.array([i * i % 41 for i in places], pa.int64()),
            "score": pa.array([score(i) for i in places], pa.int64()),
            "integer": pa.array(cycle(INTEGERS), pa.int64()),
            "real": pa.array(cycle((*REALS, *NON_FINITE)), pa.float64()),
            "amount": pa.array(amounts, pa.decimal128(10, 2)),
            "flag": pa.array(cycle((True, False, False)), pa.bool_()),
            "day": pa.array(days, pa.date32()),
            "moment": pa.array(utc, moment),
            "instant": pa.array(utc, moment).cast(pa.timestamp("us", "UTC")),
            "name": pa.array(cycle(CHECK_NAMES), pa.string()),
            "region": pa.array(cycle((0, 1, 2), every=REGION_BLOCK), pa.int64()),
            "person": pa.array(cycle(CHECK_NAMES, every=3), pa.string()),
            "person_id": pa.array([i // 3 % 25 for i in places], pa.int64()),
        }
    )


def mild_columns() -> dict[str, Any]:
    """Columns for engines that cannot hold all of those values: finite numbers, and times of this
    era.
    """
    pa = load("pyarrow", "cli")
    records = poisonous_records()
    years = range(1900, 2100)

    def is_mild(value: object) -> bool:
        if isinstance(value, float):
            return math.isfinite(value)
        return not isinstance(value, dt.date) or value.year in years

    return {
        name: pa.array(
            [value if is_mild(value) else None for value in records[name].to_pylist()],
            records[name].type,
        )
        for name in ("real", "day", "moment", "instant")
    }


# Questions: kinds of requests about every column, then every statistic.


class _Selection(NamedTuple):
    """The rows that a question is about, and their groups."""

    title: str
    options: Mapping[str, Any]


EVERYTHING = _Selection("", {})
REGIONS = {"by": "region", "keys": [0, 1, 2, 3]}
PEOPLE = {"unit": "person", "contributions": ALL_ROWS}
SELECTIONS = (
    EVERYTHING,
    _Selection("by region", REGIONS),
    _Selection("by name", {"by": "name", "keys": list(CHECK_NAMES)}),
    _Selection("of people", PEOPLE),
    _Selection("of numbered people", {"unit": "person_id", "contributions": ALL_ROWS}),
    _Selection("of people by region", REGIONS | PEOPLE),
    _Selection("where name = 'ann'", {"where": "name = 'ann'"}),
    _Selection("where real > 0.25", {"where": "real > 0.25"}),
)
SELECTIONS_OF = {"small": SELECTIONS, "real": (EVERYTHING, SELECTIONS[1], SELECTIONS[-1])}
DOMAINS: dict[str, Callable[[], PublicSet]] = {
    "small": partial(Grid, 0, 40, 1),
    "integer": partial(Grid, -(2**61), 2**61, 2**31),
    "real": partial(Grid, -100, 100, 0.25),
    "amount": lambda: Grid(Decimal(-100), Decimal(100), Decimal("0.01")),
    "flag": partial(Grid, 0, 1, 1),
    "day": partial(Grid, dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    "moment": lambda: _hours(None),
    "instant": lambda: _hours(dt.UTC),
    "name": lambda: Categories(list(CHECK_NAMES)),
}


def _hours(zone: dt.tzinfo | None) -> Grid:
    first, last = (dt.datetime(year, 1, 1, tzinfo=zone) for year in (1900, 2100))
    return Grid(first, last, dt.timedelta(hours=1))


def _requests(domain: PublicSet) -> Iterator[tuple[str, Request[Any]]]:
    """Every kind of request that can be asked about records on a domain."""
    size = domain.size
    yield "number of records", RecordCounts()
    yield "counts of values", ValueCounts()
    if isinstance(domain, Categories):
        return
    yield "counts of counts", CountsOfCounts()
    yield "counts in bins", BinCounts((0, size // 3, size // 2, size - 1))
    yield "rank of a candidate", RankAt(size // 2)
    yield "ranks near quantiles", RanksNear(((Fraction(1, 4), 5), (Fraction(9, 10), 5)))
    yield "sums of levels", LevelSums(Quantization(0, size - 1))
    yield "sums of squares", LevelSums(Quantization.squared(0, size - 1))
    yield "candidate by its count", CandidateAt(0, size // 3)


def _checks(table: EngineTable) -> Iterator[Callable[[], list[EngineCheckRow]]]:
    """All checks of a table, each of them a function."""
    missing = table.missing.keys() - set(table.records.column_names)
    for column, make_domain in DOMAINS.items():
        if column not in table.records.column_names:
            continue
        for selection in SELECTIONS_OF.get(column, (EVERYTHING,)):
            if not _columns_of(selection) & missing:
                yield partial(_check_requests, table, column, make_domain(), selection)
    yield partial(_check_caps, table)
    for spec in REGISTRY.values():
        if not spec.of_graphs:
            for example in spec.examples[:1]:
                yield partial(_check_statistic, table, spec, example)


def _columns_of(selection: _Selection) -> set[str]:
    """The columns that a selection names."""
    texts = {str(option) for option in selection.options.values()}
    return {word for text in texts for word in text.split() if word.isidentifier()}


def _open(data: object, column: str, domain: PublicSet, options: Mapping[str, Any]) -> SourceTable:
    """The records as a release opens them, before anything is charged."""
    arguments = {"by": None, "keys": None, "unit": None, **options}
    groups_per_person = arguments.pop("groups_per_person", None)
    selection = select(column, **arguments)._replace(groups_per_person=groups_per_person)
    return SourceTable(data, selection, domain.kind, lambda *_: domain, OpenSources())


def _check_requests(
    table: EngineTable, column: str, domain: PublicSet, selection: _Selection
) -> list[EngineCheckRow]:
    """Ask every kind of request about one column, and compare with arrays."""
    title = " ".join(filter(None, [column, selection.title]))
    try:
        opened = _open(table.data, column, domain, selection.options)
    except DuffError as error:
        return [EngineCheckRow(title, "refused", _first_sentence(error))]
    reference, _ = _open(table.records, column, domain, selection.options).engine(entropy(None))
    requests = dict(_requests(opened.domain))
    try:
        try:
            engine, place = opened.engine(entropy(None))
            groups = np.arange(engine.groups)
            answers = engine.answer(
                [ColumnRequest(place, groups, request) for request in requests.values()]
            )
        except Exception as error:  # an engine may fail in any way
            reason = f"failed after the charge ({type(error).__name__})"
            return [EngineCheckRow(title, "wrong", reason)]
        return [
            _compared(f"{title}: {name}", request, answer, reference, opened.domain.size)
            for (name, request), answer in zip(requests.items(), answers, strict=True)
        ]
    finally:
        if opened.close is not None:
            opened.close()


def _compared(
    question: str, request: Request[Any], answer: Any, reference: Engine, size: int
) -> EngineCheckRow:
    """The verdict on one answer, beside that of arrays."""
    groups = np.arange(reference.groups)
    if isinstance(request, RanksNear):
        counts = run_inquiry(ask(ValueCounts()), reference, groups)
        wrong = _wrong_ranks(request, answer, counts)
    else:
        (expected,) = reference.answer([ColumnRequest(0, groups, request)])
        answered_parts, expected_parts = _plain(answer), _plain(expected)
        wrong = (
            None
            if answered_parts == expected_parts
            else f"{answered_parts!s:.60} where arrays have {expected_parts!s:.60}"
        )
    return EngineCheckRow(question, "exact" if wrong is None else "wrong", wrong or "")


def _plain(answer: Any) -> Any:
    """An answer as lists of numbers."""
    if isinstance(answer, GroupedCounts):
        return [(values.tolist(), counts.tolist()) for values, counts in answer.split()]
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, list | tuple):
        return [_plain(part) for part in answer]
    return int(answer)


def _wrong_ranks(
    request: RanksNear, answer: Sequence[GroupedRanks], counts: GroupedCounts
) -> str | None:
    """A description of wrong ranks; engines may return more of them than were requested."""
    for (q, reach), grouped in zip(request.targets, answer, strict=True):
        for group, ranks in enumerate(grouped.split()):
            values, records = counts.group(group)
            total = int(records.sum())
            inside = (values >= ranks.first) & (values <= ranks.last)
            expected = [values[inside].tolist(), records[inside].tolist()]
            below = int(records[values < ranks.first].sum())
            if [ranks.values.tolist(), ranks.counts.tolist()] != expected:
                return "other values than arrays have"
            if (ranks.below, ranks.total) != (below, total):
                return f"{ranks.below} of {ranks.total} records below, arrays {below} of {total}"
            middle = q.numerator * total // q.denominator
            first, last = max(middle - reach, 0), min(middle + 1 + reach, total - 1)
            if total and not below <= first <= last < below + int(records[inside].sum()):
                return "fewer ranks than requested"
    return None


def _check_caps(table: EngineTable) -> list[EngineCheckRow]:
    """Check that each person counts as often as allowed, whoever is named nearly alike.

    Every limit for the first column of people that the engine takes, and one for the other: its
    queries are the same.
    """
    rows: list[EngineCheckRow] = []
    records = table.records.to_pydict()
    for unit in ("person", "person_id"):
        if unit not in records:
            continue
        people = [person for person in records[unit] if person is not None]
        regions = set(zip(records[unit], records["region"], strict=True))
        present = [(p, r) for p, r in regions if p is not None and r is not None]
        two_rows = sum(min(2, people.count(person)) for person in {*people})
        one_region = len({person for person, _ in present})
        limits: list[tuple[str, dict[str, Any], int]] = [
            ("one row each", {"contributions": 1}, len({*people})),
            ("two rows each", {"contributions": 2}, two_rows),
            ("one row per region", {**REGIONS, "groups_per_person": 3}, len(present)),
            ("one region each", {**REGIONS, "groups_per_person": 1}, one_region),
        ]
        if any(row.verdict != "refused" for row in rows):
            del limits[1:]
        rows += [
            _check_cap(table, f"cap per {unit}: {title}", {"unit": unit, **options}, expected)
            for title, options, expected in limits
        ]
    return rows


def _check_cap(
    table: EngineTable, question: str, options: Mapping[str, Any], expected: int
) -> EngineCheckRow:
    """Count the rows that a limit leaves."""
    try:
        opened = _open(table.data, "small", DOMAINS["small"](), options)
    except DuffError as error:
        return EngineCheckRow(question, "refused", _first_sentence(error))
    try:
        engine, place = opened.engine(entropy(None))
        counts = run_inquiry(ask(RecordCounts()), engine, np.arange(engine.groups), place)
        total = sum(counts)
        reason = "" if total == expected else f"{total} rows count, {expected} should"
    except Exception as error:  # an engine may fail in any way
        reason = f"failed after the charge ({type(error).__name__})"
    finally:
        if opened.close is not None:
            opened.close()
    return EngineCheckRow(question, "wrong" if reason else "exact", reason)


def _check_statistic(
    table: EngineTable, spec: StatisticSpec, example: Mapping[str, Any]
) -> list[EngineCheckRow]:
    """Make a release of one statistic, and compare it with that of arrays."""
    question = f"statistic {spec.name}"
    with tempfile.TemporaryDirectory(prefix="duffdp-check-") as folder:
        ledger = Ledger(Path(folder) / "check.db", epsilon=10 * SURE_EPSILON)
        try:
            numbers = _numbers(_release(table.data, spec, example, ledger=ledger))
        except Exception as error:  # an engine may fail in any way
            if ledger.charges():
                reason = f"failed after the charge ({type(error).__name__})"
                return [EngineCheckRow(question, "wrong", reason)]
            return [EngineCheckRow(question, "refused", _first_sentence(error))]
    expected = _numbers(_release(table.records, spec, example))
    is_equal = len(numbers) == len(expected) and np.allclose(
        numbers, expected, rtol=0, atol=MAX_ERRORS.get(spec.name, MAX_ERROR)
    )
    reason = "" if is_equal else f"{numbers!s:.60} where arrays have {expected!s:.60}"
    return [EngineCheckRow(question, "exact" if is_equal else "wrong", reason)]


def _release(
    data: object, spec: StatisticSpec, example: Mapping[str, Any], ledger: Ledger | None = None
) -> Release:
    """A release of one statistic of the scores, by region where that can be."""
    function = getattr(duffdp, spec.name)
    options: dict[str, Any] = {**example, "epsilon": SURE_EPSILON, "ledger": ledger}
    if not spec.makes_domain:
        options |= {"bounds": (0, 40), "step": 1}
    if spec.of_pairs:
        release: Release = function("score", "person_id", data=data, **options)
    elif spec.shape == "distribution":
        release = function(data, column="score", **options)
    else:
        release = function(data, column="score", by="region", keys=[0, 1, 2], **options)
    return release


def _numbers(release: Release) -> list[float]:
    """The released numbers, group by group."""
    numbers: list[float] = []
    for *_, value in release.rows():
        if isinstance(value, duffdp.Distribution):
            numbers += [float(value.count), *(40 * value.cdf(x) for x in (10, 20, 30))]
        else:
            numbers.append(float(value))
    return numbers


def _first_sentence(error: BaseException) -> str:
    return str(error).partition(". ")[0]
