"""A file of entries that is only ever added to: durable, safe for many processes, each entry sealed by a hash of all before it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from duffdp.errors import LedgerError

PATIENCE = 60.0  # seconds to wait for other processes
START = "0" * 64  # what the first entry is chained to
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (
    number INTEGER PRIMARY KEY, dataset TEXT NOT NULL, kind TEXT NOT NULL, call TEXT, body TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS entry_kind ON entry (dataset, kind, number);
CREATE INDEX IF NOT EXISTS entry_call ON entry (dataset, call) WHERE call IS NOT NULL;
"""


class Entry(NamedTuple):
    """One line of the journal: a budget, a charge, or the release that a charge paid for."""

    number: int
    dataset: str
    kind: str
    call: str | None
    body: dict[str, Any]
    hash: str


class Journal:
    """The SQLite file. A connection lives for one transaction, so that forks and threads share nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def transaction(self, *, create: bool = False) -> Iterator[Transaction]:
        """Exclusive and durable: when the block has ended without an error its entries are on the disk, else none is."""
        with self._connection("rwc" if create else "rw") as connection:
            # EXTRA also syncs the folder: a charge cannot come back as unspent after a power cut.
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("BEGIN IMMEDIATE")
            if create:
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
            try:
                yield Transaction(connection, self.path)
            except BaseException:
                connection.rollback()
                raise
            connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A view of the entries at one moment."""
        with self._connection("rw") as connection:  # not "ro": a crash may have left a change to be rolled back
            connection.execute("BEGIN")
            yield Transaction(connection, self.path)

    @contextmanager
    def _connection(self, mode: str) -> Iterator[sqlite3.Connection]:
        if mode != "rwc" and not self.path.is_file():
            raise LedgerError(
                f"there is no ledger {str(self.path)!r}. Make one with: duffdp ledger init {self.path} --epsilon 1, "
                "or in Python with Ledger(path, epsilon=1)."
            )
        connection = None
        try:
            uri = f"{self.path.absolute().as_uri()}?mode={mode}"
            connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)
            yield connection
        except sqlite3.Error as error:
            raise LedgerError(_told(self.path, error)) from None
        finally:
            if connection is not None:
                connection.close()


class Transaction:
    """Entries, read and added inside one transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def datasets(self) -> list[str]:
        """Names with a budget."""
        return [row[0] for row in self._connection.execute("SELECT dataset FROM entry WHERE kind = 'budget' ORDER BY number")]

    def last(self, dataset: str, kind: str) -> Entry | None:
        """The latest entry of a kind, its seal checked."""
        query = "SELECT max(number) FROM entry WHERE dataset = ? AND kind = ?"
        (number,) = self._connection.execute(query, (dataset, kind)).fetchone()
        if number is None:
            return None
        rows = self._rows("number BETWEEN ? AND ? ORDER BY number", (number - 1, number))
        before = START if number == 1 else rows[0].hash
        if len(rows) != min(number, 2) or seal(before, rows[-1]) != rows[-1].hash:
            raise LedgerError(f"the ledger {str(self._path)!r} was changed by hand at entry {number}. Run: duffdp ledger verify.")
        return rows[-1]

    def of_call(self, dataset: str, call: str) -> list[Entry]:
        """The entries of one call id, in order."""
        return self._rows("dataset = ? AND call = ? ORDER BY number", (dataset, call))

    def of_kind(self, dataset: str, kind: str) -> list[Entry]:
        """All entries of a kind, in order."""
        return self._rows("dataset = ? AND kind = ? ORDER BY number", (dataset, kind))

    def all(self) -> list[Entry]:
        """Every entry, in order."""
        return self._rows("1 ORDER BY number", ())

    def sound(self) -> bool:
        """Whether SQLite finds its file intact."""
        return bool(self._connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok")

    def add(self, dataset: str, kind: str, call: str | None, body: dict[str, Any]) -> Entry:
        """Append an entry, sealed."""
        row = self._connection.execute("SELECT number, hash FROM entry ORDER BY number DESC LIMIT 1").fetchone()
        number, before = (row[0] + 1, row[1]) if row else (1, START)
        entry = Entry(number, dataset, kind, call, body, "")
        entry = entry._replace(hash=seal(before, entry))
        self._connection.execute(
            "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", (number, dataset, kind, call, _text(body), entry.hash)
        )
        return entry

    def _rows(self, where: str, values: tuple[Any, ...]) -> list[Entry]:
        query = f"SELECT number, dataset, kind, call, body, hash FROM entry WHERE {where}"
        try:
            found = self._connection.execute(query, values)
            return [Entry(n, dataset, kind, call, json.loads(body), own) for n, dataset, kind, call, body, own in found]
        except (ValueError, TypeError):
            raise LedgerError(f"the ledger {str(self._path)!r} holds an entry that cannot be read. Restore a copy.") from None


def seal(before: str, entry: Entry) -> str:
    """The hash of an entry and, through the hash before it, of all entries so far."""
    parts = [before, entry.number, entry.dataset, entry.kind, entry.call, _text(entry.body)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _text(body: dict[str, Any]) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def _told(path: Path, error: Exception) -> str:
    """What went wrong with the file, and what to do."""
    text = str(error)
    name = f"the ledger {str(path)!r}"
    if "locked" in text or "busy" in text:
        return f"{name} was in use by other processes for {PATIENCE:.0f} seconds. Nothing was released; try again."
    if "full" in text or "disk I/O" in text:
        return f"{name} cannot be written: the disk is full or failing ({text}). Nothing was released; make room and try again."
    if "readonly" in text or "unable to open" in text:
        return f"{name} cannot be written: the file or its folder is read-only or missing. Nothing was released; check its place."
    if "no such table" in text or "not a database" in text:
        return f"{str(path)!r} is not a ledger. Make one with: duffdp ledger init, or restore a copy."
    return f"{name} is damaged ({text}). Nothing was released; restore a copy and run: duffdp ledger verify."
