"""Public facts about a release as types, and as JSON.

The ledger, the report, JSON and `repr` read these and nothing else.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from duffdp._parameters import Choice, FoundKeys, Groups, Interval, Suppression, exact
from duffdp._privacy import Loss, PrivacyUnit, Worded
from duffdp._rows import RowsOfColumns
from duffdp.domain import (
    Bins,
    Categories,
    Digits,
    Fields,
    Grid,
    KeyLevel,
    Membership,
    Pattern,
    Presence,
    PublicSet,
)
from duffdp.domain.zones import zone_name

ONE_DAY = dt.timedelta(days=1)
SIZE = "size"  # what the draw of noisy sizes beside values is for
KEY_DRAW = "keys"  # what the draw that finds keys is for, if values are drawn after it
_INFINITE = ("-inf", "inf")


@dataclass(frozen=True, slots=True, eq=False)
class StatisticFact(Worded):
    """Statistic of a release: its name and its public parameters.

    Attributes
    ----------
    name
        The name, such as "quantile".
    parameters
        The parameters by their names, such as `q`.

    Privacy
    -------
    Public, and independent of the data.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1: a statistic and its
    parameters.

    Examples
    --------
    >>> import duffdp
    >>> release = duffdp.quantile(range(9), 0.9, epsilon=1.0, bounds=(0, 9), step=1)
    >>> release.statistic.name, release.statistic.parameters["q"], str(release.statistic)
    ('quantile', 0.9, 'quantile(0.9)')
    """

    name: str
    parameters: Mapping[str, object] = field(default_factory=dict)

    def _facts(self) -> tuple[object, ...]:
        return self.name, dict(self.parameters)

    def __str__(self) -> str:
        words = [
            ", ".join(map(str, value))
            if isinstance(value, tuple | list)
            else name
            if value is True
            else str(value)
            for name, value in self.parameters.items()
            if value is not False and value is not None
        ]
        return f"{self.name}({', '.join(words)})" if words else self.name


@dataclass(frozen=True, slots=True)
class MechanismPart:
    """One mechanism of a release: its name, the score of candidates, its share of epsilon, the
    number of draws.

    `epsilon` is the loss for the unit of the release, for all draws of this part together.
    """

    name: str
    utility: str | None
    epsilon: Fraction
    draws: int = 1

    def __str__(self) -> str:
        named = self.name if self.utility is None else f"{self.name}({self.utility})"
        return named if self.draws == 1 else f"{named} x {self.draws}"


@dataclass(frozen=True, slots=True, eq=False)
class MechanismFact(Worded):
    """Mechanisms of a release, each with its share of epsilon.

    Attributes
    ----------
    asked
        The requested choice, such as "best" or "duff".
    parts
        Every mechanism that drew: its `name`, its `utility` (the score of candidates), its
        `epsilon` and its number of `draws`.

    Privacy
    -------
    Public. The epsilons of the parts add up to that of the release
    (`tests/guarantees/public_door_test.py`).

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), theorem 3.14: the
    parts add up.

    Examples
    --------
    >>> import duffdp
    >>> release = duffdp.describe(range(9), epsilon=1.0, bounds=(0, 9), step=1)
    >>> [(part.name, str(part.epsilon)) for part in release.mechanism.parts]
    [('staircase', '1/5'), ('joint-exponential', '4/5')]
    """

    asked: Choice
    parts: tuple[MechanismPart, ...]

    @property
    def of_values(self) -> tuple[MechanismPart, ...]:
        """The parts that draw values, without those of sizes and keys."""
        return tuple(part for part in self.parts if part.utility not in (SIZE, KEY_DRAW))

    def _facts(self) -> tuple[object, ...]:
        return self.asked, self.parts

    def __str__(self) -> str:
        return " + ".join(map(str, self.parts))

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> MechanismFact:
        """The mechanism from its part of `Facts.to_dict()`."""
        parts = (part | {"epsilon": Fraction(part["epsilon"])} for part in fields["parts"])
        return cls(fields["asked"], tuple(MechanismPart(**part) for part in parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All public facts about a release before it is drawn, such as its cost and its possible
    values.
    """

    statistic: StatisticFact
    mechanism: MechanismFact
    loss: Loss
    unit: PrivacyUnit
    domain: PublicSet
    column: str | None = None
    by: tuple[str, ...] = ()
    keys: Sequence[tuple[Any, ...]] = ()
    secure: bool = True
    interval: Interval | None = None
    where: str | None = None  # rows for which this does not hold are left out
    sql: str | None = None  # the query that made the rows
    within: Groups | None = None  # rows of these groups count, and no others; in a margin alone
    suppression: Suppression | None = None
    found: FoundKeys | None = None  # how keys were found, if they are not listed
    other: str | None = None  # the group of all rows that are in none of the keys, the last one
    level: KeyLevel | None = None  # whose groups the keys are parts of

    @property
    def draws_sizes(self) -> bool:
        """True if noisy sizes of groups are drawn beside values."""
        own = self.suppression is None or self.suppression.own is not None
        return not own and not self.has_found_sizes

    @property
    def has_found_sizes(self) -> bool:
        """True if the noisy counts that keys were found by are released beside values."""
        return self.found is not None and self.found.counts

    @property
    def has_sizes(self) -> bool:
        """True if noisy sizes of groups are released beside values."""
        return self.draws_sizes or self.has_found_sizes

    @property
    def row_epsilon(self) -> Fraction:
        """The part of epsilon that goes to values, for one row of a unit."""
        spent = sum((part.epsilon for part in self.mechanism.of_values), Fraction(0))
        return self.unit.epsilon_per_row(spent)

    @property
    def size_epsilon(self) -> Fraction:
        """The part of epsilon that goes to sizes beside values, for one row of a unit; 0 without
        them.
        """
        if self.found is not None and self.found.counts:
            return self.found.row_epsilon
        sizes = (part.epsilon for part in self.mechanism.parts if part.utility == SIZE)
        return self.unit.epsilon_per_row(sum(sizes, Fraction(0)))

    def to_dict(self) -> dict[str, Any]:
        """All fields as types that JSON has."""
        statistic, mechanism = self.statistic, self.mechanism
        fields: dict[str, Any] = as_json(
            {
                "statistic": {"name": statistic.name, "parameters": dict(statistic.parameters)},
                "mechanism": {
                    "asked": mechanism.asked,
                    "parts": list(map(asdict, mechanism.parts)),
                },
                "loss": asdict(self.loss),
                "unit": _from_unit(self.unit),
                **_from_domain(self.domain),
                "column": self.column,
                "by": self.by,
                "keys": self.keys,
                "secure": self.secure,
                **_from_interval(self.interval),
                **({} if self.where is None else {"where": self.where}),
                **({} if self.sql is None else {"sql": self.sql}),
                **({} if self.within is None else {"within": self.within._asdict()}),
                **({} if self.suppression is None else {"suppression": self.suppression._asdict()}),
                **_from_found(self.found),
                **({} if self.other is None else {"other": self.other}),
                **({} if self.level is None else {"level": self.level.to_dict()}),
            }
        )
        return fields

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Facts:
        """The facts behind `to_dict()`."""
        return cls(
            statistic=StatisticFact(**fields["statistic"]),
            mechanism=MechanismFact.from_dict(fields["mechanism"]),
            loss=Loss.from_dict(fields["loss"]),
            unit=PrivacyUnit(**fields["unit"]),
            domain=_to_domain(fields),
            column=fields["column"],
            by=tuple(fields["by"]),
            keys=tuple(map(tuple, fields["keys"])),
            secure=fields["secure"],
            interval=_to_interval(fields.get("interval")),
            where=fields.get("where"),
            sql=fields.get("sql"),
            within=_to_groups(fields.get("within")),
            suppression=Suppression(**fields["suppression"]) if "suppression" in fields else None,
            found=_to_found(fields.get("found")),
            other=fields.get("other"),
            level=KeyLevel.from_dict(fields["level"]) if "level" in fields else None,
        )


def _from_unit(unit: PrivacyUnit) -> dict[str, Any]:
    fields = asdict(unit)
    if unit.groups_per_person is None:
        del fields["groups_per_person"]
    return fields


def _from_interval(interval: Interval | None) -> dict[str, Any]:
    if interval is None:
        return {}
    return {"interval": interval._asdict() | {"confidence": float(interval.confidence)}}


def _to_interval(fields: dict[str, Any] | None) -> Interval | None:
    if fields is None:
        return None
    together = fields.get("simultaneous", False)
    return Interval(exact(fields["confidence"]), fields["covers"], together)


def _from_found(found: FoundKeys | None) -> dict[str, Any]:
    if found is None:
        return {}
    columns = [
        {"pattern": part.parameters()} if isinstance(part, Pattern) else {"keys": list(part)}
        for part in found.columns
    ]
    return {"found": found._asdict() | {"columns": columns}}


def _to_found(fields: dict[str, Any] | None) -> FoundKeys | None:
    if fields is None:
        return None
    columns = tuple(
        Pattern.from_parameters(part["pattern"]) if "pattern" in part else Categories(part["keys"])
        for part in fields["columns"]
    )
    epsilon = Fraction(fields["row_epsilon"])
    return FoundKeys(columns, fields["size"], fields["threshold"], epsilon, fields["counts"])


def _to_groups(fields: dict[str, Any] | None) -> Groups | None:
    if fields is None:
        return None
    return Groups(tuple(fields["by"]), tuple(map(tuple, fields["keys"])))


def _from_domain(domain: PublicSet) -> dict[str, Any]:
    if isinstance(domain, Fields):
        cells = {} if domain.members is None else _from_domain(domain.members)
        return {"kind": domain.kind, "fields": cells}
    if isinstance(domain, Membership):
        members = domain.members
        if isinstance(members, Categories):
            return {"kind": domain.kind, "values": list(members)}
        return {"kind": domain.kind, "between": _ends(members), **_from_zone(members)}
    if isinstance(domain, Presence):
        return {"kind": domain.kind}
    if isinstance(domain, Bins):
        return {"kind": domain.kind, "bins": _ends(domain), **_from_zone(domain)}
    if isinstance(domain, Categories):
        return {"kind": domain.kind, "categories": list(domain)}
    if isinstance(domain, Digits):
        return {"kind": domain.kind, **domain.parameters()}
    step = domain.step
    if isinstance(step, dt.timedelta):  # as `step` takes it
        step = step // ONE_DAY if domain.kind == "date" else step.total_seconds()
    elif isinstance(step, float):
        exact = 1 / domain.index_units(Fraction(1))
        step = (
            step if Fraction(repr(step)) == exact else exact
        )  # a power of two is no short decimal
    bounds = [domain.lower, domain.upper]
    return {"kind": domain.kind, "bounds": bounds, "step": step, **_from_zone(domain)}


def _from_zone(domain: Grid | Bins) -> dict[str, Any]:
    return {} if domain.zone is None else {"zone": zone_name(domain.zone)}


def _ends(bins: Bins) -> list[Any]:
    """The edges of bins; JSON has no infinite numbers."""
    infinite = {float(text): text for text in _INFINITE}
    return [infinite.get(edge, edge) if isinstance(edge, float) else edge for edge in bins.edges]


def _to_domain(fields: dict[str, Any]) -> PublicSet:
    kind = fields["kind"]
    if "fields" in fields:
        cells = _to_domain(fields["fields"]) if fields["fields"] else None
        assert isinstance(cells, Bins | Categories | None)
        return Fields(cells)
    if kind in ("row", "present"):
        return Presence(rows=kind == "row")
    if "values" in fields:
        return Membership(Categories(fields["values"]))
    for name in ("bins", "between"):
        if name in fields:
            bins = Bins(float(e) if e in _INFINITE else from_json(e, kind) for e in fields[name])
            bins = bins.in_zone(fields["zone"]) if "zone" in fields else bins
            return Membership(bins) if name == "between" else bins
    if "categories" in fields:
        return Categories(fields["categories"])
    if "digits" in fields:
        return Digits(fields["digits"], fields["smallest"], fields["largest"])
    lower, upper = (from_json(bound, kind) for bound in fields["bounds"])
    step = from_json(fields["step"], "decimal" if kind == "decimal" else "float")
    grid = Grid(lower, upper, step)
    return grid.in_zone(fields["zone"]) if "zone" in fields else grid


def as_json(value: object) -> Any:
    """A value, or a list, tuple or dictionary of values, with nothing in it that JSON cannot hold.

    Dates and times become ISO text, exact numbers text, durations numbers of seconds, others their
    text.
    """
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, dict):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple | RowsOfColumns):
        return [as_json(item) for item in value]
    if isinstance(value, dt.date | dt.time):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    for kind in (bool, int, float):  # numpy's doubles and enumerations are numbers too
        if isinstance(value, kind):
            return kind(value)
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return as_json(value.item())
    return str(value)


def from_json(value: object, kind: str) -> Any:
    """A value of a grid of this kind from what `as_json` made of it."""
    if not isinstance(value, str):
        return value
    if kind == "date":
        return dt.date.fromisoformat(value)
    if kind == "datetime":
        return dt.datetime.fromisoformat(value)
    return Decimal(value) if kind == "decimal" else Fraction(value)
