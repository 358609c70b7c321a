"""A text file together with the types of its fields, declared by the caller."""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from duffdp._engines.files.fields import FieldLabels, FieldRules
from duffdp._optional import load
from duffdp._parameters import DATE_FORMAT, DECIMAL, ENCODING, SKIP_ROWS, THOUSANDS
from duffdp.domain.reading import EPOCH
from duffdp.domain.zones import instant, read_zone
from duffdp.errors import Argument, DuffError, did_you_mean

#: What a column can be declared as, and the kind that its fields are read as.
KINDS = {
    "text": "category",
    "integer": "integer",
    "double": "float",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "datetime",
}
# The names of these types in other libraries, without their numbers of bits.
_KIND_ALIASES = {
    "bool": "boolean",
    "datetime": "timestamp",
    "decimal": "double",
    "float": "double",
    "int": "integer",
    "number": "double",
    "numeric": "double",
    "str": "text",
    "string": "text",
    "utf": "text",
    "varchar": "text",
}
_PROBE = dt.datetime(2000, 7, 1, 12)
_ZONED = re.compile(r"timestamp\[([^][]{1,60})\]")
_DIRECTIVES = "dmYyHIMSfpbB%"
_LONGEST_FORMAT = 100  # letters


@dataclass(frozen=True)
class TextFile:
    """A CSV, TSV or JSON lines file, or a folder or pattern of them, with declared types; pass it
    wherever data is expected.

    Parameters
    ----------
    path
        A file, a folder or a pattern.
    types
        The types of some columns: "text", "integer", "double", "boolean", "date", "timestamp", or
        "timestamp[Europe/Berlin]" for local times of a zone. Without a declared type, the column of
        values is read as the bounds imply, and every other column is text.
    decimal
        The decimal mark of numbers, "." or ",". With a comma, a number with a point is ignored
        unless `thousands` is a point.
    thousands
        The mark between groups of three digits, such as "." in 1.280,00: ".", ",", "'" or " " (also
        a no-break space). A number with groups of another size is ignored. None: every number with
        such a mark is ignored.
    date_format
        The format of dates and times, such as "%d.%m.%Y %H:%M"; ISO 8601 by default.
    encoding
        The encoding of the text: "utf-8", or an encoding with one byte per character, such as
        "windows-1252" or "iso-8859-2". With "utf-8", a field that is not valid UTF-8 is read as
        windows-1252.
    skip_rows
        The number of lines (in Excel, rows) to skip above the header, such as titles. The next line
        has the column names.

    Privacy
    -------
    These declarations are public and must not come from the records. Each field is read
    individually, and a field that does not fit is missing. With a declared type, a column is
    checked before a record is read, as in Parquet.

    References
    ----------
    Shafranovich, "Common Format and MIME Type for Comma-Separated Values (CSV) Files" (RFC 4180,
    2005), section 2: the definition of a record.

    Examples
    --------
    >>> import duffdp, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "visits.csv"
    >>> _ = path.write_text("ward;cost\\n" + "ER;1.280,50\\nlab;9,75\\n" * 1000)
    >>> visits = duffdp.TextFile(path, types={"cost": "double"}, decimal=",", thousands=".")
    >>> release = duffdp.mean(visits, column="cost", epsilon=1, bounds=(0, 2000), rng=1)
    >>> round(release.value, -1)
    650.0
    """

    path: str | os.PathLike[str]
    types: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    decimal: str = field(default=DECIMAL.default, kw_only=True)
    thousands: str | None = field(default=THOUSANDS.default, kw_only=True)
    date_format: str | None = field(default=DATE_FORMAT.default, kw_only=True)
    encoding: str = field(default=ENCODING.default, kw_only=True)
    skip_rows: int = field(default=SKIP_ROWS.default, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike):
            raise DuffError(
                f"path must be a path, got {type(self.path).__name__}. Pass for example "
                'duffdp.TextFile("people.csv", types={"age": "integer"}).'
            )
        _check_types(self.types)
        if DECIMAL.read(self.decimal) == THOUSANDS.read(self.thousands):
            other = "," if self.decimal == "." else "."
            raise DuffError(
                *(Argument("thousands"), " must differ from ", Argument("decimal"), ", got "),
                *(f"{self.decimal!r} for both. Pass for example ", Argument("decimal", other)),
                *(" beside ", Argument("thousands", self.thousands), " instead."),
            )
        SKIP_ROWS.read(self.skip_rows)
        ENCODING.read(self.encoding)
        if self.date_format is not None:
            _check_format(self.date_format)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    @property
    def rules(self) -> FieldRules:
        """The rules by which its fields are read."""
        split = {name: _split(said) for name, said in self.types.items()}
        kinds = {name: KINDS[kind] for name, (kind, _) in split.items()}
        zones = {name: zone for name, (_, zone) in split.items() if zone is not None}
        return FieldRules(
            kinds,
            self.decimal,
            self.date_format,
            zones,
            THOUSANDS.read(self.thousands),
            ENCODING.read(self.encoding),
            self.skip_rows,
        )


@dataclass(frozen=True)
class LabeledFile(TextFile):
    """A text file in which some columns have labels instead of values."""

    labels: Mapping[str, FieldLabels] = field(default_factory=dict, kw_only=True)

    @property
    def rules(self) -> FieldRules:
        """The rules by which its fields are read."""
        rules = super().rules
        return rules._replace(kinds={**rules.kinds, **self.labels})


def _split(said: str) -> tuple[str, str | None]:
    """A declared type, and the zone of a time."""
    zoned = _ZONED.fullmatch(said)
    return (said, None) if zoned is None else ("timestamp", zoned[1])


def _check_types(types: object) -> None:
    if not isinstance(types, Mapping) or not all(isinstance(name, str) for name in types):
        raise DuffError(
            Argument("types"),
            f" must be a mapping from columns to types, got {types!r:.60}. Pass for example ",
            *(Argument("types", {"cost": "double"}), "."),
        )
    for name, said in types.items():
        if isinstance(said, str) and (zoned := _ZONED.fullmatch(said)) is not None:
            _check_zone(name, zoned[1])
        elif not isinstance(said, str) or said not in KINDS:
            raise DuffError(
                f"the type of {name!r} must be one of {', '.join(KINDS)}, got {said!r:.60}."
                f"{_kind_hint(said)}"
            )


def _kind_hint(said: object) -> str:
    """The type that was probably meant, by the names that other libraries have."""
    name = str(said).casefold().rstrip("0123456789")
    kind = _KIND_ALIASES.get(name)
    return f" Did you mean {kind!r}?" if kind else did_you_mean(said, KINDS)


def _check_zone(name: str, zone: str) -> None:
    """Checks that Python and DuckDB agree on a zone: one computes with it, the other one reads."""
    known, duckdb = read_zone(zone), load("duckdb", "files")
    with duckdb.connect() as connection:
        try:
            asked = f"SELECT epoch_us(timezone(?, TIMESTAMP '{_PROBE}'))"
            (found,) = connection.execute(asked, [zone]).fetchone() or (None,)
        except duckdb.Error:
            found = None
    if found != instant((_PROBE - EPOCH) // dt.timedelta(microseconds=1), known):
        raise DuffError(
            f"the time zone of {name!r} must be a name such as Europe/Berlin, got {zone!r:.60}. "
            "Times with an offset need no zone."
        )


def _check_format(given: object) -> None:
    example = ("Pass for example ", Argument("date_format", "%d.%m.%Y %H:%M"), ".")
    if not isinstance(given, str) or len(given) > _LONGEST_FORMAT or not given.isprintable():
        raise DuffError(
            Argument("date_format"),
            f" must be one line of text, at most {_LONGEST_FORMAT} characters, got {given!r:.60}. ",
            *example,
        )
    found = re.findall("%(.?)", given, re.DOTALL)
    for letter in found:
        if not letter or letter not in _DIRECTIVES:
            raise DuffError(
                Argument("date_format"),
                f" takes {', '.join('%' + known for known in _DIRECTIVES)}, got {'%' + letter!r} "
                f"in {given!r}. ",
                *example,
            )
    for one_of, what in (
        ("Yy", "a year (%Y or %y)"),
        ("mbB", "a month (%m, %b or %B)"),
        ("d", "a day (%d)"),
    ):
        if sum(found.count(letter) for letter in one_of) != 1:
            raise DuffError(
                Argument("date_format"),
                f" must have exactly one of {what}, got {given!r}. ",
                *example,
            )
    for one_of, what in (
        ("HI", "hours"),
        ("M", "minutes"),
        ("S", "seconds"),
        ("f", "fractions"),
        ("p", "%p"),
    ):
        if sum(found.count(letter) for letter in one_of) > 1:
            raise DuffError(
                Argument("date_format"),
                f" must have {what} at most once, got {given!r}. ",
                *example,
            )
    if ("I" in found) != ("p" in found):
        raise DuffError(
            Argument("date_format"), f" must have %I and %p together, got {given!r}. ", *example
        )
