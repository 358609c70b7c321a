"""Which rows of a person count: a fair choice, independent of other people's and of values."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from duffdp.domain import Array, Ints
from duffdp.engines.arrays.ranks import run_begins, stable_order

MOST_PEOPLE = 2**32
WORDS = 4  # of 64 bits: what a choice starts from
# A race takes a round for each row that counts, and room for the largest number of a person.
ROUNDS, SPARSE = 4, 8
MANY_TIES = 2**28  # rows: two words of 32 bits would often be as large


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
        For each row the number of its person, from 0 to below 2**32.
    most
        How many rows of a person count.
    source
        Where the generator of the choice gets its seed from.
    """
    generator = np.random.Generator(
        np.random.PCG64DXSM([int(word) for word in source.words(WORDS)])
    )
    dense = int(people.max(initial=0)) < SPARSE * len(people)
    if dense and most <= ROUNDS and len(people) < MANY_TIES:
        return race(people, most, generator)
    return shuffled(people, most, generator)


def race(people: Ints, most: int, generator: np.random.Generator) -> Ints:
    """The rows with the `most` largest words of each person, every row with one of its own: no sort
    is needed. All are drawn anew if two are as large, which prefers no row.
    """
    while True:
        chosen = with_largest_words(people, most, draw_words(len(people), generator))
        if chosen is not None:
            return chosen


def draw_words(many: int, generator: np.random.Generator) -> Array:
    """So many independent words of 32 bits, all above 0."""
    return generator.integers(1, 2**32, many, dtype=np.uint32)


def with_largest_words(people: Ints, most: int, words: Array) -> Ints | None:
    """The positions of the `most` largest words, all above 0, of each person; None if it has to
    be one of two that are as large.
    """
    size, rows = int(people.max()) + 1, np.arange(len(people))
    found: list[Ints] = []
    while len(rows) and len(found) < most:
        largest = np.zeros(size, dtype=words.dtype)
        np.maximum.at(largest, people, words)
        wins = words == np.take(largest, people)
        if np.count_nonzero(wins) > np.count_nonzero(largest):
            return None
        found.append(rows[wins])
        if len(found) < most:
            rows, people, words = rows[~wins], people[~wins], words[~wins]
    return np.concatenate(found)


def shuffled(people: Ints, most: int, generator: np.random.Generator) -> Ints:
    """The rows that come first where those of each person are shuffled."""
    rows = stable_order(people)
    begin = run_begins(people[rows])
    many = np.diff(begin, append=len(rows))
    crowded = many > most
    shuffle_beginnings(rows, begin[crowded], many[crowded], most, generator)
    chosen: Ints = rows[np.arange(len(rows)) - np.repeat(begin, many) < most]
    return chosen


def shuffle_beginnings(
    rows: Ints, begin: Ints, many: Ints, most: int, generator: np.random.Generator
) -> None:
    """Bring a fair choice of `most` rows to the beginning of each stretch of more rows than that:
    a shuffle by Fisher and Yates that ends there, of all stretches at once or one by one, whichever
    takes fewer steps.
    """
    if len(begin) < most:
        for first, size in zip(begin.tolist(), many.tolist(), strict=True):
            generator.shuffle(rows[first : first + size])
        return
    for place in range(most if len(begin) else 0):
        to = begin + place
        taken = to + generator.integers(0, many - place)
        rows[to], rows[taken] = rows[taken], rows[to]


def whole_people(array: Array, missing: Array | None) -> Ints | None:
    """Whole numbers that name people as numbers from 0, -1 where they are missing; None if they
    are too wide apart for that.
    """
    if array.dtype.kind not in "iu":
        return None
    least, most = (int(array.min()), int(array.max())) if len(array) else (0, 0)
    if most - least >= MOST_PEOPLE:
        return None
    wide = array if array.dtype.itemsize == 8 else array.astype(np.int64)
    people: Ints = (wide - wide.dtype.type(least)).view(np.int64)
    if missing is not None:
        people[missing] = -1
    return people
