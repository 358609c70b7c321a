"""Builds the wheel twice in different folders and compares the bytes, prints the hashes, installs
wheel and sdist into empty environments and tries them from a folder that knows nothing of the
project.

    python tools/dist.py [--extras bare cli all] [--python python3.12 ...] [--lowest] [--build]

Other interpreters are those that the machine has. With --lowest the oldest versions of all that
the package asks for are installed, and the tests that need no Spark run on them. Environments are
made by uv, which pip brings. With --build nothing is installed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
# What examples need beside the package: frames bring their own library.
EXTRAS = {"bare": ("", ()), "cli": ("[cli]", ()), "all": ("[all]", ("pandas", "polars"))}
LOWEST = (
    "pipeline/facts",
    "statistics/distance",
    "domain/domain",
    "guarantees/law",
    "pipeline/release",
)
LOWEST += ("engines/records", "ledger/ledger", "pipeline/plan", "engines/frames")

BARE = """
import duffdp
assert duffdp.median([3, 4, 5], epsilon=1e6, bounds=(0, 9), step=1).value == 4
try:
    duffdp.median("people.csv", column="age", epsilon=1.0, bounds=(0, 120))
except duffdp.DuffError as error:
    assert "pip install 'duffdp[" in str(error), error
else:
    raise AssertionError("a file without a reader")
"""


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--extras", nargs="+", choices=EXTRAS, default=list(EXTRAS))
    read.add_argument("--python", nargs="+", default=[sys.executable])
    read.add_argument("--lowest", action="store_true")
    read.add_argument("--build", action="store_true")
    given = read.parse_args()
    with tempfile.TemporaryDirectory(prefix="duffdp-dist-") as place:
        maker = Environments(Path(place))
        if given.lowest:
            lowest(maker)
            return
        artifacts = build(maker)
        for artifact in () if given.build else artifacts:
            for python in given.python:
                for extra in given.extras:
                    installed(maker, artifact, extra, python)


class Environments:
    """New environments, each in a folder of its own."""

    def __init__(self, place: Path) -> None:
        self.place, self._many = place, 0
        venv.create(place / "uv", with_pip=True)
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(place / "uv" / "bin" / "python", *pip, "uv")
        self._uv = place / "uv" / "bin" / "uv"

    def make(self, interpreter: str, *words: object) -> Path:
        """The Python of an environment with what `uv pip install` is told."""
        self._many += 1
        folder = self.place / str(self._many)
        python = folder / "bin" / "python"
        run(self._uv, "venv", "--quiet", "--python", interpreter, folder)
        run(self._uv, "pip", "install", "--quiet", "--python", python, *words)
        return python

    def listed(self, python: Path) -> None:
        """Print the versions that it has."""
        run(self._uv, "pip", "list", "--python", python)


def build(maker: Environments) -> list[Path]:
    """A wheel and an sdist, of which names and contents are checked."""
    shutil.rmtree(DIST, ignore_errors=True)
    python = maker.make(sys.executable, "build", "hatchling>=1.28", "twine")
    run(sys.executable, ROOT / "tools" / "sbom.py", "--check")
    build_twice(python, maker.place)
    wheel, sdist = *DIST.glob("*.whl"), *DIST.glob("*.tar.gz")
    run(python, "-m", "twine", "check", "--strict", wheel, sdist)
    files = zipfile.ZipFile(wheel)
    names = files.namelist()
    (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    said = files.read(metadata).decode()
    # An index refuses what has this classifier: nothing is published while addresses are made up.
    assert "example.invalid" not in said or "Private :: Do Not Upload" in said
    for needed in ("duffdp/py.typed", "duffdp/demo/adult.parquet", "duffdp/demo/DATA.md"):
        assert needed in names, f"{needed} is not in the wheel"
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in names)
    (bill,) = (name for name in names if ".dist-info/sboms/" in name)
    assert files.read(bill) == (ROOT / "sbom.cdx.json").read_bytes()
    return [wheel, sdist]


def build_twice(python: Path, place: Path) -> None:
    """Build in two folders of different names; the same bytes must come out. Times in the archives
    are that of the last commit.
    """
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    epoch = {"SOURCE_DATE_EPOCH": commit.stdout.strip()}
    outputs = []
    for name in ("one", "another-folder"):
        folder = place / name / "source"
        copy_tracked(folder)
        outputs.append(place / name / "dist")
        run(python, "-m", "build", "--no-isolation", "--outdir", outputs[-1], folder, more=epoch)
    for first in sorted(outputs[0].iterdir()):
        content = first.read_bytes()
        if content != (outputs[1] / first.name).read_bytes():
            sys.exit(f"{first.name} depends on the folder in which it is built")
        print(
            f"sha256 {hashlib.sha256(content).hexdigest()}  {first.name}, built twice", flush=True
        )
    shutil.copytree(outputs[0], DIST)


def copy_tracked(folder: Path) -> None:
    """Copy the files that git knows, and nothing that lies beside them."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


def installed(maker: Environments, artifact: Path, extra: str, interpreter: str) -> None:
    """One artifact in an empty environment, tried from an empty folder."""
    began = time.monotonic()
    options, others = EXTRAS[extra]
    python = maker.make(interpreter, f"{artifact}{options}", *others)
    folder = python.parents[1] / "empty"
    folder.mkdir()
    if extra == "bare":
        run(python, "-c", BARE, cwd=folder)
    else:
        pages = [ROOT / "README.md", ROOT / "docs" / "get-started" / "tutorial.md"]
        if extra == "all":
            written = [path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "api"]
            pages += [path for path in sorted(written) if path not in pages and runs(path)]
        for number, page in enumerate(pages):  # each in a folder with the data of the demo alone
            place = folder / f"{number}-{page.stem}"
            place.mkdir()
            run(python.parent / "duffdp", "demo", cwd=place)
            # Spark's workers are the python3 of the path.
            run(python, ROOT / "tools" / "pages.py", page, cwd=place, path=python.parent)
    shutil.rmtree(python.parents[1])
    seconds = time.monotonic() - began
    print(f"{artifact.name}{options} on {interpreter}: fine, {seconds:.0f} s", flush=True)


def runs(page: Path) -> bool:
    """Whether a page has commands or examples."""
    text = page.read_text(encoding="utf-8")
    return ">>> " in text or "\n    duffdp " in text


def lowest(maker: Environments) -> None:
    """The tests on the oldest versions of what the package asks for."""
    python = maker.make(sys.executable, "--resolution", "lowest-direct", "-e", f"{ROOT}[dev]")
    maker.listed(python)
    files = [f"tests/{name}_test.py" for name in LOWEST]
    warnings = ("-o", "filterwarnings=default")  # old versions may announce what has come since
    run(python, "-m", "pytest", *warnings, "-m", "not slow", *files, cwd=ROOT)


def run(
    *words: object,
    cwd: Path | None = None,
    path: Path | None = None,
    more: Mapping[str, str] | None = None,
) -> None:
    """A program that must succeed, without what this environment would add."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    known = {name: value for name, value in os.environ.items() if name not in hidden}
    if path is not None:
        known["PATH"] = f"{path}{os.pathsep}{known['PATH']}"
    known |= more or {}
    subprocess.run([str(word) for word in words], check=True, cwd=cwd, env=known)


if __name__ == "__main__":
    main()
