"""A generator for the baselines: floating-point draws, for comparison and never for release."""

from __future__ import annotations

import numpy as np

from duffdp.errors import DuffError


def how_many(size: object) -> int:
    """The number of draws for a `size` argument: one for None."""
    if size is None:
        return 1
    if isinstance(size, int | np.integer) and not isinstance(size, bool) and size >= 0:
        return int(size)
    raise DuffError(f"size must be None or a whole number of 0 or more, got {size!r}.")


def generator(rng: object = None) -> np.random.Generator:
    """The generator for an `rng` argument: fresh for None, else from a seed or as given."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is None or (
        isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0
    ):
        return np.random.default_rng(None if rng is None else int(rng))
    raise DuffError(
        f"rng must be None, a seed of 0 or more or a numpy.random.Generator, got {rng!r}."
    )
