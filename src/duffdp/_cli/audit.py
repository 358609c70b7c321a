"""`duffdp audit`: privacy and draws of the installed library, checked on this machine."""

from __future__ import annotations

import click

LAWS_TEXT = """
Checked on this machine, with the installed code:
- for every pair of neighbouring data sets of up to {most} records on a domain of {size} values,
  that the probabilities of all outputs differ by a factor of at most e^epsilon (exact
  enumeration, no sampling);
- that {draws} draws from the operating system's randomness follow the stated law (a correct
  sampler fails once in 10^9 runs).
Not checked: larger data sets and domains (the proofs in docs/theory.md cover them); the
randomness of the operating system; how long a release takes; whether your bounds, keys and
categories are public; whether one person has more rows than you say; several quantiles together,
counts and graphs (their tests enumerate them); the engines that read tables; the ledger
('duffdp ledger verify' does that)."""

FROM_OUTSIDE = """
Each line: {draws} real releases, by the operating system's randomness, for each of two data sets
that differ in one row, one row of a group, one person with several rows, or one edge. Half of them
chose the event that tells the two apart best, the other half counted it; with 95 % confidence
nothing below the bound explains the counts. All releases had epsilon 1. A line fails if its bound
is above 1 with a confidence that a sound library misses in one line of one audit in a million.
A bound far below 1 is no fault: these draws and these data do not show more. More draws do."""
FAILED_TEXT = "\nA check FAILED: do not release with this installation."


@click.command()
@click.option(
    "--lower-bound", is_flag=True, help="Bound epsilon from below by counting real releases."
)
@click.option(
    "--draws",
    type=click.IntRange(min=2),
    default=1000,
    help="With --lower-bound: releases of each data set.",
)
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    show_default="all cores",
    help="With --lower-bound: how many to run at once.",
)
def audit(lower_bound: bool, draws: int, processes: int | None) -> None:
    """Check the installed library on this machine.

    Checks exact privacy on small domains, and real draws against their distribution; prints what
    was checked and what was not. With --lower-bound every statistic is attacked from the outside
    instead.
    """
    sound = _attack(draws, processes) if lower_bound else _check_laws()
    if not sound:
        print(FAILED_TEXT)
        raise click.exceptions.Exit(1)


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
                    "neighbours": case.family,
                    "epsilon is at least": f"{max(bound.epsilon(), 0.0):.3f}",
                    "": "ok" if stays_below(bound, case_count) else "FAILED",
                }
            )
            done()
    table(rows, [])
    print(FROM_OUTSIDE.format(draws=f"{draws:,}"))
    return all(row[""] == "ok" for row in rows)


def _check_laws() -> bool:
    """Check all laws and draws; True if all are as they should be."""
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
