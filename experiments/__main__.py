"""Run all experiments, draw all figures, write the page."""

from __future__ import annotations

import time

from rich.progress import Progress

from experiments import bounds, mean_and_mode, page, synthetic, timing, utilities, vertebral


def main() -> None:
    begin = time.perf_counter()
    stages = {
        "running times": (timing, len(timing.calls())),  # first, while the machine is cool
        "synthetic data": (synthetic, len(synthetic.SHAPES) * synthetic.SETS),
        "vertebral column": (vertebral, 6),
        "utilities": (utilities, len(utilities.DATA) * utilities.SETS),
        "mean and mode": (mean_and_mode, mean_and_mode.SETS),
        "bounds": (bounds, len(bounds.EPSILONS)),
    }
    with Progress() as progress:
        for title, (stage, size) in stages.items():
            for _ in progress.track(stage.run(), total=size, description=title):
                pass
            stage.draw()
    page.write()
    print(f"docs/paper.md and docs/paper/ written in {time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
