"""Public names for research: each has an example that runs, and says what it is worth for privacy and where it comes from."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import duffdp
from duffdp import guarantees, planning, sensitivity
from duffdp.mechanisms import (
    error_exponential,
    laplace,
    noise,
    propose_test_release,
    rank_exponential,
    smooth_cauchy,
    smooth_laplace,
    smooth_laplace_log_normal,
    smooth_pareto,
)

MODULES = [
    error_exponential, laplace, noise, propose_test_release, rank_exponential, smooth_cauchy, smooth_laplace,
    smooth_laplace_log_normal, smooth_pareto,
    *(importlib.import_module(f"{package.__name__}.{found.name}")
      for package in (guarantees, planning, sensitivity) for found in pkgutil.iter_modules(package.__path__)),
]  # fmt: skip
NAMES = {
    **{name: getattr(guarantees, name) for name in guarantees.__all__},
    **{name: getattr(sensitivity, name) for name in sensitivity.__all__},
    **{name: getattr(duffdp, name) for name in ("EpsilonPlan", "Preview", "epsilon_for", "preview")},
    **{name: getattr(duffdp.mechanisms, name) for name in duffdp.mechanisms.__all__},
}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_run(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("name", NAMES)
def test_docstrings_are_complete(name):
    text = inspect.getdoc(NAMES[name])
    for section in ("Privacy\n-------", "References\n----------", "Examples\n--------"):
        assert section in text


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith(("Smooth", "Laplace", "Propose", "ErrorExponential"))])
def test_baselines_are_marked(name):
    text = " ".join(inspect.getdoc(NAMES[name]).split())
    assert "not for release" in text or "Not private" in text
