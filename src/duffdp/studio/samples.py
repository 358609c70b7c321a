"""Public records that a user brings, to stand for those of a column."""

from __future__ import annotations

import math

import numpy as np

from duffdp.domain import Floats
from duffdp.errors import DuffError

MOST = 200_000


def read_sample(text: str) -> Floats:
    """The numbers of a text, one on a line, sorted; lines that are none are left out, as the
    heading of a column is.
    """
    found = []
    for line in text.split("\n"):
        try:
            number = float(line.strip().strip('"').rstrip(","))
        except ValueError:
            continue
        if math.isfinite(number):
            found.append(number)
        if len(found) > MOST:
            raise DuffError(f"a public sample has at most {MOST:,} numbers. Load fewer.")
    if not found:
        raise DuffError("the file has no numbers, one on a line. Load another one.")
    return np.sort(np.array(found))
