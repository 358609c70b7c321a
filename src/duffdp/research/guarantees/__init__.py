"""The theorems as functions, named by what they bound, and the exact quantity beside them. Not
private: they read the data.
"""

from duffdp.research.guarantees.cauchy import cauchy_error_within
from duffdp.research.guarantees.exact import exact_error_within
from duffdp.research.guarantees.finite_domain import finite_domain_error_within
from duffdp.research.guarantees.smooth import (
    error_probability,
    error_within,
    growth_constant,
    inverse_smoothing,
)
from duffdp.research.guarantees.utility import utility_loss_probability

__all__ = [
    "cauchy_error_within",
    "error_probability",
    "error_within",
    "exact_error_within",
    "finite_domain_error_within",
    "growth_constant",
    "inverse_smoothing",
    "utility_loss_probability",
]
