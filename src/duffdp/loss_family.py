"""What is known of the privacy loss of a mechanism beyond its epsilon: totals for a delta rest on
it. `docs/theory.md` has the proofs.
"""

from __future__ import annotations

from typing import Literal, get_args

#: "pure": nothing. "geometric": no worse than two-sided geometric noise on whole numbers.
#: "laplace": no worse than Laplace noise. "bounded-range": the log-ratios of all outputs lie within
#: epsilon of each other.
LossFamily = Literal["pure", "geometric", "laplace", "bounded-range"]
FAMILIES: tuple[LossFamily, ...] = get_args(LossFamily)
