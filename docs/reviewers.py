"""Writes the answers of an example into reviewers.md: `python docs/reviewers.py`.

The words are those of `duffdp.report.sign_off`, which every report shows.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duffdp

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "review" / "reviewers.md"
BEGIN, END = "<!-- answers: written by reviewers.py -->", "<!-- end of answers -->"
PEOPLE = str(ROOT / "tests" / "data" / "online_retail_invoices.csv")


def answers() -> list[dict[str, object]]:
    """The answers for a median of two groups; only the source of the bounds is supplied."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = duffdp.Ledger(f"{folder}/budget.db", epsilon=4)
        release = duffdp.median(
            PEOPLE,
            column="amount",
            by="country",
            keys=["France", "Germany"],
            unit="customer_id",
            epsilon=1.0,
            bounds=(0.0, 10_000.0),
            step=0.01,
            ledger=ledger,
        )
        told = {"bounds": "orders above 10,000 need another form"}
        return duffdp.report.sign_off({"amount": release}, ledger=ledger, sources=told)


def page() -> str:
    """The page with the answers as they are now."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    rows = [
        f"| {answer['topic']} | {answer['text']} | {'**open**' if answer['open'] else ''} |"
        for answer in answers()
    ]
    table = "\n".join(["| hazard | what the report says | |", "| --- | --- | :-: |", *rows])
    return f"{before}{BEGIN}\n\n{table}\n\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
