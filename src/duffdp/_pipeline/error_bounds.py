"""Bounds on the error of a release in records, from public facts."""

from __future__ import annotations

from duffdp._facts import Facts
from duffdp._parameters import ZERO_BELOW
from duffdp.domain import Ordered
from duffdp.errors import Argument, DuffError
from duffdp.mechanisms import mechanism_class
from duffdp.mechanisms.distance_bound import distance_bound as candidate_distance_bound
from duffdp.mechanisms.distance_bound import mean_distance_bound
from duffdp.mechanisms.geometric import Geometric
from duffdp.mechanisms.mechanism import DistanceMechanism
from duffdp.mechanisms.thresholded_geometric import ThresholdedGeometric
from duffdp.statistics.cells import Cells
from duffdp.statistics.quantile import Extreme
from duffdp.statistics.registry import REGISTRY, statistic_spec
from duffdp.statistics.spec import DrawSettings
from duffdp.statistics.statistic import DistanceStatistic

_DISTANCE_UTILITIES = ("distance", "signed", "inside")


def distance_bound(facts: Facts, confidence: float) -> int:
    """The distance that is not exceeded with this confidence, for any data."""
    statistic, parts = facts.statistic, facts.mechanism.of_values
    spec = statistic_spec(statistic.name) if statistic.name in REGISTRY else None
    if spec is None or spec.distance_bound is None or parts[0].utility not in _DISTANCE_UTILITIES:
        cause = f"distance_bound is for values drawn by dataset distance; this {statistic} is not. "
        if spec is None or not spec.has_interval(facts.mechanism.asked):
            raise DuffError(cause, "Use duffdp.preview for its expected error.")
        raise DuffError(cause, "Pass ", Argument("interval", 0.95), " for its error.")
    epsilon = facts.unit.epsilon_per_row(parts[0].epsilon)
    setting = DrawSettings(facts.mechanism.asked, facts.domain, epsilon)
    program = spec.program(spec.checked(statistic.parameters), setting)
    drawn_statistic = program.draws[0].statistic
    assert isinstance(drawn_statistic, DistanceStatistic)
    rate = drawn_statistic.rate
    c, mechanism = rate * epsilon, mechanism_class(parts[0].name)(epsilon)
    assert isinstance(mechanism, DistanceMechanism)
    bound = candidate_distance_bound(facts.domain.size, c, mechanism.noise(rate), confidence)
    if spec.distance_bound == "mean":
        return min(bound, mean_distance_bound(c, confidence))
    if parts[0].utility == "inside":  # of the record that is aimed at
        assert isinstance(drawn_statistic, Extreme)
        assert isinstance(facts.domain, Ordered)
        bound += drawn_statistic.inside(facts.domain)
    # Without any record every candidate is one record away from being the quantile.
    return max(bound, 1) if spec.distance_bound == "one" else bound


def count_bound(facts: Facts, confidence: float) -> int | None:
    """The error of a count that is not exceeded with this confidence, for any data; None for a
    release that is no count with noise.
    """
    statistic, (mechanism, *other_mechanisms) = facts.statistic, facts.mechanism.of_values
    spec = REGISTRY.get(statistic.name)
    projected = statistic.parameters.get("adds_up")  # counts are moved until they add up
    noisy_counts = (Geometric.name, ThresholdedGeometric.name)
    if spec is None or other_mechanisms or projected or mechanism.name not in noisy_counts:
        return None
    setting = DrawSettings(facts.mechanism.asked, facts.domain, facts.row_epsilon)
    draw, *other_draws = spec.program(spec.checked(statistic.parameters), setting).draws
    if other_draws or not isinstance(draw.statistic, Cells):
        return None
    set_to_zero = (ZERO_BELOW.read_from(statistic.parameters) or 1) - 1  # the largest such count
    return set_to_zero + Geometric(facts.row_epsilon).largest_noise(1, confidence)
