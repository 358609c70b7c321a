"""`python -m benchmarks.top`: how often the five most common of 50 values come out in their exact
order, by four ways, in one run.

OpenDP is left out if it is not installed: pip install opendp
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from duffdp._sampling.entropy import entropy
from duffdp.mechanisms.ranking import NoisyRanking

VALUES, RECORDS, PLACES, TRIES = 50, 1000, 5, 4000
EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0)
TRUTH = list(range(PLACES))
Right = Callable[[list[int], float], float]


def zipf() -> list[int]:
    """Counts in proportion to 1, 1/2, 1/3, ..."""
    weight = 1 / np.arange(1, VALUES + 1)
    counts: list[int] = np.round(RECORDS * weight / weight.sum()).astype(int).tolist()
    return counts


def all_at_once(counts: list[int], epsilon: float) -> float:
    """Noise on all counts for one epsilon, then a sort: `duffdp.top`."""
    orders = NoisyRanking(epsilon).rank([counts] * TRIES, 1, PLACES, entropy(1))
    return sum(order == TRUTH for order in orders) / TRIES


def one_by_one(counts: list[int], epsilon: float) -> float:
    """Permute-and-flip for each place with epsilon / k, without those that are placed."""
    rng, right = np.random.default_rng(1), 0
    for _ in range(TRIES):
        left = np.array(counts, dtype=float)
        for place in TRUTH:
            found = int(np.argmax(left + rng.exponential(PLACES / epsilon, VALUES)))
            if found != place:
                break
            left[found] = -math.inf
        else:
            right += 1
    return right / TRIES


def joint(counts: list[int], epsilon: float) -> float:
    """The joint exponential mechanism over orders, exactly: their score is the most records by
    which a value is behind the one whose place it takes, which one record moves by 1.
    """
    largest = sorted(counts, reverse=True)
    # So many orders have a score of at most t; they are chosen place by place.
    many = [
        math.prod(
            sum(n >= place - t for n in counts) - i for i, place in enumerate(largest[:PLACES])
        )
        for t in range(largest[0] + 1)
    ]
    weights = [
        (now - before) * math.exp(-epsilon * t / 2)
        for t, (before, now) in enumerate(zip([0, *many], many, strict=False))
    ]
    return 1 / sum(weights)


def opendp(counts: list[int], epsilon: float) -> float:
    """OpenDP's top k: permute-and-flip, place by place."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=True)
    release = dp.binary_search_chain(
        lambda scale: dp.m.make_noisy_top_k(*space, dp.max_divergence(), k=PLACES, scale=scale),
        d_in=1,
        d_out=epsilon,
    )
    return sum(list(release(counts)) == TRUTH for _ in range(TRIES)) / TRIES


def main() -> None:
    counts = zipf()
    ways: dict[str, Right] = {
        "all at once (duffdp.top)": all_at_once,
        "one by one": one_by_one,
        "joint": joint,
    }
    if find_spec("opendp") is not None:
        ways["OpenDP"] = opendp
    print(f"The first {PLACES} of {VALUES} values, Zipf, {RECORDS} records: exactly right")
    print("epsilon".ljust(28) + "".join(f"{epsilon:>8g}" for epsilon in EPSILONS))
    for name, right in ways.items():
        print(name.ljust(28) + "".join(f"{right(counts, e):8.3f}" for e in EPSILONS), flush=True)


if __name__ == "__main__":
    main()
