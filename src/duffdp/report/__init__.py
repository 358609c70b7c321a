"""A page about releases for people who were not there: what, for whom, how private, how wrong."""

from duffdp.report.page import write

__all__ = ["write"]
