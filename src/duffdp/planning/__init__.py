"""Planning: how far each mechanism would err, and the epsilon that a wanted accuracy needs. Exact, and not private."""

from duffdp.planning.accuracy import Preview, preview
from duffdp.planning.epsilon import EpsilonPlan, epsilon_for

__all__ = ["EpsilonPlan", "Preview", "epsilon_for", "preview"]
