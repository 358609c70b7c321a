"""The design, enforced: one direction of imports without cycles, a light import, and a Privacy
section for every public name.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import duffdp

SOURCE = Path(duffdp.__file__).parent
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

# Data go one way: a room may import from itself and from the rooms above it.
ROOMS = (
    "errors",
    "version",
    "_alternatives",
    "_optional",
    "_rows",
    "_text",
    "domain",
    "_parameters",
    "_privacy",
    "_facts",
    "_engines",
    "_steps",
    "_rank_profile",
    "_count_ladder",
    "_evidence",
    "_sampling",
    "statistics",
    "mechanisms",
    "ledger",
    "_pipeline",
    "research",
    "_planning",
    "audit",
    "testing",
    "report",
    "_studio",
    "_cli",
    "__main__",
)
# Rooms that are above and still none of its business: engines and statistics know nothing of
# randomness, mechanisms nothing of data.
STRANGERS = {
    "_engines": {"_privacy", "_facts"},
    "statistics": {"_sampling", "_privacy", "_facts"},
    "mechanisms": {"_engines", "statistics", "_facts"},
    "_sampling": {"_privacy", "_facts"},
    "ledger": {"_engines", "statistics", "mechanisms", "_sampling"},
    "report": {"research", "_planning", "audit", "testing"},
    "_studio": {"mechanisms", "_steps", "research", "audit", "testing"},
}
ENTROPY = {"secrets", "random"}
DOOR = "duffdp._studio.guard"  # the secret of an address is no draw
# Random choices that no law depends on: a bracket for speed, and a person's rows, from a generator
# that the release seeds.
CHOICES = {"duffdp._engines.arrays.column", "duffdp._engines.people"}


def module_name(path):
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(SOURCE.rglob("*.py"))}


def exported():
    """Where the lazy names of the package itself lead."""
    homes = {name: f"duffdp.{home}" for home, names in duffdp._HOME.items() for name in names}
    return homes | {name: f"duffdp.{name}" for name in duffdp._MODULES}


def resolved(name):
    """The module behind a dotted name that may end in something defined there, or in a lazy name of
    the package.
    """
    if name in MODULES and name != "duffdp":
        return name
    parent, _, last = name.rpartition(".")
    if parent == "duffdp":
        return exported().get(last, "duffdp")
    return resolved(parent) if parent else None


def imported(path):
    """Every import anywhere in a file: at the top, in functions, for types only, through the
    package, and by import_module.
    """
    own = module_name(path)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{own}: relative imports hide where they lead"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from dynamic(own, node.args[0])


def dynamic(own, target):
    """The modules that `import_module` may be asked for: the text, or all of the folder that it
    begins with.
    """
    if isinstance(target, ast.Constant):
        yield target.value
    elif isinstance(target, ast.JoinedStr):
        begin = target.values[0].value if isinstance(target.values[0], ast.Constant) else ""
        folder = begin.rstrip(".")
        assert folder, f"{own}: an import of anything"
        if folder != "duffdp":
            assert own == folder or own.startswith(f"{folder}."), f"{own} loads {folder}.* by name"
    else:
        # other people's packages
        assert own == "duffdp._optional", f"{own}: import_module of {ast.unparse(target)}"


@functools.cache
def edges():
    return frozenset(found())


def found():
    for own, path in MODULES.items():
        if own == "duffdp":
            continue
        for name in imported(path):
            if name == "duffdp" or name.startswith("duffdp."):
                target = resolved(name)
                if target not in (None, own):
                    yield own, target


def room(module):
    return module.split(".")[1] if "." in module else ""


def test_there_are_modules_and_imports():
    assert len(MODULES) >= 80
    assert len(edges()) >= 300


def test_imports_are_found_wherever_they_stand():
    """The finder itself: through the package, in functions, for types, by name."""
    known = edges()
    assert ("duffdp.statistics.registry", "duffdp.statistics.spec") in known
    assert ("duffdp._pipeline.run", "duffdp.ledger.ledger") in known  # inside of a function
    assert resolved("duffdp.median") == "duffdp._pipeline.functions"
    assert resolved("duffdp.release") == "duffdp._pipeline.functions"
    assert resolved("duffdp.domain.Grid") == "duffdp.domain"


@pytest.mark.parametrize("own", [name for name in MODULES if name != "duffdp"])
def test_imports_go_one_way(own):
    here = room(own)
    assert here in ROOMS, f"{own} is in no room"
    for module, target in edges():
        if module == own and room(target) not in (here, ""):
            there = room(target)
            assert ROOMS.index(there) < ROOMS.index(here), f"{own} imports {target}"
            assert there not in STRANGERS.get(here, ()), f"{own} imports {target}"
        assert module != own or target != "duffdp" or here == "_cli", (
            f"{own} imports the package itself"
        )


def test_modules_with_an_underscore_are_used_by_their_own_package_alone():
    for own, target in edges():
        package, _, name = target.rpartition(".")
        if name.startswith("_"):
            assert own == package or own.startswith(f"{package}."), f"{own} imports {target}"


def test_there_are_no_cycles():
    graph = defaultdict(set)
    for own, target in edges():
        graph[own].add(target)
    state = {}

    def visit(module, path):
        state[module] = "open"
        for target in sorted(graph[module]):
            assert state.get(target) != "open", " -> ".join([*path, module, target])
            if target not in state:
                visit(target, [*path, module])
        state[module] = "closed"

    for module in MODULES:
        if module not in state:
            visit(module, [])


# What statistics may know of where records live: the language of requests, what reads the records
# that a caller hands to `steps`, and the kinds of records that are no numbers.
FOR_STATISTICS = {"duffdp._engines.requests", "duffdp._engines.pairs", "duffdp._engines.edges"}


def test_statistics_ask_and_know_no_engine():
    for own, target in edges():
        if room(own) == "statistics" and room(target) == "_engines":
            reads_values = own == "duffdp.statistics.records"
            assert target in FOR_STATISTICS or reads_values, f"{own} imports {target}"


def test_what_a_statistic_is_follows_from_its_type():
    """Nothing asks an object what attributes it has, but at the door, where a caller's own
    statistic comes in, and where names of a package are loaded when they are used.
    """
    for own, path in MODULES.items():
        if room(own) in ("_pipeline", "_planning", "statistics", "mechanisms"):
            names = {
                node.id
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Name)
            }
            assert "hasattr" not in names, own


def test_only_sampling_touches_entropy():
    for own, path in MODULES.items():
        # the last two simulate and never release
        if room(own) in ("_sampling", "research", "_planning"):
            continue
        text = path.read_text()
        assert "urandom" not in text, own
        assert "np.random" not in text or own in CHOICES, own
        names = {name.split(".")[0] for name in imported(path)} & ENTROPY
        assert not names or (own, names) == (DOOR, {"secrets"}), own


def test_nobody_but_an_adapter_asks_which_engine_it_is():
    for own, path in MODULES.items():
        if ".adapters" in own:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                assert not (node.attr.startswith("is_") and node.attr[3:] in ENGINES), (
                    f"{own}: {node.attr}"
                )


ENGINES = {
    "pandas",
    "polars",
    "pyarrow",
    "duckdb",
    "pyspark",
    "pyspark_connect",
    "dask",
    "ibis",
    "modin",
    "cudf",
}


def loaded_after(code):
    modules = "sorted({m.split('.')[0] for m in sys.modules})"
    code = f"import json, sys, duffdp; {code}; print(json.dumps({modules}))"
    return json.loads(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
    )


def test_importing_is_light_and_a_release_needs_numpy_alone():
    assert "numpy" not in loaded_after("pass")
    loaded = loaded_after(
        "duffdp.median([1.0], epsilon=1, bounds=(0, 1)); duffdp.mode(['a'], epsilon=1, "
        "categories=['a', 'b'])"
    )
    assert "numpy" in loaded
    heavy = {
        "scipy",
        "pandas",
        "polars",
        "narwhals",
        "duckdb",
        "pyspark",
        "matplotlib",
        "click",
        "sqlite3",
    }
    assert not heavy & set(loaded)


def public():
    for module in (duffdp, duffdp.statistics, duffdp.mechanisms, duffdp.report):
        for name in module.__all__:
            item = getattr(module, name)
            if not inspect.ismodule(item):
                yield pytest.param(item, id=f"{module.__name__}.{name}")


@pytest.mark.parametrize("item", list(public()))
def test_public_names_are_documented(item):
    text = inspect.getdoc(item) or ""
    error = inspect.isclass(item) and issubclass(item, Exception)
    for section in ("Privacy",) if error else ("Privacy", "References"):
        assert f"{section}\n{'-' * len(section)}" in text
    assert not re.search(r"^Returns\n-------\n.+\n\n", text, re.MULTILINE), "a type without words"
    if not error:
        assert "Examples\n--------" in text


def test_stubs_are_up_to_date():
    script = Path(__file__).parent.parent / "tools" / "stubs.py"
    subprocess.run([sys.executable, script, "--check"], check=True)


def test_names():
    assert set(duffdp.__all__) == set(dir(duffdp))
    with pytest.raises(AttributeError, match=r"no duffdp\.nothing"):
        duffdp.nothing  # noqa: B018


def test_test_files_do_not_import_each_other():
    for path in Path(__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom | ast.Import):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                names += [alias.name for alias in node.names]
                assert not [name for name in names if name.endswith("_test")], path.name


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda p: p.stem)
def test_benchmarks_name_what_there_is(path):
    """Each of them can be imported; what it measures is for `make bench`."""
    if path.stem != "__main__":
        importlib.import_module(f"benchmarks.{path.stem}")
