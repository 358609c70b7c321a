"""The way of every release: what is asked is checked, then paid, then the rows are read, then the answer is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from duffdp.domain import Categories, Domain, Grid
from duffdp.engines.arrays import CategoryColumn, Column, Records, read
from duffdp.engines.groups import BLOCK
from duffdp.engines.selection import Selection, is_table, select
from duffdp.engines.tables import Table, open_table
from duffdp.errors import BoundsError
from duffdp.mechanisms.mechanism import Mechanism, read_epsilon
from duffdp.plain import plain
from duffdp.sampling.entropy import Entropy
from duffdp.statistics import Mean, Mode, Quantile

if TYPE_CHECKING:
    from duffdp.ledger.charge import Charge

# Beyond this many nats (and the logarithm of the number of candidates) a window leaves candidates to the tail.
NEGLIGIBLE = 20.0
_NOWHERE = (None, None, None, None, 1)
_ALL = Selection()


def chosen_rows(where: tuple[Any, Any, Any, Any, Any]) -> Selection:
    """What column, by, keys, unit and contributions say, checked without looking at rows."""
    return _ALL if where == _NOWHERE else select(*where)


class Opened(NamedTuple):
    """Data whose types are known and whose rows are not read yet, their domain, and how rows are chosen."""

    held: Records | Table
    domain: Domain
    selection: Selection

    @classmethod
    def of(cls, data: Any, bounds: Any, step: Any, selection: Selection, categories: Categories | None = None) -> Opened:
        """Check the parameters; of the data, look at the types."""
        domain: Domain = bounded(bounds, step) if categories is None else categories
        plain_data = selection is _ALL and (type(data) is np.ndarray or not is_table(data))
        held = read(data) if plain_data else open_table(data, selection, domain.kind)
        if step is None and isinstance(domain, Grid) and (held.integer or (held.untyped and domain.between_whole)):
            domain = bounded(bounds, step, integer=True)
        return cls(held, domain, selection)

    def drawn(
        self, ledger: Any, name: str, label: str, epsilon: Any, source: Entropy, draw: Callable[[list[Any]], list[Any]]
    ) -> list[Any]:  # fmt: skip
        """Charge, then read the records and draw; or what was drawn before under the same call id."""
        if ledger is None:
            return draw(self._sources(self.held, source))
        self._sources(self.held.without_rows(), source)  # what the types forbid is not charged
        charge = charged(ledger, name, label, epsilon, self.domain, self.selection, source.secure)
        if charge.drawn is not None:
            return list(charge.drawn)
        found = draw(self._sources(self.held, source))
        charge.keep(found)
        return found

    def answers(self, columns: dict[str, list[Any]]) -> Any:
        """Keys and values of groups as a frame of the caller's library."""
        assert isinstance(self.held, Table)
        return self.held.answers(columns)

    def _sources(self, held: Records | Table, source: Entropy) -> list[Any]:
        """Where the counts come from, one source for each group."""
        if isinstance(held, Table):
            return list(held.sources(self.domain, source))
        return [CategoryColumn(held, self.domain) if isinstance(self.domain, Categories) else Column(held, self.domain)]


def charged(
    ledger: Any, name: str, label: str, epsilon: Any, domain: Domain, selection: Selection, secure: bool
) -> Charge:  # fmt: skip
    """Pay for a release; what is written down is public."""
    from duffdp.ledger.charge import Request, purse

    parameters = plain({**selection._asdict(), **domain.parameters()})
    asked = Request(epsilon=read_epsilon(epsilon), statistic=name, mechanism=label, parameters=parameters, secure=secure)
    return purse(ledger).charge(asked)


def drawn(
    chosen: Mechanism, statistic: Quantile | Mean | Mode, sources: list[Any], domain: Domain, source: Entropy
) -> list[int]:  # fmt: skip
    """The index of one candidate for each source, many in one race."""
    far = (NEGLIGIBLE + math.log(domain.size)) / (float(statistic.rate) * chosen.epsilon)
    found: list[int] = []
    for begin in range(0, len(sources), BLOCK):
        batch = statistic.windows(sources[begin : begin + BLOCK], domain, far)  # type: ignore[arg-type]
        found += chosen.release(batch, source)
    return found


def bounded(bounds: Any, step: Any, integer: bool = False) -> Grid:
    """The grid for a pair of bounds; 1 is the default step for integer types."""
    if isinstance(bounds, Grid):
        return bounds
    try:
        lower, upper = bounds
    except (TypeError, ValueError):
        given = "none" if bounds is None else repr(bounds)
        raise BoundsError(
            f"bounds must be a pair (lower, upper) known without the data, got {given}. Pass for example bounds=(0, 120)."
        ) from None
    try:
        return _grid(lower, upper, step, integer)
    except TypeError:  # something unhashable among them: let the grid say what is wrong
        return Grid(lower, upper, step)


@lru_cache(maxsize=256, typed=True)
def _grid(lower: Any, upper: Any, step: Any, integer: bool) -> Grid:
    grid = Grid(lower, upper, step)
    return Grid(lower, upper, 1) if integer and grid.kind in ("int", "float", "decimal") else grid
