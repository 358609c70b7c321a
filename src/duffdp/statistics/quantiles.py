"""Several quantiles at once."""

from __future__ import annotations

from typing import Any

from duffdp.engines.source import Question, Source
from duffdp.parameters import read_qs
from duffdp.rank_profile import RankProfile


class Quantiles:
    """Several quantiles of one column, for the joint mechanism.

    Parameters
    ----------
    qs
        Different numbers from 0 to 1, in any order, each read as for `Quantile`.

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

    def __init__(self, qs: Any) -> None:
        self.qs = read_qs(qs)

    def profile(self, column: Source, reach: int) -> RankProfile:
        """The runs within about `reach` ranks of every quantile, from one pass over the data."""
        near, _ = column.ask(Question(tuple((q, reach) for q in self.qs)))
        return RankProfile.of(near, self.qs, reach, column.size, column.rank_of)

    def __repr__(self) -> str:
        return f"Quantiles({', '.join(map(str, self.qs))})"
