"""A page about releases for people who were not there: what, for whom, how private, how wrong."""

from duffdp.report.hazards import sign_off
from duffdp.report.page import write

__all__ = ["sign_off", "write"]
