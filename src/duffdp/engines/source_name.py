"""What data are called in a ledger: a retry of a call has to be about the same."""

from __future__ import annotations

import os
from typing import Any

from duffdp.engines.addresses import ADDRESS, SEPARATOR, read_address
from duffdp.engines.libraries import is_path
from duffdp.engines.query import Query
from duffdp.engines.text_file import TextFile


class Piped(str):
    """The path of a file that holds what came through a pipe, and is called otherwise each time."""

    __slots__ = ()


def source_name(data: Any) -> str | None:
    """The file or table that data are read from, and how its fields are read; None for data that
    have no name.
    """
    if isinstance(data, Query):
        return source_name(data.data)
    if not is_path(data):
        return None
    name = os.fspath(data)
    if isinstance(name, Piped):
        return None
    if ADDRESS.match(name):
        _, server, schema, table = read_address(name)  # a hash of a password could be guessed
        return repr((server, schema, table))
    file, mark, table = name.partition(SEPARATOR)
    name = f"{os.path.realpath(file)}{mark}{table}"
    if isinstance(data, TextFile):
        return repr((name, sorted(data.types.items()), data.decimal, data.date_format))
    return name
