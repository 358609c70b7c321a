"""`duffdp audit`."""

from __future__ import annotations

import typer

WORDS = """
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


def audit() -> None:
    """Check the installed library on this machine.

    Exact privacy on small domains, and real draws against their law; says in words what was checked
    and what was not.
    """
    from duffdp.audit import draw_deviation, largest_loss
    from duffdp.audit.registry import audited
    from duffdp.cli.output import table

    size, most, draws = 4, 5, 20_000
    rows, sound = [], True
    for case in audited():
        share = max(
            largest_loss(case.statistic, case.mechanism(epsilon), size=size, most=most) / epsilon
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
    print(WORDS.format(size=size, most=most, draws=f"{draws:,}"))
    if not sound:
        print("\nA check FAILED: do not release with this installation.")
        raise typer.Exit(1)
