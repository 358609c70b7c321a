"""A public, finite set of possible keys, described instead of listed: the strings of a pattern,
whole numbers in a range, or days.
"""

from __future__ import annotations

import datetime as dt
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from duffdp.errors import Argument, BoundsError, DuffError

DEFAULT_FALSE_KEYS = 0.05
MAX_FALSE_KEYS = 1000  # expected keys that occur nowhere: more would be a table of noise
# Patterns beyond these limits are refused; one of 500 optional letters is within them.
MAX_TEXT, MAX_DEPTH, MAX_NODES, MAX_STATES, MAX_WORK = 2000, 50, 20_000, 5_000, 2_000_000
MAX_BITS = 4096  # of the number of strings

_FIRST_PRINTABLE = 0x20
_SURROGATES = (0xD800, 0xDFFF)  # halves of a pair: no column holds them alone
_CONTROLS = (0x7F, 0x9F)
_SPECIAL = frozenset("()[]{}|?*+.^$\\")
_DIGITS = ((ord("0"), ord("9")),)
_EXAMPLE = ("Pass for example ", Argument("pattern", "[A-Z][0-9]{2}"), ".")

Ranges = tuple[tuple[int, int], ...]  # of code points, both ends included; sorted and disjoint


class Members(Protocol):
    """The members of a set, in a public order."""

    size: int
    kind: str

    def value(self, index: int) -> Any:
        """The member at a place."""

    def index(self, value: object) -> int | None:
        """The place of a member; None for any other value."""

    def text_index(self, text: object) -> int | None:
        """The place of the member that is written as this text; None for any other text."""


class Pattern:
    """A public and finite set of possible keys, of which a release finds those with many rows.

    Parameters
    ----------
    text
        A regular expression of characters, classes such as `[A-Z0-9]` and `\\d`, groups,
        alternatives `|`, `?`, `{n}` and `{m,n}`. It describes whole strings. Unlimited repetition
        (`*`, `+`, `{m,}`) is refused, and so are parts that cannot be counted (`.`, `[^...]`,
        references).
    length, alphabet
        Instead of `text`: all strings of this length from these characters.
    numbers
        Instead of `text`: all whole numbers from the first to the last one.
    days
        Instead of `text`: all days from the first to the last one, dates or ISO text.
    false_keys
        The limit for the average number of published keys that do not occur in the data. With a
        key needs more people to be found.

    Methods
    -------
    size, value, index, threshold

    Privacy
    -------
    The pattern is public and must not be made from the data. Every possible key gets noise, also
    keys without a row, so finding keys needs no delta (`tests/guarantees/found_keys_test.py`).

    Utility
    -------
    A key is published if its noisy count is at least `threshold(epsilon)`.

    Runtime
    -------
    Strings are counted without being listed, so the runtime does not depend on the size of the set.

    References
    ----------
    Cormode, Procopiuc, Srivastava and Tran, "Differentially private summaries for sparse data"
    (ICDT 2012): a noisy histogram of which only large cells are drawn.

    Examples
    --------
    >>> import duffdp
    >>> codes = duffdp.Pattern("[A-Z][0-9]{2}")
    >>> codes.size, "J45" in codes, codes.threshold(epsilon=1)
    (2600, True, 11)
    >>> duffdp.Pattern(length=20, alphabet="abcdefghijklmnopqrstuvwxyz0123456789").size == 36**20
    True
    """

    __slots__ = ("_members", "_parameters", "false_keys")

    def __init__(
        self,
        text: str | None = None,
        *,
        length: int | None = None,
        alphabet: str | None = None,
        numbers: Sequence[int] | None = None,
        days: Sequence[Any] | None = None,
        false_keys: float = DEFAULT_FALSE_KEYS,
    ) -> None:
        by_length = length if length is not None else alphabet
        ways = [way for way in (text, by_length, numbers, days) if way is not None]
        if len(ways) != 1:
            raise BoundsError(
                "a pattern needs exactly one of text, length with alphabet, numbers, or days, "
                f"got {len(ways)} of them. ",
                *_EXAMPLE,
            )
        self._members: Members
        if text is not None:
            self._members = _strings_of(_Parser(text).parse())
            self._parameters: dict[str, Any] = {"text": text}
        elif numbers is not None:
            self._members = _Numbers(*_ends("numbers", numbers, _whole, (1, 999)))
            self._parameters = {"numbers": [self._members.lower, self._members.upper]}
        elif days is not None:
            self._members = _Days(*_ends("days", days, _day, ("2024-01-01", "2024-12-31")))
            self._parameters = {"days": [self._members.lower, self._members.upper]}
        else:
            self._members = _strings_of(_of_length(length, alphabet))
            self._parameters = {"length": length, "alphabet": alphabet}
        number = false_keys if isinstance(false_keys, int | float | Fraction) else math.nan
        if isinstance(false_keys, bool) or not 0 < number <= MAX_FALSE_KEYS:
            raise DuffError.about(
                "false_keys", false_keys, f"a number above 0 and at most {MAX_FALSE_KEYS}", 0.05
            )
        self.false_keys = Fraction(repr(false_keys) if isinstance(number, float) else false_keys)

    @property
    def size(self) -> int:
        """Number of possible keys."""
        return self._members.size

    @property
    def kind(self) -> str:
        """Kind of the keys: "text", "int" or "date"."""
        return self._members.kind

    def value(self, index: int) -> Any:
        """The possible key at a place of the public order."""
        if not 0 <= index < self.size:
            raise IndexError("no possible key is at this place")
        return self._members.value(index)

    def index(self, value: object) -> int | None:
        """The position of a possible key; None for any other value."""
        if isinstance(value, np.generic):
            value = value.item()
        return self._members.index(value)

    def text_index(self, text: object) -> int | None:
        """The position of the possible key with this text; None for any other text."""
        return self._members.text_index(text)

    def beginnings(self, characters: int, limit: int) -> list[str] | None:
        """The distinct prefixes of the possible keys with this many characters, in order; None for
        more than `limit` of them, or for keys that are not text.
        """
        if not isinstance(self._members, _Strings):
            return None
        return self._members.beginnings(characters, limit)

    def __contains__(self, value: object) -> bool:
        return self.index(value) is not None

    def threshold(self, epsilon: float) -> int:
        """The smallest noisy count that is published if finding keys costs this epsilon.

        Parameters
        ----------
        epsilon
            The part of epsilon that finds keys, per row of a person.
        """
        return key_threshold(self.size, self.false_keys, Fraction(epsilon))

    def parameters(self) -> dict[str, Any]:
        """The public parameters that define the set, without those at their default value."""
        usual = self.false_keys == Fraction(repr(DEFAULT_FALSE_KEYS))
        return self._parameters | ({} if usual else {"false_keys": float(self.false_keys)})

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> Pattern:
        """The pattern from its `parameters`, as in a plan or a stored release."""
        names = ("text", "length", "alphabet", "numbers", "days", "false_keys")
        unknown = [name for name in parameters if name not in names]
        if unknown:
            raise DuffError(
                f"a pattern has no parameter {unknown[0]!r:.60}. Pass some of {', '.join(names)}."
            )
        return cls(**parameters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self.parameters() == other.parameters()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        parts = [
            repr(value) if name == "text" else f"{name}={_written(value)}"
            for name, value in self.parameters().items()
        ]
        return f"Pattern({', '.join(parts)})"


def _written(value: object) -> str:
    """A parameter as a caller writes it."""
    if isinstance(value, list):
        return f"({', '.join(repr(str(v)) if isinstance(v, dt.date) else repr(v) for v in value)})"
    return repr(value)


def key_threshold(size: int, false_keys: Fraction, epsilon: Fraction) -> int:
    """The least whole number t of 1 or more for which `size` two-sided geometric noises reach t
    `false_keys` times on average: size exp(-epsilon t) / (1 + exp(-epsilon)) <= false_keys.
    """
    context = Context(prec=60, Emin=-(10**9), Emax=10**9)
    rate = context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    expected = context.divide(Decimal(size * false_keys.denominator), Decimal(false_keys.numerator))
    with_ratio = context.divide(expected, context.add(1, context.exp(context.minus(rate))))
    least = context.divide(context.ln(with_ratio), rate)
    return max(1, int(least.to_integral_value(ROUND_CEILING, context)))


def count_for_finding(threshold: int, epsilon: Fraction, confidence: Fraction) -> int:
    """The least number of records with which a key is found with this probability."""
    rate, miss = float(epsilon), float(1 - confidence)
    # P(noise < -d) = exp(-epsilon (d + 1)) / (1 + exp(-epsilon)), for d of 0 or more.
    spare = math.ceil(-math.log(miss * (1 + math.exp(-rate))) / rate * (1 + 1e-12)) - 1
    return threshold + max(0, spare)


# Numbers and days.


class _Numbers:
    kind = "int"

    def __init__(self, lower: int, upper: int) -> None:
        self.lower, self.upper, self.size = lower, upper, upper - lower + 1

    def value(self, index: int) -> int:
        return self.lower + index

    def index(self, value: object) -> int | None:
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            return None
        try:
            number = int(value)
        except (ValueError, OverflowError):  # nan and infinite
            return None
        return number - self.lower if number == value and self._holds(number) else None

    def text_index(self, text: object) -> int | None:
        if not isinstance(text, str) or not text.isascii() or len(text) > MAX_BITS:
            return None
        number = int(text) if text.removeprefix("-").isdigit() else None
        return self.index(number) if number is not None and str(number) == text else None

    def _holds(self, number: int) -> bool:
        return self.lower <= number <= self.upper


class _Days:
    kind = "date"

    def __init__(self, lower: dt.date, upper: dt.date) -> None:
        self.lower, self.upper = lower, upper
        self.size = (upper - lower).days + 1

    def value(self, index: int) -> dt.date:
        return self.lower + dt.timedelta(days=index)

    def index(self, value: object) -> int | None:
        if isinstance(value, dt.datetime) or not isinstance(value, dt.date):
            return None
        return (value - self.lower).days if self.lower <= value <= self.upper else None

    def text_index(self, text: Any) -> int | None:
        try:
            day = dt.date.fromisoformat(text)
        except (TypeError, ValueError):
            return None
        return self.index(day) if day.isoformat() == text else None


def _ends(name: str, ends: Any, read: Callable[[Any], Any], example: tuple[Any, Any]) -> Any:
    try:
        lower, upper = map(read, ends)
    except (TypeError, ValueError):
        lower = upper = None
    if lower is None or upper is None or lower > upper:
        kind = "whole numbers" if name == "numbers" else "dates"
        raise BoundsError.about(name, ends, f"a pair of {kind}, the smaller one first", example)
    return lower, upper


def _whole(value: object) -> int | None:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _day(value: Any) -> dt.date | None:
    if isinstance(value, str):
        return dt.date.fromisoformat(value)
    is_day = isinstance(value, dt.date) and not isinstance(value, dt.datetime)
    return value if is_day else None


# Regular expressions: parsed, made an automaton of which every string has one path, and counted.


@dataclass(frozen=True, slots=True)
class _Characters:
    ranges: Ranges


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Either:
    branches: tuple[_Node, ...]


@dataclass(frozen=True, slots=True)
class _Repeat:
    part: _Node
    least: int
    most: int


_Node = _Characters | _Sequence | _Either | _Repeat


def _of_length(length: object, alphabet: object) -> _Node:
    number = _whole(length)
    if number is None or number < 1:
        raise BoundsError.about("length", length, "a whole number of 1 or more", 12)
    if not isinstance(alphabet, str) or not alphabet:
        raise BoundsError.about("alphabet", alphabet, "a text with the possible characters", "ACGT")
    points = [_checked_point(ord(character)) for character in alphabet]
    return _Repeat(_Characters(_merged((point, point) for point in points)), number, number)


def _merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Sorted and disjoint ranges of the same characters."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return tuple(merged)


def _checked_point(point: int) -> int:
    """A code point that every engine can hold: no control character, no half of a pair."""
    inside = (_SURROGATES, _CONTROLS)
    if point < _FIRST_PRINTABLE or any(low <= point <= high for low, high in inside):
        raise BoundsError("a pattern must have only printable characters. Remove the others.")
    return point


class _Parser:
    """Parser of a pattern's text."""

    def __init__(self, text: object) -> None:
        if not isinstance(text, str) or not 0 < len(text) <= MAX_TEXT:
            raise BoundsError(
                f"a pattern must be text of 1 to {MAX_TEXT} characters, got {text!r:.60}. ",
                *_EXAMPLE,
            )
        self._text, self._at, self._depth = text, 0, 0

    def parse(self) -> _Node:
        node = self._alternatives()
        if self._at < len(self._text):
            raise self._refusal("has a ) without its (", "Write \\) for the character.")
        return node

    def _refusal(self, fault: str, *fix: str | Argument) -> BoundsError:
        return BoundsError(f"the pattern {self._text!r:.80} {fault}. ", *fix)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise self._refusal("ends too early", *_EXAMPLE)
        self._at += 1
        return character

    def _alternatives(self) -> _Node:
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else _Either(tuple(branches))

    def _sequence(self) -> _Node:
        parts: list[_Node] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else _Sequence(tuple(parts))

    def _atom(self) -> _Node:
        character = self._take()
        if character == "(":
            return self._group()
        if character == "[":
            return _Characters(self._class())
        if character == "\\":
            return _Characters(self._escape())
        if character in "*+":
            raise self._refusal(f"has {character!r} with nothing before it", *_EXAMPLE)
        if character in "^$":
            raise self._refusal(f"has {character!r}", "It describes whole strings: leave it out.")
        if character == ".":
            raise self._refusal(
                "has '.', any character, of which nobody knows how many there are",
                "Name them, such as [A-Za-z0-9], or write \\. for a point.",
            )
        if character in _SPECIAL:
            raise self._refusal(f"has {character!r} out of place", f"Write \\{character} for it.")
        point = _checked_point(ord(character))
        return _Characters(((point, point),))

    def _group(self) -> _Node:
        if self._peek() == "?":
            if self._text[self._at : self._at + 2] != "?:":
                raise self._refusal("has a special group", "Use plain groups: ( ).")
            self._at += 2
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._refusal(f"has groups {MAX_DEPTH} deep", "Use fewer groups.")
        node = self._alternatives()
        if self._peek() != ")":
            raise self._refusal("has a ( without its )", "Write \\( for the character.")
        self._at += 1
        self._depth -= 1
        return node

    def _repeated(self, node: _Node) -> _Node:
        while self._peek() and self._peek() in "?*+{":
            sign = self._take()
            if sign in "*+":
                raise self._refusal(
                    f"has {sign!r}, which is unlimited", "Give a maximum, such as {0,20}."
                )
            least, greatest = (0, 1) if sign == "?" else self._numbers()
            if self._peek() and self._peek() in "?+*":
                raise self._refusal("repeats a repetition", "Use a group, such as (a{2})?.")
            node = _Repeat(node, least, greatest)
        return node

    def _numbers(self) -> tuple[int, int]:
        end = self._text.find("}", self._at)
        parts = self._text[self._at : end].split(",") if end >= 0 else []
        self._at = end + 1
        if len(parts) == 2 and parts[0].isdecimal() and not parts[1]:
            raise self._refusal("has {m,}, which is unlimited", "Give a maximum, such as {1,20}.")
        if not 1 <= len(parts) <= 2 or not all(p.isascii() and p.isdigit() for p in parts):
            raise self._refusal(
                "has { without numbers", "Write {2} or {0,20}; for the character itself write \\{."
            )
        least, greatest = int(parts[0]), int(parts[-1])
        if least > greatest:
            raise self._refusal(f"has {{{least},{greatest}}}", "Write the smaller number first.")
        return least, greatest

    def _escape(self) -> Ranges:
        character = self._take()
        if character == "d":
            return _DIGITS
        if character.isalnum():
            raise self._refusal(
                f"has \\{character}, which is not supported",
                "List the characters, such as [A-Za-z].",
            )
        point = _checked_point(ord(character))
        return ((point, point),)

    def _class(self) -> Ranges:
        if self._peek() == "^":
            raise self._refusal(
                "has [^...], which matches an unknown number of characters",
                "List the characters, such as [A-Za-z0-9].",
            )
        ranges: list[tuple[int, int]] = []
        while (character := self._take()) != "]":
            if character == "[":
                raise self._refusal("has [ in a class", "Write \\[ for the character.")
            first = self._escape() if character == "\\" else self._single(character)
            is_range = self._peek() == "-" and self._text[self._at + 1 : self._at + 2] != "]"
            if not is_range:
                ranges += first
                continue
            self._at += 1
            character = self._take()
            last = self._escape() if character == "\\" else self._single(character)
            (low, same), (high, also) = first[0], last[0]
            if low != same or high != also or low > high:
                raise self._refusal("has a range that is none", "Write it like A-Z.")
            if low <= _SURROGATES[0] <= high or low <= _CONTROLS[0] <= high:
                raise self._refusal("has a range with characters that cannot be printed", *_EXAMPLE)
            ranges.append((low, high))
        if not ranges:
            raise self._refusal("has an empty class", "Name the characters: [A-Z].")
        return _merged(ranges)

    def _single(self, character: str) -> Ranges:
        point = _checked_point(ord(character))
        return ((point, point),)


class _Graph:
    """Nodes with edges to later nodes, each for a character or for no character."""

    def __init__(self) -> None:
        self.edges: list[list[tuple[Ranges, int]]] = [[]]
        self.jumps: list[list[int]] = [[]]

    def add(self) -> int:
        self.edges.append([])
        self.jumps.append([])
        return len(self.edges) - 1

    def build(self, node: _Node, begin: int) -> int:
        """Add the paths of a node from `begin` on; returns where they all end."""
        if isinstance(node, _Characters):
            end = self.add()
            self.edges[begin].append((node.ranges, end))
            return end
        if isinstance(node, _Sequence):
            for part in node.parts:
                begin = self.build(part, begin)
            return begin
        if isinstance(node, _Either):
            ends = []
            for branch in node.branches:
                start = self.add()
                self.jumps[begin].append(start)
                ends.append(self.build(branch, start))
            return self._joined(ends)
        for _ in range(node.least):
            begin = self.build(node.part, begin)
        ends = [begin]
        for _ in range(node.most - node.least):
            begin = self.build(node.part, begin)
            ends.append(begin)
        return begin if len(ends) == 1 else self._joined(ends)

    def _joined(self, ends: list[int]) -> int:
        joined = self.add()
        for end in ends:
            self.jumps[end].append(joined)
        return joined

    def reachable(self, nodes: Iterable[int]) -> tuple[int, ...]:
        """The nodes and those behind jumps, in order."""
        reached, waiting = set(nodes), list(nodes)
        while waiting:
            for node in self.jumps[waiting.pop()]:
                if node not in reached:
                    reached.add(node)
                    waiting.append(node)
        return tuple(sorted(reached))


def _nodes_of(node: _Node) -> int:
    """At most how many nodes a graph of it has."""
    if isinstance(node, _Characters):
        return 1
    if isinstance(node, _Sequence):
        return sum(map(_nodes_of, node.parts))
    if isinstance(node, _Either):
        return 1 + sum(1 + _nodes_of(branch) for branch in node.branches)
    return 1 + node.most * max(1, _nodes_of(node.part))


class _State(NamedTuple):
    """A state of the automaton: whether a string may end here, and the ranges of characters that
    lead on.
    """

    is_end: bool
    starts: tuple[int, ...]  # of ranges, in order
    ranges: tuple[tuple[int, int, int], ...]  # first and last character, and the next state


class _Strings:
    """The strings of an automaton in alphabetical order: each has one path, so counts are exact."""

    kind = "text"

    def __init__(self, states: list[_State], order: list[int]) -> None:
        self._states = states
        self._counts = [0] * len(states)  # strings from each state on
        for at in order:  # the last states first
            state = states[at]
            self._counts[at] = state.is_end + sum(
                (last - first + 1) * self._counts[target] for first, last, target in state.ranges
            )
        self.size = self._counts[0]

    def value(self, index: int) -> str:
        characters: list[str] = []
        at = 0
        while True:
            state = self._states[at]
            if state.is_end and index == 0:
                return "".join(characters)
            index -= state.is_end
            for first, last, target in state.ranges:
                text_count = self._counts[target]
                if index < (last - first + 1) * text_count:
                    place, index = divmod(index, text_count)
                    characters.append(chr(first + place))
                    at = target
                    break
                index -= (last - first + 1) * text_count

    def index(self, value: object) -> int | None:
        if not isinstance(value, str):
            return None
        index, at = 0, 0
        for character in value:
            state, point = self._states[at], ord(character)
            place = bisect_right(state.starts, point) - 1
            if place < 0 or point > state.ranges[place][1]:
                return None
            index += state.is_end
            for first, last, target in state.ranges[:place]:
                index += (last - first + 1) * self._counts[target]
            first, _, target = state.ranges[place]
            index += (point - first) * self._counts[target]
            at = target
        return index if self._states[at].is_end else None

    def text_index(self, text: object) -> int | None:
        return self.index(text)

    def beginnings(self, characters: int, limit: int) -> list[str] | None:
        whole: list[str] = []
        longer = {0: [""]}  # by the states that they lead to
        for _ in range(characters):
            after: dict[int, list[str]] = {}
            count = len(whole)
            for at, texts in longer.items():
                state = self._states[at]
                whole += texts if state.is_end else []
                for first, last, target in state.ranges:
                    count += len(texts) * (last - first + 1)
                    if count > limit:
                        return None
                    after.setdefault(target, []).extend(
                        text + chr(point) for text in texts for point in range(first, last + 1)
                    )
            longer = after
        texts = [*whole, *(text for several in longer.values() for text in several)]
        return sorted(texts) if len(texts) <= limit else None


def _strings_of(node: _Node) -> _Strings:
    """The strings of a pattern, by the automaton of which each has one path."""
    too_large = BoundsError(
        "the pattern is too large to be counted. Use shorter repetitions, or fewer alternatives "
        "that begin alike."
    )
    if _nodes_of(node) > MAX_NODES:
        raise too_large
    graph = _Graph()
    end = graph.build(node, 0)
    first = graph.reachable([0])
    numbers, waiting, states = {first: 0}, [first], dict[int, _State]()
    work = 0
    while waiting:
        nodes = waiting.pop()
        ranges: list[tuple[int, int, int]] = []
        for low, high, targets in _pieces([e for node in nodes for e in graph.edges[node]]):
            reached = graph.reachable(targets)
            work += len(reached)
            if reached not in numbers:
                numbers[reached] = len(numbers)
                waiting.append(reached)
            target = numbers[reached]
            if ranges and ranges[-1][1] + 1 == low and ranges[-1][2] == target:
                low = ranges.pop()[0]
            ranges.append((low, high, target))
        if len(numbers) > MAX_STATES or work > MAX_WORK:
            raise too_large
        starts = tuple(low for low, _, _ in ranges)
        states[numbers[nodes]] = _State(end in nodes, starts, tuple(ranges))
    # Edges lead to later nodes, so the first node of a state is after that of those before it.
    order = [number for _, number in sorted(numbers.items(), key=lambda item: -item[0][0])]
    strings = _Strings([states[at] for at in range(len(states))], order)
    if strings.size.bit_length() > MAX_BITS:
        raise too_large
    if strings.value(0) == "":
        raise BoundsError(
            "the pattern matches the empty text, which cannot be a key. Require at least one "
            "character. ",
            *_EXAMPLE,
        )
    return strings


def _pieces(edges: Sequence[tuple[Ranges, int]]) -> list[tuple[int, int, list[int]]]:
    """Ranges of characters along which the same nodes are reached, in order."""
    cuts = sorted({cut for ranges, _ in edges for low, high in ranges for cut in (low, high + 1)})
    pieces = []
    for low, after in pairwise(cuts):
        targets = [target for ranges, target in edges if any(a <= low <= b for a, b in ranges)]
        if targets:
            pieces.append((low, after - 1, targets))
    return pieces
