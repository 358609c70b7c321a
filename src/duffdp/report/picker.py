"""Data for the script that compares two groups in a report."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from duffdp._pipeline.comparison import ComparedNumber, comparison
from duffdp._pipeline.number_text import PERCENT
from duffdp._pipeline.table import Table
from duffdp._text import visible
from duffdp.errors import DuffError

_MAX_GROUPS = 400  # in a list that people choose from
_ESCAPED = {ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"}


def picker_script() -> str:
    """The script of the picker, as a page has it between its tags."""
    return "\n" + Path(__file__).with_name("picker.js").read_text(encoding="utf-8")


def script_policy() -> str:
    """The part of a content security policy that lets the picker run, and no other script."""
    digest = hashlib.sha256(picker_script().encode()).digest()
    return f"script-src 'sha256-{base64.b64encode(digest).decode()}'"


def picker_data(table: Table) -> str | None:
    """JSON of every number that groups can be compared by; None if there is nothing to compare.

    A difference of two groups lies within `reach` of the difference of `centers`, or between the
    differences of `lows` and `highs`.
    """
    groups = [table.group_name(place) for place in range(len(table.keys))]
    if not 2 <= len(groups) <= _MAX_GROUPS:
        return None
    measures = []
    for measure in table.measures:
        for part, column in enumerate(table.shown_columns(measure)):
            numbers = table.compared_numbers(measure, part)[: len(groups)]
            if all(_is_plain(number.estimate.value) for number in numbers):
                entry = _entry(numbers)
                if entry is not None:
                    unit = column.format.unit
                    decimals = column.format.decimals
                    measures.append(
                        {
                            "name": visible(column.name),
                            "unit": visible(unit),
                            "scale": 100 if unit == PERCENT else 1,
                            "decimals": 2 if decimals is None else decimals,
                            **entry,
                        }
                    )
    if not measures:
        return None
    data = {"groups": list(map(visible, groups)), "measures": measures}
    return json.dumps(data, ensure_ascii=False).translate(_ESCAPED)


def _entry(numbers: Sequence[ComparedNumber]) -> dict[str, Any] | None:
    """The numbers of one column: values, and what their differences lie between."""
    try:
        first = comparison(("", ""), (), [(numbers[0], numbers[1])], None, "")
    except DuffError:
        return None
    values = [float(number.estimate.value) for number in numbers]
    if first.confidence is None:
        return None
    entry: dict[str, Any] = {"values": values, "confidence": 100 * first.confidence}
    rate = 1 - Fraction(str(first.confidence))
    reach = numbers[0].reach(numbers[1], rate)
    if reach is not None:
        centers = [number.center for number in numbers]
        return entry | {"centers": list(map(float, centers)), "reach": float(reach)}
    ends = [
        (number.ends(rate / 2) if first.exact else None)
        or (number.estimate.low, number.estimate.high)
        for number in numbers
    ]
    if any(low is None for low, _ in ends):
        return None
    lows, highs = zip(*ends, strict=True)
    return entry | {"lows": list(map(float, lows)), "highs": list(map(float, highs))}


def _is_plain(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)
