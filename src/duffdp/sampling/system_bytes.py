"""Random bytes of the operating system."""

from __future__ import annotations

import os


def system_bytes(size: int) -> bytes:
    """So many of them."""
    found = os.urandom(size)
    if len(found) != size:  # repeated or missing bits would not show in the release
        raise OSError("the operating system returned too few random bytes")
    return found
