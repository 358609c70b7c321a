"""From distances to a law over outputs, and an exact draw from it; and baselines, for comparison and not for release.

Baselines are loaded when they are first used: a release needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duffdp.mechanisms.exponential import Exponential
from duffdp.mechanisms.law import Law
from duffdp.mechanisms.permute_and_flip import PermuteAndFlip

if TYPE_CHECKING:
    from duffdp.mechanisms.error_exponential import ErrorExponential, ErrorExponentialLaw
    from duffdp.mechanisms.laplace import Laplace
    from duffdp.mechanisms.noise import NoiseLaw
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
    "Laplace",
    "Law",
    "NoiseLaw",
    "PermuteAndFlip",
    "ProposeTestRelease",
    "RankExponential",
    "SmoothCauchy",
    "SmoothLaplace",
    "SmoothLaplaceLogNormal",
    "SmoothPareto",
]

_BASELINES = {
    "ErrorExponential": "error_exponential",
    "ErrorExponentialLaw": "error_exponential",
    "Laplace": "laplace",
    "NoiseLaw": "noise",
    "ProposeTestRelease": "propose_test_release",
    "RankExponential": "rank_exponential",
    "SmoothCauchy": "smooth_cauchy",
    "SmoothLaplace": "smooth_laplace",
    "SmoothLaplaceLogNormal": "smooth_laplace_log_normal",
    "SmoothPareto": "smooth_pareto",
}


def __getattr__(name: str) -> Any:
    if name not in _BASELINES:
        raise AttributeError(f"module 'duffdp.mechanisms' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"duffdp.mechanisms.{_BASELINES[name]}"), name)
    return value
