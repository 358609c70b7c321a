"""Mutations of duffdp.mechanisms."""

from __future__ import annotations

from tests.mutants.mutant import (
    DRAFTS,
    FAMILIES,
    FAMILY,
    LAW,
    ONE_ROW,
    QUANTILES,
    SHARES,
    SIDE_BY_SIDE,
    Mutant,
)

FOUND = "tests/mechanisms/thresholded_geometric_test.py"

MUTANTS = (
    Mutant(
        "keys without records never come out",
        "mechanisms/thresholded_geometric.py",
        "absent = [place for place in places if place not in counts]",
        "absent = []",
        (f"{FOUND}::test_draws_follow_the_law",),
        LAW,
    ),
    Mutant(
        "false keys come out with the threshold alone",
        "mechanisms/thresholded_geometric.py",
        "place: threshold + more for",
        "place: threshold for",
        (f"{FOUND}::test_draws_follow_the_law",),
        LAW,
    ),
    Mutant(
        "a joint law that is a tenth too steep",
        "mechanisms/joint/_proposal.py",
        "self._epsilon * Fraction(score, 2 * RANK_UNIT * rank_factor)",
        "self._epsilon * Fraction(11 * score, 20 * RANK_UNIT * rank_factor)",
        (QUANTILES,),
        LAW,
    ),
    Mutant(
        "many quantiles at the true number of records",
        "mechanisms/joint/_proposal.py",
        "Fraction(profile.records)",
        "Fraction(profile.total)",
        (f"{DRAFTS}::test_all_drafts_with_a_size_that_is_known",),
        LAW,
    ),
    Mutant(
        "a place outside a window is proposed twice as often as it is said to be",
        "mechanisms/joint/_proposal.py",
        "return place, Fraction(high - low, 1 << PART_BITS)",
        "return place, Fraction(high - low, 2 << PART_BITS)",
        (f"{DRAFTS}::test_windows_that_leave_out_much_of_the_law",),
        LAW,
    ),
    Mutant(
        "a joint law of many groups that is a tenth too steep, in exact numbers",
        "mechanisms/joint/_grouped_proposal.py",
        "proposal.epsilon / 2 * score",
        "proposal.epsilon * 11 / 20 * score",
        (f"{SIDE_BY_SIDE}::test_all_drafts_together_are_the_law",),
        LAW,
    ),
    Mutant(
        "a coefficient without the rate of the statistic",
        "mechanisms/mechanism.py",
        "coefficient = steps.rate * self._epsilon",
        "coefficient = self._epsilon",
        (ONE_ROW,),
    ),
    Mutant(
        "a lattice with strides a tenth too long",
        "mechanisms/mechanism.py",
        "period=self._epsilon, slope=rate",
        "period=self._epsilon * 11 / 10, slope=rate",
        (f"{ONE_ROW}[median(mechanism=best) on few candidates-list]",),
        LAW,
    ),
    Mutant(
        "permute-and-flip is called bounded",
        "mechanisms/permute_and_flip.py",
        'loss_family = "laplace"',
        'loss_family = "bounded-range"',
        (FAMILIES,),
        FAMILY,
    ),
    Mutant(
        "rungs that grow twice as fast as is paid for",
        "mechanisms/piecewise_laplace.py",
        "growth = 1 + self._epsilon / GROWTH_DIVISOR",
        "growth = 1 + 2 * self._epsilon / GROWTH_DIVISOR",
        (
            "tests/mechanisms/piecewise_laplace_test.py::test_smoothed_rungs_keep_the_three_promises",
        ),
        LAW,
    ),
    Mutant(
        "a count with noise for twice the epsilon",
        "mechanisms/geometric.py",
        "two_sided_geometrics(scaled, ",
        "two_sided_geometrics(2 * scaled, ",
        (SHARES,),
        LAW,
    ),
    Mutant(
        "an order without noise",
        "mechanisms/ranking.py",
        "self.release(groups, sensitivity, source)",
        "groups",
        (f"{SHARES}[top(k=2)-rows]",),
        LAW,
    ),
)
