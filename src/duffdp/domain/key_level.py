"""A level above the keys of groups: a public function from a key to the larger group that contains
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duffdp.domain.categories import Categories
from duffdp.domain.pattern import Pattern
from duffdp.errors import Argument, DuffError

MAX_LEVEL_GROUPS = 2**16  # beginnings of the keys of a pattern
_EXAMPLE = (
    "Pass for example ",
    Argument("levels", {"chapter": {"A00-B99": ["A01", "B02"], "C00-D49": ["C03"]}}),
    " or ",
    Argument("levels", {"letter": 1}),
    ".",
)


@dataclass(frozen=True)
class KeyLevel:
    """Groups of keys: named ones, or one for each prefix of the keys' text.

    `groups` has for each name the keys of the group, listed or as a pattern; of a key in several
    groups the first one counts. `characters` is the length of beginnings.
    """

    name: str
    groups: tuple[tuple[str, Pattern | Categories], ...] = ()
    characters: int | None = None

    def group(self, key: object) -> str | None:
        """The group that a key is a part of; None if it is in none."""
        if self.characters is not None:
            return key[: self.characters] if isinstance(key, str) else None
        return next((name for name, members in self.groups if _is_in(members, key)), None)

    def names(self, pattern: Pattern) -> list[str]:
        """All groups that keys of a pattern can be in."""
        if self.characters is None:
            return [name for name, _ in self.groups]
        beginnings = pattern.beginnings(self.characters, MAX_LEVEL_GROUPS)
        if beginnings is None:
            raise DuffError(
                *(Argument("levels", {self.name: self.characters}), " can have at most "),
                f"{MAX_LEVEL_GROUPS:,} groups of text keys, which {pattern!r:.60} exceeds. ",
                *_EXAMPLE,
            )
        return beginnings

    def to_dict(self) -> dict[str, Any]:
        """The level as types that JSON has."""
        if self.characters is not None:
            return {"name": self.name, "characters": self.characters}
        return {
            "name": self.name,
            "groups": {
                name: {"pattern": part.parameters()}
                if isinstance(part, Pattern)
                else {"keys": list(part)}
                for name, part in self.groups
            },
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> KeyLevel:
        """The level behind `to_dict()`."""
        groups = tuple(
            (
                name,
                Pattern.from_parameters(part["pattern"])
                if "pattern" in part
                else Categories(part["keys"]),
            )
            for name, part in fields.get("groups", {}).items()
        )
        return cls(fields["name"], groups, fields.get("characters"))


def read_level(levels: object, by: tuple[str, ...]) -> KeyLevel | None:
    """The level of named groups above the keys; None where `levels` is True, and the columns of
    groups are the levels.
    """
    if levels is True:
        if len(by) < 2:
            raise DuffError(
                *(Argument("levels", True), " needs several columns of groups, from the largest "),
                *("groups to the smallest, got ", Argument("by", list(by)), ". "),
                *_EXAMPLE,
            )
        return None
    if not isinstance(levels, Mapping) or len(levels) != 1:
        raise DuffError(
            *(
                Argument("levels"),
                f" must be True or a mapping with one level, got {levels!r:.60}. ",
            ),
            *_EXAMPLE,
        )
    ((name, groups),) = levels.items()
    if not isinstance(name, str) or not name or name.casefold() in map(str.casefold, by):
        raise DuffError(
            *(
                Argument("levels"),
                f" must not give a level the name of a grouping column, got {name!r}",
            ),
            *(". ", *_EXAMPLE),
        )
    if len(by) != 1:
        raise DuffError(
            *(Argument("levels", {name: "..."}), " needs groups by one column, got "),
            *(Argument("by", list(by)), ". Pass "),
            *(Argument("levels", True), " if the columns of by are the levels."),
        )
    if isinstance(groups, int) and not isinstance(groups, bool) and groups >= 1:
        return KeyLevel(name, characters=groups)
    if not isinstance(groups, Mapping) or not groups:
        raise DuffError(
            *(Argument("levels"), " must have groups of keys or a number of characters for "),
            *(f"{name!r}, got {groups!r:.60}. ", *_EXAMPLE),
        )
    return KeyLevel(name, tuple((_name(group), _members(group, groups[group])) for group in groups))


def _name(group: object) -> str:
    if not isinstance(group, str) or not group:
        raise DuffError(
            *(Argument("levels"), f" must give each group a name, got {group!r:.60}. "),
            *_EXAMPLE,
        )
    return group


def _members(group: str, members: object) -> Pattern | Categories:
    if isinstance(members, Mapping):
        return Pattern.from_parameters(members)
    if isinstance(members, Pattern):
        return members
    if not isinstance(members, list | tuple) or not members:
        raise DuffError(
            *(Argument("levels"), " must list the keys of a group or describe them by a Pattern, "),
            *(f"got {members!r:.60} for {group!r}. ", *_EXAMPLE),
        )
    return Categories(members)


def _is_in(members: Pattern | Categories, key: object) -> bool:
    if isinstance(members, Pattern):
        return members.index(key) is not None or members.text_index(key) is not None
    return members.find(key) is not None
