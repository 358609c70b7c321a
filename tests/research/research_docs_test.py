"""Public names for research: each has an example, and says what it is worth for privacy and where
it comes from.
"""

from __future__ import annotations

import inspect

import pytest

import duffdp
from duffdp.research import baselines, guarantees, sensitivity

NAMES = {
    **{name: getattr(guarantees, name) for name in guarantees.__all__},
    **{name: getattr(sensitivity, name) for name in sensitivity.__all__},
    **{
        name: getattr(duffdp, name) for name in ("EpsilonPlan", "Preview", "epsilon_for", "preview")
    },
    **{name: getattr(duffdp.mechanisms, name) for name in duffdp.mechanisms.__all__},
    **{name: getattr(baselines, name) for name in baselines.__all__},
}


@pytest.mark.parametrize("name", NAMES)
def test_docstrings_are_complete(name):
    text = inspect.getdoc(NAMES[name])
    for section in ("Privacy\n-------", "References\n----------", "Examples\n--------"):
        assert section in text


@pytest.mark.parametrize(
    "name", [n for n in NAMES if n.startswith(("Smooth", "Laplace", "Propose", "ErrorExponential"))]
)
def test_baselines_are_marked(name):
    text = " ".join(inspect.getdoc(NAMES[name]).split())
    assert "not for release" in text or "Not private" in text


def test_packages_without_such_a_name_say_so():
    for package in (duffdp.mechanisms, duffdp.research):
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            package.nothing  # noqa: B018
