"""The paper's baselines, sensitivities, guarantees and experiments: for comparison and not for
release.

Each part is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duffdp.research import baselines, guarantees, sensitivity

__all__ = ["baselines", "guarantees", "sensitivity"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"duffdp.research.{name}")
    raise AttributeError(f"module 'duffdp.research' has no attribute {name!r}")
