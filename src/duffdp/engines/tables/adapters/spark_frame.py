"""Spark frames, classic or connected."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from duffdp.domain.reading import DAY
from duffdp.engines.query_text import ReadQuery
from duffdp.engines.tables.adapters.query import NarwhalsQuery
from duffdp.engines.tables.adapters.spark_query import spark_result
from duffdp.engines.tables.names import COUNT, ORDER, PERSON, PLACE

QUICK_CELLS = 2**16  # what the quick map of a task holds; rows of other cells take another one
_BINARY = "UTF8_BINARY"


class SparkFrame(NarwhalsQuery):
    """A Spark DataFrame."""

    @property
    def session_zone(self) -> str | None:
        zone: str = self.native.sparkSession.conf.get("spark.sql.session.timeZone")
        return zone

    @property
    def quick_cells(self) -> int:
        level = self.native.storageLevel
        return QUICK_CELLS if level.useMemory or level.useDisk else self.rows_back

    def rows(self, columns: dict[str, str]) -> Any:
        from pyspark.sql import functions as f

        native, parts = self.native, []
        for new, name in columns.items():
            column = _column(name)
            # A collation may take different letters for the same.
            if getattr(native.schema[name].dataType, "collation", _BINARY) != _BINARY:
                column = f.collate(column, _BINARY)
            parts.append(column.alias(new))
        return self.nw.from_native(native.select(*parts))

    def literal_frame(self, rows: Any, columns: dict[str, list[Any]]) -> Any:
        from pyspark.sql import functions as f
        from pyspark.sql import types as t

        known = {field.name: field.dataType for field in rows.to_native().schema.fields}
        sent, data = [], []
        for name, values in columns.items():
            as_text = isinstance(values[0], dt.date | Decimal)
            # Text with its zone is read as what it says; Python's own times pass through a local
            # zone.
            data.append([str(v) for v in values] if as_text else values)
            sent.append(t.StructField(name, t.StringType() if as_text else _type_of(data[-1])))
        session = rows.to_native().sparkSession
        made = session.createDataFrame(list(zip(*data, strict=True)), t.StructType(sent))
        typed = (_column(name).cast(known.get(name, t.LongType())).alias(name) for name in columns)
        # Spark takes such a frame for huge, and would sort all rows to join it.
        return self.nw.from_native(f.broadcast(made.select(*typed)))

    def clock(self, rows: Any, name: str, ends: tuple[int, int]) -> tuple[Any, str]:
        from pyspark.sql import functions as f

        native, column = rows.to_native(), _column(name)
        dtype = rows.collect_schema()[name]
        if dtype == self.nw.Date:
            return self.nw.from_native(native.withColumn(name, f.unix_date(column))), "D"
        if dtype.time_zone is not None:
            return self.nw.from_native(native.withColumn(name, f.unix_micros(column))), "us"
        # Without a zone: by the calendar, since a cast would go through the zone of the session.
        low, high = ends
        days = f.unix_date(column.cast("date")).cast("bigint")
        days = f.greatest(f.least(days, f.lit(high // DAY)), f.lit(low // DAY))
        minutes = f.hour(column).cast("bigint") * 60 + f.minute(column)
        seconds = f.date_part(f.lit("SECOND"), column)
        within = minutes * 60_000_000 + (seconds * 1_000_000).cast("bigint")
        return self.nw.from_native(native.withColumn(name, days * DAY + within)), "us"

    def queried(self, read: ReadQuery) -> Any:
        return spark_result(read, self.native)

    def cap(self, rows: Any, keys: tuple[int, ...], most: int, *within: str) -> Any:
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        native, kept = _placed(rows, *within)
        if most == 1:  # one of the places: no second sort
            chosen = f.pmod(f.xxhash64(f.lit(keys[0]), PERSON, *within, f.lit(keys[1])), COUNT)
            native = native.where(f.col(PLACE) == chosen + 1)
        else:
            own = Window.partitionBy(PERSON, *within).orderBy(ORDER, PLACE)
            native = _mixed(native, keys, *within).withColumn(COUNT, f.row_number().over(own))
            native = native.where(f.col(COUNT) <= most)
        return self.nw.from_native(native.select(*kept, PERSON))

    def cap_each(self, rows: Any, keys: tuple[int, ...], most: int, names: list[str]) -> Any:
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        native, kept = _placed(rows)
        own = Window.partitionBy(PERSON).orderBy(ORDER, PLACE)
        own = own.rowsBetween(Window.unboundedPreceding, Window.currentRow)
        counts = (f.when(f.count(n).over(own) <= most, f.col(n)).alias(n) for n in names)
        others = [name for name in kept if name not in names]
        return self.nw.from_native(_mixed(native, keys).select(*others, PERSON, *counts))

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        from pyspark.sql import types as t

        schema = t.StructType([t.StructField(n, _type_of(values)) for n, values in columns.items()])
        return self.native.sparkSession.createDataFrame(
            list(zip(*columns.values(), strict=True)), schema
        )


def _placed(rows: Any, *within: str) -> tuple[Any, list[str]]:
    """Rows with their PLACE among the COUNT rows of a person, in each value of the columns
    `within`, by what is in them; and the names of all columns but that of people.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    native = rows.to_native().repartition(PERSON)  # which all that follows can use
    kept = [name for name in native.columns if name != PERSON]
    own = Window.partitionBy(PERSON, *within).orderBy(*kept)
    # In the same order, though it does not need one: both are found by one pass.
    every = own.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    known = f.row_number().over(own).alias(PLACE), f.count(f.lit(1)).over(every).alias(COUNT)
    return native.select("*", *known), kept


def _mixed(native: Any, keys: tuple[int, ...], *within: str) -> Any:
    """Rows with what orders those of a person, whatever is in them."""
    from pyspark.sql import functions as f

    # Each part is hashed with the hash of those before it as its seed: the keys go in twice.
    mixed = f.xxhash64(f.lit(keys[0]), PERSON, *within, PLACE, f.lit(keys[1]))
    return native.withColumn(ORDER, mixed)


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
