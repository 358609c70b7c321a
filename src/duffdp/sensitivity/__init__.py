"""How much one record can move a statistic: local, at distance k, global and smooth sensitivity, for add/remove neighbours."""

from duffdp.sensitivity.mean import mean
from duffdp.sensitivity.mode import mode
from duffdp.sensitivity.profile import Sensitivity
from duffdp.sensitivity.quantile import median, quantile

__all__ = ["Sensitivity", "mean", "median", "mode", "quantile"]
