"""Wording of a table: names of columns, labels of keys, units of numbers.

They are public parameters and change no draw, so they are no facts of a release: the same call
with other words is the same release.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from duffdp._engines.keys import CODE_BOOK, CodeBook
from duffdp._facts import as_json
from duffdp._parameters import LABELS, NAMES, SHOWN_IN
from duffdp._pipeline.number_text import PERCENT, TOO_FEW
from duffdp._pipeline.released_values import TOO_SMALL
from duffdp._pipeline.toml import refuse_unknown
from duffdp.errors import Argument, DuffError

ALL = "all"  # instead of a key, where the groups of its column are combined
TO = "to"  # between the ends of an interval
SAMPLE = "1,234.5"  # a number as it is written without other words
_SAMPLE = re.compile("1(.?)234([.,])5")
ENDS = ("_low", "_high")


class Wording(NamedTuple):
    """Names of columns and words, labels of keys by column, and units of columns."""

    names: Mapping[str, str] = {}
    labels: Mapping[str, Mapping[str, str]] = {}  # keys by their text
    shown_in: Mapping[str, str] = {}

    def name(self, column: str) -> str:
        """The name of a column, or another word, for readers."""
        if column in self.names:
            return self.names[column]
        for end in ENDS:
            stem = column.removesuffix(end)
            if stem != column and stem in self.names:
                return f"{self.names[stem]}{end.replace('_', ' ')}"
        return column

    def key(self, column: str, key: object) -> Any:
        """The label of a key, or the key itself; None is the total."""
        if key is None:
            return self.name(ALL)
        labels = self.labels.get(column)
        return key if labels is None else labels.get(str(as_json(key)), key)

    def keys(self, by: Sequence[str], key: Sequence[Any]) -> list[Any]:
        """The labels of the keys of one row."""
        return [self.key(column, part) for column, part in zip(by, key, strict=True)]

    @property
    def too_few(self) -> str:
        """The words instead of numbers of a group that is too small."""
        return self.name(TOO_FEW)

    @property
    def to(self) -> str:
        """The word between the ends of an interval."""
        return self.name(TO)

    @property
    def marks(self) -> tuple[str, str]:
        """The marks between thousands and before decimals."""
        sample = _SAMPLE.fullmatch(self.name(SAMPLE))
        assert sample is not None
        return sample[1], sample[2]

    def to_dict(self) -> dict[str, Any]:
        """Its parts that are not empty, as types that JSON has."""
        parts = self._asdict().items()
        return {name: as_json(dict(part)) for name, part in parts if part}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Wording:
        """The wording behind `to_dict()`."""
        return cls(**{name: fields[name] for name in cls._fields if name in fields})


PLAIN = Wording()  # the names of the columns themselves


def read_wording(names: object, labels: object, shown_in: object) -> Wording:
    """Checked words: mappings of text; the columns that they are for are checked later."""
    columns = LABELS.read(labels) or {}
    texts = {}
    for column, part in columns.items():
        pairs = part.labels if isinstance(part, CodeBook) else part
        texts[column] = {str(as_json(key)): label for key, label in pairs.items()}
    return Wording(NAMES.read(names) or {}, texts, SHOWN_IN.read(shown_in) or {})


def with_code_books(by: object, keys: object, labels: object) -> tuple[Any, Any]:
    """Keys with code books instead of their entries in a plan, and all labels: those of code
    books, but for keys that have other labels.
    """
    if isinstance(keys, CodeBook) and isinstance(by, str | list | tuple) and by:
        keys = {by if isinstance(by, str) else by[0]: keys}
    if not isinstance(keys, Mapping):
        return keys, labels
    parts = {
        name: CodeBook.from_parameters(part)
        if isinstance(part, Mapping) and CODE_BOOK in part
        else part
        for name, part in keys.items()
    }
    books = {
        name: part for name, part in parts.items() if isinstance(part, CodeBook) and part.labels
    }
    if books and (labels is None or isinstance(labels, Mapping)):
        labels = books | {
            name: _relabeled(books[name], part)
            if name in books and isinstance(part, Mapping)
            else part
            for name, part in (labels or {}).items()
        }
    return parts, labels


def _relabeled(book: CodeBook, labels: Mapping[Any, Any]) -> CodeBook:
    """A copy of a code book in which some keys have other labels."""
    keys = {str(as_json(key)): key for key in book.keys}
    own_labels = {str(as_json(key)): label for key, label in labels.items()}
    refuse_unknown(own_labels, list(keys), f"labels beside {book!r}")
    relabeled = copy(book)
    relabeled.labels = book.labels | {keys[text]: label for text, label in own_labels.items()}
    return relabeled


def check_wording(
    wording: Wording,
    by: Sequence[str],
    keys: Iterable[Sequence[Any]],
    columns: Mapping[str, str],
    measures: Iterable[str],
    books: Iterable[str],
) -> Wording:
    """The wording of a table, if it names what the table has; units by the columns of the table.

    `columns` maps each column of values to the column of the data that it is about. `measures` are
    the names of releases. `books` are the columns of groups whose labels come from a code book,
    which may list more than the keys.
    """
    plain_names = (*dict.fromkeys((*by, *columns, *measures)), TOO_SMALL, ALL, TO, TOO_FEW)
    refuse_unknown(wording.names, (*plain_names, SAMPLE), "names")
    sample = _SAMPLE.fullmatch(wording.name(SAMPLE))
    if sample is None or sample[1].isalnum() or sample[1] == sample[2]:
        raise DuffError(
            *(Argument("names"), f" must write {SAMPLE} with other marks, got "),
            f"{wording.name(SAMPLE)!r:.40}. Pass for example ",
            *(Argument("names", {SAMPLE: "1.234,5"}), "."),
        )
    named = [wording.name(column).casefold() for column in (*by, *columns, TOO_SMALL)]
    for name in named:
        if named.count(name) > 1:
            raise DuffError(
                Argument("names"),
                f" gives two columns the name {name!r:.60}. Give each its own name.",
            )
    refuse_unknown(wording.labels, by, "labels")
    key_rows = list(keys)
    for column, labels in wording.labels.items():
        place = list(by).index(column)
        texts = {str(as_json(key[place])) for key in key_rows}
        if column not in books:
            refuse_unknown(labels, sorted(texts), f"labels of {column}")
        shown_names = [labels.get(text, text) for text in sorted(texts)]
        if len(set(shown_names)) < len(shown_names):
            raise DuffError(
                Argument("labels"),
                f" of {column!r:.60} give two keys the same label. Use different labels.",
            )
    inputs = dict.fromkeys(columns.values())
    refuse_unknown(wording.shown_in, (*columns, *filter(None, inputs)), "shown_in")
    units = {}
    for column, origin in columns.items():
        unit = wording.shown_in.get(column)
        if unit is None and origin:
            unit = wording.shown_in.get(origin)
        if unit is not None:
            units[column] = unit
    return wording._replace(shown_in=units)


def refuse_percent(column: str) -> DuffError:
    """The error for percent of a column that is no share."""
    return DuffError(
        Argument("shown_in", {column: PERCENT}),
        f" shows shares as percent, but {column} is not a share. Pass another unit.",
    )
