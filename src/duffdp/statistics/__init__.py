"""How far every candidate is from being the statistic of the data."""

from duffdp.statistics.ladder import Statistic
from duffdp.statistics.mean import Mean
from duffdp.statistics.mode import Mode
from duffdp.statistics.quantile import Median, Quantile
from duffdp.statistics.quantiles import Quantiles
from duffdp.statistics.stars import Stars
from duffdp.statistics.triangles import Triangles

__all__ = ["Mean", "Median", "Mode", "Quantile", "Quantiles", "Stars", "Statistic", "Triangles"]
