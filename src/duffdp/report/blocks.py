"""What was found: releases with the same groups stand in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from duffdp.errors import DuffError
from duffdp.pipeline.outcome import Release
from duffdp.pipeline.suppression import TOO_SMALL
from duffdp.pipeline.table import ALL, Table
from duffdp.report.values import Field, Finding, Number, finding
from duffdp.statistics.registry import REGISTRY, entry

MOST_ACROSS = 14  # with more numbers a group has a line for each of them
Named = list[tuple[str, Release]]


class Block(NamedTuple):
    """Findings about the same groups: a line for each group, its keys as text (none without
    groups).
    """

    heading: str
    by: tuple[str, ...]
    keys: list[list[str]]
    findings: list[Finding]
    too_small: list[bool]  # lines about which nothing can be told
    margins: list[bool]  # lines that take groups together
    notes: list[str]  # what has to be known to read it

    @property
    def across(self) -> int:
        """How many numbers a group has."""
        return sum(len(found.fields) for found in self.findings)

    @property
    def alone(self) -> Number | None:
        """The only number of the block, if it has one."""
        single = not self.by and self.across == 1
        return self.findings[0].fields[0].numbers[0] if single else None

    @property
    def wide(self) -> bool:
        """Whether a group has one line, with all its numbers across."""
        return bool(self.by) and self.across <= MOST_ACROSS

    @property
    def split(self) -> bool:
        """Whether a release has several numbers, and the head of a wide table two lines."""
        return any(len(found.fields) > 1 for found in self.findings)

    def lines(self) -> list[tuple[list[str], list[Number], bool, bool]]:
        """Keys, numbers, whether it is too small and whether it is a margin: of every group, or,
        where that were too wide, of every number, the name of which is the last of the keys.
        """
        fields = [(found, field) for found in self.findings for field in found.fields]
        lines = []
        for at, key in enumerate(self.keys):
            marks = self.too_small[at], self.margins[at]
            if self.wide:
                lines.append((key, [field.numbers[at] for _, field in fields], *marks))
                continue
            for found, field in fields:
                lines.append(([*key, self._line(found, field)], [field.numbers[at]], *marks))
        return lines

    def columns(self) -> list[str]:
        """The names over `lines`."""
        if self.wide:
            names = [
                f"{found.heading} {field.name}".rstrip()
                for found in self.findings
                for field in found.fields
            ]
            return [*self.by, *names]
        if self.alone is not None:
            return [self.findings[0].release.title.lower()]
        name = self.findings[0].release.statistic.name
        single = len(self.findings) == 1 and name in REGISTRY
        return [*self.by, (entry(name).lines if single else "") or "number", "value"]

    def _line(self, found: Finding, field: Field) -> str:
        if len(self.findings) == 1:
            return field.name or found.release.title
        return f"{found.heading} {field.name}".rstrip()


def blocks(releases: Any) -> tuple[list[Block], Named]:
    """What was found, and every release under its name, margins under that of what they are of: of
    a table, of one release, a list of them or a mapping from headings to them.
    """
    if isinstance(releases, Table):
        measures = releases.measures
        return [_of_table(releases)], [
            (m.name, release) for m in measures for release in (m.release, *m.margins)
        ]
    named = _named(releases)
    together: dict[Any, Named] = {}
    for at, (heading, release) in enumerate(named):
        groups = (release.by, release.keys) if release.grouped else at
        together.setdefault(groups, []).append((heading, release))
    return [_of_releases(each) for each in together.values()], named


def _named(releases: Any) -> Named:
    """Headings and releases; without headings, the statistics and their order."""
    if isinstance(releases, Mapping):
        given = [(str(heading), release) for heading, release in releases.items()]
    elif isinstance(releases, Release):
        given = [("", releases)]
    elif isinstance(releases, Sequence) and not isinstance(releases, str):
        given = [("", release) for release in releases]
    else:
        given = [("", None)]
    if not given or not all(isinstance(release, Release) for _, release in given):
        raise DuffError(
            "releases must be a Table, a Release, a list of them or a mapping from headings to "
            "them. Pass what table() or median() returned."
        )
    return [(_heading(heading, release), release) for heading, release in given]


def _heading(given: str, release: Release) -> str:
    name = release.title
    if not given:
        return name
    if name.lower() in given.lower():
        return f"{given[0].upper()}{given[1:]}"
    return f"{given}: {name.lower()}"


def _of_releases(named: Named) -> Block:
    """Releases with the same groups, or one without."""
    first = named[0][1]
    keys = [list(map(str, key)) for key in first.keys] or [[]]
    findings = [finding(heading, release, release.cells) for heading, release in named]
    heading = named[0][0] if len(named) == 1 else f"By {', '.join(first.by)}"
    # Where one number could be anything, the others of the group are noise as well.
    small = [any(few) for few in zip(*(release.too_few() for _, release in named), strict=True)]
    below = dict.fromkeys(release.suppress_below for _, release in named)
    notes = [
        f"Too few to tell: the noisy count is below {least:,}."
        for least in below
        if least is not None and any(small)
    ]
    return Block(heading, first.by, keys, findings, small, [False] * len(keys), notes)


def _of_table(table: Table) -> Block:
    columns = table.wide()
    keys = [list(key) for key in zip(*(columns[name] for name in table.by), strict=True)]
    findings = []
    for measure in table.measures:
        rows = list(zip(*(columns[name] for name in measure.columns), strict=True))
        findings.append(finding(measure.name, measure.release, rows))
    margins = [None in key for key in keys] or [False]
    said = [[ALL if part is None else str(part) for part in key] for key in keys] or [[]]
    heading = f"By {', '.join(table.by)}" if table.by else "In all"
    small, notes = columns[TOO_SMALL], []
    if any(small):
        notes.append(
            f"Too few to tell: the noisy count is below {table.smallest:,}, or an interval is all "
            "that could come out."
        )
    if any(margins):
        notes.append(
            f"“{ALL}” takes groups together: counts and sums are added up from the lines above, "
            "which costs nothing, and the rest was drawn again."
        )
    return Block(heading, table.by, said, findings, small, margins, notes)
