"""Run all experiments, draw all figures, write the page."""

from __future__ import annotations

from pathlib import Path

from rich.progress import Progress

from duffdp.research.experiments import (
    bounds,
    mean_and_mode,
    page,
    synthetic,
    timing,
    utilities,
    vertebral,
)


def run(out: Path, data: Path) -> None:
    """Write `paper.md` and the folder `paper` with its figures and tables into `out`.

    `data` is the file of measurements of the vertebral column.
    """
    patients = vertebral.measurements(data)
    stages = {
        "running times": (timing, timing.run(), len(timing.calls())),  # first: the machine is cool
        "synthetic data": (synthetic, synthetic.run(), len(synthetic.SHAPES) * synthetic.SETS),
        "vertebral column": (vertebral, vertebral.run(patients), len(patients)),
        "utilities": (utilities, utilities.run(), len(utilities.DATA) * utilities.SETS),
        "mean and mode": (mean_and_mode, mean_and_mode.run(), mean_and_mode.SETS),
        "bounds": (bounds, bounds.run(), len(bounds.EPSILONS)),
    }
    with Progress() as progress:
        for title, (stage, steps, size) in stages.items():
            for _ in progress.track(steps, total=size, description=title):
                pass
            stage.draw(out / "paper")
    page.write(out / "paper.md")
