"""One exponential mechanism for several quantiles and the number of records together, drawn
exactly.
"""

from duffdp.mechanisms.joint.joint import Joint

__all__ = ["Joint"]
