"""The commands of `duffdp`, and how each one ends: an exit code and at most one line of error."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from duffdp._alternatives import use_instead
from duffdp._parameters import INTERVAL
from duffdp._text import visible, without_passwords
from duffdp.errors import (
    UNSET,
    BudgetExceeded,
    DuffError,
    LedgerError,
    UnsupportedData,
    charge_told,
    did_you_mean,
)
from duffdp.statistics.registry import SUMMARIES
from duffdp.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

OK, FAILED, USAGE, REFUSED, UNREADABLE, STOPPED = 0, 1, 2, 3, 4, 130
COMPLETION = "_DUFFDP_COMPLETE"  # set by a shell that completes a line

HELP = """Differentially private statistics and tables: medians, means, counts and more.

Exit codes: 0 success, 2 wrong usage, 3 budget too small or ledger not usable,
4 data not readable, 130 stopped.
An error is one line; add --debug to any command to see the traceback."""

STATISTIC_COMMANDS = {name.replace("_", "-"): name for name in SUMMARIES}
# The module and the summary of each other command: `duffdp --help` loads none of them.
OTHER_COMMANDS = {
    "release": ("plans", "Make the releases of a plan."),
    "table": (
        "plans",
        "Make one table: a row for each group, columns for its count and other statistics.",
    ),
    "columns": ("extras", "List the columns of a file with their declared types."),
    "profile": (
        "profile",
        "Take a private first look at a table: readable fields, quartiles, bounds to use.",
    ),
    "studio": ("extras", "Plan a table in the browser, release it, and write a report."),
    "preview": ("planning", "Show the expected error of each mechanism."),
    "epsilon-for": ("planning", "Find the smallest epsilon for a required accuracy."),
    "ledger": ("ledger", "Create, show and verify privacy budgets."),
    "check-engine": ("extras", "Check that a database counts exactly."),
    "audit": ("audit", "Check the installed library on this machine."),
    "demo": ("extras", "Write the data files that the documentation uses, with their licenses."),
    "paper": ("extras", "Run the experiments of the paper."),
}
COMMANDS = {command: SUMMARIES[name] for command, name in STATISTIC_COMMANDS.items()} | {
    command: summary for command, (_, summary) in OTHER_COMMANDS.items()
}


#: What other tools call some options.
OPTION_SYNONYMS = {
    "ci": "--interval",
    "col": "--column",
    "conf": "--interval",
    "confidence": "--interval",
    "csv": "--format",
    "delimiter": "--csv-separator",
    "eps": "--epsilon",
    "excel": "--format",
    "filter": "--where",
    "group": "--by",
    "group-by": "--by",
    "groupby": "--by",
    "groups": "--keys",
    "id": "--unit",
    "json": "--format",
    "lower": "--bounds",
    "max": "--bounds",
    "min": "--bounds",
    "output": "--out",
    "person": "--unit",
    "quantile": "-q",
    "range": "--bounds",
    "sep": "--csv-separator",
    "separator": "--csv-separator",
    "upper": "--bounds",
}


class Commands(click.Group):
    """All commands, each loaded when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command with its options."""
        if cmd_name in STATISTIC_COMMANDS:
            from duffdp._cli.statistics import statistic_command

            return statistic_command(STATISTIC_COMMANDS[cmd_name])
        if cmd_name in OTHER_COMMANDS:
            module = import_module(f"duffdp._cli.{OTHER_COMMANDS[cmd_name][0]}")
            command: click.Command = getattr(module, cmd_name.replace("-", "_"))
            return command
        return None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command that is named first; an unknown one gets a hint."""
        name = args[0]
        if name not in COMMANDS and not ctx.resilient_parsing:
            ctx.fail(f"there is no command {name!r}.{use_instead(name, COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options that a shell suggests."""
        from click.shell_completion import CompletionItem

        commands = [
            CompletionItem(name, help=summary)
            for name, summary in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)


def _completion(action: str) -> Any:
    """Install or show the completion script; loaded when it is used."""

    def callback(ctx: click.Context, _: click.Parameter, shell: str | None) -> None:
        if shell is not None and not ctx.resilient_parsing:
            from duffdp._cli import completion

            getattr(completion, action)(ctx.command, shell)
            ctx.exit()

    return callback


def _completion_option(action: str, help_text: str) -> click.Option:
    return click.Option(
        [f"--{action}-completion"],
        is_flag=False,
        flag_value="",
        metavar="[SHELL]",
        expose_value=False,
        is_eager=True,
        callback=_completion(action),
        help=help_text,
    )


@click.group(
    "duffdp",
    cls=Commands,
    help=HELP,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 110,
        "show_default": True,
    },
    params=[
        _completion_option("install", "Install completion for bash, zsh or fish."),
        _completion_option("show", "Print the completion script for bash, zsh or fish."),
    ],
)
@click.version_option(__version__, message="duffdp %(version)s", help="Print the version.")
def application() -> None:
    """All commands."""


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    words = [word for word in arguments if word != "--debug"]
    code, text, cost = OK, "", ""
    with _interrupts() as interrupts:
        try:
            code = _invoke(words)
            sys.stdout.flush()
            if not interrupts:
                return code
        except BrokenPipeError:  # the reader of the output is gone, which is no error
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return OK
        except BaseException as error:
            cost = charge_told(error)
            code, text = _failure(error, words, charged=bool(cost))
            if "--debug" in arguments:
                import traceback

                for line in traceback.format_exc().splitlines():
                    print(visible(without_passwords(line)), file=sys.stderr)
    if interrupts:  # an interrupted query may end with an error of its engine
        code = STOPPED
    if code == STOPPED:
        text = f"stopped; {cost or 'what was charged stays charged'}"
    elif cost:
        text = f"{text} {cost[0].upper()}{cost[1:]}."
    # A text can hold an address, and an address a password.
    line = without_passwords(" ".join(text.split()))
    print(f"duffdp: {visible(line)}", file=sys.stderr)
    return code


def _invoke(words: list[str]) -> int:
    """Run a command. click's own `main` would turn an interrupt into another error."""
    if (instruction := os.environ.get(COMPLETION)) is not None:
        from click.shell_completion import shell_complete

        return shell_complete(application, {}, "duffdp", COMPLETION, instruction)
    if words in ([], ["ledger"]):
        words = [*words, "--help"]
    _check_repeated(words)
    try:
        with application.make_context("duffdp", [*words]) as context:
            application.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return OK


def _check_repeated(words: list[str]) -> None:
    """Refuse an option that is passed twice, of which click would use the last one, and words that
    belong to no option. Errors of other kinds are found later.
    """
    if words[0] not in COMMANDS:
        return
    command = application.get_command(click.Context(application), words[0])
    if command is None or isinstance(command, click.Group):
        return
    if any(one.nargs < 0 for one in command.params):  # another command may follow
        return
    context = click.Context(command, info_name=f"duffdp {words[0]}")
    try:
        values, rest, order = command.make_parser(context).parse_args(words[1:])
    except click.UsageError:
        return
    for parameter in order:
        once = isinstance(parameter, click.Option) and not (parameter.multiple or parameter.is_flag)
        if once and order.count(parameter) > 1:
            context.fail(f"{parameter.opts[0]} is passed more than once. Pass it once.")
    pairs = [value for value in values.values() if isinstance(value, tuple)]
    if rest and not any("," in str(part) for pair in pairs for part in pair):
        context.fail(
            f"{' '.join(rest)!r:.60} belongs to no option. Write lists with commas and without "
            "spaces, and text with spaces in quotes."
        )


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Collect the interrupts that arrive; each is raised as well. A terminated command ends like
    an interrupted one, so that no piped rows are left behind.
    """
    received: list[int] = []

    def interrupt(number: int, _: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    def repeat(unraisable: sys.UnraisableHookArgs) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):  # it was raised in a destructor
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            sys.__unraisablehook__(unraisable)

    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    replaced = {
        number: handler for number, handler in usual.items() if signal.getsignal(number) is handler
    }
    for number in replaced:
        signal.signal(number, interrupt)
    sys.unraisablehook = repeat
    try:
        yield received
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
        sys.unraisablehook = sys.__unraisablehook__


def _values_missing(error: click.BadOptionUsage, command: str) -> str:
    """The line about an option without all of its values."""
    options = application.get_command(click.Context(application), command)
    assert options is not None
    for option in options.params:
        if error.option_name in option.opts and option.nargs > 1:
            return (
                f"{error.option_name} takes {option.nargs} values with spaces between them: "
                f"{error.option_name} {option.metavar}{_example_of(option)}. "
                f"Try 'duffdp {command} --help'."
            )
    return f"{error.format_message()} Try 'duffdp {command} --help'."


def _example_of(option: click.Parameter) -> str:
    """The advice to pass an option, after a period; empty if nothing is known about it."""
    from duffdp._cli.dialects import COMMAND_LINE, PARAMETERS

    parameter = PARAMETERS.get(option.name or "")
    if parameter is None or parameter.option != option.opts[0] or parameter.example is UNSET:
        return ""
    return f". Pass for example {COMMAND_LINE.assignment(parameter.name, parameter.example)}"


def _option_not_taken(error: click.NoSuchOption, command: str) -> str:
    """The line about an option that only other commands have, or that no command has."""
    from duffdp._cli.dialects import PARAMETERS
    from duffdp.statistics.registry import statistic_spec

    known = {parameter.option: parameter.name for parameter in PARAMETERS.values()}
    typed, name = error.option_name, STATISTIC_COMMANDS.get(command)
    if typed in ("--rng", "--seed"):
        fix = ". Commands always draw privately; for experiments, call the Python function with rng"
    elif typed not in known:
        options = application.get_command(click.Context(application), command)
        assert options is not None
        names = [opt for one in options.params for opt in one.opts if opt.startswith("-")]
        meant = OPTION_SYNONYMS.get(typed.removeprefix("--"), "")
        hint = f" Did you mean '{meant}'?" if meant in names else did_you_mean(typed, names)
        return f"there is no option {typed!r}.{hint} Try 'duffdp {command} --help'."
    elif name is not None and typed == INTERVAL.option:
        fix = f": {statistic_spec(name).no_interval_reason}"
    elif command in ("release", "table"):
        fix = f". Write {known[typed]} into the plan"
    else:
        fix = ". Leave it out"
    return f"{command} has no {typed}{fix.rstrip('.')}. Try 'duffdp {command} --help'."


def _failure(error: BaseException, words: list[str], *, charged: bool) -> tuple[int, str]:
    """The exit code and the line of an error. After a charge nobody is advised to run the command
    again, because that would be charged again.
    """
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return STOPPED, ""
    if isinstance(error, click.BadOptionUsage) and words[0] in COMMANDS:
        return USAGE, _values_missing(error, words[0])
    if isinstance(error, click.NoSuchOption) and words[0] in COMMANDS and words[0] != "ledger":
        return USAGE, _option_not_taken(error, words[0])
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        path = "duffdp" if context is None else context.command_path
        text = error.format_message().rstrip(".")
        if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
            text += _example_of(error.param)
        return USAGE, f"{text}{'' if text.endswith(('?', ')')) else '.'} Try '{path} --help'."
    if isinstance(error, DuffError):
        from duffdp._cli.dialects import COMMAND_LINE, PLAN

        text = error.worded(PLAN if words[0] in ("release", "table") else COMMAND_LINE)
        if isinstance(error, BudgetExceeded | LedgerError):
            return REFUSED, text
        return (UNREADABLE if isinstance(error, UnsupportedData) else USAGE), text
    # Its own text might quote data.
    advice = "Please report it." if charged else "Run again with --debug and report it."
    return FAILED, f"something unexpected went wrong ({type(error).__name__}). {advice}"
