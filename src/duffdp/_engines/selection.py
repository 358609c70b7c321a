"""Selection of rows: the column, the groups, the person. Checked before a row is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from duffdp._engines.keys import read_keys
from duffdp._engines.universe import KeyUniverse, read_universe
from duffdp._engines.where import Condition, read_condition
from duffdp._parameters import BY, COLUMN, KEYS, UNIT, Groups
from duffdp._rows import Row
from duffdp.domain import KeyLevel, Pattern
from duffdp.domain.key_level import read_level
from duffdp.errors import Argument, DuffError

_BY, _KEYS, _UNIT = Argument("by"), Argument("keys"), Argument("unit")
_NEED_BY = (" needs ", _BY, ", the columns that form groups. Pass for example ")


class Selection(NamedTuple):
    """The selected column (or two), the groups, and the column that identifies the person."""

    column: str | None = None
    by: tuple[str, ...] = ()
    keys: Sequence[Row] = ()  # that rows are compared with
    unit: str | None = None
    contributions: int = 1
    pair: tuple[str, str] | None = None  # in the place of `column`, where records are pairs
    values: tuple[str, ...] = ()  # the columns that hold what is summarised: `column`, or `pair`
    groups: Groups = Groups((), ())  # that are answered: the leaves, or what they make in a margin
    within: Groups | None = None  # the groups that make up a margin
    leaves: Groups = Groups((), ())  # the smallest groups: the keys, and those of other rows
    leaf_of_key: Sequence[int] = ()  # for each key, which of the leaves it belongs to
    places: Sequence[int] = ()  # for each leaf, which of `groups` it belongs to
    where: Condition | None = None  # rows for which it does not hold are left out
    groups_per_person: int | None = None  # in each of which so many rows count; None: in all
    written: tuple[str, ...] = ()  # the columns of groups whose keys are text of a file
    universe: KeyUniverse | None = None  # of which keys are found, where none are listed
    other: str | None = None  # the group of all rows that are in none of the others, the last key
    level: KeyLevel | None = None  # whose groups the keys are parts of
    sums_leaves: bool = False  # the rows that count are those of the leaves, and a margin adds up

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that distinguish groups: those of keys, and the level above."""
        return self.by if self.level is None else (self.level.name, *self.by)

    @property
    def other_names(self) -> Sequence[str]:
        """The groups of the level with a group of other rows each: of these keys are found, so
        which of them are others is known for every row.
        """
        if self.level is None or self.universe is None or self.other is None:
            return ()
        (pattern,) = self.universe.parts
        assert isinstance(pattern, Pattern)
        return self.level.names(pattern)

    @property
    def most_leaves(self) -> int:
        """The number of leaves, or the largest one if keys are found."""
        if self.universe is None:
            return len(self.leaves.keys)
        return self.universe.size + (self.other is not None) + len(self.other_names)

    def with_keys(self, rows: Sequence[Row]) -> Selection:
        """The selection with these keys; margins are made of them as before."""
        other = self.other
        if other is not None and any(other in (*row, *self._level_of(row)) for row in rows):
            raise _other_is_taken(other, "the keys and their larger groups")
        leaves, leaf_of_key = self._leaves(rows)
        groups, places = in_margin(leaves, self.groups.by)
        within = None if groups.by == leaves.by else leaves
        return self._replace(
            keys=rows,
            groups=groups,
            within=within,
            leaves=leaves,
            leaf_of_key=leaf_of_key,
            places=places,
        )

    def _leaves(self, rows: Sequence[Row]) -> tuple[Groups, Sequence[int]]:
        """The smallest groups, and for each key which of them it belongs to. The group of all other
        rows is the last one; the other rows of a level's group come after its keys.
        """
        rest = () if self.other is None else ((self.other,) * len(self.names),)
        if self.level is None:
            leaves = rows if self.other is None else (*rows, *rest)
            return Groups(self.by, leaves), range(len(rows))
        keys = [(self._group_of(row), *row) for row in rows]
        if not self.other_names:
            return Groups(self.names, (*keys, *rest)), range(len(rows))
        members: dict[Any, list[Row]] = {name: [] for name in self.other_names}
        for key in keys:
            members.setdefault(key[0], []).append(key)
        in_no_group = members.pop(self.other, [])
        leaves = [
            leaf for name, listed in members.items() for leaf in (*listed, (name, self.other))
        ]
        leaves += [*in_no_group, *rest]
        place = {leaf: at for at, leaf in enumerate(leaves)}
        return Groups(self.names, leaves), [place[key] for key in keys]

    def _level_of(self, row: Row) -> tuple[str | None, ...]:
        """The group of the level that a key is a part of, if there are a level and such a group."""
        return () if self.level is None else (self.level.group(row[0]),)

    def _group_of(self, row: Row) -> Any:
        """The group of the level that a key is a part of."""
        assert self.level is not None
        group = self.level.group(row[0])
        if group is None and self.other is None:
            raise DuffError(
                *(f"the key {row[0]!r:.60} is in no group of the level {self.level.name!r}. Add "),
                *("it to one, or pass for example ", Argument("other", "all others"), "."),
            )
        return self.other if group is None else group

    def leaves_of_others(self, rows: Sequence[Row]) -> list[int]:
        """For rows whose keys are none of the keys, the leaves that they belong to."""
        assert self.level is not None
        place = {leaf: at for at, leaf in enumerate(self.leaves.keys)}
        last = len(self.leaves.keys) - 1
        return [place.get((self.level.group(row[0]), self.other), last) for row in rows]


def select(
    column: object,
    by: object,
    keys: object,
    unit: object,
    contributions: int = 1,
    pair: tuple[str, str] | None = None,
    margin: object = None,
    where: object = None,
    other: str | None = None,
    levels: object = None,
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
                f" must not name the column {unit!r} itself. Use the column that identifies ",
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
                *(_BY, f" must not name the column {name!r} itself. Use the columns that form "),
                "the groups.",
            )
    if keys is None:
        raise DuffError(
            *(_BY, " needs ", _KEYS, ", the public list of groups: it must not come from the "),
            *("data. Pass for example ", Argument("keys", KEYS.example), "."),
        )
    level = None if levels is None else read_level(levels, names)
    selection = selection._replace(by=names, other=other, level=level)
    selection = selection._replace(groups=Groups(_margin(selection.names, margin), ()))
    universe = read_universe(names, keys)
    if universe is not None:
        selection = selection._replace(universe=universe)
        _check_other(selection)
        return selection
    read = read_keys(names, keys)
    return selection._replace(written=read.written).with_keys(read.rows)


def _check_other(selection: Selection) -> None:
    """Refuse a group of others that a key or a group of the level may be called like, and a level
    that leaves keys of a pattern without a group.
    """
    universe, level, other = selection.universe, selection.level, selection.other
    assert universe is not None
    if other is not None and universe.mentions(other):
        raise _other_is_taken(other, "the possible keys")
    if level is None:
        return
    if level.characters is None and other is None:
        raise DuffError(
            *(Argument("levels"), " with named groups and keys of a pattern needs "),
            *(Argument("other"), ", the group of keys that are in none of them. Pass for example "),
            *(Argument("other", "all others"), "."),
        )
    if other in selection.other_names:
        raise _other_is_taken(other, f"the groups of the level {level.name!r}")


def _other_is_taken(other: Any, names: str) -> DuffError:
    return DuffError(
        *(Argument("other", other), f" must differ from {names}. Pass for example "),
        *(Argument("other", "all others"), "."),
    )


def in_margin(all_groups: Groups, margin: tuple[str, ...]) -> tuple[Groups, Sequence[int]]:
    """The groups that keys make up by some of their columns, and for each key
    the position of its group.
    """
    if margin == all_groups.by:
        return all_groups, range(len(all_groups.keys))
    key_places = [all_groups.by.index(name) for name in margin]
    parts = [tuple(key[at] for at in key_places) for key in all_groups.keys]
    place = {part: at for at, part in enumerate(dict.fromkeys(parts))}
    groups = Groups(margin, tuple(place) if key_places else ())
    return groups, tuple(place[part] for part in parts)


def _margin(by: tuple[str, ...], margin: object) -> tuple[str, ...]:
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
