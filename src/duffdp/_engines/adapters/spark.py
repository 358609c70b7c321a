"""Spark frames, classic or connected, and SQL over them."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from duffdp._engines.adapters.query import NarwhalsQuery
from duffdp._engines.libraries import Frame, missing_column
from duffdp._engines.queries.names import COUNT, ORDER, PERSON, PLACE
from duffdp._engines.sql.expressions import Kind, RowExpressions, Words
from duffdp._engines.sql.parse import ReadQuery
from duffdp.domain.reading import DAY

FAST_HASH_CELLS = 2**16  # what the quick map of a task holds; rows of other cells take another one
# Without it a stored frame keeps all of its shuffle partitions, 200 if nobody set them, and each
# takes a page of up to 64 MiB to sort in: 32 processor seconds instead of 3 for 4e6 rows.
FEWER_STORED_PARTITIONS = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
_BINARY = "UTF8_BINARY"


@dataclass
class SparkFrame(NarwhalsQuery):
    """A Spark DataFrame."""

    _stored: list[Any] = field(default_factory=list)

    @property
    def session_zone(self) -> str | None:
        zone: str = self.native.sparkSession.conf.get("spark.sql.session.timeZone")
        return zone

    @property
    def fast_hash_cells(self) -> int:
        level = self.native.storageLevel
        return FAST_HASH_CELLS if level.useMemory or level.useDisk else self.max_result_rows

    def rows(self, columns: dict[str, str]) -> Frame:
        from pyspark.sql import functions as f

        native, parts = self.native, []
        for new, name in columns.items():
            column = _column(name)
            # A collation may take different letters for the same.
            if getattr(native.schema[name].dataType, "collation", _BINARY) != _BINARY:
                column = f.collate(column, _BINARY)
            parts.append(column.alias(new))
        return self.as_frame(native.select(*parts))

    def literal_frame(self, rows: Frame, columns: dict[str, list[Any]]) -> Frame:
        from pyspark.sql import functions as f
        from pyspark.sql import types as t

        declared = {field.name: field.dataType for field in rows.to_native().schema.fields}
        sent, data = [], []
        for name, values in columns.items():
            as_text = isinstance(values[0], dt.date | Decimal)
            # Text with its zone is read as what it says; Python's own times pass through a local
            # zone.
            data.append([str(v) for v in values] if as_text else values)
            sent.append(t.StructField(name, t.StringType() if as_text else _type_of(data[-1])))
        session = rows.to_native().sparkSession
        literals = session.createDataFrame(list(zip(*data, strict=True)), t.StructType(sent))
        typed = (
            _column(name).cast(declared.get(name, t.LongType())).alias(name) for name in columns
        )
        # Spark takes such a frame for huge, and would sort all rows to join it.
        return self.as_frame(f.broadcast(literals.select(*typed)))

    def clock(self, rows: Frame, name: str, ends: tuple[int, int]) -> tuple[Frame, str]:
        from pyspark.sql import functions as f

        native, column = rows.to_native(), _column(name)
        dtype: Any = rows.collect_schema()[name]
        if dtype == self.nw.Date:
            return self.as_frame(native.withColumn(name, f.unix_date(column))), "D"
        if dtype.time_zone is not None:
            return self.as_frame(native.withColumn(name, f.unix_micros(column))), "us"
        # Without a zone: by the calendar, since a cast would go through the zone of the session.
        low, high = ends
        days = f.unix_date(column.cast("date")).cast("bigint")
        days = f.greatest(f.least(days, f.lit(high // DAY)), f.lit(low // DAY))
        minutes = f.hour(column).cast("bigint") * 60 + f.minute(column)
        seconds = f.date_part(f.lit("SECOND"), column)
        within = minutes * 60_000_000 + (seconds * 1_000_000).cast("bigint")
        return self.as_frame(native.withColumn(name, days * DAY + within)), "us"

    def queried(self, read: ReadQuery) -> Any:
        return spark_result(read, self.native)

    def cap(self, rows: Frame, keys: tuple[int, ...], limit: int, *within: str) -> Frame:
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        native, names = _placed(rows, *within)
        if limit == 1:  # one of the places: no second sort
            place = f.pmod(f.xxhash64(f.lit(keys[0]), PERSON, *within, f.lit(keys[1])), COUNT)
            native = native.where(f.col(PLACE) == place + 1)
        else:
            window = Window.partitionBy(PERSON, *within).orderBy(ORDER, PLACE)
            native = _with_random_order(native, keys, *within).withColumn(
                COUNT, f.row_number().over(window)
            )
            native = native.where(f.col(COUNT) <= limit)
        return self.as_frame(native.select(*names, PERSON))

    def cap_per_column(
        self, rows: Frame, keys: tuple[int, ...], limit: int, names: list[str]
    ) -> Frame:
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        native, columns = _placed(rows)
        window = Window.partitionBy(PERSON).orderBy(ORDER, PLACE)
        window = window.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        counts = (f.when(f.count(n).over(window) <= limit, f.col(n)).alias(n) for n in names)
        unchanged = [name for name in columns if name not in names]
        return self.as_frame(_with_random_order(native, keys).select(*unchanged, PERSON, *counts))

    def stored(self, rows: Frame) -> Frame:
        """In the memory and on the disks of the executors, by the first query that reads them. What
        an executor loses is computed again, to the same rows: their contents decide which count.
        """
        native, conf = rows.to_native(), self.native.sparkSession.conf
        # A hosted session may refuse to store, or to change options: then every query moves rows.
        with suppress(Exception):
            before = conf.get(FEWER_STORED_PARTITIONS, None)
            conf.set(FEWER_STORED_PARTITIONS, "true")
            try:
                self._stored.append(native.persist())
            finally:
                if before is None:
                    conf.unset(FEWER_STORED_PARTITIONS)
                else:
                    conf.set(FEWER_STORED_PARTITIONS, before)
        return rows

    def drop(self) -> None:
        while self._stored:
            with suppress(Exception):  # of a session that has ended, and what it stored with it
                self._stored.pop().unpersist()

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        from pyspark.sql import types as t

        schema = t.StructType([t.StructField(n, _type_of(values)) for n, values in columns.items()])
        return self.native.sparkSession.createDataFrame(
            list(zip(*columns.values(), strict=True)), schema
        )


def _placed(rows: Frame, *within: str) -> tuple[Any, list[str]]:
    """Rows with their PLACE among the COUNT rows of a person, in each value of the columns
    `within`, by what is in them; and the names of all columns but that of people.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    native = rows.to_native().repartition(PERSON)  # which all that follows can use
    names = [name for name in native.columns if name != PERSON]
    window = Window.partitionBy(PERSON, *within).orderBy(*names)
    # In the same order, though it does not need one: both are found by one pass.
    whole_window = window.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    place_and_count = (
        f.row_number().over(window).alias(PLACE),
        f.count(f.lit(1)).over(whole_window).alias(COUNT),
    )
    return native.select("*", *place_and_count), names


def _with_random_order(native: Any, keys: tuple[int, ...], *within: str) -> Any:
    """Rows with what orders those of a person, whatever is in them."""
    from pyspark.sql import functions as f

    # Each part is hashed with the hash of those before it as its seed: the keys go in twice.
    row_hash = f.xxhash64(f.lit(keys[0]), PERSON, *within, PLACE, f.lit(keys[1]))
    return native.withColumn(ORDER, row_hash)


def _column(name: str) -> Any:
    """A column by its exact name, dots and all."""
    from pyspark.sql import functions as f

    return f.col("`" + name.replace("`", "``") + "`")


def _type_of(values: list[Any]) -> Any:
    from pyspark.sql import types as t

    values = [value for value in values if value is not None] or [None]
    first = values[0]
    if isinstance(first, Decimal):
        return t.DecimalType(38, max(0, *(-int(value.as_tuple().exponent) for value in values)))
    if isinstance(first, dt.datetime):
        return t.TimestampNTZType() if first.tzinfo is None else t.TimestampType()
    if isinstance(first, dt.date):
        return t.DateType()
    kinds = {bool: t.BooleanType(), int: t.LongType(), float: t.DoubleType()}
    return kinds.get(type(first), t.StringType())


_KINDS = {
    "boolean": Kind.boolean,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Kind.integer),
    **dict.fromkeys(("float", "double"), Kind.double),
    "date": Kind.date,
    "timestamp_ntz": Kind.time,
    "timestamp": Kind.instant,
}
_SUM_NAME = "duffdp made {}"


def spark_result(read: ReadQuery, table: Any) -> Any:
    """The result for a frame; types alone decide whether the query fits."""
    from pyspark.sql import functions as f

    declared = {field.name: field.dataType.simpleString() for field in table.schema.fields}
    for name in read.columns:
        if name not in declared:
            raise missing_column(name, list(declared))
    kinds = {name: _kind(declared[name]) for name in read.columns}
    rows, outputs = RowExpressions(SPARK, kinds), []
    for output in read.outputs:
        if output.source is not None:
            sql = SPARK.name(output.source)
        else:
            sql, _ = (rows.total if read.groups else rows.output)(output.tree)
        outputs.append(f.expr(sql).alias(output.name))
    # A collation may take different letters, and so different people, for the same.
    columns = (
        f.expr(
            f"collate({SPARK.name(name)}, 'UTF8_BINARY')" if kind is Kind.text else SPARK.name(name)
        ).alias(name)
        for name, kind in kinds.items()
    )
    selected = table.select(*columns)
    if read.where is not None:
        selected = selected.where(f.expr(rows.condition(read.where)))
    if not read.groups:
        return selected.select(*outputs)
    # By names of their own: a sum may be called like a column of GROUP BY.
    sums = [
        expression.alias(_SUM_NAME.format(at))
        for at, (output, expression) in enumerate(zip(read.outputs, outputs, strict=True))
        if not output.source
    ]
    groups = [f.expr(SPARK.name(name)) for name in read.groups]
    grouped = selected.groupBy(*groups).agg(*(sums or [f.count(f.lit(1))]))
    return grouped.select(
        *(
            f.expr(SPARK.name(output.source or _SUM_NAME.format(at))).alias(output.name)
            for at, output in enumerate(read.outputs)
        )
    )


def _kind(declared: str) -> Kind:
    if declared.startswith(("string", "char(", "varchar(")):
        return Kind.text
    return Kind.decimal if declared.startswith("decimal") else _KINDS.get(declared, Kind.other)


# SQL that no record can stop, whether ANSI mode is on or not. Spark has a `try_` form of what
# fails; what has none is kept within ends by functions around it.
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


def _clamp_years(kind: str) -> str:
    return _within("{0}", *_YEARS[kind])


def _clamp_integer(value: str) -> str:
    """A double that is a whole number, from one that `value` makes a whole number of."""
    return f"CAST({value.format(_within('{0}', '-1e15D', '1e15D'))} AS DOUBLE)"


_FORMS = {
    **{f"null {kind}": f"CAST(NULL AS {name})" for kind, name in _TYPES.items()},
    **{f"near {kind}": _clamp_years(kind) for kind in _YEARS},
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
    "date to time": f"CAST({_clamp_years('date')} AS TIMESTAMP_NTZ)",
    "time to date": f"CAST({_clamp_years('time')} AS DATE)",
    "instant to date": f"CAST({_clamp_years('instant')} AS DATE)",
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
    "ceil": _clamp_integer("ceil({0})"),
    "floor": _clamp_integer("floor({0})"),
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
