"""From distances to a law over outputs, and an exact draw from it; and baselines, for comparison and not for release."""

from duffdp.mechanisms.error_exponential import ErrorExponential, ErrorExponentialLaw
from duffdp.mechanisms.exponential import Exponential
from duffdp.mechanisms.laplace import Laplace
from duffdp.mechanisms.law import Law
from duffdp.mechanisms.noise import NoiseLaw
from duffdp.mechanisms.permute_and_flip import PermuteAndFlip
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
