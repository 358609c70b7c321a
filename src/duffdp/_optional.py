"""Optional packages: imported when used, with an error that says what to install."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from duffdp.errors import DuffError


def load(module: str, extra: str) -> Any:
    """The module, or an error that names the extra it comes with."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise _missing(module.partition(".")[0], extra) from None


def need(package: str, extra: str) -> None:
    """Check that an optional package can be imported later; the error is that of `load`."""
    try:
        installed = find_spec(package) is not None
    except ValueError:  # somebody put nothing in its place
        installed = False
    if not installed:
        raise _missing(package, extra)


def _missing(package: str, extra: str) -> DuffError:
    return DuffError(
        f"this needs {package}, which is not installed. Run: pip install 'duffdp[{extra}]'."
    )
