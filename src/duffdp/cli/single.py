"""What the commands for one statistic do with their options. Imports wait until a command runs: `--help` needs none of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from duffdp.cli.options import Format
from duffdp.errors import DuffError


def opened_ledger(path: Path | None, dataset: str | None, call_id: str | None) -> Any:
    """The ledger that the options name, if any."""
    if path is None:
        if dataset is not None or call_id is not None:
            raise DuffError("--dataset and --call-id need a ledger. Pass for example --ledger budget.db.")
        return None
    from duffdp.ledger import Ledger

    ledger = Ledger(path, dataset=dataset)
    return ledger if call_id is None else ledger.call(call_id)


def check_report(page: Path | None) -> None:
    """Fail before anything is charged if the page could not be written."""
    if page is not None:
        from duffdp.cli.shown import check_writable
        from duffdp.report.page import check_page

        check_writable(page)
        check_page(page)


def write_report(tasks: list[Any], releases: list[Any], page: Path, ledger: Any) -> None:
    """The page about releases."""
    from duffdp.report import write

    write({task.title: release for task, release in zip(tasks, releases, strict=True)}, page, ledger=ledger)


def release_statistic(
    statistic: str, given: dict[str, Any], q: Any = None, categories: str | None = None
) -> None:  # fmt: skip
    """Make the releases of one command; `given` are the options as the command got them."""
    from duffdp.cli.shown import check_format, show
    from duffdp.cli.source import opened
    from duffdp.cli.task import Task, carry_out
    from duffdp.cli.values import listed, value
    from duffdp.mechanisms.mechanism import read_epsilon

    form, out, report = given["form"], given["out"], given["report"]
    if out is not None and form is Format.table and out.suffix[1:] in Format.__members__:
        form = Format[out.suffix[1:]]  # the name of the file says which kind is wanted
    check_format(form, out)
    check_report(report)
    options = {name: given[name] for name in ("unit", "contributions")}
    if "mechanism" in given:
        options["mechanism"] = str(given["mechanism"])
    if given["bounds"] is not None:
        options["bounds"] = tuple(value(text) for text in given["bounds"])
    if given["step"] is not None:
        options["step"] = value(given["step"])
    task = Task(
        statistic, read_epsilon(given["epsilon"]), given["column"], q, list(given["by"] or []),
        [listed(text) for text in given["keys"] or []], None if categories is None else listed(categories), options,
    )  # fmt: skip
    ledger = opened_ledger(given["ledger"], given["dataset"], given["call_id"])
    with opened(given["data"], task.columns, {task.value}) as source:
        releases = carry_out([task], source, ledger)
        show(releases, [""] * len(releases), form, out)
        if report is not None:
            write_report([task], releases, report, ledger)
