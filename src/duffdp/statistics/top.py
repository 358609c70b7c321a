"""Most common values in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from duffdp._engines.requests import Engine, Inquiry
from duffdp._evidence import Totals
from duffdp._parameters import TOP_K, Choice
from duffdp.domain import Domain, PublicSet
from duffdp.domain.default_step import StepRule
from duffdp.errors import Argument, BoundsError, DuffError
from duffdp.statistics.cells import Cells, exact_cells
from duffdp.statistics.mode import NO_ORDER, Mode
from duffdp.statistics.program import DrawSpec, ReleaseProgram
from duffdp.statistics.spec import DrawSettings, Parameters, StatisticSpec
from duffdp.statistics.statistic import Scope

MAX_RANKED_CANDIDATES = 2**20  # each one gets noise


class Top(Cells):
    """The number of records in every cell, for a release of the most common values.

    Parameters
    ----------
    k
        The number of values to list.

    Privacy
    -------
    The same as for `Cells`: one record changes one number by 1, and
    `duffdp.mechanisms.NoisyRanking` adds noise to all of them before it ranks them.

    References
    ----------
    `docs/explanation/statistics.md`, "The most common values".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.statistics.Top(3).k
    3
    """

    def __init__(self, k: int) -> None:
        self.k = k

    def evidence(self, scope: Scope, epsilon: float) -> Inquiry[Totals]:
        totals = yield from super().evidence(scope, epsilon)
        return replace(totals, places=self.k)

    def __repr__(self) -> str:
        return f"Top({self.k})"


class TopSpec(StatisticSpec):
    """The most common values in order."""

    name = "top"
    parameters = (TOP_K,)
    examples = ({"k": 2}, {"k": 1})
    choices = ("best",)
    shape = "list"
    outputs = "grid or categories"
    allows_uneven_grid = True
    no_interval_reason = NO_ORDER
    row_header = "place"

    def program(self, parameters: Parameters, settings: DrawSettings) -> ReleaseProgram:
        """All counts get noise for one epsilon, and the order costs no more; the first place alone
        is the mode, which needs less.
        """
        k = TOP_K.of(parameters)
        columns = tuple(f"top_{place}" for place in range(1, k + 1))
        if k == 1:
            return ReleaseProgram.by_distance(Mode(1), columns[0], settings.choice)
        return ReleaseProgram((DrawSpec(Top(k), "noisy-ranking", columns),))

    def exact(self, parameters: Parameters, engine: Engine, domain: PublicSet) -> Sequence[object]:
        """The first candidates come first among equals."""
        assert isinstance(domain, Domain)
        order = np.argsort(-exact_cells(engine, domain), kind="stable")
        return [domain.value(place) for place in order[: TOP_K.of(parameters)].tolist()]

    def check_domain(self, parameters: Parameters, domain: PublicSet) -> None:
        if TOP_K.of(parameters) > domain.size:
            raise DuffError(
                Argument("k"),
                f" must be at most the number of possible values, {domain.size}, got "
                f"{parameters['k']}. List fewer values.",
            )
        if domain.size > MAX_RANKED_CANDIDATES:
            raise BoundsError(
                f"top can have at most 2**20 possible values, got {domain.size}. Pass a larger "
                "step, or "
                "categories."
            )

    def step_rule(self, choice: Choice) -> StepRule:
        return "order"

    def title(self, parameters: Parameters) -> str:
        return f"Top {parameters['k']}"

    def heading(self) -> str:
        return "Most common values"


SPECS = (TopSpec(),)
