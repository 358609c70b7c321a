"""Which rows of a person count: a fair choice, independent of other people's and of values."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from duffdp.domain import Array, Ints

WORDS = 4  # of 64 bits: what a choice starts from


class Cap(NamedTuple):
    """How many rows of a person count: of all groups together, or in each of so many groups."""

    rows: int
    groups: int | None = None


class Randomness(Protocol):
    """Where random bits come from."""

    def words(self, size: int) -> Array:
        """Independent uniform 64-bit words."""


def choose(people: Ints, groups: Ints | None, cap: Cap, source: Randomness) -> Ints:
    """The positions of the rows that count, for each row the numbers of its person and its group:
    of the groups of a person each set is as likely, and so is each set of rows in a group.
    """
    if cap.groups is None:
        return choose_rows(people, cap.rows, source)
    assert groups is not None
    many = int(groups.max(initial=0)) + 1
    found, membership = np.unique(people * many + groups, return_inverse=True)
    rows = choose_rows(membership, cap.rows, source)
    counts = np.zeros(len(found), dtype=bool)
    counts[choose_rows(found // many, cap.groups, source)] = True
    chosen: Ints = rows[counts[membership[rows]]]
    return chosen


def choose_rows(people: Ints, most: int, source: Randomness) -> Ints:
    """The positions of the rows that count: all of a person with up to `most`, else `most` of them,
    each set alike.

    Parameters
    ----------
    people
        For each row the number of its person.
    most
        How many rows of a person count.
    source
        Where the generator of the choice gets its seed from.
    """
    generator = np.random.Generator(
        np.random.PCG64DXSM([int(word) for word in source.words(WORDS)])
    )
    shuffled = generator.permutation(len(people))
    # A stable sort keeps the random order within each person.
    rows = shuffled[np.argsort(people[shuffled], kind="stable")]
    ordered = people[rows]
    # A row counts unless the one `most` places before it is of the same person.
    counts = np.ones(len(rows), dtype=bool)
    counts[most:] = ordered[most:] != ordered[:-most]
    chosen: Ints = rows[counts]
    return chosen
