"""Released values, computed from drawn numbers; values of small groups are withheld."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from duffdp._facts import Facts
from duffdp._pipeline.distribution import Distribution
from duffdp._pipeline.draw_plan import DrawPlan
from duffdp._pipeline.estimates import columns_per_number
from duffdp._rows import MIN_COLUMNAR_ROWS, RowsOfColumns
from duffdp.domain import Domain, Grid, PublicSet
from duffdp.ledger.charge import Result
from duffdp.statistics.distribution import NoisyCells
from duffdp.statistics.program import OutputColumn, PostProcess
from duffdp.statistics.spec import Shape

SIZE_COLUMN, TOO_SMALL = "count", "too_small"  # the columns beside values
CellRow = tuple[Any, ...]  # for each column a value
CellRows = Sequence[CellRow]  # for each group
GroupSizes = tuple[int, ...]


class ReleasedValues(NamedTuple):
    """The value of a release, its columns, the cells of every group, and the noisy sizes of groups
    if they were drawn beside the values.
    """

    value: Any
    columns: tuple[OutputColumn, ...]
    cells: CellRows
    sizes: GroupSizes | None


def released_values(
    plan: DrawPlan, post_process: PostProcess | None, facts: Facts, result: Result, data: Any
) -> ReleasedValues:
    """The released values of drawn numbers; with groups, `value` is a frame like the data."""
    domain = facts.domain
    columns = plan.columns if post_process is None else post_process.columns(domain)
    names = frame_column_names(facts, columns) if facts.by else []
    rows: Sequence[Sequence[int]] = result.numbers
    rows, sizes = split_sizes(facts, rows)
    if not rows:  # no key was found
        values: list[list[object]] = [[] for _ in columns]
    elif post_process is None:
        numbers = rows.columns if isinstance(rows, RowsOfColumns) else zip(*rows, strict=True)
        readers = [
            number_reader(column, domain, len(rows) >= MIN_COLUMNAR_ROWS) for column in columns
        ]
        values = [list(read(column)) for read, column in zip(readers, numbers, strict=True)]
    else:
        values = list(
            map(list, zip(*(post_process.values(domain, row) for row in rows), strict=True))
        )
    is_distribution = columns[0].kind == "distribution"
    if is_distribution:
        assert isinstance(domain, Grid)
        values = [[Distribution(domain, *cells) for cells in cast(list[NoisyCells], values[0])]]
    cells: CellRows = (
        RowsOfColumns(values)
        if len(values[0]) >= MIN_COLUMNAR_ROWS
        else tuple(zip(*values, strict=True))
    )
    if facts.suppression is not None:
        cells = withhold_small_groups(facts, columns, cells, sizes)
    if facts.by and is_distribution:
        return ReleasedValues(values_by_key(facts, values[0]), columns, cells, sizes)
    if facts.by:
        if facts.suppression is None and sizes is None:
            frame = dict(zip(names, values, strict=True))
        else:
            frame = frame_columns(facts, names, cells, sizes)
        return ReleasedValues(data.answers(frame), columns, cells, sizes)
    step = columns_per_number(facts.interval)
    value = value_of_shape(plan.spec.shape, columns[::step], cells[0][::step])
    return ReleasedValues(value, columns, cells, sizes)


def number_reader(
    column: OutputColumn, domain: PublicSet, in_bulk: bool = False
) -> Callable[[Sequence[int]], Iterable[object]]:
    """The function from drawn numbers to released ones; `in_bulk` converts all at once."""
    if column.kind != "candidate":
        return partial(map, partial(max, 0))
    if in_bulk and isinstance(domain, Grid):
        return lambda numbers: domain.values(numbers).tolist()
    assert isinstance(domain, Domain)
    return partial(map, domain.value)


def value_of_shape(shape: Shape, columns: Sequence[OutputColumn], numbers: Sequence[Any]) -> Any:
    """The numbers of one group as one value, a list or a dictionary."""
    if shape == "dictionary":
        return dict(zip((column.name for column in columns), numbers, strict=True))
    return list(numbers) if shape == "list" else numbers[0]


def values_by_key(facts: Facts, values: list[Any]) -> dict[Any, Any]:
    """Values that no frame can hold, by the key of their group; a tuple for several columns."""
    keys = (key[0] if len(facts.by) == 1 else key for key in facts.keys)
    return dict(zip(keys, values, strict=True))


# The columns of a frame.


def frame_columns(
    facts: Facts, names: Sequence[str], cells: CellRows, sizes: GroupSizes | None
) -> dict[str, list[Any]]:
    """The columns of a frame: noisy sizes before the values, the mark `too_small` after them."""
    hidden = 1 if facts.suppression is not None else 0
    columns: list[list[Any]] = [[] for _ in range(len(names) - hidden - (sizes is not None))]
    if cells:
        columns = [list(column) for column in zip(*cells, strict=True)]
    if sizes is not None:
        columns = [list(sizes), *columns]
    if facts.suppression is not None:
        columns.append([is_withheld(facts, row) for row in cells])
    return dict(zip(names, columns, strict=True))


def frame_column_names(facts: Facts, columns: tuple[OutputColumn, ...]) -> list[str]:
    """The names of these columns; none is that of a key column, in any case."""
    size = (OutputColumn(SIZE_COLUMN),) if facts.has_sizes else ()
    small = () if facts.suppression is None else (OutputColumn(TOO_SMALL),)
    return unique_column_names((*size, *columns, *small), facts.by)


def unique_column_names(columns: tuple[OutputColumn, ...], by: tuple[str, ...]) -> list[str]:
    """Names of value columns that differ from those of key columns and from each other; some
    engines ignore case.
    """
    names, used_names = [], {name.casefold() for name in by}
    for column in columns:
        name = column.name
        while name.casefold() in used_names:
            name += "_value"
        names.append(name)
        used_names.add(name.casefold())
    return names


# Small groups: decided by released numbers alone.


def split_sizes(
    facts: Facts, numbers: Sequence[Sequence[int]]
) -> tuple[Sequence[Sequence[int]], GroupSizes | None]:
    """Drawn numbers without the noisy sizes of groups, and these, if they are the last number of
    each group.
    """
    if not facts.has_sizes:
        return numbers, None
    return [row[:-1] for row in numbers], tuple(max(0, row[-1]) for row in numbers)


def withhold_small_groups(
    facts: Facts, columns: Sequence[OutputColumn], cells: CellRows, sizes: GroupSizes | None
) -> tuple[CellRow, ...]:
    """Cells with None for the values of groups that are too small; a size among several numbers
    is not withheld.
    """
    if facts.suppression is None:
        return tuple(cells)
    below, own_size = facts.suppression
    step = columns_per_number(facts.interval)
    visible: range = range(0)
    if own_size is not None:
        place = [column.name for column in columns].index(own_size)
        sizes = tuple(row[place] for row in cells)
        if len(columns) > step:
            visible = range(place, place + step)
    assert sizes is not None
    return tuple(
        tuple(value if size >= below or i in visible else None for i, value in enumerate(row))
        for row, size in zip(cells, sizes, strict=True)
    )


def is_withheld(facts: Facts, row: CellRow) -> bool:
    """True if the values of a group are withheld."""
    return facts.suppression is not None and row[-1] is None
