"""Names for types of arrays, as text: numpy.typing takes longer to import than this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Ints: TypeAlias = "npt.NDArray[np.int64]"
Floats: TypeAlias = "npt.NDArray[np.float64]"
Array: TypeAlias = "npt.NDArray[Any]"
Keys: TypeAlias = Array  # int64, uint64 or float64
