"""`duffdp audit`."""

from __future__ import annotations

import typer

WORDS = """
Checked on this machine, with the installed code:
- for every pair of neighbouring data sets of up to {most} records on a domain of {size} values, that the probabilities of all
  outputs differ by a factor of at most e^epsilon (exact enumeration, no sampling);
- that {draws} draws from the operating system's randomness follow the stated law (a correct sampler fails once in 10^9 runs).
Not checked: larger data sets and domains (the proofs in docs/theory.md cover them); the randomness of the operating system;
how long a release takes; whether your bounds, keys and categories are public; whether one person has more rows than you say;
the engines that read tables; the ledger ('duffdp ledger verify' does that)."""


def audit() -> None:
    """Check the installed library on this machine.

    Exact privacy on small domains, and real draws against their law; says in words what was checked and what was not.
    """
    from fractions import Fraction

    from duffdp.audit import draw_deviation, largest_loss
    from duffdp.cli.shown import table
    from duffdp.mechanisms import Exponential, PermuteAndFlip
    from duffdp.statistics import Mean, Mode, Quantile

    size, most, draws = 4, 5, 20_000
    statistics = {
        "median (signed)": Quantile(0.5, "signed"), "median (distance)": Quantile(0.5), "quantile 0.9 (signed)": Quantile(0.9, "signed"),
        "quantile 0.9 (distance)": Quantile(0.9), "mean": Mean(), "mode (best)": Mode(), "mode (duff)": Mode(Fraction(1, 2)),
    }  # fmt: skip
    rows, sound = [], True
    for name, statistic in statistics.items():
        for mechanism in (Exponential, PermuteAndFlip):
            share = max(
                largest_loss(statistic, mechanism(epsilon), size=size, most=most) / epsilon for epsilon in (0.3, 1.0, 3.0)
            )
            deviation, limit = draw_deviation(statistic, mechanism(1.0), size=draws)
            fine = share <= 1 + 1e-9 and deviation <= limit
            sound = sound and fine
            rows.append(
                {"statistic": name, "mechanism": mechanism.name, "largest loss / epsilon": f"{share:.4f}",
                 "draws off by": f"{deviation:.4f}", "limit": f"{limit:.4f}", "": "ok" if fine else "FAILED"}
            )  # fmt: skip
    table(rows, [])
    print(WORDS.format(size=size, most=most, draws=f"{draws:,}"))
    if not sound:
        print("\nA check FAILED: do not release with this installation.")
        raise typer.Exit(1)
