"""Checks of the privacy claim on this machine: exact over all small neighbours, and statistical
for the draws."""

from duffdp.audit.draws import draw_deviation
from duffdp.audit.neighbours import largest_loss

__all__ = ["draw_deviation", "largest_loss"]
