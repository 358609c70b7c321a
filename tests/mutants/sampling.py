"""Mutations of duffdp._sampling."""

from __future__ import annotations

from tests.mutants.mutant import DOOR, LAW, Mutant

BYTES = f"{DOOR}::test_random_words_are_the_operating_systems_bytes"

MUTANTS = (
    Mutant(
        "rare places: the rate is the chance",
        "_sampling/rare_places.py",
        "rate = -Fraction(context.ln(context.subtract(1, chance)))",
        "rate = Fraction(chance)",
        ("tests/mechanisms/thresholded_geometric_test.py::test_rate_is_within_its_bounds",),
        LAW,
    ),
    Mutant(
        "rare places: a place is skipped after each",
        "_sampling/rare_places.py",
        "        place += 1",
        "        place += 2",
        ("tests/mechanisms/thresholded_geometric_test.py::test_places_are_independent_events",),
        LAW,
    ),
    Mutant(
        "numpy's generator in the place of the operating system",
        "_sampling/entropy.py",
        "        return SYSTEM\n",
        "        source = SeededEntropy(np.random.default_rng())\n"
        "        source.secure = True\n        return source\n",
        (BYTES,),
        LAW,
    ),
    Mutant(
        "a first pass of the race that bends the noise too little",
        "_sampling/race.py",
        "np.multiply(bend_loss, lost, out=bend_loss)",
        "np.multiply(bend_loss, 0.9 * lost, out=bend_loss)",
        ("tests/sampling/race_test.py::test_bounds_of_the_first_pass_hold",),
        LAW,
    ),
    Mutant(
        "candidates of a tail come as if none had been met before",
        "_sampling/race.py",
        "times.add(LazyUniform.begin(entropy), tail.count - count)",
        "times.add(LazyUniform.begin(entropy), tail.count)",
        ("tests/sampling/race_test.py::test_every_race_is_decided_right",),
        LAW,
    ),
    Mutant(
        "the time of a candidate of a tail forgets those before it",
        "_sampling/race.py",
        "before = sums[-1] if sums else Decimal(0)",
        "before = Decimal(0)",
        ("tests/sampling/race_test.py::test_times_of_a_tail_are_summed_once_each",),
        LAW,
    ),
    Mutant(
        "refined bits that forget the lattice",
        "_sampling/race.py",
        "c * self.distance - noise.bent(-bound)",
        "c * self.distance + bound",
        ("tests/mechanisms/lattice_test.py::test_few_bits_keep_the_law",),
        LAW,
    ),
    Mutant(
        "doubles that are trusted too far",
        "_sampling/integer_noise.py",
        "slack = (drawn_word * 2.0**-51 + 4) / complement + time * GEOMETRIC_SLACK",
        "slack = time * 0",
        ("tests/mechanisms/geometric_test.py::test_bounds_hold_the_exact_number",),
        LAW,
    ),
    Mutant(
        "of many groups, those that doubles leave open are not settled exactly",
        "_sampling/race.py",
        "np.flatnonzero(~decided | (winner_index < 0))",
        "np.flatnonzero(winner_index < 0)",
        ("tests/mechanisms/lattice_test.py::test_few_bits_keep_the_law",),
        LAW,
    ),
    Mutant(
        "of many coins, those that doubles leave open fall",
        "_sampling/lazy_uniform.py",
        "(word <= high + 1 and bernoulli(exponent, ratio, source, word))",
        "(word <= high + 1)",
        ("tests/sampling/lazy_uniform_test.py::test_many_coins_fall_as_each_would",),
        LAW,
    ),
    Mutant(
        "a coin whose exponent is far below 0 is tossed in doubles",
        "_sampling/lazy_uniform.py",
        "if not -MAX_QUICK_EXPONENT < exponent < MAX_QUICK_EXPONENT:",
        "if not exponent < MAX_QUICK_EXPONENT:",
        ("tests/sampling/lazy_uniform_test.py::test_many_coins_fall_as_each_would",),
        LAW,
    ),
    Mutant(
        "a coin of a tiny chance is decided by its first word",
        "_sampling/lazy_uniform.py",
        "return False if uniform.prefix else None",
        "return False",
        (
            "tests/sampling/lazy_uniform_test.py"
            "::test_a_chance_below_all_doubles_is_not_taken_for_none",
        ),
        LAW,
    ),
    Mutant(
        "a coin is tossed with a ratio that has lost its digits",
        "_sampling/lazy_uniform.py",
        "if min(chance, *factors) > MIN_QUICK_CHANCE else math.inf",
        "if chance > MIN_QUICK_CHANCE else math.inf",
        (
            "tests/sampling/lazy_uniform_test.py"
            "::test_a_ratio_among_the_doubles_that_have_lost_digits",
        ),
        LAW,
    ),
    Mutant(
        "blocks of groups have the bits of the whole",
        "_sampling/entropy.py",
        "return SeededEntropy(np.random.default_rng(self.words(4)))",
        "return self",
        ("tests/engines/threads_test.py::test_blocks_have_bits_of_their_own",),
        LAW,
    ),
)
