"""Verdicts of `duffdp audit`, both ways: sound rows pass, and one broken row fails the audit
wherever it is listed. Every broken mechanism here is real, only its epsilon is another one.
"""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest

import duffdp
from duffdp.audit import cases as audited_cases
from duffdp.audit import draw_deviation
from duffdp.audit.cases import release_cases
from duffdp.domain import Grid
from duffdp.mechanisms import PermuteAndFlip
from duffdp.statistics import Median, Mode

REFUSAL = "do not release with this installation"


class Sound(PermuteAndFlip):
    """Permute-and-flip as it is: modes of small data sets use up its epsilon."""


class Overspending(PermuteAndFlip):
    """Spends a thousandth more than its epsilon; draws follow its own output distribution."""

    def __init__(self, epsilon):
        super().__init__(epsilon * 1.001)


class Misdrawing(PermuteAndFlip):
    """States a private output distribution and draws from that of twice the epsilon."""

    def draw(self, steps, size=None, rng=None):
        return PermuteAndFlip(2 * self.epsilon).draw(steps, size, rng)


class Broken(Overspending):
    """Spends too much, and draws from another output distribution."""

    draw = Misdrawing.draw


@pytest.mark.parametrize(
    "mechanisms",
    [
        (Sound, Sound, Sound),
        *(
            (Sound,) * place + (broken,) + (Sound,) * (2 - place)
            for broken in (Overspending, Misdrawing, Broken)
            for place in range(3)
        ),
        (Broken, Broken, Broken),
    ],
    ids=lambda mechanisms: "-".join(one.__name__ for one in mechanisms),
)
def test_one_broken_row_fails_the_audit(call, monkeypatch, mechanisms):
    first = next(audited_cases.mechanism_cases())
    cases = [
        dataclasses.replace(first, title=f"row {i}", statistic=Mode(), mechanism=mechanism)
        for i, mechanism in enumerate(mechanisms)
    ]
    monkeypatch.setattr(audited_cases, "mechanism_cases", lambda: cases)
    code, out, _ = call("audit")
    verdicts = re.findall(r"^ *row \d .* (ok|FAILED) *$", out, re.MULTILINE)
    assert verdicts == ["ok" if one is Sound else "FAILED" for one in mechanisms]
    broken = any(one is not Sound for one in mechanisms)
    assert (code, REFUSAL in out) == (int(broken), broken)


# Few candidates each: the bound is about 1.5 for 1.9 times the epsilon, give or take 0.05.
ATTACKED = ("median(mechanism=best)", "quantile(q=0.9, mechanism=best)", "mode(mechanism=best)")
DRAWS = 6000


@pytest.mark.parametrize("spending", [None, *ATTACKED])
def test_one_release_that_spends_too_much_fails_the_attack(call, monkeypatch, spending):
    """It spends 1.9 times the epsilon that it was given: more than it claims, and less than twice.
    A correct audit misses that, or fails a sound release, about once in a million runs.
    """
    if spending is not None:
        name, _, _ = spending.partition("(")
        function = getattr(duffdp, name)
        monkeypatch.setattr(
            duffdp,
            name,
            lambda *data, epsilon, **options: function(*data, epsilon=1.9 * epsilon, **options),
        )

    def cases():
        found = {case.title: case for case in release_cases(duffdp) if case.family == "group"}
        return [found[title] for title in ATTACKED]

    monkeypatch.setattr(audited_cases, "attack_cases", cases)
    code, out, _ = call("audit", "--lower-bound", "--draws", DRAWS, "--processes", 1)
    rows = re.findall(r"^ *(\w+\(.*\)) +group +([\d.]+) +(ok|FAILED) *$", out, re.MULTILINE)
    assert [(title, verdict) for title, _, verdict in rows] == [
        (title, "FAILED" if title == spending else "ok") for title in ATTACKED
    ]
    assert all(float(bound) > 1 for title, bound, _ in rows if title == spending)
    assert (code, REFUSAL in out) == (int(spending is not None), spending is not None)


class OneAnswer(PermuteAndFlip):
    """States an output distribution and always draws the smallest candidate."""

    def draw(self, steps, size=None, rng=None):
        return np.full(size, steps.domain.value(0))


class FineMedian:
    """The median among more candidates than are compared one by one."""

    def steps(self, values, domain):
        return Median().steps(values, Grid(0, 3, 0.01))


@pytest.mark.parametrize("statistic", [Median(), FineMedian()])
def test_a_deviation_is_the_total_difference_of_all_frequencies(statistic):
    """If all draws are alike it is known: their cell has too many, by what all others lack."""
    size, false_alarm, mechanism = 1000, 1e-9, OneAnswer(1.0)
    deviation, limit = draw_deviation(statistic, mechanism, size=size, false_alarm=false_alarm)
    steps = statistic.steps([0, 0, 1, 1, 1, 2, 3, 3, 3, 3], Grid(0, 3, 1))
    fine = isinstance(statistic, FineMedian)
    cells, alike = (len(steps.start), int(steps.start[1])) if fine else (steps.domain.size, 1)
    assert (alike > 1) == fine
    chance = alike * mechanism.law(steps).probability(steps.domain.value(0))
    assert deviation == pytest.approx(2 * (1 - chance))
    assert limit == pytest.approx(math.sqrt(2 * math.log(2**cells / false_alarm) / size))
    for epsilon, sound in ((1.0, True), (2.0, False)):
        law = PermuteAndFlip(epsilon)
        deviation, limit = draw_deviation(statistic, PermuteAndFlip(1.0), law=law)
        assert (deviation <= limit) == sound
