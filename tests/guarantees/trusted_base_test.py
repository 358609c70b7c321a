"""The trusted base: its list, its promises, and that nothing outside of it can draw, read records
or spend.
"""

from __future__ import annotations

import ast
import functools
import gc
import importlib.util
import re
from collections import deque
from pathlib import Path
from types import CodeType, FunctionType, GeneratorType, ModuleType, SimpleNamespace

import numpy as np
import pytest

from duffdp import Ledger
from duffdp._engines.arrays import ArrayEngine, CellEngine
from duffdp._engines.edges import EdgeEngine
from duffdp._engines.pairs import PairEngine
from duffdp._engines.queries.engine import QueryEngine
from duffdp._engines.shared import SharedEngine
from duffdp._engines.summed import SummedEngine
from duffdp._engines.table import SourceTable
from duffdp._pipeline import driver
from duffdp._pipeline.run import ArraySource
from duffdp._sampling.entropy import SeededEntropy, SystemEntropy
from duffdp.audit.replay_cases import replay_cases
from duffdp.statistics.program import ReleaseProgram

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "duffdp"
spec = importlib.util.spec_from_file_location("trusted_base", ROOT / "tools" / "trusted_base.py")
base = importlib.util.module_from_spec(spec)
spec.loader.exec_module(base)

# Modules outside of the base that import the sampler: none of them releases anything.
DRAWS_OUTSIDE = {
    "_pipeline/distribution.py": "bounds on sums of noise, from a public seed",
    "_pipeline/rehearsal.py": "made-up numbers before the charge",
    "_planning/forecast.py": "planning on public records",
    "_planning/outcomes.py": "planning on public records",
    "_planning/release_forecast.py": "planning on public records",
    "_planning/profile.py": "checks rng before the charge",
    "audit/engine_check.py": "checks of engines on public records",
    "audit/replay.py": "replays, which a ledger refuses unless it accepts seeds",
    "mechanisms/distance_bound.py": "bounds from released numbers",
    "_sampling/cumulative_noise.py": "bounds on sums of noise, from a public seed",
}
# Modules that draw from a mechanism by themselves, with step functions that somebody passed.
DRAWS_FROM_STEPS = {
    "audit/draws.py": "the test of draws, on its own records",
    "research/experiments/run.py": "figures of the paper, on public data",
    "research/experiments/synthetic.py": "experiments on public data",
    "research/experiments/timing.py": "experiments on public data",
    "research/experiments/vertebral.py": "experiments on public data",
    "research/baselines/_noise.py": "the paper's baselines, on a caller's values: no release",
}
# Modules outside of `_engines/` that ask something for an answer.
ASKS = {
    "_pipeline/driver.py": "the driver",
    "_steps.py": "a tail, while a mechanism draws",
    "_rank_profile.py": "ranks out of reach, while a mechanism draws",
    "_planning/outcomes.py": "public records",
    "audit/engine_check.py": "public records",
    "audit/movement.py": "what a replay looks at",
    "report/page.py": "no engine: the answers of people about a release",
    "report/registry.py": "no engine: the answers of people about a release",
    "statistics/records.py": "values that a caller passes to `steps`: not private, no release",
    "statistics/slope.py": "values that a caller passes to `steps`: not private, no release",
}
# Modules outside of `_engines/` that open an engine, or read or count records.
READS = {
    "_pipeline/run.py": "releases",
    "_cli/planning.py": "a public sample",
    "_planning/forecast.py": "public records",
    "_planning/previews.py": "public records",
    "_planning/release_forecast.py": "public records",
    "audit/engine_check.py": "public records",
    "statistics/records.py": "values that a caller passes to `steps`: not private, no release",
    "research/baselines/_exponential.py": "values of an experiment: no release",
    "research/sensitivity.py": "values of an experiment: no release",
}
READERS = {"engine", "own_engine", "key_counts", "key_places", "read_columns"}
READERS |= {"read_array", "array_engine", "value_counts"}
READERS |= {"ArrayEngine", "CellEngine", "EdgeEngine", "PairEngine", "QueryEngine"}
CHARGES = {"_pipeline/run.py", "ledger/ledger.py"}
# Modules that make a release of numbers: drawn ones, and made-up ones before the charge.
RELEASES = {"_pipeline/run.py", "_pipeline/rehearsal.py"}


@functools.cache
def modules():
    return [
        (path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text()))
        for path in sorted(SOURCE.rglob("*.py"))
    ]


def imports(tree):
    """The dotted name of everything that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def calls(tree, names):
    """True if a module calls a function or a method with one of these names."""
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return any(
        (isinstance(function, ast.Attribute) and function.attr in names)
        or (isinstance(function, ast.Name) and function.id in names)
        for function in called
    )


def callers(*names):
    """The modules that call one of these."""
    return {file for file, tree in modules() if calls(tree, set(names))}


def outside_engines(files):
    return {file for file in files if not file.startswith("_engines/")}


def test_the_list_is_that_of_the_page():
    page = (ROOT / "docs" / "review" / "trusted-base.md").read_text()
    assert base.table() in page, "python tools/trusted_base.py --write"
    print(base.line_counts())


@pytest.mark.parametrize("file", base.FILES)
def test_every_file_begins_with_its_promise(file):
    assert base.promise(SOURCE / file).endswith(".")


PROOFS = {file: proof for part in base.BASE for file, proof in part.proofs.items()}


@pytest.mark.parametrize("file", PROOFS)
def test_every_file_has_a_proof_that_is_there(file):
    """Pages with their sections, and tests."""
    tests = re.findall(r"`(tests/[^`]+)`", PROOFS[file])
    assert tests
    for path in tests:
        assert (ROOT / path).is_file(), path
    for page, section in re.findall(r"\]\(([a-z./-]+\.md)(?:#([a-z-]+))?\)", PROOFS[file]):
        text = (ROOT / "docs" / "review" / page).read_text()
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        assert not section or section in {slug(heading) for heading in headings}, section


def slug(heading):
    """The anchor of a heading, as the site makes it."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def test_lines_of_code_are_counted_without_words(tmp_path):
    file = tmp_path / "counted.py"
    file.write_text('"""Words.\n\nPromise: One thing.\n"""\n\nx = [\n    1,  # one\n]\n\n# no\n')
    assert base.code_lines(file) == 3
    assert base.promise(file) == "One thing."


def test_nothing_outside_draws():
    draws = {
        file
        for file, tree in modules()
        if any(name.startswith("duffdp._sampling") for name in imports(tree))
    }
    draws |= {f"_sampling/{path.name}" for path in (SOURCE / "_sampling").glob("[a-z]*.py")}
    assert draws - set(base.FILES) == set(DRAWS_OUTSIDE)


def test_nothing_outside_draws_from_steps():
    """In `statistics/`, `draw` names the draw of a program."""
    draws = {file for file in callers("draw") if not file.startswith("statistics/")}
    assert draws - set(base.FILES) == set(DRAWS_FROM_STEPS)


def test_nothing_outside_asks_an_engine():
    assert outside_engines(callers("answer", "run_inquiry")) == set(ASKS)


def test_nothing_outside_reads_records():
    assert outside_engines(callers(*READERS)) == set(READS)


def test_nothing_outside_spends():
    assert callers("charge_all", "charge") == CHARGES
    writes = {
        file
        for file, tree in modules()
        if {"duffdp.ledger.journal.Journal", "sqlite3"} & set(imports(tree))
        and not file.startswith("ledger/")
    }
    # These read SQLite files of records; the ledger is none of them.
    assert writes == {"_engines/files/databases.py", "_engines/files/paths.py"}


def test_nothing_outside_makes_a_release():
    assert callers("Release") == RELEASES


@pytest.mark.parametrize(
    "line",
    [
        "from duffdp._sampling.entropy import SYSTEM",
        "from duffdp._sampling import entropy",
        "from duffdp import _sampling",
        "import duffdp._sampling.entropy",
    ],
)
def test_every_way_to_import_the_sampler_is_seen(line):
    """Relative imports are refused by `tests/architecture_test.py`, and mypy refuses names that are
    imported from where they are not defined.
    """
    assert any(name.startswith("duffdp._sampling") for name in imports(ast.parse(line)))


# At run time: what programs and statistics can reach.

FORBIDDEN = (
    SystemEntropy,
    SeededEntropy,
    np.random.Generator,
    ArrayEngine,
    CellEngine,
    EdgeEngine,
    PairEngine,
    QueryEngine,
    SharedEngine,
    SummedEngine,
    SourceTable,
    ArraySource,
    Ledger,
)
LEAVES = (str, bytes, int, float, complex, type(None), np.generic, type, ModuleType, CodeType)


def reachable(root):
    """Every object that the local variables of a generator lead to, but for what the modules of its
    functions hold.
    """
    seen, waiting = {}, [root]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, LEAVES):
            continue
        seen[id(item)] = item
        if isinstance(item, GeneratorType):
            frame = item.gi_frame
            waiting += list(frame.f_locals.values()) if frame is not None else []
            waiting.append(item.gi_yieldfrom)
        elif isinstance(item, FunctionType):
            waiting += [item.__closure__, item.__defaults__, item.__kwdefaults__, item.__dict__]
        elif isinstance(item, np.ndarray):
            waiting += item.ravel().tolist() if item.dtype.hasobject else []
        else:
            waiting += gc.get_referents(item)
    return list(seen.values())


def watched(generator, found):
    """The same generator, looked through before each step."""
    found += [item for item in reachable(generator) if isinstance(item, FORBIDDEN)]
    answer = None
    while True:
        try:
            asked = generator.send(answer)
        except StopIteration as end:
            return end.value
        found += [item for item in reachable(generator) if isinstance(item, FORBIDDEN)]
        answer = yield asked


def watch(monkeypatch):
    """Watch every program and every statistic that the driver runs."""
    found, seen = [], []
    start, shares = ReleaseProgram.start, driver._shares

    class Watched:
        """A statistic whose inquiry is looked through."""

        def __init__(self, statistic):
            self._statistic = statistic

        def evidence(self, *scope):
            seen.append(type(self._statistic).__name__)
            return watched(self._statistic.evidence(*scope), found)

    def started(self, scope, epsilon):
        seen.append("program")
        return watched(start(self, scope, epsilon), found)

    monkeypatch.setattr(ReleaseProgram, "start", started)
    monkeypatch.setattr(
        driver,
        "_shares",
        lambda draws, count: (
            share._replace(statistic=Watched(share.statistic)) for share in shares(draws, count)
        ),
    )
    return found, seen


def test_programs_and_statistics_reach_no_engine_and_no_bits(monkeypatch):
    cases = [case for case in replay_cases(400) if case.kind in ("row", "group", "edge")]
    found, seen = watch(monkeypatch)
    for case in cases:
        case(case.data, rng=1)
    assert found == []
    assert {"program", "Count", "Quantiles", "PrivateRange"} <= set(seen)


class Slotted:
    __slots__ = ("engine",)

    def __init__(self, engine):
        self.engine = engine


def paused(engine):
    """A generator that waits, with an engine among its variables."""
    yield
    return engine


HIDING_PLACES = {
    "closure": lambda engine: [{"engine": lambda: engine}],
    "default": lambda engine: lambda held=engine: held,
    "keyword default": lambda engine: lambda *, held=engine: held,
    "bound method": lambda engine: engine.answer,
    "partial": lambda engine: functools.partial(print, engine),
    "slots": Slotted,
    "object": lambda engine: SimpleNamespace(engine=engine),
    "deque": lambda engine: deque([engine]),
    "iterator": lambda engine: map(str, [engine]),
    "array": lambda engine: np.array([engine], dtype=object),
    "generator": paused,
    "method of a generator": lambda engine: paused(engine).send,
}


@pytest.mark.parametrize("hide", HIDING_PLACES.values(), ids=HIDING_PLACES)
def test_a_program_that_reaches_an_engine_is_found(hide):
    """The search itself."""
    engine = ArrayEngine.__new__(ArrayEngine)

    def program(hidden):
        yield []
        return hidden

    found = []
    list(watched(program(hide(engine)), found))
    assert engine in found
