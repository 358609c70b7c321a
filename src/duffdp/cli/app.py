"""All commands under one name, and how they end: an exit code and at most one line of error."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any

import typer

from duffdp.alternatives import refused
from duffdp.cli.reading import Command, Group
from duffdp.errors import BudgetExceeded, DuffError, LedgerError, UnsupportedData, charge_told
from duffdp.printable import visible, without_passwords
from duffdp.statistics.registry import entries
from duffdp.version import __version__

OK, FAILED, USAGE, REFUSED, UNREADABLE, STOPPED = 0, 1, 2, 3, 4, 130
STAYS = "what was charged stays charged"
# Click lives inside of newer versions of typer: its own error is the second parent of this one.
ClickError: Any = typer.BadParameter.__mro__[2]

COMPLETING = "_DUFFDP_COMPLETE"  # a shell asks what could follow

HELP = """Differentially private medians, quantiles, means, modes and counts of a table.

Exit codes: 0 released, 2 wrong usage, 3 the budget refused or its ledger cannot be used,
4 data not readable, 130 stopped.
Errors are one line; with --debug, anywhere on the line, the traceback follows."""

STATISTICS = {known.name.replace("_", "-"): known for known in entries() if known.summary}
# One file each.
OTHERS = (
    *("release", "table", "studio", "ledger", "preview", "epsilon-for", "audit", "demo", "paper"),
)
COMMANDS = (*STATISTICS, *OTHERS)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"duffdp {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None: ...


class Interrupted(BaseException):
    """Ctrl-C, which typer would turn into an exit code and forget."""


class Commands(Group):
    """All commands, of which an interrupt gets out with its notes."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted from error


def application(names: Iterable[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands."""
    app = typer.Typer(
        name="duffdp",
        cls=Commands,
        help=HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    app.callback()(_root)
    for name in names:
        if name in STATISTICS:
            from duffdp.cli.statistics import command  # here: other commands do without it

            app.command(name, cls=Command)(command(STATISTICS[name]))
            continue
        function = name.replace("-", "_")  # as Python writes it, and its file
        module = import_module(f"duffdp.cli.{function}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, cls=Command)(getattr(module, function))
    return app


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    stopped, text, cost = False, "", ""

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True
        raise KeyboardInterrupt

    def swallowed(unraisable: sys.UnraisableHookArgs) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):  # it hit a destructor: once more
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            sys.__unraisablehook__(unraisable)

    # A terminated command ends like an interrupted one: rows of a pipe must not stay behind.
    normal = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    replaced = {
        number: usual for number, usual in normal.items() if signal.getsignal(number) is usual
    }
    for number in replaced:
        signal.signal(number, stop)
    sys.unraisablehook = swallowed
    try:
        given = [part for part in arguments if part != "--debug"]
        if (not given or given == ["ledger"]) and COMPLETING not in os.environ:
            given = [*given, "--help"]
        if given and (instead := refused(given[0])) is not None:
            raise DuffError(instead)
        # To lay out all commands takes longer than the one that is meant.
        app = application(given[:1] if given and given[0] in COMMANDS else COMMANDS)
        code = app(given, prog_name="duffdp", standalone_mode=False)
        sys.stdout.flush()
        if not stopped:
            return code if isinstance(code, int) else OK
    except BrokenPipeError:
        return _unread()
    except SystemExit as ended:  # of typer: a shell got its completions, or nobody reads any more
        if isinstance(ended.__context__, BrokenPipeError):
            return _unread()
        return ended.code if isinstance(ended.code, int) else OK
    except BaseException as error:
        code, text = _told(error)
        cost = charge_told(error.__cause__ if isinstance(error, Interrupted) else error)
        if "--debug" in arguments:
            import traceback

            for line in traceback.format_exc().splitlines():
                print(visible(without_passwords(line)), file=sys.stderr)
    finally:
        for number, usual in replaced.items():
            signal.signal(number, usual)
        sys.unraisablehook = sys.__unraisablehook__
    if stopped:  # a query that is interrupted may end with an error of its engine
        code = STOPPED
    if code == STOPPED:
        text = f"stopped; {cost or STAYS}"
    elif cost:
        text = f"{text} {cost[0].upper()}{cost[1:]}."
    # An address may stand where it does not belong.
    line = without_passwords(" ".join(text.split()))
    print(f"duffdp: {visible(line)}", file=sys.stderr)
    return int(code)


def _unread() -> int:
    """Whoever read the output has gone: that is no error, and nothing more is written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return OK


def _told(error: BaseException) -> tuple[int, str]:
    """The exit code and the line for an error."""
    if isinstance(error, Interrupted | KeyboardInterrupt | typer.Abort):
        return STOPPED, ""
    if isinstance(error, ClickError):
        context = getattr(error, "ctx", None)
        named = context.command_path if context else "duffdp"
        told = error.format_message().rstrip(".")
        return USAGE, f"{told}{'' if told.endswith('?') else '.'} Try '{named} --help'."
    if isinstance(error, BudgetExceeded | LedgerError):
        return REFUSED, str(error)
    if isinstance(error, UnsupportedData):
        return UNREADABLE, str(error)
    if isinstance(error, DuffError):
        return USAGE, str(error)
    # Its own words might quote data.
    return (
        FAILED,
        f"something unexpected went wrong ({type(error).__name__}). Run again with --debug and "
        "report it.",
    )
