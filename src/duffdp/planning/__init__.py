"""How far each mechanism would err, and the epsilon for a wanted accuracy: exact, not private."""

from duffdp.planning.epsilon import EpsilonPlan, epsilon_for
from duffdp.planning.previews import Preview, preview

__all__ = ["EpsilonPlan", "Preview", "epsilon_for", "preview"]
