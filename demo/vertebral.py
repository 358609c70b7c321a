"""Private medians of six measurements for normal and abnormal patients, beside the truth that a release never shows."""

from __future__ import annotations

import csv
from pathlib import Path

import duffdp

# Angles in degrees, lengths in millimetres: what such a measurement can be, known without these patients.
BOUNDS = {
    "pelvic_incidence": (0, 180),
    "pelvic_tilt": (-90, 90),
    "lumbar_lordosis_angle": (0, 180),
    "sacral_slope": (0, 180),
    "pelvic_radius": (0, 300),
    "degree_spondylolisthesis": (-100, 500),
}
CLASSES = {"NO": "normal", "AB": "abnormal"}
EPSILON = 1.0


def main() -> None:
    with (Path(__file__).parent / "vertebral_column.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    print(
        f"Private medians by class, epsilon = {EPSILON:g} for each measurement (the classes are disjoint: one epsilon covers both)\n"
    )
    print(f"{'measurement':26}{'class':>10}{'private':>10}{'truth (not private)':>21}{'paper mechanism':>17}")
    for column, bounds in BOUNDS.items():
        for label, name in CLASSES.items():
            values = [float(row[column]) for row in rows if row["class"] == label]
            best, paper = (
                duffdp.median(values, epsilon=EPSILON, bounds=bounds, step=0.01, mechanism=mechanism).value
                for mechanism in ("best", "duff")
            )
            truth = sorted(values)[(len(values) + 1) // 2 - 1]
            print(f"{column:26}{name:>10}{best:10.2f}{truth:21.2f}{paper:17.2f}")
    print(
        "\nThe truth is printed for this demonstration on public data; a release holds the private value and public facts only."
    )


if __name__ == "__main__":
    main()
