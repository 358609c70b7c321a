"""Baseline mechanisms: floating-point draws, for experiments and not for release."""

from duffdp.research.baselines._exponential import (
    ErrorExponential,
    ErrorExponentialLaw,
    RankExponential,
)
from duffdp.research.baselines._laplace import Laplace, ProposeTestRelease
from duffdp.research.baselines._noise import NoiseLaw
from duffdp.research.baselines._smooth import (
    SmoothCauchy,
    SmoothLaplace,
    SmoothLaplaceLogNormal,
    SmoothPareto,
)

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
