"""The old place of `duffdp.research.guarantees`, for one more version."""

from importlib import import_module
from typing import Any
from warnings import warn


def __getattr__(name: str) -> Any:
    new = import_module("duffdp.research.guarantees")
    if name.startswith("__") or not hasattr(new, name):
        raise AttributeError(f"module 'duffdp.guarantees' has no attribute {name!r}")
    warn(
        f"duffdp.guarantees.{name} is now duffdp.research.guarantees.{name}",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(new, name)
