"""Packages that only some functions need: imported when used, with an error that says what to
install.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from duffdp.errors import DuffError


def load(module: str, extra: str) -> Any:
    """The module, or an error that names the extra it comes with."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        raise DuffError(
            f"this needs {package}, which is not installed. Run: pip install 'duffdp[{extra}]'."
        ) from None
