"""The folder that the studio was started in: the only place where it reads and writes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from duffdp._engines.addresses import ADDRESS, has_password, read_address
from duffdp._text import visible
from duffdp.errors import DuffError, UnsupportedData

if TYPE_CHECKING:
    from duffdp._engines.files.format import Format

TABLE_SEPARATOR = "::"  # between the file of a database and a table in it
_MAX_FILES, _MAX_FOLDER_DEPTH = 200, 3  # of the list of files
_LEDGER_ENDING = ".db"
Kind = Literal["whole", "number", "text", "moment", "any"]


class ColumnType(NamedTuple):
    """A column with the kind of its declared type."""

    name: str
    kind: Kind
    dtype: Any = None  # of narwhals; None if none is declared

    @property
    def declared(self) -> str:
        """The declared type as text."""
        return "" if self.dtype is None else str(self.dtype)

    @property
    def has_numbers(self) -> bool:
        """True if its records can be numbers or dates."""
        return self.kind != "text"

    @property
    def has_words(self) -> bool:
        """True if its records can be categories."""
        return self.kind in ("text", "whole", "any")


class Folder:
    """A folder that nothing can leave: links that lead out of it are refused."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).resolve()

    def inside(self, name: str) -> Path:
        """The path of a file in the folder."""
        if ADDRESS.match(name):  # which may hold a password: it is not quoted
            raise DuffError("choose a file in the folder, not the address of a database.")
        if not name or "\0" in name:
            raise DuffError("no file is chosen. Choose a file in the folder.")
        try:
            path = (self.root / name).resolve()
            with suppress(FileNotFoundError, NotADirectoryError):
                path.stat()
        except (OSError, RuntimeError):  # a name that is too long, a link that leads to itself
            raise DuffError(
                f"the file {visible(name)!r:.80} cannot be found. Choose another one."
            ) from None
        if path == self.root or not path.is_relative_to(self.root):
            raise DuffError(
                f"{visible(name)!r:.80} is outside of the folder where the studio was started. "
                "Start the studio in the folder of the data."
            )
        return path

    def relative(self, name: str) -> str:
        """The path of a file relative to the folder; a table of a server as it is."""
        if ADDRESS.match(name):
            return _without_secret(name)
        file, mark, table = name.partition(TABLE_SEPARATOR)
        return self.inside(file).relative_to(self.root).as_posix() + mark + table

    def source(self, name: str) -> str:
        """The source of a release: a file, or a table in a database file or of a server."""
        if ADDRESS.match(name):
            return _without_secret(name)
        file, mark, table = name.partition(TABLE_SEPARATOR)
        path = self.inside(file)
        if not path.is_file():
            raise UnsupportedData(
                f"there is no file {visible(file)!r:.80} in the folder of the studio. Choose "
                "another file, or put this one back."
            )
        return f"{path}{mark}{table}"

    def files(self) -> list[str]:
        """The files of data in the folder, by their endings; hidden ones are left out."""
        from duffdp._engines.files.paths import FORMATS

        endings = tuple(
            ending for form in FORMATS for ending in form.endings if ending != _LEDGER_ENDING
        )
        paths: list[str] = []
        for folder, folders, files in os.walk(self.root):
            relative = Path(folder).relative_to(self.root)
            folders[:] = sorted(name for name in folders if name[0] not in "._")
            if len(relative.parts) >= _MAX_FOLDER_DEPTH:
                folders.clear()
            names = (name for name in sorted(files) if name[0] not in "._")
            paths += [
                (relative / name).as_posix() for name in names if name.lower().endswith(endings)
            ]
            if len(paths) >= _MAX_FILES:
                break
        return sorted(paths[:_MAX_FILES])

    def parts(self, name: str) -> list[str]:
        """The sheets or tables of a file, if there is a choice."""
        file = name.partition(TABLE_SEPARATOR)[0]
        form = None if ADDRESS.match(name) else file_format(file)
        if form is None or form.parts is None:
            return []
        parts = form.parts(self.source(file))
        return parts if len(parts) > 1 or form.needs_part else []

    def columns(self, name: str, reading: Mapping[str, Any] | None = None) -> dict[str, ColumnType]:
        """The columns of a file and their types, from its header or schema: no record is read. JSON
        lines have none. `reading` says how a text file is read, as `TextFile` has it.
        """
        from duffdp._engines.files.text_file import TextFile
        from duffdp._engines.sql.query import OpenSources
        from duffdp._engines.table import declared_types

        source, form = self.source(name), file_format(name)
        if form is not None and not form.lists_columns:
            return {}
        data = TextFile(source, **reading) if reading else source
        types = declared_types(data, (), OpenSources())
        return {column: ColumnType(column, _kind(dtype), dtype) for column, dtype in types.items()}


def file_format(name: str) -> Format | None:
    """The format of a file, by its name; None for folders and tables of servers."""
    from duffdp._engines.files.paths import format_named

    return None if ADDRESS.match(name) else format_named(name.partition(TABLE_SEPARATOR)[0])


def is_text(name: str) -> bool:
    """True for files whose fields are text, which may be read in several ways."""
    form = file_format(name)
    return form is not None and form.is_text


def _without_secret(address: str) -> str:
    """The address of a table of a server; one with a password is refused, because plans and pages
    show it.
    """
    read_address(address)
    if has_password(address):
        raise DuffError(
            "the address must not contain a password, because plans show it. Put the password "
            "into PGPASSWORD or ~/.pgpass."
        )
    return address


def _kind(dtype: object) -> Kind:
    """The kind of a declared type."""
    from duffdp._engines.libraries import narwhals

    nw = narwhals()
    if dtype is None:
        return "any"
    if getattr(dtype, "is_integer", bool)():
        return "whole"
    if getattr(dtype, "is_numeric", bool)():
        return "number"
    if dtype == nw.Date or isinstance(dtype, nw.Datetime):
        return "moment"
    return "text"
