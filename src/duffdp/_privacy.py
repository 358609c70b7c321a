"""Privacy units and privacy losses: whom a release protects, and its cost.

Promise: At most `rows` rows of a unit are used, epsilon is divided among them here alone, and the
parts of a loss add up to its epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from duffdp.errors import DuffError

#: "pure": nothing. "geometric": no worse than two-sided geometric noise on whole numbers.
#: "laplace": no worse than Laplace noise. "bounded-range": the log-ratios of all outputs lie within
#: epsilon of each other.
LossFamily = Literal["pure", "geometric", "laplace", "bounded-range"]
FAMILIES: tuple[LossFamily, ...] = get_args(LossFamily)


UnitKind = Literal["row", "person", "edge"]
_KINDS: tuple[UnitKind, ...] = get_args(UnitKind)


class Worded:
    """A fact with a text for readers. It equals that text, so callers can compare it with words;
    nothing is ever read back from it.
    """

    __slots__ = ()

    def _facts(self) -> tuple[object, ...]:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str(self) == other
        return type(self) is type(other) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(str(self))


@dataclass(frozen=True, slots=True, eq=False)
class PrivacyUnit(Worded):
    """The unit that a guarantee protects: the rows by which neighboring data sets differ.

    Parameters
    ----------
    kind
        "row": one row of a table. "person": all rows with one value of a column. "edge": one edge
        of a graph.
    column
        The column that identifies the person; only for persons.
    contributions
        The maximum number of rows per unit: over all groups together, or in each group with
        `groups_per_person`.
    groups_per_person
        The maximum number of groups per person; only for persons.

    Methods
    -------
    rows, protected

    Privacy
    -------
    A fact about a release: public, and independent of the data.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), section 2.3:
    the definition of neighbors.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.PrivacyUnit("person", "patient", 2).kind
    'person'
    """

    kind: UnitKind = "row"
    column: str | None = None
    contributions: int = 1
    groups_per_person: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise DuffError(f"kind must be 'row', 'person' or 'edge', got {self.kind!r}.")
        if (self.kind == "person") != (self.column is not None):
            raise DuffError(
                "column is required for kind='person' and must be None otherwise, "
                f"got {self.kind!r} and {self.column!r}."
            )
        if self.contributions < 1 or (self.kind != "person" and self.contributions != 1):
            raise DuffError(
                "contributions must be a whole number of 1 or more for a person and 1 otherwise, "
                "got "
                f"{self.contributions!r}."
            )
        if self.groups_per_person is not None and (
            self.groups_per_person < 1 or self.kind != "person"
        ):
            raise DuffError(
                "groups_per_person must be a whole number of 1 or more, and only for a person, "
                f"got {self.groups_per_person!r} for "
                f"{self.kind!r}."
            )

    @property
    def rows(self) -> int:
        """Maximum number of rows per unit, over all groups together."""
        return self.contributions * (self.groups_per_person or 1)

    def epsilon_per_row(self, epsilon: Fraction) -> Fraction:
        """The part of epsilon for one row: a unit with m rows moves a distance by up to m, so each
        row gets epsilon / m. Nowhere else is epsilon divided among rows and groups.
        """
        return epsilon if self.rows == 1 else epsilon / self.rows

    @property
    def counted(self) -> str:
        """Text for what a number of records counts, such as "rows" or "people"."""
        if self.kind != "person":
            return f"{self.kind}s"
        groups = self.groups_per_person
        where = "" if groups is None else f" in each of at most {groups} groups"
        if self.contributions == 1:
            return f"people{where and f', once{where}'}"
        return f"rows of people, at most {self.contributions} each{where}"

    @property
    def protected(self) -> str:
        """Text for what epsilon protects: row of the data, edge, or the name of the column."""
        return "row of the data" if self.kind == "row" else str(self)

    def _facts(self) -> tuple[object, ...]:
        return self.kind, self.column, self.contributions, self.groups_per_person

    def __str__(self) -> str:
        return self.kind if self.column is None else self.column


@dataclass(frozen=True, slots=True)
class LossPart:
    """Loss of one mechanism of a release, and the known facts about its distribution.

    `epsilon` is for all draws together, each of which costs the same. `contributions` is how many
    rows of a unit count: the more, the closer geometric noise comes to Laplace noise.
    """

    family: LossFamily
    epsilon: Fraction
    draws: int = 1
    contributions: int = 1


@dataclass(frozen=True, slots=True)
class Loss:
    """Privacy loss of a release: the exact epsilon and delta, and the parts that composition uses.

    Parameters
    ----------
    epsilon, delta
        The privacy loss.
    parts
        The mechanisms that epsilon is spent on, each with the family of its privacy loss; by
        default one "pure" part. A family is "pure" if only epsilon is known, and "geometric" or
        "laplace" if the loss is dominated by that of such noise. It is "bounded-range" if the
        log-ratios of all outputs are within epsilon of each other.

    Privacy
    -------
    A fact about a release: public, and independent of the data.

    References
    ----------
    Zhu, Dong and Wang, "Optimal accounting of differential privacy via characteristic function"
    (AISTATS 2022): dominating pairs. `docs/explanation/composition.md`: those of our mechanisms.

    Examples
    --------
    >>> import duffdp
    >>> release = duffdp.describe(range(9), epsilon=1.0, bounds=(0, 9), step=1)
    >>> [(part.family, str(part.epsilon)) for part in release.loss.parts]
    [('pure', '1/5'), ('bounded-range', '4/5')]
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    parts: tuple[LossPart, ...] = ()

    def __post_init__(self) -> None:
        if not self.parts:
            object.__setattr__(self, "parts", (LossPart("pure", self.epsilon),))
        total = Fraction(0)
        for part in self.parts:
            if part.family not in FAMILIES:
                raise DuffError(
                    f"the family of a loss must be {' or '.join(FAMILIES)}, got "
                    f"{self.parts!r:.200}."
                )
            if part.draws < 1 or part.contributions < 1:
                raise DuffError(
                    f"draws and contributions of a loss must be 1 or more, got {self.parts!r:.200}."
                )
            total += part.epsilon
        if total != self.epsilon:
            raise DuffError(
                f"the parts of a loss must add up to epsilon, got {self.parts!r:.200} for "
                f"{self.epsilon!r}."
            )

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Loss:
        """The loss of a stored release, whose numbers are exact: they are stored as text."""
        parts = (part | {"epsilon": Fraction(part["epsilon"])} for part in fields["parts"])
        epsilon, delta = Fraction(fields["epsilon"]), Fraction(fields["delta"])
        return cls(epsilon, delta, tuple(LossPart(**part) for part in parts))
