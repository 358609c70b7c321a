"""What all mechanisms share, and those on distances: epsilon, the coefficient, the draw.

Promise: The coefficient of a distance is rate times epsilon times unit, and draws have exactly the
distribution of `law`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from duffdp._evidence import Evidence, Ladders
from duffdp._parameters import EPSILON
from duffdp._privacy import LossFamily
from duffdp._sampling.entropy import Entropy, entropy
from duffdp._sampling.race import EXPONENTIAL, GUMBEL, RaceNoise, race, races
from duffdp._steps import StepFunction, Windows
from duffdp.domain import Floats
from duffdp.errors import DuffError
from duffdp.mechanisms.law import Law

LADDER_TAIL_NATS = 12.0  # what a ladder leaves to its tail weighs less, all together


class Mechanism(ABC):
    """A mechanism that draws whole numbers for every group, from evidence about them."""

    name: ClassVar[str]
    loss_family: ClassVar[LossFamily]  # what totals rest on: "pure" unless more is proven

    def __init__(self, epsilon: Any) -> None:
        self._epsilon = EPSILON.read(epsilon)
        self.epsilon = float(self._epsilon)

    @abstractmethod
    def numbers(self, evidence: Evidence, source: Entropy) -> list[Sequence[int]]:
        """Draw: a column for each number, with an entry for every group. Each mechanism takes one
        kind of evidence, or two.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}(epsilon={self.epsilon:g})"


class DistanceMechanism(Mechanism):
    """A mechanism that draws a candidate, less likely at a larger distance.

    Methods
    -------
    law, draw
    """

    exponential_noise: ClassVar[bool] = True  # else that of the exponential mechanism
    on_lattice: ClassVar[bool] = False

    def coefficient(self, steps: StepFunction | Windows) -> Fraction:
        """Decrease of the logarithm of a weight for one step of distance: rate * epsilon * unit."""
        if self.on_lattice and (steps.unit != 1 or steps.rate.numerator != 1):
            raise DuffError(
                "a lattice needs distances that are whole numbers, unit 1 and a rate of 1, 1/2, "
                f"1/3 ..., got unit {steps.unit} and rate {steps.rate}. Use PermuteAndFlip."
            )
        coefficient = steps.rate * self._epsilon
        return coefficient if steps.unit == 1 else coefficient * steps.unit

    def noise(self, rate: Fraction) -> RaceNoise:
        """Noise that is added to distances with this rate."""
        if self.on_lattice:
            # In nats: one step of the lattice is epsilon, and a distance of 1 is rate * epsilon.
            return RaceNoise(exponential=True, period=self._epsilon, slope=rate)
        return EXPONENTIAL if self.exponential_noise else GUMBEL

    def draw(self, steps: StepFunction, size: int | None = None, rng: object = None) -> Any:
        """One candidate, or an array of `size` independent ones, exactly from `law(steps)`.

        With `rng=None` bits come from the operating system. A seed or a generator makes the draw
        reproducible and not private.
        """
        steps.check()
        source = entropy(rng)
        if size is None:
            return steps.domain.value(self.release(Windows.of([steps]), source)[0])
        if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 0:
            raise DuffError(f"size must be None or a whole number of 0 or more, got {size!r}.")
        return steps.domain.values(
            races(steps, size, self.coefficient(steps), self.noise(steps.rate), source)
        )

    def release(self, batch: Windows, source: Entropy) -> list[int]:
        """The index of one candidate from each of several step functions or windows of one
        statistic, in one race.
        """
        return race(batch, self.coefficient(batch), self.noise(batch.rate), source)

    def numbers(self, evidence: Evidence, source: Entropy) -> list[Sequence[int]]:
        """One column: the index of a candidate for every group."""
        if isinstance(evidence, Ladders):
            nats = LADDER_TAIL_NATS + math.log(evidence.domain.size)
            evidence = evidence.windows(math.ceil(2 * nats / self.epsilon))
        assert isinstance(evidence, Windows)
        return [evidence.candidates(self.release(evidence, source))]

    def law(self, steps: StepFunction) -> Law:
        """The output distribution over the candidates of a whole step function."""
        if steps.tail is not None:
            raise DuffError(
                "law needs a whole step function, got a window. Use the steps() of the statistic."
            )
        steps.check()
        return Law(steps, self._log_weight(steps, float(self.coefficient(steps))))

    def masses(self, windows: Windows) -> Floats:
        """The probability of every run of several whole step functions."""
        laws = [self.law(windows[i]) for i in range(len(windows))]
        return np.concatenate([law.runs()[2] for law in laws])

    @abstractmethod
    def _log_weight(self, steps: StepFunction, c: float) -> Floats:
        """Logarithm of the probability of one candidate of each run, up to a common constant."""
