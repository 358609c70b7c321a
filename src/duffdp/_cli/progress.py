"""A progress bar for long work, shown on terminals alone and removed when the work is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

SECONDS = 2.0  # what is done sooner shows nothing


@contextmanager
def progress(total: int, label: str = "releasing") -> Iterator[Callable[[], None]]:
    """Yields what to call when one of `total` pieces of work is done.

    The bar shows the time and the pieces, which are public, and nothing about records.
    """
    if not sys.stderr.isatty():
        yield lambda: None
        return
    bar = _LateBar(total, label)
    later = Timer(SECONDS, bar.start)
    later.daemon = True
    later.start()
    try:
        yield bar.advance
    finally:
        later.cancel()
        later.join()
        bar.stop()


class _LateBar:
    """A progress bar that accepts updates before it is shown."""

    def __init__(self, total: int, label: str) -> None:
        self._total, self._label, self._done = total, label, 0
        self._bar: Progress | None = None

    def start(self) -> None:
        # Here: most commands are done before they need a bar.
        from rich import progress as rich
        from rich.console import Console

        columns = rich.TextColumn("{task.description}", markup=False), rich.BarColumn()
        bar = rich.Progress(
            *columns, rich.TimeElapsedColumn(), console=Console(stderr=True), transient=True
        )
        # A single piece has no share that is done: its bar moves to and fro.
        total = self._total if self._total > 1 else None
        bar.add_task(self._label, total=total, completed=self._done)
        bar.start()
        self._bar = bar

    def advance(self) -> None:
        self._done += 1
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
