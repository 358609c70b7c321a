"""How PostgreSQL is asked so that no record stops a query: it has no TRY.

What would fail is kept out by functions around it, and never by a condition beside it, as a planner
may take conditions in any order. `NULLIF`, `LEAST` and `GREATEST` make what lies outside of two
ends missing, and LEAST and GREATEST pass over what is missing already. Arithmetic goes by numeric,
of which each result is between -1e308 and 1e308, to 300 decimals: far from its own limits, and a
double or 0.
"""

from __future__ import annotations

from duffdp.engines.expressions import Words
from duffdp.engines.sql import quote_name, quote_text

_END, _PLACES = "1e308", 300
_TYPES = {
    "boolean": "boolean",
    "integer": "numeric",
    "double": "float8",
    "decimal": "numeric",
    "number": "numeric",
    "text": "text",
    "date": "date",
    "time": "timestamp",
    "instant": "timestamptz",
}
_YEARS = {
    "date": ("date '0001-12-31 BC'", "date '10000-01-01'"),
    "time": ("timestamp '0001-12-31 23:59:59.999999 BC'", "timestamp '10000-01-01'"),
    "instant": (
        "timestamptz '0001-12-31 23:59:59.999999+00 BC'",
        "timestamptz '10000-01-01 00:00:00+00'",
    ),
}
_PARTS = ("year", "quarter", "month", "week", "day", "dow", "doy", "hour", "minute", "second")
_DIGITS = (
    "'^[ ]*([+-]?(?:[0-9]{{1,200}}(?:[.][0-9]{{0,200}})?|[.][0-9]{{1,200}})"
    "(?:[eE][+-]?[0-9]{{1,3}})?)[ ]*$'"
)
_READ = f"CAST(substring({{0}} FROM {_DIGITS}) AS numeric)"


def _within(value: str, low: str, high: str) -> str:
    """A value between two ends; missing at them and beyond."""
    return f"NULLIF(NULLIF(LEAST(GREATEST({value}, {low}), {high}), {low}), {high})"


def _finite(value: str) -> str:
    return _within(value, f"-{_END}", _END)


def _whole(value: str) -> str:
    """A whole number that 64 bits can hold."""
    return _within(value, str(-(2**63) - 1), str(2**63))


def _rounded(value: str) -> str:
    """A number of which the next step takes no longer than it has to."""
    return _finite(f"trim_scale(round({value}, {_PLACES}))")


def _near(kind: str) -> str:
    return _within("{0}", *_YEARS[kind])


_FORMS = {
    **{f"null {kind}": f"CAST(NULL AS {name})" for kind, name in _TYPES.items()},
    **{f"near {kind}": _near(kind) for kind in _YEARS},
    "column double": "({0})::float8",
    "a integer": "({0})",
    "a double": "float8 '{0}'",
    "a date": "date '{0}'",
    "a time": "timestamp '{0}'",
    "a instant": "timestamptz '{0}'",
    "integer result": f"CAST({_whole('({0})::numeric')} AS int8)",
    "number result": "({0})::float8",
    # conversions
    "integer to number": "({0})::numeric",
    "integer to double": "({0})::float8",
    "double to number": _rounded("({0})::numeric"),
    "decimal to number": _rounded("({0})::numeric"),
    "text to number": _rounded(_READ),
    "text to integer": _within(f"round({_READ})", "{1}", "{2}"),
    "number to integer": _within("round({0})", "{1}", "{2}"),
    "within integer": _within("({0})::numeric", "{1}", "{2}"),
    "within number": _within("{0}", "{1}", "{2}"),
    "boolean to integer": "({0})::int",
    "integer to boolean": "({0} <> 0)",
    "integer to text": '(({0})::text COLLATE "C")',
    "date to time": f"({_near('date')})::timestamp",
    "time to date": f"({_near('time')})::date",
    "instant to date": f"({_near('instant')})::date",
    # what is compared
    "and": "({0} AND {1})",
    "or": "({0} OR {1})",
    "not": "(NOT {0})",
    "compare": "({0} {1} {2})",
    "same": "({0} IS NOT DISTINCT FROM {1})",
    "other": "({0} IS DISTINCT FROM {1})",
    "between": "({0} BETWEEN {1} AND {2})",
    "in": "({0} IN ({1}))",
    "is": "({0} IS {1})",
    "is null": "({0} IS NULL)",
    "like": "({0} LIKE {1} ESCAPE '')",
    "ilike": "({0} ILIKE {1} ESCAPE '')",
    "isnan": "({0} = float8 'NaN')",
    "isinf": "({0} IN (float8 'Infinity', float8 '-Infinity'))",
    # numbers
    "add": _finite("({0} + {1})"),
    "subtract": _finite("({0} - {1})"),
    "multiply": _rounded("({0} * {1})"),
    "divide": _rounded("({0} / NULLIF({1}, 0))"),
    "modulo": "mod({0}, NULLIF({1}, 0))",
    "add integer": _whole("(({0})::numeric + ({1})::numeric)"),
    "subtract integer": _whole("(({0})::numeric - ({1})::numeric)"),
    "multiply integer": _whole("(({0})::numeric * ({1})::numeric)"),
    "whole divide integer": _whole("div(({0})::numeric, NULLIF(({1})::numeric, 0))"),
    "modulo integer": "mod(({0})::numeric, NULLIF(({1})::numeric, 0))",
    **{name: f"{name}({{0}})" for name in ("abs", "ceil", "floor", "sign")},
    "abs integer": _whole("abs(({0})::numeric)"),
    "sign integer": "sign(({0})::numeric)",
    "round": _finite("round({0}, {1})"),
    # Any number below 0 is below this one as well.
    "sqrt": f"sqrt(CAST(NULLIF(GREATEST({{0}}, -1e-{_PLACES}), -1e-{_PLACES}) AS float8))",
    "ln": "ln(CAST(NULLIF(GREATEST({0}, 0), 0) AS float8))",
    # texts
    "left": "left({0}, {1})",
    "right": "right({0}, {1})",
    "lower": "lower({0})",
    "upper": "upper({0})",
    "length": "length({0})",
    "contains": "(strpos({0}, {1}) > 0)",
    "starts": "starts_with({0}, {1})",
    "ends": "(right({0}, length({1})) = {1})",
    "substring": "substring({0}, {1}, {2})",
    "replace": "replace({0}, {1}, {2})",
    "trim both": "btrim({0})",
    "trim leading": "ltrim({0})",
    "trim trailing": "rtrim({0})",
    # times
    **{
        f"part {name}": f"floor(extract({name} FROM {{0}}))"
        for name in (
            "year",
            "quarter",
            "month",
            "week",
            "day",
            "dow",
            "doy",
            "hour",
            "minute",
            "second",
        )
    },
    "truncate time": "date_trunc('{1}', {0})",
    "truncate instant": "date_trunc('{1}', {0})",
    "shift time": "({0} {1} INTERVAL '{2} {3}')",
    "shift instant": "({0} {1} INTERVAL '{2} {3}')",
    "time in zone": "({0} AT TIME ZONE {1})",
    "instant in zone": "({0} AT TIME ZONE {1})",
    "difference year": "(extract(year FROM {0}) - extract(year FROM {1}))",
    "difference month": "(extract(year FROM {0}) * 12 + extract(month FROM {0})"
    " - extract(year FROM {1}) * 12 - extract(month FROM {1}))",
    "difference day": "(({0})::date - ({1})::date)",
    **{
        f"difference {unit}": f"div(extract(epoch FROM date_trunc('{unit}', {{0}}))"
        f" - extract(epoch FROM date_trunc('{unit}', {{1}})), {seconds})"
        for unit, seconds in (("hour", 3600), ("minute", 60), ("second", 1))
    },
    # Exact, whatever the order of rows.
    "sum": f"CAST(sum({_within('round({0}, 9)', '-1e17', '1e17')}) AS float8)",
    "avg": f"(CAST(sum({_within('round({0}, 9)', '-1e17', '1e17')}) AS float8)"
    f" / NULLIF(count({_within('round({0}, 9)', '-1e17', '1e17')}), 0))",
}


def _text(text: str) -> str:
    """Whatever the session takes a backslash for."""
    doubled = text.replace("\\", "\\\\")
    return quote_text(text) if doubled == text else f"E{quote_text(doubled)}"


POSTGRES = Words("PostgreSQL", _FORMS, quote_name, _text, _text)
