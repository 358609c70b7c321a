"""The errors people see: what was given, the rule, the fix. Never a data value, never a count of
records.
"""

from __future__ import annotations


class DuffError(ValueError):
    """A request that cannot be answered as it stands.

    Privacy
    -------
    The text is made from the parameters of the call alone, never from a record.

    References
    ----------
    Dwork and Roth, "The Algorithmic Foundations of Differential Privacy" (2014), section 2: every
    output counts, errors too.
    """


class BoundsError(DuffError):
    """Bounds, step or categories do not describe a public set of possible outputs.

    Privacy
    -------
    Raised before data are read.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy" (CCS 2012):
    why the set must be public.
    """


class UnsupportedData(DuffError):
    """The data are of a kind (dtype, shape) that the statistic cannot take.

    Privacy
    -------
    Depends on the declared type and shape of the column; the type of a column is public.

    References
    ----------
    NumPy reference, "Data types".
    """


class BudgetExceeded(DuffError):
    """A release that does not fit into what is left of a budget.

    Privacy
    -------
    Raised before the draw; the text tells about the budget and the request, both public.

    References
    ----------
    Rogers, Roth, Ullman and Vadhan, "Privacy odometers and filters" (NeurIPS 2016): a budget that
    stops releases.
    """


class LedgerError(DuffError):
    """A ledger that is missing, damaged, locked or cannot be written: nothing is released.

    Privacy
    -------
    Raised before the draw, or after it in place of the release; the text tells about the file
    alone.

    References
    ----------
    SQLite documentation, "Atomic commit in SQLite".
    """


class ChargeNote(str):
    """What a release that failed, or a command that was stopped, has cost: a note of its error."""

    __slots__ = ()


def charge_told(error: BaseException | None) -> str:
    """What the notes of an error say that it has cost; nothing if they do not."""
    notes = getattr(error, "__notes__", ())
    return "; ".join(note for note in notes if isinstance(note, ChargeNote))
