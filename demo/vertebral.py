"""Private medians of six measurements for normal and abnormal patients, beside the truth that a
release never shows.
"""

from __future__ import annotations

import csv
from pathlib import Path

import duffdp

PATH = Path(__file__).parent / "vertebral_column.csv"
# Angles in degrees, lengths in millimetres: what such a measurement can be, known without these
# patients.
BOUNDS = {
    "pelvic_incidence": (0.0, 180.0),
    "pelvic_tilt": (-90.0, 90.0),
    "lumbar_lordosis_angle": (0.0, 180.0),
    "sacral_slope": (0.0, 180.0),
    "pelvic_radius": (0.0, 300.0),
    "degree_spondylolisthesis": (-100.0, 500.0),
}
CLASSES = {"NO": "normal", "AB": "abnormal"}
EPSILON = 1.0


def main() -> None:
    with PATH.open(newline="") as file:
        rows = list(csv.DictReader(file))
    print(f"Private medians of {PATH.name} by class, epsilon = {EPSILON:g} for each measurement.")
    print("The classes are disjoint groups of people, so one epsilon covers both.\n")
    print(
        f"{'measurement':26}{'class':>10}{'private':>10}{'the paper, eps/2':>18}"
        f"{'truth (not private)':>21}"
    )
    for column, bounds in BOUNDS.items():
        best, paper = (
            dict(
                duffdp.median(
                    PATH,
                    column=column,
                    by="class",
                    keys=list(CLASSES),
                    epsilon=EPSILON,
                    bounds=bounds,
                    step=0.01,
                    mechanism=mechanism,
                ).value.fetchall()
            )
            for mechanism in ("best", "duff")
        )
        for key, name in CLASSES.items():
            values = sorted(float(row[column]) for row in rows if row["class"] == key)
            truth = values[(len(values) + 1) // 2 - 1]
            print(f"{column:26}{name:>10}{best[key]:10.2f}{paper[key]:18.2f}{truth:21.2f}")
    print(
        "\nThe truth is shown because these data are public; a release holds the private values "
        "and "
        "public facts, nothing else."
    )


if __name__ == "__main__":
    main()
