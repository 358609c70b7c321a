"""From distances, ladders and ranks to a law over outputs, and an exact draw from it.

What a single release does not need is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any
from warnings import warn

from duffdp.mechanisms.exponential import Exponential
from duffdp.mechanisms.law import Law
from duffdp.mechanisms.permute_and_flip import PermuteAndFlip

if TYPE_CHECKING:
    from duffdp.mechanisms.geometric import Geometric
    from duffdp.mechanisms.joint import Joint
    from duffdp.mechanisms.lattice import Lattice
    from duffdp.mechanisms.piecewise_laplace import PiecewiseLaplace
    from duffdp.mechanisms.ranking import Ranking
    from duffdp.mechanisms.staircase import Staircase

__all__ = [
    "Exponential",
    "Geometric",
    "Joint",
    "Lattice",
    "Law",
    "PermuteAndFlip",
    "PiecewiseLaplace",
    "Ranking",
    "Staircase",
]

_HOME = {
    "Geometric": "geometric",
    "Joint": "joint",
    "Lattice": "lattice",
    "PiecewiseLaplace": "piecewise_laplace",
    "Ranking": "ranking",
    "Staircase": "staircase",
}
# Importable from here for one more version.
_MOVED = {
    "ErrorExponential",
    "ErrorExponentialLaw",
    "Laplace",
    "NoiseLaw",
    "ProposeTestRelease",
    "RankExponential",
    "SmoothCauchy",
    "SmoothLaplace",
    "SmoothLaplaceLogNormal",
    "SmoothPareto",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = globals()[name] = getattr(import_module(f"duffdp.mechanisms.{_HOME[name]}"), name)
        return value
    if name in _MOVED:
        warn(
            f"duffdp.mechanisms.{name} is now duffdp.research.baselines.{name}",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(import_module("duffdp.research.baselines"), name)
    raise AttributeError(f"module 'duffdp.mechanisms' has no attribute {name!r}")
