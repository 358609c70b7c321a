"""How far every candidate is from being the statistic of the data."""

from duffdp.statistics.mean import Mean
from duffdp.statistics.mode import Mode
from duffdp.statistics.quantile import Median, Quantile

__all__ = ["Mean", "Median", "Mode", "Quantile"]
