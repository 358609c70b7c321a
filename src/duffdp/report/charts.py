"""Charts of released numbers: points with intervals, bars, and distributions with their bands."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from duffdp._pipeline.distribution import Distribution
from duffdp._pipeline.number_text import PERCENT
from duffdp._pipeline.release import Release
from duffdp._text import parameter_text, visible
from duffdp.domain import Categories, Digits, Membership, Ordered, PublicSet
from duffdp.report.formats import candidate_text
from duffdp.report.results import ReleasedNumber, ReleaseResult, ResultTable
from duffdp.report.svg import circle, line, polygon, polyline, rectangle, svg, text
from duffdp.statistics.program import NumberKind
from duffdp.statistics.registry import REGISTRY, statistic_spec

_MAX_ROWS = 40
_MAX_CATEGORIES = 6
_MAX_DISTRIBUTIONS = 6
_MAX_CHART_LABEL = 22  # letters
_BOX = 5  # numbers of a box plot: ends, quartiles, middle
_LEVELS = (0, 0.25, 0.5, 0.75, 1)  # of shares, at the side of a distribution
# In pixels; a letter at 12 px is so wide on average.
_WIDTH, _TOP, _RIGHT, _FOOT, _LETTER = 440, 12, 26, 28, 6.6
_ROW, _BAR, _WHISKER, _NUMBER_ROOM = 24, 14, 4, 60
_LANE = 9  # of one number among several with intervals in a row
_DISTRIBUTION_HEIGHT = 150
_SMALL_WIDTH, _SMALL_HEIGHT = 96, 24
_AXIS_ROOM = 0.04  # of an axis, beyond the largest number
Ticks = list[tuple[float, str]]  # where, and what is written there


class Chart(NamedTuple):
    """A picture, and a note about its axis."""

    svg: str
    note: str = ""


class Figure(NamedTuple):
    """A picture with its caption."""

    caption: str
    svg: str


class Axis(NamedTuple):
    """Ticks at positions of an axis from 0 to 1, the position of a number, and a note."""

    ticks: Ticks
    share: Callable[[Any], float]
    note: str = ""


def figures(table: ResultTable) -> list[Figure]:
    """The figures of a table of results, in the order of its releases."""
    if table.crossed:
        return []
    return [
        figure
        for result in table.results
        if not result.is_picture or result.release.has_distributions
        for figure in _figures(table, result)
    ]


def _figures(table: ResultTable, result: ReleaseResult) -> list[Figure]:
    release = result.release
    if release.unit.kind == "edge":
        return []  # the largest possible count of triangles says nothing about a likely one
    groups = [", ".join(key) for key in table.keys]
    if release.noisy is not None and any(map(any, table.combined)) and _is_additive(release):
        table, result = _without_margins(table, result)  # a total would make the others small
        groups = [", ".join(key) for key in table.keys]
    if release.has_distributions:
        distributions = [cell for (cell,) in release.cells]
        if len(distributions) > _MAX_DISTRIBUTIONS:
            return []
        return [
            Figure(
                f"{result.heading}{f', {group}' if group else ''}",
                distribution_chart(distribution, group),
            )
            for group, distribution in zip(groups, distributions, strict=True)
        ]
    result = result._replace(
        columns=[column for column in result.columns if not column.is_group_size]
    )
    chart = _bars(table, groups, result) or _points(table, groups, result)
    if chart is None:
        return []
    units = {column.unit for column in result.columns} - {"", PERCENT}
    heading = f"{result.heading} ({', '.join(units)})" if len(units) == 1 else result.heading
    caption = [heading, _legend(table, result), chart.note]
    return [Figure(". ".join(filter(None, caption)), chart.svg)]


def _is_additive(release: Release) -> bool:
    name = release.statistic.name
    return name in REGISTRY and statistic_spec(name).additive


def _without_margins(
    table: ResultTable, result: ReleaseResult
) -> tuple[ResultTable, ReleaseResult]:
    """The table and one of its results without the rows that combine groups."""
    rows = [i for i, combined in enumerate(table.combined) if not any(combined)]
    columns = [
        column._replace(numbers=[column.numbers[i] for i in rows]) for column in result.columns
    ]
    small = [table.too_small[i] for i in rows]
    leaves = table._replace(keys=[table.keys[i] for i in rows], too_small=small)
    return leaves, result._replace(columns=columns)


def _legend(table: ResultTable, result: ReleaseResult) -> str:
    """The meaning of lines and boxes."""
    if result.release.confidence is not None:
        has_lines = any(
            number.span is not None
            for column in result.columns
            for number, small in zip(column.numbers, table.too_small, strict=True)
            if not small
        )
        scope = "together" if result.release.simultaneous else "each"
        legend = f"Lines are intervals of {100 * result.release.confidence:.6g}% {scope}"
        return legend if has_lines else ""
    names = [column.name for column in result.columns if column.kind == "candidate"]
    if len(names) < 2 or len(names) < len(result.columns) - 1:
        return ""
    if len(names) == _BOX:
        return f"Line {names[0]} to {names[-1]}, box {names[1]} to {names[3]}, dot {names[2]}"
    return f"Dots {', '.join(names)}"


def _bars(table: ResultTable, groups: list[str], result: ReleaseResult) -> Chart | None:
    """Bars for several counts, and for shares."""
    share = isinstance(result.release.domain, Membership)
    counts = {column.kind for column in result.columns} == {"count"} and len(result.columns) > 1
    if not share and not counts:
        return None
    labels, numbers = [], []
    has_several = len(result.columns) > 1
    for i, group in enumerate(groups):
        for column in result.columns:
            labels.append(", ".join(filter(None, (group, column.name if has_several else ""))))
            # As in the table beside it, which hides the numbers of a group that is too small.
            numbers.append(column.numbers[i]._replace(too_few=table.too_small[i]))
    percent = any(column.unit == PERCENT for column in result.columns)
    return bar_chart(labels, numbers, result.heading, upper=1 if share else None, percent=percent)


def _points(table: ResultTable, groups: list[str], result: ReleaseResult) -> Chart | None:
    """Points for one number of each group, or for several that are candidates of one domain."""
    has_several = len(result.columns) > 1
    columns = [column for column in result.columns if not has_several or column.kind == "candidate"]
    if not columns or (not table.by and columns[0].kind in ("count", "number")):
        return None  # a single number needs no picture
    rows = [
        [column.numbers[i]._replace(too_few=small) for column in columns]
        for i, small in enumerate(table.too_small)
    ]
    return point_chart(groups, rows, columns[0].kind, result.release.domain, result.heading)


def bar_chart(
    labels: list[str],
    numbers: list[ReleasedNumber],
    title: str,
    upper: float | None = None,
    percent: bool = False,
) -> Chart | None:
    """A bar for each number, with a line for its interval, on an axis that holds 0 (and `upper`).

    Numbers of too few records are replaced by words. None for a single number, or if there are too
    many to read.
    """
    if not 1 < len(numbers) <= _MAX_ROWS:
        return None
    short = [_shortened(label, _MAX_CHART_LABEL) for label in labels]
    margin = 20 + _LETTER * max(map(len, short))
    values = [
        value
        for number in numbers
        if not number.too_few
        for value in (number.value, *(number.span or ()))
    ]
    low: float = min([0, *values])
    high: float = max([0, *values]) if upper is None else upper
    high = high if high > low else 1
    width = _WIDTH - margin - _RIGHT - _NUMBER_ROOM
    step = _round_step((high - low) / 5)
    if upper is None:
        step = max(1, step)  # counts are whole
    base = _TOP + _ROW * len(short)

    def place(value: float) -> float:
        return margin + width * (value - low) / (high - low)

    steps = range(-int(-low // step), int(high / step + 1e-9) + 1)
    scale = 100 if percent else 1
    ticks = [(place(i * step), f"{scale * i * step:,.12g}") for i in steps]
    if percent:
        ticks[-1] = (ticks[-1][0], f"{ticks[-1][1]}%")
    parts = _marks(ticks, base)
    for i, (label, number) in enumerate(zip(short, numbers, strict=True)):
        y = _TOP + _ROW * (i + 0.5)
        parts.append(text(label, (margin - 10, y + 4), anchor="end"))
        if number.too_few:
            parts.append(text(number.too_few_words, (place(0) + 8, y + 4), "axis"))
            continue
        begin, end = sorted((place(0), place(number.value)))
        parts.append(rectangle("value", (begin, y - _BAR / 2), end - begin, _BAR, radius=2))
        if number.span is not None:
            first, last = map(place, number.span)
            end = max(end, last)
            parts.append(
                f'<path class="ends" d="M{first:.1f} {y - _WHISKER:.1f}v{2 * _WHISKER}'
                f'm0 {-_WHISKER}H{last:.1f}m0 {-_WHISKER}v{2 * _WHISKER}"/>'
            )
        parts.append(text(number.text, (end + 8, y + 4), "number"))
    described = "; ".join(
        f"{label} {number.line()}" for label, number in zip(labels, numbers, strict=True)
    )
    return Chart(svg(_WIDTH, base + _FOOT, f"{title}: {described}", parts))


def point_chart(
    labels: list[str],
    rows: list[list[ReleasedNumber]],
    kind: NumberKind,
    domain: PublicSet,
    title: str,
) -> Chart | None:
    """A row for each label with a dot for each of its numbers, and a line for its interval.

    Intervals of several numbers overlap, so each has a lane of its own; five numbers without
    intervals are a line with a box between the quartiles. None if there are no rows, or too many to
    read.
    """
    numbers = [number for row in rows for number in row if not number.too_few]
    if not 0 < len(labels) <= _MAX_ROWS:
        return None
    short = [_shortened(label, _MAX_CHART_LABEL) for label in labels]
    margin = 20 + _LETTER * max(map(len, short))
    axis = _axis(kind, domain, numbers)
    if axis is None:
        return None
    has_intervals = any(number.span is not None for number in numbers)
    lanes = len(rows[0]) if has_intervals else 1
    row_height = _ROW + _LANE * (lanes - 1)
    width, base = _WIDTH - margin - _RIGHT, _TOP + row_height * len(labels)
    parts = _marks([(margin + share * width, mark) for share, mark in axis.ticks], base)
    for i, (label, row) in enumerate(zip(short, rows, strict=True)):
        y = _TOP + row_height * (i + 0.5)
        parts.append(text(label, (margin - 10, y + 4), anchor="end"))
        if all(number.too_few for number in row):
            parts.append(text(row[0].too_few_words, (margin + width / 2, y + 4), "axis", "middle"))
            continue
        parts.append(line("row", (margin, y), (margin + width, y)))
        across = [margin + width * axis.share(number.value) for number in row]
        if has_intervals:
            for lane, (number, x) in enumerate(zip(row, across, strict=True)):
                height = y + _LANE * (lane - (lanes - 1) / 2)
                if number.span is not None:
                    first, last = (margin + width * axis.share(end) for end in number.span)
                    parts.append(line("span", (first, height), (last, height)))
                parts.append(circle("value", (x, height), 4.5 if lanes == 1 else 3.5))
            continue
        if min(across) < max(across):
            parts.append(line("span", (min(across), y), (max(across), y)))
        if len(row) == _BOX:
            parts.append(rectangle("band", (across[1], y - 7), across[3] - across[1], 14, radius=2))
            across = across[2:3]
        parts += [circle("value", (x, y), 4.5) for x in across]
    described = "; ".join(
        f"{label} {', '.join(number.line() for number in row)}".strip()
        for label, row in zip(labels, rows, strict=True)
    )
    return Chart(svg(_WIDTH, base + _FOOT, f"{title}: {described}", parts), axis.note)


def distribution_chart(distribution: Distribution, label: str) -> str:
    """The share of records up to every value, with the band around it."""
    margin = 24 + _LETTER * 5
    width, base = _WIDTH - margin - _RIGHT, _TOP + _DISTRIBUTION_HEIGHT
    first, last = distribution.axis()

    def across(place: int) -> float:
        return margin + width * min(max((place - first) / (last - first), 0.0), 1.0)

    def up(share: float) -> float:
        return base - _DISTRIBUTION_HEIGHT * share

    ticks = _ticks_between(distribution.domain, float(first), float(last))
    parts = _marks([(margin + share * width, mark) for share, mark in ticks], base)
    for level in _LEVELS:
        parts.append(line("row", (margin, up(level)), (margin + width, up(level))))
        parts.append(text(parameter_text(level), (margin - 8, up(level) + 4), "axis", "end"))
    outline = distribution.outline()
    upper = [(across(place), up(high)) for place, _, high in outline]
    lower = [(across(place), up(low)) for place, low, _ in outline]
    shares = [
        (across(end), up(step.cdf))
        for end, step in zip(distribution.ends, distribution.steps(), strict=True)
    ]
    parts += [polygon("band", [*upper, *lower[::-1]]), polyline("steps", shares)]
    group = f": {label}" if label else ""
    description = f"The share of records up to a value, with its band{group}"
    return svg(_WIDTH, base + _FOOT, description, parts)


def small_picture(result: ReleaseResult, numbers: list[ReleasedNumber]) -> str:
    """The numbers of one group in a cell: bars for counts, each scaled to the highest of its group;
    a line, a box and a dot for quantiles, on the axis that all groups share.
    """
    described = "; ".join(
        f"{column.name} {number.line()}"
        for column, number in zip(result.columns, numbers, strict=True)
    )
    if all(column.kind == "count" for column in result.columns):
        return svg(_SMALL_WIDTH, _SMALL_HEIGHT, described, _small_bars(numbers), "small")
    return svg(_SMALL_WIDTH, _SMALL_HEIGHT, described, _small_box(result, numbers), "small")


def _small_bars(numbers: list[ReleasedNumber]) -> list[str]:
    values = [max(0.0, float(number.value)) for number in numbers]
    highest = max(values) or 1.0
    wide, room = _SMALL_WIDTH / len(values), _SMALL_HEIGHT - 2
    parts = [line("tick", (0, _SMALL_HEIGHT - 1), (_SMALL_WIDTH, _SMALL_HEIGHT - 1))]
    for i, (value, number) in enumerate(zip(values, numbers, strict=True)):
        tall = round(room * value / highest, 1)
        corner = (i * wide + 0.5, room + 1 - tall)
        parts.append(rectangle("value", corner, wide - 1, tall, title=number.line()))
    return parts


def _small_box(result: ReleaseResult, numbers: list[ReleasedNumber]) -> list[str]:
    domain = result.release.domain

    assert isinstance(domain, Ordered)

    def place(value: Any) -> float:
        return float(domain.index(value) if domain.timed else value)

    every = [place(one.value) for c in result.columns for one in c.numbers if one.value is not None]
    low, high = min(every), max(every)
    room, y = _SMALL_WIDTH - 8, _SMALL_HEIGHT / 2
    across = [4 + room * (place(number.value) - low) / ((high - low) or 1.0) for number in numbers]
    middle = len(across) // 2
    quarter = len(across) // 4
    box = rectangle(
        "band", (across[quarter], y - 5), across[-1 - quarter] - across[quarter], 10, radius=1
    )
    return [
        line("row", (0, y), (_SMALL_WIDTH, y)),
        line("span", (across[0], y), (across[-1], y)),
        box,
        circle("value", (across[middle], y), 3),
    ]


# Axes.


def _marks(ticks: Ticks, base: float) -> list[str]:
    """Lines from the top to the base with their texts, none written over another."""
    parts, free = [], 0.0
    for x, mark in ticks:
        parts.append(line("tick", (x, _TOP - 6), (x, base + 4)))
        half = _LETTER * len(mark) / 2
        anchor = "end" if x > _WIDTH - half else "middle"  # a long text stays inside
        begin = x - half * (2 if anchor == "end" else 1)
        if begin >= free:
            free = begin + 2 * half + 4
            parts.append(text(mark, (x, base + 19), "axis", anchor))
    return parts


def _shortened(label: str, limit: int) -> str:
    label = visible(label)
    return label if len(label) <= limit else label[: limit - 1] + "…"


def _axis(kind: NumberKind, domain: PublicSet, numbers: list[ReleasedNumber]) -> Axis | None:
    """The axis of these numbers; None for values that are no numbers."""
    if kind == "candidate" and isinstance(domain, Categories):
        if domain.size > _MAX_CATEGORIES:
            return None
        letters = max(3, int(300 / domain.size / _LETTER))
        ticks = [
            ((i + 0.5) / domain.size, _shortened(str(value), letters))
            for i, value in enumerate(domain)
        ]
        return Axis(ticks, lambda value: (domain.index(value) + 0.5) / domain.size)
    if kind == "candidate" and isinstance(domain, Ordered) and domain.timed:
        return _time_axis(domain)
    values = [
        float(value)
        for number in numbers
        for value in (number.value, *(number.span or ()))
        if isinstance(value, int | float | Decimal)
    ]
    if len(values) < len(numbers):
        return None
    without_zero = (
        kind == "candidate"
        and isinstance(domain, Ordered)
        and not isinstance(domain, Digits)
        and not float(domain.lower) <= 0 <= float(domain.upper)
    )
    if without_zero:
        assert isinstance(domain, Ordered)
        low, high = float(domain.lower), float(domain.upper)
        lower = candidate_text(domain.lower, domain)
        note = f"The axis is the public range, from {lower}, without zero."
        return Axis(_ticks(low, high), lambda value: (float(value) - low) / (high - low), note)
    low, high = min(0.0, *values, 0.0), max(0.0, *values, 0.0)
    high = high if high > low else 1.0
    room = _AXIS_ROOM * (high - low)
    low, high = low - (room if low < 0 else 0), high + (room if high > 0 else 0)
    return Axis(_ticks(low, high), lambda value: (float(value) - low) / (high - low))


def _time_axis(domain: Ordered) -> Axis:
    """The public range of dates and times, which have no zero."""
    last = float(domain.size - 1) or 1.0
    note = "The axis is the public range; dates have no zero."
    return Axis(_ticks_between(domain, 0.0, last), lambda value: domain.index(value) / last, note)


def _ticks(low: float, high: float) -> Ticks:
    step = _round_step((high - low) / 5)
    multiples = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [((i * step - low) / (high - low), f"{i * step:,.15g}") for i in multiples]


def _ticks_between(domain: Ordered, low: float, high: float) -> Ticks:
    """Ticks of an axis from one candidate's index to another's."""
    span = high - low
    if domain.timed or isinstance(domain, Digits):
        places = [round(low + span * i / 3) for i in range(4)]
        return [
            ((place - low) / span, candidate_text(domain.value(place), domain)) for place in places
        ]
    first, width = float(domain.lower) + low * domain.spacing, span * domain.spacing
    return _ticks(first, first + width)


def _round_step(rough: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * (1 - 1e-9))
