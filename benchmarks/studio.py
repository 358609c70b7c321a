"""How fast the studio answers, in one run: `python -m benchmarks.studio`.

A change of an input against a file that is served as it is, and the start to the first page against
`duffdp --help`.
"""

from __future__ import annotations

import http.client
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

DUFFDP = [sys.executable, "-m", "duffdp"]
# As after an installation: with the bytecode of all modules in place.
INSTALLED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
ADULT = Path("demo/adult.parquet")
STARTS = 7
EPSILONS = ("0.1", "0.2", "0.35", "0.5", "0.8", "1", "1.3", "2", "3.1")
SIZES = ("100", "500", "3000", "20000", "100000", "1000000")
PLAN = {
    "source": "adult.parquet",
    "column.0": "age",
    "lower.0": "0",
    "upper.0": "120",
    "shape.0": "ages",
    "unit.0": "years",
    "column.1": "hours_per_week",
    "lower.1": "0",
    "upper.1": "99",
    "by.0": "education",
    "keys.0": "\n".join(f"group {i}" for i in range(100)),
    "size": "500",
    "epsilon": "1",
    "ledger": "budget.db",
    "budget": "10",
}
ASKED = [("statistic.0", "median"), ("statistic.0", "mean"), ("statistic.1", "median")]


class Visitor:
    """A browser that asks for pages, and says how long each took."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.port is not None
        self._connection = http.client.HTTPConnection("127.0.0.1", parts.port)
        self._headers = {"Origin": f"http://127.0.0.1:{parts.port}"}
        self.get(f"/?{parts.query}")
        page = self.get("/")
        self._csrf = page.partition('name="csrf" value="')[2].partition('"')[0]

    def get(self, path: str) -> str:
        return self._ask("GET", path, None)

    def preview(self, changes: dict[str, str]) -> str:
        body = urlencode([*(PLAN | changes).items(), *ASKED, ("csrf", self._csrf)])
        return self._ask("POST", "/preview", body)

    def _ask(self, method: str, path: str, body: str | None) -> str:
        headers = self._headers | ({"Content-Type": FORM} if body else {})
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        if cookie := answer.getheader("set-cookie"):
            self._headers["Cookie"] = cookie.partition(";")[0]
        text = answer.read().decode()
        assert answer.status in (200, 303), text
        assert 'role="alert"' not in text, text
        return text


FORM = "application/x-www-form-urlencoded"


def start(folder: str) -> tuple[subprocess.Popen[str], str]:
    """A studio, and its address."""
    process = subprocess.Popen(
        [*DUFFDP, "studio", "adult.parquet", "--no-browser"],
        cwd=folder,
        env=INSTALLED,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.communicate()


def first_pages(folder: str) -> None:
    """From the start to the first page, and the help of the command, in turns."""
    pages, helps = [], []
    for _ in range(STARTS):
        begin = time.perf_counter()
        process, address = start(folder)
        Visitor(address)
        pages.append(time.perf_counter() - begin)
        stop(process)
        begin = time.perf_counter()
        subprocess.run([*DUFFDP, "--help"], capture_output=True, check=True, env=INSTALLED)
        helps.append(time.perf_counter() - begin)
    page, told = min(pages), min(helps)
    print(f"start to first page {1000 * page:.0f} ms, duffdp --help {1000 * told:.0f} ms")
    print(f"ratio {page / told:.2f} (goal: at most 2)")


def changes() -> list[tuple[str, dict[str, str]]]:
    """A session: changes of epsilon, of sizes, and of the selected number."""
    found = [("the first answer", {})]
    now: dict[str, str] = {}
    for size, look in itertools.product(SIZES, ("age_median/0", "age_mean/0")):
        now = now | {"size": size}
        found.append(("size", now))
        now = now | {"look": look}
        found.append(("number", now))
        for epsilon in EPSILONS:
            now = now | {"epsilon": epsilon}
            found.append(("epsilon", now))
    for upper in ("110", "100"):
        found.append(("bounds", now | {"upper.0": upper}))
    for shape in ("uniform", "skewed", "normal"):
        found.append(("shape", now | {"shape.0": shape}))
    return found


def answers(folder: str) -> None:
    """How long a change of an input takes to be answered."""
    process, address = start(folder)
    visitor = Visitor(address)
    taken: dict[str, list[float]] = {}
    everything = []
    for kind, given in changes():
        begin = time.perf_counter()
        visitor.preview(given)
        seconds = time.perf_counter() - begin
        taken.setdefault(kind, []).append(seconds)
        if kind != "the first answer":
            everything.append(seconds)
    static = []
    for _ in range(50):
        begin = time.perf_counter()
        visitor.get("/static/studio.css")
        static.append(time.perf_counter() - begin)
    stop(process)
    print(f"a file as it is: {1000 * statistics.median(static):.1f} ms")
    for kind, seconds in taken.items():
        middle, most = statistics.median(seconds), max(seconds)
        print(f"{kind}: {1000 * middle:.0f} ms, at most {1000 * most:.0f} ms, {len(seconds)} times")
    slowest = sorted(everything)[int(0.95 * len(everything))]
    print(f"95 of 100 changes within {1000 * slowest:.0f} ms (goal: 150)")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ADULT, folder)
        answers(folder)
        first_pages(folder)


if __name__ == "__main__":
    main()
