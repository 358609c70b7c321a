"""Mechanisms, which turn distances, ladders and ranks into an output distribution and draw from it
exactly.

What a single release does not need is loaded when it is first used.

Promise: The name of a mechanism in the facts of a release is that of the mechanism that draws.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from duffdp.mechanisms.exponential import Exponential
from duffdp.mechanisms.law import Law
from duffdp.mechanisms.mechanism import Mechanism
from duffdp.mechanisms.permute_and_flip import PermuteAndFlip

if TYPE_CHECKING:
    from duffdp.mechanisms.geometric import Geometric
    from duffdp.mechanisms.joint import Joint
    from duffdp.mechanisms.lattice import Lattice
    from duffdp.mechanisms.piecewise_laplace import PiecewiseLaplace
    from duffdp.mechanisms.ranking import NoisyRanking
    from duffdp.mechanisms.staircase import Staircase
    from duffdp.mechanisms.thresholded_geometric import ThresholdedGeometric

__all__ = [
    "Exponential",
    "Geometric",
    "Joint",
    "Lattice",
    "Law",
    "NoisyRanking",
    "PermuteAndFlip",
    "PiecewiseLaplace",
    "Staircase",
    "ThresholdedGeometric",
]

# The names of mechanisms in facts and releases. Each class states its `loss_family`, which totals
# for a delta rest on: "pure" unless more is proven in `docs/explanation/composition.md`.
CLASSES = {
    "exponential": "Exponential",
    "permute-and-flip": "PermuteAndFlip",
    "lattice": "Lattice",
    "joint-exponential": "Joint",
    "two-sided-geometric": "Geometric",
    "noisy-ranking": "NoisyRanking",
    "staircase": "Staircase",
    "piecewise-laplace": "PiecewiseLaplace",
    "thresholded-geometric": "ThresholdedGeometric",
}
_HOME = {
    "Geometric": "geometric",
    "Joint": "joint",
    "Lattice": "lattice",
    "PiecewiseLaplace": "piecewise_laplace",
    "NoisyRanking": "ranking",
    "Staircase": "staircase",
    "ThresholdedGeometric": "thresholded_geometric",
}


def mechanism_class(name: str) -> type[Mechanism]:
    """The class of a mechanism by its name, such as "permute-and-flip"."""
    kind: type[Mechanism] = globals().get(CLASSES[name]) or __getattr__(CLASSES[name])
    return kind


def __getattr__(name: str) -> type[Mechanism]:
    if name in _HOME:
        module = import_module(f"duffdp.mechanisms.{_HOME[name]}")
        kind: type[Mechanism] = getattr(module, name)
        globals()[name] = kind
        return kind
    raise AttributeError(f"module 'duffdp.mechanisms' has no attribute {name!r}")
