"""Where random bits come from: the operating system and nothing else, and no release without
them.
"""

from __future__ import annotations

import contextlib
import os
import random

import numpy as np
import pytest

import duffdp
from duffdp._sampling.entropy import SYSTEM

DATA = [3, 4, 4, 5, 7, 8] * 20
EDGES = [(0, 1), (1, 2), (0, 2), (2, 3)]
CALLS = {
    "median": lambda: duffdp.median(DATA, epsilon=0.1, bounds=(0, 40)).value,
    "duff": lambda: duffdp.median(DATA, epsilon=0.1, bounds=(0, 40), mechanism="duff").value,
    "mode": lambda: duffdp.mode(DATA, epsilon=0.01, bounds=(0, 40)).value,
    "mean": lambda: duffdp.mean(DATA, epsilon=0.1, bounds=(0, 10**6)).value,
    "quantiles": lambda: duffdp.quantiles(DATA, [0.2, 0.7], epsilon=0.1, bounds=(0, 10**6)).value,
    "describe": lambda: duffdp.describe(DATA, epsilon=0.1, bounds=(0, 10**6)).value,
    "triangles": lambda: duffdp.triangles(EDGES, epsilon=0.1, nodes=1000).value,
    "ladder": lambda: duffdp.triangles(EDGES, epsilon=0.1, nodes=1000, mechanism="duff").value,
}


class Stream:
    """Bytes that look random, the same for the same seed; what was asked for is counted."""

    def __init__(self, seed, until=10**9, short=False):
        self._random, self._until, self._short, self.calls = random.Random(seed), until, short, 0

    def __call__(self, size):
        self.calls += 1
        if self.calls >= self._until:
            if self._short:
                return self._random.randbytes(max(size - 8, 0)) if size >= 8 else b""
            raise OSError("no entropy")
        return self._random.randbytes(size)


@pytest.mark.parametrize("name", CALLS)
def test_a_draw_is_a_function_of_what_the_operating_system_says(monkeypatch, name):
    found = []
    for seed in (1, 1, 2, 3, 4, 5):
        stream = Stream(seed)
        monkeypatch.setattr(os, "urandom", stream)
        found.append(CALLS[name]())
        assert stream.calls > 0
    assert found[0] == found[1]
    assert any(other != found[0] for other in found[2:])


@pytest.mark.parametrize("short", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_no_release_if_entropy_fails_on_the_way(monkeypatch, name, short):
    stream = Stream(1)
    monkeypatch.setattr(os, "urandom", stream)
    CALLS[name]()
    needed = stream.calls
    assert needed >= 1
    for until in {1, min(2, needed), needed}:
        monkeypatch.setattr(os, "urandom", Stream(1, until, short))
        with pytest.raises(OSError, match=r"no entropy|too few random bytes"):
            CALLS[name]()


def test_words_are_the_bytes_of_the_operating_system(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda size: bytes(range(size)))
    assert SYSTEM.words(2).tobytes() == bytes(range(16))


def test_numbers_below_a_bound_are_uniform(monkeypatch):
    """Every string of bits once: each number below the bound comes out equally often, and the
    others are drawn again.
    """
    for bound in (1, 2, 3, 5, 100, 128, 255, 256):
        counts = np.zeros(bound, dtype=int)
        for byte in range(256):
            stream = iter([byte, None])
            monkeypatch.setattr(os, "urandom", lambda size, s=stream: _byte(next(s), size))
            with contextlib.suppress(StopIteration):
                counts[SYSTEM.below(bound)] += 1
        assert counts.min() == counts.max() >= 1
    monkeypatch.undo()
    assert 0 <= SYSTEM.below(2**100) < 2**100


def _byte(value, size):
    if value is None:
        raise StopIteration
    return bytes([value])[:size]
