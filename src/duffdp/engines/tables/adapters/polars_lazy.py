"""polars LazyFrames."""

from __future__ import annotations

from typing import Any

from duffdp.engines.tables.adapters.query import NarwhalsQuery
from duffdp.engines.tables.names import COPY, ORDER, PERSON


class PolarsLazy(NarwhalsQuery):
    """A polars LazyFrame."""

    nanoseconds = True
    by_inverse = True

    def rows(self, columns: dict[str, str]) -> Any:
        import polars
        from polars import selectors

        parts = []
        for new, name in columns.items():
            column = selectors.by_name(name).as_expr()  # a name is never a pattern
            if self.schema[name] in (self.nw.Categorical, self.nw.Enum):
                column = column.cast(polars.String)
            parts.append(column.alias(new))
        return self.nw.from_native(self.native.select(*parts))

    def literal_frame(self, rows: Any, columns: dict[str, list[Any]]) -> Any:
        import polars

        known = rows.to_native().collect_schema()
        schema = {name: known.get(name, polars.Int64) for name in columns}
        return self.nw.from_native(polars.LazyFrame(columns, schema=schema))

    def clock(self, rows: Any, name: str, ends: tuple[int, int]) -> tuple[Any, str]:
        import polars

        dtype = rows.collect_schema()[name]
        unit = "D" if dtype == self.nw.Date else dtype.time_unit
        number = polars.col(name).to_physical().cast(polars.Int64)
        if unit == "ns":
            number, unit = number // 1000, "us"
        return self.nw.from_native(rows.to_native().with_columns(number)), unit

    def cap(self, rows: Any, keys: tuple[int, ...], most: int, *within: str) -> Any:
        import polars

        native, kept = self._mixed(rows, keys, within)
        # A row counts unless the one `most` places before it is of the same person and group.
        others = (polars.col(name).ne_missing(polars.col(name).shift(most)) for name in within)
        person = polars.col(PERSON)
        counts = polars.any_horizontal(person.ne_missing(person.shift(most)), *others)
        return self.nw.from_native(native.filter(counts).select(*kept, PERSON))

    def cap_each(self, rows: Any, keys: tuple[int, ...], most: int, names: list[str]) -> Any:
        import polars

        native, kept = self._mixed(rows, keys, ())
        there = {name: polars.col(name).is_not_null().cast(polars.Int64) for name in names}
        counts = (
            polars.when(there[name].cum_sum().over(PERSON) <= most).then(name).alias(name)
            for name in names
        )
        return self.nw.from_native(native.with_columns(*counts).select(*kept, PERSON))

    def _mixed(self, rows: Any, keys: tuple[int, ...], within: tuple[str, ...]) -> Any:
        """Rows in the order that decides which of a person count, and the names of all columns but
        that of people.
        """
        import polars

        native = rows.to_native()
        kept = [name for name in native.collect_schema() if name != PERSON]
        first, second = (key % 2**64 for key in keys)
        # Copies of a row are numbered by counting them: windows over so many small groups are slow.
        copies = polars.int_ranges(0, polars.col(COPY)).alias(COPY)
        native = native.group_by(PERSON, *kept).len(COPY).with_columns(copies).explode(COPY)
        # Mixed again with another key: the orders of different people have nothing in common.
        mixed = polars.struct(PERSON, *kept, COPY).hash(first).hash(second)
        native = native.with_columns(mixed.alias(ORDER))
        return native.sort(PERSON, *within, ORDER, *kept, COPY), kept

    def stored(self, rows: Any) -> Any:
        return self.nw.from_native(rows.to_native().collect().lazy())

    def answer(self, columns: dict[str, list[Any]]) -> Any:
        import polars

        return polars.DataFrame(columns)
