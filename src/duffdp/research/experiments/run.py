"""Run of all experiments: it draws the figures and writes the page that compares each claim of the
paper with measurements.
"""

from __future__ import annotations

from pathlib import Path

from rich.progress import Progress

from duffdp.research.baselines import SmoothLaplaceLogNormal
from duffdp.research.experiments import (
    SET_RECORDS,
    bounds,
    mean_and_mode,
    synthetic,
    timing,
    utilities,
    vertebral,
)
from duffdp.research.experiments.palette import LABEL

CLAIMS = (("cauchy", "187", "34"), ("smooth-laplace", "130", "4"), ("log-normal", "4", "15"))
RIVALS = {
    "cauchy": ("cauchy-tight", "pareto"),
    "smooth-laplace": (),
    "log-normal": ("log-normal-public",),
}
PAPER_ENDS = (0.1, 2.0)
SHOWN = (0.1, 0.2, 0.5, 1.0, 2.0)


def times(value: float) -> str:
    """A ratio with two or three digits."""
    return f"{value:.0f}" if value >= 20 else f"{value:.1f}" if value >= 2 else f"{value:.2f}"


def at_ends(name: str) -> list[str]:
    """The error as a multiple of Duff's, for N(0, 1), at the smallest and the largest epsilon."""
    return [times(synthetic.ratio("normal", epsilon, name)) for epsilon in PAPER_ENDS]


def rows(head: list[str], body: list[list[str]], names: int = 1) -> str:
    """A Markdown table whose first columns are names and whose others are numbers."""
    rule = ["---"] * names + ["---:"] * (len(head) - names)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *body))


def claims() -> str:
    body = []
    for name, low, high in CLAIMS:
        sampled = [
            times(synthetic.ratio("normal", epsilon, name, sampled=True)) for epsilon in PAPER_ENDS
        ]
        exact = at_ends(name)
        body.append([f"**{LABEL[name]}**", low, sampled[0], exact[0], high, sampled[1], exact[1]])
        for rival in RIVALS[name]:
            fair = at_ends(rival)
            body.append([LABEL[rival], "", "", fair[0], "", "", fair[1]])
    return rows(
        ["mechanism", "paper, ε = 0.1", "sampled", "exact", "paper, ε = 2", "sampled", "exact"],
        body,
    )


def errors() -> str:
    parts = []
    for shape, (title, _, _) in synthetic.POPULATIONS.items():
        body = [
            [LABEL[name], *(f"{synthetic.mean(shape, epsilon, name):.2g}" for epsilon in SHOWN)]
            for name in (*synthetic.PRINTED, *synthetic.FAIR)
        ]
        parts.append(
            f"{title}:\n\n" + rows(["mechanism", *(f"ε = {epsilon:g}" for epsilon in SHOWN)], body)
        )
    return "\n\n".join(parts)


def smallest() -> dict[str, str]:
    """The cases in which Duff has the smallest error, among printed and among fair rivals; u_2,
    which ties with it, is separate.
    """
    cells = [(shape, epsilon) for shape in synthetic.POPULATIONS for epsilon in synthetic.EPSILONS]
    rivals = [name for name in synthetic.FAIR if name != "rank"]
    ratio, shape, epsilon, name = min(
        (synthetic.ratio(*cell, name), *cell, name) for cell in cells for name in rivals
    )
    ranks = [synthetic.ratio(*cell, "rank") for cell in cells]
    return {
        "cases": str(len(cells)),
        "ahead": str(
            sum(
                all(synthetic.ratio(*cell, name) > 1 for name in synthetic.PRINTED[1:])
                for cell in cells
            )
        ),
        "beaten": str(
            sum(any(synthetic.ratio(*cell, name) < 1 for name in rivals) for cell in cells)
        ),
        "closest": f"{LABEL[name]}, {times(ratio)} times Duff's error at "
        f"{synthetic.POPULATIONS[shape][0]}, ε = {epsilon:g}",
        "beyond": times(synthetic.pareto_beyond(4.0)),
        "rank_low": f"{min(ranks):.2f}",
        "rank_high": f"{max(ranks):.2f}",
    }


def measured() -> str:
    keys = ("duff", "log-normal", "cauchy", "cauchy-tight", "smooth-laplace", "pareto")
    body = [
        [
            row["measurement"].replace("_", " "),
            row["class"],
            str(row["n"]),
            *(f"{row[key]:.2f}" for key in keys),
        ]
        for row in vertebral.MEDIAN_ROWS
    ]
    return rows(["measurement", "class", "n", *(LABEL[key] for key in keys)], body, names=2)


def over_duff() -> str:
    parts = []
    for key in ("log-normal", "cauchy", "cauchy-tight", "pareto"):
        ratios = [row[key] / row["duff"] for row in vertebral.MEDIAN_ROWS]
        parts.append(f"- {LABEL[key]}: {times(min(ratios))} to {times(max(ratios))}")
    return "\n".join(parts)


def timed() -> str:
    body = [
        [row["call"], f"{row['microseconds']:.0f}", f"{row['times_untuned_smoothsens']:.1f}"]
        for row in timing.CALL_ROWS
    ]
    return rows(["one call at n = 1000", "µs", "over untuned"], body)


def write(path: Path) -> None:
    """The page, from the results in memory."""
    untuned = timing.microseconds(LABEL["cauchy"])
    ages = {
        name: [f"{utilities.mean('ages', epsilon, name):.2g}" for epsilon in PAPER_ENDS]
        for name in ("duff", "rank", "rank-flip", "signed-flip")
    }
    compared = ("duff", "sum-and-count", "pareto", "smooth-laplace", "laplace")
    mean = {name: f"{mean_and_mode.mean('mean', 1.0, name):.2g}" for name in compared}
    mode = {name: f"{mean_and_mode.mean('mode', 1.0, name):.1e}" for name in mean_and_mode.MODES}
    close = {name: bounds.at(4.0, 0.01, name) for name in bounds.CURVES}
    tight = [
        synthetic.ratio("normal", epsilon, "cauchy")
        / synthetic.ratio("normal", epsilon, "cauchy-tight")
        for epsilon in PAPER_ENDS
    ]
    text = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    page = text.format(
        n=SET_RECORDS,
        sets=synthetic.SETS,
        calls=synthetic.CALLS,
        claims=claims(),
        cauchy_replacing=at_ends("cauchy replacing"),
        tight=[times(value) for value in tight],
        laplace=at_ends("smooth-laplace"),
        laplace_replacing=at_ends("smooth-laplace replacing"),
        log_normal=at_ends("log-normal"),
        concentrated=f"{SmoothLaplaceLogNormal(0.1, synthetic.PAPER_DELTA).concentrated:.3f}",
        unconverted=at_ends("unconverted"),
        public=at_ends("log-normal-public"),
        **smallest(),
        tuned=[
            f"{timing.microseconds(LABEL[key]) / untuned:.1f}"
            for key in ("smooth-laplace", "log-normal")
        ],
        scanned=f"{timing.CALL_ROWS[-1]['microseconds'] / untuned:.0f}",
        replies=", ".join(
            times(synthetic.propose_test_release(epsilon)) for epsilon in (0.1, 1.0, 2.0)
        ),
        errors=errors(),
        vertebral_epsilon=vertebral.VERTEBRAL_EPSILON,
        trials=vertebral.TRIALS,
        vertebral=measured(),
        over=over_duff(),
        timing=timed(),
        u1=times(utilities.mean("normal", 1.0, "error") / utilities.mean("normal", 1.0, "rank")),
        ages_duff=ages["duff"],
        ages_rank=ages["rank"],
        ages_best=ages["rank-flip"],
        ages_signed=ages["signed-flip"],
        off_peak=utilities.off_peak(),
        age_sets=utilities.UTILITY_SETS,
        mean_duff=mean["duff"],
        mean_sum=mean["sum-and-count"],
        mean_pareto=mean["pareto"],
        mean_laplace=mean["smooth-laplace"],
        mean_global=mean["laplace"],
        mode_duff=mode["duff"],
        mode_full=mode["full-rate"],
        mode_best=mode["flip"],
        close_exact=f"{close['duff_exact']:.2g}",
        close_finite=f"{close['finite_domain']:.2g}",
        close_theorem=f"{close['theorem_1']:.2g}",
        close_corollary=f"{close['corollary_1']:.2g}",
        close_cauchy=f"{close['cauchy_clipped']:.2g}",
        loose=[times(close[name] / close["duff_exact"]) for name in ("theorem_1", "corollary_1")],
    )
    path.write_text(page, encoding="utf-8")


def run(out: Path, data: Path) -> None:
    """Write `paper.md` and the folder `paper` with its figures and tables into `out`.

    `data` is the file of measurements of the vertebral column.
    """
    patients = vertebral.measurements(data)
    stages = {
        "running times": (timing, timing.run(), len(timing.calls())),  # first: the machine is cool
        "synthetic data": (synthetic, synthetic.run(), len(synthetic.POPULATIONS) * synthetic.SETS),
        "vertebral column": (vertebral, vertebral.run(patients), len(patients)),
        "utilities": (
            utilities,
            utilities.run(),
            len(utilities.RECORD_SETS) * utilities.UTILITY_SETS,
        ),
        "mean and mode": (mean_and_mode, mean_and_mode.run(), mean_and_mode.MEAN_SETS),
        "bounds": (bounds, bounds.run(), len(bounds.BOUND_EPSILONS)),
    }
    with Progress() as progress:
        for title, (stage, steps, size) in stages.items():
            for _ in progress.track(steps, total=size, description=title):
                pass
            stage.draw(out / "paper")
    write(out / "paper.md")
