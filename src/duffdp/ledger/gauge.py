"""A budget as a bar, for notebooks and pages."""

from __future__ import annotations

from fractions import Fraction

from duffdp.printable import as_html


def gauge(dataset: str, spent: Fraction, budget: Fraction) -> str:
    """What is spent of a budget, in words and as a bar of HTML."""
    share = min(1.0, float(spent / budget))
    left = float(budget - spent)
    said = f"{dataset}: epsilon {float(spent):.6g} of {float(budget):.6g} spent, {left:.6g} left"
    text = as_html(said)
    return (
        f'<div role="img" aria-label="{text}"><div>{text}</div>'
        '<div style="width:20em;height:.7em;border:1px solid rgba(128,128,128,.6)">'
        f'<div style="width:{100 * share:.4g}%;height:100%;background:#3b6ea5"></div></div></div>'
    )
