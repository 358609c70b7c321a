"""Checks of a query that DuckDB answers without a record: constants that fail, and expressions that
fail for every value of a type.

What fails in the same way for every row must not wait for a row. DuckDB evaluates such parts while
it plans, or skips them where statistics of the data allow it, so one record could decide whether
there is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from duffdp._engines.files.fields import quote_text
from duffdp._optional import load
from duffdp.errors import Argument, DuffError

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

_DIALECT = "duckdb"
# What has no value of its own, or a value that cannot fail.
_PLAIN = frozenset(
    ("Boolean", "Column", "DataType", "DataTypeParam", "Identifier", "Literal", "Null", "Var")
)
_CHAINS = ("And", "Or", "Paren", "Not")
_SKIPPING = ("Case", "Coalesce", "If", *_CHAINS)
_DATE_PARTS = frozenset(
    [
        "DateDiff",
        "Day",
        "DayOfMonth",
        "DayOfWeek",
        "DayOfYear",
        "Extract",
        "Hour",
        "Minute",
        "Month",
        "Quarter",
        "Second",
        "TimestampTrunc",
        "Week",
        "Year",
    ]
)
# DuckDB knows a unit such as ERA and says at the first value whether a type has it, past TRY.
_SAMPLES = {
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"), "2024-07-31"),
    **dict.fromkeys(("TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"), "2024-07-31"),
    "TIME": "12:00:00",
    "TIME WITH TIME ZONE": "12:00:00+00",
    "INTERVAL": "1 day",
}
_NUMBERS = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
]
_TYPES = frozenset((*_SAMPLES, *_NUMBERS, "VARCHAR"))


def check_constants(tree: Any) -> None:
    """Refuse a constant that fails, anywhere in the parsed query."""
    constants = {_text(node): node for node in _constants(tree)}
    failure = _first_failure(list(constants))
    if failure is not None:
        raise DuffError(
            Argument("sql"),
            f" has a constant that cannot be evaluated, {_excerpt(constants[failure.text])}. "
            f"DuckDB reports: {failure.message}. Correct the constant.",
        )


def check_types(trees: Iterable[Any], rows: DuckDBPyRelation) -> None:
    """Refuse what fails for every value of the types of `rows`: a text beside a number that is not
    a number, or a unit that a type of times does not have.
    """
    parts = [_Part(node, _operands(node)) for tree in trees for node in _typed(tree)]
    operands = {text: None for part in parts for text in part.texts}
    if not operands:
        return
    bound = rows.project(", ".join(operands)).types
    types = dict(zip(operands, map(str, bound), strict=True))
    written = {
        part.written(types): part.node
        for part in parts
        if all(types[text].partition("(")[0] in _TYPES for text in part.texts)
    }
    failure = _first_failure(list(written))
    if failure is not None:
        raise DuffError(
            f"sql does not fit the types of the columns: {_excerpt(written[failure.text])} fails "
            f"for every row. DuckDB reports: {failure.message}."
        )


class _Failure(NamedTuple):
    """An expression that fails, and DuckDB's error."""

    text: str
    message: str


class _Part(NamedTuple):
    """A part of a query, and its operands that depend on a column."""

    node: Any
    operands: Sequence[Any]

    @property
    def texts(self) -> list[str]:
        return [_text(operand) for operand in self.operands]

    def written(self, types: dict[str, str]) -> str:
        """Its SQL for a value of each type that is the same for all data: a usual one where dates
        are taken apart, else NULL.
        """
        node = self.node.copy()
        for operand in _operands(node):
            kind = types[_text(operand)]
            sample = _SAMPLES.get(kind) if _kind(node) in _DATE_PARTS else None
            value = "NULL" if sample is None else quote_text(sample)
            typed = load("sqlglot", "sql").parse_one(f"CAST({value} AS {kind})", read=_DIALECT)
            operand.replace(typed)
        return _text(node)


def _typed(tree: Any) -> Iterator[Any]:
    """Nodes that take dates apart, or that have a text beside something that looks at a column."""
    for node in tree.walk():
        texts = any(_kind(child) == "Literal" and child.is_string for child in _children(node))
        has_constant = texts or _kind(node) in _DATE_PARTS
        if has_constant and not _is_branch(node) and _operands(node):
            yield node


def _operands(node: Any) -> list[Any]:
    """The parts of a node that look at a column."""
    return [
        part for part in _children(node) if any(_kind(inner) == "Column" for inner in part.walk())
    ]


def _children(node: Any) -> Iterator[Any]:
    """The parts of a node; those of a branch are parts of its CASE."""
    for child in node.iter_expressions():
        if _is_branch(child):
            yield from child.iter_expressions()
        else:
            yield child


def _constants(tree: Any) -> Iterator[Any]:
    """The largest parts that look at no column, and smaller ones that need not be evaluated for
    these: branches of CASE and the like.
    """
    looking: set[int] = set()  # the parts that look at a column
    nodes = list(tree.walk())
    for node in nodes:
        above = node if _kind(node) == "Column" else None
        while above is not None and id(above) not in looking:
            looking.add(id(above))
            above = above.parent
    for node in nodes:
        if _kind(node) in _PLAIN or _is_branch(node) or id(node) in looking:
            continue
        largest = node is tree or id(node.parent) in looking
        chained = _kind(node) in _CHAINS  # its parts are looked at, and there may be many
        if largest or (_kind(node.parent) in _SKIPPING and not chained):
            yield node


def _is_branch(node: Any) -> bool:
    """True if a node is one WHEN of a CASE, which is no expression by itself."""
    return _kind(node) == "If" and node.parent is not None and _kind(node.parent) == "Case"


def _first_failure(texts: Sequence[str]) -> _Failure | None:
    """The first expression that fails, evaluated in a database that nobody else uses."""
    if not texts or _evaluated(texts) is None:
        return None
    for text in texts:
        message = _evaluated([text])
        if message is not None:
            return _Failure(text, message)
    return None


def _evaluated(texts: Sequence[str]) -> str | None:
    """DuckDB's message if one of some expressions fails."""
    duckdb = load("duckdb", "files")
    with duckdb.connect() as connection:  # each time: after some errors a database is of no use
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("PRAGMA disable_optimizer")  # which could leave an expression out
        try:
            connection.execute(f"SELECT {', '.join(f'({text}) IS NULL' for text in texts)}")
            assert connection.fetchall()
        except duckdb.Error as error:
            return str(error).splitlines()[0][:160]
    return None


def _excerpt(node: Any) -> str:
    """A part as the query says it, in a few letters."""
    return repr(node.sql(dialect=_DIALECT, comments=False)[:80])


def _kind(node: Any) -> str:
    return type(node).__name__


def _text(node: Any) -> str:
    written: str = node.sql(dialect=_DIALECT, identify=True, comments=False)
    return written
