"""Mutations of duffdp._sampling."""

from __future__ import annotations

from tests.mutants.mutant import BANDS, DOOR, SIDE_BY_SIDE, Mutant

BITS = f"{DOOR}::test_every_draw_is_a_function_of_the_operating_systems_bits"
BYTES = f"{DOOR}::test_random_words_are_the_operating_systems_bytes"
STAIRS = "tests/mechanisms/staircase_test.py"

MUTANTS = (
    Mutant(
        "rare places: the rate is the chance",
        "_sampling/rare_places.py",
        "rate = -Fraction(context.ln(context.subtract(1, chance)))",
        "rate = Fraction(chance)",
        ("tests/mechanisms/thresholded_geometric_test.py::test_rate_is_within_its_bounds",),
    ),
    Mutant(
        "rare places: a place is skipped after each",
        "_sampling/rare_places.py",
        "        place += 1",
        "        place += 2",
        ("tests/mechanisms/thresholded_geometric_test.py::test_places_are_independent_events",),
    ),
    Mutant(
        "three numbers with a staircase of two",
        "_sampling/integer_noise.py",
        "if sum(map(abs, point)) < radius:",
        "if sum(map(abs, point[:2])) < radius:",
        (f"{STAIRS}::test_draws_follow_the_law",),
    ),
    Mutant(
        "balls of three numbers are chosen like those of two",
        "_sampling/integer_noise.py",
        "return (2 * radius - 1) * (2 * radius * (radius - 1) + 3) // 3",
        "return 2 * radius * (radius - 1) + 1",
        (f"{STAIRS}::test_all_points_of_a_ball_of_three_numbers_are_alike",),
    ),
    Mutant(
        "numpy's generator in the place of the operating system",
        "_sampling/entropy.py",
        "        return SYSTEM\n",
        "        source = SeededEntropy(np.random.default_rng())\n"
        "        source.secure = True\n        return source\n",
        (BYTES,),
    ),
    Mutant(
        "bytes of Python's generator",
        "_sampling/entropy.py",
        "random = os.urandom(size)",
        "random = os.urandom(0) or __import__('random').randbytes(size)",
        (BITS,),
    ),
    Mutant(
        "words favour small numbers in draws of many groups",
        "_sampling/entropy.py",
        "np.flatnonzero(words > MAX_WORD - partial_range)",
        "np.flatnonzero(words > MAX_WORD)",
        (f"{SIDE_BY_SIDE}::test_words_favour_no_number",),
    ),
    Mutant(
        "a first pass of the race that bends the noise too little",
        "_sampling/race.py",
        "np.multiply(bend_loss, lost, out=bend_loss)",
        "np.multiply(bend_loss, 0.9 * lost, out=bend_loss)",
        ("tests/sampling/race_test.py::test_bounds_of_the_first_pass_hold",),
    ),
    Mutant(
        "an upper bound that forgets a whole period",
        "_sampling/race.py",
        "high = high + lost * period",
        "high = high + 0 * period",
        ("tests/sampling/race_test.py::test_bounds_of_the_first_pass_hold",),
    ),
    Mutant(
        "a word of zeros is overlooked but in the first run",
        "_sampling/race.py",
        "words.item(words.argmin()) == 0",
        "words.item(0) == 0",
        ("tests/sampling/race_test.py::test_bounds_of_the_first_pass_hold",),
    ),
    Mutant(
        "candidates of a tail come as if none had been met before",
        "_sampling/race.py",
        "times.add(LazyUniform.begin(entropy), tail.count - count)",
        "times.add(LazyUniform.begin(entropy), tail.count)",
        ("tests/sampling/race_test.py::test_every_race_is_decided_right",),
    ),
    Mutant(
        "the time of a candidate of a tail forgets those before it",
        "_sampling/race.py",
        "before = sums[-1] if sums else Decimal(0)",
        "before = Decimal(0)",
        ("tests/sampling/race_test.py::test_times_of_a_tail_are_summed_once_each",),
    ),
    Mutant(
        "an upper bound that forgets what bits not yet drawn can do",
        "_sampling/race.py",
        "2.0**16 / (units + 2.0**-990)",
        "2.0**-16 / (units + 2.0**-990)",
        ("tests/sampling/race_test.py::test_bounds_of_the_first_pass_hold",),
    ),
    Mutant(
        "a uniform of the first pass may be 1",
        "_sampling/race.py",
        "-(1 - 2.0**-51)",
        "-1.0",
        ("tests/sampling/race_test.py::test_bounds_of_the_first_pass_hold",),
    ),
    Mutant(
        "refined bits that forget the lattice",
        "_sampling/race.py",
        "c * self.distance - noise.bent(-bound)",
        "c * self.distance + bound",
        ("tests/mechanisms/lattice_test.py::test_few_bits_keep_the_law",),
    ),
    Mutant(
        "zero twice as likely as it should be",
        "_sampling/integer_noise.py",
        "valid = ~negative | (sizes != 0).astype(bool)",
        "valid = ~negative | (sizes == sizes).astype(bool)",
        ("tests/mechanisms/geometric_test.py::test_draws_follow_the_law",),
    ),
    Mutant(
        "doubles that are trusted too far",
        "_sampling/integer_noise.py",
        "slack = (drawn_word * 2.0**-51 + 4) / complement + time * GEOMETRIC_SLACK",
        "slack = time * 0",
        ("tests/mechanisms/geometric_test.py::test_bounds_hold_the_exact_number",),
    ),
    Mutant(
        "signs that are all alike",
        "_sampling/integer_noise.py",
        "negative = coins(len(pending), source)",
        "negative = coins(len(pending), source) & False",
        ("tests/mechanisms/geometric_test.py::test_draws_follow_the_law",),
    ),
    Mutant(
        "of many groups, those that doubles leave open are not settled exactly",
        "_sampling/race.py",
        "np.flatnonzero(~decided | (winner_index < 0))",
        "np.flatnonzero(winner_index < 0)",
        ("tests/mechanisms/lattice_test.py::test_few_bits_keep_the_law",),
    ),
    Mutant(
        "a winner among many groups is the first candidate of its run",
        "_sampling/race.py",
        "if len(wide := np.flatnonzero(count > 1)):",
        "if len(wide := np.flatnonzero(count > 2**62)):",
        ("tests/sampling/race_test.py::test_side_by_side",),
    ),
    Mutant(
        "of many coins, those that doubles leave open fall",
        "_sampling/lazy_uniform.py",
        "(word <= high + 1 and bernoulli(exponent, ratio, source, word))",
        "(word <= high + 1)",
        ("tests/sampling/lazy_uniform_test.py::test_many_coins_fall_as_each_would",),
    ),
    Mutant(
        "blocks of groups have the bits of the whole",
        "_sampling/entropy.py",
        "return SeededEntropy(np.random.default_rng(self.words(4)))",
        "return self",
        ("tests/engines/threads_test.py::test_blocks_have_bits_of_their_own",),
    ),
    Mutant(
        "the first step of a staircase is accepted too often",
        "_sampling/integer_noise.py",
        "elif j == 0:",
        "elif True:",
        (f"{STAIRS}::test_draws_follow_the_law",),
    ),
    Mutant(
        "coins that are decided in doubles fall too often",
        "_sampling/lazy_uniform.py",
        "<= quick * (1 - COIN_SLACK)",
        "<= quick * 1.2",
        (f"{STAIRS}::test_draws_follow_the_law",),
    ),
    Mutant(
        "distribution: the end of a walk is not looked at",
        "_sampling/cumulative_noise.py",
        "walk[:, -1:].copy()",
        "walk[:, -1:]",
        (BANDS,),
    ),
)
