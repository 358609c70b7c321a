"""The trusted base: its list, its promises, and that nothing outside of it can draw, read records
or spend.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
from pathlib import Path
from types import CellType, FunctionType, GeneratorType, MethodType

import numpy as np
import pytest

import duffdp
from duffdp._engines.arrays import ArrayEngine, CellEngine
from duffdp._engines.edges import EdgeEngine
from duffdp._engines.pairs import PairEngine
from duffdp._engines.queries.engine import QueryEngine
from duffdp._pipeline import driver
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
# Modules that ask something for an answer: the driver, the protocol itself, the two kinds of
# evidence that look further, and engines.
ASKS = {
    "_pipeline/driver.py",
    "_engines/requests.py",
    "_engines/table.py",
    "_engines/arrays/engine.py",
    "_engines/queries/engine.py",
    "_engines/summed.py",  # an engine that adds the answers of another one up
    "_steps.py",
    "_rank_profile.py",
    "_planning/outcomes.py",  # public records
    "audit/engine_check.py",  # public records
    "audit/movement.py",  # what a replay looks at
}
# Modules that open an engine or count keys: records are read there.
READS = {
    "_pipeline/run.py",
    "_engines/table.py",
    "_planning/forecast.py",  # public records
    "_planning/release_forecast.py",  # public records
    "audit/engine_check.py",  # public records
}
CHARGES = {"_pipeline/run.py", "ledger/ledger.py"}


@functools.cache
def modules():
    return [
        (path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text()))
        for path in sorted(SOURCE.rglob("*.py"))
    ]


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def calls(tree, names):
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in names
        for node in ast.walk(tree)
    )


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


def test_nothing_outside_asks_an_engine():
    asks = {
        file
        for file, tree in modules()
        if calls(tree, {"answer"}) and not file.startswith("_engines/adapters/")
    }
    assert asks == ASKS


def test_nothing_outside_reads_records():
    assert {file for file, tree in modules() if calls(tree, {"engine", "key_counts"})} == READS


def test_nothing_outside_spends():
    assert {file for file, tree in modules() if calls(tree, {"charge_all", "charge"})} == CHARGES
    writes = {
        file
        for file, tree in modules()
        if "duffdp.ledger.journal" in set(imports(tree)) and not file.startswith("ledger/")
    }
    assert writes == set()


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
)
LEAVES = (str, bytes, int, float, complex, type(None), np.ndarray, np.generic, type)


def reachable(root):
    """Every object that the local variables of a generator lead to."""
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
            waiting += item.__closure__ or ()
        elif isinstance(item, MethodType):
            waiting += [item.__self__, item.__func__]
        elif isinstance(item, CellType):
            waiting.append(item.cell_contents)
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list | tuple | set | frozenset):
            waiting += list(item)
        else:
            slots = [n for kind in type(item).__mro__ for n in getattr(kind, "__slots__", ())]
            waiting += [getattr(item, n) for n in slots if hasattr(item, n)]
            waiting += list(getattr(item, "__dict__", {}).values())
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


def test_a_program_that_reaches_an_engine_is_found(monkeypatch):
    """The search itself: an engine in a closure, in an object, in a list."""
    engine = ArrayEngine.__new__(ArrayEngine)

    def program(draws, scope, epsilon):
        hidden = [{"engine": lambda: engine}]
        yield []
        return hidden

    found = []
    list(watched(program((), None, None), found))
    assert engine in found
    assert duffdp.__version__
