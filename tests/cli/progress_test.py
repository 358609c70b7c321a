"""The bar of long work: on a terminal, after two seconds, and nowhere else."""

from __future__ import annotations

import io
import sys
import time

import pytest

from duffdp._cli import progress as module
from duffdp._cli.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("file", "seconds", "shows"),
    [(Terminal, 0.0, True), (Terminal, 60.0, False), (io.StringIO, 0.0, False)],
)
def test_long_work_on_a_terminal_shows_a_bar(monkeypatch, file, seconds, shows):
    seen = file()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(module, "SECONDS", seconds)
    monkeypatch.setenv("TERM", "xterm")
    with progress(3, "[red]median") as done:
        done()
        until = time.monotonic() + 20
        while shows and "[red]median" not in seen.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
        done()
    assert ("[red]median" in seen.getvalue()) == shows
    assert shows or not seen.getvalue()


def test_an_interrupt_takes_the_bar_away(monkeypatch):
    """The cursor is back, and nothing is written any more."""
    seen = Terminal()
    monkeypatch.setattr(sys, "stderr", seen)
    monkeypatch.setattr(module, "SECONDS", 0.0)
    monkeypatch.setenv("TERM", "xterm")

    def interrupted():
        with progress(1, "median"):
            while "median" not in seen.getvalue():
                time.sleep(0.01)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "\x1b[?25h" in seen.getvalue()
    written = len(seen.getvalue())
    time.sleep(0.3)
    assert len(seen.getvalue()) == written
