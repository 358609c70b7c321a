"""`duffdp audit`: privacy and draws of the installed library, checked on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from duffdp.audit.replay import Replay

LAWS_TEXT = """
Checked on this machine, with the installed code:
- for every pair of neighboring data sets of up to {most} records on a domain of {size} values,
  that the probabilities of all outputs differ by a factor of at most e^epsilon (exact
  enumeration, no sampling);
- that {draws} draws from the operating system's randomness follow the stated distribution (a
  correct sampler fails once in 10^9 runs).
Not checked: larger data sets and domains (docs/explanation/guarantee.md has the proofs); the
randomness of the operating system; how long a release takes; whether your bounds, keys and
categories are public; whether a person has more rows than declared; several quantiles together,
counts and graphs (their tests enumerate them); the engines that read tables; the ledger
('duffdp ledger verify' does that)."""

FROM_OUTSIDE = """
Each line: {draws} real releases, by the operating system's randomness, for each of two data sets
that differ in one row, one row of a group, one person with several rows, or one edge. Half of the
releases choose the event that distinguishes the data sets best, and the other half count it. The
counts show with 95% confidence that epsilon is at least the bound. All releases have epsilon 1. A
line fails if its bound is above 1, at a confidence at which a sound library fails one line in one
audit of a million. A bound far below 1 is not a fault: more draws would give a larger one."""
REPLAYED_TEXT = """
Each line: one call on two data sets that differ in one record or one person. The second run
received the numbers that the first one drew. Checked: the evidence of every draw moves by at most
its sensitivity, the losses add up to at most epsilon, and requests, errors, warnings and the
result are the same. "loss" bounds what the draws reveal of this difference.
Not checked: the mechanisms and their bits ('duffdp audit' does that), time, other neighbors.
This output is NOT private: show it only to people who may see the data."""
FAILED_TEXT = "\nA check FAILED: do not release with this installation."


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--lower-bound",
    is_flag=True,
    help="Estimate a statistical lower bound on epsilon by attacking real releases.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=2),
    default=1000,
    help="With --lower-bound: the number of releases for each data set.",
)
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    show_default="all cores",
    help="With --lower-bound: the number of parallel processes.",
)
@click.option(
    "--replay",
    is_flag=True,
    help="Run calls on neighboring data with the same draws and compare the results.",
)
@click.option(
    "--rows",
    type=click.IntRange(min=10),
    default=100_000,
    help="With --replay: the number of rows of the synthetic table.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def audit(
    lower_bound: bool,
    draws: int,
    processes: int | None,
    replay: bool,
    rows: int,
    command: tuple[str, ...],
) -> None:
    """Check the installed library on this machine.

    Computes the exact privacy loss on small domains, compares real draws with their distribution,
    and lists the checks that were made and those that were not. With --lower-bound, attacks real
    releases of every statistic instead. With --replay, replays every statistic on neighbors of a
    synthetic table, or one command on neighbors of your own data.

    COMMAND: with --replay, another command with its data and options, such as
    median people.csv --column age --bounds 0 120 --epsilon 1, or release plan.toml. Nothing is
    charged or released.
    """
    if command and not replay:
        raise click.UsageError(
            "a command can only be audited with --replay. Write duffdp audit --replay COMMAND."
        )
    if replay:
        sound = _replay(command, rows)
    else:
        sound = _attack(draws, processes) if lower_bound else _check_laws()
    if not sound:
        print(FAILED_TEXT)
        raise click.exceptions.Exit(1)


def _replay(command: tuple[str, ...], rows: int) -> bool:
    """Replay every statistic, or one command; True if no promise was broken."""
    from duffdp._cli.output import table
    from duffdp._cli.progress import progress

    lines, findings = [], list[str]()
    if command:
        from duffdp._cli.replayed_command import replay_command

        replays = list(replay_command(command))
    else:
        from duffdp.audit.replay_cases import replay_cases

        cases = list(replay_cases(rows))
        replays = []
        with progress(len(cases), "replaying") as done:
            for case in cases:
                replays.append((str(case), case.replay()))
                done()
    for title, result in replays:
        lines.append(_replay_line(title, result))
        findings += [f"{title}: {finding}" for finding in result.findings]
    table(lines, [])
    print("\n".join(["", *findings]) if findings else "", end="\n" if findings else "")
    print(REPLAYED_TEXT)
    return not findings and bool(replays)


def _replay_line(title: str, result: Replay) -> dict[str, str]:
    return {
        "call and neighbor": title,
        "draws": str(len(result.rows)),
        "largest movement": f"{max((row.moved for row in result.rows), default=0.0):.3f}",
        "loss": f"{result.loss:.3f}",
        "epsilon": f"{result.epsilon:g}",
        "": "ok" if result.ok else "FAILED",
    }


def _attack(draws: int, processes: int | None) -> bool:
    """Attack every release; True if none showed more than its epsilon."""
    from duffdp._cli.output import table
    from duffdp._cli.progress import progress
    from duffdp._engines.arrays.threads import cores
    from duffdp.audit.cases import attack_cases, attacks, stays_below

    case_count, rows = len(attack_cases()), []
    with progress(case_count, "attacking") as done:
        for case, bound in attacks(draws, processes or cores()):
            rows.append(
                {
                    "statistic": case.title,
                    "neighbors": case.family,
                    "epsilon is at least": f"{max(bound.epsilon(), 0.0):.3f}",
                    "": "ok" if stays_below(bound, case_count) else "FAILED",
                }
            )
            done()
    table(rows, [])
    print(FROM_OUTSIDE.format(draws=f"{draws:,}"))
    return all(row[""] == "ok" for row in rows)


def _check_laws() -> bool:
    """Check all output distributions and draws; True if all are right."""
    from duffdp._cli.output import table
    from duffdp.audit import draw_deviation, largest_loss
    from duffdp.audit.cases import mechanism_cases

    size, max_records, draws = 4, 5, 20_000
    rows, sound = [], True
    for case in mechanism_cases():
        share = max(
            largest_loss(case.statistic, case.mechanism(epsilon), size=size, most=max_records)
            / epsilon
            for epsilon in (0.3, 1.0, 3.0)
        )
        deviation, limit = draw_deviation(case.statistic, case.mechanism(1.0), size=draws)
        fine = share <= 1 + 1e-9 and deviation <= limit
        sound = sound and fine
        rows.append(
            {
                "statistic": case.title,
                "mechanism": str(case.fact),
                "largest loss / epsilon": f"{share:.4f}",
                "draws off by": f"{deviation:.4f}",
                "limit": f"{limit:.4f}",
                "": "ok" if fine else "FAILED",
            }
        )
    table(rows, [])
    print(LAWS_TEXT.format(size=size, most=max_records, draws=f"{draws:,}"))
    return sound
