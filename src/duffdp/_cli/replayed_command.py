"""`duffdp audit --replay COMMAND`: another command, replayed on neighbors of its own data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from duffdp._cli.app import STATISTIC_COMMANDS
from duffdp._cli.source import data_source, with_path
from duffdp._cli.statistics import check_options, statistic_command
from duffdp._engines.files.text_file import TextFile
from duffdp._engines.sql.query import OpenSources, Query
from duffdp._pipeline.request import CheckedRequest
from duffdp._pipeline.run import PreparedRelease, make_releases
from duffdp._pipeline.text_values import with_values
from duffdp.audit.neighbor_tables import neighbor_files
from duffdp.audit.replay import Replay, replay
from duffdp.domain import Grid
from duffdp.statistics.registry import statistic_spec

BEYOND_CAP = 3  # rows of the joining person that do not count


class _Call(NamedTuple):
    """A command that can be run on other data."""

    run: Callable[..., Any]
    source: Any
    requests: Sequence[CheckedRequest]


def replay_command(words: Sequence[str]) -> Iterator[tuple[str, Replay]]:
    """The replays of a command on neighbors of its data, with a title each."""
    call = _read_command(words)
    file = call.source
    while isinstance(file, Query):
        file = file.data
    path = Path(file.path if isinstance(file, TextFile) else file)
    skip_rows = file.skip_rows if isinstance(file, TextFile) else 0
    for request in _by_column(call.requests):
        selection, domain = request.selection, request.domain
        values: list[Any] = [""]
        if isinstance(domain, Grid):
            values = [domain.lower, domain.upper, ""]
        unit = request.terms.unit(None)
        column = selection.values[0] if selection.values else None
        with tempfile.TemporaryDirectory(prefix="duffdp-") as folder:
            pairs = neighbor_files(
                path,
                Path(folder),
                column=column,
                values=values,
                unit=selection.unit,
                rows=unit.rows + BEYOND_CAP,
                skip_rows=skip_rows,
            )
            for pair in pairs:
                data, neighbor = (
                    with_path(call.source, str(changed)) for changed in (pair.data, pair.neighbor)
                )
                yield f"{words[0]} {column or ''}: {pair.title}", replay(call.run, data, neighbor)


def _read_command(words: Sequence[str]) -> _Call:
    name, *arguments = words
    if name in STATISTIC_COMMANDS:
        spec = statistic_spec(STATISTIC_COMMANDS[name])
        options = _parsed(statistic_command(STATISTIC_COMMANDS[name]), name, arguments)
        checked = check_options(spec, options)
        source = options["data"] if spec.of_graphs else data_source(options)

        def run(data: object, rng: object) -> Any:
            sources = OpenSources()
            request = with_values(checked, data, sources)
            prepared = PreparedRelease.of(request, data, rng, sources)
            return make_releases([prepared], None)

        return _Call(run, source, [checked])
    if name not in ("release", "table"):
        raise click.UsageError(f"--replay takes a statistic, 'release' or 'table', got {name!r}.")
    from duffdp._cli import plans
    from duffdp._planning.plan import Plan
    from duffdp._planning.table_plan import TablePlan

    options = _parsed(getattr(plans, name), name, arguments)
    planned: Any = (Plan if name == "release" else TablePlan).from_toml(options["plan"])
    inner = planned if name == "release" else planned.plan
    source = inner.source
    if options["source"] is not None:
        source = with_path(source, options["source"])
    return _Call(lambda data, rng: planned.run(data, rng=rng), source, inner.releases)


def _parsed(command: click.Command, name: str, arguments: list[str]) -> dict[str, Any]:
    """The options of a command, which is not run."""
    with command.make_context(name, arguments) as context:
        return dict(context.params)


def _by_column(requests: Sequence[CheckedRequest]) -> list[CheckedRequest]:
    """One request for each column: a record of any of them may join."""
    return list({tuple(request.selection.values): request for request in requests}.values())
