"""How ratios are measured: ours and theirs take turns in one run, medians of repeats."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial, partialmethod
from typing import Any


def ratio(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int = 15, number: int = 1
) -> tuple[float, float]:
    """Median time of one call of ours, and its ratio to theirs; the two take turns."""
    ours(), theirs()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for slot, call in zip(times, (ours, theirs), strict=True):
            begin = time.perf_counter()
            for _ in range(number):
                call()
            slot.append((time.perf_counter() - begin) / number)
    mine, other = map(statistics.median, times)
    return mine, mine / other


def heading() -> None:
    print(f"{'what':52}{'against':>24}{'time':>14}{'ratio':>10}{'limit':>10}")


def row(name: str, against: str, measured: tuple[float, float], limit: float) -> None:
    seconds, share = measured
    over = "" if share <= limit else "over"
    print(
        f"{name:52}{against:>24}{seconds * 1e3:11.3f} ms{share:9.2f}x{limit:9.2f}x  {over}",
        flush=True,
    )


def peak(name: str, mebibytes: float, limit: float) -> None:
    over = "" if mebibytes <= limit else "over"
    print(f"{name:76}{mebibytes:11.1f} MiB{'':8}{limit:9.0f}   {over}", flush=True)


def came_back(name: str, run: Callable[[], object], limit: int) -> None:
    """How many rows the queries of a run brought back from the engine, all together."""
    _counted(name, "rows", run, limit, lambda _, got: max(map(len, got.values()), default=0))


def scans(name: str, run: Callable[[], object], limit: int) -> None:
    """How often the queries of a run scan a Parquet file, by DuckDB's plans of them."""

    def scanned(frame: Any, _: object) -> int:
        # A name and a function.
        return int(frame.to_native().explain().count("READ_PARQUET")) // 2

    _counted(name, "scans", run, limit, scanned)


def _counted(
    name: str,
    what: str,
    run: Callable[[], object],
    limit: int,
    count: Callable[[Any, dict[str, Any]], int],
) -> None:
    """The sum over all queries of a run, by what is asked and what came back."""
    from duffdp._engines.adapters.duckdb import DuckdbRelation

    methods, found = ("fetch", "stored", "pieces"), 0
    real = {method: getattr(DuckdbRelation, method) for method in methods}

    def counted(method: str, engine: DuckdbRelation, frame: Any, *more: Any) -> Any:
        nonlocal found
        got = real[method](engine, frame, *more)
        found += count(frame, got if method == "fetch" else {})
        return got

    for method in methods:
        setattr(DuckdbRelation, method, partialmethod(partial(counted, method)))
    try:
        run()
    finally:
        for method in methods:
            setattr(DuckdbRelation, method, real[method])
    over = "" if found <= limit else "over"
    print(f"{name:76}{found:11} {what:11}{limit:9}   {over}", flush=True)
