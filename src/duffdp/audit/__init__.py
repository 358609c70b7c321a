"""Checks of the privacy claim on this machine: exact for small neighbors, statistical for draws, by
replay on real tables, and from the outside for whole releases.
"""

from duffdp.audit.draws import draw_deviation
from duffdp.audit.engine_check import EngineCheck, EngineCheckRow, check_engine
from duffdp.audit.lower_bound import lower_bound
from duffdp.audit.neighbor_tables import Neighbors, neighbors
from duffdp.audit.neighbours import largest_loss
from duffdp.audit.replay import Replay, replay

__all__ = [
    "EngineCheck",
    "EngineCheckRow",
    "Neighbors",
    "Replay",
    "check_engine",
    "draw_deviation",
    "largest_loss",
    "lower_bound",
    "neighbors",
    "replay",
]
