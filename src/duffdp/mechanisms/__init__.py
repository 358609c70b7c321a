"""From distances to a law over outputs, and an exact draw from it; and baselines, for comparison and not for release.

What a single release does not need is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duffdp.mechanisms.exponential import Exponential
from duffdp.mechanisms.law import Law
from duffdp.mechanisms.permute_and_flip import PermuteAndFlip

if TYPE_CHECKING:
    from duffdp.mechanisms.error_exponential import ErrorExponential, ErrorExponentialLaw
    from duffdp.mechanisms.joint import Joint
    from duffdp.mechanisms.laplace import Laplace
    from duffdp.mechanisms.noise import NoiseLaw
    from duffdp.mechanisms.piecewise_laplace import PiecewiseLaplace
    from duffdp.mechanisms.propose_test_release import ProposeTestRelease
    from duffdp.mechanisms.rank_exponential import RankExponential
    from duffdp.mechanisms.smooth_cauchy import SmoothCauchy
    from duffdp.mechanisms.smooth_laplace import SmoothLaplace
    from duffdp.mechanisms.smooth_laplace_log_normal import SmoothLaplaceLogNormal
    from duffdp.mechanisms.smooth_pareto import SmoothPareto

__all__ = [
    "ErrorExponential",
    "ErrorExponentialLaw",
    "Exponential",
    "Joint",
    "Laplace",
    "Law",
    "NoiseLaw",
    "PermuteAndFlip",
    "PiecewiseLaplace",
    "ProposeTestRelease",
    "RankExponential",
    "SmoothCauchy",
    "SmoothLaplace",
    "SmoothLaplaceLogNormal",
    "SmoothPareto",
]

_LATER = {
    "ErrorExponential": "error_exponential",
    "ErrorExponentialLaw": "error_exponential",
    "Joint": "joint",
    "Laplace": "laplace",
    "NoiseLaw": "noise",
    "PiecewiseLaplace": "piecewise_laplace",
    "ProposeTestRelease": "propose_test_release",
    "RankExponential": "rank_exponential",
    "SmoothCauchy": "smooth_cauchy",
    "SmoothLaplace": "smooth_laplace",
    "SmoothLaplaceLogNormal": "smooth_laplace_log_normal",
    "SmoothPareto": "smooth_pareto",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'duffdp.mechanisms' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"duffdp.mechanisms.{_LATER[name]}"), name)
    return value
