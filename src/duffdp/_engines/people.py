"""Choice of a person's rows: fair, and independent of other people's choices and of values.

Promise: A bounded number of rows per person is used, and every choice of them is equally likely
and independent of other people and of values.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from duffdp._engines.arrays.ranks import run_begins, stable_order
from duffdp.domain import Array, Ints

MAX_PEOPLE = 2**32
SEED_WORDS = 4  # of 64 bits: what a choice starts from
# A race takes a round for each row that counts, and room for the largest number of a person.
ROUNDS, SPARSE = 4, 8
MANY_TIES = 2**28  # rows: two words of 32 bits would often be as large


class Cap(NamedTuple):
    """Limit on the rows of a person: over all groups together, or in each of a limited number of
    groups.
    """

    rows: int
    groups: int | None = None


class Randomness(Protocol):
    """Source of random bits."""

    def words(self, size: int) -> Array:
        """Independent uniform 64-bit words."""


def choose(people: Ints, groups: Ints | None, cap: Cap, source: Randomness) -> Ints:
    """The positions of the rows that count.

    `people` and `groups` number the person and the group of each row. Every set of groups of a
    person is equally likely, and so is every set of rows in a group.
    """
    if cap.groups is None:
        return choose_rows(people, cap.rows, source)
    assert groups is not None
    group_count = int(groups.max(initial=0)) + 1
    memberships, membership = np.unique(people * group_count + groups, return_inverse=True)
    rows = choose_rows(membership, cap.rows, source)
    counts = np.zeros(len(memberships), dtype=bool)
    counts[choose_rows(memberships // group_count, cap.groups, source)] = True
    chosen_rows: Ints = rows[counts[membership[rows]]]
    return chosen_rows


def choose_rows(people: Ints, limit: int, source: Randomness) -> Ints:
    """The positions of the rows that count: all rows of a person with at most `limit`, else
    `limit` of them, every set with the same probability.

    Parameters
    ----------
    people
        For each row the number of its person, from 0 to below 2**32.
    limit
        How many rows of a person count.
    source
        Where the generator of the choice gets its seed from.
    """
    generator = np.random.Generator(
        np.random.PCG64DXSM([int(word) for word in source.words(SEED_WORDS)])
    )
    dense = int(people.max(initial=0)) < SPARSE * len(people)
    if dense and limit <= ROUNDS and len(people) < MANY_TIES:
        return race(people, limit, generator)
    return shuffled(people, limit, generator)


def race(people: Ints, limit: int, generator: np.random.Generator) -> Ints:
    """The rows with the `limit` largest words of each person, without a sort. Every row has a
    random word; on a tie all words are drawn again, so no row is favored. Choices of different
    people stay independent, because the absence of ties is one condition per person, on that
    person's words alone.
    """
    while True:
        winners = with_largest_words(people, limit, draw_words(len(people), generator))
        if winners is not None:
            return winners


def draw_words(count: int, generator: np.random.Generator) -> Array:
    """So many independent words of 32 bits, all above 0."""
    return generator.integers(1, 2**32, count, dtype=np.uint32)


def with_largest_words(people: Ints, limit: int, words: Array) -> Ints | None:
    """The positions of the `limit` largest words, all above 0, of each person; None if it has to
    be one of two that are as large.
    """
    size, rows = int(people.max()) + 1, np.arange(len(people))
    rounds: list[Ints] = []
    while len(rows) and len(rounds) < limit:
        largest = np.zeros(size, dtype=words.dtype)
        np.maximum.at(largest, people, words)
        wins = words == np.take(largest, people)
        if np.count_nonzero(wins) > np.count_nonzero(largest):
            return None
        rounds.append(rows[wins])
        if len(rounds) < limit:
            rows, people, words = rows[~wins], people[~wins], words[~wins]
    return np.concatenate(rounds)


def shuffled(people: Ints, limit: int, generator: np.random.Generator) -> Ints:
    """The rows that come first where those of each person are shuffled."""
    rows = stable_order(people)
    begin = run_begins(people[rows])
    row_counts = np.diff(begin, append=len(rows))
    crowded = row_counts > limit
    shuffle_beginnings(rows, begin[crowded], row_counts[crowded], limit, generator)
    chosen_rows: Ints = rows[np.arange(len(rows)) - np.repeat(begin, row_counts) < limit]
    return chosen_rows


def shuffle_beginnings(
    rows: Ints, begin: Ints, row_counts: Ints, limit: int, generator: np.random.Generator
) -> None:
    """Bring a fair choice of `limit` rows to the beginning of each stretch of more rows than that.

    It is a shuffle by Fisher and Yates that ends there, of all stretches at once or one by one: the
    way with fewer steps.
    """
    if len(begin) < limit:
        for first, size in zip(begin.tolist(), row_counts.tolist(), strict=True):
            generator.shuffle(rows[first : first + size])
        return
    # All bits of one person after all bits of another: who joins last changes no other choice.
    places = np.arange(limit)
    offsets = generator.integers(0, row_counts[:, None] - places)
    for place in places.tolist():
        to = begin + place
        swapped = to + offsets[:, place]
        rows[to], rows[swapped] = rows[swapped], rows[to]


def whole_people(array: Array, missing: Array | None) -> Ints | None:
    """Numbers from 0 for people that whole numbers identify, -1 if missing; None if they are too
    far apart for that.
    """
    if array.dtype.kind not in "iu":
        return None
    lowest, highest = (int(array.min()), int(array.max())) if len(array) else (0, 0)
    if highest - lowest >= MAX_PEOPLE:
        return None
    wide = array if array.dtype.itemsize == 8 else array.astype(np.int64)
    people: Ints = (wide - wide.dtype.type(lowest)).view(np.int64)
    if missing is not None:
        people[missing] = -1
    return people
