"""How much one record can move a statistic: local, at distance k, global and smooth sensitivity,
for add/remove neighbours.
"""

from duffdp.research.sensitivity.mean import mean
from duffdp.research.sensitivity.mode import mode
from duffdp.research.sensitivity.profile import Sensitivity
from duffdp.research.sensitivity.quantile import median, quantile

__all__ = ["Sensitivity", "mean", "median", "mode", "quantile"]
