"""The folder that the studio was started in: the only place where it reads and writes."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from duffdp._engines.addresses import ADDRESS
from duffdp._text import visible
from duffdp.errors import DuffError, UnsupportedData

TABLE_SEPARATOR = "::"  # between the file of a database and a table in it
_MAX_FILES, _MAX_DEPTH = 200, 3  # of the list of files
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
    """A folder, and nothing outside of it: links that lead out are refused too."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).resolve()

    def inside(self, name: str) -> Path:
        """The path of a file in the folder."""
        if ADDRESS.match(name):  # which may hold a password: it is not quoted
            raise DuffError(
                "the studio is for files of its folder, got the address of a database. Use "
                "duffdp table with a plan."
            )
        if not name or "\0" in name:
            raise DuffError("a file needs a name. Choose one of the folder.")
        try:
            path = (self.root / name).resolve()
            with suppress(FileNotFoundError, NotADirectoryError):
                path.stat()
        except (OSError, RuntimeError):  # a name that is too long, a link that leads to itself
            raise DuffError(
                f"the file {visible(name)!r:.80} cannot be looked up. Choose another one."
            ) from None
        if path == self.root or not path.is_relative_to(self.root):
            raise DuffError(
                f"{visible(name)!r:.80} is outside of the folder that the studio was started in. "
                "Start it in the folder of the data."
            )
        return path

    def relative(self, name: str) -> str:
        """The path of a file relative to the folder."""
        file, mark, table = name.partition(TABLE_SEPARATOR)
        return self.inside(file).relative_to(self.root).as_posix() + mark + table

    def source(self, name: str) -> str:
        """The source of a release: a file, or a table in a database file."""
        file, mark, table = name.partition(TABLE_SEPARATOR)
        path = self.inside(file)
        if not path.is_file():
            raise UnsupportedData(
                f"there is no file {visible(file)!r:.80} in the folder of the studio. Choose "
                "another one, or put it back."
            )
        return f"{path}{mark}{table}"

    def files(self) -> list[str]:
        """The files of data in the folder, by their endings; hidden ones are left out."""
        from duffdp._engines.files.paths import FORMATS

        endings = tuple(
            ending for form in FORMATS if not form.needs_part for ending in form.endings
        )
        paths: list[str] = []
        for folder, folders, files in os.walk(self.root):
            relative = Path(folder).relative_to(self.root)
            folders[:] = sorted(name for name in folders if name[0] not in "._")
            if len(relative.parts) >= _MAX_DEPTH:
                folders.clear()
            names = (name for name in sorted(files) if name[0] not in "._")
            paths += [
                (relative / name).as_posix() for name in names if name.lower().endswith(endings)
            ]
            if len(paths) >= _MAX_FILES:
                break
        return sorted(paths[:_MAX_FILES])

    def columns(self, name: str) -> dict[str, ColumnType]:
        """The columns of a file and their types, from its header or schema: no record is read. JSON
        lines have none.
        """
        from duffdp._engines.files.paths import format_named
        from duffdp._engines.table import declared_types

        source, file_format = self.source(name), format_named(name)
        if file_format is not None and not file_format.lists_columns:
            return {}
        types = declared_types(source)
        return {column: ColumnType(column, _kind(dtype), dtype) for column, dtype in types.items()}


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
