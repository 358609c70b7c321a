"""The file behind a ledger: entries that are only added, each with a hash of all earlier ones.

It is durable and shared by processes.

Promise: Entries are only added, durably, in one transaction, and each has a hash of all before it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import Any, NamedTuple

from duffdp.errors import DuffError, LedgerError

LOCK_TIMEOUT = 60.0  # seconds to wait for other processes
FIRST_HASH = "0" * 64  # what the first entry is chained to
_SCHEMA = (
    "CREATE TABLE entry (number INTEGER PRIMARY KEY, dataset TEXT NOT NULL, kind TEXT NOT NULL, "
    "call TEXT, body TEXT NOT NULL, hash TEXT NOT NULL)"
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # two letters and more: C:/ is a drive
# An index is a copy that damage can part from the table: what decides is read from the table.
_ENTRIES = "SELECT number, dataset, kind, call, body, hash FROM entry NOT INDEXED"


class Amount(NamedTuple):
    """A privacy loss: of a budget, of one charge, or of all charges so far."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def plus(self, other: Amount) -> Amount:
        """Both together."""
        return Amount(self.epsilon + other.epsilon, self.delta + other.delta)

    def less(self, other: Amount) -> Amount:
        """This amount minus the other."""
        return Amount(self.epsilon - other.epsilon, self.delta - other.delta)

    def to_dict(self) -> dict[str, str]:
        """The amount as it is written in the journal, without rounding."""
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}


class JournalEntry(NamedTuple):
    """One line of the journal: a budget, a charge, or the release that was charged."""

    number: int
    dataset: str
    kind: str
    call: str | None
    text: str
    hash: str

    @property
    def body(self) -> dict[str, Any]:
        """Content of the entry."""
        body: dict[str, Any] = json.loads(self.text)
        return body


class Journal:
    """The SQLite file of a ledger. A connection lives for one transaction: forks and threads share
    nothing.
    """

    def __init__(self, path: Path) -> None:
        if _ADDRESS.match(str(path)):  # which is not quoted: it may hold a password
            raise DuffError(
                "a ledger must be a file, got the address of a server. Pass the path of a file, "
                "for "
                'example "budget.db".'
            )
        self.path = path
        self._file = path.absolute()  # the same file wherever the process goes

    @contextmanager
    def transaction(self, *, create: bool = False) -> Iterator[Transaction]:
        """Exclusive and durable: after the block its entries are on disk, or none is."""
        with self._connection("rwc" if create else "rw") as connection:
            # EXTRA also syncs the folder: a charge cannot come back as unspent after a power cut.
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("PRAGMA fullfsync = ON")  # macOS: to the disk, not to its cache
            connection.execute("BEGIN IMMEDIATE")
            try:
                # A new ledger is an empty file: damage can hide a table, never the length.
                if create and self._file.stat().st_size == 0:
                    connection.execute(_SCHEMA)
                yield Transaction(connection, self.path)
            except BaseException:
                connection.rollback()
                raise
            connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A view of the entries at one moment."""
        # Not "ro": a crash may have left a change to be rolled back.
        with self._connection("rw") as connection:
            connection.execute("BEGIN")
            yield Transaction(connection, self.path)

    @contextmanager
    def _connection(self, mode: str) -> Iterator[sqlite3.Connection]:
        if mode != "rwc" and not os.path.isfile(self._file):  # False, too, where nobody can look
            raise LedgerError(
                f"there is no ledger {str(self.path)!r}. Make one with: duffdp ledger init "
                f"{self.path} --epsilon 1, or in Python with Ledger(path, epsilon=1)."
            )
        connection = None
        try:
            uri = f"{self._file.as_uri()}?mode={mode}"
            connection = sqlite3.connect(uri, uri=True, timeout=LOCK_TIMEOUT, isolation_level=None)
            yield connection
        except (
            sqlite3.Error,
            UnicodeDecodeError,
        ) as error:  # SQLite quotes broken names as they are
            raise LedgerError(_error_message(self.path, error)) from None
        finally:
            if connection is not None:
                connection.close()


class Transaction:
    """The entries inside one transaction, whose hashes are checked before any is used."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        # What is written to a broken page can overwrite other entries.
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise LedgerError(
                f"the ledger {str(path)!r} is damaged: SQLite finds broken pages. Restore a backup."
            )
        rows = connection.execute(f"{_ENTRIES} ORDER BY number")
        self.entries = [JournalEntry._make(row) for row in rows]
        check_hashes(self.entries, str(path))

    def datasets(self) -> list[str]:
        """Names with a budget."""
        return [entry.dataset for entry in self.entries if entry.kind == "budget"]

    def last(self, dataset: str, kind: str) -> JournalEntry | None:
        """The latest entry of a kind."""
        latest = reversed(self.entries)
        return next((e for e in latest if e.dataset == dataset and e.kind == kind), None)

    def account(self, dataset: str) -> tuple[Amount, Amount]:
        """The budget of a data set, and the spent part."""
        budget, charge = self.last(dataset, "budget"), self.last(dataset, "charge")
        if budget is None:
            raise LedgerError(
                f"the ledger {str(self._path)!r} has no budget for {dataset!r}. "
                "Make one with: duffdp ledger init."
            )
        spent = Amount() if charge is None else amount_of(charge.body["spent"])
        return amount_of(budget.body), spent

    def of_call(self, dataset: str, call: str) -> list[JournalEntry]:
        """The entries of one call id, in order."""
        return [e for e in self.entries if e.call == call and e.dataset == dataset]

    def of_kind(self, dataset: str, kind: str) -> list[JournalEntry]:
        """All entries of a kind, in order."""
        return [e for e in self.entries if e.dataset == dataset and e.kind == kind]

    def add(self, dataset: str, kind: str, call: str | None, body: dict[str, Any]) -> JournalEntry:
        """Append an entry, sealed, and read it back."""
        before = self.entries[-1].hash if self.entries else FIRST_HASH
        text = json.dumps(body, sort_keys=True, separators=(",", ":"))
        entry = with_hash(
            before, JournalEntry(len(self.entries) + 1, dataset, kind, call, text, "")
        )
        self._connection.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", entry)
        stored = self._connection.execute(
            f"{_ENTRIES} WHERE number = ?", (entry.number,)
        ).fetchall()
        if stored != [tuple(entry)]:
            raise LedgerError(
                f"the ledger {str(self._path)!r} is damaged: an entry could not be read back. "
                "Nothing was released. Restore a backup."
            )
        self.entries.append(entry)
        return entry


def amount_of(fields: dict[str, Any]) -> Amount:
    """Amount of a stored budget, loss or sum of charges."""
    return Amount(Fraction(fields["epsilon"]), Fraction(fields["delta"]))


def check_hashes(entries: list[JournalEntry], path: str) -> None:
    """Check that entries are numbered without a gap and each has the hash of all up to itself."""
    before, number = FIRST_HASH, 0
    try:
        for number, entry in enumerate(entries, 1):
            if entry[0] != number:
                raise order_error(path, number, "an entry is missing")
            if _hash(before, entry) != entry[5]:
                raise order_error(path, number, "the hash does not match")
            before = entry[5]
    except (TypeError, UnicodeError):  # not the types that an entry has
        raise order_error(path, number, "an entry cannot be read") from None


def with_hash(before: str, entry: JournalEntry) -> JournalEntry:
    """The entry with the hash of itself and, through the hash before it, of all entries so far."""
    return entry._replace(hash=_hash(before, entry))


def order_error(path: str, number: int, problem: str) -> LedgerError:
    """The error for an entry out of order, and what to do."""
    return LedgerError(
        f"the ledger {path!r} is damaged: {problem} at entry {number}. Nothing was released. "
        "Restore a backup."
    )


def _hash(before: str, entry: JournalEntry) -> str:
    number, dataset, kind, call, text, _ = entry
    # A JSON list, put together by hand: every charge does this for all entries.
    call_text = "null" if call is None else quoted(call)
    parts = (
        f'["{before}", {number}, {quoted(dataset)}, {quoted(kind)}, {call_text}, {quoted(text)}]'
    )
    return hashlib.sha256(parts.encode()).hexdigest()


def _error_message(path: Path, error: Exception) -> str:
    """Text of an error of the file, and what to do."""
    text, name, unreleased = str(error), f"the ledger {str(path)!r}", "Nothing was released"
    if "locked" in text or "busy" in text:
        patience = f"{LOCK_TIMEOUT:.0f} seconds"
        return f"{name} was in use by other processes for {patience}. {unreleased}; try again."
    if "full" in text or "disk I/O" in text:
        why = f"the disk is full or failing ({text})"
        return f"{name} cannot be written: {why}. {unreleased}; make room and try again."
    if "readonly" in text or "unable to open" in text:
        why = "the file or its folder is read-only or missing"
        fix = "Use a file in a folder that exists and can be written to"
        return f"{name} cannot be written: {why}. {unreleased}. {fix}."
    if "no such table" in text or "not a database" in text:
        return (
            f"{str(path)!r} is not a ledger. Use the path of a ledger or a new path, or restore a "
            "copy."
        )
    return (
        f"{name} is damaged ({text}). {unreleased}; restore a copy and run: duffdp ledger verify."
    )
