"""The design, enforced: one direction of imports, a light import, and a Privacy section for every public name."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import duffdp

SOURCE = Path(duffdp.__file__).parent
# Each package may import from itself and from what is named here.
ALLOWED = {
    "errors": set(),
    "domain": {"errors"},
    "steps": {"errors", "domain"},
    "sampling": {"errors", "domain", "steps"},
    "engines": {"errors", "domain", "sampling"},
    "statistics": {"errors", "domain", "steps", "count_ladder", "rank_profile", "engines"},
    "mechanisms": {"errors", "domain", "steps", "sampling", "count_ladder", "rank_profile"},
    "plain": set(),
    "ledger": {"errors", "mechanisms"},
    "opened": {"errors", "domain", "engines", "ledger", "mechanisms", "plain", "sampling", "statistics"},
    "release": {"errors", "domain", "engines", "mechanisms", "opened", "plain", "sampling", "statistics"},
    "count_ladder": {"errors", "domain", "steps"},
    "rank_profile": {"domain"},
    "summary": {"errors", "domain", "engines", "mechanisms", "opened", "rank_profile", "release", "sampling", "statistics"},
    "graphs": {"errors", "domain", "engines", "mechanisms", "opened", "release", "sampling", "statistics", "steps"},
    "testing": {"errors", "domain", "mechanisms", "statistics", "steps"},
    # For research and planning, beside the way that data go:
    "optional": {"errors"},
    "research": {"errors", "domain", "engines", "steps", "mechanisms", "statistics", "optional"},
    "sensitivity": {"research"},
    "guarantees": {"research"},
    "planning": {"errors", "domain", "engines", "mechanisms", "opened", "release", "research", "statistics"},
    "audit": {"errors", "domain", "mechanisms", "statistics"},
    "cli": {"audit", "engines", "optional", "research", "errors", "ledger", "mechanisms", "plain", "planning", "release", "report", "statistics"},
    "report": {"errors", "domain", "engines", "release"},
}
ENTROPY = {"secrets", "random"}


def modules():
    return [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_there_are_modules():
    assert len(modules()) >= 15


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for name in imported(path):
        if name.startswith("duffdp."):
            assert name.split(".")[1] in ALLOWED[package] | {package}
        if name.split(".")[0] in ENTROPY:
            assert package == "sampling"
    assert package == "sampling" or "urandom" not in path.read_text()


def test_statistics_know_nothing_of_randomness():
    for path in (SOURCE / "statistics").glob("*.py"):
        assert "random" not in path.read_text()


def loaded_after(code):
    code = f"import json, sys, duffdp; {code}; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    return json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def test_importing_is_light_and_a_release_needs_numpy_alone():
    assert "numpy" not in loaded_after("pass")
    loaded = loaded_after("duffdp.median([1.0], epsilon=1, bounds=(0, 1)); duffdp.mode(['a'], epsilon=1, categories=['a', 'b'])")
    assert "numpy" in loaded
    assert not {"scipy", "pandas", "polars", "narwhals", "duckdb", "pyspark", "matplotlib", "typer", "mpmath", "flint"} & set(
        loaded
    )


def public():
    for module in (duffdp, duffdp.statistics, duffdp.mechanisms, duffdp.report):
        for name in module.__all__:
            item = getattr(module, name)
            if not inspect.ismodule(item):
                yield pytest.param(item, id=f"{module.__name__}.{name}")


@pytest.mark.parametrize("item", list(public()))
def test_public_names_are_documented(item):
    text = inspect.getdoc(item) or ""
    for section in ("Privacy", "References"):
        assert f"{section}\n{'-' * len(section)}" in text
    if not issubclass(item, Exception) if inspect.isclass(item) else True:
        assert "Examples\n--------" in text


def test_names():
    assert set(duffdp.__all__) == set(dir(duffdp))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        duffdp.nothing  # noqa: B018


def test_no_file_is_a_drawer():
    assert not [p for p in modules() if p.stem in {"utils", "helpers", "common", "misc"}]
