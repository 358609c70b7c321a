"""Several quantiles at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from duffdp.domain import Grid
from duffdp.engines.groups import SideBySide
from duffdp.engines.source import Question, Ranks, Source
from duffdp.parameters import read_qs
from duffdp.rank_profile import SIDE_BY_SIDE, NearRanks, RankProfile

# Those of a summary, by their names.
SUMMARY = {f"{hundredth}%": Fraction(hundredth, 100) for hundredth in (1, 25, 50, 75, 99)}
NEGLIGIBLE = 24.0  # nats
MOST_RANKS = 2**21  # a window never holds more ranks to a side
# One sort of so many records takes less than a search for each of more than a few quantiles.
FEW, SORTABLE = 32, 2**24


class Quantiles:
    """Several quantiles of one column, for the joint mechanism.

    Parameters
    ----------
    qs
        Different numbers from 0 to 1, in any order, each read as for `Quantile`.
    records
        A number of records that was released before: gaps are compared with shares of it. Without
        it a size is drawn together with the quantiles.

    Privacy
    -------
    A profile is not private: it is the input of `duffdp.mechanisms.Joint`, which says how far one
    record moves its score.

    Runtime
    -------
    One pass over the data for a profile; its length depends on the reach alone.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles" (ICML 2021);
    `docs/several-quantiles.md`.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.statistics.Quantiles([0.75, 0.25])
    Quantiles(1/4, 3/4)
    """

    def __init__(self, qs: Any, records: int | None = None) -> None:
        self.qs, self.records = read_qs(qs), records

    def near(
        self, columns: Sequence[Source], epsilon: float, reach: int | None = None
    ) -> list[NearRanks]:
        """The values within about `reach` ranks of every quantile, for every column, from one pass
        over the data.

        Any reach will do. Beyond the one that is chosen for this epsilon lies what is drawn about
        one time in 10**10, if records are spread evenly.
        """
        together = columns if isinstance(columns, SideBySide) else None
        many = len(self.qs)
        longest = together.longest if together else max(column.length for column in columns)
        alone = len(columns) < SIDE_BY_SIDE
        if reach is None:
            nats = many * math.log1p(longest * epsilon / many) + NEGLIGIBLE
            reach = min(math.ceil(2 * nats / epsilon) + 1, MOST_RANKS)
        every = (4 * reach * many > longest and alone) or (many > FEW and longest <= SORTABLE)
        question = Question(tuple((q, reach) for q in self.qs), enough=0)
        each: Sequence[Sequence[Ranks]]
        if together and not every:
            wanted = together.ranks(question)
            listed = [near if isinstance(near, list) else near.columns() for near in wanted]
            each = list(zip(*listed, strict=True))
        elif every:
            each = [_all_ranks(column) for column in columns]
        else:
            each = [column.ask(question)[0] for column in columns]
        size = together.size if together else columns[0].size
        found = []
        for i, near in enumerate(each):
            known = self.qs, self.records, size, near[0].total, reach, near
            again = partial(_rank_of, columns, i), partial(self._wider, columns, i, epsilon)
            found.append(NearRanks(*known, *again))
        return found

    def profiles(
        self, columns: Sequence[Source], epsilon: float, reach: int | None = None
    ) -> list[RankProfile]:
        """The runs that these values make."""
        return [near.profile(epsilon) for near in self.near(columns, epsilon, reach)]

    def _wider(self, columns: Sequence[Source], i: int, epsilon: float, reach: int) -> RankProfile:
        return self.profiles([columns[i]], epsilon, reach)[0]

    def __repr__(self) -> str:
        return f"Quantiles({', '.join(map(str, self.qs))})"


class QuantilesAfterCount:
    """Many quantiles of one column, to be asked for once a noisy count of its records is known.

    Parameters
    ----------
    qs
        Different numbers from 0 to 1, in any order, each read as for `Quantile`.

    Privacy
    -------
    The count is private, so that what is asked for afterwards may depend on it.

    References
    ----------
    `docs/several-quantiles.md`.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import duffdp
    >>> from duffdp.statistics.quantiles import QuantilesAfterCount
    >>> after = QuantilesAfterCount([0.75, 0.25])
    >>> after.given((1003,), duffdp.Grid(0, 9, 1), Fraction(1)).records
    1003
    """

    def __init__(self, qs: Any) -> None:
        self.qs = read_qs(qs)

    def given(self, numbers: Sequence[int], domain: Grid, epsilon: Fraction) -> Quantiles:
        """The quantiles at this count, which noise may have taken below 0."""
        return Quantiles(self.qs, max(0, numbers[0]))

    def __repr__(self) -> str:
        return f"QuantilesAfterCount({', '.join(map(str, self.qs))})"


def _rank_of(columns: Sequence[Source], i: int, index: int) -> tuple[int, int]:
    return columns[i].rank_of(index)


def _all_ranks(column: Source) -> list[Ranks]:
    """All values with their counts."""
    values, counts = column.tally()
    return [Ranks(values, counts, 0, int(counts.sum()), 0, column.size - 1)]
