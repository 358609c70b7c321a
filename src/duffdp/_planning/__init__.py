"""Planning: the expected error of each mechanism, and the epsilon for an accuracy; not private."""

from duffdp._planning.epsilon import EpsilonPlan, epsilon_for
from duffdp._planning.previews import Preview, preview

__all__ = ["EpsilonPlan", "Preview", "epsilon_for", "preview"]
