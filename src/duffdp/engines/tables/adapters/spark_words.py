"""How Spark is asked so that no record stops a query, whether ANSI mode is on or not.

It has a `try_` form of what fails. What has none is kept within ends by functions around it.
"""

from __future__ import annotations

from duffdp.engines.expressions import Words

_TYPES = {
    "boolean": "BOOLEAN",
    "integer": "BIGINT",
    "double": "DOUBLE",
    "decimal": "DECIMAL(38, 9)",
    "number": "DOUBLE",
    "text": "STRING",
    "date": "DATE",
    "time": "TIMESTAMP_NTZ",
    "instant": "TIMESTAMP",
}
_DAY = "INTERVAL '1' DAY"
_YEARS = {
    kind: (f"({name}'0001-01-01{zone}' - {_DAY})", f"({name}'9999-12-31{zone}' + {_DAY})")
    for kind, name, zone in (
        ("date", "DATE", ""),
        ("time", "TIMESTAMP_NTZ", " 00:00:00"),
        ("instant", "TIMESTAMP", " 00:00:00Z"),
    )
}
_ENDS = ("CAST('{1}' AS DECIMAL(20, 0))", "CAST('{2}' AS DECIMAL(20, 0))")
_LEAST = "(-9223372036854775807L - 1L)"
_PARTS = {
    **{name: f"{name}({{0}})" for name in ("year", "quarter", "month", "day")},
    **{name: f"{name}({{0}})" for name in ("hour", "minute", "second")},
    "week": "weekofyear({0})",
    "dow": "(dayofweek({0}) - 1)",
    "doy": "dayofyear({0})",
}


def _within(value: str, low: str, high: str) -> str:
    """A value between two ends; missing at them and beyond. What is missing already is passed over
    by greatest.
    """
    return f"nullif(nullif(least(greatest({value}, {low}), {high}), {low}), {high})"


def _near(kind: str) -> str:
    return _within("{0}", *_YEARS[kind])


def _whole(value: str) -> str:
    """A double that is a whole number, from one that `value` makes a whole number of."""
    return f"CAST({value.format(_within('{0}', '-1e15D', '1e15D'))} AS DOUBLE)"


_FORMS = {
    **{f"null {kind}": f"CAST(NULL AS {name})" for kind, name in _TYPES.items()},
    **{f"near {kind}": _near(kind) for kind in _YEARS},
    "column integer": "CAST({0} AS BIGINT)",
    "column double": "CAST({0} AS DOUBLE)",
    "a integer": "try_cast('{0}' AS BIGINT)",
    "a double": "CAST('{0}' AS DOUBLE)",
    "a date": "DATE'{0}'",
    "a time": "TIMESTAMP_NTZ'{0}'",
    "a instant": "TIMESTAMP'{0}'",
    # conversions
    "integer to number": "CAST({0} AS DOUBLE)",
    "integer to double": "CAST({0} AS DOUBLE)",
    "double to number": "CAST({0} AS DOUBLE)",
    "decimal to number": "CAST({0} AS DOUBLE)",
    "text to number": "try_cast({0} AS DOUBLE)",
    "text to integer": "try_cast("
    + _within("round(try_cast({0} AS DECIMAL(38, 9)))", *_ENDS)
    + " AS BIGINT)",
    "number to integer": "try_cast("
    + _within("round({0})", "CAST('{1}' AS DOUBLE)", "CAST('{2}' AS DOUBLE)")
    + " AS BIGINT)",
    "within integer": f"try_cast({_within('CAST({0} AS DECIMAL(20, 0))', *_ENDS)} AS BIGINT)",
    "within number": _within("{0}", "CAST('{1}' AS DOUBLE)", "CAST('{2}' AS DOUBLE)"),
    "boolean to integer": "CAST({0} AS BIGINT)",
    "integer to boolean": "({0} <> 0L)",
    "integer to text": "CAST({0} AS STRING)",
    "text to date": "try_cast({0} AS DATE)",
    "text to time": "try_cast({0} AS TIMESTAMP_NTZ)",
    "date to time": f"CAST({_near('date')} AS TIMESTAMP_NTZ)",
    "time to date": f"CAST({_near('time')} AS DATE)",
    "instant to date": f"CAST({_near('instant')} AS DATE)",
    # what is compared
    "and": "({0} AND {1})",
    "or": "({0} OR {1})",
    "not": "(NOT {0})",
    "compare": "({0} {1} {2})",
    "same": "({0} <=> {1})",
    "other": "(NOT ({0} <=> {1}))",
    "between": "({0} BETWEEN {1} AND {2})",
    "in": "({0} IN ({1}))",
    "is": "({0} IS {1})",
    "is null": "({0} IS NULL)",
    "like": "({0} LIKE {1})",
    "ilike": "({0} ILIKE {1})",
    "isnan": "({0} = CAST('NaN' AS DOUBLE))",
    "isinf": "(abs({0}) = CAST('Infinity' AS DOUBLE))",
    # numbers
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "divide": "try_divide({0}, {1})",
    "modulo": "try_mod({0}, {1})",
    "power": "power({0}, {1})",
    "add integer": "try_add({0}, {1})",
    "subtract integer": "try_subtract({0}, {1})",
    "multiply integer": "try_multiply({0}, {1})",
    "whole divide integer": "try_cast(try_divide(CAST({0} AS DECIMAL(20, 0))"
    " - CAST(try_mod({0}, {1}) AS DECIMAL(20, 0)), CAST({1} AS DECIMAL(20, 0))) AS BIGINT)",
    "modulo integer": "try_mod({0}, {1})",
    "abs": "abs({0})",
    "abs integer": f"abs(nullif({{0}}, {_LEAST}))",
    "sign": "try_cast(sign({0}) AS BIGINT)",
    "sign integer": "try_cast(sign(CAST({0} AS DOUBLE)) AS BIGINT)",
    "ceil": _whole("ceil({0})"),
    "floor": _whole("floor({0})"),
    "round": "round({0}, {1})",
    "sqrt": "nullif(sqrt({0}), CAST('NaN' AS DOUBLE))",
    "ln": "ln({0})",
    "exp": "exp({0})",
    # texts
    "left": "substring({0}, 1, {1})",
    "right": "right({0}, {1})",
    "lower": "lower({0})",
    "upper": "upper({0})",
    "length": "CAST(length({0}) AS BIGINT)",
    "contains": "contains({0}, {1})",
    "starts": "startswith({0}, {1})",
    "ends": "endswith({0}, {1})",
    "substring": "substring({0}, {1}, {2})",
    "replace": "replace({0}, {1}, {2})",
    "trim both": "trim({0})",
    "trim leading": "ltrim({0})",
    "trim trailing": "rtrim({0})",
    # times
    **{f"part {name}": f"CAST({form} AS BIGINT)" for name, form in _PARTS.items()},
    # Without a zone by days alone: a part of a day would pass through the zone of the session.
    **{
        f"truncate time {unit}": "CAST(trunc({0}, '{1}') AS TIMESTAMP_NTZ)"
        for unit in ("year", "quarter", "month", "week")
    },
    "truncate time day": "CAST(CAST({0} AS DATE) AS TIMESTAMP_NTZ)",
    "truncate instant": "date_trunc('{1}', {0})",
    "shift time": "({0} {1} INTERVAL '{2}' {3})",
    "shift instant": "({0} {1} INTERVAL '{2}' {3})",
    "difference year": "CAST(year({0}) - year({1}) AS BIGINT)",
    "difference month": "CAST(year({0}) * 12 + month({0}) - year({1}) * 12 - month({1}) AS BIGINT)",
    "difference day": "CAST(datediff(CAST({0} AS DATE), CAST({1} AS DATE)) AS BIGINT)",
    # Exact, whatever the order of rows.
    "sum": "CAST(try_sum(try_cast({0} AS DECIMAL(26, 9))) AS DOUBLE)",
    "avg": "try_divide(CAST(try_sum(try_cast({0} AS DECIMAL(26, 9))) AS DOUBLE),"
    " CAST(count(try_cast({0} AS DECIMAL(26, 9))) AS DOUBLE))",
}


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(text: str) -> str:
    """By its bytes: how a text is quoted depends on the session."""
    return f"CAST(X'{text.encode('utf-8', 'surrogatepass').hex()}' AS STRING)"


def _pattern(pattern: str) -> str:
    return _text(pattern.replace("\\", "\\\\"))


SPARK = Words("Spark", _FORMS, _name, _text, _pattern)
