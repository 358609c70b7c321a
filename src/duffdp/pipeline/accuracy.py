"""How far a released value can be from the truth, in records, by what is public."""

from __future__ import annotations

from fractions import Fraction

from duffdp.errors import DuffError
from duffdp.facts import Facts
from duffdp.mechanisms.distance_bound import distance_bound as records_away
from duffdp.mechanisms.distance_bound import mean_distance_bound
from duffdp.mechanisms.geometric import Geometric
from duffdp.mechanisms.registry import mechanism
from duffdp.statistics.cells import Cells
from duffdp.statistics.registry import REGISTRY, entry

DISTANCES = ("distance", "signed", "inside")


def distance_bound(facts: Facts, confidence: float) -> int:
    """The distance that is not exceeded with this confidence, whatever the data."""
    statistic, parts = facts.statistic, facts.mechanism.parts
    known = entry(statistic.name) if statistic.name in REGISTRY else None
    if known is None or known.distance_bound is None or parts[0].utility not in DISTANCES:
        raise DuffError(
            f"there is no bound on the distance of {statistic} by {facts.mechanism}, "
            "only for the distance utilities."
        )
    part = known.parts(known.checked(statistic.parameters), facts.mechanism.asked)[0]
    rate: Fraction = part.statistic.rate
    epsilon = parts[0].epsilon / facts.unit.rows
    c, noise = rate * epsilon, mechanism(parts[0].name)(epsilon).noise(rate)
    bound = records_away(facts.domain.size, c, noise, confidence)
    if known.distance_bound == "mean":
        return min(bound, mean_distance_bound(c, confidence))
    if parts[0].utility == "inside":  # of the record that is aimed at
        bound += part.statistic.at(epsilon).inside(facts.domain)
    # Without any record every candidate is one record away from being the quantile.
    return max(bound, 1) if known.distance_bound == "one" else bound


def count_bound(facts: Facts, confidence: float) -> int | None:
    """What the noise on a count does not exceed with this confidence, whatever the data; None for
    what is no count with noise.
    """
    statistic, (drawn, *others) = facts.statistic, facts.mechanism.of_values
    known = REGISTRY.get(statistic.name)
    moved = statistic.parameters.get("adds_up")  # by what the others add up to
    if known is None or others or moved or drawn.name != Geometric.name:
        return None
    part, *more = known.parts(known.checked(statistic.parameters), facts.mechanism.asked)
    if more or not isinstance(part.statistic, Cells):
        return None
    return Geometric(facts.row_epsilon).largest_noise(1, confidence)
