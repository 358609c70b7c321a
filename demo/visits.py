"""Write `visits.csv`: made-up visits to a hospital, as a hospital's own system might export them.

    python demo/visits.py

Semicolons, decimal commas, points between thousands, days before months, and some amounts that are
not numbers. A patient has one row per visit. The file is the same each time.
"""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

WARDS = {"ER": (250, 0.8), "surgery": (2_400, 0.7), "maternity": (1_500, 0.5), "eye": (400, 0.6)}
PATIENTS = 1_500


def amount(number: float) -> str:
    """An amount with a decimal comma and points between thousands."""
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def lines() -> list[str]:
    """The header and one line per visit, in the order of time."""
    draw = random.Random(1)
    visits = []
    for patient in range(1, PATIENTS + 1):
        age = min(95, max(1, round(draw.gauss(50, 20))))
        for _ in range(1 + min(9, int(draw.expovariate(1.0)))):
            (ward,) = draw.choices(list(WARDS), weights=(6, 3, 2, 1))
            middle, spread = WARDS[ward]
            cost = amount(middle * draw.lognormvariate(0, spread))
            seen = dt.datetime(2025, 1, 1) + dt.timedelta(minutes=draw.randrange(365 * 24 * 60))
            paid = cost if draw.random() < 0.98 else "unpaid"
            visits.append((seen, f"P{patient:04};{ward};{age};{paid};{seen:%d.%m.%Y %H:%M}"))
    return ["patient;ward;age;cost;seen", *(line for _, line in sorted(visits))]


if __name__ == "__main__":
    Path(__file__).with_name("visits.csv").write_text("\n".join(lines()) + "\n", encoding="utf-8")
