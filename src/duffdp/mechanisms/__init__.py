"""From distances to a law over outputs, and an exact draw from it."""

from duffdp.mechanisms.exponential import Exponential
from duffdp.mechanisms.joint import Joint
from duffdp.mechanisms.law import Law
from duffdp.mechanisms.permute_and_flip import PermuteAndFlip
from duffdp.mechanisms.piecewise_laplace import PiecewiseLaplace

__all__ = ["Exponential", "Joint", "Law", "PermuteAndFlip", "PiecewiseLaplace"]
