"""A studio for the tests: in this process for speed, or a process of its own, as users start it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.testclient import TestClient

import duffdp
from duffdp._studio.folder import Folder
from duffdp._studio.server import Studio

ROOT = Path(__file__).parents[2]
ADULT = ROOT / "demo" / "adult.parquet"
PORT = 8123
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"
COMMAND = (sys.executable, "-m", "duffdp", "studio", "--no-browser")
AGES = [
    ("source", "adult.parquet"),
    ("column.0", "age"),
    ("lower.0", "0"),
    ("upper.0", "120"),
    ("unit.0", "years"),
    ("shape.0", "ages"),
    ("statistic.0", "median"),
    ("by.0", "sex"),
    ("keys.0", "Female\nMale"),
    ("epsilon", "1"),
    ("ledger", "budget.db"),
    ("budget", "3"),
]


def with_data(folder: Path) -> Path:
    """The folder with a table of people in it."""
    shutil.copy(ADULT, folder / "adult.parquet")
    return folder


def changed(fields: list[tuple[str, str]], **given: str) -> list[tuple[str, str]]:
    """The fields of a form with others in the place of some; `__` stands for a dot."""
    named = {name.replace("__", "."): text for name, text in given.items()}
    return [pair for pair in fields if pair[0] not in named] + list(named.items())


class Visitor(NamedTuple):
    """Somebody who asks the studio, with or without the cookie."""

    studio: Studio
    client: TestClient

    def get(self, path: str, **headers: str) -> Any:
        """A page."""
        return self.client.get(path, headers=headers, follow_redirects=False)

    def post(self, path: str, fields: Any, csrf: str | None = None, **headers: str) -> Any:
        """A form, from the studio's own page unless headers say otherwise."""
        pairs = [*fields, ("csrf", self.studio.guard.csrf if csrf is None else csrf)]
        given = {"origin": ORIGIN, "content-type": "application/x-www-form-urlencoded"} | headers
        return self.client.post(
            path, content=urlencode(pairs), headers=given, follow_redirects=False
        )

    def start(self, number: str, attempt: int = 0) -> Any:
        """The button that pays for a release, as the page had it before that attempt."""
        return self.post(f"/release/{number}/start", [("attempt", str(attempt))])

    def wait_for(self, number: str, state: str) -> Any:
        """A release, once it is in this state."""
        asked = self.studio.state.jobs.get(number)
        for _ in range(600):
            if asked.state == state:
                return asked
            time.sleep(0.05)
        raise AssertionError(f"{asked.state}: {asked.error}")

    def asked(self, fields: Any) -> str:
        """The number of a release that waits to be confirmed."""
        answer = self.post("/release", fields)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"].rpartition("/")[2]


@contextmanager
def visit(folder: Path, welcome: bool = True) -> Iterator[Visitor]:
    """A studio for a folder, and a visitor who opened its address."""
    studio = Studio(Folder(folder), "adult.parquet", PORT)
    client = TestClient(studio.guard, base_url=ORIGIN, raise_server_exceptions=True)
    visitor = Visitor(studio, client)
    if welcome:
        assert visitor.get(f"/?token={studio.guard.token}").status_code == 303
    try:
        yield visitor
    finally:
        studio.close()


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[str]:
    """The address of a studio in a process of its own."""
    library = str(Path(duffdp.__file__).parent.parent)  # that of the tests, wherever it is
    env = os.environ | {"PYTHONPATH": os.pathsep.join([library, *sys.path])}
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[0-9a-f]{64}", address), address
        yield address
    finally:
        process.terminate()
        out, err = process.communicate(timeout=30)
        assert "Traceback" not in out + err, err
