"""One picture for each release that has one to show."""

from __future__ import annotations

from typing import NamedTuple

from duffdp.domain import Membership
from duffdp.report.bars import bars
from duffdp.report.blocks import Block
from duffdp.report.plot import BOX, Picture, points
from duffdp.report.steps import steps
from duffdp.report.values import Finding

MOST_DISTRIBUTIONS = 6


class Figure(NamedTuple):
    """A picture under its caption."""

    caption: str
    svg: str


def figures(block: Block) -> list[Figure]:
    """The pictures of a block, in the order of its releases."""
    return [figure for found in block.findings for figure in _figures(block, found)]


def _figures(block: Block, found: Finding) -> list[Figure]:
    release = found.release
    if release.unit.kind == "edge":
        return []  # the most triangles that a graph could have say nothing about how many it has
    groups = [", ".join(key) for key in block.keys]
    if release.has_distributions:
        shares = [whole for (whole,) in release.cells]
        if len(shares) > MOST_DISTRIBUTIONS:
            return []
        return [
            Figure(f"{found.heading}{f', {group}' if group else ''}", steps(whole, group))
            for group, whole in zip(groups, shares, strict=True)
        ]
    found = found._replace(fields=[field for field in found.fields if not field.beside])
    picture = _bars(groups, found) or _points(block, groups, found)
    if picture is None:
        return []
    said = [found.heading, _legend(found), picture.note]
    return [Figure(". ".join(filter(None, said)), picture.svg)]


def _legend(found: Finding) -> str:
    """What lines and boxes stand for."""
    if found.release.confidence is not None:
        return f"Lines are intervals of {100 * found.release.confidence:.6g} % each"
    names = [field.name for field in found.fields if field.kind == "candidate"]
    if len(names) < 2 or len(names) < len(found.fields) - 1:
        return ""
    if len(names) == BOX:
        return f"Line {names[0]} to {names[-1]}, box {names[1]} to {names[3]}, dot {names[2]}"
    return f"Dots {', '.join(names)}"


def _bars(groups: list[str], found: Finding) -> Picture | None:
    """Bars for what has several counts, and for shares."""
    share = isinstance(found.release.domain, Membership)
    counts = {field.kind for field in found.fields} == {"count"} and len(found.fields) > 1
    if not share and not counts:
        return None
    labels, numbers = [], []
    for at, group in enumerate(groups):
        for field in found.fields:
            labels.append(", ".join(filter(None, (group, field.name))))
            numbers.append(field.numbers[at])
    return bars(labels, numbers, found.heading, most=1 if share else None)


def _points(block: Block, groups: list[str], found: Finding) -> Picture | None:
    """Of several numbers those that are possible answers: they have one axis."""
    several = len(found.fields) > 1
    fields = [field for field in found.fields if not several or field.kind == "candidate"]
    if not fields or (not block.by and fields[0].kind in ("count", "number")):
        return None  # one number by itself needs no picture
    rows = [
        [field.numbers[at]._replace(too_few=small) for field in fields]
        for at, small in enumerate(block.too_small)
    ]
    return points(groups, rows, fields[0].kind, found.release.domain, found.heading)
