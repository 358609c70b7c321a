"""Parser of a query over one table: the columns that it computes for each row, and the rows that it
keeps.

What is not on a list is refused. The lists have what takes one row and gives one value, and sums
over the rows of one person. What runs is written anew from what was read, so that nothing runs that
was not checked.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from duffdp._engines.sql.checks import check_constants
from duffdp._optional import load
from duffdp.errors import Argument, DuffError

TABLE = "data"  # what queries call the table
MAX_QUERY_LETTERS = 10_000  # letters
MOST_JOINTS = 20  # of texts: many long ones could fill all memory
_EXAMPLE = 'Pass for example "SELECT cost * 1.19 AS gross, ward FROM data WHERE age >= 18".'
_DIALECT = "duckdb"
# By what sqlglot calls them: what stands for a value, how values are compared and combined, and
# functions of numbers, texts and times.
_ROW_WISE = """
Boolean Column Identifier Literal Null Paren Var
And Between Case Coalesce EQ GT GTE If In Is LT LTE NEQ Not NullSafeEQ NullSafeNEQ Nullif Or
Cast TryCast
Abs Add Ceil Div Exp Floor Greatest IntDiv IsInf IsNan Least Ln Mod Mul Neg Pow Round Sign Sqrt Sub
Concat Contains DPipe EndsWith ILike Left Length Like Lower Replace Right StartsWith Substring Trim
Upper
AtTimeZone DateDiff Day DayOfMonth DayOfWeek DayOfYear Extract Hour Interval Minute Month Quarter
Second TimestampTrunc Week Year
"""
_ALLOWED = frozenset(_ROW_WISE.split())
_SUMS = frozenset(("Avg", "Count", "Max", "Min", "Sum"))
_OF_A_SUM = ("this", "big_int")
# Sums of doubles depend on the order of rows in their last bits, and others could overflow. This is
# exact for any number of rows that there could be.
_SUMMED = "TRY_CAST({} AS DECIMAL(26, 9))"
_TYPES = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"),
    *("VARCHAR", "TEXT", "DATE", "TIMESTAMP", "TIMESTAMPTZ"),
)
# Names are those of columns, and words those of units of time.
_WITHIN = {
    "Identifier": frozenset(("Column",)),
    "Var": frozenset(("Extract", "Interval", "TimestampTrunc", "DateDiff")),
}
# What sqlglot reads beside the parts of a thing, and the words of engines have no place for.
_UNREAD = {
    "Between": ("symmetric",),
    "DateDiff": ("zone",),
    "Length": ("binary", "encoding"),
    "TimestampTrunc": ("zone",),
    "Week": ("mode",),
}
_YEARS = (1, 9999)  # of moments that DATE_DIFF takes: those of Python
_CLAUSES = frozenset(("expressions", "from", "from_", "where", "group"))


class QueryOutput(NamedTuple):
    """One column of the result: its name, its SQL for DuckDB, the source column if it is unchanged,
    and the parsed expression.
    """

    name: str
    sql: str
    source: str | None
    tree: Any


class ReadQuery(NamedTuple):
    """A parsed query that passed all checks."""

    text: str
    columns: tuple[str, ...]  # that it looks at
    condition: str | None
    outputs: tuple[QueryOutput, ...]
    groups: tuple[str, ...]  # the columns by which rows are brought together, if they are
    where: Any  # the condition as sqlglot read it, if there is one
    has_star: bool = False  # the columns of the table are a part of the result, and not read yet

    @property
    def trees(self) -> list[Any]:
        """All that sqlglot read, of the condition and of each column of the result."""
        trees = [output.tree for output in self.outputs]
        return trees if self.where is None else [*trees, self.where]

    @property
    def people(self) -> tuple[str, ...] | None:
        """Columns of the result that can name the person; None if all can."""
        if not self.groups:
            return None
        return tuple(output.name for output in self.outputs if output.source in self.groups)


@lru_cache(maxsize=64)
def read_query(text: Any, table: tuple[str, ...] | None = None) -> ReadQuery:
    """The parsed query of a text; `table` has the columns that replace `*`."""
    if not isinstance(text, str) or not text.strip() or len(text) > MAX_QUERY_LETTERS:
        raise DuffError(
            Argument("sql"),
            f" must be text of at most {MAX_QUERY_LETTERS} characters, got {text!r:.60}. "
            f"{_EXAMPLE}",
        )
    sqlglot = load("sqlglot", "sql")
    try:
        statements = sqlglot.parse(text, read=_DIALECT)
        return _Reader(text.strip(), statements, table).read()
    except (sqlglot.errors.SqlglotError, RecursionError):
        raise DuffError(
            "sql cannot be parsed as one SELECT. If a column name is an SQL keyword, put it in "
            "double quotes. " + _EXAMPLE
        ) from None


def _is_star(part: Any) -> bool:
    """True for a plain `*`."""
    return _kind(part) == "Star" and not any(part.args.values())


class _Reader:
    def __init__(self, text: str, statements: list[Any], table: tuple[str, ...] | None) -> None:
        self._text, self._statements, self._table = text, statements, table
        self._columns: dict[str, None] = {}

    def read(self) -> ReadQuery:
        if len(self._statements) != 1 or _kind(self._statements[0]) != "Select":
            raise DuffError(
                Argument("sql"), f" must be one SELECT, got {self._text!r:.60}. {_EXAMPLE}"
            )
        select = self._statements[0]
        for name, part in select.args.items():
            if part and name not in _CLAUSES:
                raise _refused(name.strip("_").upper(), "SELECT, FROM data, WHERE and GROUP BY")
        self._names = _table_names(select.args.get("from_") or select.args.get("from"))
        groups = self._groups(select.args.get("group"))
        starred = not groups and any(map(_is_star, select.expressions))
        if starred and self._table is not None:
            outputs = tuple(self._output(part, groups) for part in self._listed(select))
        else:
            stars = [part for part in select.expressions if starred and _is_star(part)]
            parts = [part for part in select.expressions if part not in stars]
            outputs = tuple(self._output(part, groups) for part in parts)
        names = [output.name.casefold() for output in outputs]
        if len(set(names)) < len(names):
            raise DuffError(
                Argument("sql"),
                " must give each column of the result a different name. Rename columns with AS.",
            )
        where = select.args.get("where")
        condition = None if where is None else self._row_wise(where.this)
        if not self._columns and not starred:
            raise DuffError(
                Argument("sql"), f" must use at least one column of the table. {_EXAMPLE}"
            )
        tree = None if where is None else where.this
        columns = tuple(self._columns)
        unread = starred and self._table is None
        return ReadQuery(self._text, columns, condition, outputs, groups, tree, unread)

    def _listed(self, select: Any) -> list[Any]:
        """The selected expressions, with the columns of the table instead of `*`."""
        column = load("sqlglot", "sql").exp.column
        parts: list[Any] = []
        for part in select.expressions:
            stars = [column(name, quoted=True) for name in self._table or ()]
            parts += stars if _is_star(part) else [part]
        return parts

    def _groups(self, group: Any) -> tuple[str, ...]:
        if group is None:
            return ()
        extras = [name for name, part in group.args.items() if part and name != "expressions"]
        if extras or not all(_kind(part) == "Column" for part in group.expressions):
            raise _refused("GROUP BY with an expression", "GROUP BY with names of columns")
        for part in group.expressions:
            self._row_wise(part)
        return tuple(part.name for part in group.expressions)

    def _output(self, part: Any, groups: tuple[str, ...]) -> QueryOutput:
        expression, name = (part.this, part.alias) if _kind(part) == "Alias" else (part, "")
        if _kind(expression) == "Column" and _kind(expression.this) == "Identifier":
            if groups and expression.name not in groups:
                raise DuffError(
                    f"sql: {expression.name!r} must be in GROUP BY or in a function such as SUM."
                )
            return QueryOutput(
                name or expression.name, self._row_wise(expression), expression.name, expression
            )
        if not name and _kind(expression) != "Star":
            raise DuffError(
                Argument("sql"), " must name each expression with AS, as in cost * 1.19 AS gross."
            )
        if not groups:
            return QueryOutput(name, self._row_wise(expression), None, expression)
        return QueryOutput(name, self._sum(expression), None, expression)

    def _sum(self, expression: Any) -> str:
        kind = _kind(expression)
        extras = [name for name, part in expression.args.items() if part and name not in _OF_A_SUM]
        if kind not in _SUMS or extras or expression.this is None:
            raise _refused(_excerpt(expression), "COUNT, SUM, AVG, MIN and MAX of each group")
        if _kind(expression.this) == "Star":
            return "count(*)"
        inner = self._row_wise(expression.this)
        if kind not in ("Sum", "Avg"):
            return f"{kind.lower()}({inner})"
        summed = _SUMMED.format(inner)
        total = f"CAST(sum({summed}) AS DOUBLE)"
        return total if kind == "Sum" else f"{total} / count({summed})"

    def _row_wise(self, expression: Any) -> str:
        """The SQL of an expression that takes one row; where it fails, there is no value."""
        nodes = list(expression.walk())
        for node in nodes:
            self._check(node)
        if sum(map(_joints, nodes)) > MOST_JOINTS:
            raise _refused("more", f"at most {MOST_JOINTS} texts put together")
        check_constants(expression)
        written: str = _guarded(expression).sql(dialect=_DIALECT, identify=True, comments=False)
        return written if _kind(expression) == "Column" else f"TRY({written})"

    def _check(self, node: Any) -> None:
        kind, above = _kind(node), None if node.parent is None else _kind(node.parent)
        if kind == "DataType":
            named = node.this.name.replace("NTZ", "")  # sqlglot's name of a time without a zone
            if named not in _TYPES or node.args.get("nested"):
                raise _refused(f"the type {named}", f"the types {', '.join(_TYPES)}")
            return
        if kind == "DataTypeParam" and above == "DataType":
            return
        misplaced = kind in _WITHIN and above not in _WITHIN[kind]
        if kind not in _ALLOWED or misplaced:
            raise _refused(_excerpt(node), "expressions that compute one value from one row")
        if kind == "Is" and _kind(node.expression) not in ("Null", "Boolean"):
            raise _refused(_excerpt(node), "IS NULL, IS TRUE and IS FALSE")
        if any(node.args.get(name) for name in _UNREAD.get(kind, ())):
            raise _refused(_excerpt(node), f"{kind.upper()} without more words")
        if kind == "In" and not node.expressions:
            raise _refused("IN with anything but a list", "IN (1, 2, 3)")
        if kind in ("Like", "ILike") and not _is_text(node.expression):
            raise _refused(_excerpt(node), "LIKE and ILIKE with a pattern such as 'a%'")
        if kind == "AtTimeZone" and not _is_zone(node.args.get("zone")):
            raise _refused(
                _excerpt(node), "only known zones such as 'Europe/Berlin' in AT TIME ZONE"
            )
        if kind == "Replace" and not _shortens(node):
            raise _refused(_excerpt(node), "only REPLACE by text that is not longer")
        if kind == "DateDiff" and node.find_ancestor(type(node)):
            raise _refused(_excerpt(node), "only DATE_DIFF that is not nested")
        if kind == "Column":
            is_ours = not node.table or node.table.casefold() in self._names
            if not is_ours or node.args.get("db"):
                raise DuffError(f"sql: the table is called {TABLE}, got {node.table!r}.")
            node.set("table", None)
            self._columns[node.name] = None


def _guarded(expression: Any) -> Any:
    """A copy of the expression without DATE_DIFF of times outside the years 1 to 9999.

    Of times with a zone that are 245,000 years apart, DuckDB's DATE_DIFF does not fail as other
    functions do: it ends the database.
    """
    exp = load("sqlglot", "sql").exp
    guarded = expression.copy()
    for node in guarded.find_all(exp.DateDiff):
        for name in ("this", "expression"):
            moment = node.args[name]
            moment = exp.cast(moment, "DATE") if _is_text(moment) else moment
            year = exp.Year(this=moment.copy()).between(*_YEARS)
            node.set(name, exp.Case().when(year, moment.copy()))
    return guarded


def _joints(node: Any) -> int:
    """Number of texts that are put behind another one."""
    return len(node.expressions) - 1 if _kind(node) == "Concat" else int(_kind(node) == "DPipe")


def _shortens(replace: Any) -> bool:
    """True if no text gets longer: several in one another could fill all memory."""
    parts = [replace.args.get(name) for name in ("expression", "replacement")]
    return all(map(_is_text, parts)) and len(parts[1].name) <= len(parts[0].name)


def _is_text(node: Any) -> bool:
    return _kind(node) == "Literal" and bool(node.is_string)


def _is_zone(node: Any) -> bool:
    """True if DuckDB knows a zone: of another one it would complain at the first row, past TRY."""
    if not _is_text(node):
        return False
    duckdb = load("duckdb", "files")
    with duckdb.connect() as connection:
        try:
            query = "SELECT (TIMESTAMP '2000-01-01' AT TIME ZONE ?) IS NOT NULL"
            return bool(connection.execute(query, [node.name]).fetchall())
        except duckdb.Error:
            return False


def _kind(node: Any) -> str:
    return type(node).__name__


def _excerpt(node: Any) -> str:
    """The first letters of a part of the query."""
    return f"{node.sql(dialect=_DIALECT, comments=False)[:40]!r} ({_kind(node)})"


def _refused(refused: str, instead: str) -> DuffError:
    return DuffError(
        Argument("sql"),
        f" accepts {instead}, got {refused}. Anything that could turn one record into several, "
        "or let one record affect another, is refused. Prepare such a table first and pass it.",
    )


def _table_names(source: Any) -> set[str]:
    """Names that the query may use for the table."""
    table = None if source is None else source.this
    if table is None or _kind(table) != "Table" or _kind(table.this) != "Identifier":
        raise DuffError(Argument("sql"), f" must say FROM {TABLE}, and no other table. {_EXAMPLE}")
    alias = table.args.get("alias")
    extras = [name for name, part in table.args.items() if part and name not in ("this", "alias")]
    if (
        table.name.casefold() != TABLE
        or extras
        or (alias is not None and alias.args.get("columns"))
    ):
        raise DuffError(Argument("sql"), f" must say FROM {TABLE}, and no other table. {_EXAMPLE}")
    return {TABLE} if alias is None else {table.alias.casefold()}
