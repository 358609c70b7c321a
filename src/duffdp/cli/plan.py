"""A plan in TOML: many releases over one source under one epsilon."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from duffdp.cli.task import Task
from duffdp.errors import DuffError

STATISTICS = ("median", "quantile", "mean", "mode", "describe")
SHARED = ("unit", "contributions", "mechanism")
TOP = ("source", "epsilon", "ledger", "dataset", "call_id", *SHARED, "release")
EACH = ("name", "statistic", "column", "q", "bounds", "step", "categories", "by", "keys", "weight", *SHARED)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a plan asks for."""

    source: str
    epsilon: Fraction
    tasks: list[Task]
    ledger: Path | None
    dataset: str | None
    call_id: str | None

    @property
    def columns(self) -> list[str]:
        """All columns that are needed."""
        return list(dict.fromkeys(column for task in self.tasks for column in task.columns))


def read_plan(path: Path) -> Plan:
    """Read and check a plan; files in it are named from where it lies."""
    from duffdp.mechanisms.mechanism import read_epsilon

    try:
        with path.open("rb") as file:
            given = tomllib.load(file)
    except (OSError, UnicodeDecodeError):
        raise DuffError(f"cannot read the plan {str(path)!r}. Check the path.") from None
    except tomllib.TOMLDecodeError as error:
        raise DuffError(f"the plan {str(path)!r} is not TOML: {error}.") from None
    _known(given, TOP, "the plan")
    for name in ("source", "epsilon", "release"):
        if name not in given:
            raise DuffError(f"the plan needs {name!r}." + (" Add a [[release]] for each result." if name == "release" else ""))
    source, epsilon = _text(given, "source"), read_epsilon(given["epsilon"])
    entries = given["release"]
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise DuffError("the plan must list its results as [[release]], each with statistic, column and bounds or categories.")
    shared = {name: given[name] for name in SHARED if name in given}
    weights = [_weight(entry) for entry in entries]
    tasks = [
        _task(shared | entry, i, epsilon * weight / sum(weights))
        for i, (entry, weight) in enumerate(zip(entries, weights, strict=True), 1)
    ]
    names = [task.title for task in tasks]
    if len(set(names)) < len(names):
        raise DuffError("two results of the plan have the same name. Give each [[release]] its own 'name'.")
    ledger = _text(given, "ledger")
    return Plan(
        source if source == "-" else str(path.parent / str(source)), epsilon, tasks,
        None if ledger is None else path.parent / ledger, _text(given, "dataset"), _text(given, "call_id"),
    )  # fmt: skip


def _task(entry: dict[str, Any], number: int, epsilon: Fraction) -> Task:
    where = f"[[release]] number {number}"
    _known(entry, EACH, where)
    statistic, column = entry.get("statistic"), entry.get("column")
    if statistic not in STATISTICS:
        raise DuffError(f"{where}: statistic must be one of {', '.join(STATISTICS)}, got {statistic!r}.")
    if not isinstance(column, str):
        raise DuffError(f"{where}: column must be the name of a column, got {column!r}.")
    if (statistic == "quantile") != ("q" in entry):
        raise DuffError(f"{where}: q goes with the statistic 'quantile' and with no other.")
    if statistic != "mode" and "categories" in entry:
        raise DuffError(f"{where}: categories go with the statistic 'mode' alone.")
    by = entry.get("by", [])
    by = [by] if isinstance(by, str) else by
    keys = entry.get("keys", [])
    if not isinstance(by, list) or not isinstance(keys, list):
        raise DuffError(f"{where}: by and keys must be lists.")
    if len(by) == 1 and not any(isinstance(part, list) for part in keys):
        keys = [keys] if keys else []
    if len(keys) != len(by) or not all(isinstance(part, list) for part in keys):
        raise DuffError(f"{where}: keys must be one list for each of the {len(by)} columns of by.")
    options = {name: entry[name] for name in ("bounds", "step", *SHARED) if name in entry}
    if statistic == "describe":  # has one mechanism
        options.pop("mechanism", None)
    q = entry.get("q")
    verb = "quantiles" if isinstance(q, list) else statistic
    return Task(verb, epsilon, column, q, by, keys, entry.get("categories"), options, str(entry.get("name", "")))


def _weight(entry: dict[str, Any]) -> Fraction:
    weight = entry.get("weight", 1)
    number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not number or not 0 < weight < float("inf"):
        raise DuffError(f"weight must be a finite number above 0, got {weight!r}.")
    return Fraction(repr(weight))


def _known(given: dict[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1, 0.5)
            hint = f" Did you mean {near[0]!r}?" if near else f" Known are {', '.join(names)}."
            raise DuffError(f"{where} has an unknown entry {name!r}.{hint}")


def _text(given: dict[str, Any], name: str) -> str | None:
    found = given.get(name)
    if found is not None and (not isinstance(found, str) or not found):
        raise DuffError(f"{name} must be a text, got {found!r}.")
    return found
