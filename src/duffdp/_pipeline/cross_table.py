"""Cross tables: one statistic of groups by two columns, rows by columns, with margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from duffdp._pipeline.estimates import Estimate
from duffdp._pipeline.export import DisplayTable, Exportable
from duffdp._pipeline.number_text import NumberFormat, as_text, estimate_text, spark_text
from duffdp._pipeline.wording import Wording
from duffdp.statistics.program import NumberKind


class ShownColumn(NamedTuple):
    """One number of every group of a table, as text."""

    column: str  # of the table
    name: str  # for readers
    part: str  # its name within its release, if that has several numbers
    kind: NumberKind
    format: NumberFormat
    estimates: Sequence[Estimate]


class CrossCell(NamedTuple):
    """One cell: the numbers of a group, and whether it is too small to be informative."""

    estimates: Sequence[Estimate]
    too_small: bool


@dataclass(frozen=True, slots=True, eq=False)
class CrossTable(Exportable):
    """One statistic of a table whose groups have two columns: the first down, the second across.

    Attributes
    ----------
    name
        The name of the statistic for readers.
    by
        The two columns of groups.
    row_keys, column_keys
        Their keys; None is the margin that combines all of them.

    Methods
    -------
    wide

    Privacy
    -------
    Computed from a released table: post-processing.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), proposition 2.1:
    post-processing.

    Examples
    --------
    >>> import duffdp
    >>> keys = {"sex": ["Female", "Male"], "income": ["<=50K", ">50K"]}
    >>> given = {"epsilon": 8, "bounds": {"age": (0, 120)}, "by": ["sex", "income"], "keys": keys}
    >>> table = duffdp.table("demo/adult.parquet", {"age": "median"}, **given)
    >>> list(table.cross("age_median").wide())
    ['sex', '<=50K', '>50K']
    """

    name: str
    by: tuple[str, str]
    row_keys: Sequence[Any]
    column_keys: Sequence[Any]
    cells: Sequence[Sequence[CrossCell | None]]  # None: no such group
    columns: Sequence[ShownColumn]
    wording: Wording
    caption: str

    @property
    def has_single_numbers(self) -> bool:
        """True if each cell has one number."""
        return len(self.columns) == 1

    def header(self) -> list[str]:
        """The name of the first column of groups, and the keys of the second."""
        return [self.wording.name(self.by[0]), *self._labels(1, self.column_keys)]

    def row_labels(self) -> list[str]:
        """The keys of the first column of groups, for readers."""
        return self._labels(0, self.row_keys)

    def wide(self) -> dict[str, list[Any]]:
        """A column for each key of the second column of groups; None where there is no group, or
        its number is withheld.
        """
        return self._by_column(lambda estimate: estimate.value)

    def rounded(self, raw: bool = False) -> dict[str, list[Any]]:
        form = self.columns[0].format
        return self.wide() if raw else self._by_column(lambda estimate: form.number(estimate.value))

    def number_formats(self) -> dict[str, NumberFormat]:
        return dict.fromkeys(self.header()[1:], self.columns[0].format)

    def display_tables(self) -> list[DisplayTable]:
        rows = [
            [label, *(self._cell_text(cell) for cell in row)]
            for label, row in zip(self.row_labels(), self.cells, strict=True)
        ]
        title = f"{self.name}: {' × '.join(map(self.wording.name, self.by))}"
        return [DisplayTable(self.header(), rows, self.caption, (), 1, title)]

    def _cell_text(self, cell: CrossCell | None) -> str:
        """A cell in one line: its number with the interval, several numbers, or bars for counts."""
        if cell is None:
            return ""
        words = self.wording
        if cell.too_small:
            return words.too_few
        if self.has_single_numbers:
            (estimate,) = cell.estimates
            return estimate_text(estimate, self.columns[0].format, words.to, words.too_few)
        if any(estimate.value is None for estimate in cell.estimates):
            return words.too_few
        if all(column.kind == "count" for column in self.columns):
            return spark_text([estimate.value for estimate in cell.estimates])
        texts = [
            column.format.text(estimate.value)
            for column, estimate in zip(self.columns, cell.estimates, strict=True)
        ]
        return " / ".join(texts)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<CrossTable {self.name}: {' by '.join(self.by)}>"

    def _labels(self, place: int, keys: Sequence[Any]) -> list[str]:
        labels = [as_text(self.wording.key(self.by[place], key)) for key in keys]
        repeated = {label for label in labels if labels.count(label) > 1}  # 1 and "1", or an "all"
        if place == 1:
            repeated |= {self.wording.name(self.by[0])} & set(labels)
        return [f"{label} ({i})" if label in repeated else label for i, label in enumerate(labels)]

    def _by_column(self, value: Any) -> dict[str, list[Any]]:
        header = self.header()
        columns: dict[str, list[Any]] = {header[0]: list(self.row_labels())}
        for j, name in enumerate(header[1:]):
            cells = [row[j] for row in self.cells]
            if self.has_single_numbers:
                columns[name] = [None if cell is None else value(*cell.estimates) for cell in cells]
            else:
                columns[name] = list(map(self._cell_text, cells))
        return columns
