"""The reference describes the public methods: those that the Methods section of a class lists."""

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
API = runpy.run_path(str(DOCS / "api.py"))
CLASSES = {
    name: value
    for names in API["reference"]().values()
    for name in names
    if inspect.isclass(value := API["named"](name))
}
LISTED = {name: dict(API["members"](kind)) for name, kind in CLASSES.items()}
USER_PAGES = [
    DOCS.parent / "README.md",
    *(path for part in ("get-started", "how-to") for path in (DOCS / part).glob("*.md")),
]


@pytest.mark.parametrize("name", CLASSES)
def test_public_methods_are_described(name):
    for method, value in LISTED[name].items():
        assert not method.startswith("_")
        assert inspect.getdoc(value), method


def test_there_are_public_methods():
    assert {"rows", "to_pandas", "distance_bound"} <= {*LISTED["duffdp.Release"]}
    assert {"law", "draw"} == {*LISTED["duffdp.mechanisms.Exponential"]}
    assert not LISTED["duffdp.DuffError"]


def test_internal_methods_are_not_in_the_reference():
    for name, method in (("Plan", "make"), ("Grid", "snap"), ("mechanisms.Staircase", "release")):
        assert hasattr(CLASSES[f"duffdp.{name}"], method)
        assert method not in LISTED[f"duffdp.{name}"]


def methods(kind):
    """The names of methods and properties of our own that have no underscore."""
    bases = [vars(base) for base in kind.__mro__ if base.__module__.startswith("duffdp")]
    return {
        name
        for base in bases
        for name, value in base.items()
        if not name.startswith("_") and inspect.isroutine(value) | isinstance(value, property)
    }


@pytest.mark.parametrize("page", USER_PAGES, ids=lambda path: path.stem)
def test_methods_in_examples_are_public(page):
    """A method that an example of a page calls is in the Methods section of some class."""
    text = "\n".join(re.findall(r"(?m)^(?:>>>|\.\.\.) (.*)$", page.read_text(encoding="utf-8")))
    called = {*re.findall(r"\.(\w+)\(", text)}
    of_classes = {name for kind in CLASSES.values() for name in methods(kind)}
    public = {name for listed in LISTED.values() for name in listed}
    functions = {name.rpartition(".")[2] for names in API["reference"]().values() for name in names}
    assert not (called & of_classes) - public - functions
