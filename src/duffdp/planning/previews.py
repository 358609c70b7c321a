"""What to expect of every release of a plan or a table, from public facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from duffdp.errors import DuffError
from duffdp.parameters import read_group_size
from duffdp.pipeline.ask import Ask
from duffdp.pipeline.columnar import TOO_FEW, Columns
from duffdp.pipeline.recipe import SIZE_SHARE
from duffdp.planning.accuracy import MOST, Preview, preview
from duffdp.planning.question import SYNTHETIC

NAMES = ("release", "output", "epsilon", "mean error", "95 % within", "interval width", "note")


def previews(asks: Iterable[Ask], group_size: Any, shape: str, draws: int) -> Columns:
    """A row for every number of every release: its share of epsilon, and how it would err."""
    size = read_group_size(group_size)
    rows: list[tuple[Any, ...]] = []
    for ask in asks:
        if ask.margin is None:
            rows += _expected(ask, size, shape, draws)
    caption = f"groups of {size} records, shape {shape!r}. {SYNTHETIC}"
    return Columns(dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True)), caption)


def _expected(ask: Ask, size: int, shape: str, draws: int) -> list[tuple[Any, ...]]:
    name, epsilon = ask.title, float(ask.epsilon)
    try:
        seen = preview_of(ask, size, shape, draws)
    except DuffError as error:  # no shape stands for words, dates and graphs
        return [(name, None, epsilon, None, None, None, str(error))]
    rows = []
    for output in seen.outputs:
        asked, width, note = (ask.mechanism, output), None, None
        if ask.interval is not None:
            few = seen.too_few(*asked) > MOST
            width, note = (None, TOO_FEW) if few else (seen.expected_width(*asked), None)
        errors = (seen.expected_error(*asked), seen.error_within(ask.mechanism, 0.95, output))
        rows.append((name, output, epsilon, *errors, width, note))
    return rows


def preview_of(ask: Ask, size: int, shape: str, draws: int) -> Preview:
    """How one release would err for so many records of a shape."""
    made = ask.check().recipe
    sized = made.suppression is not None and made.suppression.own is None
    return preview(
        shape,
        epsilon=ask.epsilon * (1 - SIZE_SHARE) if sized else ask.epsilon,
        statistic=ask.statistic,
        bounds=ask.bounds,
        step=ask.step,
        categories=ask.categories,
        contributions=made.unit.rows,
        interval=ask.interval,
        covers=ask.covers,
        mechanisms=[ask.mechanism],
        group_size=size,
        data_sets=2,
        draws=draws,
        **{name: value for name, value in ask.parameters.items() if value is not None},
    )
