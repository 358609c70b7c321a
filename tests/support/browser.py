"""A browser for the tests: the machine's own Chromium or Chrome, one that apt brings, or the
download of playwright. If there is none after all that, the tests fail.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SEVERE = ("serious", "critical")  # of the four weights that axe-core gives a fault


def installed() -> str | None:
    """The path of a browser that the machine has."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@functools.cache
def executable() -> str | None:
    """The path of a browser, brought if there was none; None for that of playwright's own."""
    found = installed()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        waiting = ("-o", "DPkg::Lock::Timeout=600")  # several test processes may want it at once
        for words in (("update",), ("install", "-y", "--no-install-recommends", "chromium")):
            subprocess.run(["apt-get", *waiting, *words], capture_output=True)
        found = installed()
    if found is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)
    return found


@contextmanager
def chromium(*more: str) -> Iterator[Any]:
    """A browser without a window, for as long as the block lasts; with more of its options."""
    from playwright.sync_api import sync_playwright

    # Root may not use the sandbox, and machines of CI have little shared memory.
    options = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", *more]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable(), args=options)
        try:
            yield browser
        finally:
            browser.close()


def severe_faults(page: Any) -> list[str]:
    """What axe-core finds wrong with a page for people who cannot see it or use no mouse: the rule
    and the elements of every fault that is serious or worse.
    """
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']} at {[part['target'] for part in fault['nodes']][:3]}"
        for fault in found
        if fault["impact"] in SEVERE
    ]
