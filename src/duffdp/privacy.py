"""Whom a release protects, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from duffdp.errors import DuffError

UnitKind = Literal["row", "person", "edge"]


class Worded:
    """A fact with a text for people. It equals that text, as code of version 0.1 expects;
    nothing is ever read back from it.
    """

    __slots__ = ()

    def _facts(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str(self) == other
        return type(self) is type(other) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(str(self))


@dataclass(frozen=True, slots=True, eq=False)
class PrivacyUnit(Worded):
    """Whom a guarantee is for: what may join or leave the data, as a whole, between neighbours.

    Parameters
    ----------
    kind
        "row": one row of a table. "person": all rows with one value of a column. "edge": one edge
        of a graph.
    column
        The column that names the person, for persons alone.
    contributions
        How many rows of one unit count at most.

    Privacy
    -------
    A fact about a release: public, and independent of the data.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), section 2.3: what
    a neighbour is.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.PrivacyUnit("person", "patient", 2).kind
    'person'
    """

    kind: UnitKind = "row"
    column: str | None = None
    contributions: int = 1

    def __post_init__(self) -> None:
        if self.kind not in get_args(UnitKind):
            raise DuffError(f"the kind of a unit is row, person or edge, got {self.kind!r}.")
        if (self.kind == "person") != (self.column is not None):
            raise DuffError(
                f"a person is named by a column and nothing else is, got {self.kind!r} and "
                f"{self.column!r}."
            )
        if self.contributions < 1 or (self.kind != "person" and self.contributions != 1):
            raise DuffError(
                "a person has 1 or more contributions and others have 1, got "
                f"{self.contributions!r}."
            )

    def _facts(self) -> tuple[Any, ...]:
        return self.kind, self.column, self.contributions

    def __str__(self) -> str:
        return self.kind if self.column is None else self.column


@dataclass(frozen=True, slots=True)
class Loss:
    """What a release costs its unit: epsilon and delta, exactly, and what composition may use.

    Parameters
    ----------
    epsilon, delta
        The privacy loss.
    bounded_range
        Whether the log-ratios of all outputs lie within epsilon of each other, as those of
        exponential mechanisms do: such a release is (epsilon^2 / 8)-zero-concentrated private, any
        other pure one epsilon^2 / 2.

    Privacy
    -------
    A fact about a release: public, and independent of the data.

    References
    ----------
    Cesar and Rogers, "Bounding, concentrating, and truncating" (ALT 2021): bounded range and
    concentrated privacy.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import duffdp
    >>> duffdp.Loss(Fraction(1, 2)).bounded_range
    False
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    bounded_range: bool = False

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Loss:
        """The loss behind its part of a stored release: exact numbers are text there, for they
        are added up.
        """
        return cls(Fraction(given["epsilon"]), Fraction(given["delta"]), given["bounded_range"])
