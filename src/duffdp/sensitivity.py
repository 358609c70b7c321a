"""The old place of `duffdp.research.sensitivity`, for one more version."""

from importlib import import_module
from typing import Any
from warnings import warn


def __getattr__(name: str) -> Any:
    new = import_module("duffdp.research.sensitivity")
    if name.startswith("__") or not hasattr(new, name):
        raise AttributeError(f"module 'duffdp.sensitivity' has no attribute {name!r}")
    warn(
        f"duffdp.sensitivity.{name} is now duffdp.research.sensitivity.{name}",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(new, name)
