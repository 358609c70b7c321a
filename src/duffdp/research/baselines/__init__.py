"""Mechanisms to compare with: floating-point draws, for experiments and not for release."""

from duffdp.research.baselines.error_exponential import ErrorExponential, ErrorExponentialLaw
from duffdp.research.baselines.laplace import Laplace
from duffdp.research.baselines.noise import NoiseLaw
from duffdp.research.baselines.propose_test_release import ProposeTestRelease
from duffdp.research.baselines.rank_exponential import RankExponential
from duffdp.research.baselines.smooth_cauchy import SmoothCauchy
from duffdp.research.baselines.smooth_laplace import SmoothLaplace
from duffdp.research.baselines.smooth_laplace_log_normal import SmoothLaplaceLogNormal
from duffdp.research.baselines.smooth_pareto import SmoothPareto

__all__ = [
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
]
