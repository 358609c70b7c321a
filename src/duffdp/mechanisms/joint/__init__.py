"""One exponential mechanism for several quantiles and the number of records together, drawn
exactly.
"""

from duffdp.mechanisms.joint.joint import Joint, JointAtCount

__all__ = ["Joint", "JointAtCount"]
