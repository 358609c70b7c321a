"""Selection of rows: the column, the groups, the person. Checked before a row is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from duffdp._engines.keys import read_keys
from duffdp._engines.universe import KeyUniverse, read_universe
from duffdp._engines.where import Condition, read_condition
from duffdp._parameters import BY, COLUMN, KEYS, UNIT, Groups
from duffdp._rows import Row
from duffdp.errors import Argument, DuffError

_BY, _KEYS, _UNIT = Argument("by"), Argument("keys"), Argument("unit")
_NEED_BY = (" needs ", _BY, ", the columns that form groups. Pass for example ")


class Selection(NamedTuple):
    """The column, or two, the groups, and the column that identifies the person."""

    column: str | None = None
    by: tuple[str, ...] = ()
    keys: Sequence[Row] = ()
    unit: str | None = None
    contributions: int = 1
    pair: tuple[str, str] | None = None  # in the place of `column`, where records are pairs
    values: tuple[str, ...] = ()  # the columns that hold what is summarised: `column`, or `pair`
    groups: Groups = Groups((), ())  # that are answered: the keys, or what they make in a margin
    within: Groups | None = None  # the groups that make up a margin
    places: Sequence[int] = ()  # for each key, which of `groups` it belongs to
    where: Condition | None = None  # rows for which it does not hold are left out
    groups_per_person: int | None = None  # in each of which so many rows count; None: in all
    written: tuple[str, ...] = ()  # the columns of groups whose keys are text of a file
    universe: KeyUniverse | None = None  # of which keys are found, where none are listed
    other: str | None = None  # the group of all rows that are in none of the others, the last key

    @property
    def listed_keys(self) -> Sequence[Row]:
        """The keys without that of all other rows."""
        return self.keys if self.other is None else self.keys[:-1]

    def with_keys(self, rows: Sequence[Row]) -> Selection:
        """The selection with these keys; margins are made of them as before."""
        if self.other is not None:
            last = (self.other,) * len(self.by)
            if last in set(rows):
                raise DuffError(
                    *(Argument("other", self.other), " must differ from the keys. Pass for "),
                    *("example ", Argument("other", "all others"), "."),
                )
            rows = (*rows, last)
        all_groups = Groups(self.by, rows)
        groups, places = in_margin(all_groups, self.groups.by)
        within = None if groups.by == self.by else all_groups
        return self._replace(keys=rows, groups=groups, within=within, places=places)


def select(
    column: Any,
    by: Any,
    keys: Any,
    unit: Any,
    contributions: int = 1,
    pair: tuple[str, str] | None = None,
    margin: Any = None,
    where: Any = None,
    other: str | None = None,
) -> Selection:
    """Check how rows are chosen and grouped, without looking at them."""
    if column is not None and not isinstance(column, str):
        raise COLUMN.refusal(column)
    if unit is not None and not isinstance(unit, str):
        raise UNIT.refusal(unit)
    values = pair or (() if column is None else (column,))
    selection = Selection(column, unit=unit, contributions=contributions, pair=pair, values=values)
    if where is not None:
        selection = selection._replace(where=read_condition(where))
    if unit is not None and unit in selection.values:
        raise DuffError(
            *(
                _UNIT,
                f" must not name the column {unit!r} itself. Pass the column that identifies ",
            ),
            "the person.",
        )
    if by is None:
        if keys is not None:
            raise DuffError(_KEYS, *_NEED_BY, Argument("by", "region"), ".")
        if margin is not None:
            raise DuffError(
                *(Argument("margin"), *_NEED_BY, Argument("by", ["region", "sex"]), " and "),
                *(Argument("margin", ["region"]), "."),
            )
        return selection
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else ()
    if (
        not names
        or not all(isinstance(name, str) for name in names)
        or len(set(names)) < len(names)
    ):
        raise DuffError.about(
            "by", by, "the name of a column or a list of different names", BY.example
        )
    for name in selection.values:
        if name in names:
            raise DuffError(
                *(_BY, f" must not name the column {name!r} itself. Pass the columns that form "),
                "the groups.",
            )
    if keys is None:
        raise DuffError(
            *(_BY, " needs ", _KEYS, ", the public list of groups: it must not come from the "),
            *("data. Pass for example ", Argument("keys", KEYS.example), "."),
        )
    groups = Groups(_margin(names, margin), ())
    selection = selection._replace(by=names, groups=groups, other=other)
    universe = read_universe(names, keys)
    if universe is not None:
        return selection._replace(universe=universe)
    read = read_keys(names, keys)
    return selection._replace(written=read.written).with_keys(read.rows)


def in_margin(all_groups: Groups, margin: tuple[str, ...]) -> tuple[Groups, Sequence[int]]:
    """The groups that keys make up where some of their columns tell them apart, and for each key
    the position of its group.
    """
    if margin == all_groups.by:
        return all_groups, range(len(all_groups.keys))
    key_places = [all_groups.by.index(name) for name in margin]
    parts = [tuple(key[at] for at in key_places) for key in all_groups.keys]
    place = {part: at for at, part in enumerate(dict.fromkeys(parts))}
    groups = Groups(margin, tuple(place) if key_places else ())
    return groups, tuple(place[part] for part in parts)


def _margin(by: tuple[str, ...], margin: Any) -> tuple[str, ...]:
    """The columns of a margin, in the order of `by`: all of them if none are given."""
    if margin is None:
        return by
    names = [margin] if isinstance(margin, str) else margin
    if not isinstance(names, list | tuple) or not all(name in by for name in names):
        raise DuffError(
            *(Argument("margin"), " must be some of the columns of ", _BY, f", {', '.join(by)}, "),
            *(f"got {margin!r:.60}. Pass for example ", Argument("margin", [])),
            ", which is all groups together.",
        )
    return tuple(name for name in by if name in names)
