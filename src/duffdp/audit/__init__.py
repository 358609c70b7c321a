"""Checks of the privacy claim on this machine: exact over all small neighbours, statistical for the
draws, and from the outside for whole releases."""

from duffdp.audit.draws import draw_deviation
from duffdp.audit.engine_check import EngineCheck, EngineCheckRow, check_engine
from duffdp.audit.lower_bound import lower_bound
from duffdp.audit.neighbours import largest_loss

__all__ = [
    "EngineCheck",
    "EngineCheckRow",
    "check_engine",
    "draw_deviation",
    "largest_loss",
    "lower_bound",
]
