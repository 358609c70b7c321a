"""Text that a terminal or a page shows as it is, and does nothing else."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    """The text with control, format and surrogate characters written out, so that none can act on a
    terminal or a page.

    Examples
    --------
    >>> from duffdp.printable import visible
    >>> visible("red\\x1b[31m")
    'red\\\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(_written(char) for char in text)


def _written(char: str) -> str:
    if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return char
    code = ord(char)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
