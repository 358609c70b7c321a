"""The result of a query over a frame of Spark, as a frame of Spark."""

from __future__ import annotations

from typing import Any

from duffdp.engines.delimited import missing_column
from duffdp.engines.expressions import Kind, RowExpressions
from duffdp.engines.query_text import ReadQuery
from duffdp.engines.tables.adapters.spark_words import SPARK

_KINDS = {
    "boolean": Kind.boolean,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Kind.integer),
    **dict.fromkeys(("float", "double"), Kind.double),
    "date": Kind.date,
    "timestamp_ntz": Kind.time,
    "timestamp": Kind.instant,
}
_MADE = "duffdp made {}"


def spark_result(read: ReadQuery, table: Any) -> Any:
    """The result for a frame; types alone decide whether the query fits."""
    from pyspark.sql import functions as f

    known = {field.name: field.dataType.simpleString() for field in table.schema.fields}
    for name in read.columns:
        if name not in known:
            raise missing_column(name, list(known))
    kinds = {name: _kind(known[name]) for name in read.columns}
    rows, outputs = RowExpressions(SPARK, kinds), []
    for one in read.outputs:
        if one.source is not None:
            sql = SPARK.name(one.source)
        else:
            sql, _ = (rows.total if read.groups else rows.output)(one.tree)
        outputs.append(f.expr(sql).alias(one.name))
    # A collation may take different letters, and so different people, for the same.
    columns = (
        f.expr(
            f"collate({SPARK.name(name)}, 'UTF8_BINARY')" if kind is Kind.text else SPARK.name(name)
        ).alias(name)
        for name, kind in kinds.items()
    )
    found = table.select(*columns)
    if read.where is not None:
        found = found.where(f.expr(rows.condition(read.where)))
    if not read.groups:
        return found.select(*outputs)
    # By names of their own: a sum may be called like a column of GROUP BY.
    made = [
        output.alias(_MADE.format(at))
        for at, (one, output) in enumerate(zip(read.outputs, outputs, strict=True))
        if not one.source
    ]
    groups = [f.expr(SPARK.name(name)) for name in read.groups]
    brought = found.groupBy(*groups).agg(*(made or [f.count(f.lit(1))]))
    return brought.select(
        *(
            f.expr(SPARK.name(one.source or _MADE.format(at))).alias(one.name)
            for at, one in enumerate(read.outputs)
        )
    )


def _kind(declared: str) -> Kind:
    if declared.startswith(("string", "char(", "varchar(")):
        return Kind.text
    return Kind.decimal if declared.startswith("decimal") else _KINDS.get(declared, Kind.other)
